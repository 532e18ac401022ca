//! What rows show together: curves, direct and indirect cost, matrices over CPU pairs.

use crate::number::nanoseconds;
use crate::plot::{Series, chart, size};
use crate::rows::{Line, label, probes};
use crate::text::{Style, cell, right, trimmed};
use comfy_table::Table;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::{CONTEXTS, Curve, Matrix, Row, Split, Topology, curves, ladder, matrices, split};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, MechanismId, Placement, Run, Variant};

/// A curve with what its points are made of.
pub(crate) struct Shaped {
    /// The curve.
    pub(crate) curve: Curve,
    /// Name of what its rows share.
    pub(crate) label: String,
    /// What one unit is.
    pub(crate) unit: String,
    /// Control of the axis, where the description names one.
    pub(crate) control: Option<MechanismId>,
    /// Parts of the cost at each point but 0; empty without control.
    pub(crate) splits: Vec<Split>,
    /// It is the control of another curve of the same axis, with which it is drawn.
    serves: bool,
}

/// Curves that share a picture.
pub(crate) struct Charted {
    /// What was varied.
    pub(crate) axis: String,
    /// What one unit is.
    pub(crate) unit: String,
    /// Bytes instead of ns.
    pub(crate) memory: bool,
    /// The curves.
    pub(crate) series: Vec<Series>,
}

/// All curves and matrices of a run.
pub(crate) struct Shapes<'a> {
    /// What CPUs of the run's machine share.
    topology: Topology,
    /// One a variant, in the run's order.
    pub(crate) rows: Vec<Row<'a>>,
    /// Curves in the order of their first rows.
    pub(crate) curves: Vec<Shaped>,
    /// Matrices with the names of what their rows share.
    pub(crate) matrices: Vec<(String, Matrix)>,
}

/// Name of what rows share: the label with the axis at its default.
fn shared_label(variant: &Variant, axis: &str, catalogue: &Catalogue, with_probe: bool) -> String {
    let mut shared = variant.clone();
    if axis == CONTEXTS {
        shared.contexts = 2;
    }
    let concept = catalogue.find(&variant.mechanism);
    if let Some(parameter) = concept.and_then(|concept| concept.parameters.get(axis)) {
        shared.parameters.insert(axis.to_owned(), parameter.default.clone());
    } else {
        shared.parameters.remove(axis);
    }
    label(&shared, catalogue, with_probe)
}

impl<'a> Shapes<'a> {
    /// Finds them.
    pub(crate) fn of(run: &'a Run, catalogue: &Catalogue) -> Self {
        Self::among(run, ladder(run), catalogue)
    }

