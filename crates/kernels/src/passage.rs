//! The gate, for people and for `git bisect run`.

use crate::answer::Answered;
use switchcost_session::Exit;

/// What the gate says.
pub struct Outcome {
    /// In one sentence.
    pub sentence: String,
    /// Status.
    pub exit: Exit,
}

/// Status by which a refusal of a gate's words ends: `git bisect` takes 2 for a bad revision, and stops by 128 and more.
pub fn status_of_refusal(words: &[String]) -> Option<i32> {
    let gate = words.iter().any(|word| word == "--gate" || word.starts_with("--gate="));
    (words.get(1).is_some_and(|word| word == "kernels") && gate).then_some(129)
}

/// The second column against the first. Modes are compared in order of size; if the columns have different numbers of them, the ranges are.
#[must_use]
pub fn judged(answered: &Answered, limit: f64) -> Outcome {
    let skip = |sentence: String| Outcome { sentence, exit: Exit::Other(125) };
    let [first, second] = answered.columns.as_slice() else { return skip("the gate needs two columns".to_owned()) };
    if let Some((column, why)) = [first, second].iter().find_map(|column| Some((column, column.missing.as_ref()?))) {
        return skip(format!("gate: not judged, {}: {why}", column.name()));
    }
    if let Some(why) = &answered.void {
        return skip(format!("gate: not judged, {why}"));
    }
    let (mut worst, mut unclear): (Option<(f64, String)>, Option<String>) = (None, None);
    for (a, b) in first.rows.iter().zip(&second.rows).skip(1) {
        let row = a.named();
        let sorted = |modes: &[crate::counts::Mode]| {
            let mut all: Vec<f64> = modes.iter().map(|mode| mode.instructions).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let (a, b) = (sorted(&a.count.modes), sorted(&b.count.modes));
        let (Some(low), Some(high)) = (a.first(), a.last()) else {
            unclear.get_or_insert(format!("{row} has no number in {}", first.name()));
            continue;
        };
        let (Some(least), Some(most)) = (b.first(), b.last()) else {
            unclear.get_or_insert(format!("{row} has no number in {}", second.name()));
            continue;
        };
        let grown = if a.len() == b.len() {
            a.iter().zip(&b).map(|(a, b)| b / a - 1.0).fold(f64::MIN, f64::max)
        } else if least / high - 1.0 > limit {
            least / high - 1.0
        } else if most / low - 1.0 <= limit {
            most / low - 1.0
        } else {
            unclear.get_or_insert(format!("{row} has {} modes in one and {} in the other", a.len(), b.len()));
            continue;
        };
        if grown > limit && worst.as_ref().is_none_or(|(most, _)| grown > *most) {
            let sentence = format!(
                "gate failed: {row} executes {:.3} % more in {} than in {}{}",
                grown * 100.0,
                second.name(),
                first.name(),
                answered.grown_most(&row)
            );
            worst = Some((grown, sentence));
        }
    }
    match (worst, unclear) {
        (Some((_, sentence)), _) => Outcome { sentence, exit: Exit::Difference },
        (None, Some(why)) => skip(format!("gate: not judged, {why}")),
        (None, None) => Outcome {
            sentence: format!("gate passed: no row executes more by more than {} %", limit * 100.0),
            exit: Exit::Fine,
        },
    }
}
