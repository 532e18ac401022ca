//! What can be asked of a reason.

use crate::Reason;
use serde_json::Value;

impl Reason {
    /// The word that names the kind.
    #[must_use]
    pub fn code(&self) -> String {
        self.data()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Its data with the kind, as JSON.
    #[must_use]
    pub fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// That the mechanism, honestly told, went another way than its row names: between two CPUs a
    /// partner may answer before the sender has blocked, hop after hop, and a scheduler may put
    /// both on one of them.
    #[must_use]
    pub fn other_way(self) -> Self {
        Self::OtherWay { instead: Box::new(self) }
    }

    /// It rests on CPU time that is in no batch, which who watches adds to.
    #[must_use]
    pub fn of_time(&self) -> bool {
        match self {
            Self::InSomeStarts { reason, .. } => reason.of_time(),
            _ => matches!(self, Self::TimeMissing { .. } | Self::LessCpuTime { .. }),
        }
    }

    /// There is no figure: it is too small for its clock, or for what it is taken off, or the clock
    /// is a translator's.
    #[must_use]
    pub fn no_figure(&self) -> bool {
        match self {
            Self::InSomeStarts { reason, .. } => reason.no_figure(),
            _ => matches!(
                self,
                Self::BelowReading { .. }
                    | Self::FellBelowZero { .. }
                    | Self::NothingLeft { .. }
                    | Self::Translated { .. }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change_texts;
    use crate::{LastWords, TightLimits};

    #[test]
    fn a_count_without_a_bound_is_read_as_it_was_written() {
        for most in [2.0, f64::INFINITY] {
            let reason = Reason::CountPerUnit { name: "exits".into(), observed: 0.1, least: 1.0, most, limit: None };
            let text = serde_json::to_string(&reason).unwrap();
            let read: Reason = serde_json::from_str(&text).unwrap();
            assert_eq!((&read, serde_json::to_string(&read).unwrap()), (&reason, text));
        }
    }

    #[test]
    fn a_reason_of_an_older_run_has_no_bound_and_is_written_as_it_was() {
        let text = r#"{"code":"never_blocked","voluntary":3,"units":40}"#;
        let old: Reason = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&old).unwrap(), text);
        let begin = "the contexts block, but the kernel counted 3 switches because they waited in 40 units";
        assert_eq!(old.to_string(), begin);
        let now = Reason::NeverBlocked { voluntary: 3, units: 40, least: Some(10.0) };
        assert_eq!(now.to_string(), format!("{begin}; at least 10 must be"));
    }

    #[test]
    fn texts_are_changed_wherever_they_stand_and_words_of_the_form_never() {
        let killed =
            Reason::Killed { signal: 9, words: LastWords::Said { text: "bob".into() }, limits: TightLimits::default() };
        let mut reason = Reason::InSomeStarts { reason: Box::new(killed.other_way()), starts: 1, of: 2 };
        change_texts(&mut reason, &mut |text| {
            *text = text.replace("bob", "x").replace("said", "y").replace("killed", "z")
        });
        assert_eq!(
            reason.to_string(),
            "other than the row names: the probe was killed by signal 9; its last words: x (all of it: `switchcost export RUN`, field log) (in 1 of 2 starts)"
        );
    }
}
