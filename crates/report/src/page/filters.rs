//! Numbers in templates.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};
use switchcost_analysis::number::{factor, grouped, nanoseconds, percent};

pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter("ns", |value: f64| nanoseconds(value));
    environment.add_filter("percent", |value: f64| percent(value));
    environment.add_filter("factor", |value: f64| factor(value));
    environment.add_filter("grouped", |value: f64| grouped(value.round() as i64));
    environment.add_filter("fixed", |value: f64, digits: usize| format!("{value:.digits$}"));
    environment.add_filter("significant", significant);
    environment.add_filter("interval", interval);
    environment.add_filter("total_ms", total_ms);
}

/// As C++ streams write a number by default: so many significant digits, no trailing zeros.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if exponent >= digits || exponent < -4 {
        let text = format!("{value:.*e}", (digits - 1).max(0) as usize);
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power: i32 = power.parse().unwrap_or(0);
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", bare(mantissa), power.abs());
    }
    bare(&format!("{value:.*}", (digits - 1 - exponent).max(0) as usize)).to_owned()
}

fn bare(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn field(cell: &Value, name: &str) -> Result<Option<f64>, Error> {
    let value = cell.get_attr(name)?;
    Ok(f64::try_from(value).ok())
}

/// The 95 % interval of a cell.
fn interval(cell: &Value) -> Result<String, Error> {
    Ok(match (field(cell, "low")?, field(cell, "high")?) {
        (Some(low), Some(high)) => format!("{} – {}", nanoseconds(low), nanoseconds(high)),
        _ => "no interval: fewer than 6 starts".into(),
    })
}

/// Whole ms, or what to write where there is no figure.
fn total_ms(cell: &Value) -> Result<String, Error> {
    if !cell.get_attr("found")?.is_true() {
        return Ok("not here".into());
    }
    let total = field(cell, "total")?.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "this is not a row"))?;
    Ok(format!("{:.0}ms", total / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_streams_write_them() {
        let all = [67.283_93, 122.159, 4803.78, 104.994, 50.0, 0.5, 1_234_567.0].map(|value| significant(value, 6));
        assert_eq!(all, ["67.2839", "122.159", "4803.78", "104.994", "50", "0.5", "1.23457e+06"]);
    }
}
