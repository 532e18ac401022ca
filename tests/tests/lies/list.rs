//! `protocol/lies.toml`, read.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_e2e::repository;

/// The list: bases by name, lies, and what no host can detect.
pub(super) struct List {
    pub(super) bases: BTreeMap<String, Value>,
    pub(super) lies: Vec<Value>,
}

impl List {
    pub(super) fn read() -> Self {
        let text = std::fs::read_to_string(repository().join("protocol/lies.toml")).unwrap();
        let mut list: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("protocol/lies.toml: {error}"));
        let forgeries = list["forgery"].take();
        let mut lies = list["lie"].as_array().cloned().unwrap();
        let mut seen = BTreeSet::new();
        for lie in &mut lies {
            assert!(seen.insert(string(lie, "id")), "two lies are called {}", lie["id"]);
            assert!(!list["base"][string(lie, "base")].is_null(), "{lie}: no such base");
            lie["mechanism"] = list["base"][string(lie, "base")]["mechanism"].clone();
            let edits = lie["edits"].as_array().cloned().unwrap_or_default();
            let whole =
                edits.into_iter().flat_map(|edit| match edit.as_str().and_then(|edit| edit.strip_prefix('@')) {
                    Some(name) => forgeries[name].as_array().unwrap_or_else(|| panic!("no forgery {name}")).clone(),
                    None => vec![edit],
                });
            lie["edits"] = whole.collect();
        }
        let bases = list["base"].as_object().unwrap();
        Self { bases: bases.iter().map(|(name, base)| (name.clone(), base.clone())).collect(), lies }
    }

    /// What one start of switchcost takes: the probe, and how it is to measure.
    pub(super) fn group(&self, base: &str) -> (String, String) {
        let base = &self.bases[base];
        (string(base, "probe"), base["arguments"].as_str().unwrap_or_default().to_owned())
    }
}

pub(super) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("{value} has no {key}")).to_owned()
}
