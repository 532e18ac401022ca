//! What words of a page are made of: a figure with its interval, and whether that decides a question.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;
use switchcost_analysis::Joint;
use switchcost_analysis::number::{factor, nanoseconds, percent};

const YES: &str = "yes";
const NO: &str = "no";
const OPEN: &str = "open";

/// Something computed from rows of one run.
#[derive(Serialize, Default)]
pub(super) struct Finding {
    /// There is a value.
    known: bool,
    /// Why there is none.
    reason: String,
    /// Null if it has modes, and no value is typical.
    value: Option<f64>,
    /// Ends of the 95 % interval, or of the range over the rounds if it has modes; null with fewer than 6 rounds.
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
}

impl Finding {
    pub(super) fn new(found: &Joint) -> Self {
        let (low, high) = found.interval.unzip();
        Self { known: true, value: found.value, low, high, rounds: found.rounds, ..Self::default() }
    }

    pub(super) fn unknown(reason: &str) -> Self {
        Self { reason: reason.to_owned(), ..Self::default() }
    }
}

pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter("exceeds", exceeds);
    environment.add_filter("near", near);
    environment.add_filter("why_open", why_open);
    environment.add_filter("said", said);
    environment.add_filter("every", every);
    environment.add_filter("some", some);
    environment.add_filter("reversed", reversed);
    environment.add_filter("table", table);
}

fn number(finding: &Value, name: &str) -> Result<Option<f64>, Error> {
    Ok(f64::try_from(finding.get_attr(name)?).ok())
}

fn text(finding: &Value, name: &str) -> Result<String, Error> {
    Ok(finding.get_attr(name)?.as_str().unwrap_or_default().to_owned())
}

fn ends(finding: &Value) -> Result<Option<(f64, f64)>, Error> {
    if !finding.get_attr("known")?.is_true() {
        return Ok(None);
    }
    Ok(number(finding, "low")?.zip(number(finding, "high")?))
}

/// yes: the whole interval lies above the bound; no: it lies below; open: neither, or there is no interval.
fn exceeds(finding: &Value, bound: f64) -> Result<&'static str, Error> {
    Ok(match ends(finding)? {
        Some((low, _)) if low > bound => YES,
        Some((_, high)) if high < bound => NO,
        _ => OPEN,
    })
}

/// yes: a ratio whose whole interval lies within this factor of 1; no: it lies wholly outside; open: neither, or there is no interval.
fn near(finding: &Value, factor: f64) -> Result<&'static str, Error> {
    Ok(match ends(finding)? {
        Some((low, high)) if low >= 1.0 / factor && high <= factor => YES,
        Some((low, high)) if low > factor || high < 1.0 / factor => NO,
        _ => OPEN,
    })
}

/// What keeps a question open.
fn why_open(finding: &Value) -> Result<String, Error> {
    if !finding.get_attr("known")?.is_true() {
        return text(finding, "reason");
    }
    Ok(match ends(finding)? {
        None => "fewer than 6 rounds hold all of the rows, too few for an interval".into(),
        Some(_) => "the interval allows both answers".into(),
    })
}

/// A finding with its interval, as `factor`, `percent` or `ns`.
fn said(finding: &Value, form: &str) -> Result<String, Error> {
    if !finding.get_attr("known")?.is_true() {
        return Ok(format!("unknown: {}", text(finding, "reason")?));
    }
    let write = match form {
        "factor" => factor,
        "percent" => percent,
        "ns" => nanoseconds,
        other => return Err(Error::new(ErrorKind::InvalidOperation, format!("`{other}` is not a form of a finding"))),
    };
    Ok(match (number(finding, "value")?, ends(finding)?) {
        (Some(value), Some((low, high))) => format!("{} ({} – {})", write(value), write(low), write(high)),
        (Some(value), None) => format!("{} (no interval)", write(value)),
        (None, Some((low, high))) => format!("{} to {} (by mode)", write(low), write(high)),
        (None, None) => "of several modes, in too few rounds".to_owned(),
    })
}

