//! What limits trust in a run beside what limits its rows, and what to ask next.

use super::{FEW, View};
use crate::text::{Detail, budget};
use switchcost_analysis::number::{counted, factor, percent};
use switchcost_analysis::{Analysis, CLOCK, Row, resume_command, run_command, slowest};
use switchcost_model::{EndedBy, Severity};

impl View<'_, '_> {
    /// In one line.
    pub(super) fn limits(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.median().is_none()) {
            return None;
        }
        let doctor = self.analysis.run.machine.findings.iter();
        let warnings = doctor.filter(|finding| finding.severity == Severity::Warning).count();
        let doctor = (warnings > 0).then(|| format!("{} by doctor", counted(warnings, "warning")));
        let speed = self.slow_clock().or_else(|| slowed_by(self.analysis));
        let all = [self.imprecise(), self.uncarried(), speed, doctor];
        let all = all.into_iter().flatten().collect::<Vec<_>>().join("; ");
        Some(all).filter(|all| !all.is_empty())
    }

    /// Commands that say more.
    pub(super) fn next(&self) -> Vec<String> {
        let mut out: Vec<String> =
            resume_command(self.analysis.run).map(|go_on| format!("to continue: {go_on}")).into_iter().collect();
        out.extend(self.by_themselves());
        if self.rows.iter().all(|row| row.median().is_none()) {
            return out;
        }
        let mut next = Vec::new();
        if self.detail == Detail::Brief {
            let hidden = if self.hidden == 0 { String::new() } else { format!(" (+{})", counted(self.hidden, "row")) };
            next.push(format!("switchcost show -v{hidden}"));
        }
        next.extend(self.analysis.reference().map(|row| format!("explain {}", row.label)));
        next.push("report --open".to_owned());
        let starred = self.detail != Detail::Notes && self.rows.iter().any(|row| !row.caveats.is_empty());
        let starred = if starred { "; * by show --notes" } else { "" };
        out.push(format!("next: {}{starred}", next.join(", ")));
        out
    }

    /// The command that measures the few rows without an interval.
    fn by_themselves(&self) -> Option<String> {
        let open = |row: &&&Row<'_>| {
            let figures = row.summary.figures.as_ref().filter(|_| row.summary.modes.is_empty());
            figures.is_some_and(|figures| figures.interval.is_none()) && row.range().is_none() && !row.quantity.exact
        };
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(open).copied().collect();
        let few = (1..=FEW).contains(&rows.len()) && self.analysis.run.ended_by != EndedBy::Rounds;
        few.then(|| format!("by themselves: {}", run_command(rows.iter().map(|row| &row.judged))))
    }

    /// What equal things differed by in this run.
    pub(super) fn noise(&self) -> String {
        let noise = &self.analysis.noise;
        let Some(floor) = noise.floor().filter(|_| noise.unstable.is_none()) else { return String::new() };
        if noise.families.len() < 2 {
            return format!("; noise floor {}", percent(floor));
        }
        if self.detail == Detail::Brief {
            return format!("; noise floor up to {}", percent(floor));
        }
        let each = noise.families.iter().map(|(family, equals)| format!("{family} {}", percent(equals.reach)));
        let twins = self.analysis.run.variants.iter().filter(|variant| variant.is_twin());
        let twins: Vec<&str> = twins.map(|variant| variant.mechanism.as_str()).collect();
        format!("; noise floor {} ({} measured twice)", each.collect::<Vec<_>>().join(", "), twins.join(", "))
    }

    /// That the CPU ran below the clock that it can have, whatever its best in this run was.
    fn slow_clock(&self) -> Option<String> {
        let clock = self.analysis.clock?;
        let short = clock.shortfall()?;
        let (kept, of, times, source) = (clock.kept, short.of, factor(short.times), short.source());
        Some(format!("the CPU ran at {kept:.2} GHz, {of:.2} {source}: figures may be {times} times too high"))
    }

    /// The percentile that no row has units enough for.
    fn uncarried(&self) -> Option<String> {
        let mut measured = self.rows.iter().filter(|row| row.variant.each_unit() && row.median().is_some()).peekable();
        measured.peek()?;
        let lacks = |row: &&Row<'_>| row.summary.figures.as_ref().is_some_and(|figures| figures.p999.is_none());
        measured.all(lacks).then(|| "no p99.9: too few units (more --batches)".to_owned())
    }

    /// Rows whose interval is wider than was asked for.
    fn imprecise(&self) -> Option<String> {
        let run = self.analysis.run;
        let target = run.precision_ppm as f64 / 1e6;
        let single = self.rows.iter().filter(|row| row.summary.modes.is_empty());
        let widths: Vec<f64> = single.filter_map(|row| row.summary.figures.as_ref()?.half_width()).collect();
        let wide = widths.iter().filter(|width| **width > target).count();
        let cure = match run.ended_by {
            EndedBy::Budget => format!(" (--budget {})", budget(run.budget_ms.saturating_mul(2))),
            EndedBy::Rounds => " (more --rounds)".to_owned(),
            _ => String::new(),
        };
        let exceed = if wide == 1 { "exceeds" } else { "exceed" };
        (wide > 0)
            .then(|| format!("{wide} of {} {exceed} ±{}{cure}", counted(widths.len(), "interval"), percent(target)))
    }
}

/// By how much the machine was slower than it can be, as a clause, if that moved a figure.
#[must_use]
pub fn slowed_by(analysis: &Analysis<'_>) -> Option<String> {
    let measured = || analysis.shown().filter(|row| row.median().is_some());
    let (ruler, times) = slowest(&analysis.speeds)?;
    if !measured().any(|row| row.slowed()) {
        return None;
    }
    if ruler == CLOCK {
        return Some(format!("CPU clock {} below peak", percent(1.0 - 1.0 / times)));
    }
    let shares: Vec<f64> = measured().filter_map(|row| Some(row.undisturbed.as_ref()?.slowed)).collect();
    let share = percent(shares.iter().sum::<f64>() / shares.len() as f64);
    Some(format!("{share} of batches were slowed ({ruler} ×{times:.2})"))
}
