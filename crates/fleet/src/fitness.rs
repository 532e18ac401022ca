//! Whether a node is fit: what `check` makes of facts, findings and comparisons, and its one line.

mod pass;

pub use pass::{Pass, ROUNDS, measured_rows};

use pass::Judged;
use std::collections::BTreeSet;
use switchcost_analysis::number::percent;
use switchcost_model::{
    Finding, HARDWARE_FACTS, Machine, SOFTWARE_FACTS, Severity, agree, apart, counts, cut, harmless_line,
};

/// Facts of the place that `check` was started from, not of the node: where they differ, rows are
/// not comparable and nobody is to blame.
const SURROUNDINGS: &[&str] = &["cgroup.cpu_depth", "container", "security.seccomp"];

/// Findings that no baseline is needed for. The rest of `doctor` says how figures are to be read.
const UNFIT: &[&str] = &["clock_source", "clock_step", "cpu_quota"];

/// Findings under which figures are not the node's own: nobody is to blame, and nothing is shown.
const NOT_ITS_OWN: &[&str] = &["observers", "idle_request"];

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitnessWord {
    /// As it was.
    Fit,
    /// It is not.
    NotFit,
    /// Nobody knows.
    CannotTell,
}

/// What is known of a node so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitness {
    unfit: Vec<String>,
    unknown: Vec<String>,
    fine: Vec<String>,
}

impl Fitness {
    /// Nothing could be found out, for this reason.
    #[must_use]
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { unknown: vec![reason.into()], ..Self::default() }
    }

    /// The answer.
    #[must_use]
    pub fn word(&self) -> FitnessWord {
        if !self.unfit.is_empty() {
            FitnessWord::NotFit
        } else if !self.unknown.is_empty() || self.fine.is_empty() {
            FitnessWord::CannotTell
        } else {
            FitnessWord::Fit
        }
    }

    /// Whether measuring can still change the answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.unfit.is_empty() && self.unknown.is_empty()
    }

    /// Something that keeps the node from being judged.
    pub fn add_unknown(&mut self, reason: impl Into<String>) {
        self.unknown.push(reason.into());
    }

    /// Takes note of what makes any node unfit, and of what keeps any node from being judged.
    pub fn add_findings(&mut self, findings: &[Finding]) {
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Warning) {
            if UNFIT.contains(&finding.id.as_str()) {
                self.unfit.push(finding.text().what);
            } else if NOT_ITS_OWN.contains(&finding.id.as_str()) {
                self.unknown.push(finding.text().what);
            }
        }
    }

    /// Takes note of facts that differ from the baseline's. One that either side could not read
    /// says nothing, nor does one that only one of two versions of switchcost knows.
    pub fn add_facts(&mut self, baseline: (&Machine, &str), here: (&Machine, &str)) {
        let names: BTreeSet<&String> = baseline.0.stable.keys().chain(here.0.stable.keys()).collect();
        let mut differing: Vec<(&String, &str, &str)> = Vec::new();
        for name in names.into_iter().filter(|name| counts(HARDWARE_FACTS, name) || counts(SOFTWARE_FACTS, name)) {
            let [then, now] = [baseline.0, here.0].map(|side| side.stable.get(name).map(String::as_str));
            if (then.is_none() || now.is_none()) && baseline.1 != here.1 {
                continue;
            }
            let (then, now) = (then.unwrap_or("none"), now.unwrap_or("none"));
            if !agree(name, then, now) {
                differing.push((name, now, then));
            }
        }
        // Other hardware explains other software, and not the other way round.
        differing.sort_by_key(|(name, _, _)| !counts(HARDWARE_FACTS, name));
        for (name, now, then) in differing {
            let (now, then) = apart(now, then);
            let place = SURROUNDINGS.contains(&name.as_str());
            let side = if place { &mut self.unknown } else { &mut self.unfit };
            side.push(format!("{name} is {now}, baseline {then}"));
        }
    }

    /// Takes note of rows measured against the baseline's: of each pass over them the comparisons.
    /// A row is unfit only if it fails in every pass, and fit if it passes in one.
    pub fn add_passes(&mut self, passes: &[Pass], gate: f64) {
        let Some(first) = passes.first() else { return };
        let mut fit = 0;
        for label in first.labels() {
            let of_row: Vec<&Judged> = passes.iter().filter_map(|pass| pass.of(label)).collect();
            let failures = of_row.iter().filter(|row| matches!(row, Judged::Failed(_))).count();
            if of_row.iter().any(|row| matches!(row, Judged::Passed)) {
                fit += 1;
            } else if failures > 1 && failures == of_row.len() {
                self.unfit.extend(of_row.last().map(|row| format!("{label} {}", row.text())));
            } else {
                self.unknown.extend(of_row.iter().map(|row| format!("{label}: {}", row.text())).next_back());
            }
        }
        let rows = if fit == 1 { "1 row".to_owned() } else { format!("{fit} rows") };
        self.fine.push(format!("{rows} at most {} above the baseline", percent(gate)));
    }

    /// The line, of at most `bytes` bytes without its end: word, then reasons, and how many more
    /// there are.
    #[must_use]
    pub fn line(&self, words: &str, bytes: usize) -> String {
        let (first, more) =
            self.reasons().split_first().map_or((String::new(), 0), |(first, more)| (first.clone(), more.len()));
        let tail = if more == 0 { String::new() } else { format!(" (+{more} more)") };
        let room = bytes.saturating_sub(words.len() + tail.len());
        format!("{words}{}{tail}", cut_before_cure(&harmless_line(&first), room))
    }

    /// Why the answer is what it is, the weightiest first.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self.word() {
            FitnessWord::Fit => &self.fine,
            FitnessWord::NotFit => &self.unfit,
            FitnessWord::CannotTell => &self.unknown,
        }
    }
}

