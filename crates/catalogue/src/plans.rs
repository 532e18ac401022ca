//! `protocol/plans.toml`: what a probe answers to which arguments. It is a part of the protocol's
//! version, so it is compiled in.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::EndStatus;

/// The table, as its file explains it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanTable {
    /// The words that plans set out from.
    pub base: BTreeMap<String, String>,
    /// Rules by name.
    pub rules: BTreeMap<String, ProtocolRule>,
    /// Plans, in the order of the file.
    #[serde(rename = "plan")]
    pub plans: Vec<PlanEntry>,
}

/// A rule of PROTOCOL.md.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRule {
    /// Section of the page.
    pub section: u64,
    /// The page's own words.
    pub words: String,
    /// Every plan that ends well is held to it.
    #[serde(default)]
    pub property: bool,
}

/// Words to send, and the answer that must come.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    /// What is special about it.
    pub name: String,
    /// First word of the arguments.
    #[serde(default)]
    pub command: PlanCommand,
    /// What it is repeated for.
    #[serde(default)]
    pub per: PlanScope,
    /// Where the answer must come.
    #[serde(default)]
    pub at: PlanAnswer,
    /// What the mechanism or the machine must have.
    #[serde(default)]
    pub needs: Vec<PlanNeed>,
    /// Laid over the base and the parameters.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Keys that are left out; `*`: all.
    #[serde(default)]
    pub without: BTreeSet<String>,
    /// Words after the others, as they stand.
    #[serde(default)]
    pub add: Vec<String>,
    /// Name of the rule that it tests.
    pub rule: String,
    /// `ok`, or else it is refused.
    #[serde(default)]
    pub end: PlanEnd,
    /// Codes of which one must come when it is refused; beside `ok`, with which it may also be
    /// refused.
    #[serde(default)]
    pub code: Vec<String>,
}

/// The two commands of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanCommand {
    /// What it has.
    Describe,
    /// Carry out.
    #[default]
    Run,
}

/// What a plan is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanScope {
    /// Once.
    #[default]
    Probe,
    /// Each mechanism that is checked.
    Mechanism,
    /// Each experiment that the probe describes of it.
    Experiment,
    /// Each parameter that the probe describes of it.
    Parameter,
}

/// Where the answer must come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanAnswer {
    /// The descriptor that the host always uses.
    #[default]
    Report,
    /// Another one.
    Other,
    /// Standard output, no descriptor being named.
    Stdout,
}

/// Without which a plan is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanNeed {
    /// The experiment is switch.
    Switch,
    /// And the mechanism is not a control.
    Ring,
    /// It has timing each.
    Each,
    /// It has not.
    NoEach,
    /// Two CPUs, and a page that allows them.
    TwoCpus,
}

/// How a plan must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanEnd {
    /// Carried out.
    Ok,
    /// Refused.
    #[default]
    Refused,
}

impl From<PlanEnd> for EndStatus {
    fn from(end: PlanEnd) -> Self {
        match end {
            PlanEnd::Ok => Self::Ok,
            PlanEnd::Refused => Self::Refused,
        }
    }
}

impl PlanEntry {
    /// Nothing is special about it: the words that the host itself sends to each mechanism.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.per == PlanScope::Mechanism && self.needs.is_empty() && self.set.is_empty() && self.without.is_empty()
    }
}

impl PlanTable {
    /// The table of this version of the protocol.
    ///
    /// # Panics
    /// Never: a test reads it.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
    pub fn of_this_version() -> Self {
        toml::from_str(include_str!("../../../protocol/plans.toml")).expect("a test reads it")
    }

    /// A rule by its name.
    ///
    /// # Panics
    /// If there is none: names come from this table and from [`PlanTable::of_this_version`]'s
    /// readers, both tested.
    #[must_use]
    pub fn rule(&self, name: &str) -> &ProtocolRule {
        &self.rules[name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../PROTOCOL.md");
        std::fs::read_to_string(path).unwrap()
    }

    /// Lines are broken elsewhere in the page than in the table.
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_rule_stands_in_the_section_it_names() {
        let (table, page) = (PlanTable::of_this_version(), page());
        for (name, rule) in &table.rules {
            let begins = format!("{}. ", rule.section);
            let section = page.split("\n## ").find(|section| section.starts_with(&begins));
            let section = section.unwrap_or_else(|| panic!("{name}: PROTOCOL.md has no section {}", rule.section));
            assert!(
                words(section).contains(&words(&rule.words)),
                "{name}: section {begins} does not say {:?}",
                rule.words
            );
            let tested = rule.property || table.plans.iter().any(|plan| plan.rule == *name);
            assert!(tested, "no plan tests rule {name}");
        }
    }

    #[test]
    fn plans_name_rules_and_codes_that_exist() {
        let (table, page) = (PlanTable::of_this_version(), page());
        let mut names = BTreeSet::new();
        assert_eq!(table.plans.iter().filter(|plan| plan.is_plain()).count(), 1, "one plan is what the host sends");
        for plan in &table.plans {
            assert!(names.insert(&plan.name), "{} is there twice", plan.name);
            assert!(table.rules.contains_key(&plan.rule), "{}: no rule {}", plan.name, plan.rule);
            assert!(plan.end == PlanEnd::Ok || !plan.code.is_empty(), "{}: which code?", plan.name);
            assert!(plan.code.iter().all(|code| page.contains(&format!("`{code}`"))), "{}", plan.name);
        }
    }

    #[test]
    fn plans_set_out_from_every_key_of_the_page() {
        let (table, page) = (PlanTable::of_this_version(), page());
        let rows =
            page.split("| key of `run` |").nth(1).unwrap().lines().skip(2).take_while(|row| row.starts_with('|'));
        let keys = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        let base = table.base.keys().map(String::as_str).chain(["report_fd"]);
        assert_eq!(base.collect::<BTreeSet<_>>(), keys.collect::<BTreeSet<_>>());
    }
}
