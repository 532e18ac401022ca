//! The points of an axis.

use crate::RequestError;
use switchcost_analysis::number::grouped;

/// More points than this are a typing error.
pub(super) const MOST_POINTS: usize = 200;

/// The points that are asked for; nothing: the axis's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Range {
    /// First point.
    pub from: Option<String>,
    /// Last point.
    pub to: Option<String>,
    /// Number of points between them, both included.
    pub steps: Option<u64>,
    /// The points themselves.
    pub values: Vec<String>,
}

/// A sweep that makes no sense, as one sentence with its cure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// As for any request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Neither an axis nor a parameter.
    #[error("it is none of {listed}, and no parameter that a mechanism has{hint}; `switchcost list NAME` shows those")]
    UnknownAxis {
        /// Every axis.
        listed: String,
        /// The names that are nearest.
        hint: String,
    },
    /// Nothing to vary.
    #[error("none of the mechanisms {chosen} has a {what}; `switchcost list NAME` shows what each has")]
    NoAxis {
        /// What they lack.
        what: String,
        /// As typed; or the headline.
        chosen: String,
    },
    /// The axis is also given as something fixed.
    #[error("{given} is what this sweep varies; leave it out, and name the points by --values")]
    Twice {
        /// The flag.
        given: String,
    },
    /// Not a number or size.
    #[error("`{value}` is not a whole number; sizes may end in K, M or G, such as 16K")]
    NotNumeric {
        /// As typed.
        value: String,
    },
    /// The range is empty.
    #[error("--from {from} is more than --to {to}; exchange them")]
    Reversed {
        /// As typed.
        from: u64,
        /// As typed.
        to: u64,
    },
    /// A single step cannot join two ends.
    #[error("--steps {steps} cannot reach from {from} to {to}; say --steps 2 or more, or --values for single points")]
    TooFewSteps {
        /// As typed.
        steps: u64,
        /// First.
        from: u64,
        /// Last.
        to: u64,
    },
    /// More than can be meant.
    #[error(
        "{points} points are more than the {MOST_POINTS} that a sweep may have; ask for fewer by --steps or --values"
    )]
    TooMany {
        /// How many.
        points: u64,
    },
    /// More pairs than can be meant.
    #[error(
        "{cpus} CPUs make {pairs} pairs, more than the {MOST_POINTS} points of a sweep; name some of them, such as --values 0,1,8"
    )]
    TooManyPairs {
        /// CPUs.
        cpus: usize,
        /// Pairs.
        pairs: usize,
    },
    /// No numbers on this axis.
    #[error(
        "this axis has no order, so --from, --to and --steps mean nothing; say --values, such as --values {example}"
    )]
    NoOrder {
        /// Its words.
        example: String,
    },
    /// A point that nothing accepts.
    #[error("`{value}` is out of range: {reason}")]
    OutOfRange {
        /// The point.
        value: String,
        /// What it may be.
        reason: String,
    },
    /// The default range has no end here.
    #[error("the end of the range is not known here ({reason}); say it by --to, such as --to 64M")]
    NoEnd {
        /// Why.
        reason: String,
    },
}

/// The numbers of an axis: how they are read, what they may be, and how inner points are rounded.
pub(super) struct Numbers<'a> {
    pub read: fn(&str) -> Option<u64>,
    pub lowest: u64,
    pub highest: u64,
    pub what: &'a str,
    pub round: fn(f64) -> u64,
}

impl Numbers<'_> {
    fn number(&self, text: &str) -> Result<u64, SweepError> {
        let number = (self.read)(text).ok_or_else(|| SweepError::NotNumeric { value: text.to_owned() })?;
        if (self.lowest..=self.highest).contains(&number) {
            return Ok(number);
        }
        let [lowest, highest] = [self.lowest, self.highest].map(|end| grouped(end.min(i64::MAX as u64) as i64));
        let reason = format!("{} is a whole number from {lowest} to {highest}", self.what);
        Err(SweepError::OutOfRange { value: text.to_owned(), reason })
    }
}

/// The asked points in ascending order, or a geometric series; `steps` says how many it has if
/// nobody else does.
pub(super) fn numbers(
    range: &Range,
    of: &Numbers<'_>,
    default: (u64, u64),
    steps: impl Fn(u64, u64) -> u64,
) -> Result<Vec<u64>, SweepError> {
    let mut points = Vec::new();
    if range.values.is_empty() {
        let or = |text: &Option<String>, default| text.as_deref().map_or(Ok(default), |text| of.number(text));
        let from = or(&range.from, default.0.min(or(&range.to, u64::MAX)?))?;
        let to = or(&range.to, default.1.max(from))?;
        if from > to {
            return Err(SweepError::Reversed { from, to });
        }
        // A geometric series cannot begin at 0: 0 stands before it.
        let base = if from == 0 { default.0.max(1).min(to) } else { from };
        if base > from {
            points.push(from);
        }
        let steps = range.steps.unwrap_or_else(|| steps(base.max(1), to.max(1)));
        if steps == 0 || (steps == 1 && base < to) {
            return Err(SweepError::TooFewSteps { steps, from, to });
        }
        if steps > MOST_POINTS as u64 {
            return Err(SweepError::TooMany { points: steps });
        }
        points.extend(geometric(base, to, steps, of.round));
    } else {
        for value in &range.values {
            points.push(of.number(value)?);
        }
    }
    points.sort_unstable();
    points.dedup();
    if points.len() > MOST_POINTS { Err(SweepError::TooMany { points: points.len() as u64 }) } else { Ok(points) }
}

