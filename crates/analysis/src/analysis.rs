//! A run with all that is derived from it.

use crate::curves::{CONTEXTS, Curve, Line, Matrix, Split, Topology, lines, matrices, split};
use crate::noise::{Noise, noise};
use crate::notes::{Note, notes, warnings};
use crate::rounds::plain_ratio;
use crate::row::{Judged, Row};
use crate::rulers::{Speeds, Undisturbed, speeds};
use crate::settle::{Settled, settled};
use crate::summary::{measured, verdict_of};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::Catalogue;
use switchcost_model::{
    EndedBy, Experiment, Invocation, Judgement, Mechanism, MechanismId, Placement, Run, Timing, Variant, Verdict,
};
use switchcost_stats::FEWEST;

/// A run with its rows, what they show together, its noise and its warnings, each derived once.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis<'r> {
    /// The run.
    pub run: &'r Run,
    /// One a variant, in the run's order, A/A twins included.
    pub rows: Vec<Row<'r>>,
    /// Curves in the order of their first rows.
    pub curves: Vec<Curve>,
    /// Matrices over pairs of CPUs.
    pub matrices: Vec<Matrix>,
    /// What CPUs of the run's machine share.
    pub topology: Topology,
    /// What its A/A pairs say.
    pub noise: Noise,
    /// How fast the machine was, by the rulers of each probe.
    pub speeds: Speeds,
    /// What makes the run as a whole less trustworthy, each with effect and cure.
    pub warnings: Vec<String>,
    /// Indices of all rows in the order of the ladder.
    order: Vec<usize>,
    /// Index of the row that all others are set beside.
    reference: Option<usize>,
}

impl<'r> Analysis<'r> {
    /// Derives everything; the same run gives the same.
    #[must_use]
    pub fn new(run: &'r Run, catalogue: &Catalogue) -> Self {
        let speeds = speeds(run);
        let judged = judged(run, catalogue, &speeds);
        let noise = noise(&judged.iter().collect::<Vec<_>>());
        let (reference, rows) = beside_each_other(judged, run, catalogue);
        let curves = named_curves(run, &rows, catalogue);
        let order = order(&curves, &rows, catalogue);
        let matrices = named_matrices(run, &rows, catalogue);
        let topology = Topology::of(&run.machine.stable);
        let warnings = warnings(run, &order.iter().map(|&index| &rows[index]).filter(is_shown).collect::<Vec<_>>());
        Self { run, rows, curves, matrices, topology, noise, speeds, warnings, order, reference }
    }

    /// The run did not come to its planned end: killed, still going on, stopped by the user, or by its budget before every row had the
    /// starts that an interval needs.
    #[must_use]
    pub fn partial(&self) -> bool {
        match self.run.ended_by {
            EndedBy::Unfinished | EndedBy::Interrupt => true,
            EndedBy::Precision | EndedBy::Rounds | EndedBy::Nothing => false,
            EndedBy::Budget => {
                let mut starts = self.run.starts().into_iter().enumerate();
                starts.any(|(index, starts)| !self.run.not_run.contains_key(&index) && starts.len() < FEWEST)
            }
        }
    }

    /// The row that all others are set beside: a switch of the catalogue's reference as its page describes it.
    #[must_use]
    pub fn reference(&self) -> Option<&Row<'r>> {
        Some(&self.rows[self.reference?])
    }

    /// All rows, by family, then by cost; rows without a figure last in their family. Rows of a curve stay together, in the order of its axis, at
    /// the place of the cheapest.
    pub fn ladder(&self) -> impl Iterator<Item = &Row<'r>> {
        self.order.iter().map(|&index| &self.rows[index])
    }

    /// The rows of the ladder that are not A/A twins.
    pub fn originals(&self) -> impl Iterator<Item = &Row<'r>> {
        self.ladder().filter(|row| !row.variant.is_twin())
    }

    /// The same, of which views show these rows only; what was derived of all of them stands.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(&Row<'_>) -> bool) -> Self {
        self.order.retain(|&index| self.rows.get(index).is_some_and(&wanted));
        self
    }

    /// The rows that every view shows: an A/A twin only where its evidence speaks against it.
    pub fn shown(&self) -> impl Iterator<Item = &Row<'r>> {
        self.ladder().filter(is_shown)
    }

    /// What the CPUs of a pair share; None for other placements, or where the machine's facts do not tell.
    #[must_use]
    pub fn relation(&self, placement: Placement) -> Option<&'static str> {
        let (a, b) = placement.pair()?;
        self.topology.relation(a, b).map(|relation| relation.as_str())
    }

    /// The parts of the cost of this row.
    #[must_use]
    pub fn split_of(&self, row: usize) -> Option<&Split> {
        self.curves.iter().find_map(|curve| {
            let x = curve.points.iter().find(|point| point.row == row)?.x;
            curve.splits.iter().find(|split| split.x == x)
        })
    }
}

