//! Curves of arbitrary runs: what must hold whatever the rows are, and what the parts of a cost
//! must add up to.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::{
    At, CONTEXTS, Curve, Figures, Growth, Judged, Quantity, Relation, Row, Summary, Topology, lines, matrices, order,
    split,
};
use switchcost_model::{Experiment, Placement, Timing, Variant, Verdict};
use switchcost_stats::{Interval, Mode};

/// Mechanism, contexts, value of parameter `n` (None: it has none), whether it has a figure.
type Shape = (bool, u64, Option<u64>, bool);

fn variant(shape: Shape) -> Variant {
    let (first, contexts, n, _) = shape;
    Variant {
        mechanism: if first { "x/one" } else { "x/two" }.parse().unwrap(),
        probe: "p".into(),
        experiment: Experiment::usual(),
        contexts,
        placement: Placement::usual(),
        timing: Timing::Batch,
        parameters: n.map(|n| ("n".to_owned(), n.to_string())).into_iter().collect(),
        label: String::new(),
    }
}

fn figures(median: f64) -> Figures {
    let all = median;
    Figures {
        median,
        interval: None,
        mean: all,
        min: Some(all),
        p50: all,
        p90: Some(all),
        p99: Some(all),
        p999: Some(all),
        max: all,
        mad: 0.0,
        mean_over_time: None,
        reading: None,
    }
}

/// A row with these costs in rounds 0, 1, 2 …
fn row<'a>(index: usize, variant: &'a Variant, costs: &[f64]) -> Row<'a> {
    let medians: Vec<(u64, f64)> = (0..).zip(costs.iter().copied()).collect();
    let summary =
        Summary { figures: costs.first().map(|c| figures(*c)), invocation_medians: medians, ..Summary::default() };
    let judged = Judged {
        index,
        at: At::Median,
        variant,
        full: variant.clone(),
        label: String::new(),
        unit: String::new(),
        quantity: Quantity::TIME,
        control: false,
        starts: Vec::new(),
        verdict: Verdict::Verified,
        reason: None,
        summary,
        undisturbed: None,
        run_to_run: 0.0,
        short: String::new(),
        choice: true,
    };
    Row { judged, times_reference: None, answer: Vec::new(), notes: Vec::new(), caveats: Vec::new() }
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let one = (any::<bool>(), 1..5_u64, proptest::option::of(0..4_u64), proptest::bool::weighted(0.8));
    proptest::collection::vec(one, 0..60).prop_map(|mut all| {
        let mut seen = BTreeSet::new();
        all.retain(|(first, contexts, n, _)| seen.insert((*first, *contexts, *n))); // Variants of a run are distinct.
        all
    })
}

