//! Rows whose units each have a figure: percentiles with their intervals, and a histogram in a line.

use super::scale::power;
use switchcost_analysis::number::percent;
use switchcost_analysis::{LONGEST, Percentile, Quantity, Row, detail};

/// Width of histograms at most, and the least that is worth drawing beside the percentiles; below that they stand on a line of their own.
const HISTOGRAM: (usize, usize) = (24, 16);

/// Columns from which on each percentile has its interval beside it; below, the first.
const WIDE: usize = 98;

/// Characters of a figure, at least.
const DIGITS: usize = 7;

/// From a single unit to the fullest place of its row.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Shares with their titles.
const SHARES: [(f64, &str); 5] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (LONGEST, "longest")];

/// The columns of a section, on one logarithmic axis.
pub struct Spread {
    quantity: Quantity,
    low: f64,
    high: f64,
    width: usize,
    wide: bool,
    /// Of the figures.
    digits: usize,
    /// Percentiles that some row has.
    shares: Vec<(f64, &'static str)>,
    /// Histograms stand beside the percentiles.
    beside: bool,
}

fn percentile<'a>(row: &'a Row<'_>, share: f64) -> Option<&'a Percentile> {
    row.summary.percentiles.iter().find(|known| known.share == share)
}

impl Spread {
    /// Of a section's rows, if the units of all have figures; `room`: columns beside the names.
    pub fn new(rows: &[&Row<'_>], name: usize, width: usize) -> Option<Self> {
        let quantity = rows.first()?.quantity;
        if rows.iter().any(|row| !row.variant.each_unit() || row.quantity != quantity) {
            return None;
        }
        let ends: Vec<f64> = rows
            .iter()
            .filter_map(|row| row.summary.figures.as_ref())
            .flat_map(|f| [f.min.unwrap_or(f.p50), f.max])
            .collect();
        let powers: Vec<f64> = ends.into_iter().filter(|end| *end > 0.0).map(|end| power(quantity, end)).collect();
        let low = powers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = powers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut spread = Self {
            quantity,
            low,
            high: high.max(low + 1e-9),
            width: 0,
            wide: width >= WIDE,
            digits: DIGITS,
            shares: Vec::new(),
            beside: false,
        };
        let has = |share: f64| share == 0.5 || rows.iter().any(|row| percentile(row, share).is_some());
        spread.shares = SHARES.into_iter().filter(|(share, _)| has(*share)).collect();
        let figures =
            rows.iter().flat_map(|row| row.summary.percentiles.iter().map(|known| quantity.amount(known.value)));
        spread.digits = figures.map(|figure| figure.chars().count()).fold(DIGITS, usize::max);
        spread.wide = spread.wide && name + spread.titles().chars().count() + 4 <= width;
        let room = width.saturating_sub(name + spread.titles().chars().count() + 4);
        spread.beside = room >= HISTOGRAM.1;
        spread.width = match (low.is_finite(), spread.beside) {
            (false, _) => 0,
            (true, true) => room.min(HISTOGRAM.0),
            (true, false) => HISTOGRAM.0,
        };
        Some(spread)
    }

    fn columns(&self, cell: impl Fn(f64, &str) -> (String, String)) -> String {
        let digits = self.digits;
        let one = |(share, title): (f64, &str)| {
            let (figure, width) = cell(share, title);
            let beside = share == 0.5 || self.wide && share < LONGEST;
            if beside { format!("{figure:>digits$} {width:>6}") } else { format!("{figure:>digits$}") }
        };
        self.shares.iter().copied().map(one).collect::<Vec<_>>().join(" ")
    }

    /// What stands above the percentiles, and from where to where the histograms go.
    pub fn header(&self) -> String {
        let end = |power: f64| self.quantity.amount(f64::from(self.quantity.base).powf(power));
        let (low, high) = (end(self.low), end(self.high));
        let gap = self.width.saturating_sub(low.chars().count());
        let axis = if self.width > 0 && self.beside { format!("{low}{high:>gap$}") } else { String::new() };
        let lost = if self.wide { "" } else { "\n    no room for ± of the other percentiles: --format json" };
        format!("{} {axis}", self.titles()).trim_end().to_owned() + lost
    }

    fn titles(&self) -> String {
        self.columns(|_, title| (title.to_owned(), if title == "longest" { "" } else { "±" }.to_owned()))
    }

    /// The percentiles of a row, each with half of its interval.
    pub fn cells(&self, row: &Row<'_>) -> String {
        let width = |known: &Percentile| Some(percent(known.interval?.relative_half_width(known.value)));
        self.columns(|share, _| match percentile(row, share) {
            Some(known) => (row.quantity.amount(known.value), width(known).unwrap_or_else(|| "–".to_owned())),
            None => ("–".to_owned(), String::new()),
        })
    }

    /// What stands beside a row's percentiles, and what below them.
    pub fn drawn(&self, row: &Row<'_>) -> (String, Option<String>) {
        let histogram = self.histogram(row);
        if self.beside || self.width == 0 {
            return (histogram, None);
        }
        let end = |value: f64| row.quantity.amount(value);
        let figures = row.summary.figures.as_ref();
        let below = figures.map(|figures| {
            format!("{} {} {}", end(figures.min.unwrap_or(figures.p50)), histogram.trim(), end(figures.max))
        });
        (String::new(), below)
    }

    /// All units of the row: how many are about so long, against the fullest place.
    fn histogram(&self, row: &Row<'_>) -> String {
        let mut cells = vec![0_u64; self.width];
        for (value, count) in detail(row).histogram {
            let share = (power(self.quantity, value) - self.low) / (self.high - self.low);
            let place = (share.clamp(0.0, 1.0) * self.width.saturating_sub(1) as f64).round() as usize;
            if let Some(cell) = cells.get_mut(place) {
                *cell = cell.saturating_add(count);
            }
        }
        let most = cells.iter().copied().max().unwrap_or(0).max(1);
        let level = |count: u64| {
            let step = (count as f64 / most as f64 * LEVELS.len() as f64).ceil() as usize;
            step.checked_sub(1).and_then(|step| LEVELS.get(step)).copied().unwrap_or(' ')
        };
        cells.into_iter().map(level).collect()
    }
}
