//! What a reader must know of a row, as codes with numbers.

use crate::figures::Figures;
use crate::judge::{Constants, rules};
use crate::row::{Judged, Of};
use crate::rulers::Distrust;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::{
    EndedBy, FindingText, Mechanism, Placement, Quantity, Remark, Run, Timing, Value, Verdict, remark,
};
use switchcost_stats::{FEWEST, Interval, SIGMAS, chance, median};

/// Remarks of the probe that are shown with a row.
const MOST_REMARKS: usize = 1;

/// From this ring size on a row tells the memory it took.
const LARGE_RING: u64 = 1000;

/// From this factor on a note on a wide interval names what it was widened by because starts follow
/// one another.
const MENTIONED: f64 = 1.2;

/// Standard normal value that one in a hundred exceeds.
const ONE_IN_A_HUNDRED: f64 = 2.326;

/// What is said about a row.
pub(crate) struct Note {
    pub remark: Remark,
    /// It changes how this figure is read. Others hold of the mechanism wherever it runs, or say
    /// what columns say.
    pub caveat: bool,
}

/// Notes on a row; `rows` are all of its run.
pub(crate) fn notes(row: &Judged<'_>, rows: &[Judged<'_>], run: &Run, catalogue: &Catalogue) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut say = |caveat: bool, remarks: &mut dyn Iterator<Item = Remark>| {
        notes.extend(remarks.map(|remark| Note { remark, caveat }));
    };
    say(true, &mut strays(row).into_iter());
    let Some(figures) = &row.summary.figures else { return notes };
    let mechanism = catalogue.find(&row.variant.mechanism);
    say(false, &mut mechanism.and_then(|mechanism| switches(row, mechanism)).into_iter());
    say(true, &mut mechanism.map(|mechanism| without(row, mechanism)).unwrap_or_default().into_iter());
    say(true, &mut mechanism.map(|mechanism| tells(row, mechanism)).unwrap_or_default().into_iter());
    let other_range = in_another_range(row, rows, figures.median);
    let own = [other_range, one_thread(row, mechanism), below_floor(row, rows, catalogue)];
    say(true, &mut own.into_iter().flatten());
    say(false, &mut kinds(row, figures).or_else(|| wide(row, run)).into_iter());
    say(true, &mut follow(row).filter(|_| row.summary.modes.is_empty()).into_iter());
    let lacking = row.undisturbed.as_ref().is_some_and(|undisturbed| undisturbed.lacking().is_some());
    say(false, &mut slowed(row).into_iter());
    // Where they count, `Judged::unsettled` says so.
    say(row.summary.disturbed_counted == 0, &mut left_out(row).filter(|_| !lacking).into_iter());
    let reading = figures.reading.as_ref().map(|reading| remark!(reading, pair = Value::Bare(reading.pair)));
    let by_part = (rules(row.variant.experiment).remark)(&row.starts);
    say(true, &mut [reading, by_part, counters(row, run)].into_iter().flatten());
    say(false, &mut computed(row, run).into_iter());
    let resolved = (!row.summary.resolved()).then(|| remark!(unresolved));
    say(true, &mut [resolved, unsteady(row), other_ways(row)].into_iter().flatten());
    let size = (row.variant.contexts >= LARGE_RING && row.variant.experiment.ring)
        .then(|| remark!(size, mebibytes = Value::Bare(row.summary.peak_rss_bytes as f64 / (1024.0 * 1024.0))));
    say(false, &mut [size, row.quantity.exact.then(|| exactness(row))].into_iter().flatten());
    say(true, &mut parts(row).into_iter());
    // A remark that differs from start to start (a measured figure, say) would fill the page.
    let own = row.summary.remarks.iter().take(MOST_REMARKS);
    let pages = mechanism.iter().flat_map(|mechanism| &mechanism.notes);
    say(false, &mut own.chain(pages).map(|text| remark!(text, text = text.as_str())));
    notes
}

/// Why the kernel switches more than once for each unit.
fn switches(row: &Judged<'_>, mechanism: &Mechanism) -> Option<Remark> {
    let (rule, kernel) = (mechanism.rule(row.variant), row.summary.kernel?);
    let more = kernel.per_unit > 1.0 + Constants::OURS.kernel_tolerance && !rule.note.is_empty();
    more.then(|| remark!(switches, each = Value::Hundredths(kernel.per_unit), why = rule.note))
}

