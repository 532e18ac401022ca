//! Pictures of one line, on a logarithmic axis that the rows of a section share.

use switchcost_model::Quantity;

/// From a single unit to the fullest place of its row.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// From power to power of its quantity's base.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    quantity: Quantity,
    low: f64,
    high: f64,
    /// Its ends are whole powers, each of which has a line.
    ruled: bool,
}

/// What is drawn of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Picture {
    /// Its figure, or one for each mode, and its interval.
    Bar(Vec<f64>, Option<(f64, f64)>),
    /// How many units are about so long; the shortest and the longest.
    Histogram(Vec<(f64, u64)>, (f64, f64)),
}

/// Which power of its quantity's base a figure is; a whole one is a whole number.
fn power(quantity: Quantity, figure: f64) -> f64 {
    let power = figure.max(f64::MIN_POSITIVE).log10() / f64::from(quantity.base).log10();
    let whole = power.round();
    if (power - whole).abs() < 1e-9 { whole } else { power }
}

impl Axis {
    /// Around these figures; `ruled`: from a whole power to another. None: there is nothing to
    /// draw.
    #[must_use]
    pub fn around(quantity: Quantity, figures: impl IntoIterator<Item = f64>, ruled: bool) -> Option<Self> {
        let figures: Vec<f64> = figures.into_iter().filter(|figure| *figure > 0.0).collect();
        let low = power(quantity, figures.iter().copied().reduce(f64::min)?);
        let high = power(quantity, figures.iter().copied().reduce(f64::max)?);
        Some(if ruled {
            Self { quantity, low: low.floor(), high: high.ceil().max(low.floor() + 1.0), ruled }
        } else {
            Self { quantity, low, high: high.max(low + 1e-9), ruled }
        })
    }

    /// Columns that are worth drawing on.
    pub(super) fn least(&self) -> usize {
        if self.ruled { 10 } else { 16 }
    }

    fn place(&self, value: f64, width: usize) -> usize {
        let share = (power(self.quantity, value) - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * width.saturating_sub(1) as f64).round() as usize
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|power| f64::from(self.quantity.base).powi(power))
    }

    /// What stands above: `1 ns 10 100 1 µs`, each word from its power on, those with a unit first,
    /// as far as there is room; or both ends.
    pub(super) fn title(&self, width: usize) -> String {
        if !self.ruled {
            let end = |power: f64| self.quantity.amount(f64::from(self.quantity.base).powf(power));
            let (low, high) = (end(self.low), end(self.high));
            let gap = width.saturating_sub(low.chars().count());
            return if gap > high.chars().count() { format!("{low}{high:>gap$}") } else { String::new() };
        }
        let mut cells = vec![' '; width];
        let words: Vec<(usize, String)> =
            self.powers().map(|power| (self.place(power, width), self.quantity.tick(power))).collect();
        let with_unit = |(_, word): &&(usize, String)| word.starts_with("1 ");
        let (first, others): (Vec<_>, Vec<_>) = words.iter().partition(with_unit);
        for (place, word) in first.into_iter().chain(others) {
            let word = if word.starts_with("1 ") { word } else { word.split(' ').next().unwrap_or_default() };
            let length = word.chars().count();
            let around = cells.get(place.saturating_sub(1)..(place + length + 1).min(width));
            if place + length <= width && around.is_some_and(|cells| cells.iter().all(|cell| *cell == ' ')) {
                cells.iter_mut().skip(*place).zip(word.chars()).for_each(|(cell, letter)| *cell = letter);
            }
        }
        cells.into_iter().collect()
    }

    /// A picture of so many columns.
    pub(super) fn drawn(&self, picture: &Picture, width: usize) -> String {
        match picture {
            Picture::Bar(figures, interval) => self.bar(figures, *interval, width),
            Picture::Histogram(counts, _) => self.histogram(counts, width),
        }
    }

    /// The same on a line of its own.
    pub(super) fn below(&self, picture: &Picture, width: usize) -> Option<String> {
        let Picture::Histogram(counts, (least, most)) = picture else { return None };
        let end = |value: f64| self.quantity.amount(value);
        Some(format!("{} {} {}", end(*least), self.histogram(counts, width).trim(), end(*most)))
    }

    fn bar(&self, figures: &[f64], interval: Option<(f64, f64)>, width: usize) -> String {
        let mut cells = vec![' '; width];
        let mut set = |place: usize, mark: char| {
            if let Some(cell) = cells.get_mut(place) {
                *cell = mark;
            }
        };
        self.powers().for_each(|power| set(self.place(power, width), '┊'));
        if let Some((low, high)) = interval {
            (self.place(low, width)..=self.place(high, width)).for_each(|place| set(place, '━'));
        }
        figures.iter().for_each(|figure| set(self.place(*figure, width), '●'));
        cells.into_iter().collect()
    }

    /// How many units are about so long, against the fullest place.
    fn histogram(&self, counts: &[(f64, u64)], width: usize) -> String {
        let mut cells = vec![0_u64; width];
        for (value, count) in counts {
            if let Some(cell) = cells.get_mut(self.place(*value, width)) {
                *cell = cell.saturating_add(*count);
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
