//! Curves and matrices in the JSON result.

use crate::curves::{Shaped, Shapes};
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::{Matrix, Point};
use switchcost_model::Placement;

/// Rows that differ in one number only, at least three with a figure.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct CurvePart {
    mechanism: String,
    probe: String,
    experiment: String,
    placement: String,
    /// Name of what the rows share.
    label: String,
    /// contexts, or the parameter that differs.
    axis: String,
    unit: String,
    /// Control whose rows carry the parameter's own cost; null if the axis has none.
    control: Option<String>,
    /// By ascending x.
    points: Vec<PointPart>,
    /// Points without a figure.
    gaps: Vec<GapPart>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PointPart {
    x: u64,
    /// Label of the result.
    result: String,
    /// ns per unit; bytes per context for experiment footprint.
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// Parts of the median; null without a control, and at x = 0.
    parts: Option<PartsPart>,
}

/// total = control + direct + indirect, ns per unit.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PartsPart {
    /// The parameter's own work, without a switch.
    control: Option<f64>,
    /// Label of the control's result.
    control_result: String,
    /// The same mechanism at x = 0.
    direct: Option<f64>,
    /// Median over rounds of what is left; null if no round holds all three.
    indirect: Option<f64>,
    /// Lower end of its 95 % interval; null with fewer than 6 such rounds.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
    /// The interval excludes 0.
    resolved: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct GapPart {
    x: u64,
    verdict: String,
    reason: String,
}

/// Rows that differ in the pair of CPUs only.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct MatrixPart {
    mechanism: String,
    probe: String,
    experiment: String,
    /// Name of what the rows share.
    label: String,
    cpus: Vec<u32>,
    cells: Vec<CellPart>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct CellPart {
    a: u32,
    b: u32,
    /// Label of the result.
    result: String,
    /// same_cpu, smt_sibling, same_cache, same_socket or cross_socket; null where the machine's facts do not tell.
    relation: Option<String>,
    verdict: String,
    /// ns per unit; null if there is no figure.
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl CurvePart {
    /// How many points it tells.
    pub(super) fn size(&self) -> usize {
        self.points.len() + self.gaps.len()
    }
}

impl MatrixPart {
    /// How many cells it tells.
    pub(super) fn size(&self) -> usize {
        self.cells.len()
    }
}

/// Every curve and matrix of a run; `labels` of its rows by index.
pub(super) fn shapes(shapes: &Shapes<'_>, labels: &[String]) -> (Vec<CurvePart>, Vec<MatrixPart>) {
    let curves = shapes.curves.iter().map(|shaped| curve(shapes, shaped, labels)).collect();
    let matrices = shapes.matrices.iter().map(|(label, one)| matrix(shapes, label, one, labels)).collect();
    (curves, matrices)
}

fn curve(shapes: &Shapes<'_>, shaped: &Shaped, labels: &[String]) -> CurvePart {
    let curve = &shaped.curve;
    let parts = |point: &Point| {
        let split = shaped.splits.iter().find(|split| split.x == point.x)?;
        Some(PartsPart {
            control: shapes.median(split.control),
            control_result: labels[split.control].clone(),
            direct: shapes.median(split.direct),
            indirect: split.indirect,
            low: split.interval.map(|interval| interval.low),
            high: split.interval.map(|interval| interval.high),
            resolved: split.resolved(),
        })
    };
    let point = |point: &Point| {
        let figures = shapes.rows[point.row].summary.figures.as_ref()?;
        Some(PointPart {
            x: point.x,
            result: labels[point.row].clone(),
            median: figures.median,
            low: figures.interval.map(|interval| interval.low),
            high: figures.interval.map(|interval| interval.high),
            parts: parts(point),
        })
    };
    let gap = |point: &Point| GapPart {
        x: point.x,
        verdict: shapes.rows[point.row].verdict.to_string(),
        reason: shapes.rows[point.row].reason.clone(),
    };
    CurvePart {
        mechanism: curve.variant.mechanism.to_string(),
        probe: curve.variant.probe.clone(),
        experiment: curve.variant.experiment.to_string(),
        placement: curve.variant.placement.to_string(),
        label: shaped.label.clone(),
        axis: curve.axis.clone(),
        unit: shaped.unit.clone(),
        control: shaped.control.as_ref().map(ToString::to_string),
        points: curve.points.iter().filter_map(point).collect(),
        gaps: curve.gaps.iter().map(gap).collect(),
    }
}

fn matrix(shapes: &Shapes<'_>, label: &str, matrix: &Matrix, labels: &[String]) -> MatrixPart {
    let cell = |(&(a, b), &row): (&(u32, u32), &usize)| {
        let figures = shapes.rows[row].summary.figures.as_ref();
        let interval = figures.and_then(|figures| figures.interval);
        CellPart {
            a,
            b,
            result: labels[row].clone(),
            relation: shapes.relation(Placement::Pair(a, b)).map(str::to_owned),
            verdict: shapes.rows[row].verdict.to_string(),
            median: figures.map(|figures| figures.median),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    };
    MatrixPart {
        mechanism: matrix.variant.mechanism.to_string(),
        probe: matrix.variant.probe.clone(),
        experiment: matrix.variant.experiment.to_string(),
        label: label.to_owned(),
        cpus: matrix.cpus.clone(),
        cells: matrix.cells.iter().map(cell).collect(),
    }
}
