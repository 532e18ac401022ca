//! What a reader must know of a row, in words.

use crate::figures::Figures;
use crate::judge::Constants;
use crate::row::{Judged, Of};
use crate::rulers::Distrust;
use crate::tail::tail;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::number::{exactly, factor, nanoseconds, percent};
use switchcost_model::{EndedBy, Mechanism, Placement, Quantity, Run, Timing, ToldFinding, Verdict};
use switchcost_stats::{FEWEST, Interval, SIGMAS, chance, median};

/// Remarks of the probe that are shown with a row.
const MOST_REMARKS: usize = 1;

/// From this ring size on a row tells the memory it took.
const LARGE_RING: u64 = 1000;

/// From this factor on a note on a wide interval names what it was widened by because starts follow one another.
const MENTIONED: f64 = 1.2;

/// Standard normal value that one in a hundred exceeds.
const ONE_IN_A_HUNDRED: f64 = 2.326;

/// A sentence about a row.
pub(crate) struct Note {
    pub text: String,
    /// It changes how this figure is read. Others hold of the mechanism wherever it runs, or say what columns say.
    pub caveat: bool,
}

fn marked(caveat: bool, texts: impl IntoIterator<Item = String>) -> impl Iterator<Item = Note> {
    texts.into_iter().map(move |text| Note { text, caveat })
}

/// Notes on a row; `rows` are all of its run.
pub(crate) fn notes(row: &Judged<'_>, rows: &[Judged<'_>], run: &Run, catalogue: &Catalogue) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(marked(true, strays(row)));
    let Some(figures) = &row.summary.figures else { return notes };
    let mechanism = catalogue.find(&row.variant.mechanism);
    if let (Some(mechanism), Some(kernel)) = (mechanism, row.summary.kernel) {
        let rule = mechanism.rule(row.variant);
        if kernel.per_unit > 1.0 + Constants::OURS.kernel_tolerance && !rule.note.is_empty() {
            let note = format!("{:.2} kernel switches each: {}", kernel.per_unit, rule.note);
            notes.extend(marked(false, Some(note)));
        }
    }
    notes.extend(marked(true, mechanism.map(|mechanism| without(row, mechanism)).unwrap_or_default()));
    notes.extend(marked(true, in_another_range(row, rows, figures.median)));
    notes.extend(marked(true, one_thread(row, mechanism)));
    notes.extend(marked(true, below_floor(row, rows, catalogue)));
    notes.extend(marked(false, kinds(row, figures).or_else(|| wide(row, run))));
    notes.extend(marked(true, follow(row).filter(|_| row.summary.modes.is_empty())));
    let lacking = row.undisturbed.as_ref().is_some_and(|undisturbed| undisturbed.lacking().is_some());
    notes.extend(marked(false, slowed(row)));
    // Where they count, `Judged::unsettled` says so.
    notes.extend(marked(row.summary.disturbed_counted == 0, left_out(row).filter(|_| !lacking)));
    if let Some(reading) = &figures.reading {
        let note = format!(
            "the counter is read at every switch: {} ns, the cost of two reads in the same loop, are taken off all figures",
            nanoseconds(reading.pair),
        );
        notes.extend(marked(true, Some(note)));
    }
    notes.extend(marked(true, tail(row)));
    notes.extend(marked(true, counters(row, run)));
    notes.extend(marked(false, computed(row, run)));
    if !row.summary.resolved() {
        let note = "not resolved: less is left than half of what the reads cost; use the figure of timing=batch";
        notes.extend(marked(true, Some(note.to_owned())));
    }
    if row.summary.unsteady * 3 > row.summary.invocation_medians.len() {
        let note = format!(
            "no steady state in {} of {} starts: their second half is used",
            row.summary.unsteady,
            row.summary.invocation_medians.len()
        );
        notes.extend(marked(true, Some(note)));
    }
    if let Some((count, example)) = &row.summary.other_ways {
        let note = format!(
            "{count} of {} starts did something else than the row says and are left out: {example}",
            row.starts.len()
        );
        notes.extend(marked(true, Some(note)));
    }
    if row.variant.contexts >= LARGE_RING && row.variant.experiment.ring {
        let mebibytes = row.summary.peak_rss_bytes as f64 / (1024.0 * 1024.0);
        notes.extend(marked(false, Some(format!("the probe's largest process used {} MiB", nanoseconds(mebibytes)))));
    }
    if row.quantity.exact {
        notes.extend(marked(false, Some(exactness(row))));
    }
    // A single part is the figure itself.
    if row.variant.experiment.parts.len() > 1 && row.summary.parts.len() > 1 {
        let parts: Vec<String> = row
            .summary
            .parts
            .iter()
            .map(|(part, value)| {
                let unit = format!("_{}", row.quantity.base_unit);
                format!("{} {} {}", part.trim_end_matches(&unit), nanoseconds(*value), row.quantity.unit)
            })
            .collect();
        let of = Some(&row.variant.experiment.of_parts).filter(|of| !of.is_empty());
        let note = format!("{}: {}", of.map_or("parts", String::as_str), parts.join(", "));
        notes.extend(marked(true, Some(note)));
    }
    // A remark that differs from start to start (a measured figure, say) would fill the page.
    notes.extend(marked(false, row.summary.remarks.iter().take(MOST_REMARKS).cloned()));
    if let Some(mechanism) = mechanism {
        notes.extend(marked(false, mechanism.notes.iter().cloned()));
    }
    notes
}

