//! Layers of a cost as a waterfall, and as JSON.

use crate::answer::{Answer, Cell, Headline, Section};
use crate::text::Style;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::number::{counted, percent};
use switchcost_analysis::{
    ADDS_UP_WITHIN, AddsUp, Condition, Explained, FEWEST_STARTS, LayerCost, Limited, Part, Prediction, Shares, Times,
};
use switchcost_model::{Quantity, Value};

/// What no layer explains, as the text calls it.
const REST: &str = "unexplained rest";

/// Width of the longest bar, characters.
const BAR: usize = 24;

/// All that one `explain` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What is explained, as the row is called.
    pub label: String,
    /// Title of the mechanism.
    pub title: String,
    /// Run that it was measured in.
    pub run: String,
    /// Its figure, as every view gives it.
    pub figure: String,
    /// Its parts.
    pub explained: Explained,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// From `start` on, so many ns, drawn to scale; a part below nothing goes to the left.
fn bar(start: f64, size: f64, whole: f64) -> String {
    let place = |ns: f64| ((ns / whole) * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    let (from, to) = (place(start.min(start + size)), place(start.max(start + size)));
    match from == to {
        true => format!("{}▏", " ".repeat(from.min(BAR - 1))),
        false => format!("{}{}", " ".repeat(from), "█".repeat(to - from)),
    }
}

/// A share as far as it is known.
fn share(of: &Times) -> String {
    match (of.carried(), of.interval) {
        (None, Some((low, high))) => format!("{:.0}–{:.0} %", low * 100.0, high * 100.0),
        _ => percent(of.ratio),
    }
}

/// `thread/futex takes 1.07 µs: of 1.08 µs, the mean of 20 rounds, 55 % scheduler switch, 12 % wake
/// call, 33 % is left`, by shares whose intervals lie above 0.
fn answer(explanation: &Explanation) -> String {
    let explained = &explanation.explained;
    let takes = format!("{} takes {}", explanation.label, explanation.figure);
    // Parts are those of a mean, which their table has.
    let whole = Quantity::TIME.amount(explained.total.value);
    let rounds = counted(explained.total.rounds, "round");
    let same = whole == explanation.figure;
    let mean = if same { String::new() } else { format!("of {whole}, the mean of {rounds}") };
    match explained.shares() {
        Shares::FewRounds => {
            let mean = if same { String::new() } else { format!(" ({whole} on average)") };
            format!(
                "{takes}; {rounds} with all parts{mean}, too few for shares, which need {FEWEST_STARTS}; allow more with --budget"
            )
        }
        Shares::Exceed => {
            let whole = if same { "of it" } else { &mean };
            let come_to =
                explained.prediction.as_ref().map(|known| format!("come to {} {whole}", percent(known.ratio)));
            format!("{takes}; its layers {}: shares are not given", come_to.as_deref().unwrap_or("exceed it"))
        }
        Shares::Modes => format!("{takes}; a cost of several kinds has no shares"),
        Shares::Of { layers, left } if layers.is_empty() && left.is_none() => {
            format!("{takes}; {}the interval of every part holds 0", if same { mean } else { mean + ", " })
        }
        Shares::Of { layers, left } => {
            let parts = layers.iter().map(|(name, of)| format!("{} {name}", share(of)));
            let left = left.map(|of| format!("{} is left", share(&of)));
            let mean = if same { mean } else { mean + ", " };
            format!("{takes}: {mean}{}", parts.chain(left).collect::<Vec<_>>().join(", "))
        }
    }
}

/// For a terminal; `verbose`: with the rows that each layer is the difference of.
#[must_use]
pub fn explain_text(explanation: &Explanation, verbose: bool, style: Style) -> String {
    let explained = &explanation.explained;
    let whole = explained.total.value;
    let titles = [("", 0), ("ns", 0), ("95 % interval", 1), ("", 2), ("", 0), ("", 0)];
    let mut table = Section::new(titles);
    let limits = |of: &dyn Fn(Option<usize>) -> bool| {
        let of = explained.limits.iter().filter(|row| of(row.layer));
        let mut all: Vec<Condition> = of.flat_map(|row| row.conditions.iter().copied()).collect();
        all.sort();
        all.dedup_by_key(|limit| limit.word());
        if all.is_empty() { Cell::Empty } else { Cell::Limits(all) }
    };
    let row = |name: &str, part: &Part, start: f64, limits: Cell, mark: &str| {
        let interval = part.interval.map(|one| Value::between(Value::Bare(one.low), Value::Bare(one.high)));
        let words = if mark.is_empty() { Cell::Empty } else { Cell::Words(mark.to_owned()) };
        let bar = bar(start, part.value, whole).into();
        let interval = interval.map_or("no interval".into(), Cell::Value);
        vec![Cell::Name(name.to_owned()), Cell::Value(Value::Bare(part.value)), interval, bar, limits, words]
    };
    let mut remarks = Vec::new();
    let mut height = 0.0;
    for (place, layer) in explained.layers.iter().enumerate() {
        let terms = if verbose { format!(" = {}", layer.terms) } else { String::new() };
        let said = format!("- {}{terms}: {}", layer.name, layer.why);
        match &layer.cost {
            Ok(part) => {
                let mark = if part.resolved() { "" } else { "not resolved" };
                table.rows.push(row(&layer.name, part, height, limits(&|layer| layer == Some(place)), mark));
                height += part.value;
                remarks.push(said);
            }
            Err(why) => {
                table.rows.push(vec![Cell::Name(layer.name.clone()), Cell::Value(Value::Unknown)]);
                remarks.push(format!("{said}; not measured: {why}"));
            }
        }
    }
    table.rows.push(row(REST, &explained.residue, height, limits(&|_| true), ""));
    table.rows.push(row(&explanation.label, &explained.total, 0.0, limits(&|layer| layer.is_none()), ""));
    table.below.push(sentence(explained));
    if let Some(residue) = &explained.residue_is {
        let test =
            if residue.test.is_empty() { String::new() } else { format!("; what would show it: {}", residue.test) };
        remarks.push(format!("- {REST}, probably: {}{test}", residue.what));
    }
    remarks.extend(explanation.notes.iter().map(|note| format!("note: {note}")));
    let rounds = counted(explained.total.rounds, "round");
    let about = format!("run {}, {rounds}; means over rounds, which add up", explanation.run);
    // That there are too few rounds is the answer itself.
    let few = |limit: &&Condition| !matches!(limit, Condition::FewStarts { .. });
    let rests_on = explained
        .limits
        .iter()
        .map(|row| (row.row.as_str(), row.conditions.iter().filter(few).copied().collect::<Vec<_>>()));
    let answer = Answer {
        headline: Headline::on(vec![answer(explanation)], Vec::new(), rests_on),
        about: vec![("", explanation.title.clone()), ("", about)],
        sections: vec![table],
        remarks,
        outcome: None,
    };
    answer.terminal(style)
}

/// Do the layers add up?
fn sentence(explained: &Explained) -> String {
    if explained.floor_only {
        return "No breakdown yet: the floor is measured, and nothing explains the rest.".into();
    }
    let asked = format!("adds up within ±{:.0} %", 100.0 * ADDS_UP_WITHIN);
    let Some(prediction) = &explained.prediction else {
        let unmeasured = explained.layers.iter().filter(|layer| layer.cost.is_err()).count();
        return format!("{unmeasured} of the layers could not be measured here; {asked}: inconclusive.");
    };
    let range = prediction.interval.map_or("no interval, for want of 6 rounds".into(), |interval| {
        format!("{:.3} – {:.3}", interval.low, interval.high)
    });
    let moved = explained.moved().collect::<Vec<_>>().join(", ");
    let adds_up = match explained.adds_up() {
        Some(sure @ (AddsUp::Yes | AddsUp::No)) => sure.as_str().to_owned(),
        _ if moved.is_empty() => "inconclusive".to_owned(),
        _ => format!("inconclusive ({moved})"),
    };
    format!("Predicted ÷ measured is {:.3} ({range}); {asked}: {adds_up}.", prediction.ratio)
}

/// Where the nanoseconds of a mechanism go.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost explain", deny_unknown_fields)]
pub(crate) struct Document<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// The row that is explained.
    mechanism: &'a str,
    /// Title of its mechanism.
    title: &'a str,
    /// Run that all of it was measured in.
    run: &'a str,
    /// Its figure in words, as every view gives it.
    figure: &'a str,
    /// The whole: the mean over rounds, which parts add up to.
    total: PartJson,
    /// Its parts, from the bottom.
    layers: Vec<LayerJson<'a>>,
    /// What the measured layers leave.
    residue: PartJson,
    /// What the data file says of the residue; null where it says nothing.
    residue_is: Option<ResidueJson<'a>>,
    /// Sum of the layers ÷ the whole, of the same rounds; null where a layer was not measured, and
    /// where a row is set beside its floor only.
    predicted_per_measured: Option<RatioJson>,
    /// The layers add up if that is within 1 ± this share.
    bound: f64,
    /// Whether they do: "yes" if the interval lies wholly within the bound, "no" if wholly outside,
    /// else "cannot tell", as where other programs or the machine moved one of its rows; null where
    /// a row is set beside its floor only, which predicts nothing.
    adds_up: Option<&'static str>,
    /// Rows that the parts are made of, with what limits conclusions from each.
    limits: &'a [Limited],
    /// The same as a sentence.
    sentence: String,
    /// What a reader must know.
    notes: &'a [String],
}

