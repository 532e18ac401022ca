//! What a check looks at, and how it writes times.

use super::sizes::Sizes;
use crate::os::host::Host;
use std::collections::BTreeMap;
use switchcost_model::Quantity;

/// What a check may look at.
pub(crate) struct Subject<'a> {
    pub(super) host: &'a Host,
    pub(super) sizes: &'a Sizes,
    pub(super) drifting: &'a BTreeMap<String, String>,
}

/// A time with its unit, or that it is not known.
pub(super) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "unknown".to_owned(), |ns| Quantity::TIME.amount(ns))
}

/// The same of µs.
pub(super) fn time_us(us: Option<f64>) -> String {
    time(us.map(|us| us * 1000.0))
}