/// How many starts agree, and what else was counted.
fn exactness(row: &Judged<'_>) -> String {
    let starts = row.summary.invocation_medians.len();
    let counted = match row.equal_starts() {
        Some(equal) if equal == starts => format!("exact, {starts} of {starts} starts"),
        Some(equal) => format!("the most frequent count in {equal} of {starts} starts"),
        None => "no start counts".to_owned(),
    };
    let beside = &row.variant.experiment.beside;
    let beside = beside.iter().filter_map(|name| {
        Some(format!("{} {} per {}", exactly(*row.summary.parts.get(name)?), name.replace('_', " "), row.unit))
    });
    let of = &row.variant.experiment.of_parts;
    let of = if of.is_empty() { None } else { Some(of.clone()) };
    [counted].into_iter().chain(of).chain(beside).collect::<Vec<_>>().join("; ")
}

/// Says so when no one number stands for the row.
fn kinds(row: &Judged<'_>, figures: &Figures) -> Option<String> {
    let (phrase, unit) = (row.summary.modes_phrase()?, &row.quantity.unit);
    let over_time = figures.mean_over_time.map(|mean| format!(", over time {}", nanoseconds(mean)));
    let mean = nanoseconds(figures.mean) + &over_time.unwrap_or_default();
    Some(match (row.summary.modes_within, &row.undisturbed) {
        (false, _) => format!("modes: {phrase} of starts, in {unit}; mean {mean}"),
        (true, Some(_)) => {
            format!("modes: {phrase} of batches, in {unit}; a start goes from one to the other; mean {mean}")
        }
        (true, None) => format!(
            "modes: {phrase} of batches, in {unit}; a start goes from one to the other, or a neighbour made them, which no ruler tells; mean {mean}"
        ),
    })
}

/// What the evidence does not have of the things that this figure is thought to contain.
fn without(row: &Judged<'_>, mechanism: &Mechanism) -> Vec<String> {
    let none = |name: &String| row.summary.counts.get(name).is_some_and(|all| all.iter().any(|(_, each)| *each == 0.0));
    let rule = mechanism.rule(row.variant);
    rule.without.into_iter().filter(|(name, text)| !text.is_empty() && none(name)).map(|(_, text)| text).collect()
}

/// Processes that outlived their start: what they did meanwhile may have disturbed others.
fn strays(row: &Judged<'_>) -> Option<String> {
    let counts = row.starts.iter().filter_map(|start| start.seen.as_ref()).map(|seen| seen.strays);
    let (starts, processes) =
        counts.filter(|count| *count > 0).fold((0, 0), |(starts, all), count| (starts + 1, all + count));
    (starts > 0).then(|| {
        format!("{processes} processes outlived {starts} of {} starts and were ended by the host", row.starts.len())
    })
}

