//! `compare`: verdicts on pairs of rows.

mod arguments;
mod builds;
mod measured;
pub(super) mod operands;
mod question;
mod revisions;

pub use arguments::Compare;
use operands::{Chosen, Operand, Runs, Which, choose};
use question::{Group, Pair, Question};
use revisions::Revisions;
use std::collections::BTreeSet;
use std::time::Instant;
use switchcost_analysis::{
    Analysis, At, Exceeded, Gate, GateOutcome, Ground, Incomparable, Load, Place, Row, THRESHOLD, common, comparable,
    counts, exceeded, methods_differ, verdicts,
};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, Run};
use switchcost_report::{
    AskedBy, Compared, RowFigures, Style, Unmatched, compare_json, compare_junit, incomparable, listed, methods, reason,
};
use switchcost_session::{Action, CONTINUES, Exit, Failure, Installation, output, paths};

impl Action for Compare {
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        self.check_outputs()?;
        let threshold = threshold(self)?;
        let revisions = self.measure.git.as_ref().map(|range| Revisions::build(self, range)).transpose()?;
        let own = if revisions.is_some() { None } else { builds::given(self)? };
        let builds = revisions.as_ref().map(|revisions| &revisions.builds).or(own.as_ref());
        // Building is not measuring.
        let started = if revisions.is_some() { Instant::now() } else { started };
        if self.operands.len() < 2 && builds.is_none() {
            return Err(Failure::usage(format!(
                "`{}` needs something to be compared with; name a second row, run or file",
                self.operands[0]
            )));
        }
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        // What names mechanisms by less than their id asks of these; others may be rows as well,
        // which --measure takes side by side.
        let exact = self.operands.iter().all(|text| text.contains('/'));
        let measured = builds.is_some() || self.measure.measure && exact;
        let question = if measured { None } else { Question::of(self, &catalogue)? };
        if question.is_none() && (self.contexts.is_some() || self.rate.is_some()) {
            return Err(Failure::usage("--contexts and --rate are of a comparison of mechanisms by their names alone"));
        }
        if question.is_some() && self.at != [At::Median] {
            return Err(Failure::usage(
                "--at is of rows that were measured with --timing each; name such rows, runs or files",
            ));
        }
        let mut compared = Compared { threshold, ..Compared::default() };
        compared.notes.extend(revisions.as_ref().map(|revisions| revisions.sentence.clone()));
        let (mut runs, asked) = if let Some(question) = question {
            let store = paths::store(self.store.path())?;
            let (runs, groups) = question.answer(self, &installation, &store, &mut compared)?;
            (runs, Asked::Names(question, groups))
        } else if builds.is_some() || self.measure.measure {
            let (run, operands) = measured::measure(self, builds, started, &mut compared)?;
            drop(revisions);
            (vec![run], Asked::Operands(operands))
        } else {
            let mut runs = Runs::new(paths::store(self.store.path())?, &catalogue);
            let operands = runs.operands(&self.operands)?;
            if let Some(option) = self.measure.given() {
                let sentence = format!("{option} is of a comparison that measures; add --measure, or leave it out");
                return Err(Failure::usage(sentence));
            }
            (runs.all, Asked::Operands(operands))
        };
        if self.outputs().any(|(form, _)| form != "json") {
            runs.iter_mut().for_each(Run::make_harmless);
        }
        let stopped = compared.stopped;
        let each = self.at.iter().map(|at| {
            let mut compared = Compared { at: *at, ..compared.clone() };
            compared.notes.extend(at.sentence());
            let analyses: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::at(run, &catalogue, *at)).collect();
            let filled = self.fill(&asked, &analyses, &catalogue, &mut compared);
            filled.map(|()| compared).map_err(|failure| match stopped {
                true => Failure::partial(format!(
                    "stopped while it measured, before two rows that are compared had a process run each; {CONTINUES}"
                )),
                false => failure,
            })
        });
        let each: Vec<Compared> = each.collect::<Result<_, _>>()?;
        for (form, file) in self.outputs() {
            let of = |compared: &Compared| match (form, file) {
                ("json", _) => compare_json(compared),
                ("junit", _) => compare_junit(compared),
                ("md", _) => compared.answer().markdown(),
                (_, None) => compared.answer().terminal(output::style()),
                (_, Some(_)) => compared.answer().terminal(Style::PIPED),
            };
            let text = each.iter().map(of).collect::<Vec<_>>().join("\n");
            file.map_or_else(|| output::print(&text), |file| output::write_file(file, text.as_bytes()))?;
        }
        // One row that is worse decides, then one that is inconclusive.
        let all: Vec<Exit> = each.iter().map(status).collect();
        let found = |exit: &&Exit| all.contains(exit);
        Ok([Exit::Difference, Exit::Inconclusive, Exit::Partial].iter().find(found).copied().unwrap_or(Exit::Fine))
    }
}

