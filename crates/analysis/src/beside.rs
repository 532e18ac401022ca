//! Rows by themselves → rows beside each other.

use crate::compare::{Rules, THRESHOLD, Why, within};
use crate::judge::rules;
use crate::label::label;
use crate::noise::Noise;
use crate::notes::{Note, notes};
use crate::row::{Judged, Row, Times};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, Verdict};

/// The rows, each with what the others say of it; and which of them is the catalogue's reference.
pub(crate) fn beside_each_other<'r>(
    judged: Vec<Judged<'r>>,
    run: &Run,
    noise: &Noise,
    catalogue: &Catalogue,
) -> (Option<usize>, Vec<Row<'r>>) {
    let reference = reference(&judged, catalogue);
    let beside = |row: &Judged<'_>| {
        let reference = &judged[reference?];
        let fits = sound(row) && row.measure() == reference.measure();
        let positive = |row: &Judged<'_>| row.summary.invocation_medians.iter().all(|(_, value)| *value > 0.0);
        let rules = Rules { threshold: THRESHOLD, comparisons: 1 };
        let compared = within(reference, row, noise, &rules).ok().filter(|_| fits && positive(row))?;
        let apart = matches!(compared.why, Some(Why::OneCorrected(_)));
        (!apart).then_some(Times { ratio: compared.ratio, interval: compared.interval })
    };
    let known: Vec<(Option<Times>, Vec<Note>)> =
        judged.iter().map(|row| (beside(row), notes(row, &judged, run, catalogue))).collect();
    let row = |(judged, (times_reference, notes)): (Judged<'r>, (Option<Times>, Vec<Note>))| {
        let answer = (rules(judged.variant.experiment).answer)(&judged.starts);
        let caveats = notes.iter().filter(|note| note.caveat).map(|note| note.remark.clone()).collect();
        let notes = answer.iter().cloned().chain(notes.into_iter().map(|note| note.remark)).collect();
        Row { judged, times_reference, answer, caveats, notes }
    };
    (reference, judged.into_iter().zip(known).map(row).collect())
}

/// It can be set beside others.
fn sound(row: &Judged<'_>) -> bool {
    row.figure(row.basis()).is_some_and(|(_, _, modes)| modes.is_empty())
        && row.summary.resolved()
        && row.verdict == Verdict::Verified
        && !row.control
}

/// Index of the catalogue's reference, as its page describes it. None: the run has no sound row of
/// it.
fn reference(rows: &[Judged<'_>], catalogue: &Catalogue) -> Option<usize> {
    let own = catalogue.reference.as_ref()?;
    let plain =
        |row: &Judged<'_>| row.variant.mechanism == *own && label(row.variant, catalogue, false) == own.as_str();
    rows.iter().position(|row| plain(row) && sound(row) && row.median().is_some())
}