/// A cost, or a part of one.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PartJson {
    /// Mean over rounds, so that layers and residue add up to the whole; negative where things cost
    /// less together than apart.
    ns: f64,
    /// Lower end of its 95 % interval; null with fewer than 6 rounds.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
    /// Part of the whole, as a fraction; null where its interval holds 0, where the parts come to
    /// more than the whole, and with fewer than 6 rounds.
    share: Option<f64>,
    /// Rounds behind it: those that have all rows.
    rounds: usize,
}

/// A ratio of means.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct RatioJson {
    /// Its value.
    ratio: f64,
    /// Lower end of its 95 % interval, widened to hold that of the median of the rounds' ratios;
    /// null with fewer than 6 rounds.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
}

/// A difference of measured rows.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct LayerJson<'a> {
    /// What the time goes into.
    name: &'a str,
    /// Its rows with their factors.
    terms: &'a str,
    /// Why that difference is this layer.
    why: &'a str,
    /// What it costs; null where it was not measured.
    cost: Option<PartJson>,
    /// Why it was not measured.
    reason: Option<&'a str>,
}

/// What is thought of the residue.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ResidueJson<'a> {
    /// What it is, or may be: a name, since it is not measured.
    what: &'a str,
    /// What would show it; empty where it is known.
    test: &'a str,
}

