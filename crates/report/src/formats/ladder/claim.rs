//! What a run answers first.

use super::View;
use switchcost_analysis::number::{counted, factor, percent};
use switchcost_analysis::{Beside, Lacking, Row, run_command, time_texts};

/// Families that the reference is set beside.
const FEW_FACTORS: usize = 3;

/// Rows of which the first is the answer.
const FEW_ROWS: usize = 2;

/// Families whose figures the sentence gives; of more the table does.
const FEW_FAMILIES: usize = 5;

impl View<'_, '_> {
    /// Of few rows the first; what the reference is worth in switches of other families; else what
    /// stands for each family.
    pub(super) fn claim(&self) -> Option<String> {
        let found = self.analysis.representatives();
        self.only().or_else(|| self.worth(&found)).or_else(|| self.families(&found))
    }

    /// `A thread/pipe switch costs 1.32 µs ±1.9 %, 1.24 times as much as thread/futex.` If no more
    /// was asked for, and not the reference.
    fn only(&self) -> Option<String> {
        let row = self.rows.first().filter(|_| self.rows.len() <= FEW_ROWS)?;
        let reference = self.analysis.reference()?;
        if self.rows.iter().any(|row| row.index == reference.index) || !row.summary.modes.is_empty() {
            return None;
        }
        let half = row.summary.figures.as_ref()?.half_width()?;
        let apart = |interval: (f64, f64)| interval.0 > 1.0 || interval.1 < 1.0;
        let times = row.times_reference.filter(|times| times.interval.is_some_and(apart));
        let times = match times.and_then(|times| times.carried()) {
            None => String::new(),
            Some(times) if times < 1.0 => format!(", {} times less than {}", factor(1.0 / times), reference.label),
            Some(times) => format!(", {} times as much as {}", factor(times), reference.label),
        };
        let cost = row.quantity.amount(row.median()?);
        Some(format!("A {} {} costs {cost} ±{}{times}.", row.label, row.unit, percent(half)))
    }

    /// What stands for each family beside the others.
    fn families(&self, found: &[(&Row<'_>, Option<Beside>)]) -> Option<String> {
        if found.len() < 2 {
            return None;
        }
        let amount = |row: &Row<'_>, value: f64| row.quantity.tick(two_digits(value));
        let figure = |row: &Row<'_>| match row.summary.modes.as_slice() {
            [] => amount(row, row.median().unwrap_or_default()),
            modes => modes.iter().map(|mode| amount(row, mode.value)).collect::<Vec<_>>().join(" or "),
        };
        let one = |(row, _): &(&Row<'_>, _)| match found.len() <= FEW_FAMILIES {
            true => format!("{} {}", row.label, figure(row)),
            false => row.label.clone(),
        };
        let order = found.iter().map(one).collect::<Vec<_>>().join(", ");
        let ordered = found.iter().any(|(_, next)| *next == Some(Beside::Less));
        let how = if ordered { ", cheapest first" } else { "" };
        Some(format!("One of each family{how}: {order}{}.", open(found)))
    }

    /// `A thread/futex switch costs 1.07 µs here: as much as 4.78 fiber/goroutine or 444
    /// coroutine/cpp20 switches.` Only of factors that their intervals carry.
    fn worth(&self, found: &[(&Row<'_>, Option<Beside>)]) -> Option<String> {
        let shown = |reference: &&Row<'_>| self.rows.iter().any(|row| row.index == reference.index);
        let reference = self.analysis.reference().filter(shown)?;
        let cost = reference.quantity.amount(reference.one()?);
        let own = reference.variant.mechanism.family();
        let cheaper = |(row, _): &(&Row<'_>, Option<Beside>)| {
            let times = 1.0 / row.times_reference?.carried()?;
            (row.variant.mechanism.family() != own && times > 1.0).then(|| format!("{} {}", factor(times), row.label))
        };
        let few: Vec<String> = found.iter().rev().filter_map(cheaper).take(FEW_FACTORS).collect();
        let few = match few.as_slice() {
            [] => return None,
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            all => all.concat(),
        };
        Some(format!("A {} switch costs {cost} here: as much as {few} switches.", reference.label))
    }

    /// What there was no time for, and how much would be enough.
    pub(super) fn late(&self) -> Vec<String> {
        let Some(Lacking { rows, whole, before, enough }) = &self.lacking else { return Vec::new() };
        let run = self.analysis.run;
        let [time, option] = time_texts(*whole);
        let [budget, own] = time_texts(run.budget_ms as f64 / 1e3);
        let all = run.variants.len() - run.not_run.len();
        let nothing = self.rows.iter().all(|row| row.median().is_none());
        let what = match nothing {
            true => "Nothing measured".to_owned(),
            false => format!("No time left for {}", counted(rows.len(), "row")),
        };
        let started = time_texts(*before)[0].clone();
        let mut out = vec![format!(
            "{what}: all {all} need about {time} here, and {budget} were allowed ({started} went to start-up)."
        )];
        if nothing && (1..rows.len()).contains(enough) {
            let command = run_command(rows.iter().take(*enough).map(|row| &row.judged));
            out.push(format!("Enough for {}: {command} --budget {own}", counted(*enough, "row")));
        }
        out.push(format!("For all of them: the same command with --budget {option}"));
        out
    }
}

/// Of which neighbours the order is not known, or does not matter: `; this run does not order
/// process/pipe and container/pipe`.
fn open(found: &[(&Row<'_>, Option<Beside>)]) -> String {
    let mut clauses = String::new();
    for group in found.split_inclusive(|(_, next)| *next == Some(Beside::Less)) {
        let names: Vec<&str> = group.iter().map(|(row, _)| row.label.as_str()).collect();
        clauses += &match (names.as_slice(), group) {
            ([] | [_], _) => continue,
            ([a, b], [(_, Some(Beside::Same)), _]) => format!("; {a} and {b} cost the same"),
            ([most @ .., last], _) => format!("; this run does not order {} and {last}", most.join(", ")),
        };
    }
    clauses
}

/// Rounded to two significant digits: enough to say which is cheaper.
fn two_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 1.0);
    (value / unit).round() * unit
}
