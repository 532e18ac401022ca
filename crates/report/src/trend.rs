//! Trends of rows over runs.

use crate::answer::{Cell, Section};
use crate::compare::ratio_phrase;
use crate::curves::levels;
use crate::listing::HistoryList;
use crate::text::{Style, wrapped};
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::number::counted;
use switchcost_analysis::{At, Quantity, WORTH_SHOWING};
use switchcost_model::{Utc, Value, harmless};

/// Runs of a row that are shown unless all are asked for.
const SHOWN: usize = 15;

/// Columns of the picture of an interval.
const PICTURE: usize = 24;

/// A row in one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TrendPoint {
    /// Id of the run.
    pub run: String,
    /// Its start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// Median of the invocations' medians: ns per unit, or bytes for footprints; null where it
    /// falls into modes, which are not one number.
    pub median: Option<f64>,
    /// Its 95 % interval; null with fewer than 6 invocations. Figures without one are not judged.
    pub interval: Option<(f64, f64)>,
    /// Kinds of starts or batches: figure and share of each, cheapest first; empty where one number
    /// stands for the row.
    pub modes: Vec<(f64, f64)>,
    /// Invocations started.
    pub invocations: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// Key of software and settings.
    pub software: String,
    /// What of them changed since the point before: `NAME: BEFORE → AFTER`.
    pub changed: Vec<String>,
    /// How many times its best of these runs the core's ruler took at its best in this run; null
    /// without rulers.
    pub slowed: Option<f64>,
    /// Why the figure is not judged; null where it is.
    pub reason: Option<String>,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TrendChange {
    /// Last run of the old level.
    pub before: String,
    /// First run of the new level.
    pub after: String,
    /// New level ÷ old level.
    pub ratio: f64,
    /// 95 % interval of the ratio, given the place; null where too few runs lie on the two sides.
    pub interval: Option<(f64, f64)>,
    /// The greater of two shares: of random orders of the runs that could be cut at least as well,
    /// and of drifting series with a step as strong.
    pub p: f64,
    /// Facts of tool and machine that differ between the two runs.
    pub changed_with_it: Vec<String>,
}

/// A row over runs, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Trend {
    /// Key of the machine.
    pub machine: String,
    /// Short name with the probe; no other row of the machine has it.
    pub label: String,
    /// What one unit is.
    pub unit: String,
    /// Whether the figure is a time, in ns, or memory, in bytes.
    pub quantity: Quantity,
    /// One a run.
    pub points: Vec<TrendPoint>,
    /// Changes of level in order of time.
    pub changes: Vec<TrendChange>,
    /// Places where the level seems to change, but as drift would.
    pub undecided: usize,
    /// Lag-1 autocorrelation of the judged runs about their levels; null where nothing varies.
    pub autocorrelation: Option<f64>,
}

/// A machine: the same hardware and, where it is known, the same host, whatever runs on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TrendMachine {
    /// Key of its hardware, and behind an @ its host, where that is known.
    pub key: String,
    /// Processor, number of CPUs, hypervisor.
    pub name: String,
}

/// All that one `history PATTERN` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Trends {
    /// Version of the method of all figures.
    pub method_version: u32,
    /// What stands for each start.
    pub at: At,
    /// Machines, that of the newest run first.
    pub machines: Vec<TrendMachine>,
    /// Rows, by machine.
    pub trends: Vec<Trend>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Trends as one JSON object.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Document<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    method_version: u32,
    /// What stands for each start: `median`, or a percentile of its single switches such as `p99`.
    at: String,
    machines: &'a [TrendMachine],
    trends: &'a [Trend],
    notes: &'a [String],
}

/// `history PATTERN --format json`.
///
/// # Panics
/// Never: the types have only text keys and finite numbers.
#[must_use]
pub fn trends_json(trends: &Trends) -> String {
    let Trends { method_version, at, machines, trends, notes } = trends;
    let document = Document { format: 1, method_version: *method_version, at: at.to_string(), machines, trends, notes };
    crate::text::json(&document)
}

