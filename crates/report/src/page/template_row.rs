//! A row as templates see it.

use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::number::nanoseconds;
use switchcost_analysis::{Row, series};
use switchcost_model::Timing;

/// Figures and evidence of one row; costs in ns per unit.
#[derive(Debug, Clone, Serialize, Default)]
pub(super) struct TemplateRow {
    /// There is a figure.
    found: bool,
    /// Why it is not there, or not verified.
    reason: String,
    label: String,
    /// The same in words: the figure, its interval or modes, and what is wrong with it.
    cost: String,
    unit: String,
    probe: String,
    /// Compiler as the probe names it, or its runtime.
    compiler: String,
    verdict: String,
    ns: f64,
    /// Ends of the 95 % interval; null with fewer than 6 starts.
    low: Option<f64>,
    high: Option<f64>,
    /// Kinds of starts with their shares, where no one number stands for the row.
    modes: Option<String>,
    min: f64,
    mean: f64,
    p90: f64,
    p99: f64,
    /// Units in a batch.
    k: u64,
    /// Batches of all counted starts.
    batches: u64,
    starts: usize,
    /// Units that were measured, and units that the original carries out.
    measured: u64,
    work: u64,
    /// `mean` × `work`, ns.
    total: f64,
    /// Kernel switches per unit; null where they cannot be observed.
    kernel: Option<f64>,
    voluntary: Option<f64>,
    involuntary: Option<f64>,
    cpus: Vec<u32>,
    /// Share of timed switches that changed the CPU.
    away: Option<f64>,
    /// Share of switches that changed the thread of the operating system.
    thread_changes: Option<f64>,
    turns_ok: Option<bool>,
    /// Other counts of the evidence, per unit.
    counts: BTreeMap<String, f64>,
    /// Of timing each: mean interval before compensation, cost of two reads, both in ticks of the counter and ns; null otherwise.
    ticks: Option<f64>,
    pair_ticks: Option<f64>,
    pair_ns: Option<f64>,
    p50: Option<f64>,
    p999: Option<f64>,
    /// Mean of each round's start, ns.
    runs: Vec<f64>,
}

impl TemplateRow {
    /// What stands for a row that nobody could plan.
    pub(super) fn absent(reason: &str) -> Self {
        let mut cell = Self { reason: reason.to_owned(), ..Self::default() };
        cell.cost = cell.told();
        cell
    }

    pub(super) fn new(row: &Row<'_>, work: u64) -> Self {
        let mut cell = Self {
            reason: row.reason.clone(),
            label: row.label.clone(),
            unit: row.unit.clone(),
            probe: row.variant.probe.clone(),
            verdict: row.verdict.to_string(),
            starts: row.summary.invocation_medians.len(),
            cpus: row.summary.cpus.iter().copied().collect(),
            away: row.summary.same_cpu_share.map(|same| 1.0 - same),
            thread_changes: row.summary.same_thread_share.map(|same| 1.0 - same),
            turns_ok: row.summary.turns_ok,
            batches: row.summary.samples,
            modes: row.summary.modes_phrase(),
            work,
            ..Self::default()
        };
        cell.figures(row);
        cell.evidence(row);
        cell.cost = cell.told();
        cell
    }

    /// True if there is a figure.
    pub(super) fn found(&self) -> bool {
        self.found
    }

    /// Its figure with the interval or modes; that it is not verified, or why there is none.
    fn told(&self) -> String {
        if !self.found {
            return format!("not known: {}", self.reason);
        }
        let figure = match (&self.modes, self.low.zip(self.high)) {
            (Some(modes), _) => modes.clone(),
            (None, Some((low, high))) => {
                format!("{} ({} – {})", nanoseconds(self.ns), nanoseconds(low), nanoseconds(high))
            }
            (None, None) => format!("{} (no interval: fewer than 6 starts)", nanoseconds(self.ns)),
        };
        if self.verdict == "verified" { figure } else { format!("{figure}, {}", self.verdict) }
    }

    pub(super) fn probe(&self) -> &str {
        &self.probe
    }

    pub(super) fn compiler(&self) -> &str {
        &self.compiler
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }

    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    fn figures(&mut self, row: &Row<'_>) {
        let summary = &row.summary;
        let Some(figures) = &summary.figures else { return };
        self.found = true;
        self.ns = figures.median;
        self.low = figures.interval.map(|interval| interval.low);
        self.high = figures.interval.map(|interval| interval.high);
        (self.min, self.mean, self.p90, self.p99) = (figures.min, figures.mean, figures.p90, figures.p99);
        self.total = figures.mean * self.work as f64;
        if let Some(kernel) = summary.kernel {
            self.kernel = Some(kernel.per_unit);
            self.involuntary = Some(kernel.per_unit * kernel.involuntary_share);
            self.voluntary = Some(kernel.per_unit * (1.0 - kernel.involuntary_share));
        }
        if let Some(reading) = &figures.reading {
            self.ticks = Some((figures.mean + reading.pair) / reading.tick);
            self.pair_ticks = Some(reading.pair / reading.tick);
            (self.pair_ns, self.p50, self.p999) = (Some(reading.pair), Some(figures.p50), Some(figures.p999));
        }
    }

    fn evidence(&mut self, row: &Row<'_>) {
        let mut by_round: BTreeMap<u64, f64> = BTreeMap::new();
        let mut units = 0;
        for invocation in &row.starts {
            let transcript = &invocation.transcript;
            if let Some(hello) = &transcript.hello {
                self.compiler = hello.compiler.clone().unwrap_or_else(|| hello.runtime.clone());
            }
            if let Some(plan) = &transcript.plan {
                self.k = plan.batch_units;
            }
            let values = series(invocation).values;
            if row.variant.timing == Timing::Batch && !values.is_empty() {
                by_round.insert(invocation.round, values.iter().sum::<f64>() / values.len() as f64);
            }
            let Some(evidence) = &transcript.evidence else { continue };
            units += evidence.units;
            for (name, count) in &evidence.counts {
                *self.counts.entry(name.clone()).or_default() += *count as f64;
            }
        }
        self.counts.values_mut().for_each(|count| *count /= units.max(1) as f64);
        self.runs = by_round.into_values().collect();
        self.measured = match row.variant.timing {
            Timing::Batch => self.batches * self.k,
            Timing::Each => self.batches,
        };
    }
}
