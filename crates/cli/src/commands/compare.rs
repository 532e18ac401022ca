//! `compare`: verdicts on pairs of rows.

mod operands;

use crate::arguments::{self, CompareFormat};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use operands::{Chosen, Operand, Runs, choose, listed};
use std::collections::BTreeMap;
use switchcost_analysis::{Noise, Row, Rules, between, noise, usable, within};
use switchcost_model::{Run, Variant};
use switchcost_report::{
    Compared, ComparedRow, ComparedSide, Line, all_lines, compare_json, compare_markdown, compare_text,
};

/// Smallest difference that matters unless the user says otherwise.
const THRESHOLD: f64 = 0.03;

/// A row and the index of its run.
type Place<'l, 'r> = (usize, &'l Line<'r>);

/// Compares.
pub fn compare(arguments: &arguments::Compare) -> Result<Exit, Failure> {
    let threshold = threshold(arguments)?;
    if arguments.operands.len() < 2 {
        return Err(Failure::usage(format!(
            "`{}` needs something to be compared with; name a second row, run or file",
            arguments.operands[0]
        )));
    }
    let catalogue = Installation::find()?.catalogue()?;
    let mut runs = Runs::new(paths::store(arguments.store.store.as_deref())?, &arguments.run);
    let operands = arguments.operands.iter().map(|text| runs.operand(text)).collect::<Result<Vec<_>, _>>()?;
    let ladders: Vec<Vec<Line<'_>>> = runs.all.iter().map(|run| all_lines(run, &catalogue)).collect();
    let mut compared = Compared { threshold, ..Compared::default() };
    let pairs = pairs(&operands, &ladders, &runs.all, &mut compared)?;
    check_methods(&pairs, &runs.all, arguments.force, &mut compared)?;
    let rules = Rules { threshold, comparisons: pairs.len() };
    let noises: Vec<Noise> =
        ladders.iter().map(|lines| noise(&lines.iter().map(|l| &l.row).collect::<Vec<_>>())).collect();
    let unknown = Noise::default();
    for (a, b) in &pairs {
        let side = |place: &Place<'_, '_>| side(place, &runs.all);
        let comparison = if a.0 == b.0 {
            // The A/A pair is not judged by the floor that it makes: no difference could ever exceed that.
            let itself = a.1.row.variant.is_twin() || b.1.row.variant.is_twin();
            within(&a.1.row, &b.1.row, if itself { &unknown } else { &noises[a.0] }, &rules)
        } else {
            between(&a.1.row, &b.1.row, (&noises[a.0], &noises[b.0]), &rules)
        }
        .map_err(|reason| {
            Failure::usage(format!("`{}` and `{}` cannot be compared: {reason}", a.1.label, b.1.label))
        })?;
        compared.rows.push(ComparedRow { a: side(a), b: side(b), comparison });
    }
    judge_runs(&pairs, &runs.all, &noises, arguments.force, &mut compared);
    notes(&pairs, &runs.all, &mut compared);
    let passed = |gate: f64| !compared.rows.iter().any(|row| row.comparison.fails(gate));
    compared.gate = arguments.gate.filter(|_| compared.refused.is_empty()).map(|gate| (gate, passed(gate)));
    output::print(&match arguments.format {
        CompareFormat::Table => compare_text(&compared, output::style()),
        CompareFormat::Json => compare_json(&compared),
        CompareFormat::Md => compare_markdown(&compared),
    })?;
    Ok(status(&compared))
}

fn threshold(arguments: &arguments::Compare) -> Result<f64, Failure> {
    match (arguments.threshold, arguments.gate) {
        (Some(threshold), Some(gate)) if gate < threshold => Err(Failure::usage(format!(
            "--gate {:.3}% lies below --threshold {:.3}%, which no verdict goes below; lower the threshold",
            gate * 100.0,
            threshold * 100.0
        ))),
        (Some(threshold), _) => Ok(threshold),
        (None, gate) => Ok(gate.map_or(THRESHOLD, |gate| gate.min(THRESHOLD))),
    }
}

fn status(compared: &Compared) -> Exit {
    match compared.gate {
        _ if !compared.refused.is_empty() => Exit::Partial,
        Some((_, false)) => Exit::Difference,
        Some(_) if !compared.skipped.is_empty() => Exit::Partial,
        _ => Exit::Fine,
    }
}