proptest! {
    #[test]
    fn a_curve_differs_in_its_axis_only_and_leaves_nothing_out(shapes in shapes()) {
        let variants: Vec<Variant> = shapes.iter().map(|shape| variant(*shape)).collect();
        let cost = |shape: &Shape| if shape.3 { vec![1.0] } else { vec![] };
        let rows: Vec<Row<'_>> = variants.iter().zip(&shapes).enumerate().map(|(i, (v, s))| row(i, v, &cost(s))).collect();
        let found = lines(&rows);
        for curve in &found {
            prop_assert!(curve.points.len() >= 3);
            prop_assert!(curve.points.windows(2).all(|pair| pair[0].x < pair[1].x), "ascending, each x once");
            prop_assert!(curve.points.iter().all(|point| rows[point.row].summary.figures.is_some()));
            prop_assert!(curve.gaps.iter().all(|point| rows[point.row].summary.figures.is_none()));
            for point in curve.points.iter().chain(&curve.gaps) {
                let mut back = rows[point.row].variant.clone();
                if curve.axis == CONTEXTS {
                    prop_assert_eq!(back.contexts, point.x);
                    back.contexts = curve.variant.contexts;
                } else {
                    prop_assert_eq!(&back.parameters[&curve.axis], &point.x.to_string());
                    back.parameters.insert(curve.axis.clone(), curve.variant.parameters[&curve.axis].clone());
                }
                prop_assert_eq!(&back, &curve.variant, "the rest is the same");
            }
        }
        // Counted the plain way: for each mechanism and n, how many contexts have a figure and how
        // many have none.
        let mut groups: BTreeMap<(bool, Option<u64>), (usize, usize)> = BTreeMap::new();
        for (first, _, n, figure) in &shapes {
            let group = groups.entry((*first, *n)).or_default();
            *(if *figure { &mut group.0 } else { &mut group.1 }) += 1;
        }
        let mut expected: Vec<(usize, usize)> = groups.into_values().filter(|group| group.0 >= 3).collect();
        let along = found.iter().filter(|curve| curve.axis == CONTEXTS);
        let mut counted: Vec<(usize, usize)> = along.map(|curve| (curve.points.len(), curve.gaps.len())).collect();
        expected.sort_unstable();
        counted.sort_unstable();
        prop_assert_eq!(counted, expected);
    }

    #[test]
    fn the_order_of_rows_does_not_matter(shapes in shapes(), turn in 0..60_usize) {
        let points = |shapes: &[Shape]| {
            let variants: Vec<Variant> = shapes.iter().map(|shape| variant(*shape)).collect();
            let rows: Vec<Row<'_>> = variants.iter().enumerate().map(|(i, v)| row(i, v, &[1.0])).collect();
            let key = |curve: &switchcost_analysis::Line| {
                (curve.axis.clone(), curve.variant.key(), curve.points.iter().map(|p| p.x).collect::<Vec<_>>())
            };
            lines(&rows).iter().map(key).collect::<BTreeSet<_>>()
        };
        let mut turned = shapes.clone();
        turned.rotate_left(turn % shapes.len().max(1));
        prop_assert_eq!(points(&shapes), points(&turned));
    }

    #[test]
    fn the_parts_are_those_that_were_put_together(
        direct in 1.0..1e4f64, touch in 1.0..1e6f64, extra in -1e3..1e5f64, drift in proptest::collection::vec(0.0..1e3f64, 6..12),
    ) {
        let at = |n: u64| variant((true, 2, Some(n), true));
        let variants = [at(0), at(8), at(64), variant((false, 1, Some(8), true)), variant((false, 1, Some(64), true))];
        // Whatever slows a whole round is in direct and control as well, and cancels: here twice,
        // once for each part taken off.
        let with = |cost: f64, times: f64| drift.iter().map(|d| cost + d * times).collect::<Vec<f64>>();
        let costs = [with(direct, 1.0), with(direct + touch + extra, 2.0), with(direct + touch + extra, 2.0), with(touch, 1.0), with(touch, 1.0)];
        let rows: Vec<Row<'_>> = variants.iter().zip(&costs).enumerate().map(|(i, (v, c))| row(i, v, c)).collect();
        let curve = lines(&rows).into_iter().find(|curve| curve.variant.mechanism.as_str() == "x/one").unwrap();
        let parts = split(&curve, &rows, &"x/two".parse().unwrap());
        prop_assert_eq!(parts.len(), 2, "none at 0");
        for part in parts {
            let interval = part.interval.unwrap();
            prop_assert!((part.indirect.unwrap() - extra).abs() < 1e-6);
            prop_assert!((interval.low - extra).abs() < 1e-6 && (interval.high - extra).abs() < 1e-6);
            prop_assert!(part.resolved() || extra.abs() < 1e-6);
        }
    }
}

#[test]
fn few_rounds_resolve_nothing() {
    let at = |n: u64| variant((true, 2, Some(n), true));
    let variants = [at(0), at(8), at(64), variant((false, 1, Some(8), true))];
    let costs: [&[f64]; 4] = [&[10.0; 5], &[100.0; 5], &[100.0; 5], &[20.0; 5]];
    let rows: Vec<Row<'_>> = variants.iter().zip(costs).enumerate().map(|(i, (v, c))| row(i, v, c)).collect();
    let curve = lines(&rows).remove(0);
    let parts = split(&curve, &rows, &"x/two".parse().unwrap());
    assert_eq!(parts.len(), 1, "64 has no control");
    assert_eq!((parts[0].indirect, parts[0].interval, parts[0].resolved()), (Some(70.0), None, false));
    assert!(split(&curve, &rows[1..], &"x/none".parse().unwrap()).is_empty());
    // Of a total with modes no one number is left.
    let mut rows = rows;
    rows[1].judged.summary.modes = [60.0, 100.0].map(|value| Mode { value, weight: 0.5 }).to_vec();
    let parts = split(&curve, &rows, &"x/two".parse().unwrap());
    assert_eq!((parts[0].indirect, parts[0].interval), (None, None));
}

