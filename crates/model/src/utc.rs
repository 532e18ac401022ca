//! Moments as people write them.

use std::fmt;

/// A moment in UTC, of a time in ns since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utc {
    /// Days since 1970-01-01.
    days: i64,
    /// ns since the day began.
    time: i64,
}

/// ns in a second and in a day.
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Utc {
    /// Of a time in ns since 1970.
    #[must_use]
    pub fn new(unix_ns: i64) -> Self {
        Self { days: unix_ns.div_euclid(DAY), time: unix_ns.rem_euclid(DAY) }
    }

    /// `YYYY-MM-DD`, by `civil_from_days` of Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms": years begin in March, so that the leap day ends one, and 400 of them have
    /// 146,097 days.
    #[must_use]
    pub fn date(self) -> String {
        let days = self.days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
    }

    /// `HH:MM:SS`.
    #[must_use]
    pub fn clock(self) -> String {
        let seconds = self.time / SECOND;
        format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// `HH:MM`.
    #[must_use]
    pub fn minute(self) -> String {
        self.clock()[..5].to_owned()
    }
}

/// RFC 3339, with as many decimals as there are.
impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!(".{:09}", self.time % SECOND);
        write!(f, "{}T{}{}Z", self.date(), self.clock(), decimals.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @SECONDS +%FT%TZ` says so.
    #[test]
    fn moments_are_those_of_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (-2_203_891_201, "1900-02-28T23:59:59Z"),
            (1_795_663_317, "2026-11-26T03:21:57Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Utc::new(seconds * SECOND).to_string(), text);
        }
    }

    #[test]
    fn decimals_are_kept_and_no_number_is_too_large() {
        let moment = Utc::new(1_500_000_000);
        assert_eq!((moment.to_string(), moment.minute()), ("1970-01-01T00:00:01.5Z".into(), "00:00".into()));
        assert_eq!(Utc::new(-1).to_string(), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(Utc::new(i64::MAX).to_string(), "2262-04-11T23:47:16.854775807Z");
        assert_eq!(Utc::new(i64::MIN).to_string(), "1677-09-21T00:12:43.145224192Z");
    }
}
