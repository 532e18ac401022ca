//! `data/published.toml`: figures that others have measured, each with machine, year, unit and
//! source; shown beside a result, never part of a verdict.

use serde::{Deserialize, Serialize};

/// The file travels inside the program: it is data of ours, not of the user, and a comparison must
/// not fail for want of it.
const TEXT: &str = include_str!("../../../data/published.toml");

/// A figure from a publication.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name on the command line.
    pub name: String,
    /// What was measured.
    pub what: String,
    /// Nearest mechanism of ours; None: we have none.
    #[serde(default)]
    pub mechanism: Option<String>,
    /// Figure, or the lower end of a range.
    pub low: f64,
    /// Upper end of a range; None: a single figure.
    #[serde(default)]
    pub high: Option<f64>,
    /// The source says "below" the figure.
    #[serde(default)]
    pub upper_bound: bool,
    /// What the source subtracted from its figure, in the same unit.
    #[serde(default)]
    pub taken_off: Option<f64>,
    /// Unit of the figure, such as `ns per switch`.
    pub unit: String,
    /// Where it was measured.
    pub machine: String,
    /// Year of the publication, or of the newest software that it names; None: neither is stated.
    #[serde(default)]
    pub year: Option<u32>,
    /// Where it is written.
    pub source: String,
    /// True if we read the source itself, false if another text quotes it.
    pub read: bool,
    /// What is known to be measured otherwise than by the mechanism, or to be wrong.
    #[serde(default)]
    pub caveat: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    value: Vec<Published>,
}

/// All published figures, in the order of the file.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
pub fn published() -> Vec<Published> {
    toml::from_str::<File>(TEXT).expect("checked by a test").value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_says_what_where_and_whence() {
        let values = published();
        assert!(values.len() > 20);
        let names: std::collections::BTreeSet<&str> = values.iter().map(|value| value.name.as_str()).collect();
        assert_eq!(names.len(), values.len(), "a name occurs twice");
        for value in &values {
            let texts = [&value.name, &value.what, &value.unit, &value.machine, &value.source];
            assert!(texts.iter().all(|text| !text.trim().is_empty()), "{value:?}");
            assert!(value.low > 0.0 && value.high.is_none_or(|high| high > value.low), "{value:?}");
            assert!(value.year.is_none_or(|year| (1990..2100).contains(&year)), "{value:?}");
            assert!(
                value.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                value.name
            );
            assert!(value.caveat.as_ref().is_none_or(|caveat| !caveat.trim().is_empty()), "{value:?}");
            assert!(!value.upper_bound || value.high.is_none(), "{value:?}");
        }
    }

    /// Each of them was once shown beside a mechanism as if it were the same thing.
    #[test]
    fn figures_that_are_known_to_be_measured_otherwise_say_so() {
        let values = published();
        let value = |name: &str| values.iter().find(|value| value.name == name).unwrap();
        let otherwise = [
            "lmbench-1996",
            "li-process",
            "reference-lat-ctx",
            "tsuna-pinned",
            "tsuna-free",
            "switchto",
            "goroutine-locked-rt",
            "writeup-0-fiber-4",
            "writeup-0-thread-4",
            "writeup-1-pipe-wsl2-4720hq",
            "gvisor-world-rt",
            "splitx-exit",
        ];
        assert_eq!(otherwise.iter().find(|name| value(name).caveat.is_none()), None);
        assert!(value("switchto").upper_bound);
        assert_eq!(value("goroutine-locked-rt").mechanism.as_deref(), Some("thread/futex"));
        // A round trip, or a pair of calls, must not be read as a switch.
        let pairs = values.iter().filter(|value| value.unit == "ns per round trip" && value.mechanism.is_some());
        assert_eq!(pairs.filter(|value| value.caveat.is_none()).map(|value| &value.name).collect::<Vec<_>>(), [""; 0]);
        let quoted = values.iter().filter(|value| !value.read);
        let plain = quoted.filter(|value| !value.caveat.as_ref().is_some_and(|caveat| caveat.contains("second hand")));
        assert_eq!(plain.map(|value| &value.name).collect::<Vec<_>>(), [""; 0]);
    }

    /// As the file's head promises; the year is that of the software's release.
    #[test]
    fn who_names_software_has_a_year() {
        let releases = [
            ("JDK 21", 2023),
            ("Python 3.12", 2023),
            ("gcc 6.3", 2016),
            ("Linux 2.6.34", 2010),
            ("Linux 2.6.17", 2006),
            ("El Capitan", 2015),
        ];
        for (software, released) in releases {
            let values = published();
            let mut named =
                values.iter().filter(|v| v.machine.contains(software) || v.what.contains(software)).peekable();
            assert!(named.peek().is_some(), "nobody names {software}");
            let without: Vec<&str> = named
                .filter(|value| value.year.is_none_or(|year| year < released))
                .map(|value| value.name.as_str())
                .collect();
            assert_eq!(without, [""; 0], "{software}");
        }
    }

    #[test]
    fn rates_of_the_write_ups_are_their_reciprocals() {
        let printed = [("4720hq", 21_919.69), ("8750h", 218_845.82)];
        for (laptop, per_second) in printed {
            let name = format!("writeup-1-message-vmware-{laptop}");
            let low = published().iter().find(|value| value.name == name).unwrap().low;
            assert!((low - 1e9 / per_second).abs() < 0.051, "{name}: {low}, 1 s ÷ {per_second}");
        }
    }

    #[test]
    fn mechanisms_that_are_named_exist() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms");
        let catalogue = crate::load(std::path::Path::new(folder), &[], &|_| Ok(())).unwrap();
        for value in published() {
            if let Some(id) = &value.mechanism {
                assert!(catalogue.find(&id.parse().unwrap()).is_some(), "{}: there is no {id}", value.name);
            }
        }
    }
}