#[test]
fn pairs_make_a_matrix_and_the_facts_name_what_they_share() {
    let pair = |a: u32, b: u32| Variant { placement: Placement::on_pair(a, b), ..variant((true, 2, None, true)) };
    let variants = [pair(0, 0), pair(1, 0), pair(0, 2), variant((true, 2, None, true))];
    let rows: Vec<Row<'_>> = variants.iter().enumerate().map(|(i, v)| row(i, v, &[1.0])).collect();
    let found = matrices(&rows);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].cpus, [0, 1, 2]);
    assert_eq!(found[0].cells, [((0, 0), 0), ((0, 1), 1), ((0, 2), 2)].into());
    assert_eq!(matrices(&rows[..1]), [], "one pair is not a matrix");
    let fact = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let facts: BTreeMap<String, String> = [
        ("topology.cores", "0-1 2-3 4-5 6-7"),
        ("topology.last_caches", "0-3 4-5 6-7"),
        ("topology.sockets", "0-5 6-7"),
    ]
    .map(fact)
    .into();
    let topology = Topology::of(&facts);
    let of = |b| topology.relation(0, b).unwrap();
    assert_eq!(
        [0, 1, 3, 4, 7].map(of),
        [Relation::SameCpu, Relation::SmtSibling, Relation::SameCache, Relation::SameSocket, Relation::CrossSocket]
    );
    assert_eq!(Topology::default().relation(0, 1), None);
    for unread in ["unknown: it cannot be read", &"0-65536 ".repeat(1 << 20)] {
        assert_eq!(Topology::of(&[fact(("topology.sockets", unread))].into()).relation(0, 1), None);
    }
}

/// What two curves show, each by the spans of its three points; one of two figures has two modes.
fn shown(spans: &[[&[f64]; 3]; 2], of: impl Fn(&[Row<'_>], &[&Curve])) {
    let variants: Vec<Variant> =
        [true, false].into_iter().flat_map(|first| [2, 10, 100].map(|x| variant((first, x, None, true)))).collect();
    let mut rows: Vec<Row<'_>> = variants.iter().enumerate().map(|(at, variant)| row(at, variant, &[1.0])).collect();
    for (row, ends) in rows.iter_mut().zip(spans.iter().flatten()) {
        let summary = &mut row.judged.summary;
        let figures = summary.figures.as_mut().unwrap();
        match **ends {
            [median] => figures.median = median,
            [low, median, high] => {
                figures.median = median;
                figures.interval = Some(Interval { low, high });
            }
            _ => summary.modes = ends.iter().map(|value| Mode { value: *value, weight: 0.5 }).collect(),
        }
    }
    let named = |line: switchcost_analysis::Line| {
        let label = line.variant.mechanism.to_string();
        Curve { line, label, control: None, splits: Vec::new(), serves: false }
    };
    let curves: Vec<Curve> = lines(&rows).into_iter().map(named).collect();
    of(&rows, &curves.iter().collect::<Vec<_>>());
}

#[test]
fn an_order_of_curves_is_what_their_intervals_and_modes_carry() {
    let labels = |all: &Option<Vec<Growth<'_>>>| {
        all.as_ref().map(|all| all.iter().map(|one| one.label.to_owned()).collect::<Vec<_>>())
    };
    // The one costs less everywhere and grows more.
    let one = [&[9.0, 10.0, 11.0][..], &[15.0], &[28.0, 30.0, 32.0]];
    let two = [&[98.0, 100.0, 102.0][..], &[100.0], &[99.0, 100.0, 101.0]];
    shown(&[one, two], |rows, curves| {
        let found = order(rows, curves, [2, 100]);
        assert_eq!(found.least, [Some(vec!["x/one"]), Some(vec!["x/one"])]);
        assert_eq!(
            (labels(&found.most), labels(&found.still)),
            (Some(vec!["x/one".into()]), Some(vec!["x/two".into()]))
        );
        assert_eq!(found.still.unwrap()[0].carried(), Some(1.0));
        // From 28 ÷ 11 to 32 ÷ 9: no single factor.
        assert_eq!(found.most.unwrap()[0].carried(), None);
    });
    // Modes of the one lie on both sides of the other's figure, and nothing grows.
    let mixed = [&[5.0, 200.0][..], &[15.0], &[5.0, 200.0]];
    shown(&[mixed, two], |rows, curves| {
        let found = order(rows, curves, [2, 100]);
        assert_eq!((found.least, labels(&found.most), labels(&found.still)), ([None, None], None, None));
    });
    // Both modes lie below it.
    let below = [&[5.0, 20.0][..], &[15.0], &[5.0]];
    shown(&[below, two], |rows, curves| {
        assert_eq!(order(rows, curves, [2, 100]).least, [Some(vec!["x/one"]), None], "one figure has no interval");
    });
    // Both fall.
    let falling = [&[49.0, 50.0, 51.0][..], &[40.0], &[29.0, 30.0, 31.0]];
    let fallen = [&[98.0, 100.0, 102.0][..], &[90.0], &[78.0, 80.0, 82.0]];
    shown(&[falling, fallen], |rows, curves| {
        let found = order(rows, curves, [2, 100]);
        assert_eq!((labels(&found.most), labels(&found.still)), (None, Some(vec!["x/one".into()])));
        // One curve is the least of nobody.
        assert_eq!(order(rows, &curves[..1], [2, 100]).least, [None, None]);
    });
}