fn unsteady(row: &Judged<'_>) -> Option<Remark> {
    let (unsteady, starts) = (row.summary.unsteady, row.summary.invocation_medians.len());
    (unsteady * 3 > starts).then(|| remark!(unsteady, unsteady, starts))
}

fn other_ways(row: &Judged<'_>) -> Option<Remark> {
    let (count, example) = row.summary.other_ways.as_ref()?;
    Some(remark!(other_ways, count = *count, starts = row.starts.len(), example = example.to_string()))
}

/// What a figure consists of; a single part is the figure itself.
fn parts(row: &Judged<'_>) -> Option<Remark> {
    let unit = format!("_{}", row.quantity.base_unit);
    let part = |(part, value): (&String, &f64)| {
        format!("{} {} {}", part.trim_end_matches(&unit), Value::Bare(*value), row.quantity.unit)
    };
    let experiment = row.variant.experiment;
    let of = if experiment.of_parts.is_empty() { "parts" } else { experiment.of_parts.as_str() };
    let several = experiment.parts.len() > 1 && row.summary.parts.len() > 1;
    several.then(|| remark!(parts, of, parts = row.summary.parts.iter().map(part).collect::<Vec<_>>().join(", ")))
}

/// How many starts agree, and what else was counted.
fn exactness(row: &Judged<'_>) -> Remark {
    let starts = row.summary.invocation_medians.len();
    let beside = &row.variant.experiment.beside;
    let beside = beside.iter().filter_map(|name| {
        Some(format!("{} {} per {}", Value::Exact(*row.summary.parts.get(name)?), name.replace('_', " "), row.unit))
    });
    let beside = std::iter::once(row.variant.experiment.of_parts.clone()).filter(|of| !of.is_empty()).chain(beside);
    let beside = beside.collect::<Vec<_>>().join("; ");
    let beside = (!beside.is_empty()).then_some(beside);
    match row.equal_starts() {
        Some(equal) if equal == starts => remark!(exact, starts, beside),
        Some(equal) => remark!(exact_most, equal, starts, beside),
        None => remark!(exact_none, beside),
    }
}

/// Says so when no one number stands for the row.
fn kinds(row: &Judged<'_>, figures: &Figures) -> Option<Remark> {
    let (modes, unit) = (row.summary.modes_phrase()?, row.quantity.unit.to_string());
    let (mean, over) = (Value::Bare(figures.mean), figures.mean_over_time.map(Value::Bare));
    Some(match (row.summary.modes_within, &row.undisturbed) {
        (false, _) => remark!(modes_of_starts, modes, unit, mean, over),
        (true, Some(_)) => remark!(modes_of_batches, modes, unit, mean, over),
        (true, None) => remark!(modes_or_neighbour, modes, unit, mean, over),
    })
}

/// What the evidence does not have of the things that this figure is thought to contain.
fn without(row: &Judged<'_>, mechanism: &Mechanism) -> Vec<Remark> {
    let none = |name: &String| row.summary.counts.get(name).is_some_and(|all| all.iter().any(|(_, each)| *each == 0.0));
    let rule = mechanism.rule(row.variant);
    let absent = rule.without.into_iter().filter(|(name, text)| !text.is_empty() && none(name));
    absent.map(|(_, text)| remark!(text, text)).collect()
}

/// Shares of the units that the page has a sentence for: the median of the starts.
fn tells(row: &Judged<'_>, mechanism: &Mechanism) -> Vec<Remark> {
    let share = |name: &String| {
        let shares: Vec<f64> = row.summary.counts.get(name)?.iter().map(|(_, share)| *share).collect();
        median(&shares).map(|share| Value::Percent(share).to_string())
    };
    let told = mechanism.rule(row.variant).tells.into_iter();
    told.filter_map(|(name, text)| Some(remark!(text, text = text.replace("{}", &share(&name)?)))).collect()
}