fn part_json(part: &Part, share: Option<f64>) -> PartJson {
    PartJson {
        ns: part.value,
        low: part.interval.map(|i| i.low),
        high: part.interval.map(|i| i.high),
        share,
        rounds: part.rounds,
    }
}

impl From<&Prediction> for RatioJson {
    fn from(of: &Prediction) -> Self {
        Self { ratio: of.ratio, low: of.interval.map(|i| i.low), high: of.interval.map(|i| i.high) }
    }
}

fn layer_json<'a>(layer: &'a LayerCost, shares: &[(String, Times)]) -> LayerJson<'a> {
    let share = shares.iter().find(|(name, _)| *name == layer.name).map(|(_, share)| share.ratio);
    LayerJson {
        name: &layer.name,
        terms: &layer.terms,
        why: &layer.why,
        cost: layer.cost.as_ref().ok().map(|part| part_json(part, share)),
        reason: layer.cost.as_ref().err().map(String::as_str),
    }
}

/// For scripts.
#[must_use]
pub fn explain_json(explanation: &Explanation) -> String {
    crate::text::json(&explain_document(explanation))
}

pub(crate) fn explain_document(explanation: &Explanation) -> Document<'_> {
    let prediction = explanation.explained.prediction.as_ref();
    let (shares, left) = match explanation.explained.shares() {
        Shares::Of { layers, left } => (layers, left),
        Shares::FewRounds | Shares::Exceed | Shares::Modes => (Vec::new(), None),
    };
    Document {
        format: 1,
        mechanism: &explanation.label,
        title: &explanation.title,
        run: &explanation.run,
        figure: &explanation.figure,
        total: part_json(&explanation.explained.total, None),
        layers: explanation.explained.layers.iter().map(|layer| layer_json(layer, &shares)).collect(),
        residue: part_json(&explanation.explained.residue, left.map(|share| share.ratio)),
        residue_is: explanation
            .explained
            .residue_is
            .as_ref()
            .map(|residue| ResidueJson { what: &residue.what, test: &residue.test }),
        predicted_per_measured: prediction.map(RatioJson::from),
        bound: ADDS_UP_WITHIN,
        adds_up: explanation.explained.adds_up().map(AddsUp::as_str),
        limits: &explanation.explained.limits,
        sentence: sentence(&explanation.explained),
        notes: &explanation.notes,
    }
}

/// JSON Schema of [`explain_json`]'s object.
#[must_use]
pub fn explain_schema() -> String {
    crate::text::json(&schemars::schema_for!(Document<'_>))
}
