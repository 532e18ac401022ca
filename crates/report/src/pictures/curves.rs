//! Cost against a number that was varied.

use super::Picture;
use super::paper::{Drawn, FAINT, Glyph, Hand, Paper, RULE, TEXT, WIDTH, colour, picture};
use super::rows::head;
use super::scale::Scale;
use crate::curves::{Charted, Shapes};
use crate::number::{Quantity, grouped};
use crate::plot::{Series, size};
use plotters::prelude::*;
use switchcost_analysis::CONTEXTS;
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;

/// Curves in a picture: more cannot be told apart.
const MOST_CURVES: usize = 12;

const TOP: i32 = 72;
const BOTTOM: i32 = 400;
const LEFT: i32 = 76;

/// 0 stands before the first number as if it were this part of it.
const ZERO_BEFORE: f64 = 4.0;

/// Curves of one family are told apart by their marks.
const MARKS: [Glyph; 6] = [Glyph::Dot, Glyph::Square, Glyph::Triangle, Glyph::Diamond, Glyph::Hollow, Glyph::Cross];

pub(super) fn pictures(
    prefix: &str,
    run: &Run,
    shapes: &Shapes<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Picture>, String> {
    let charts = shapes.charts();
    let mut all = Vec::new();
    for chart in &charts {
        // Two experiments may be measured along one axis.
        let alone = charts.iter().filter(|other| other.axis == chart.axis).count() == 1;
        let tail = if alone { String::new() } else { format!("-{}", measure(chart).replace([' ', '/'], "-")) };
        let axis: String = chart.axis.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        all.extend(one(format!("{prefix}curves-{axis}{tail}"), run, chart, catalogue)?);
    }
    Ok(all)
}

fn measure(chart: &Charted) -> String {
    let unit = &chart.unit;
    if chart.memory { format!("memory per {unit}") } else { format!("time per {unit}") }
}

/// A curve as it is drawn.
struct Curve<'s> {
    series: &'s Series,
    colour: RGBColor,
    mark: Glyph,
}

fn one(name: String, run: &Run, chart: &Charted, catalogue: &Catalogue) -> Result<Option<Picture>, String> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for series in chart.series.iter().take(MOST_CURVES) {
        let colour = colour(&series.family, catalogue);
        let nth = curves.iter().filter(|other| other.colour == colour).count();
        curves.push(Curve { series, colour, mark: MARKS[nth % MARKS.len()] });
    }
    let quantity = if chart.memory { Quantity::Memory } else { Quantity::Time };
    let hand = Hand::new(11, TEXT);
    let widest = curves.iter().map(|curve| hand.width(&curve.series.name)).max().unwrap_or(0);
    let right = WIDTH - 40 - widest.min(270);
    let points = || curves.iter().flat_map(|curve| &curve.series.points);
    // 0 has no logarithm and stands one step before the first.
    let first = points().map(|point| point.0).filter(|x| *x > 0).min().unwrap_or(1) as f64;
    let zero = points().any(|point| point.0 == 0).then_some(first / ZERO_BEFORE);
    let place = |x: u64| if x > 0 { x as f64 } else { first / ZERO_BEFORE };
    let x = Scale::of(points().map(|point| place(point.0)), (LEFT, right));
    let y = Scale::of(
        points().flat_map(|(_, cost, interval)| {
            let (low, high) = interval.map_or((*cost, *cost), |interval| (interval.low, interval.high));
            [*cost, low, high]
        }),
        (BOTTOM, TOP),
    );
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    let more = chart.series.len().saturating_sub(MOST_CURVES);
    let drawn = picture(name, BOTTOM + 76, |paper| {
        let title = format!("{} against {}", capital(&measure(chart)), chart.axis.replace('_', " "));
        head(paper, &title, run)?;
        grid(paper, chart, quantity, (&x, &y), right, zero)?;
        let mut ends = Vec::new();
        for (i, curve) in curves.iter().enumerate() {
            ends.extend(line(paper, curve, &place, (&x, &y))?.map(|end| (end, i)));
        }
        for (((from_x, from_y), i), at) in spread(&mut ends) {
            let Curve { series, colour, mark } = &curves[i];
            paper.line((from_x + 5, from_y), (right + 8, at), colour.mix(0.5).stroke_width(1))?;
            paper.glyph(*mark, (right + 16, at), *colour)?;
            paper.text(&series.name, (right + 26, at), WIDTH - right - 30, Hand { colour: *colour, ..hand })?;
        }
        let left_out = if more > 0 { format!(" {more} more curves are left out.") } else { String::new() };
        let note = format!("Medians over starts with their 95 % intervals; both axes are logarithmic.{left_out}");
        paper.text(&note, (12, BOTTOM + 58), WIDTH - 24, Hand::new(11, FAINT))
    })?;
    Ok(Some(drawn))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn grid(
    paper: &Paper<'_>,
    chart: &Charted,
    quantity: Quantity,
    (x, y): (&Scale, &Scale),
    right: i32,
    zero: Option<f64>,
) -> Drawn {
    let hand = Hand::new(11, FAINT);
    for tick in y.ticks(quantity, 8) {
        paper.line((LEFT, y.at(tick)), (right, y.at(tick)), RULE.stroke_width(1))?;
        paper.text(&quantity.tick(tick), (LEFT - 8, y.at(tick)), LEFT, hand.before())?;
    }
    let sizes = chart.axis != CONTEXTS;
    let mut last = i32::MIN;
    let round = x.ticks(if sizes { Quantity::Memory } else { Quantity::Time }, 8);
    let round = round.into_iter().filter(|tick| *tick >= zero.map_or(1.0, |zero| zero * ZERO_BEFORE));
    for tick in zero.into_iter().chain(round) {
        let words = match tick {
            tick if zero == Some(tick) => "0".to_owned(),
            tick if sizes => size(tick as u64),
            tick => grouped(tick as i64),
        };
        let (at, half) = (x.at(tick), hand.width(&words) / 2);
        paper.line((at, TOP), (at, BOTTOM), RULE.mix(0.6).stroke_width(1))?;
        if at - half > last {
            paper.text(&words, (at, BOTTOM + 14), WIDTH, hand.centred())?;
            last = at + half + 8;
        }
    }
    let axis = chart.axis.replace('_', " ");
    paper.text(&axis, ((LEFT + right) / 2, BOTTOM + 34), WIDTH, Hand::new(12, TEXT).centred())
}