    /// Finds them in rows that are made already, the A/A twins among them.
    pub(crate) fn of_lines(run: &'a Run, lines: &[Line<'a>], catalogue: &Catalogue) -> Self {
        let mut rows: Vec<Row<'a>> = lines.iter().map(|line| line.row.clone()).collect();
        rows.sort_by_key(|row| row.index);
        Self::among(run, rows, catalogue)
    }

    fn among(run: &'a Run, rows: Vec<Row<'a>>, catalogue: &Catalogue) -> Self {
        let probes = probes(run);
        let several = |variant: &Variant| probes[variant.mechanism.as_str()].len() > 1;
        let shaped = |curve: Curve| {
            let concept = catalogue.find(&curve.variant.mechanism);
            let control =
                concept.and_then(|concept| concept.parameters.get(&curve.axis)).and_then(|p| p.control.clone());
            Shaped {
                label: shared_label(&curve.variant, &curve.axis, catalogue, several(&curve.variant)),
                unit: concept.map_or("switch", |concept| concept.unit_of(curve.variant.experiment)).to_owned(),
                splits: control.as_ref().map_or_else(Vec::new, |control| split(&curve, &rows, control)),
                control,
                serves: false,
                curve,
            }
        };
        let mut curves: Vec<Shaped> = curves(&rows).into_iter().map(shaped).collect();
        // Without a row at 0 nothing is split, and the control's curve is drawn by itself.
        let controls: BTreeSet<(MechanismId, String)> = curves
            .iter()
            .filter(|shaped| !shaped.splits.is_empty())
            .filter_map(|shaped| Some((shaped.control.clone()?, shaped.curve.axis.clone())))
            .collect();
        for shaped in &mut curves {
            let Curve { variant, axis, .. } = &shaped.curve;
            shaped.serves = controls.contains(&(variant.mechanism.clone(), axis.clone()));
        }
        let named = |matrix: Matrix| {
            let variant = Variant { placement: Placement::OneCpu, ..matrix.variant.clone() };
            (label(&variant, catalogue, several(&variant)), matrix)
        };
        let matrices = matrices(&rows).into_iter().map(named).collect();
        Self { topology: Topology::of(&run.machine.stable), rows, curves, matrices }
    }

    /// What the CPUs of a pair share; None for other placements, or where the machine's facts do not tell.
    pub(crate) fn relation(&self, placement: Placement) -> Option<&'static str> {
        let Placement::Pair(a, b) = placement else { return None };
        self.topology.relation(a, b).map(|relation| relation.as_str())
    }

    /// Median of a row, ns per unit.
    pub(crate) fn median(&self, row: usize) -> Option<f64> {
        self.rows[row].summary.figures.as_ref().map(|figures| figures.median)
    }

    /// The parts of the cost of this row.
    pub(crate) fn split_of(&self, row: usize) -> Option<&Split> {
        self.curves.iter().find_map(|shaped| {
            let x = shaped.curve.points.iter().find(|point| point.row == row)?.x;
            shaped.splits.iter().find(|split| split.x == x)
        })
    }

    /// Tables and charts for a terminal; empty if the rows make neither curve nor matrix.
    pub(crate) fn text(&self, style: Style) -> String {
        let mut out = String::new();
        for shaped in self.curves.iter().filter(|shaped| !shaped.splits.is_empty()) {
            let mut table = style.table();
            self.fill_split(&mut table, shaped);
            out.push_str(&format!("\n{}\n{}", style.bold(&split_title(shaped)), trimmed(&table)));
        }
        for Charted { axis, unit, memory, series } in self.charts() {
            let measure = format!("{}/{unit}", if memory { "bytes" } else { "ns" });
            let drawn = chart(&series, &axis, axis != CONTEXTS, &measure, style);
            if !drawn.is_empty() {
                out.push_str(&format!("\n{drawn}"));
            }
        }
        for (name, matrix) in &self.matrices {
            let mut table = style.table();
            self.fill_matrix(&mut table, matrix);
            out.push_str(&format!("\n{}\n{}", style.bold(&matrix_title(name)), trimmed(&table)));
            out.push_str(&self.by_relation(matrix));
        }
        out
    }

    /// The tables as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        let mut add = |title: String, fill: &dyn Fn(&mut Table), tail: &str| {
            let mut table = Table::new();
            table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
            fill(&mut table);
            out.push_str(&format!("\n{title}\n\n{}{tail}", trimmed(&table)));
        };
        for shaped in self.curves.iter().filter(|shaped| !shaped.splits.is_empty()) {
            add(split_title(shaped), &|table| self.fill_split(table, shaped), "");
        }
        for (name, matrix) in &self.matrices {
            let tail = format!("\n{}", self.by_relation(matrix));
            add(matrix_title(name), &|table| self.fill_matrix(table, matrix), &tail);
        }
        out
    }

    /// Series of each axis and measure. A control's curve is among those that it serves.
    pub(crate) fn charts(&self) -> Vec<Charted> {
        let mut charts: Vec<Charted> = Vec::new();
        let mut push = |axis: &str, unit: &str, memory: bool, series: Series| match charts
            .iter_mut()
            .find(|known| known.axis == axis && known.unit == unit && known.memory == memory)
        {
            Some(chart) => chart.series.push(series),
            None => charts.push(Charted { axis: axis.to_owned(), unit: unit.to_owned(), memory, series: vec![series] }),
        };
        for shaped in self.curves.iter().filter(|shaped| !shaped.serves) {
            let curve = &shaped.curve;
            let memory = curve.variant.experiment == Experiment::Footprint;
            let point = |x: u64, row: usize| {
                let figures = self.rows[row].summary.figures.as_ref()?;
                Some((x, figures.median, figures.interval))
            };
            let family = curve.variant.mechanism.family().to_owned();
            let total = curve.points.iter().filter_map(|p| point(p.x, p.row)).collect();
            let whole = Series { name: shaped.label.clone(), family: family.clone(), points: total };
            push(&curve.axis, &shaped.unit, memory, whole);
            let Some(control) = shaped.control.as_ref().filter(|_| !shaped.splits.is_empty()) else { continue };
            let touches = shaped.splits.iter().filter_map(|split| point(split.x, split.control)).collect();
            let alone =
                Series { name: format!("{control} alone"), family: control.family().to_owned(), points: touches };
            push(&curve.axis, &shaped.unit, memory, alone);
            let resolved = shaped.splits.iter().filter(|split| split.resolved());
            let indirect = resolved.filter_map(|split| Some((split.x, split.indirect?, split.interval))).collect();
            let rest = Series { name: format!("{}: indirect", shaped.label), family, points: indirect };
            push(&curve.axis, &shaped.unit, memory, rest);
        }
        for chart in &mut charts {
            let mut seen: Vec<Series> = Vec::new(); // A control serves several curves and is drawn once.
            chart.series.retain(|series| {
                !series.points.is_empty() && !seen.contains(series) && {
                    seen.push(series.clone());
                    true
                }
            });
        }
        charts
    }

    fn fill_split(&self, table: &mut Table, shaped: &Shaped) {
        let control = shaped.control.as_ref().map_or(String::new(), ToString::to_string);
        let alone = format!("{control} alone");
        let header = [&shaped.curve.axis, "total", &alone, "direct", "indirect", "95 % interval", ""];
        table.set_header(header.map(right));
        let cost = |row: usize| right(self.median(row).map_or("–".to_owned(), nanoseconds));
        for split in &shaped.splits {
            let Some(total) = shaped.curve.points.iter().find(|point| point.x == split.x) else { continue };
            let interval = split.interval.map_or("–".to_owned(), |interval| {
                format!("{} … {}", nanoseconds(interval.low), nanoseconds(interval.high))
            });
            table.add_row([
                right(size(split.x)),
                cost(total.row),
                cost(split.control),
                cost(split.direct),
                right(split.indirect.map_or("–".to_owned(), nanoseconds)),
                right(interval),
                cell(if split.resolved() { "" } else { "not resolved" }),
            ]);
        }
    }

    fn fill_matrix(&self, table: &mut Table, matrix: &Matrix) {
        let header = std::iter::once("CPU".to_owned()).chain(matrix.cpus.iter().map(u32::to_string));
        table.set_header(header.map(right));
        for a in &matrix.cpus {
            let cell = |b: &u32| {
                let row = matrix.cells.get(&(*a.min(b), *a.max(b)));
                right(row.and_then(|row| self.median(*row)).map_or("–".to_owned(), nanoseconds))
            };
            table.add_row(std::iter::once(right(a)).chain(matrix.cpus.iter().map(cell)));
        }
    }

    /// Median over the pairs of each relation.
    fn by_relation(&self, matrix: &Matrix) -> String {
        let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut unknown = 0;
        for (&(a, b), &row) in &matrix.cells {
            let Some(median) = self.median(row) else { continue };
            match self.topology.relation(a, b) {
                Some(relation) => groups.entry(relation).or_default().push(median),
                None => unknown += 1,
            }
        }
        let mut parts: Vec<String> = groups
            .into_iter()
            .filter_map(|(relation, values)| {
                let median = switchcost_stats::median(&values)?;
                Some(format!("{} {} (pairs: {})", relation.as_str(), nanoseconds(median), values.len()))
            })
            .collect();
        if unknown > 0 {
            parts.push(format!("topology unknown (pairs: {unknown})"));
        }
        format!("Medians by what the CPUs share: {}\n", parts.join(" · "))
    }
}

fn split_title(shaped: &Shaped) -> String {
    format!(
        "{}: ns/{} by {}; direct is the cost at 0, indirect = total − {} alone − direct, by rounds",
        shaped.label,
        shaped.unit,
        shaped.curve.axis,
        shaped.control.as_ref().map_or(String::new(), ToString::to_string),
    )
}

fn matrix_title(name: &str) -> String {
    format!("{name}: ns a hand-off between each pair of CPUs (on the diagonal: on one CPU)")
}