fn is_shown(row: &&Row<'_>) -> bool {
    !row.variant.is_twin() || row.verdict == Verdict::Contradicted
}

/// Short name of a variant: what differs from the mechanism's defaults, and the probe where the page does not name its source.
#[must_use]
pub fn label(variant: &Variant, catalogue: &Catalogue, with_probe: bool) -> String {
    let mechanism = catalogue.find(&variant.mechanism);
    let mut words = vec![variant.mechanism.to_string()];
    if with_probe || catalogue.is_foreign(variant) {
        words[0] = format!("{}@{}", words[0], variant.probe);
    }
    if variant.experiment != Experiment::usual() {
        words.push(variant.experiment.to_string());
    }
    if variant.experiment.many && variant.contexts != 2 && variant.contexts != 1 {
        words.push(format!("contexts={}", variant.contexts));
    }
    for (name, value) in &variant.parameters {
        let default =
            mechanism.and_then(|mechanism| mechanism.parameters.get(name)).map(|parameter| &parameter.default);
        if default != Some(value) {
            words.push(format!("{name}={value}"));
        }
    }
    if variant.placement != Placement::usual() {
        words.push(variant.placement.to_string());
    }
    if variant.timing == Timing::Each {
        words.push("each".into());
    }
    if !variant.label.is_empty() {
        words.push(format!("({})", variant.label));
    }
    words.join(" ")
}

/// Whether several probes of a run carry out the same mechanism, which labels must then distinguish. A row that no probe can carry out has none.
fn several_probes(run: &Run) -> impl Fn(&Variant) -> bool {
    let mut probes: BTreeMap<&MechanismId, BTreeSet<&str>> = BTreeMap::new();
    for variant in run.variants.iter().filter(|variant| variant.probe != crate::curves::NOBODY) {
        probes.entry(&variant.mechanism).or_default().insert(&variant.probe);
    }
    move |variant| probes.get(&variant.mechanism).is_some_and(|probes| probes.len() > 1)
}

/// One a variant, in the run's order.
fn judged<'r>(run: &'r Run, catalogue: &Catalogue, speeds: &Speeds) -> Vec<Judged<'r>> {
    let several = several_probes(run);
    let target = run.request.rounds.is_none().then_some(run.precision_ppm as f64 / 1e6);
    let starts = run.starts();
    let settled = settled(&run.variants, &starts, speeds, target);
    let row = |(index, (starts, (summary, undisturbed))): (usize, (Vec<&'r Invocation>, Settled))| {
        let variant = &run.variants[index];
        let mechanism = catalogue.find(&variant.mechanism);
        let Judgement { verdict, reason } = verdict_of(run, index, &starts);
        let mut summary = measured(summary, reason.as_ref());
        // A neighbour blurs the modes of all batches, and those within a start may be his.
        let shows = |clear: &&Undisturbed| clear.enough() && (summary.modes.is_empty() || clear.modes_within);
        if let Some(clear) = undisturbed.as_ref().filter(shows) {
            (summary.modes, summary.modes_within) = (clear.modes.clone(), clear.modes_within);
        }
        Judged {
            index,
            variant,
            full: full(variant, mechanism),
            label: label(variant, catalogue, several(variant)),
            unit: mechanism
                .map_or(&*variant.experiment.unit, |mechanism| mechanism.unit_of(variant.experiment))
                .to_owned(),
            quantity: variant.experiment.quantity,
            control: mechanism.is_some_and(|mechanism| mechanism.control),
            summary,
            undisturbed,
            starts,
            verdict,
            reason,
            run_to_run: catalogue.run_to_run(variant.mechanism.family()),
            short: mechanism.map_or_else(String::new, |mechanism| mechanism.short.clone()),
            choice: mechanism.is_some_and(Mechanism::is_choice),
        }
    };
    starts.into_iter().zip(settled).enumerate().map(row).collect()
}

/// The rows, each with what the others say of it; and which of them is the catalogue's reference.
fn beside_each_other<'r>(judged: Vec<Judged<'r>>, run: &Run, catalogue: &Catalogue) -> (Option<usize>, Vec<Row<'r>>) {
    let reference = reference(&judged, catalogue);
    let beside = |row: &Judged<'_>| {
        let reference = &judged[reference?];
        let fits = sound(row) && row.measure() == reference.measure();
        if fits { plain_ratio(reference, row) } else { None }
    };
    let known: Vec<(Option<f64>, Vec<Note>)> =
        judged.iter().map(|row| (beside(row), notes(row, &judged, run, catalogue))).collect();
    let row = |(judged, (times_reference, notes)): (Judged<'r>, (Option<f64>, Vec<Note>))| {
        let caveats = notes.iter().filter(|note| note.caveat).map(|note| note.text.clone()).collect();
        Row { judged, times_reference, caveats, notes: notes.into_iter().map(|note| note.text).collect() }
    };
    (reference, judged.into_iter().zip(known).map(row).collect())
}