/// What `history --format json` gives: with a pattern rows over runs, without one the list.
#[derive(JsonSchema)]
#[schemars(title = "switchcost history", untagged)]
#[expect(dead_code, reason = "only its schema is made")]
enum History<'a> {
    Trends(Document<'a>),
    List(HistoryList<'a>),
}

/// JSON Schema of either.
#[must_use]
pub fn history_schema() -> String {
    crate::text::json(&schemars::schema_for!(History<'_>))
}

/// `history PATTERN` for a terminal: of one row its runs, of several a line each; `verbose`: every
/// run of every row.
#[must_use]
pub fn trends_text(trends: &Trends, verbose: bool, style: Style) -> String {
    let mut out = String::new();
    for trend in &trends.trends {
        for change in &trend.changes {
            out.push_str(&style.headline(&format!("{}: {}", trend.label, phrase(change, trend.quantity))));
        }
    }
    for (place, note) in trends.notes.iter().enumerate() {
        let bold = place == 0 && out.is_empty();
        out.push_str(&if bold { style.headline(note) } else { wrapped("", note, style) });
    }
    let most = if verbose { usize::MAX } else { SHOWN };
    for machine in &trends.machines {
        let own: Vec<&Trend> = trends.trends.iter().filter(|trend| trend.machine == machine.key).collect();
        let points = || own.iter().flat_map(|trend| &trend.points);
        let kernel =
            points().next().map(|point| &point.kernel).filter(|one| points().all(|point| point.kernel == **one));
        let kernel = kernel.map_or(String::new(), |kernel| format!(" · kernel {}", harmless(kernel)));
        out.push('\n');
        out.push_str(&wrapped("", &format!("{} · machine {}{kernel}", machine.name, machine.key), style));
        let text = match own.as_slice() {
            [only] => block(only, trends.at, most, style),
            all if verbose => {
                all.iter().map(|trend| block(trend, trends.at, most, style)).collect::<Vec<_>>().join("\n")
            }
            all => summary(all, style),
        };
        out.push_str(&text);
        if points().any(|point| point.slowed.is_some_and(|times| times > WORTH_SHOWING)) && (verbose || own.len() == 1)
        {
            let text =
                "CPU slower: its fixed pieces of work, against the run of this machine in which they were fastest";
            out.push_str(&wrapped("  ", text, style));
        }
    }
    style.sealed(&out)
}

/// Rows beside one another: the newest figure, and the way to it.
fn summary(trends: &[&Trend], style: Style) -> String {
    let titles = [("row", 0), ("runs", 2), ("newest", 0), ("95 % interval", 2), ("oldest → newest", 1), ("", 0)];
    let mut table = Section::new(titles);
    for trend in trends {
        let Some(newest) = trend.points.last() else { continue };
        let amount = |value: f64| Value::Amount(value, trend.quantity);
        let shown = &trend.points[trend.points.len().saturating_sub(PICTURE - 1)..];
        let values: Vec<_> = shown.iter().map(|point| point.median).collect();
        let cut = if shown.len() < trend.points.len() { "…" } else { "" };
        let line = format!("{cut}{}", levels(&values, bounds(trend)));
        let reasons: Vec<&String> = trend.points.iter().filter_map(|point| point.reason.as_ref()).collect();
        let not_judged = reasons.last().map(|last| match reasons.len() {
            1 => format!("1 not judged: {last}"),
            several => format!("{several} not judged, the newest of them: {last}"),
        });
        let remarks = [
            (!trend.changes.is_empty()).then(|| "changed".to_owned()),
            (trend.undecided > 0).then(|| "inconclusive: drift or change".to_owned()),
            not_judged,
        ];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        table.rows.push(vec![
            Cell::Name(trend.label.clone()),
            trend.points.len().into(),
            Cell::Value(figure(newest, trend.quantity)),
            span(newest, amount),
            line.into(),
            Cell::Words(remarks.join(", ")),
        ]);
    }
    table.terminal(style) + "  each run of a row: switchcost history ROW; of all: -v\n"
}

/// The interval of a run.
fn span(point: &TrendPoint, value: impl Fn(f64) -> Value) -> Cell {
    match point.interval {
        Some((low, high)) => Cell::Value(Value::between(value(low), value(high))),
        None if point.modes.is_empty() => Cell::Value(Value::Unknown),
        None => "bimodal".into(),
    }
}

/// The lowest and the highest end of its figures and intervals.
fn bounds(trend: &Trend) -> (f64, f64) {
    let ends = |point: &TrendPoint| point.interval.into_iter().flat_map(|(low, high)| [low, high]);
    let all = || trend.points.iter().flat_map(|point| ends(point).chain(figures(point)));
    (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
}

/// A row, run by run: the newest `most` of them.
fn block(trend: &Trend, at: At, most: usize, style: Style) -> String {
    let older = trend.points.len().saturating_sub(most);
    let points = &trend.points[older..];
    let updated = points.iter().any(|point| !point.changed.is_empty());
    let slowed = points.iter().any(|point| point.slowed.is_some_and(|times| times > WORTH_SHOWING));
    let titles = [("run", 0), ("started, UTC", 2), ("cost", 0), ("95 % interval", 1), ("kernel", 1), ("CPU slower", 1)];
    let mut table = Section::new(titles.into_iter().chain([("", 0), ("", 0)]));
    let bounds = bounds(trend);
    for (i, point) in points.iter().enumerate() {
        let started = Utc::new(point.started_unix_ns);
        let kernel = if i == 0 { point.kernel.clone() } else { update(point) };
        let times = point.slowed.map_or(Value::Unknown, |times| format!("×{times:.2}").into());
        let reason = point.reason.as_ref().map_or(Cell::Empty, |reason| Cell::Words(format!("not judged: {reason}")));
        table.rows.push(vec![
            Cell::Name(point.run.clone()),
            format!("{} {}", started.date(), started.minute()).into(),
            Cell::Value(figure(point, trend.quantity)),
            span(point, |value| Value::Amount(value, trend.quantity)),
            if updated { kernel.into() } else { Cell::Empty },
            if slowed { Cell::Value(times) } else { Cell::Empty },
            picture(point, bounds).into(),
            reason,
        ]);
    }
    let runs = counted(trend.points.len(), "run");
    let unit = harmless(&trend.unit);
    let title = format!("{} · {runs} · {} per {unit}, {at} of each run", trend.label, trend.quantity.unit);
    let mut out = style.headline(&title);
    if older > 0 {
        out.push_str(&format!(" … {older} older runs: -v\n"));
    }
    out.push_str(&table.terminal(style));
    if trend.undecided > 0 {
        let places = if trend.undecided == 1 { "a place".to_owned() } else { format!("{} places", trend.undecided) };
        let alike = trend.autocorrelation.unwrap_or_default();
        let text = format!(
            "inconclusive: the level seems to change in {places}, but runs next to each other are alike (autocorrelation {alike:.2}): drift would look the same"
        );
        out.push_str(&wrapped("  ? ", &text, style));
    }
    out
}

/// What changed since the point before, in few words: the kernel's release, then names of other
/// facts.
fn update(point: &TrendPoint) -> String {
    let names = point.changed.iter().map(|fact| fact.split(": ").next().unwrap_or_default());
    let (kernel, others): (Vec<&str>, Vec<&str>) = names.partition(|name| *name == "kernel.release");
    let mut words: Vec<String> = kernel.iter().map(|_| point.kernel.clone()).collect();
    words.extend(others.first().map(|name| (*name).to_owned()));
    if others.len() > 1 {
        words.push(format!("{} more", others.len() - 1));
    }
    if words.is_empty() { String::new() } else { format!("→ {}", words.join(", ")) }
}

/// The median, or each mode.
fn figure(point: &TrendPoint, quantity: Quantity) -> Value {
    let one = point.median.map(|median| (median, 1.0));
    Value::Either(point.modes.iter().copied().chain(one).collect(), quantity)
}

/// The median, or what each mode costs.
fn figures(point: &TrendPoint) -> impl Iterator<Item = f64> {
    point.modes.iter().map(|mode| mode.0).chain(point.median)
}

/// Where its figures and its interval lie between the lowest and the highest end of all.
fn picture(point: &TrendPoint, (lowest, highest): (f64, f64)) -> String {
    let width = highest - lowest;
    let column = |value: f64| {
        let share = if width > 0.0 { (value - lowest) / width } else { 0.5 };
        (share * (PICTURE - 1) as f64).round() as usize
    };
    let dots: Vec<usize> = figures(point).map(column).collect();
    let line = point.interval.map(|(low, high)| column(low)..=column(high));
    let last = dots.iter().copied().chain(line.as_ref().map(|line| *line.end())).max().unwrap_or(0);
    (0..=last)
        .map(|at| match at {
            at if dots.contains(&at) => '●',
            at if line.as_ref().is_some_and(|line| line.contains(&at)) => '─',
            _ => ' ',
        })
        .collect()
}

fn phrase(change: &TrendChange, quantity: Quantity) -> String {
    let span = change.interval.map_or("too few runs for an interval".to_owned(), |(low, high)| {
        format!("95 % interval {} to {}", Value::Change(low - 1.0), Value::Change(high - 1.0))
    });
    let with = match change.changed_with_it.as_slice() {
        [] => "no fact that both runs recorded changed with it".to_owned(),
        facts => format!("with it changed {}", facts.iter().map(|fact| harmless(fact)).collect::<Vec<_>>().join(", ")),
    };
    let p = if change.p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {:.3}", change.p) };
    format!("{} from run {} on ({span}; {p}); {with}", ratio_phrase(change.ratio, quantity), change.after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_intervals() {
        let point = |median: Option<f64>, interval, modes: &[f64]| TrendPoint {
            run: String::new(),
            started_unix_ns: 0,
            median,
            interval,
            modes: modes.iter().map(|figure| (*figure, 0.5)).collect(),
            invocations: 10,
            kernel: String::new(),
            software: String::new(),
            changed: Vec::new(),
            slowed: None,
            reason: None,
        };
        let of = |low, median, high| point(Some(median), Some((low, high)), &[]);
        assert_eq!(picture(&of(1.0, 1.0, 1.0), (1.0, 1.0)).trim_start(), "●");
        let all: Vec<String> =
            [of(0.0, 1.0, 2.0), of(20.0, 22.0, 23.0)].iter().map(|point| picture(point, (0.0, 23.0))).collect();
        assert_eq!(all, ["─●─".to_owned(), " ".repeat(20) + "──●─"]);
        assert_eq!(picture(&point(None, None, &[1.0, 4.0]), (0.0, 23.0)), " ●  ●");
    }
}
