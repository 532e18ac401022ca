//! A run as people read it: one head, one table, one noise floor.

mod claim;
mod counted;
mod limits;
mod table;

use super::Format;
use crate::answer::{Answer, Headline};
use crate::curves;
use crate::text::{Detail, Style, budget, machine_words};
use switchcost_analysis::number::{counted, percent};
use switchcost_analysis::{Analysis, Lacking, Row, found};
use switchcost_model::{EndedBy, Reason, Remark, Run, Utc, Verdict, remark};

pub use counted::not_counted;
pub use limits::slowed_by;

/// Rows without an interval that are named.
const FEW: usize = 4;

/// The ladder for a terminal.
pub struct Terminal;

impl Format for Terminal {
    fn name(&self) -> &'static str {
        "table"
    }

    fn purpose(&self) -> &'static str {
        "For people at a terminal"
    }

    fn write(&self, analysis: &Analysis<'_>, style: Style) -> Result<String, String> {
        Ok(answer(analysis, style.detail).terminal(style))
    }
}

/// The ladder as a Markdown document.
pub struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn purpose(&self) -> &'static str {
        "Markdown"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        Ok(answer(analysis, Detail::Notes).markdown())
    }
}

/// All that is said of a run.
fn answer(analysis: &Analysis<'_>, detail: Detail) -> Answer {
    let view = View::new(analysis, detail);
    let mut sections = curves::sections(analysis, detail);
    sections.extend(view.tables().into_iter().chain(view.counted()));
    Answer {
        headline: view.headline(),
        about: about(analysis.run).map(|line| ("", line)).into(),
        sections,
        remarks: view.remarks(),
        outcome: None,
    }
}

/// Which run it is, and how it ended.
#[must_use]
pub fn about(run: &Run) -> [String; 2] {
    let started = Utc::new(run.started_unix_ns);
    let disturbed = run.invocations.iter().filter(|invocation| !invocation.disturbances.is_empty()).count();
    let disturbed = if disturbed == 0 { String::new() } else { format!(" ({disturbed} disturbed)") };
    let runs = counted(run.invocations.len(), "process run");
    let (date, minute) = (started.date(), started.minute());
    [
        format!("run {} · {}", run.id, machine_words(&run.machine)),
        format!("{date} {minute} UTC, {runs}{disturbed}, {}", ended(run)),
    ]
}

/// That somebody watched the machine while it measured the run.
#[must_use]
pub fn watched(run: &Run) -> Option<String> {
    let who = run.machine.watchers();
    (!who.is_empty()).then(|| remark!(watched, who).to_string())
}

/// What a row sought and what came of it, a line each, the first with its name.
pub fn answer_of<'a>(row: &'a Row<'_>) -> impl Iterator<Item = String> + 'a {
    let named = |(place, line)| if place == 0 { format!("{}: {line}", row.label) } else { format!("- {line}") };
    row.answer.iter().enumerate().map(named)
}

fn ended(run: &Run) -> String {
    let target = percent(run.precision_ppm as f64 / 1e6);
    let seconds = run
        .ended_unix_ns
        .map_or(String::new(), |end| format!(" after {:.1} s", (end - run.started_unix_ns) as f64 / 1e9));
    if run.invocations.iter().any(found) && matches!(run.ended_by, EndedBy::Precision | EndedBy::Rounds) {
        return format!("ended{seconds}: a row found what it sought");
    }
    match run.ended_by {
        EndedBy::Precision => format!("ended{seconds}: intervals within ±{target}, or the row says why"),
        EndedBy::Rounds => format!("ended{seconds}: all rounds done"),
        EndedBy::Budget => format!("stopped{seconds} by --budget {}", budget(run.budget_ms)),
        EndedBy::Interrupt => format!("stopped by the user{seconds}"),
        EndedBy::Nothing => "ended: nothing could be measured".into(),
        EndedBy::Unfinished => "not finished".into(),
    }
}

/// What limits the answer of `show`.
pub(crate) fn limits(analysis: &Analysis<'_>) -> Vec<String> {
    View::new(analysis, Detail::Brief).headline().limits()
}

