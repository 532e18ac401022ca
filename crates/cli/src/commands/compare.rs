//! `compare`: verdicts on pairs of rows.

mod builds;
mod measured;
pub(super) mod operands;
mod question;

use clap::{Parser, ValueEnum};
use measured::Measure;
use operands::{Chosen, Operand, Runs, Which, choose};
use question::Question;
use std::path::PathBuf;
use std::time::Instant;
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;
use switchcost_report::{
    Compared, ComparedSide, GateOutcome, Place, THRESHOLD, Unmatched, common, comparable, compare_json, compare_junit,
    compare_markdown, compare_text, judge, listed, methods_differ,
};
use switchcost_session::arguments::{StoreOption, parse_difference};
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// A file and the form that its name asks for.
#[derive(Debug, Clone)]
pub struct Written {
    /// Where.
    pub file: PathBuf,
    /// What.
    pub form: WrittenForm,
}

/// Forms of files beside the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenForm {
    /// Markdown.
    Markdown,
    /// For scripts.
    Json,
    /// JUnit's XML.
    Junit,
}

/// Forms of a comparison.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareFormat {
    /// For people at a terminal
    Table,
    /// For scripts
    Json,
    /// Markdown
    Md,
}

fn parse_written(text: &str) -> Result<Written, String> {
    let file = PathBuf::from(text);
    let form = match file.extension().and_then(|end| end.to_str()) {
        Some("md") => WrittenForm::Markdown,
        Some("json") => WrittenForm::Json,
        Some("xml") => WrittenForm::Junit,
        _ => return Err("its name ends by .md, .json or .xml".into()),
    };
    Ok(Written { file, form })
}

/// Is B slower than A, by how much, and can that be trusted?
///
/// Two names are a question: what a switch, making one and the memory of one cost, from stored
/// runs, and what is missing is measured now. Rows of a run, whole runs, files and published
/// figures are compared with A, the first operand. The verdict is `slower` or `faster` if the
/// interval of the ratio excludes 1 and the difference exceeds noise floor and threshold;
/// `same within x %` if the whole interval lies within that; else `cannot tell`.
///
///   switchcost compare goroutine thread                which is cheaper here, and by how much
///   switchcost compare thread/pipe 'thread/*'          one against all that match
///   switchcost compare latest~1 latest --gate 5%       all common rows of two runs, for CI
///   switchcost compare baseline:v1 latest --gate 5%    against a named run (`baseline set v1`)
///   switchcost compare --measure thread/pipe 'thread/pipe free'    measured now and judged
///   switchcost compare --measure 'thread/*' --probe old/gcc-12 --probe new/gcc-12    two builds
///   switchcost compare a.jsonl:thread/pipe thread/pipe published:bendersky-pinned
#[derive(Parser, Debug)]
#[command(name = "compare", verbatim_doc_comment)]
pub struct Compare {
    /// A, the reference, then what is compared with it: RUN:LABEL; a label or pattern of the run of --run; a RUN or a file
    /// by `export` (*.jsonl) or baseline:NAME, for all rows that both have; published:NAME, shown and never judged.
    /// With --probe: what both builds measure
    #[arg(value_name = "OPERAND", required = true)]
    pub operands: Vec<String>,
    /// Run of rows that name none: an id, the beginning of one, `latest`, or `latest~N`, or a file [default: the newest that has them all]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Smallest difference that matters [default: 3%, or that of --gate if smaller]
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub threshold: Option<f64>,
    /// End with status 1 if a row is slower by more than this, 0 if the intervals of all rows exclude that, 7 if neither is shown
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub gate: Option<f64>,
    /// Compare even if a run was unstable or the versions of the method differ
    #[arg(long)]
    pub force: bool,
    /// Measuring now
    #[command(flatten)]
    pub measure: Measure,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: CompareFormat,
    /// Write the comparison to this file as well, in the form that its name ends by: .md, .json or .xml (JUnit)
    #[arg(long, value_name = "FILE", value_parser = parse_written)]
    pub write: Vec<Written>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Compare {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let threshold = threshold(self)?;
        let builds = builds::folders(self)?;
        if self.operands.len() < 2 && builds.is_none() {
            return Err(Failure::usage(format!(
                "`{}` needs something to be compared with; name a second row, run or file",
                self.operands[0]
            )));
        }
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let exactly = self.measure.measure || self.run.is_some();
        let question = if exactly { None } else { Question::of(&self.operands, &catalogue)? };
        let mut compared = Compared { threshold, ..Compared::default() };
        let (mut runs, asked) = if let Some(question) = question {
            let store = paths::store(self.store.store.as_deref())?;
            compared.asked = Some(question.names());
            let (runs, rows) = question.answer(self, &installation, &store)?;
            (runs, Asked::Rows(rows))
        } else if let Some(folders) = builds {
            let (run, rows) = builds::measure(self, folders, started, &mut compared)?;
            (vec![run], Asked::Rows(rows))
        } else if self.measure.measure {
            let (run, operands) = measured::measure(self, started)?;
            (vec![run], Asked::Operands(operands))
        } else {
            if let Some(option) = self.measure.given() {
                let sentence = format!("{option} is of a comparison that measures; add --measure, or leave it out");
                return Err(Failure::usage(sentence));
            }
            let mut runs = Runs::new(paths::store(self.store.store.as_deref())?, &catalogue);
            let operands = runs.operands(&self.operands, self.run.as_deref())?;
            (runs.all, Asked::Operands(operands))
        };
        let all_json = self.write.iter().all(|written| written.form == WrittenForm::Json);
        if !matches!(self.format, CompareFormat::Json) || !all_json {
            runs.iter_mut().for_each(Run::make_harmless);
        }
        let analyses: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::new(run, &catalogue)).collect();
        let pairs = match &asked {
            Asked::Operands(operands) => pairs(operands, &analyses, &catalogue, &mut compared)?,
            Asked::Rows(rows) => rows_of(rows, &analyses, &mut compared)?,
        };
        check_methods(&pairs, &analyses, self.force, &mut compared)?;
        judge(&pairs, &analyses, self.force, &mut compared).map_err(Failure::usage)?;
        if let Some(limit) = self.gate {
            compared.set_gate(limit);
        }
        for Written { file, form } in &self.write {
            let text = match form {
                WrittenForm::Markdown => compare_markdown(&compared),
                WrittenForm::Json => compare_json(&compared),
                WrittenForm::Junit => compare_junit(&compared),
            };
            output::write_file(file, text.as_bytes())?;
        }
        output::print(&match self.format {
            CompareFormat::Table => compare_text(&compared, output::style()),
            CompareFormat::Json => compare_json(&compared),
            CompareFormat::Md => compare_markdown(&compared),
        })?;
        Ok(status(&compared))
    }
}

