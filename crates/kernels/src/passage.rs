//! The gate, for people and for `git bisect run`.

use crate::answer::{Answered, Column, Row};
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
pub fn judged(answered: &Answered, limit: f64) -> (String, Exit) {
    let skip = |why: String| (format!("gate not judged: {why}"), SKIP);
    let [first, second] = answered.columns.as_slice() else { return skip("it needs two columns".to_owned()) };
    let missing = |column: &Column| Some(format!("{}: {}", column.name(), column.missing.as_ref()?));
    if let Some(why) = missing(first).or_else(|| missing(second)).or_else(|| answered.void.clone()) {
        return skip(why);
    }
    let rows = first.rows.iter().zip(&second.rows).map(|(a, b)| grown(a, b, limit)).enumerate().skip(1);
    let unclear = rows.clone().find(|(_, by)| by.is_none());
    let worst = rows.filter_map(|(row, by)| Some((row, by?))).max_by(|a, b| a.1.total_cmp(&b.1));
    match (worst, unclear) {
        (Some((place, by)), _) if by > limit => {
            let (by, most) = (by * 100.0, answered.grown_most(place));
            let executes = format!("{} executes {by:.3} % more", first.rows[place].label);
            let sentence = format!("gate failed: {executes} in {} than in {}{most}", second.name(), first.name());
            (sentence, Exit::Difference)
        }
        (_, Some((row, _))) => skip(format!("{} has no number in one of them, or other modes", first.rows[row].label)),
        _ => (format!("gate passed: no row executes more by more than {} %", limit * 100.0), Exit::Fine),
    }
}

/// By how much a row grew. Equally many modes are compared in order of size; else the ranges are,
/// which may overlap: None.
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