/// Processes that outlived their start: what they did meanwhile may have disturbed others.
fn strays(row: &Judged<'_>) -> Option<Remark> {
    let counts = row.starts.iter().filter_map(|start| start.seen.as_ref()).map(|seen| seen.strays);
    let (starts, processes) =
        counts.filter(|count| *count > 0).fold((0_usize, 0), |(starts, all), count| (starts + 1, all + count));
    (starts > 0).then(|| remark!(strays, processes = u64::from(processes), starts, of = row.starts.len()))
}

/// How far the counters of two CPUs are to be trusted, where intervals begin on one and end on
/// another.
fn counters(row: &Judged<'_>, run: &Run) -> Option<Remark> {
    let across = row.variant.timing == Timing::Each && row.variant.placement != Placement::usual();
    let finding = run.machine.findings.iter().find(|finding| across && finding.id == "counters")?;
    let FindingText { what, effect, .. } = finding.text();
    Some(remark!(counters, what, effect = Some(effect).filter(|effect| !effect.is_empty())))
}

/// What was computed is not what a switch costs on this machine.
fn computed(row: &Judged<'_>, run: &Run) -> Option<Remark> {
    let mut starts = run.invocations.iter().filter(|start| start.variant == row.index);
    let simulated = starts.any(|start| start.transcript.hello.as_ref().is_some_and(|hello| hello.clock.is_simulated()));
    simulated.then(|| remark!(computed))
}

/// Both figures, where the machine was slowed beside some batches, by its rulers, and the row with
/// them.
fn slowed(row: &Judged<'_>) -> Option<Remark> {
    let undisturbed = row.undisturbed.as_ref()?;
    match undisturbed.distrust {
        Some(Distrust::Unconfirmed(log)) => {
            let by = Value::Percent(log.abs().exp() - 1.0);
            return Some(if log > 0.0 { remark!(rulers_slower, by) } else { remark!(rulers_faster, by) });
        }
        Some(Distrust::Constant) => return Some(remark!(rulers_constant)),
        Some(Distrust::Proportional) => return Some(remark!(rulers_proportional)),
        None => {}
    }
    if let Some(reason) = undisturbed.lacking() {
        return Some(remark!(lacking, reason));
    }
    let (measured, _, _) = row.figure(Of::Medians)?;
    let factor = undisturbed.factor(measured).filter(|_| row.basis() == Of::Undisturbed)?;
    let rulers: Vec<String> = undisturbed.rulers.iter().map(|(name, times)| format!("{name} ×{times:.2}")).collect();
    let (rulers, more) = (rulers.join(", "), Value::Percent(factor - 1.0));
    let measured = Value::Amount(measured, row.quantity);
    let share = Value::Percent(undisturbed.slowed);
    Some(match undisturbed.follows_clock {
        _ if undisturbed.slowed == 0.0 => remark!(slower_clock, measured, more, rulers),
        Some(true) => remark!(slowed_at_clock, measured, more, share, rulers),
        _ => remark!(slowed, measured, more, share, rulers),
    })
}

/// Both figures, where leaving out disturbed starts moves the median beyond its interval: what
/// disturbs may come with what is measured.
fn left_out(row: &Judged<'_>) -> Option<Remark> {
    if row.summary.disturbed_counted > 0 {
        return Some(remark!(disturbed_counted, reason = row.disturbed()?));
    }
    let Interval { low, high } = row.figure(Of::Medians)?.1?;
    let starts = row.summary.invocation_medians.iter().chain(&row.summary.disturbed_medians);
    let all = median(&starts.map(|&(_, value)| value).collect::<Vec<_>>())?;
    let disturbed = row.summary.disturbed;
    let (all, unit) =
        (Some(all).filter(|all| disturbed > 0 && !(low..=high).contains(all))?, row.quantity.unit.to_string());
    Some(remark!(left_out, disturbed, all = Value::Bare(all), unit))
}

/// Says so when hops between CPUs, not the mechanism, make the figure.
fn in_another_range(row: &Judged<'_>, rows: &[Judged<'_>], median: f64) -> Option<Remark> {
    let away = 1.0 - row.summary.same_cpu_share?;
    if row.variant.placement.on_one_cpu() || away < 0.01 {
        return None;
    }
    let away = Value::Percent(away);
    let home = rows.iter().find(|other| {
        let mut same = row.variant.clone();
        same.placement = other.variant.placement;
        same.placement.on_one_cpu() && *other.variant == same
    });
    let Some(home) = home else {
        return Some(remark!(away, away, placement = Placement::of_cpus(1).to_string()));
    };
    if !row.summary.modes.is_empty() {
        // Their shares stand in the row, and a ratio to a mixture means nothing.
        return Some(remark!(away_in_part));
    }
    let ratio = median / home.summary.figures.as_ref()?.median;
    let more = ratio > 1.5;
    Some(if more { remark!(away_more, times = Value::Factor(ratio), away) } else { remark!(away_or_home, away) })
}