/// A curve; gives the place of its last point.
fn line(
    paper: &Paper<'_>,
    curve: &Curve<'_>,
    along: &impl Fn(u64) -> f64,
    (x, y): (&Scale, &Scale),
) -> Result<Option<(i32, i32)>, DrawingAreaErrorKind<std::io::Error>> {
    let drawable = || curve.series.points.iter().filter(|(_, cost, _)| *cost > 0.0);
    let place = |(at, cost, _): &(u64, f64, _)| (x.at(along(*at)), y.at(*cost));
    for point in drawable() {
        if let (_, _, Some(interval)) = point {
            let at = place(point).0;
            paper.line((at, y.at(interval.low)), (at, y.at(interval.high)), curve.colour.mix(0.45).stroke_width(4))?;
        }
    }
    let places: Vec<(i32, i32)> = drawable().map(place).collect();
    paper.path(places.clone(), curve.colour.stroke_width(2))?;
    for &at in &places {
        paper.glyph(curve.mark, at, curve.colour)?;
    }
    Ok(places.last().copied())
}

/// Where a curve ends, and what stands there.
type End<T> = ((i32, i32), T);

/// Heights for the labels of these ends, so that none covers another.
fn spread<T: Copy>(ends: &mut [End<T>]) -> Vec<(End<T>, i32)> {
    const APART: i32 = 16;
    ends.sort_by_key(|((_, y), _)| *y);
    let mut placed: Vec<(End<T>, i32)> = Vec::new();
    let mut next = TOP - 8;
    for &mut end in ends {
        let at = end.0.1.max(next);
        placed.push((end, at));
        next = at + APART;
    }
    // From below, where they were pushed beyond the axis.
    let mut most = BOTTOM + 8;
    for (_, at) in placed.iter_mut().rev() {
        *at = (*at).min(most);
        most = *at - APART;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart() {
        let mut ends: Vec<((i32, i32), usize)> = (0..12).map(|i| ((500, BOTTOM - i), i as usize)).collect();
        let mut heights: Vec<i32> = spread(&mut ends).into_iter().map(|(_, at)| at).collect();
        heights.sort_unstable();
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= 16), "{heights:?}");
        assert!(heights[0] >= TOP && heights[11] <= BOTTOM + 8);
    }
}