/// How far the counters of two CPUs are to be trusted, where intervals begin on one and end on another.
fn counters(row: &Judged<'_>, run: &Run) -> Option<String> {
    let across = row.variant.timing == Timing::Each && row.variant.placement != Placement::usual();
    let finding = run.machine.findings.iter().find(|finding| across && finding.id == "counters")?;
    let ToldFinding { what, effect, .. } = finding.told();
    let effect = if effect.is_empty() { effect } else { format!(": {effect}") };
    Some(format!("intervals may end on another CPU than they begin on; {what}{effect}"))
}

/// What was computed is not what a switch costs on this machine.
fn computed(row: &Judged<'_>, run: &Run) -> Option<String> {
    let mut starts = run.invocations.iter().filter(|start| start.variant == row.index);
    let simulated = starts.any(|start| start.transcript.hello.as_ref().is_some_and(|hello| hello.clock.is_simulated()));
    simulated.then(|| "computed by its probe (its clock is `simulated`), not timed".to_owned())
}

/// Both figures, where the machine was slowed beside some batches, by its rulers, and the row with them.
fn slowed(row: &Judged<'_>) -> Option<String> {
    let undisturbed = row.undisturbed.as_ref()?;
    if let Some(why) = undisturbed.distrust {
        let why = match why {
            Distrust::Unconfirmed(log) => {
                let (by, how) = (percent(log.abs().exp() - 1.0), if log > 0.0 { "slower" } else { "faster" });
                format!("say that the clock was {by} {how} than any other row of the same rounds says")
            }
            Distrust::Constant => "are one number in all batches, which no clock gives".to_owned(),
            Distrust::Proportional => "are its costs in another unit, and were not timed".to_owned(),
        };
        return Some(format!("its probe's rulers {why}: the figure is of all batches"));
    }
    if let Some(reason) = undisturbed.lacking() {
        return Some(format!("{reason}, and too few are left for an undisturbed figure: measure it again"));
    }
    let (measured, _, _) = row.figure(Of::Medians)?;
    let factor = undisturbed.factor(measured).filter(|_| row.basis() == Of::Undisturbed)?;
    let rulers: Vec<String> = undisturbed.rulers.iter().map(|(name, times)| format!("{name} ×{times:.2}")).collect();
    let at_clock = "at the clock that the run kept";
    let beside = format!(" beside {} of the batches", percent(undisturbed.slowed));
    let (beside, figure) = match undisturbed.follows_clock {
        _ if undisturbed.slowed == 0.0 => (String::new(), at_clock.to_owned()),
        Some(true) => (beside, format!("of the others, {at_clock}")),
        _ => (beside, "of the others".to_owned()),
    };
    Some(format!(
        "{} as measured, {} more: this machine was slower than it can be{beside} (rulers, beside the median batch: {}); the figure is {figure}",
        row.quantity.amount(measured),
        percent(factor - 1.0),
        rulers.join(", "),
    ))
}

/// Both figures, where leaving out disturbed starts moves the median beyond its interval: what disturbs may come with what is measured.
fn left_out(row: &Judged<'_>) -> Option<String> {
    if row.summary.disturbed_counted > 0 {
        return Some(format!("{}, and too few are left without them: measure it again", row.disturbed()?));
    }
    let Interval { low, high } = row.figure(Of::Medians)?.1?;
    let starts = row.summary.invocation_medians.iter().chain(&row.summary.disturbed_medians);
    let all = median(&starts.map(|&(_, value)| value).collect::<Vec<_>>())?;
    (row.summary.disturbed > 0 && !(low..=high).contains(&all)).then(|| {
        format!(
            "{} starts that other programs disturbed are left out; with them the median is {} {}",
            row.summary.disturbed,
            nanoseconds(all),
            row.quantity.unit
        )
    })
}