/// Says so when a row that asks for several threads used one.
fn one_thread(row: &Judged<'_>, mechanism: Option<&Mechanism>) -> Option<Remark> {
    let asked = mechanism?.rule(row.variant).threads_change;
    (asked && row.summary.same_thread_share? >= 1.0).then(|| remark!(one_thread))
}

/// Says so when a row is faster than a control that its page names as its floor, by more than the
/// intervals of both.
fn below_floor(row: &Judged<'_>, rows: &[Judged<'_>], catalogue: &Catalogue) -> Option<Remark> {
    let mechanism = catalogue.find(&row.variant.mechanism)?;
    if !row.variant.experiment.bounded() {
        return None;
    }
    let one = |row: &Judged<'_>| {
        let (median, interval, modes) = row.figure(row.basis())?;
        Some((median, interval.filter(|_| modes.is_empty())?))
    };
    let (_, own) = one(row)?;
    let floor = |other: &&Judged<'_>| {
        mechanism.floor.contains(&other.variant.mechanism)
            && other.control
            && other.variant.placement.kind() == row.variant.placement.kind()
            && other.verdict == Verdict::Verified
    };
    let figures = rows.iter().filter(floor).filter_map(|other| Some((other, one(other)?)));
    let (other, (median, _)) = figures
        .filter(|(_, (_, interval))| own.high < interval.low)
        .max_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b))?;
    Some(remark!(below_floor, floor = other.variant.mechanism.to_string(), cost = Value::Bare(median)))
}

/// Says so when starts follow one another beyond what chance shows in one row of a hundred: ten
/// starts or twenty then know little of the next ten.
fn follow(row: &Judged<'_>) -> Option<Remark> {
    let by_chance = ONE_IN_A_HUNDRED * chance(row.of_starts().len());
    let follows = row.range().is_none() && row.summary.alike > by_chance;
    follows.then(|| remark!(follow, times = Value::Tenths(row.summary.widened)))
}

/// Why an interval is wider than requested.
fn wide(row: &Judged<'_>, run: &Run) -> Option<Remark> {
    let figures = row.summary.figures.as_ref()?;
    let target = run.precision_ppm as f64 / 1e6;
    let starts = row.of_starts().len();
    let amount = |value| Value::Amount(value, row.quantity);
    if let Some((least, most)) = row.range() {
        return Some(remark!(no_interval_holds, starts, least = amount(least), most = amount(most)));
    }
    let Some(interval) = figures.interval else {
        let each = row.start_takes().map(|time| Value::Amount(time, Quantity::TIME));
        return Some(match run.ended_by {
            EndedBy::Rounds => remark!(few_rounds, starts, needed = FEWEST, each),
            _ => remark!(few_starts, starts, needed = FEWEST, each, command = run_command([row])),
        });
    };
    let width = interval.relative_half_width(figures.median);
    // If both are printed alike, the row has the width that was asked for.
    if width <= target || Value::Percent(width).to_string() == Value::Percent(target).to_string() {
        return None;
    }
    let times = Some(row.summary.widened).filter(|times| *times >= MENTIONED).map(Value::Tenths);
    let spread = row.summary.spread_within;
    let within = (spread > 0.0).then_some(Value::Percent(SIGMAS * spread));
    let between = Value::Percent(SIGMAS * figures.mad / figures.median);
    let (width, target) = (Value::Percent(width), Value::Percent(target));
    Some(remark!(wide, width, target, starts, between, times, within))
}

/// The command that measures these rows by themselves.
#[must_use]
pub fn run_command<'a>(rows: impl IntoIterator<Item = &'a Judged<'a>>) -> String {
    command_line(["switchcost", "run"].into_iter().chain(rows.into_iter().map(|row| row.label.as_str())))
}
