//! A picture of characters: lines of dots, and letters over them.

/// Dots of a cell across and down, as braille has them.
const DOTS: [usize; 2] = [2, 4];

/// Braille without a dot; the bits of the others are added.
const BLANK: u32 = 0x2800;

/// Bit of each dot, by column and row.
const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// An escape sequence for a colour; empty: none.
pub(crate) type Ink = &'static str;

/// Cells of one character each, the first at the top left.
pub(crate) struct Canvas {
    width: usize,
    cells: Vec<(char, Ink)>,
}

impl Canvas {
    /// Blank.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, cells: vec![(' ', ""); width * height] }
    }

    /// Puts one character into a cell; beyond the edge nothing happens.
    pub(crate) fn put(&mut self, [x, y]: [usize; 2], symbol: char, ink: Ink) {
        if let Some(cell) = self.cells.get_mut(y * self.width + x).filter(|_| x < self.width) {
            *cell = (symbol, ink);
        }
    }

    /// Writes from a cell to the right, unless something stands there or right beside it.
    pub(crate) fn write(&mut self, [x, y]: [usize; 2], text: &str) {
        let length = text.chars().count();
        let near = x.saturating_sub(1)..(x + length + 1).min(self.width);
        if near.clone().all(|x| self.cells[y * self.width + x].0 == ' ') {
            text.chars().enumerate().for_each(|(i, symbol)| self.put([x + i, y], symbol, ""));
        }
    }

    /// A straight line of dots between two points, each as [`dot`] gives it.
    pub(crate) fn line(&mut self, from: [usize; 2], to: [usize; 2], ink: Ink) {
        let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1])).max(1);
        for step in 0..=steps {
            let between = |i: usize| (from[i] * (steps - step) + to[i] * step + steps / 2) / steps;
            let (x, y) = (between(0), between(1));
            let cell = cell([x, y]);
            let there =
                self.cells.get(cell[1] * self.width + cell[0]).map_or(BLANK, |cell| u32::from(cell.0).max(BLANK));
            let dots = there | BITS[x % DOTS[0]][y % DOTS[1]];
            self.put(cell, char::from_u32(dots).unwrap_or(' '), ink);
        }
    }

    /// The lines, without blanks at their ends.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for row in self.cells.chunks(self.width) {
            let used = row.iter().rposition(|cell| cell.0 != ' ').map_or(0, |last| last + 1);
            let mut current = "";
            for &(symbol, ink) in &row[..used] {
                if ink != current {
                    out.push_str(if ink.is_empty() { RESET } else { ink });
                    current = ink;
                }
                out.push(symbol);
            }
            if !current.is_empty() {
                out.push_str(RESET);
            }
            out.push('\n');
        }
        out
    }
}

/// Ends a colour.
const RESET: Ink = "\x1b[0m";

/// The dot at shares of this many cells across and down, beside so many columns of something else.
pub(crate) fn dot(shares: [f64; 2], cells: [usize; 2], left: usize) -> [usize; 2] {
    let [x, y] = [0, 1].map(|i| (shares[i].clamp(0.0, 1.0) * (cells[i] * DOTS[i] - 1) as f64).round() as usize);
    [left * DOTS[0] + x, y]
}

/// The cell that a dot lies in.
pub(crate) fn cell(dot: [usize; 2]) -> [usize; 2] {
    [dot[0] / DOTS[0], dot[1] / DOTS[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_dots_with_one_colour_and_letters_stand_over_them() {
        let at = |x, y| dot([x, y], [3, 2], 1);
        let mut canvas = Canvas::new(4, 2);
        canvas.line(at(0.0, 0.0), at(0.0, 1.0), "\x1b[36m");
        canvas.line(at(0.0, 0.0), at(1.0, 0.0), "");
        canvas.put(cell(at(1.0, 0.0)), 'a', "");
        assert_eq!(canvas.text(), " ⡏⠉a\n \x1b[36m⡇\x1b[0m\n");
        canvas.put([4, 0], 'x', "");
        canvas.put([0, 2], 'x', "");
        assert_eq!(canvas.text().lines().count(), 2);
    }

    #[test]
    fn a_word_that_would_touch_another_is_left_out() {
        let mut canvas = Canvas::new(7, 1);
        ["ab", "cd", "ef"].into_iter().zip([0, 2, 3]).for_each(|(word, x)| canvas.write([x, 0], word));
        assert_eq!(canvas.text(), "ab ef\n");
    }
}
