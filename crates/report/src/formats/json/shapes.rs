//! Curves and matrices in the JSON result.

use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::{Analysis, Curve, Matrix, Point};
use switchcost_model::Placement;

/// Rows that differ in one number only, at least three with a figure.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Curve")]
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
#[schemars(deny_unknown_fields, rename = "Point")]
struct PointPart {
    x: u64,
    /// Label of the result.
    result: String,
    /// Per unit, in the unit of its quantity.
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// Parts of the median; null without a control, and at x = 0.
    parts: Option<PartsPart>,
}

/// total = control + direct + indirect, ns per unit.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Parts")]
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
#[schemars(deny_unknown_fields, rename = "Gap")]
struct GapPart {
    x: u64,
    verdict: String,
    reason: String,
}

/// Rows that differ in the pair of CPUs only.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Matrix")]
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
#[schemars(deny_unknown_fields, rename = "Cell")]
struct CellPart {
    a: u32,
    b: u32,
    /// Label of the result.
    result: String,
    /// same_cpu, smt_sibling, same_cache, same_socket or cross_socket; null where the machine's
    /// facts do not tell.
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

/// Every curve and matrix of a run.
pub(super) fn shapes(analysis: &Analysis<'_>) -> (Vec<CurvePart>, Vec<MatrixPart>) {
    let curves = analysis.curves.iter().map(|one| curve(analysis, one)).collect();
    let matrices = analysis.matrices.iter().map(|one| matrix(analysis, one)).collect();
    (curves, matrices)
}

fn curve(analysis: &Analysis<'_>, curve: &Curve) -> CurvePart {
    let rows = &analysis.rows;
    let parts = |point: &Point| {
        let split = curve.splits.iter().find(|split| split.x == point.x)?;
        Some(PartsPart {
            control: rows[split.control].median(),
            control_result: rows[split.control].label.clone(),
            direct: rows[split.direct].median(),
            indirect: split.indirect,
            low: split.interval.map(|interval| interval.low),
            high: split.interval.map(|interval| interval.high),
            resolved: split.resolved(),
        })
    };
    let point = |point: &Point| {
        let row = &rows[point.row];
        Some(PointPart {
            x: point.x,
            result: row.label.clone(),
            median: row.median()?,
            low: row.interval().map(|ends| ends.0),
            high: row.interval().map(|ends| ends.1),
            parts: parts(point),
        })
    };
    let gap = |point: &Point| GapPart {
        x: point.x,
        verdict: rows[point.row].verdict.to_string(),
        reason: rows[point.row].why(),
    };
    CurvePart {
        mechanism: curve.variant.mechanism.to_string(),
        probe: curve.variant.probe.clone(),
        experiment: curve.variant.experiment.to_string(),
        placement: curve.variant.placement.to_string(),
        label: curve.label.clone(),
        axis: curve.axis.clone(),
        unit: rows[curve.points[0].row].unit.clone(),
        control: curve.control.as_ref().map(ToString::to_string),
        points: curve.points.iter().filter_map(point).collect(),
        gaps: curve.gaps.iter().map(gap).collect(),
    }
}

fn matrix(analysis: &Analysis<'_>, matrix: &Matrix) -> MatrixPart {
    let cell = |(&(a, b), &row): (&(u32, u32), &usize)| {
        let row = &analysis.rows[row];
        CellPart {
            a,
            b,
            result: row.label.clone(),
            relation: analysis.relation(Placement::on_pair(a, b)).map(str::to_owned),
            verdict: row.verdict.to_string(),
            median: row.median(),
            low: row.interval().map(|ends| ends.0),
            high: row.interval().map(|ends| ends.1),
        }
    };
    MatrixPart {
        mechanism: matrix.variant.mechanism.to_string(),
        probe: matrix.variant.probe.clone(),
        experiment: matrix.variant.experiment.to_string(),
        label: matrix.label.clone(),
        cpus: matrix.cpus.clone(),
        cells: matrix.cells.iter().map(cell).collect(),
    }
}
