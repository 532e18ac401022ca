//! What `doctor` found, as data, and the one place that makes sentences of it.

use crate::IdError;
use crate::id::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// Sentences by check and case.
const TABLE: &str = include_str!("../../../data/doctor.toml");

/// Most facts that are listed of a case without sentences.
const FACTS_LISTED: usize = 8;

/// How much a finding of `doctor` matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// As it should be.
    Fine,
    /// Good to know when reading the numbers.
    Note,
    /// Makes numbers untrustworthy or incomparable.
    Warning,
}
words!(Severity, "severity", Fine => "fine", Note => "note", Warning => "warning");

/// One thing that `doctor` looked at, as it is stored. [`finding!`](crate::finding!) makes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the check, e.g. `hypervisor`.
    pub id: String,
    /// What came of it, in a stable word, e.g. `guest`.
    pub case: String,
    /// How much it matters.
    pub severity: Severity,
    /// Values that the case's sentences name, each in its unit.
    pub facts: BTreeMap<String, String>,
}

/// One thing that `doctor` looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Finding")]
pub struct FindingText {
    /// Stable name, e.g. `hypervisor`.
    pub id: String,
    /// How much it matters.
    #[schemars(with = "String", extend("enum" = ["fine", "note", "warning"]))]
    pub severity: Severity,
    /// What is the case, one sentence.
    pub what: String,
    /// Its effect on numbers, with size as far as measured here; empty if fine.
    pub effect: String,
    /// What to do; empty if nothing.
    pub cure: String,
}

/// What the table has of a case.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Sentences {
    what: String,
    effect: String,
    cure: String,
}

/// A finding of a case of `data/doctor.toml`, with its facts: `finding!(Note, smt.siblings, threads
/// = 2)`, or a variable of the fact's name. A case that the table lacks does not compile.
#[macro_export]
macro_rules! finding {
    (@ $fact:ident) => { $fact };
    (@ $fact:ident $value:expr) => { $value };
    ($severity:expr, $id:ident.$case:ident $(, $fact:ident $(= $value:expr)?)* $(,)?) => {{
        const _: () = assert!(
            $crate::has_case(concat!("[", stringify!($id), ".", stringify!($case), "]")),
            concat!("data/doctor.toml lacks ", stringify!($id), ".", stringify!($case))
        );
        $crate::Finding {
            id: stringify!($id).to_owned(),
            case: stringify!($case).to_owned(),
            severity: $severity,
            facts: [$((stringify!($fact).to_owned(), $crate::finding!(@ $fact $($value)?).to_string())),*].into(),
        }
    }};
}

/// Whether the table has this heading, before anything runs.
#[doc(hidden)]
#[must_use]
pub const fn has_case(heading: &str) -> bool {
    let (table, heading) = (TABLE.as_bytes(), heading.as_bytes());
    let (mut at, mut same) = (0, 0);
    while at < table.len() && same < heading.len() {
        // Only its beginning is like its beginning.
        same = match table[at] {
            b'[' => 1,
            byte if byte == heading[same] => same + 1,
            _ => 0,
        };
        at += 1;
    }
    same == heading.len()
}

impl Finding {
    /// What people and scripts read of it: the one place that makes its sentences. Of a case that
    /// this version does not know, as a newer one may have stored it, one sentence lists what is
    /// there.
    #[must_use]
    pub fn text(&self) -> FindingText {
        let Sentences { what, effect, cure } = self.sentences().unwrap_or_else(|| {
            let facts = self.facts.iter().take(FACTS_LISTED).map(|(name, value)| format!(", {name}={value}"));
            let facts: String = facts.collect();
            let what = format!("a finding that this version has no words for: {}, {}{facts}", self.id, self.case);
            Sentences { what, ..Sentences::default() }
        });
        FindingText { id: self.id.clone(), severity: self.severity, what, effect, cure }
    }

    /// None where the table lacks the case, or the finding a fact.
    fn sentences(&self) -> Option<Sentences> {
        static ALL: LazyLock<BTreeMap<String, BTreeMap<String, Sentences>>> =
            // A test reads it.
            LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());
        let Sentences { what, effect, cure } = ALL.get(&self.id)?.get(&self.case)?;
        Some(Sentences { what: self.filled(what)?, effect: self.filled(effect)?, cure: self.filled(cure)? })
    }

    fn filled(&self, template: &str) -> Option<String> {
        let mut parts = template.split('{');
        let mut text = parts.next()?.to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}')?;
            let time = name.strip_prefix("about ");
            text += &match (time, self.facts.get(time.unwrap_or(name))?.as_str()) {
                (Some(_), "unknown") => "an unknown time".to_owned(),
                (Some(_), time) => format!("about {time}"),
                (None, value) => value.to_owned(),
            };
            text += rest;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_says_what_it_is_and_its_effect_and_cure_or_neither() {
        let all: BTreeMap<String, BTreeMap<String, Sentences>> = toml::from_str(TABLE).unwrap();
        for (id, case, Sentences { what, effect, cure }) in
            all.iter().flat_map(|(id, cases)| cases.iter().map(move |(case, sentences)| (id, case, sentences)))
        {
            assert!(has_case(&format!("[{id}.{case}]")), "{id}.{case} is written in another way");
            assert!(!what.is_empty() && effect.is_empty() == cure.is_empty(), "{id}.{case}");
            assert!(![what, effect, cure].iter().any(|text| text.contains('\n')), "{id}.{case}");
        }
        assert!(!has_case("[siblings]") && !has_case("[smt.sibling]") && !has_case("[smt.siblings]]"));
    }

    #[test]
    fn sentences_name_facts_and_braces_of_facts_are_text() {
        let source = "{read}";
        let text = finding!(Severity::Warning, clock_source.slow, source, read = "1.30 µs").text();
        assert_eq!(text.what, "the kernel's clock is {read}, not the time stamp counter");
        assert!(text.effect.starts_with("reading the clock takes about 1.30 µs; "), "{text:?}");
        let text = finding!(Severity::Fine, clock_source.fast, source = "tsc", read = "unknown").text();
        assert_eq!(text.what, "the clock is tsc; reading it takes an unknown time");
        assert_eq!((text.effect, text.cure), (String::new(), String::new()));
    }

    #[test]
    fn a_case_of_another_version_and_a_missing_fact_are_told_in_one_sentence() {
        let lacking = finding!(Severity::Warning, clock_source.slow, source = "hpet");
        let newer = Finding { case: "slower".to_owned(), ..lacking.clone() };
        let foreign = Finding { id: "pages".to_owned(), facts: [].into(), ..newer.clone() };
        for (finding, said) in [
            (&lacking, "clock_source, slow, source=hpet"),
            (&newer, "clock_source, slower, source=hpet"),
            (&foreign, "pages, slower"),
        ] {
            let FindingText { id, severity, what, effect, cure } = finding.text();
            assert_eq!(what, format!("a finding that this version has no words for: {said}"));
            assert_eq!((id, severity, effect + &cure), (finding.id.clone(), Severity::Warning, String::new()));
        }
        let many = (0..99).map(|number| (format!("{number:02}"), "x".to_owned())).collect();
        let text = Finding { facts: many, ..foreign }.text();
        assert!(text.what.ends_with(", 07=x"), "{}", text.what);
    }
}
