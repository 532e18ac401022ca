//! The bars of the brief output.

use switchcost_analysis::{Quantity, Row};

/// Width of bars at most, and the least that is worth drawing.
const BAR: (usize, usize) = (24, 10);

/// Which power of its quantity's base a figure is; a whole one is a whole number.
pub fn power(quantity: Quantity, figure: f64) -> f64 {
    let power = figure.log10() / f64::from(quantity.base).log10();
    let whole = power.round();
    if (power - whole).abs() < 1e-9 { whole } else { power }
}

/// A logarithmic axis of one quantity, from power to power of its base.
pub struct Scale {
    quantity: Quantity,
    low: f64,
    high: f64,
    pub width: usize,
}

impl Scale {
    /// Of the quantity of the first row. None: nothing to draw, or no room.
    pub fn new(rows: &[&Row<'_>], room: usize) -> Option<Self> {
        let quantity = rows.first()?.quantity;
        let of = |row: &&&Row<'_>| row.quantity == quantity && row.median().is_some_and(|median| median > 0.0);
        let drawn: Vec<&&Row<'_>> = rows.iter().filter(of).collect();
        let ends = |row: &&&Row<'_>| row.interval().or_else(|| row.median().map(|median| (median, median)));
        let ends = drawn.iter().filter_map(ends).flat_map(|(low, high)| [low, high]);
        let ends: Vec<f64> = ends.filter(|end| *end > 0.0).collect();
        let low = power(quantity, ends.iter().copied().reduce(f64::min)?).floor();
        let high = power(quantity, ends.iter().copied().reduce(f64::max)?).ceil().max(low + 1.0);
        (drawn.len() > 1 && room >= BAR.1).then(|| Self { quantity, low, high, width: room.min(BAR.0) })
    }

    fn place(&self, value: f64) -> usize {
        let share = (power(self.quantity, value.max(f64::MIN_POSITIVE)) - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (self.width - 1) as f64).round() as usize
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|power| f64::from(self.quantity.base).powi(power))
    }

    /// `1 ns  10  100  1 µs`, each word from its power on, those with a unit first, as far as there is room.
    pub fn axis(&self) -> String {
        let mut cells = vec![' '; self.width];
        let words: Vec<(usize, String)> =
            self.powers().map(|power| (self.place(power), self.quantity.tick(power))).collect();
        let ranked = [true, false]
            .into_iter()
            .flat_map(|unit| words.iter().filter(move |(_, word)| word.starts_with("1 ") == unit));
        for (place, word) in ranked {
            let place = *place;
            let word = if word.starts_with("1 ") { word } else { word.split(' ').next().unwrap_or_default() };
            let length = word.chars().count();
            let end = (place + length + 1).min(self.width);
            let around = cells.get(place.saturating_sub(1)..end).filter(|_| place + length <= self.width);
            if around.is_some_and(|cells| cells.iter().all(|cell| *cell == ' ')) {
                cells.iter_mut().skip(place).zip(word.chars()).for_each(|(cell, letter)| *cell = letter);
            }
        }
        cells.into_iter().collect()
    }

    /// Blank where the row's figures are of another quantity.
    pub fn bar(&self, row: &Row<'_>) -> String {
        if row.quantity != self.quantity {
            return " ".repeat(self.width);
        }
        let mut cells = vec![' '; self.width];
        let mut set = |place: usize, mark: char| {
            if let Some(cell) = cells.get_mut(place) {
                *cell = mark;
            }
        };
        self.powers().for_each(|power| set(self.place(power), '┊'));
        if let Some((low, high)) = row.interval().filter(|_| row.summary.modes.is_empty()) {
            (self.place(low)..=self.place(high)).for_each(|place| set(place, '━'));
        }
        match row.summary.modes.as_slice() {
            [] => {
                if let Some(median) = row.median() {
                    set(self.place(median), '●');
                }
            }
            modes => modes.iter().for_each(|mode| set(self.place(mode.value), '●')),
        }
        cells.into_iter().collect()
    }
}
