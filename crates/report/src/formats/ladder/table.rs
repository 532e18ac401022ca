//! The table of a run: the families beside one another, a line per row.

use super::View;
use crate::answer::{Axis, Cell, Picture, Section, Tint};
use crate::columns::{beside, cpus, ctx_switches, figure, interval};
use crate::text::Detail;
use switchcost_analysis::number::percent;
use switchcost_analysis::{Condition, LONGEST, Row, detail};
use switchcost_model::{Experiment, Quantity, Timing, Value, Verdict};

/// Rows of a group from which its families are set apart.
const LONG: usize = 8;

/// Shares of a start's units, with their titles.
const SHARES: [(f64, &str); 5] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// A column: its title, how soon it leaves, its cell.
type Column<'t> = (&'t str, u8, fn(&Row<'_>) -> Cell);

impl<'r> View<'_, 'r> {
    /// Rows by what they measure and where; those of curves stand with them, one line a point.
    pub(super) fn tables(&self) -> Vec<Section> {
        let brief = self.detail == Detail::Brief;
        let alone = |row: &&&Row<'r>| !brief || !self.analysis.curves.iter().any(|curve| curve.has(row.index));
        let mut groups: Vec<(String, Vec<&Row<'r>>)> = Vec::new();
        for row in self.rows.iter().filter(alone) {
            let title = group(row);
            match groups.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((title, vec![row])),
            }
        }
        let each_unit = |(_, rows): &(String, Vec<&Row<'r>>)| rows.iter().all(|row| row.variant.each_unit());
        let spread: Vec<_> = groups.iter().filter(|group| each_unit(group)).cloned().collect();
        let plain: Vec<_> = match brief {
            true => groups.into_iter().filter(|group| !each_unit(group)).collect(),
            false => vec![(String::new(), self.rows.clone())],
        };
        let mut tables: Vec<Section> = (!plain.is_empty()).then(|| self.ladder(&plain)).into_iter().collect();
        tables.extend(spread.iter().map(|(title, rows)| self.percentiles(title, rows)));
        tables
    }

    /// One table of groups, on one axis.
    fn ladder(&self, groups: &[(String, Vec<&Row<'r>>)]) -> Section {
        let reference = self.analysis.reference().and_then(|row| row.variant.mechanism.as_str().rsplit('/').next());
        let reference = format!("× {}", reference.unwrap_or("reference"));
        let unit = groups
            .first()
            .and_then(|(_, rows)| rows.first())
            .map_or("unit", |row| row.variant.experiment.unit.as_str());
        let per = if self.detail == Detail::Brief { "median".to_owned() } else { format!("per {unit}") };
        let common: [Column<'_>; 1] = [(&per, 0, median)];
        let own: Vec<Column<'_>> = match self.detail {
            Detail::Brief => vec![("±", 4, half), (&reference, 3, times)],
            Detail::Columns | Detail::Notes => vec![
                ("95 % interval", 4, interval),
                ("min", 8, |row| figure(row, row.summary.figures.as_ref().and_then(|figures| figures.min))),
                ("p99", 7, |row| figure(row, row.summary.figures.as_ref().and_then(|figures| figures.p99))),
                (&reference, 9, times),
                ("ctx switches", 5, ctx_switches),
                ("CPUs", 6, cpus),
                ("runs", 6, |row| row.starts.len().into()),
            ],
        };
        let columns: Vec<Column<'_>> = common.into_iter().chain(own).collect();
        let rows = || groups.iter().flat_map(|(_, rows)| rows);
        let brief = self.detail == Detail::Brief;
        let quantity = rows().next().map_or(Quantity::TIME, |row| row.quantity);
        let ends = rows().filter(|row| row.quantity == quantity).flat_map(|row| {
            let ends = row.interval().map(|(low, high)| [low, high]);
            ends.into_iter().flatten().chain(row.median())
        });
        let axis = Axis::around(quantity, ends, true).filter(|_| brief && rows().count() > 1);
        let titles = columns.iter().map(|(title, leaves, _)| (*title, *leaves));
        let title = groups.first().map_or("", |(title, _)| title);
        let titles = [(title, 0)].into_iter().chain(titles).chain([("", 9), ("", 0), ("", 0), ("", 0)]);
        let mut table = Section { axis, goes_on: !brief, ..Section::new(titles) };
        for (place, (title, rows)) in groups.iter().enumerate() {
            if place > 0 {
                table.rows.extend([vec![], vec![Cell::Name(title.clone())]]);
            }
            let mut family = None;
            for row in rows {
                let own = row.variant.mechanism.family();
                if rows.len() >= LONG && family.is_some_and(|family| family != own) {
                    table.rows.push(vec![]);
                }
                family = Some(own);
                let cells = columns.iter().map(|(_, _, cell)| cell(row));
                let drawn = axis_cell(row, quantity, table.axis.is_some());
                let last = [drawn, verdict(row), limits(row), self.words(row)];
                table.rows.push([self.name(row)].into_iter().chain(cells).chain(last).collect());
            }
        }
        table
    }

    /// Rows whose units each have a figure: percentiles with their intervals, and a histogram.
    fn percentiles(&self, title: &str, rows: &[&Row<'r>]) -> Section {
        let known = |row: &Row<'_>, share: f64| row.summary.percentiles.iter().find(|one| one.share == share).cloned();
        let has = |share: f64| share == 0.5 || rows.iter().any(|row| known(row, share).is_some());
        let shares: Vec<(f64, &str)> = SHARES.into_iter().filter(|(share, _)| has(*share)).collect();
        // The width of the first stays longest.
        // How soon a percentile leaves, and its interval; the rarest is the first.
        let leaves = [(0, 2), (0, 6), (0, 5), (0, 7), (8, 8)];
        let titles = shares.iter().zip(leaves);
        let titles = titles.flat_map(|((_, title), (leaves, half))| [(*title, leaves), ("±", half)]);
        let last = [("longest", 0), ("n", 10), ("", 9), ("", 0), ("", 0), ("", 0)];
        let titles = [(title, 0)].into_iter().chain(titles).chain(last);
        let quantity = rows.first().map_or(Quantity::TIME, |row| row.quantity);
        let figures = rows.iter().filter_map(|row| row.summary.figures.as_ref());
        let ends = figures.flat_map(|figures| [figures.min.unwrap_or(figures.p50), figures.max]);
        let mut table = Section { axis: Axis::around(quantity, ends, false), ..Section::new(titles) };
        // What was varied stands in the order asked.
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| row.index);
        for row in rows {
            let mut cells = vec![self.name(row)];
            for (share, _) in &shares {
                let known = known(row, *share);
                cells.push(figure(row, known.as_ref().map(|known| known.value)));
                let width = known.and_then(|known| Some(known.interval?.relative_half_width(known.value)));
                cells.push(width.map_or(Cell::Empty, |width| Cell::Value(Value::Percent(width))));
            }
            let figures = row.summary.figures.as_ref();
            let lasts = row.summary.percentiles.iter().any(|known| known.share == LONGEST);
            cells.push(figure(row, figures.filter(|_| lasts).map(|figures| figures.max)));
            let units = row.summary.percentiles.first().map(|known| known.units);
            cells.push(units.map_or(Cell::Empty, |units| Cell::Value(Value::Count(units))));
            let ends = figures.map(|figures| (figures.min.unwrap_or(figures.p50), figures.max));
            let drawn = ends.map(|ends| Picture::Histogram(detail(row).histogram, ends));
            cells.push(drawn.map_or(Cell::Empty, Cell::Picture));
            cells.extend([verdict(row), limits(row), self.words(row)]);
            table.rows.push(cells);
        }
        table
    }

    /// Parameters of which several values were asked for and that its label leaves out, since it
    /// has their default.
    fn varied(&self, row: &Row<'_>) -> Vec<String> {
        let asked = self.analysis.run.request.parameters.iter().filter(|(_, values)| values.len() > 1);
        let words = asked.filter_map(|(name, _)| Some(format!("{name}={}", row.variant.parameters.get(name)?)));
        words.filter(|word| row.label.split(' ').all(|said| said != word)).collect()
    }

    /// The row's label without what its group's title says, with the mark of its notes.
    fn name(&self, row: &Row<'_>) -> Cell {
        let shown = [row.variant.placement.to_string(), row.variant.experiment.to_string()];
        let said = |word: &&str| self.detail == Detail::Brief && shown.iter().any(|shown| shown == word);
        let words = row.label.split(' ').filter(|word| !said(word)).map(str::to_owned);
        let mut name = words.chain(self.varied(row)).collect::<Vec<_>>().join(" ");
        if let Some(place) = self.footnotes.iter().position(|notes| *notes == row.notes) {
            name += &format!(" [{}]", place + 1);
        } else if !row.caveats.is_empty() {
            name += " *";
        }
        Cell::Name(name)
    }

    /// What changes how the figure is read: its unit, its modes, how many runs agree, what was
    /// measured.
    fn words(&self, row: &Row<'_>) -> Cell {
        let mut words = Vec::new();
        if row.unit != row.variant.experiment.unit {
            words.push(format!("per {}", row.unit));
        }
        if !row.summary.modes.is_empty() {
            let modes = row.summary.shares().into_iter();
            // The first has its figure in the column of medians.
            let own = |(at, (value, weight)): (usize, (f64, f64))| match at {
                0 => percent(weight),
                _ => format!("{} ({})", row.quantity.amount(value), percent(weight)),
            };
            words.push(modes.enumerate().map(own).collect::<Vec<_>>().join(" or "));
        } else if let Some(equal) = row.equal_starts().filter(|_| row.quantity.exact) {
            let runs = row.summary.invocation_medians.len();
            words.push(format!("{}{equal} of {runs}", if equal == runs { "exact, " } else { "equal in " }));
        } else if let Some(measured) = row.beside() {
            words.push(format!("{} as measured", row.quantity.amount(measured)));
        }
        match words.is_empty() {
            false => Cell::Words(words.join(" ")),
            true if self.detail == Detail::Brief && !row.short.is_empty() => Cell::Aside(row.short.clone()),
            true => Cell::Empty,
        }
    }
}

/// That it is not verified.
fn verdict(row: &Row<'_>) -> Cell {
    let tint = match row.verdict {
        Verdict::Verified => return Cell::Empty,
        Verdict::Contradicted | Verdict::Broken => Tint::Red,
        Verdict::Unobservable | Verdict::Unsupported | Verdict::Unmeasured => Tint::Yellow,
    };
    Cell::Verdict(row.verdict.to_string(), tint)
}

/// What limits a row beside its verdict, which says that it was not observed.
fn limits(row: &Row<'_>) -> Cell {
    Cell::Limits(row.conditions().into_iter().filter(|one| *one != Condition::Unobserved).collect())
}

fn group(row: &Row<'_>) -> String {
    let place = row.variant.placement.title();
    let other = Some(row.variant.experiment).filter(|experiment| *experiment != Experiment::usual());
    let experiment = other.map_or_else(String::new, |other| format!("{other}, "));
    let each = if row.variant.timing == Timing::Each { ", each switch" } else { "" };
    format!("{experiment}{place}{each}")
}

/// Of a row with modes the most frequent.
fn median(row: &Row<'_>) -> Cell {
    figure(row, row.usual())
}

fn half(row: &Row<'_>) -> Cell {
    let half = row.summary.figures.as_ref().and_then(switchcost_analysis::Figures::half_width);
    match half {
        _ if !row.summary.modes.is_empty() => "modes".into(),
        half => Cell::Value(half.map_or(Value::Unknown, Value::Percent)),
    }
}

fn times(row: &Row<'_>) -> Cell {
    row.times_reference.map_or(Cell::Empty, |times| Cell::Value(beside(times)))
}

/// Blank if the row's figures are of another quantity.
fn axis_cell(row: &Row<'_>, quantity: Quantity, drawn: bool) -> Cell {
    if !drawn || row.quantity != quantity {
        return Cell::Empty;
    }
    let modes: Vec<f64> = row.summary.modes.iter().map(|mode| mode.value).collect();
    let interval = row.interval().filter(|_| modes.is_empty());
    let figures = if modes.is_empty() { row.median().into_iter().collect() } else { modes };
    Cell::Picture(Picture::Bar(figures, interval))
}