/// What is to be compared with what. The first operand is the reference of all others.
fn pairs<'l, 'r>(
    operands: &[Operand],
    ladders: &'l [Vec<Line<'r>>],
    runs: &[Run],
    compared: &mut Compared,
) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
    let Some(Operand::Rows { text, run, pattern }) = operands.first() else {
        return Err(Failure::usage("a published figure is no reference: put a row or a run first"));
    };
    let chosen = |run: usize, pattern: Option<&str>| choose(&ladders[run], pattern, &runs[run].id);
    let reference = chosen(*run, pattern.as_deref())?;
    let mut pairs = Vec::new();
    for operand in &operands[1..] {
        match operand {
            Operand::Published(value) => compared.published.push(value.clone()),
            Operand::Rows { text: other_text, run: other, pattern } => {
                let others = chosen(*other, pattern.as_deref())?;
                let sides = Sides { texts: (text, other_text), runs: (*run, *other), a: &reference, b: &others };
                pairs.extend(sides.pairs(compared)?);
            }
        }
    }
    if pairs.is_empty() {
        compared.references = reference
            .rows
            .iter()
            .filter(|line| line.row.summary.figures.is_some())
            .map(|line| side(&(*run, line), runs))
            .collect();
    }
    Ok(pairs)
}

/// Two operands.
struct Sides<'a, 'l, 'r> {
    texts: (&'a str, &'a str),
    runs: (usize, usize),
    a: &'a Chosen<'l, 'r>,
    b: &'a Chosen<'l, 'r>,
}

impl<'l, 'r> Sides<'_, 'l, 'r> {
    fn pairs(&self, compared: &mut Compared) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
        let candidates = if self.a.many { self.common(compared)? } else { self.one_to_each() };
        let mut pairs = Vec::new();
        for (a, b) in candidates {
            match comparable(a, b) {
                Ok(()) => pairs.push(((self.runs.0, a), (self.runs.1, b))),
                Err(reason) if self.b.many => compared.skipped.push((b.label.clone(), reason)),
                Err(reason) => {
                    return Err(Failure::usage(format!(
                        "`{}` and `{}` cannot be compared: {reason}",
                        a.label, b.label
                    )));
                }
            }
        }
        if pairs.is_empty() {
            let reasons: Vec<String> =
                compared.skipped.iter().map(|(label, reason)| format!("{label}: {reason}")).collect();
            let why = if reasons.is_empty() { "they name the same row".to_owned() } else { reasons.join("; ") };
            return Err(Failure::usage(format!(
                "nothing of `{}` and `{}` can be compared: {why}",
                self.texts.0, self.texts.1
            )));
        }
        Ok(pairs)
    }

    fn one_to_each(&self) -> Vec<(&'l Line<'r>, &'l Line<'r>)> {
        let Some(&a) = self.a.rows.first() else { return Vec::new() };
        let itself = |b: &Line<'_>| self.runs.0 == self.runs.1 && a.row.index == b.row.index;
        self.b.rows.iter().filter(|b| !itself(b)).map(|&b| (a, b)).collect()
    }

    /// Rows of equal variants; versions of probes may differ (gcc-12 and gcc-13).
    fn common(&self, compared: &mut Compared) -> Result<Vec<(&'l Line<'r>, &'l Line<'r>)>, Failure> {
        let (first, second) = self.texts;
        if !self.b.many {
            return Err(Failure::usage(format!(
                "`{first}` names {} rows and `{second}` one; name one row of the first, such as {first}:LABEL",
                self.a.rows.len()
            )));
        }
        if self.runs.0 == self.runs.1 {
            return Err(Failure::usage(format!(
                "`{first}` and `{second}` are rows of the same run; name two runs, or one row first"
            )));
        }
        let exact: BTreeMap<String, &'l Line<'r>> =
            self.b.rows.iter().map(|&line| (line.row.variant.key(), line)).collect();
        let loose: BTreeMap<String, &'l Line<'r>> =
            self.b.rows.iter().map(|&line| (loose_key(line.row.variant), line)).collect();
        let partner =
            |a: &Line<'_>| exact.get(&a.row.variant.key()).or_else(|| loose.get(&loose_key(a.row.variant))).copied();
        let found: Vec<_> = self.a.rows.iter().filter_map(|&a| Some((a, partner(a)?))).collect();
        if found.is_empty() {
            let labels = |rows: &[&Line<'_>]| listed(rows.iter().map(|line| line.label.clone()).collect());
            return Err(Failure::usage(format!(
                "`{first}` and `{second}` have no common mechanism: the first has {}, the second {}",
                labels(&self.a.rows),
                labels(&self.b.rows)
            )));
        }
        let alone = |rows: &[&Line<'_>], met: &dyn Fn(&Line<'_>) -> bool| {
            let names: Vec<String> = rows.iter().filter(|line| !met(line)).map(|line| line.label.clone()).collect();
            (!names.is_empty()).then(|| listed(names))
        };
        let only_a = alone(&self.a.rows, &|line| partner(line).is_some());
        let only_b = alone(&self.b.rows, &|line| found.iter().any(|(_, b)| b.row.index == line.row.index));
        for (text, names) in [(first, only_a), (second, only_b)] {
            compared.notes.extend(names.map(|names| format!("only `{text}` has {names}")));
        }
        Ok(found)
    }
}

