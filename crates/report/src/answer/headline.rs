//! Claims and what limits them. Their fields are private to this file, so that no printer says the
//! one without the other.

use crate::text::some;
use std::collections::BTreeMap;
use switchcost_analysis::Condition;
use switchcost_model::{Remark, remark};

/// Claims, with all that limits the rows that they rest on. No printer reads one without the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Headline {
    claims: Vec<String>,
    limits: Limits,
}

/// What limits a claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// What bounds it as a whole: other machines, no verdict.
    whole: Vec<String>,
    /// Rows by what limits them.
    rows: BTreeMap<Condition, Vec<String>>,
    all: usize,
}

/// That a printer said what limits a claim: only [`Limits::disclose`] makes one.
#[must_use]
pub struct Disclosed(());

impl Headline {
    /// Claims that rest on these rows, each with its label and its conditions; `whole`: what bounds
    /// them all.
    pub fn on<'a>(
        claims: Vec<String>,
        whole: Vec<String>,
        rows: impl IntoIterator<Item = (&'a str, Vec<Condition>)>,
    ) -> Self {
        let mut limits = Limits { whole, ..Limits::default() };
        let mut seen: Vec<&str> = Vec::new();
        for (label, conditions) in rows {
            if seen.contains(&label) {
                continue;
            }
            seen.push(label);
            for condition in conditions {
                limits.rows.entry(condition).or_default().push(label.to_owned());
            }
        }
        limits.all = seen.len();
        Self { claims, limits }
    }

    /// What limits them, for those that say the claims in their own words.
    #[must_use]
    pub fn limits(&self) -> Vec<String> {
        let mut all = Vec::new();
        let Disclosed(()) = self.limits.disclose(|sentence| all.push(sentence.to_owned()));
        all
    }

    /// Hands out the claims and what limits them.
    pub(crate) fn read(&self, printer: impl FnOnce(&[String], &Limits) -> Disclosed) {
        let Disclosed(()) = printer(&self.claims, &self.limits);
    }
}

impl Limits {
    /// Says each of them; the only way to a [`Disclosed`].
    pub(crate) fn disclose(&self, mut say: impl FnMut(&str)) -> Disclosed {
        self.whole.iter().for_each(|sentence| say(sentence));
        let mut words: Vec<&str> = Vec::new();
        for condition in self.rows.keys() {
            if !words.contains(&condition.word()) {
                words.push(condition.word());
                say(&self.sentence(*condition).to_string());
            }
        }
        Disclosed(())
    }

    /// Of one row its numbers, of several their names.
    fn sentence(&self, of: Condition) -> Remark {
        let alike = self.rows.iter().filter(|(condition, _)| condition.word() == of.word());
        let names: Vec<String> = alike.flat_map(|(_, rows)| rows.iter().cloned()).collect();
        let (rows, count, all) = (some(&names), names.len(), self.all);
        match (of, count) {
            (Condition::Disturbed { starts, of }, 1) => remark!(row_disturbed, rows, starts, of),
            (Condition::Disturbed { .. }, _) => remark!(rows_disturbed, rows, count, all),
            (Condition::Slowed, 1) => remark!(row_slowed, rows),
            (Condition::Slowed, _) => remark!(rows_slowed, rows, count, all),
            (Condition::Drifting, 1) => remark!(row_drifting, rows),
            (Condition::Drifting, _) => remark!(rows_drifting, rows, count, all),
            (Condition::FewStarts { starts, needed }, 1) => remark!(row_few, rows, starts, needed),
            (Condition::FewStarts { needed, .. }, _) => remark!(rows_few, rows, count, all, needed),
            (Condition::Unobserved, 1) => remark!(row_unobserved, rows),
            (Condition::Unobserved, _) => remark!(rows_unobserved, rows, count, all),
        }
    }
}
