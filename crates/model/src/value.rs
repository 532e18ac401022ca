//! A number or a word, with all that a printer must know to write it.

use crate::Quantity;
use crate::number::{exactly, factor, grouped, nanoseconds, percent, share};
use core::fmt;

/// What stands in a cell of a table, or is a fact of a remark.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nobody knows.
    Unknown,
    /// A word, or several.
    Words(String),
    /// How many.
    Count(u64),
    /// `1.06 µs`.
    Amount(f64, Quantity),
    /// Modes, each with its share, in any order: `28.0 µs (77 %) or 1.31 µs`.
    Either(Vec<(f64, f64)>, Quantity),
    /// A figure whose unit stands elsewhere: `1,062`.
    Bare(f64),
    /// Less than that: `< 0.012`, and `< 0.001` of anything smaller.
    Below(f64),
    /// A count to two decimals.
    Exact(f64),
    /// A fraction: `4.2 %`.
    Percent(f64),
    /// A ratio less 1: `+4.2 %`.
    Change(f64),
    /// `4.78`, three decimals near 1.
    Ratio(f64),
    /// `4.78`.
    Factor(f64),
    /// One decimal.
    Tenths(f64),
    /// Two decimals.
    Hundredths(f64),
    /// `4.12× more`.
    Beside(f64),
    /// `×4.3`, or `÷1.2` of what falls.
    Grown(f64),
    /// A few per unit, to three decimals: `1.970`, `0`.
    Rate(f64),
    /// From one to the other: `17 – 23 %`.
    Between(Box<(Self, Self)>),
}

impl Value {
    /// From one to the other.
    #[must_use]
    pub fn between(low: Self, high: Self) -> Self {
        Self::Between(Box::new((low, high)))
    }

    /// Somebody knows it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        *self != Self::Unknown
    }

    /// It is set to the right of its column.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Words(_))
    }
}

/// Three decimals near 1, where the third one matters; two digits otherwise, however small.
fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => factor(ratio),
        ratio if (0.1..0.9).contains(&ratio) || ratio > 1.1 => format!("{ratio:.2}"),
        ratio if ratio >= 0.1 => format!("{ratio:.3}"),
        ratio if ratio > 0.0 => format!("{ratio:.*}", (1.0 - ratio.log10().floor()).min(12.0) as usize),
        _ => "0".to_owned(),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("–"),
            Self::Words(words) => f.write_str(words),
            Self::Count(count) => f.write_str(&grouped(i64::try_from(*count).unwrap_or(i64::MAX))),
            Self::Amount(value, quantity) => f.write_str(&quantity.amount(*value)),
            Self::Either(modes, quantity) => {
                let modes = commonest_first(modes);
                // What the others leave is the share of the last.
                let each = modes.iter().enumerate().map(|(place, (value, weight))| match place + 1 < modes.len() {
                    true => format!("{} ({})", quantity.amount(*value), percent(*weight)),
                    false => quantity.amount(*value),
                });
                f.write_str(&each.collect::<Vec<_>>().join(" or "))
            }
            Self::Bare(value) => f.write_str(&nanoseconds(*value)),
            Self::Below(value) => write!(f, "< {}", nanoseconds(value.max(0.001))),
            Self::Exact(value) => f.write_str(&exactly(*value)),
            Self::Percent(fraction) => f.write_str(&percent(*fraction)),
            Self::Change(by) => write!(f, "{}{}", if *by < 0.0 { "−" } else { "+" }, percent(by.abs())),
            Self::Ratio(value) => f.write_str(&ratio(*value)),
            Self::Factor(value) => f.write_str(&factor(*value)),
            Self::Tenths(value) => write!(f, "{value:.1}"),
            Self::Hundredths(value) => write!(f, "{value:.2}"),
            Self::Beside(value) => f.write_str(&share(*value)),
            Self::Grown(times) if *times < 0.995 => write!(f, "÷{}", factor(1.0 / times)),
            Self::Grown(times) => write!(f, "×{}", factor(*times)),
            Self::Rate(rate) if *rate < 0.0005 => f.write_str("0"),
            Self::Rate(rate) => write!(f, "{rate:.3}"),
            Self::Between(ends) => {
                let (low, high) = (ends.0.to_string(), ends.1.to_string());
                let unit = high.rsplit_once(' ').map_or("", |(_, unit)| unit);
                let low = low.strip_suffix(unit).map_or(low.as_str(), str::trim_end);
                write!(f, "{low} – {high}")
            }
        }
    }
}

/// Modes, a figure and a share each, the most frequent first; of equals in their order.
#[must_use]
pub fn commonest_first(modes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut modes = modes.to_vec();
    modes.sort_by(|a, b| b.1.total_cmp(&a.1));
    modes
}

impl From<&str> for Value {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Value {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_unit_once_if_both_ends_have_it() {
        let time = |ns| Value::Amount(ns, Quantity::TIME);
        let all = [
            Value::between(Value::Percent(0.17), Value::Percent(0.23)),
            Value::between(Value::Change(-0.035), Value::Change(0.033)),
            Value::between(time(1.17), time(1.2)),
            Value::between(time(990.0), time(1200.0)),
            Value::between(Value::Ratio(32.2), Value::Ratio(35.2)),
        ];
        let said = all.map(|value| value.to_string());
        assert_eq!(said, ["17 – 23 %", "−3.5 – +3.3 %", "1.17 – 1.20 ns", "990 ns – 1.20 µs", "32.2 – 35.2"]);
    }
}
