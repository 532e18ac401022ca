//! Numbers as people read them.

use crate::Quantity;
use core::time::Duration;

/// A cost with three significant digits (two decimals below 10, one below 100), thousands grouped.
#[must_use]
pub fn nanoseconds(value: f64) -> String {
    match value.abs() {
        size if size < 0.995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => grouped(value.round() as i64),
    }
}

/// A count to two decimals, without superfluous ones, thousands grouped.
#[must_use]
pub fn exactly(value: f64) -> String {
    let hundredths = (value * 100.0).round() as i64;
    let (whole, rest) = (hundredths / 100, hundredths.unsigned_abs() % 100);
    let sign = if hundredths < 0 && whole == 0 { "-" } else { "" };
    let rest = format!(".{rest:02}");
    format!("{sign}{}{}", grouped(whole), rest.trim_end_matches('0').trim_end_matches('.'))
}

/// A whole number, thousands grouped.
#[must_use]
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0 { format!("-{out}") } else { out }
}

/// So many of something: `1 row`, `12,000 rows`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(i64::try_from(count).unwrap_or(i64::MAX)), if count == 1 { "" } else { "s" })
}

/// A fraction as percent with two significant digits.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    match value.abs() {
        size if size < 0.995 => format!("{value:.2} %"),
        size if size < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// A time that is only roughly known, or need not be known better: `20 s`, `4 min`, `3 h`, `2
/// days`.
#[must_use]
pub fn roughly(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 99.5 => format!("{:.0} s", seconds.max(1.0)),
        seconds if seconds < 5_970.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 171_000.0 => format!("{:.0} h", seconds / 3600.0),
        seconds => format!("{:.0} days", seconds / 86_400.0),
    }
}

impl Quantity {
    fn scaled(self, value: f64) -> (f64, &'static str) {
        let measure = self.measure();
        let fits = measure.scale.iter().find(|(size, _)| value.abs() >= size * 0.9995).or(measure.scale.last());
        fits.map_or((value, &*measure.unit), |(size, unit)| (value / size, &**unit))
    }

    /// 1,062 → `1.06 µs`.
    #[must_use]
    pub fn amount(self, value: f64) -> String {
        let (scaled, unit) = self.scaled(value);
        if self.measure().exact {
            return format!("{} {unit}", exactly(scaled));
        }
        format!("{} {unit}", nanoseconds(scaled))
    }

    /// The same without superfluous digits: `1 µs`, `64 KiB`.
    #[must_use]
    pub fn tick(self, value: f64) -> String {
        let (value, unit) = self.scaled(value);
        // Three digits: a tick is a round number.
        format!("{} {unit}", (value * 1000.0).round() / 1000.0)
    }
}

/// A factor such as ×27 with two or three digits.
#[must_use]
pub fn factor(value: f64) -> String {
    match value {
        value if value < 9.95 => format!("{value:.2}"),
        value if value < 99.5 => format!("{value:.1}"),
        value => grouped(value.round() as i64),
    }
}

/// A ratio to something fixed: `4.12× more`, `440× less`, `1×`.
#[must_use]
pub fn share(ratio: f64) -> String {
    match ratio {
        nothing if nothing <= 0.0 => factor(nothing),
        less if less < 0.995 => format!("{}× less", factor(1.0 / less)),
        same if same < 1.005 => "1×".to_owned(),
        more => format!("{}× more", factor(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_at_two_nanoseconds() {
        let all: Vec<String> =
            [0.334, 2.236, 9.996, 71.47, 99.96, 216.4, 1301.4, 35_070.0, 1_234_567.0, -3.5].map(nanoseconds).into();
        assert_eq!(all, ["0.334", "2.24", "10.0", "71.5", "100", "216", "1,301", "35,070", "1,234,567", "-3.50"]);
    }

    #[test]
    fn amounts_have_the_unit_that_fits() {
        assert_eq!(
            [1.2, 999.9, 1062.0, 2.5e6, 3e9].map(|ns| Quantity::TIME.amount(ns)),
            ["1.20 ns", "1.00 µs", "1.06 µs", "2.50 ms", "3.00 s"]
        );
        assert_eq!([1e3, 5e5, 0.2].map(|ns| Quantity::TIME.tick(ns)), ["1 µs", "500 µs", "0.2 ns"]);
        assert_eq!(
            (Quantity::MEMORY.amount(4096.0).as_str(), Quantity::MEMORY.tick(65536.0).as_str()),
            ("4.00 KiB", "64 KiB")
        );
    }

    #[test]
    fn one_is_no_plural() {
        let said = [0, 1, 2, 12_000].map(|count| counted(count, "row"));
        assert_eq!(said, ["0 rows", "1 row", "2 rows", "12,000 rows"]);
    }

    #[test]
    fn counts_have_all_their_digits() {
        let all = [57.0, 27.75, 1234.5, -0.25, 0.0, 2.004].map(exactly);
        assert_eq!(all, ["57", "27.75", "1,234.5", "-0.25", "0", "2"]);
    }

    #[test]
    fn percents_and_factors() {
        assert_eq!([0.0123, 0.5, 0.00012].map(percent), ["1.2 %", "50 %", "0.01 %"]);
        assert_eq!([1.0, 27.31, 15_500.0].map(factor), ["1.00", "27.3", "15,500"]);
    }
}