impl Compare {
    /// Judges what was asked.
    fn fill(
        &self,
        asked: &Asked<'_>,
        analyses: &[Analysis<'_>],
        catalogue: &Catalogue,
        compared: &mut Compared,
    ) -> Result<(), Failure> {
        let mut names = Vec::new();
        let pairs = match asked {
            Asked::Operands(operands) => self.pairs(operands, analyses, catalogue, compared)?,
            Asked::Names(question, groups) => {
                compared.notes.extend(question.unlike());
                let contexts = self.contexts.unwrap_or(Experiment::usual().contexts);
                compared.loaded = self.rate.map(|rate| {
                    let load = Load { rate, contexts, cpu: self.cpu };
                    question.loaded(load, groups, analyses)
                });
                rows_of(&question.pairs(groups), analyses, compared, &mut names)?
            }
        };
        check_methods(&pairs, analyses, self.force, compared)?;
        let found =
            verdicts(&pairs, analyses, compared.threshold).map_err(|pair| Failure::usage(incomparable(&pair)))?;
        compared.add(found, &pairs, analyses, self.force);
        for (row, asked) in compared.rows.iter_mut().zip(names) {
            row.asked = Some(asked);
        }
        if let Some(limit) = self.gate {
            let withheld = Ground::withheld(&compared.differences, !compared.refused.is_empty());
            let withheld = withheld.filter(|_| !self.force);
            let gate = Gate::new(limit, &compared.gated(), compared.uncompared(), withheld);
            compared.gate = Some(gate.with(self.exceeded(&pairs, limit)?));
        }
        Ok(())
    }

    /// Counts of B that are too high.
    fn exceeded(&self, pairs: &[(Place<'_, '_>, Place<'_, '_>)], gate: f64) -> Result<Vec<Exceeded>, Failure> {
        let known: BTreeSet<String> = pairs.iter().flat_map(|(_, b)| counts(b.1).into_keys()).collect();
        if let Some(most) = self.most.iter().find(|most| !known.contains(&most.count)) {
            let have = known.into_iter().collect::<Vec<_>>().join(", ");
            let have = if have.is_empty() { "none; compare rows that are counted".to_owned() } else { have };
            return Err(Failure::usage(format!(
                "--most {}: no row of B has such a count; they have {have}",
                most.count
            )));
        }
        Ok(pairs.iter().flat_map(|(a, b)| exceeded(a.1, b.1, gate, &self.most)).collect())
    }

    /// What is to be compared with what. The first operand is the reference of all others.
    fn pairs<'l, 'r>(
        &self,
        operands: &[Operand],
        analyses: &'l [Analysis<'r>],
        catalogue: &Catalogue,
        compared: &mut Compared,
    ) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
        let Some(Operand::Rows { text, run, which }) = operands.first() else {
            return Err(Failure::usage("a published figure is not a reference: put a row or a run first"));
        };
        let chosen = |run: usize, which: &Which| choose(&analyses[run], which, catalogue);
        let source = if let Which::Pattern(rows) = which { text.strip_suffix(rows.as_str()) } else { None };
        let source = source.map_or_else(|| format!("{text}:"), str::to_owned);
        let reference = chosen(*run, which)?;
        let mut pairs = Vec::new();
        for operand in &operands[1..] {
            match operand {
                Operand::Published(value) => compared.published.push(value.clone()),
                Operand::Rows { text: other_text, run: other, which } => {
                    let others = chosen(*other, which)?;
                    let texts = (text.as_str(), other_text.as_str());
                    let builds = !self.measure.probe.is_empty();
                    let runs = (*run, *other);
                    let sides = Sides { source: &source, texts, runs, builds, a: &reference, b: &others };
                    pairs.extend(sides.pairs(compared)?);
                }
            }
        }
        if pairs.is_empty() {
            compared.references = reference
                .rows
                .iter()
                .filter(|row| row.summary.figures.is_some())
                .map(|row| RowFigures::new(analyses[*run].run, row))
                .collect();
        }
        Ok(pairs)
    }
}

