//! Odd strings, extreme numbers, empty lists.

use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn text() -> BoxedStrategy<String> {
    const ODD: &[&str] =
        &["", "\0", "\"\\\n\r\t", "\u{2028}\u{feff}", "🦀é", "x_", "null", "latest", "{\"t\":\"end\"}\n"];
    prop_oneof![any::<String>(), "[a-z ]{0,12}", proptest::sample::select(ODD).prop_map(str::to_owned)].boxed()
}

pub(super) fn number() -> BoxedStrategy<u64> {
    prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(i64::MAX as u64), Just(i64::MAX as u64 + 1)].boxed()
}

pub(super) fn tick() -> BoxedStrategy<i64> {
    prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), Just(0), Just(-1), 0..2_000_000_i64].boxed()
}

pub(super) fn texts() -> BoxedStrategy<BTreeMap<String, String>> {
    btree_map(text(), text(), 0..3).boxed()
}

pub(super) fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(all)
}

pub(super) fn maybe_text() -> BoxedStrategy<Option<String>> {
    option::of(text()).boxed()
}
