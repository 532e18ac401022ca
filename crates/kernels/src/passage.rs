//! The gate, for people and for `git bisect run`.

use crate::answer::{Answered, Row};
use switchcost_session::Exit;

/// It cannot be judged: `git bisect` skips such a revision.
const SKIP: Exit = Exit::Other(125);

/// It can never be judged: `git bisect` stops by 128 and more, and would take 2 for a bad revision.
pub const STOP: u8 = 129;

/// Status by which a refusal of a gate's words ends.
pub fn status_of_refusal(words: &[String]) -> Option<i32> {
    let gate = words.iter().any(|word| word == "--gate" || word.starts_with("--gate="));
    (words.get(1).is_some_and(|word| word == "kernels") && gate).then_some(i32::from(STOP))
}

/// The last column against the first, as a sentence and a status.
#[must_use]
pub fn judged(answered: &Answered, limit: f64) -> (String, Exit) {
    let skip = |why: String| (format!("gate not judged: {why}"), SKIP);
    let [first, second] = answered.columns.as_slice() else { return skip("it needs two columns".to_owned()) };
    if let Some((column, why)) = [first, second].iter().find_map(|column| Some((column, column.missing.as_ref()?))) {
        return skip(format!("{}: {why}", column.name()));
    }
    if let Some(why) = &answered.void {
        return skip(why.clone());
    }
    let (mut worst, mut unclear) = (None, None);
    for (place, (a, b)) in first.rows.iter().zip(&second.rows).enumerate().skip(1) {
        match grown(a, b, limit) {
            Some(by) if by > limit && worst.is_none_or(|(most, _)| by > most) => worst = Some((by, place)),
            Some(_) => {}
            None => unclear = Some(format!("{} has no number in one of the two, or other modes", a.label)),
        }
    }
    match (worst, unclear) {
        (Some((by, place)), _) => {
            let (label, by, most) = (&first.rows[place].label, by * 100.0, answered.grown_most(place));
            (
                format!(
                    "gate failed: {label} executes {by:.3} % more in {} than in {}{most}",
                    second.name(),
                    first.name()
                ),
                Exit::Difference,
            )
        }
        (None, Some(why)) => skip(why),
        (None, None) => (format!("gate passed: no row executes more by more than {} %", limit * 100.0), Exit::Fine),
    }
}

/// By how much a row grew. Equally many modes are compared in order of size; else the ranges are, which may overlap: None.
fn grown(a: &Row, b: &Row, limit: f64) -> Option<f64> {
    let sorted = |row: &Row| {
        let mut all: Vec<f64> = row.count.modes.iter().map(|mode| mode.instructions).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let (a, b) = (sorted(a), sorted(b));
    let (surely, at_most) = (b.first()? / a.last()? - 1.0, b.last()? / a.first()? - 1.0);
    match () {
        () if a.len() == b.len() => a.iter().zip(&b).map(|(a, b)| b / a - 1.0).reduce(f64::max),
        () if surely > limit => Some(surely),
        () if at_most <= limit => Some(at_most),
        () => None,
    }
}
