//! Plots for terminals: characters only, both axes logarithmic.

use crate::canvas::{Canvas, Ink, cell, dot};
use crate::text::{Style, wrapped};
use switchcost_analysis::number::nanoseconds;
use switchcost_stats::Interval;

/// Rows of a chart.
const HEIGHT: usize = 20;

/// Columns of a plot where the terminal has no width of its own, or a very large one.
const WIDTH: u16 = 100;

/// A plot is not drawn narrower than this.
const NARROWEST: u16 = 50;

/// Series beyond these are named as left out: the letters end.
const MOST_SERIES: usize = 26;

/// With more series than this, joining lines would hide the points.
const MOST_LINES: usize = 6;

/// Labels along the axis, at most.
const MOST_LABELS: u32 = 7;

/// Cyan, yellow, green, magenta, red, blue.
const INKS: [Ink; 6] = ["\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[31m", "\x1b[34m"];

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// What it is called.
    pub(crate) name: String,
    /// Family of its mechanism.
    pub(crate) family: String,
    /// x, cost, interval of the cost.
    pub(crate) points: Vec<(u64, f64, Option<Interval>)>,
}

/// Where numbers lie on the x axis.
struct Scale {
    /// Of the logarithm: 2 for sizes, else 10.
    base: f64,
    low: f64,
    high: f64,
    labels: Vec<String>,
}

impl Scale {
    /// Labels at even distances, at whole powers. 0 has no logarithm and stands one step before the first.
    fn new(numbers: impl Iterator<Item = u64>, sizes: bool) -> Option<Self> {
        let base: f64 = if sizes { 2.0 } else { 10.0 };
        let all: Vec<u64> = numbers.collect();
        let positive = || all.iter().copied().filter(|x| *x > 0);
        let first = (positive().min()? as f64).log(base).floor() as i32;
        let last = ((positive().max()? as f64).log(base) - 1e-9).ceil() as i32;
        let step = (last - first).unsigned_abs().max(1).div_ceil(MOST_LABELS - 1) as i32;
        let steps = (last - first).max(1).unsigned_abs().div_ceil(step.unsigned_abs()) as i32;
        let zero = all.contains(&0);
        let powers = (if zero { -1 } else { 0 }..=steps).map(|i| first + i * step);
        let name = |power: i32| {
            let value = base.powi(power);
            if zero && power < first {
                "0".to_owned()
            } else if sizes {
                size(value as u64)
            } else {
                power_of_ten(value)
            }
        };
        let powers: Vec<i32> = powers.collect();
        Some(Self {
            base,
            low: f64::from(*powers.first()?),
            high: f64::from(*powers.last()?),
            labels: powers.into_iter().map(name).collect(),
        })
    }

    fn at(&self, x: u64) -> f64 {
        if x == 0 { self.low } else { (x as f64).log(self.base) }
    }
}

/// Whole decades that hold all costs, with their labels.
fn decades(costs: impl Iterator<Item = f64>) -> Option<(f64, f64, Vec<String>)> {
    let logs: Vec<f64> = costs.filter(|cost| *cost > 0.0).map(f64::log10).collect();
    let low = logs.iter().copied().min_by(f64::total_cmp)?.floor();
    let high = logs.iter().copied().max_by(f64::total_cmp)?.ceil().max(low + 1.0);
    let labels = (low as i32..=high as i32).map(|power| power_of_ten(10_f64.powi(power))).collect();
    Some((low, high, labels))
}

/// A power of ten without decimals.
fn power_of_ten(value: f64) -> String {
    if value >= 100.0 { nanoseconds(value) } else { format!("{value}") }
}

/// Bytes with the binary suffix they divide by.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        n if n > 0 && n.is_multiple_of(1 << 30) => format!("{}G", n >> 30),
        n if n > 0 && n.is_multiple_of(1 << 20) => format!("{}M", n >> 20),
        n if n > 0 && n.is_multiple_of(1 << 10) => format!("{}K", n >> 10),
        n => n.to_string(),
    }
}

/// Several series against one axis; empty if nothing in them is positive.
pub(crate) fn chart(series: &[Series], axis: &str, sizes: bool, measure: &str, style: Style) -> String {
    let (shown, left_out) = series.split_at(series.len().min(MOST_SERIES));
    let points = || shown.iter().flat_map(|series| &series.points);
    let Some(x) = Scale::new(points().map(|point| point.0), sizes) else { return String::new() };
    let ends = points().flat_map(|(_, cost, interval)| {
        [Some(*cost), interval.map(|interval| interval.low), interval.map(|interval| interval.high)]
    });
    let Some((low, high, labels)) = decades(ends.flatten()) else { return String::new() };
    let width = usize::from(style.width.unwrap_or(WIDTH).clamp(NARROWEST, WIDTH));
    let mut frame = Frame::new(width, (x, [low, high]), &labels);
    let ink = |i: usize| if style.colour { INKS[i % INKS.len()] } else { "" };
    frame.draw(shown, ink);
    let mut out = format!("{}\n{}", style.bold(&format!("{measure} against {axis}")), frame.canvas.text());
    let key = |(i, series): (usize, &Series)| format!("{} {}", letter(i), series.name.replace(' ', "\u{a0}"));
    let key: Vec<String> = shown.iter().enumerate().map(key).collect();
    out.push_str(&wrapped("  ", &key.join(" · "), style).replace('\u{a0}', " "));
    if !left_out.is_empty() {
        out.push_str(&format!("  and {} more, which are in the table only\n", left_out.len()));
    }
    out
}