/// It can be set beside others.
fn sound(row: &Judged<'_>) -> bool {
    row.figure(row.basis()).is_some_and(|(_, _, modes)| modes.is_empty())
        && row.summary.resolved()
        && row.verdict == Verdict::Verified
        && !row.control
}

/// Index of the catalogue's reference, as its page describes it. None: the run has no sound row of it.
fn reference(rows: &[Judged<'_>], catalogue: &Catalogue) -> Option<usize> {
    let own = catalogue.reference.as_ref()?;
    let plain =
        |row: &Judged<'_>| row.variant.mechanism == *own && label(row.variant, catalogue, false) == own.as_str();
    rows.iter().position(|row| plain(row) && sound(row) && row.median().is_some())
}

/// The variant with every parameter that its mechanism has.
fn full(variant: &Variant, mechanism: Option<&Mechanism>) -> Variant {
    let mut full = variant.clone();
    for (name, parameter) in mechanism.iter().flat_map(|mechanism| &mechanism.parameters) {
        full.parameters.entry(name.clone()).or_insert_with(|| parameter.default.clone());
    }
    full
}

/// Name of what the rows of a curve share: the label with the axis at its default.
fn shared_label(variant: &Variant, axis: &str, catalogue: &Catalogue, with_probe: bool) -> String {
    let mut shared = variant.clone();
    if axis == CONTEXTS {
        shared.contexts = 2;
    }
    let mechanism = catalogue.find(&variant.mechanism);
    if let Some(parameter) = mechanism.and_then(|mechanism| mechanism.parameters.get(axis)) {
        shared.parameters.insert(axis.to_owned(), parameter.default.clone());
    } else {
        shared.parameters.remove(axis);
    }
    label(&shared, catalogue, with_probe)
}

/// All curves with their names and the parts of their cost.
fn named_curves(run: &Run, rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<Curve> {
    let several = several_probes(run);
    let control = |line: &Line| {
        catalogue.find(&line.variant.mechanism)?.parameters.get(&line.axis).and_then(|axis| axis.control.clone())
    };
    let parts = |line: Line| {
        let control = control(&line);
        let splits = control.as_ref().map_or_else(Vec::new, |control| split(&line, rows, control));
        (line, control, splits)
    };
    let all: Vec<(Line, Option<MechanismId>, Vec<Split>)> = lines(rows).into_iter().map(parts).collect();
    // Without a row at 0 nothing is split, and the control's curve is drawn by itself.
    let controls: BTreeSet<(MechanismId, String)> = all
        .iter()
        .filter(|(_, _, splits)| !splits.is_empty())
        .filter_map(|(line, control, _)| Some((control.clone()?, line.axis.clone())))
        .collect();
    let curve = |(line, control, splits): (Line, Option<MechanismId>, Vec<Split>)| {
        let label = shared_label(&line.variant, &line.axis, catalogue, several(&line.variant));
        let serves = controls.contains(&(line.variant.mechanism.clone(), line.axis.clone()));
        Curve { line, label, control, splits, serves }
    };
    all.into_iter().map(curve).collect()
}

fn named_matrices(run: &Run, rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<Matrix> {
    let several = several_probes(run);
    matrices(rows, |variant| {
        let shared = Variant { placement: Placement::usual(), ..variant.clone() };
        label(&shared, catalogue, several(&shared))
    })
}

/// Indices of rows in the order of [`Analysis::ladder`].
fn order(curves: &[Curve], rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<usize> {
    let cost = |row: &Row<'_>| row.median().unwrap_or(f64::INFINITY);
    // By what each row is sorted: its cost, or that of the cheapest on its curve; then curve and place on it.
    let mut places: Vec<(f64, (usize, u64))> = rows.iter().map(|row| (cost(row), (usize::MAX, 0))).collect();
    for (number, curve) in curves.iter().enumerate().rev() {
        let cheapest = curve.points.iter().map(|point| cost(&rows[point.row])).fold(f64::INFINITY, f64::min);
        for point in curve.points.iter().chain(&curve.gaps) {
            places[point.row] = (cheapest, (number, point.x));
        }
    }
    let rank = |index: &usize| catalogue.family_rank(rows[*index].variant.mechanism.family());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| {
        let ((cost_a, place_a), (cost_b, place_b)) = (places[*a], places[*b]);
        rank(a).cmp(&rank(b)).then(cost_a.total_cmp(&cost_b)).then(place_a.cmp(&place_b))
    });
    order
}
