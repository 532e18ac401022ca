//! Whatever the numbers, no function of this crate panics or runs for ever: run files come from
//! strangers.

use proptest::prelude::*;
use switchcost_stats::{
    Search, Steady, each_of, fewest_each, fewest_for_change, fewest_pairs, half_width, highest_confidence, mad, mean,
    mean_interval, median, median_difference, median_interval, modes, paired, quantile, ratio_of_means, shared, shift,
    sorted, steady_from, successive_median_interval,
};

/// What a figure must never be, what it may be, and what only just fits.
fn value() -> impl Strategy<Value = f64> {
    let named = prop_oneof![
        Just(f64::NAN),
        Just(-f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(f64::MIN),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(i64::MAX as f64),
        Just(i64::MIN as f64),
    ];
    prop_oneof![3 => named, 2 => -1e3..1e3f64, 1 => any::<f64>()]
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    let one = value().prop_flat_map(|value| proptest::collection::vec(Just(value), 0..60));
    prop_oneof![3 => proptest::collection::vec(value(), 0..60), 1 => one]
}

fn level() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.5..1.0f64, 1 => Just(0.95), 1 => Just(0.0), 1 => Just(1.0), 1 => value()]
}

proptest! {
    #[test]
    fn locations(values in values(), p in value()) {
        let ascending = sorted(&values);
        prop_assert_eq!(ascending.len(), values.len());
        for found in [quantile(&values, p), quantile(&ascending, p), median(&values), mean(&values), mad(&values)] {
            prop_assert_eq!(found.is_some(), !values.is_empty());
        }
    }

    #[test]
    fn intervals(values in values(), level in level(), centre in value()) {
        let found = [median_interval(&values, level), median_interval(&sorted(&values), level), mean_interval(&values)];
        for interval in found.into_iter().flatten() {
            prop_assert!(!values.is_empty());
            let _ = interval.relative_half_width(centre);
        }
    }

    #[test]
    fn starts_that_follow_one_another(a in values(), b in values(), level in level()) {
        let in_time = |values: &[f64]| (0..).zip(values.iter().copied()).collect::<Vec<(u64, f64)>>();
        let shared = shared(&[&in_time(&a), &in_time(&b)]);
        prop_assert!((0.0..=1.0).contains(&shared.unknown) && shared.correlation.is_finite());
        let _ = successive_median_interval(&a, level, &shared);
    }

    #[test]
    fn the_steady_part(values in values()) {
        if let Steady::From(start) = steady_from(&values) {
            prop_assert!(start == 0 || start <= values.len() / 2);
        }
    }

    /// Nothing is cut off where a value is none that a clock can give.
    #[test]
    fn no_warm_up_where_a_value_is_none(
        mut values in proptest::collection::vec(0.0..1e3f64, 8..40),
        place in 0..8_usize,
        odd in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
    ) {
        values[place] = odd;
        prop_assert_eq!(steady_from(&values), Steady::From(0));
    }

    #[test]
    fn kinds(values in values()) {
        let kinds = modes(&values);
        let plain = kinds.iter().all(|kind| kind.value.is_finite() && (0.0..=1.0).contains(&kind.weight));
        prop_assert!(kinds.len() != 1 && plain, "{:?}", kinds);
    }

    #[test]
    fn comparisons(a in values(), b in values(), level in level(), deviation in value(), floor in value()) {
        let found = [median_difference(&a, &b, level), shift(&a, &b, level), paired(&a, level)];
        for ratio in found.into_iter().flatten() {
            let wider = ratio.with_component(deviation, level);
            let _ = (ratio.excludes_zero(), wider.excludes_zero(), wider.reach(), wider.detectable(floor));
        }
        let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        let _ = (ratio_of_means(&pairs), half_width(deviation, level), highest_confidence(a.len(), b.len()));
    }

    #[test]
    fn levels(count in any::<usize>(), level in level()) {
        let _ = (each_of(count, level), fewest_pairs(level), fewest_each(level), fewest_for_change(level));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn changes(values in values()) {
        let levels = Search::new(0.05).levels(&values);
        prop_assert!(levels.changes.iter().all(|change| change.at < values.len()));
    }
}