/// What is compared with what.
enum Asked<'c> {
    /// As typed.
    Operands(Vec<Operand>),
    /// Mechanisms.
    Names(Question<'c>, Vec<Group>),
}

/// Those that can be compared, and the names of each; that none can is a failure with the first
/// reason.
fn rows_of<'l, 'r>(
    rows: &[Pair],
    analyses: &'l [Analysis<'r>],
    compared: &mut Compared,
    names: &mut Vec<AskedBy>,
) -> Result<Vec<(Place<'l, 'r>, Place<'l, 'r>)>, Failure> {
    let mut pairs = Vec::new();
    for Pair { run, rows: (a, b), asked } in rows {
        let Some((a, b)) = analyses.get(*run).and_then(|run| run.rows.get(*a).zip(run.rows.get(*b))) else { continue };
        match comparable(a, b) {
            Ok(()) => {
                pairs.push(((*run, a), (*run, b)));
                names.push(asked.clone());
            }
            Err(why) => compared.skipped.push((format!("{} and {}", a.label, b.label), reason(&why))),
        }
    }
    match (pairs.is_empty(), compared.skipped.first()) {
        (true, Some((labels, reason))) => Err(Failure::usage(format!("{labels} cannot be compared: {reason}"))),
        (true, None) => Err(Failure::usage("they have no experiment in common")),
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
        None if compared.stopped || !compared.refused.is_empty() => Exit::Partial,
        None => Exit::Fine,
    }
}

/// Two operands.
struct Sides<'a, 'l, 'r> {
    /// What the first says before the name of a row.
    source: &'a str,
    texts: (&'a str, &'a str),
    runs: (usize, usize),
    /// They are two builds of a probe.
    builds: bool,
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
                Err(why) if self.b.many => compared.skipped.push((b.label.clone(), reason(&why))),
                Err(why) => {
                    let labels = (a.label.clone(), b.label.clone());
                    return Err(Failure::usage(incomparable(&Incomparable { labels, why })));
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
        let row = self.a.rows.first().map_or("NAME", |row| &row.label);
        if !self.b.many {
            return Err(Failure::usage(format!(
                "`{first}` names {} rows and `{second}` one; name one row of the first, such as '{}{row}'",
                self.a.rows.len(),
                self.source
            )));
        }
        if self.runs.0 == self.runs.1 && !self.builds {
            return Err(Failure::usage(format!(
                "`{first}` and `{second}` are rows of the same run; name two runs, or one row first, such as '{row}'"
            )));
        }
        let common = common(&self.a.rows, &self.b.rows, self.builds);
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
    let runs = pairs.iter().map(|(a, b)| (analyses[a.0].run, analyses[b.0].run));
    let Some((a, b)) = runs.into_iter().find(|(a, b)| methods_differ(a, b)) else { return Ok(()) };
    let sentence = methods(a, b);
    if !force {
        return Err(Failure::usage(format!("{sentence}; measure again, or insist by --force")));
    }
    compared.notes.push(format!("{sentence}."));
    Ok(())
}