struct View<'a, 'r> {
    analysis: &'a Analysis<'r>,
    detail: Detail,
    rows: Vec<&'a Row<'r>>,
    hidden: usize,
    /// Rows without a line, because there was no time for any of them.
    lacking: Option<Lacking<'a, 'r>>,
    /// The different notes of all rows; a row's mark is the place of its own in this list. Empty if
    /// they are not shown.
    footnotes: Vec<Vec<Remark>>,
}

impl<'a, 'r> View<'a, 'r> {
    fn new(analysis: &'a Analysis<'r>, detail: Detail) -> Self {
        let all: Vec<&Row<'r>> = analysis.shown().collect();
        let (every, asked) = (detail != Detail::Brief, analysis.asked());
        let keeps = |row: &&Row<'r>| every || asked(row) || row.verdict == Verdict::Contradicted;
        let mut rows: Vec<&Row<'r>> = all.iter().copied().filter(keeps).collect();
        let hidden = all.len() - rows.len();
        let many = |lacking: &Lacking<'_, '_>| detail == Detail::Brief && lacking.rows.len() > FEW;
        let lacking = Lacking::of(analysis).filter(many);
        let late = |row: &Row<'_>| lacking.iter().any(|own| own.rows.iter().any(|late| late.index == row.index));
        rows.retain(|row| !late(row));
        let mut footnotes: Vec<Vec<Remark>> = Vec::new();
        if detail == Detail::Notes {
            for notes in rows.iter().map(|row| &row.notes).filter(|notes| !notes.is_empty()) {
                if !footnotes.contains(notes) {
                    footnotes.push(notes.clone());
                }
            }
        }
        Self { analysis, detail, hidden, rows, lacking, footnotes }
    }

    fn headline(&self) -> Headline {
        let unstable = self.analysis.noise.unstable.as_ref();
        let unstable =
            unstable.map(|why| format!("This run is unstable: {why}. Smaller differences between rows mean nothing."));
        let rows = self.rows.iter().map(|row| (row.label.as_str(), row.conditions()));
        let claims = self.claim().into_iter().chain(self.late()).collect();
        let whole = watched(self.analysis.run).into_iter().chain(unstable).collect();
        Headline::on(claims, whole, rows)
    }

    /// What passed, what limits trust, what to ask next; then notes.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.verdicts();
        // Notes have it as well.
        for row in self.rows.iter().filter(|_| self.footnotes.is_empty()) {
            remarks.extend(answer_of(row));
        }
        remarks.extend(self.uncounted());
        remarks.extend(self.limits());
        remarks.extend(self.next());
        for (place, notes) in self.footnotes.iter().enumerate() {
            remarks.extend(notes.iter().map(|note| format!("[{}] {note}", place + 1)));
        }
        if self.detail == Detail::Notes {
            remarks.extend(self.analysis.warnings.iter().map(|warning| format!("warning: {warning}")));
        }
        remarks
    }

    /// How many rows are verified, what equal rows differ by, and why rows are not verified.
    fn verdicts(&self) -> Vec<String> {
        let sound = self.rows.iter().filter(|row| row.verdict == Verdict::Verified).count();
        let counted = match (sound, self.rows.len()) {
            (0, 0) => return Vec::new(),
            (1, 1) => "it passed its checks (order, kernel switches, CPUs)".to_owned(),
            (sound, all) if sound == all => {
                format!("all {all} rows passed their checks (order, kernel switches, CPUs)")
            }
            (_, 1) => "it did not pass its checks".to_owned(),
            (sound, all) => format!("{sound} of {all} rows passed their checks"),
        };
        let mut out = vec![counted + &self.noise()];
        let mut groups: Vec<(Verdict, &Option<Reason>, Vec<&str>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.verdict != Verdict::Verified) {
            match groups.iter_mut().find(|(verdict, reason, _)| *verdict == row.verdict && **reason == row.reason) {
                Some((_, _, names)) => names.push(&row.label),
                None => groups.push((row.verdict, &row.reason, vec![&row.label])),
            }
        }
        for (verdict, reason, names) in groups {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            out.push(format!("{verdict}: {}{reason}", names.join(", ")));
            if verdict == Verdict::Contradicted {
                out.push("Do not use that figure; report it with `switchcost export`.".to_owned());
            }
        }
        out
    }
}