fn letter(i: usize) -> char {
    char::from_digit((i % MOST_SERIES) as u32 + 10, 36).unwrap_or('?')
}

/// The axes with their labels, and what is drawn between them.
struct Frame {
    canvas: Canvas,
    x: Scale,
    /// Logarithms at the ends of the y axis.
    y: [f64; 2],
    /// The first column between the axes.
    left: usize,
    /// Columns and rows between the axes.
    cells: [usize; 2],
}

impl Frame {
    /// Two rows below are the axis and its labels; the labels of the other axis stand in the first columns.
    fn new(width: usize, (x, y): (Scale, [f64; 2]), labels: &[String]) -> Self {
        let left = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) + 1;
        let cells = [width.saturating_sub(left).max(1), HEIGHT - 2];
        let mut canvas = Canvas::new(width, HEIGHT);
        for (place, label) in labels.iter().enumerate() {
            canvas.write([0, cells[1] - 1 - place * (cells[1] - 1) / (labels.len() - 1).max(1)], label);
        }
        (0..cells[1]).for_each(|row| canvas.put([left - 1, row], '│', ""));
        (left..width).for_each(|column| canvas.put([column, cells[1]], '─', ""));
        canvas.put([left - 1, cells[1]], '└', "");
        let last = x.labels.len().saturating_sub(1);
        // The ends first: where not all have room, one between them is left out.
        for place in [0, last].into_iter().chain(1..last) {
            let length = x.labels[place].chars().count();
            let middle = left + place * (cells[0] - 1) / last.max(1);
            canvas.write(
                [(middle.saturating_sub(length / 2)).min(width.saturating_sub(length)), HEIGHT - 1],
                &x.labels[place],
            );
        }
        Self { canvas, x, y, left, cells }
    }

    /// The dot of a number and a cost. One that has no logarithm lies on the axis.
    fn dot(&self, x: u64, cost: f64) -> [usize; 2] {
        let across = (self.x.at(x) - self.x.low) / (self.x.high - self.x.low);
        let down = (self.y[1] - cost.max(f64::MIN_POSITIVE).log10()) / (self.y[1] - self.y[0]);
        dot([across, down], self.cells, self.left)
    }

    /// Lines between points, then intervals over them, then letters.
    fn draw(&mut self, series: &[Series], ink: impl Fn(usize) -> Ink) {
        let points: Vec<Vec<_>> =
            series.iter().map(|series| series.points.iter().filter(|point| point.1 > 0.0).collect()).collect();
        if series.len() <= MOST_LINES {
            for (i, points) in points.iter().enumerate() {
                for pair in points.windows(2) {
                    self.canvas.line(self.dot(pair[0].0, pair[0].1), self.dot(pair[1].0, pair[1].1), ink(i));
                }
            }
        }
        for (i, points) in points.iter().enumerate() {
            for (x, interval) in points.iter().filter_map(|point| Some((point.0, point.2?))) {
                self.canvas.line(self.dot(x, interval.low), self.dot(x, interval.high), ink(i));
            }
        }
        for (i, points) in points.iter().enumerate() {
            points.iter().for_each(|point| self.canvas.put(cell(self.dot(point.0, point.1)), letter(i), ink(i)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, points: &[(u64, f64)]) -> Series {
        let interval = |cost: f64| Some(Interval { low: cost / 2.0, high: cost * 2.0 });
        Series {
            name: name.into(),
            family: "x".into(),
            points: points.iter().map(|&(x, cost)| (x, cost, interval(cost))).collect(),
        }
    }

    #[test]
    fn a_chart_has_its_points_labels_and_key() {
        let all = [series("x/one", &[(2, 10.0), (100, 100.0), (10_000, 1000.0)]), series("x/two", &[(2, 100.0)])];
        let drawn = chart(&all, "contexts", false, "ns/switch", Style::PLAIN);
        assert!(!drawn.contains('\x1b'));
        for word in ["ns/switch against contexts", "a x/one · b x/two", "10,000", "1,000"] {
            assert!(drawn.contains(word), "{word} is missing in\n{drawn}");
        }
        let body: Vec<&str> = drawn.lines().skip(1).take(HEIGHT).collect();
        assert_eq!(body.iter().map(|line| line.matches('a').count()).sum::<usize>(), 3, "{drawn}");
        let of = |letter: char| body.iter().position(|line| line.contains(letter)).unwrap();
        assert!(of('b') > of('a'), "100 lies below 1000:\n{drawn}");
        assert!(
            chart(&all, "contexts", false, "ns/switch", Style { colour: true, width: Some(60), ..Style::PLAIN })
                .contains("\x1b[36m")
        );
    }

    #[test]
    fn nothing_positive_is_no_chart_and_zero_stands_before_the_first_size() {
        assert_eq!(chart(&[series("x", &[(1, 0.0), (2, -3.0)])], "n", false, "ns/switch", Style::PLAIN), "");
        assert_eq!(chart(&[], "n", false, "ns/switch", Style::PLAIN), "");
        let scale = Scale::new([0, 4096, 1 << 30].into_iter(), true).unwrap();
        assert_eq!(scale.labels, ["0", "4K", "32K", "256K", "2M", "16M", "128M", "1G"].map(str::to_owned));
        assert!(scale.at(0) < scale.at(4096));
        let contexts = Scale::new([2, 1_000_000].into_iter(), false).unwrap();
        assert_eq!(
            (contexts.labels.first().unwrap().as_str(), contexts.labels.last().unwrap().as_str()),
            ("1", "1,000,000")
        );
    }
}
