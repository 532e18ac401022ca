//! Which figure of its distribution stands for a start.

use std::fmt;
use std::str::FromStr;

/// Intervals that a start must have beyond a percentile: with fewer, single ones decide it.
const BEYOND: f64 = 10.0;

/// Median, or a percentile, of what a start timed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum At {
    /// The median.
    #[default]
    Median,
    /// The value that this share of the intervals stays at or below.
    Percentile(f64),
}

impl At {
    /// The share.
    #[must_use]
    pub fn share(self) -> f64 {
        match self {
            Self::Median => 0.5,
            Self::Percentile(share) => share,
        }
    }

    /// Whether a start of so many intervals carries it: at least ten lie beyond.
    #[must_use]
    pub fn carried_by(self, intervals: u64) -> bool {
        // Counted as the percentile itself is: 1 − 0.9 is a little less than 0.1.
        let all = intervals as f64;
        self == Self::Median || all - (all * self.share()).ceil() >= BEYOND
    }

    /// Why a row has none.
    #[must_use]
    pub fn lacking(self) -> String {
        match self {
            Self::Median => "it has no figure".to_owned(),
            at @ Self::Percentile(_) => format!("it has no {at}: {}", at.needs()),
        }
    }

    /// What a percentile takes.
    #[must_use]
    pub fn needs(self) -> String {
        format!("it needs `--timing each` and {} switches per process run, so that ten lie beyond it", self.least())
    }

    fn least(self) -> u64 {
        let mut least = (BEYOND / (1.0 - self.share())).floor() as u64;
        while !self.carried_by(least) {
            least += 1;
        }
        least
    }

    /// What is compared or shown, as a sentence; None for the median.
    #[must_use]
    pub fn sentence(self) -> Option<String> {
        let Self::Percentile(share) = self else { return None };
        let percent = percent(share);
        Some(format!("Each figure is the {self} of a start, which {percent} % of its units stay at or below."))
    }
}

/// Read from at most four decimals, it is written with as many.
fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Median => f.write_str("median"),
            Self::Percentile(share) => write!(f, "p{}", percent(*share)),
        }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |digits: &str| -> Option<f64> {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && digits.len() <= 7;
            digits.parse().ok().filter(|percent| plain && (50.0..100.0).contains(percent))
        };
        if text == "median" {
            return Ok(Self::Median);
        }
        let percent = text.strip_prefix('p').and_then(percent);
        percent
            // Rounded, or 99.9 % of 1000 intervals would be the 1000th.
            .map(|percent: f64| Self::Percentile((percent * 1e4).round() / 1e6))
            .ok_or_else(|| "give median, or a percentile from p50 on, such as p99 or p99.9".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_and_written_alike() {
        for text in ["median", "p50", "p90", "p99", "p99.9", "p99.99", "p99.9999"] {
            assert_eq!(text.parse::<At>().unwrap().to_string(), text);
        }
        for wrong in ["", "p", "99", "p100", "p49", "p-1", "pnan", "pinf", "p9e1", "p99.99999", "P99"] {
            assert!(wrong.parse::<At>().unwrap_err().contains("such as p99"), "{wrong}");
        }
        assert_eq!(
            At::Percentile(0.999).sentence().unwrap(),
            "Each figure is the p99.9 of a start, which 99.9 % of its units stay at or below."
        );
        assert_eq!(
            At::Percentile(0.99).sentence().unwrap(),
            "Each figure is the p99 of a start, which 99 % of its units stay at or below."
        );
    }

    #[test]
    fn a_share_is_the_nearest_to_what_was_typed() {
        for (text, share) in [("p99.9", 0.999), ("p99.99", 0.9999), ("p57.3", 0.573), ("p95", 0.95)] {
            assert_eq!(text.parse(), Ok(At::Percentile(share)), "{text}");
        }
    }

    #[test]
    fn a_percentile_needs_ten_intervals_beyond_it() {
        assert!(At::Percentile(0.99).carried_by(1000) && !At::Percentile(0.99).carried_by(999));
        assert!(At::Percentile(0.9).carried_by(100) && !At::Percentile(0.9).carried_by(99));
        assert!(At::Percentile(0.75).carried_by(40) && At::Median.carried_by(1));
        for (share, least) in [(0.9, "100 "), (0.997, "3334 "), (0.999999, "10000000 ")] {
            assert!(At::Percentile(share).needs().contains(&format!(" {least}switches")), "{share}");
        }
    }
}