/// At most so many bytes of a text, of which the cure behind the last semicolon stays if it leaves
/// room for what is wrong.
fn cut_before_cure(text: &str, bytes: usize) -> String {
    const WRONG: usize = 24;
    match text.rsplit_once("; ").filter(|(_, cure)| text.len() > bytes && cure.len() + WRONG <= bytes) {
        Some((what, cure)) => format!("{}; {cure}", cut(what, bytes - cure.len() - 2)),
        None => cut(text, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::finding;

    fn machine(facts: &[(&str, &str)]) -> Machine {
        let stable = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Machine { stable, ..Machine::default() }
    }

    fn facts(then: &[(&str, &str)], now: &[(&str, &str)], version: &str) -> Fitness {
        let mut fitness = Fitness::default();
        fitness.add_facts((&machine(then), "1"), (&machine(now), version));
        fitness
    }

    #[test]
    fn a_watched_node_gets_no_verdict_and_a_broken_clock_still_has_one() {
        let watched = finding!(Severity::Warning, observers.watched, who = "tracing: sched:sched_switch");
        let clock = finding!(Severity::Warning, clock_source.slow, source = "hpet", read = "1 µs");
        let mut fitness = Fitness { fine: vec!["5 rows".to_owned()], ..Fitness::default() };
        fitness.add_findings(&[finding!(Severity::Fine, observers.none), watched]);
        assert!(!fitness.is_open(), "nothing that would be measured can count");
        let line = fitness.line("inconclusive: ", 120);
        assert_eq!(line, "inconclusive: this machine is watched: tracing: sched:sched_switch");
        fitness.add_findings(&[clock]);
        assert_eq!(fitness.word(), FitnessWord::NotFit);
    }

    #[test]
    fn a_line_never_exceeds_its_bytes_and_says_that_it_is_cut() {
        let long = Fitness { unfit: vec!["é".repeat(90), "more".into()], ..Fitness::default() };
        for bytes in 20..200 {
            let line = long.line("not fit: ", bytes);
            assert!(line.len() <= bytes && line.ends_with(" (+1 more)"), "{line}");
        }
        assert!(long.line("not fit: ", 80).contains(".. (+1"), "{}", long.line("not fit: ", 80));
        let cure = Fitness::unknown(format!("{}; give another", "long ".repeat(30))).line("inconclusive: ", 80);
        assert!(cure.len() == 80 && cure.ends_with("..; give another"), "{cure}");
        let acts = Fitness::unknown("a\nb\u{1b}[2J");
        assert!(!acts.line("inconclusive: ", 80).contains(['\n', '\u{1b}']));
    }

    #[test]
    fn facts_of_the_node_make_it_unfit_and_those_of_the_place_do_not() {
        let same = facts(&[("kernel.release", "6.1")], &[("kernel.release", "6.1")], "1");
        assert!(same.is_open() && same.word() == FitnessWord::CannotTell);
        let kernel = facts(
            &[("kernel.release", "6.1"), ("cpu.logical", "64")],
            &[("kernel.release", "6.2"), ("cpu.logical", "62")],
            "1",
        );
        assert_eq!(kernel.reasons(), ["cpu.logical is 62, baseline 64", "kernel.release is 6.2, baseline 6.1"]);
        assert_eq!(kernel.word(), FitnessWord::NotFit);
        let deeper = facts(&[("cgroup.cpu_depth", "1")], &[("cgroup.cpu_depth", "2")], "1");
        assert_eq!((deeper.word(), deeper.is_open()), (FitnessWord::CannotTell, false));
    }

    #[test]
    fn what_a_side_could_not_read_or_does_not_know_says_nothing() {
        assert!(facts(&[("cpu.microcode", "unknown: no right")], &[("cpu.microcode", "0x1")], "1").is_open());
        assert!(facts(&[], &[("cpu.microcode", "0x1")], "2").is_open());
        assert!(!facts(&[], &[("cpu.microcode", "0x1")], "1").is_open());
        assert!(facts(&[("load.average", "1")], &[("load.average", "9")], "1").is_open());
    }
}