fn words(answers: &Value) -> Result<Vec<String>, Error> {
    answers.try_iter().map(|all| all.map(|one| one.as_str().unwrap_or_default().to_owned()).collect())
}

/// yes: all of these answers are yes; no: one is no; open: neither.
fn every(answers: &Value) -> Result<&'static str, Error> {
    let all = words(answers)?;
    Ok(if all.iter().any(|one| one == NO) {
        NO
    } else if !all.is_empty() && all.iter().all(|one| one == YES) {
        YES
    } else {
        OPEN
    })
}

/// yes: one of these answers is yes; no: all are no; open: neither.
fn some(answers: &Value) -> Result<&'static str, Error> {
    let all = words(answers)?;
    Ok(if all.iter().any(|one| one == YES) {
        YES
    } else if !all.is_empty() && all.iter().all(|one| one == NO) {
        NO
    } else {
        OPEN
    })
}

/// The answer to the opposite question.
fn reversed(answer: &str) -> &'static str {
    match answer {
        YES => NO,
        NO => YES,
        _ => OPEN,
    }
}

/// Rows of a Markdown table, each a list of cells; the head is the first.
fn table(text: &str) -> Value {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let rows: Vec<Vec<String>> =
        text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")).map(cells).collect();
    Value::from(minijinja::value::Serde(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::value::Serde;

    fn finding(interval: Option<(f64, f64)>) -> Value {
        Value::from(Serde(Finding::new(&Joint { value: Some(1.0), interval, rounds: 8 })))
    }

    #[test]
    fn an_interval_decides_only_what_it_lies_on_one_side_of() {
        let decided = |interval| exceeds(&finding(Some(interval)), 1.5).unwrap();
        assert_eq!([(1.6, 2.0), (1.0, 1.4), (1.4, 1.6), (1.5, 1.6)].map(decided), [YES, NO, OPEN, OPEN]);
        let near = |interval| near(&finding(Some(interval)), 1.05).unwrap();
        assert_eq!([(0.96, 1.05), (1.06, 1.2), (0.5, 0.9), (0.9, 1.0)].map(near), [YES, NO, NO, OPEN]);
    }

    #[test]
    fn what_is_unknown_decides_nothing_and_says_why() {
        let unknown = Value::from(Serde(Finding::unknown("there is no such row")));
        for nothing in [unknown.clone(), finding(None)] {
            assert_eq!((exceeds(&nothing, 0.5).unwrap(), super::near(&nothing, 2.0).unwrap()), (OPEN, OPEN));
        }
        assert_eq!(why_open(&unknown).unwrap(), "there is no such row");
        assert_eq!(said(&unknown, "factor").unwrap(), "unknown: there is no such row");
        assert!(why_open(&finding(None)).unwrap().contains("fewer than 6"));
    }

    #[test]
    fn modes_are_told_as_a_range_and_decide_where_all_of_them_agree() {
        let modes = |interval| Value::from(Serde(Finding::new(&Joint { value: None, interval, rounds: 8 })));
        let both = modes(Some((26.6, 38.1)));
        assert_eq!(said(&both, "factor").unwrap(), "26.6 to 38.1 (by mode)");
        assert_eq!((exceeds(&both, 1.5).unwrap(), exceeds(&both, 30.0).unwrap()), (YES, OPEN));
        let few = modes(None);
        assert_eq!(said(&few, "factor").unwrap(), "of several modes, in too few rounds");
        assert_eq!(exceeds(&few, 1.5).unwrap(), OPEN);
    }

    #[test]
    fn answers_are_joined() {
        let of = |all: &[&str]| Value::from(Serde(all));
        let both = |all: &[&str]| (every(&of(all)).unwrap(), some(&of(all)).unwrap());
        assert_eq!(both(&[YES, YES]), (YES, YES));
        assert_eq!(both(&[YES, OPEN]), (OPEN, YES));
        assert_eq!(both(&[NO, OPEN]), (NO, OPEN));
        assert_eq!(both(&[NO, NO]), (NO, NO));
        assert_eq!(both(&[]), (OPEN, OPEN));
    }
}
