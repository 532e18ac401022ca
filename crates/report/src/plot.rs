//! Plots for terminals: characters only, both axes logarithmic.

use crate::text::{Style, wrapped};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style as Ink};
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget;
use ratatui_widgets::chart::{Axis, Chart, Dataset, GraphType};
use switchcost_analysis::number::nanoseconds;
use switchcost_analysis::{Quantity, Row};
use switchcost_stats::Interval;

/// Rows of a chart.
const HEIGHT: u16 = 20;

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

const INKS: [Color; 6] = [Color::Cyan, Color::Yellow, Color::Green, Color::Magenta, Color::Red, Color::Blue];

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
    let drawn: Vec<Drawn> = shown.iter().map(|series| Drawn::of(series, &x)).collect();
    let mut datasets = Vec::new();
    let ink = |i: usize| if style.colour { Ink::new().fg(INKS[i % INKS.len()]) } else { Ink::new() };
    if drawn.len() <= MOST_LINES {
        let joined = |(i, drawn)| line(drawn, ink(i));
        datasets.extend(drawn.iter().map(|drawn| drawn.joined.as_slice()).enumerate().map(joined));
    }
    for (i, drawn) in drawn.iter().enumerate() {
        datasets.extend(drawn.whiskers.iter().map(|whisker| line(whisker, ink(i))));
    }
    for (i, drawn) in drawn.iter().enumerate() {
        let points = Dataset::default().graph_type(GraphType::Scatter).marker(Marker::Custom(letter(i)));
        datasets.push(points.style(ink(i)).data(&drawn.joined));
    }
    let chart = Chart::new(datasets)
        .x_axis(Axis::default().bounds([x.low, x.high]).labels(x.labels.clone()))
        .y_axis(Axis::default().bounds([low, high]).labels(labels));
    let width = style.width.unwrap_or(WIDTH).clamp(NARROWEST, WIDTH);
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, HEIGHT));
    chart.render(buffer.area, &mut buffer);
    let mut out = format!("{}\n{}", style.bold(&format!("{measure} against {axis}")), text(&buffer));
    let key = |(i, series): (usize, &Series)| format!("{} {}", letter(i), series.name.replace(' ', "\u{a0}"));
    let key: Vec<String> = shown.iter().enumerate().map(key).collect();
    out.push_str(&wrapped("  ", &key.join(" · "), style).replace('\u{a0}', " "));
    if !left_out.is_empty() {
        out.push_str(&format!("  and {} more, which are in the table only\n", left_out.len()));
    }
    out
}

fn letter(i: usize) -> char {
    char::from(b'a' + u8::try_from(i % MOST_SERIES).unwrap_or(0))
}

fn line(data: &[(f64, f64)], ink: Ink) -> Dataset<'_> {
    Dataset::default().graph_type(GraphType::Line).marker(Marker::Braille).style(ink).data(data)
}

/// A series in the chart's coordinates.
struct Drawn {
    joined: Vec<(f64, f64)>,
    whiskers: Vec<Vec<(f64, f64)>>,
}

impl Drawn {
    fn of(series: &Series, x: &Scale) -> Self {
        let positive = || series.points.iter().filter(|point| point.1 > 0.0);
        let whisker = |interval: &Interval, at: f64| {
            // Down to the axis where the interval reaches below anything that has a logarithm.
            vec![(at, interval.low.max(f64::MIN_POSITIVE).log10()), (at, interval.high.log10())]
        };
        Self {
            joined: positive().map(|(at, cost, _)| (x.at(*at), cost.log10())).collect(),
            whiskers: positive().filter_map(|(at, _, interval)| Some(whisker(interval.as_ref()?, x.at(*at)))).collect(),
        }
    }
}

/// The buffer as lines, with escape sequences where its cells have a colour.
fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut current = Color::Reset;
        let used = (0..buffer.area.width).rev().find(|x| buffer[(*x, y)].symbol() != " ").map_or(0, |x| x + 1);
        for x in 0..used {
            let cell = &buffer[(x, y)];
            if cell.fg != current {
                line.push_str(escape(cell.fg));
                current = cell.fg;
            }
            line.push_str(cell.symbol());
        }
        if current != Color::Reset {
            line.push_str(escape(Color::Reset));
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

fn escape(colour: Color) -> &'static str {
    match colour {
        Color::Red => "\x1b[31m",
        Color::Green => "\x1b[32m",
        Color::Yellow => "\x1b[33m",
        Color::Blue => "\x1b[34m",
        Color::Magenta => "\x1b[35m",
        Color::Cyan => "\x1b[36m",
        _ => "\x1b[0m",
    }
}

/// The ladder as bars on a logarithmic scale, a row each, with its interval. No crate draws a bar with an interval, so it is done here.
pub(crate) fn bars(rows: &[&Row<'_>], style: Style) -> String {
    let shown = rows.iter().copied().filter(|row| row.summary.figures.is_some());
    let (bytes, times): (Vec<&Row<'_>>, Vec<&Row<'_>>) = shown.partition(|row| row.quantity == Quantity::Memory);
    let mut out = String::new();
    for (title, lines) in [("ns per unit, logarithmic", times), ("bytes per context, logarithmic", bytes)] {
        if !lines.is_empty() {
            out.push_str(&format!("\n{}\n{}", style.bold(title), bars_of(&lines, style)));
        }
    }
    out
}

fn bars_of(lines: &[&Row<'_>], style: Style) -> String {
    let costs = lines.iter().filter_map(|line| line.summary.figures.as_ref()).flat_map(|figures| {
        let interval = figures.interval.map_or([figures.median; 2], |interval| [interval.low, interval.high]);
        [figures.median, interval[0], interval[1]]
    });
    let Some((low, high, _)) = decades(costs) else { return String::new() };
    let widest = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    let columns = usize::from(style.width.unwrap_or(WIDTH).clamp(NARROWEST, 160)).saturating_sub(widest + 12).max(20);
    let column = |cost: f64| {
        let share = (cost.max(f64::MIN_POSITIVE).log10() - low) / (high - low);
        (share.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize
    };
    let mut out = String::new();
    for line in lines {
        let Some(figures) = &line.summary.figures else { continue };
        let (from, to) = figures.interval.map_or((figures.median, figures.median), |i| (i.low, i.high));
        let (from, median, to) = (column(from), column(figures.median), column(to));
        let bar: String = (0..=to.max(median))
            .map(|at| {
                if at == median {
                    '●'
                } else if (from..=to).contains(&at) {
                    '━'
                } else {
                    '╌'
                }
            })
            .collect();
        let bar = if style.colour { format!("\x1b[36m{bar}\x1b[0m") } else { bar };
        out.push_str(&format!(" {:<widest$}  {bar} {}\n", line.label, nanoseconds(figures.median)));
    }
    out.push_str(&format!(" {:<widest$}  {}\n", "", ruler(low as i32, high as i32, &column)));
    out
}

/// The decades under the bars.
fn ruler(low: i32, high: i32, column: &impl Fn(f64) -> usize) -> String {
    let mut ruler = String::new();
    for power in low..=high {
        let value = 10_f64.powi(power);
        let at = column(value);
        let length = ruler.chars().count();
        if at >= length + usize::from(length > 0) {
            ruler.push_str(&" ".repeat(at - length));
            ruler.push_str(&format!("│{}", power_of_ten(value)));
        }
    }
    ruler
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
        let body: Vec<&str> = drawn.lines().skip(1).take(usize::from(HEIGHT)).collect();
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
