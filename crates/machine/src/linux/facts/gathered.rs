//! Facts that are being gathered.

use crate::os::host::unknown;
use std::collections::BTreeMap;

/// Each under its name.
#[derive(Default)]
pub(crate) struct Facts(pub(super) BTreeMap<String, String>);

impl Facts {
    /// Adds a fact. A name is used once.
    pub(super) fn put(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        debug_assert!(!value.is_empty(), "{name} is empty");
        let earlier = self.0.insert(name, value);
        debug_assert!(earlier.is_none(), "a fact was put twice");
    }
}

/// Distinct texts as one fact.
pub(super) fn joined(texts: &[String], missing: &str) -> String {
    if texts.is_empty() { unknown(missing) } else { texts.join(", ") }
}