/// Says so when hops between CPUs, not the mechanism, make the figure.
fn in_another_range(row: &Judged<'_>, rows: &[Judged<'_>], median: f64) -> Option<String> {
    let away = 1.0 - row.summary.same_cpu_share?;
    if row.variant.placement.on_one_cpu() || away < 0.01 {
        return None;
    }
    let changed = format!("{} of the switches changed the CPU", percent(away));
    let home = rows.iter().find(|other| {
        let mut same = row.variant.clone();
        same.placement = other.variant.placement;
        same.placement.on_one_cpu() && *other.variant == same
    });
    let Some(home) = home else {
        return Some(format!(
            "{changed}, which must be woken first if it went idle: compare with --placement {}",
            Placement::of_cpus(1)
        ));
    };
    if !row.summary.modes.is_empty() {
        // Their shares stand in the row, and a ratio to a mixture means nothing.
        return Some("part of the switches changed the CPU; else the scheduler left both contexts on one CPU".into());
    }
    let ratio = median / home.summary.figures.as_ref()?.median;
    Some(if ratio > 1.5 {
        format!("×{} of its figure on one CPU: {changed}, which may need waking", factor(ratio))
    } else {
        format!("{changed}; otherwise the scheduler left both contexts on one CPU")
    })
}

/// Says so when a row that asks for several threads used one.
fn one_thread(row: &Judged<'_>, mechanism: Option<&Mechanism>) -> Option<String> {
    let asked = mechanism?.rule(row.variant).threads_change;
    (asked && row.summary.same_thread_share? >= 1.0)
        .then(|| "every checked switch stayed on one OS thread: the runtime may use several, but did not".to_owned())
}

/// Says so when a row is faster than a control that its page names as its floor, by more than the intervals of both.
fn below_floor(row: &Judged<'_>, rows: &[Judged<'_>], catalogue: &Catalogue) -> Option<String> {
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
    Some(format!(
        "below its floor, {} ({} ns): what runs inside a loop can cost less than a call",
        other.variant.mechanism,
        nanoseconds(median)
    ))
}

/// Says so when starts follow one another beyond what chance shows in one row of a hundred: ten starts or twenty then know little of the next ten.
fn follow(row: &Judged<'_>) -> Option<String> {
    let by_chance = ONE_IN_A_HUNDRED * chance(row.of_starts().len());
    (row.range().is_none() && row.summary.alike > by_chance).then(|| {
        format!(
            "each start is like the one before: the interval is {:.1} times as wide for it, and may still be too narrow",
            row.summary.widened
        )
    })
}

/// Why an interval is wider than requested.
fn wide(row: &Judged<'_>, run: &Run) -> Option<String> {
    let figures = row.summary.figures.as_ref()?;
    let target = run.precision_ppm as f64 / 1e6;
    let count = row.of_starts().len();
    if let Some((least, most)) = row.range() {
        return Some(format!(
            "no interval holds: each of its {count} starts is like the one before, from {} to {}; measure again at another time",
            row.quantity.amount(least),
            row.quantity.amount(most)
        ));
    }
    let Some(interval) = figures.interval else {
        let each = row.start_takes().map(|time| format!(", each of {}", Quantity::TIME.amount(time)));
        let cure = match run.ended_by {
            EndedBy::Rounds => "ask for more by --rounds".to_owned(),
            _ => format!("allow more time with --budget, or measure it by itself: {}", run_command([row])),
        };
        let each = each.unwrap_or_default();
        return Some(format!("no interval: {count} of the {FEWEST} starts that a 95 % interval needs{each}; {cure}"));
    };
    let width = interval.relative_half_width(figures.median);
    if width <= target {
        return None;
    }
    let between = SIGMAS * figures.mad / figures.median;
    let times = row.summary.widened;
    let alike =
        if times < MENTIONED { String::new() } else { format!(", and each is like the one before (×{times:.1})") };
    let within = if row.summary.spread_within > 0.0 {
        format!(", batches within a start by {}", percent(SIGMAS * row.summary.spread_within))
    } else {
        String::new()
    };
    Some(format!(
        "the interval is ±{} instead of ±{}: its {count} starts differ by {} (1.48 MAD){alike}{within}",
        percent(width),
        percent(target),
        percent(between),
    ))
}

/// The command that measures these rows by themselves.
#[must_use]
pub fn run_command<'a>(rows: impl IntoIterator<Item = &'a Judged<'a>>) -> String {
    command_line(["switchcost", "run"].into_iter().chain(rows.into_iter().map(|row| row.label.as_str())))
}