fn geometric(from: u64, to: u64, steps: u64, round: fn(f64) -> u64) -> Vec<u64> {
    let ratio = to as f64 / from.max(1) as f64;
    let point = |i: u64| match i {
        0 => from,
        i if i + 1 == steps => to,
        i => round(from as f64 * ratio.powf(i as f64 / (steps - 1) as f64)).clamp(from, to),
    };
    (0..steps).map(point).collect()
}

/// To two significant digits.
pub(super) fn rounded_decimal(value: f64) -> u64 {
    let unit = 10_f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
    ((value / unit).round() * unit) as u64
}

/// To a power of two or half as much again: sizes with round names.
pub(super) fn rounded_size(value: f64) -> u64 {
    let unit = 2_f64.powf((value.max(1.0).log2().floor() - 1.0).max(0.0));
    ((value / unit).round() * unit) as u64
}

/// The asked words, or every one.
pub(super) fn words(range: &Range, every: Vec<String>) -> Result<Vec<String>, SweepError> {
    if range.from.is_some() || range.to.is_some() || range.steps.is_some() {
        return Err(SweepError::NoOrder { example: every.iter().take(2).cloned().collect::<Vec<_>>().join(",") });
    }
    if range.values.is_empty() {
        return Ok(every);
    }
    if range.values.len() > MOST_POINTS {
        return Err(SweepError::TooMany { points: range.values.len() as u64 });
    }
    if let Some(wrong) = range.values.iter().find(|value| !every.contains(value)) {
        let reason = format!("there are {}", every.join(", "));
        return Err(SweepError::OutOfRange { value: wrong.clone(), reason });
    }
    Ok(range.values.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_catalogue::grammar;

    fn range(from: &str, to: &str, steps: Option<u64>) -> Range {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Range { from: some(from), to: some(to), steps, values: Vec::new() }
    }

    fn contexts(range: &Range) -> Result<Vec<u64>, SweepError> {
        let of = Numbers {
            read: grammar::count,
            lowest: 2,
            highest: 10_000_000,
            what: "the size of a ring",
            round: rounded_decimal,
        };
        numbers(range, &of, (2, 1_000_000), |_, _| 7)
    }

    #[test]
    fn series_are_geometric_with_round_points() {
        assert_eq!(contexts(&Range::default()), Ok(vec![2, 18, 160, 1400, 13_000, 110_000, 1_000_000]));
        assert_eq!(contexts(&range("", "10", Some(3))), Ok(vec![2, 4, 10]));
        assert_eq!(contexts(&range("5", "5", None)), Ok(vec![5]));
        assert_eq!(contexts(&range("10k", "10k", None)), Ok(vec![10_000]), "contexts are counted by thousands");
        let of = Numbers { read: grammar::size, lowest: 0, highest: u64::MAX, what: "payload", round: rounded_size };
        let sizes = |range: &Range| numbers(range, &of, (4096, 1 << 20), |_, _| 5);
        assert_eq!(sizes(&Range::default()), Ok(vec![4096, 16_384, 65_536, 262_144, 1_048_576]));
        assert_eq!(sizes(&range("0", "64K", Some(2))), Ok(vec![0, 4096, 65_536]));
        assert_eq!(
            sizes(&Range { values: vec!["1M".into(), "16K".into()], ..Range::default() }),
            Ok(vec![16_384, 1 << 20])
        );
        assert_eq!(sizes(&range("2", "3", Some(9))), Ok(vec![2, 3]), "equal points are one");
    }

    #[test]
    fn nonsense_is_one_sentence() {
        let refusal = |range: &Range| contexts(range).unwrap_err().to_string();
        assert!(refusal(&range("10", "2", None)).contains("--from 10 is more than --to 2"));
        assert!(refusal(&range("x", "", None)).contains("`x` is not a whole number"));
        assert!(refusal(&range("", "1e6", None)).contains("`1e6`"));
        assert!(refusal(&range("", "99999999999G", None)).contains("not a whole number"));
        // As it was typed, whatever points would come of it.
        let beyond = "`99999999999` is out of range: the size of a ring is a whole number from 2 to 10,000,000";
        assert_eq!(refusal(&range("", "99999999999", None)), beyond);
        assert!(refusal(&range("0", "", None)).contains("`0` is out of range"));
        assert!(refusal(&range("", "1", None)).contains("from 2 to"));
        assert!(refusal(&range("", "", Some(201))).contains("201 points"));
        assert!(refusal(&range("", "", Some(1))).contains("--steps 1"));
        assert!(refusal(&range("", "", Some(0))).contains("--steps 0"));
        let many = Range { values: (2..301).map(|n| n.to_string()).collect(), ..Range::default() };
        assert!(refusal(&many).contains("299 points"));
        let all = vec!["other".to_owned(), "fifo".to_owned()];
        assert!(words(&range("1", "", None), all.clone()).unwrap_err().to_string().contains("--values other,fifo"));
        let wrong = Range { values: vec!["idle".into()], ..Range::default() };
        assert!(words(&wrong, all.clone()).unwrap_err().to_string().contains("other, fifo"));
        assert_eq!(words(&Range::default(), all.clone()), Ok(all));
    }
}
