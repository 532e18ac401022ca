//! The bars of the brief output.

use switchcost_analysis::{Quantity, Row};

/// Width of bars at most, and the least that is worth drawing.
const BAR: (usize, usize) = (24, 10);

/// A logarithmic axis in ns from decade to decade.
pub struct Scale {
    low: f64,
    high: f64,
    pub width: usize,
}

impl Scale {
    /// None: nothing to draw, or no room.
    pub fn new(rows: &[&Row<'_>], room: usize) -> Option<Self> {
        let of = |row: &&&Row<'_>| row.quantity == Quantity::TIME && row.median().is_some_and(|median| median > 0.0);
        let drawn: Vec<&&Row<'_>> = rows.iter().filter(of).collect();
        let ends = |row: &&&Row<'_>| row.interval().or_else(|| row.median().map(|median| (median, median)));
        let ends = drawn.iter().filter_map(ends).flat_map(|(low, high)| [low, high]);
        let ends: Vec<f64> = ends.filter(|end| *end > 0.0).collect();
        let low = ends.iter().copied().reduce(f64::min)?.log10().floor();
        let high = ends.iter().copied().reduce(f64::max)?.log10().ceil().max(low + 1.0);
        (drawn.len() > 1 && room >= BAR.1).then(|| Self { low, high, width: room.min(BAR.0) })
    }

    fn place(&self, value: f64) -> usize {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (self.width - 1) as f64).round() as usize
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|power| 10_f64.powi(power))
    }

    /// `1 ns  10  100  1 µs`, each word from its decade on, those with a unit first, as far as there is room.
    pub fn axis(&self) -> String {
        let mut cells = vec![' '; self.width];
        let words: Vec<(usize, String)> =
            self.decades().map(|decade| (self.place(decade), Quantity::TIME.tick(decade))).collect();
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

    pub fn bar(&self, row: &Row<'_>) -> String {
        let mut cells = vec![' '; self.width];
        let mut set = |place: usize, mark: char| {
            if let Some(cell) = cells.get_mut(place) {
                *cell = mark;
            }
        };
        self.decades().for_each(|decade| set(self.place(decade), '┊'));
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
