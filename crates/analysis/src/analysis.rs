//! A run with all that is derived from it.

use crate::at::At;
use crate::beside::beside_each_other;
use crate::curves::{Curve, Matrix, Split, Topology};
use crate::judge::in_no_figure;
use crate::judged::judged;
use crate::noise::{Noise, noise};
use crate::representatives::{Beside, beside, order, representatives};
use crate::row::Row;
use crate::rulers::{Speeds, speeds};
use crate::speed::clock;
use crate::together::together;
use crate::warnings::warnings;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{CoreClock, EndedBy, Invocation, Placement, Remark, Run, Verdict};
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
    /// Those of all rows.
    whole: Vec<Curve>,
    /// Matrices over pairs of CPUs.
    pub matrices: Vec<Matrix>,
    /// What CPUs of the run's machine share.
    pub topology: Topology,
    /// What its A/A pairs say.
    pub noise: Noise,
    /// How fast the machine was, by the rulers of each probe.
    pub speeds: Speeds,
    /// How fast the CPU ran, where a probe knows.
    pub clock: Option<CoreClock>,
    /// What makes the run as a whole less trustworthy, each with effect and cure.
    pub warnings: Vec<Remark>,
    /// Indices of all rows in the order of the ladder.
    order: Vec<usize>,
    /// Index of the row that all others are set beside.
    reference: Option<usize>,
    /// Indices of the rows that stand for their families, cheapest first.
    representatives: Vec<usize>,
}

impl<'r> Analysis<'r> {
    /// Derives everything; the same run gives the same.
    #[must_use]
    pub fn new(run: &'r Run, catalogue: &Catalogue) -> Self {
        Self::at(run, catalogue, At::Median)
    }

    /// The same, with another figure than the median for each start: rows that were not timed one
    /// by one have none.
    #[must_use]
    pub fn at(run: &'r Run, catalogue: &Catalogue, at: At) -> Self {
        let speeds = speeds(run);
        let judged = judged(run, catalogue, &speeds, at);
        let clock = clock(run, &speeds);
        let noise = noise(&judged.iter().collect::<Vec<_>>());
        let (reference, rows) = beside_each_other(judged, run, &noise, catalogue);
        let (curves, matrices) = together(run, &rows, catalogue);
        let order = order(&curves, &rows, catalogue);
        let representatives = representatives(&rows, catalogue);
        let topology = Topology::of(&run.machine.stable);
        let warnings = warnings(run, &order.iter().map(|&index| &rows[index]).filter(is_shown).collect::<Vec<_>>());
        Self {
            run,
            rows,
            whole: curves.clone(),
            curves,
            matrices,
            topology,
            noise,
            speeds,
            clock,
            warnings,
            order,
            reference,
            representatives,
        }
    }

    /// The run did not come to its planned end: killed, still going on, stopped by the user, or by
    /// its budget before every row had the rounds that were asked for, or the starts that an
    /// interval needs.
    #[must_use]
    pub fn partial(&self) -> bool {
        match self.run.ended_by {
            EndedBy::Unfinished | EndedBy::Interrupt => true,
            EndedBy::Precision | EndedBy::Rounds | EndedBy::Nothing => false,
            EndedBy::Budget => short_of(self.run, self.run.request.rounds),
        }
    }

    /// The row that all others are set beside: a switch of the catalogue's reference as its page
    /// describes it.
    #[must_use]
    pub fn reference(&self) -> Option<&Row<'r>> {
        Some(&self.rows[self.reference?])
    }

    /// The rows that stand for their families, cheapest first, each with how it lies to the next.
    #[must_use]
    pub fn representatives(&self) -> Vec<(&Row<'r>, Option<Beside>)> {
        let rows: Vec<&Row<'r>> = self.representatives.iter().map(|&index| &self.rows[index]).collect();
        let lies = |place: usize| rows.get(place + 1).map(|next| beside(rows[place], next, &self.noise));
        (0..rows.len()).map(|place| (rows[place], lies(place))).collect()
    }

    /// All rows, by family, then by cost; rows without a figure last in their family. Rows of a
    /// curve stay together, in the order of its axis, at the place of the cheapest.
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
        let keeps = |index: usize| self.rows.get(index).is_some_and(&wanted);
        self.order.retain(|&index| keeps(index));
        self.representatives.retain(|&index| keeps(index));
        self.curves.retain_mut(|curve| curve.keep(keeps));
        self.matrices.retain_mut(|matrix| matrix.keep(keeps));
        self
    }

    /// The rows that every view shows: an A/A twin only where its evidence speaks against it.
    pub fn shown(&self) -> impl Iterator<Item = &Row<'r>> {
        self.ladder().filter(is_shown)
    }

    /// Whether a row was asked for: a control that was measured for the sake of others was not.
    pub fn asked(&self) -> impl Fn(&Row<'r>) -> bool {
        let patterns = self.run.request.patterns.iter().filter_map(|text| Pattern::parse(text).ok());
        let patterns: Vec<Pattern<'r>> = patterns.collect();
        let controls = self.shown().all(|row| row.control);
        let named = move |row: &Row<'_>| patterns.iter().any(|one| one.names_mechanism(&row.variant.mechanism));
        move |row| controls || !row.control || named(row)
    }

    /// What the CPUs of a pair share; None for other placements, or where the machine's facts do
    /// not tell.
    #[must_use]
    pub fn relation(&self, placement: Placement) -> Option<&'static str> {
        let (a, b) = placement.pair()?;
        self.topology.relation(a, b).map(|relation| relation.as_str())
    }

    /// The parts of the cost of this row.
    #[must_use]
    pub fn split_of(&self, row: usize) -> Option<&Split> {
        self.whole.iter().find_map(|curve| {
            let x = curve.points.iter().find(|point| point.row == row)?.x;
            curve.splits.iter().find(|split| split.x == x)
        })
    }
}

fn is_shown(row: &&Row<'_>) -> bool {
    !row.variant.is_twin() || row.verdict == Verdict::Contradicted
}

/// A row has fewer starts than the rounds that were asked for, or than an interval needs if none
/// were.
#[must_use]
pub fn short_of(run: &Run, rounds: Option<u64>) -> bool {
    let needed = rounds.unwrap_or(FEWEST as u64);
    let counted = |starts: &[&Invocation]| starts.iter().filter(|start| !in_no_figure(start)).count() as u64;
    let mut starts = run.starts().into_iter().enumerate();
    starts.any(|(index, starts)| !run.not_run.contains_key(&index) && counted(&starts) < needed)
}