/// Key of a variant without the version in the probe's id.
fn loose_key(variant: &Variant) -> String {
    let mut variant = variant.clone();
    let version = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if let Some((name, _)) = variant.probe.rsplit_once('-').filter(|(_, tail)| version(tail)) {
        variant.probe = name.to_owned();
    }
    variant.key()
}

fn comparable(a: &Line<'_>, b: &Line<'_>) -> Result<(), String> {
    let (first, second) = (a.row.variant.experiment, b.row.variant.experiment);
    if first != second {
        return Err(format!("one measures experiment {first}, the other {second}"));
    }
    if a.unit != b.unit {
        return Err(format!("one is measured per {}, the other per {}", a.unit, b.unit));
    }
    for line in [a, b] {
        usable(&line.row).map_err(|reason| format!("`{}` gives no verdict: {reason}", line.label))?;
    }
    Ok(())
}

fn side(place: &Place<'_, '_>, runs: &[Run]) -> ComparedSide {
    let figures = place.1.row.summary.figures.as_ref();
    ComparedSide {
        run: runs[place.0].id.clone(),
        label: place.1.label.clone(),
        median: figures.map_or(0.0, |figures| figures.median),
        interval: figures.and_then(|figures| figures.interval).map(|interval| (interval.low, interval.high)),
        unit: place.1.unit.clone(),
    }
}

/// Indices of the runs that take part, each once.
fn involved(pairs: &[(Place<'_, '_>, Place<'_, '_>)]) -> Vec<usize> {
    let mut indices: Vec<usize> = pairs.iter().flat_map(|(a, b)| [a.0, b.0]).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn check_methods(
    pairs: &[(Place<'_, '_>, Place<'_, '_>)],
    runs: &[Run],
    force: bool,
    compared: &mut Compared,
) -> Result<(), Failure> {
    let Some((a, b)) = pairs.iter().find(|(a, b)| runs[a.0].method_version != runs[b.0].method_version) else {
        return Ok(());
    };
    let (a, b) = (&runs[a.0], &runs[b.0]);
    let sentence = format!(
        "run {} was made by version {} of the method and run {} by version {}, whose figures may differ for equal machines",
        a.id, a.method_version, b.id, b.method_version
    );
    if !force {
        return Err(Failure::usage(format!("{sentence}; measure again, or insist by --force")));
    }
    compared.notes.push(format!("{sentence}."));
    Ok(())
}

/// Runs in which equal things differ bear no verdict.
fn judge_runs(
    pairs: &[(Place<'_, '_>, Place<'_, '_>)],
    runs: &[Run],
    noises: &[Noise],
    force: bool,
    compared: &mut Compared,
) {
    for index in involved(pairs) {
        let id = &runs[index].id;
        if let Some(reason) = &noises[index].unstable {
            let sentence = format!("run {id} is unstable: {reason}");
            if force { compared.notes.push(format!("{sentence}.")) } else { compared.refused.push(sentence) }
        }
        if noises[index].floor.is_none() {
            compared.notes.push(format!(
                "the noise floor of run {id} is unknown, since it holds no A/A pair of 6 rounds; {:.0} % is assumed.",
                switchcost_analysis::DEFAULT_FLOOR * 100.0
            ));
        }
    }
}

fn notes(pairs: &[(Place<'_, '_>, Place<'_, '_>)], runs: &[Run], compared: &mut Compared) {
    if pairs.len() > 1 {
        compared.notes.push(format!(
            "{} comparisons at once: each interval is wider, so that all of them together hold in 95 % of cases.",
            pairs.len()
        ));
    }
    if pairs.iter().any(|(a, b)| a.0 != b.0) {
        compared.notes.push(
            "Two runs: the interval knows chance within each, not what changed between them; for certainty measure both sides in one run.".into(),
        );
    }
    if pairs.iter().any(|(a, b)| runs[a.0].machine.stable != runs[b.0].machine.stable) {
        compared.notes.push(
            "The runs are of different machines or set-ups: the ratio is that of mechanism and machine together."
                .into(),
        );
    }
    let unobserved = |row: &Row<'_>| row.verdict == switchcost_model::Verdict::Unobservable;
    let mut unproven: Vec<String> = pairs
        .iter()
        .flat_map(|(a, b)| [a.1, b.1])
        .filter(|line| unobserved(&line.row))
        .map(|line| line.label.clone())
        .collect();
    unproven.sort();
    unproven.dedup();
    if !unproven.is_empty() {
        compared.notes.push(format!(
            "The switches of {} could not be observed; their figures rest on the probe's word.",
            listed(unproven)
        ));
    }
}