/// What is compared with what.
enum Asked {
    /// As typed.
    Operands(Vec<Operand>),
    /// Of each pair the run and both rows.
    Rows(Vec<(usize, usize, usize)>),
}

/// The pairs of a question that can be compared; that none can is a failure with the first reason.
fn rows_of<'l, 'r>(
    rows: &[(usize, usize, usize)],
    analyses: &'l [Analysis<'r>],
    compared: &mut Compared,
) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
    let mut pairs = Vec::new();
    for &(run, a, b) in rows {
        let Some((a, b)) = analyses.get(run).and_then(|run| run.rows.get(a).zip(run.rows.get(b))) else { continue };
        match comparable(a, b) {
            Ok(()) => pairs.push(((run, a), (run, b))),
            Err(reason) => compared.skipped.push((format!("{} and {}", a.label, b.label), reason)),
        }
    }
    match (pairs.is_empty(), compared.skipped.first()) {
        (true, Some((labels, reason))) => Err(Failure::usage(format!("{labels} cannot be compared: {reason}"))),
        (true, None) => Err(Failure::usage("the two have no experiment in common")),
        _ => Ok(pairs),
    }
}

fn threshold(arguments: &Compare) -> Result<f64, Failure> {
    match (arguments.threshold, arguments.gate) {
        (Some(threshold), Some(gate)) if gate < threshold => Err(Failure::usage(format!(
            "--gate {:.3}% lies below --threshold {:.3}%, which no verdict goes below; lower the threshold",
            gate * 100.0,
            threshold * 100.0
        ))),
        (Some(threshold), _) => Ok(threshold),
        (None, gate) => Ok(gate.map_or(THRESHOLD, |gate| gate.min(THRESHOLD))),
    }
}

fn status(compared: &Compared) -> Exit {
    match compared.gate.as_ref().map(|gate| gate.outcome) {
        Some(GateOutcome::Passed) => Exit::Fine,
        Some(GateOutcome::Failed) => Exit::Difference,
        Some(GateOutcome::Inconclusive) => Exit::Inconclusive,
        None if !compared.refused.is_empty() => Exit::Partial,
        None => Exit::Fine,
    }
}

/// What is to be compared with what. The first operand is the reference of all others.
fn pairs<'l, 'r>(
    operands: &[Operand],
    analyses: &'l [Analysis<'r>],
    catalogue: &Catalogue,
    compared: &mut Compared,
) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
    let Some(Operand::Rows { text, run, which }) = operands.first() else {
        return Err(Failure::usage("a published figure is not a reference: put a row or a run first"));
    };
    let chosen = |run: usize, which: &Which| choose(&analyses[run], which, catalogue);
    let reference = chosen(*run, which)?;
    let mut pairs = Vec::new();
    for operand in &operands[1..] {
        match operand {
            Operand::Published(value) => compared.published.push(value.clone()),
            Operand::Rows { text: other_text, run: other, which } => {
                let others = chosen(*other, which)?;
                let sides = Sides { texts: (text, other_text), runs: (*run, *other), a: &reference, b: &others };
                pairs.extend(sides.pairs(compared)?);
            }
        }
    }
    if pairs.is_empty() {
        compared.references = reference
            .rows
            .iter()
            .filter(|row| row.summary.figures.is_some())
            .map(|row| ComparedSide::new(analyses[*run].run, row, row.basis()))
            .collect();
    }
    Ok(pairs)
}

/// Two operands.
struct Sides<'a, 'l, 'r> {
    texts: (&'a str, &'a str),
    runs: (usize, usize),
    a: &'a Chosen<'l, 'r>,
    b: &'a Chosen<'l, 'r>,
}

impl<'l, 'r> Sides<'_, 'l, 'r> {
    fn pairs(&self, compared: &mut Compared) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
        let candidates = if self.a.many { self.common(compared)? } else { self.one_to_each() };
        let mut pairs = Vec::new();
        for (a, b) in candidates {
            match comparable(a, b) {
                Ok(()) => pairs.push(((self.runs.0, a), (self.runs.1, b))),
                Err(reason) if self.b.many => compared.skipped.push((b.label.clone(), reason)),
                Err(reason) => {
                    return Err(Failure::usage(format!(
                        "`{}` and `{}` cannot be compared: {reason}",
                        a.label, b.label
                    )));
                }
            }
        }
        if pairs.is_empty() {
            // Where one reason holds for all rows it is said once.
            let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
            for (label, reason) in &compared.skipped {
                match rows.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, labels)) => labels.push(label.clone()),
                    None => rows.push((reason, vec![label.clone()])),
                }
            }
            let reasons: Vec<String> =
                rows.into_iter().map(|(reason, labels)| format!("{}: {reason}", listed(labels))).collect();
            let why = if reasons.is_empty() { "they name the same row".to_owned() } else { reasons.join("; ") };
            return Err(Failure::usage(format!(
                "nothing of `{}` and `{}` can be compared: {why}",
                self.texts.0, self.texts.1
            )));
        }
        Ok(pairs)
    }

    fn one_to_each(&self) -> Vec<(&'l Row<'r>, &'l Row<'r>)> {
        let Some(&a) = self.a.rows.first() else { return Vec::new() };
        let itself = |b: &Row<'_>| self.runs.0 == self.runs.1 && a.index == b.index;
        self.b.rows.iter().filter(|b| !itself(b)).map(|&b| (a, b)).collect()
    }

    /// Rows of equal variants; versions of probes may differ (gcc-12 and gcc-13).
    fn common(&self, compared: &mut Compared) -> Result<Vec<(&'l Row<'r>, &'l Row<'r>)>, Failure> {
        let (first, second) = self.texts;
        if !self.b.many {
            return Err(Failure::usage(format!(
                "`{first}` names {} rows and `{second}` one; name one row of the first, such as {first}:LABEL",
                self.a.rows.len()
            )));
        }
        if self.runs.0 == self.runs.1 {
            return Err(Failure::usage(format!(
                "`{first}` and `{second}` are rows of the same run; name two runs, or one row first"
            )));
        }
        let common = common(&self.a.rows, &self.b.rows);
        if common.pairs.is_empty() {
            let labels = |rows: &[&Row<'_>]| listed(rows.iter().map(|row| row.label.clone()).collect());
            return Err(Failure::usage(format!(
                "`{first}` and `{second}` have no common mechanism: the first has {}, the second {}",
                labels(&self.a.rows),
                labels(&self.b.rows)
            )));
        }
        for (text, lost, labels) in [(first, true, common.only_a), (second, false, common.only_b)] {
            if !labels.is_empty() {
                compared.unmatched.push(Unmatched { only: text.to_owned(), lost, labels });
            }
        }
        Ok(common.pairs)
    }
}

fn check_methods(
    pairs: &[(Place<'_, '_>, Place<'_, '_>)],
    analyses: &[Analysis<'_>],
    force: bool,
    compared: &mut Compared,
) -> Result<(), Failure> {
    let Some(sentence) = pairs.iter().find_map(|(a, b)| methods_differ(analyses[a.0].run, analyses[b.0].run)) else {
        return Ok(());
    };
    if !force {
        return Err(Failure::usage(format!("{sentence}; measure again, or insist by --force")));
    }
    compared.notes.push(format!("{sentence}."));
    Ok(())
}
