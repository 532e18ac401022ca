//! Tables of docs/runtimes.md: what contexts of runtimes cost, of kept runs, by the rules of
//! data/runtimes.toml.

use crate::cells::{cost, measured};
use crate::places::{catalogue, top};
use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use switchcost_analysis::{Analysis, Row, usable};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::{Pattern, command_line};
use switchcost_model::{Experiment, Mechanism, Utc};
use switchcost_stats::{median, median_interval, sorted};

pub const FILE: &str = "data/runtimes.toml";

/// A figure is old once a newer one of the page was measured so much later: half a year.
pub const OLD_NS: i64 = 183 * 86_400 * 1_000_000_000;

/// Kept runs by their names.
type Runs<'r> = BTreeMap<&'r str, Analysis<'r>>;

/// What data/runtimes.toml says of a runtime that has none.
const NO_COLLECTOR: &str = "no collector";

/// Level of the interval of memory from outside.
const CONFIDENCE: f64 = 0.95;

/// What the page has, by data/runtimes.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    class: Vec<Class>,
    question: Vec<Question>,
    heap: BTreeMap<String, String>,
    row: Vec<Asked>,
    #[serde(default)]
    correction: Vec<Correction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    id: String,
    title: String,
    what: String,
    families: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    id: String,
    run: String,
    experiment: String,
    #[serde(default)]
    words: String,
    classes: Vec<String>,
    outside: Option<Outside>,
}

/// A run with the row by default and one of so many contexts: their largest resident sets give the
/// memory of one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outside {
    run: String,
    contexts: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    class: String,
    mechanism: String,
    probe: Option<String>,
    #[serde(default)]
    settings: String,
    /// Where the authors of the runtime advise the settings.
    advised: Option<String>,
    /// Questions, where it is not asked all of its class.
    only: Option<Vec<String>>,
    /// Question → why no run can have it.
    #[serde(default)]
    absent: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Correction {
    date: String,
    what: String,
}

impl Rules {
    /// Reads and checks them.
    pub fn read(catalogue: &Catalogue) -> anyhow::Result<Self> {
        let text = fs::read_to_string(top().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        Self::parse(&text, catalogue)
    }

    pub fn parse(text: &str, catalogue: &Catalogue) -> anyhow::Result<Self> {
        let rules: Self = toml::from_str(text).with_context(|| format!("{FILE} is not of its form"))?;
        for row in &rules.row {
            rules.check(row, catalogue).with_context(|| format!("{FILE}: {}", row.name))?;
        }
        Ok(rules)
    }

    /// What complaints about such pages have in common is refused here, before anything is drawn.
    fn check(&self, asked: &Asked, catalogue: &Catalogue) -> anyhow::Result<()> {
        let class = self.class.iter().find(|class| class.id == asked.class);
        let class = class.with_context(|| format!("`{}` is not a class", asked.class))?;
        let page = asked.page(catalogue)?;
        ensure!(
            class.families.iter().any(|family| family == page.id.family()),
            "{} does not belong to the class {}: compare it with its like",
            page.id,
            class.id
        );
        let usual = |other: &&Asked| other.settings.is_empty() && other.mechanism == asked.mechanism;
        match (asked.settings.is_empty(), &asked.advised) {
            (true, Some(_)) => bail!("`advised` is of a row with settings of its own"),
            (false, None) => bail!("{}: say in `advised` where its authors advise that", asked.settings),
            (false, _) if !self.row.iter().any(|row| usual(&row)) => bail!("the row by default is missing beside it"),
            _ => {}
        }
        for source in &page.implemented_by {
            ensure!(self.heap.contains_key(source), "`heap` does not say what collects for {source}");
        }
        let mut questions = self.questions(asked).peekable();
        ensure!(questions.peek().is_some(), "the row answers no question");
        for question in questions {
            if question.of(asked, catalogue)?.is_none() && !asked.absent.contains_key(&question.id) {
                bail!("{} has no {}: say why in `absent`", page.id, question.experiment);
            }
        }
        Ok(())
    }

    /// Questions that a row answers.
    fn questions<'l>(&'l self, asked: &'l Asked) -> impl Iterator<Item = &'l Question> {
        let wanted = |question: &&Question| asked.only.as_ref().is_none_or(|only| only.contains(&question.id));
        self.question.iter().filter(|question| question.classes.contains(&asked.class)).filter(wanted)
    }

    /// Rows that a run has to measure, as one types them.
    pub fn asked(&self, run: &str, catalogue: &Catalogue) -> anyhow::Result<Vec<String>> {
        let mut rows = Vec::new();
        for asked in &self.row {
            for question in self.questions(asked).filter(|question| question.run == run) {
                rows.extend(question.pattern(asked, catalogue)?);
            }
        }
        ensure!(!rows.is_empty(), "{FILE} asks nothing of the run `{run}`");
        Ok(rows)
    }

    /// A part of the page: the tables of a question, `ran`, `condition` or `corrections`.
    pub fn part(&self, name: &str, figures: &Runs<'_>, catalogue: &Catalogue) -> anyhow::Result<String> {
        match name {
            "ran" => self.ran(figures, catalogue),
            "condition" => self.condition(figures),
            "corrections" if self.correction.is_empty() => Ok("None so far.".into()),
            "corrections" => Ok(self
                .correction
                .iter()
                .map(|one| format!("- {}: {}", one.date, one.what))
                .collect::<Vec<_>>()
                .join("\n")),
            _ => {
                let question = self.question.iter().find(|question| question.id == name);
                self.tables(question.context("it is not a question")?, figures, catalogue)
            }
        }
    }

    fn runs<'f, 'r>(&self, figures: &'f Runs<'r>) -> anyhow::Result<BTreeMap<&str, &'f Analysis<'r>>> {
        self.question.iter().map(|one| Ok((one.run.as_str(), found(figures, &one.run)?))).collect()
    }

    /// A table for each class, the cheapest first.
    fn tables(&self, question: &Question, figures: &Runs<'_>, catalogue: &Catalogue) -> anyhow::Result<String> {
        let newest = self.runs(figures)?.values().map(|run| run.run.started_unix_ns).max();
        let mut text = String::new();
        for class in self.class.iter().filter(|class| question.classes.contains(&class.id)) {
            let of_class = self.row.iter().filter(|row| row.class == class.id);
            let mut lines = Vec::new();
            for asked in of_class.filter(|row| self.questions(row).any(|one| one.id == question.id)) {
                let line = question.line(asked, self, newest, figures, catalogue);
                lines.push(line.with_context(|| asked.name.clone())?);
            }
            lines.sort_by(|a, b| a.0.total_cmp(&b.0));
            let outside = if question.outside.is_some() { " from outside |" } else { "" };
            let rule = if question.outside.is_some() { "---|" } else { "" };
            write!(text, "**{}.** {}\n\n", class.title, class.what.replace(". ", ".\n"))?;
            writeln!(text, "| | figure |{outside} verdict | collections | version | measure it yourself |")?;
            writeln!(text, "|---|---|{rule}---|---|---|---|")?;
            lines.iter().try_for_each(|line| writeln!(text, "{}", line.1))?;
            text.push('\n');
        }
        Ok(text.trim_end().to_owned())
    }

    /// What collects garbage beside a row.
    fn heap_of(&self, row: &Row<'_>, catalogue: &Catalogue) -> Option<&str> {
        let sources = &catalogue.find(&row.variant.mechanism)?.implemented_by;
        // Builds of one source are called after their compilers.
        let source = sources.iter().find(|source| **source == row.variant.probe).or(sources.first())?;
        self.heap.get(source).map(String::as_str)
    }

    /// Which versions ran, when, and with what heap.
    fn ran(&self, figures: &Runs<'_>, catalogue: &Catalogue) -> anyhow::Result<String> {
        let mut found: BTreeMap<(&str, String, String), &str> = BTreeMap::new();
        for analysis in self.runs(figures)?.values() {
            let date = Utc::new(analysis.run.started_unix_ns).date();
            for row in analysis.ladder().filter(|row| !row.starts.is_empty() && !row.control) {
                let heap = self.heap_of(row, catalogue).unwrap_or_default();
                found.insert((&row.variant.probe, version(row)?, date.clone()), heap);
            }
        }
        let mut text = "| probe | version | measured | collector and heap |\n|---|---|---|---|\n".to_owned();
        for ((probe, version, date), heap) in found {
            writeln!(text, "| {probe} | {version} | {date} | {heap} |")?;
        }
        Ok(text.trim_end().to_owned())
    }

    /// How many starts somebody else disturbed.
    fn condition(&self, figures: &Runs<'_>) -> anyhow::Result<String> {
        let runs = self.runs(figures)?;
        let starts = || runs.values().flat_map(|one| &one.run.invocations);
        let disturbed = starts().filter(|start| !start.disturbances.is_empty()).count();
        let share = 100.0 * disturbed as f64 / starts().count().max(1) as f64;
        Ok(match share {
            ..10.0 => format!("Other programs disturbed {share:.0} % of the process runs."),
            _ => format!("**Other programs disturbed {share:.0} % of the process runs: do not quote these figures.**"),
        })
    }
}

impl Asked {
    fn page<'c>(&self, catalogue: &'c Catalogue) -> anyhow::Result<&'c Mechanism> {
        let mut all = catalogue.mechanisms.iter();
        all.find(|page| page.id.as_str() == self.mechanism)
            .with_context(|| format!("nothing is called {}", self.mechanism))
    }
}

impl Question {
    /// Whose rows answer it: those of the mechanism, or of the one that has the same contexts.
    fn of<'c>(&self, asked: &Asked, catalogue: &'c Catalogue) -> anyhow::Result<Option<&'c Mechanism>> {
        let experiment: Experiment = self.experiment.parse().map_err(anyhow::Error::msg)?;
        let page = asked.page(catalogue)?;
        let lender = page.contexts_of.as_ref().filter(|_| experiment.of_contexts).and_then(|id| catalogue.find(id));
        Ok([Some(page), lender].into_iter().flatten().find(|page| page.experiments.contains(&experiment)))
    }

    /// Its row as one types it; None: it cannot be measured.
    fn pattern(&self, asked: &Asked, catalogue: &Catalogue) -> anyhow::Result<Option<String>> {
        if asked.absent.contains_key(&self.id) {
            return Ok(None);
        }
        let Some(page) = self.of(asked, catalogue)? else { return Ok(None) };
        let probe = asked.probe.as_ref().map_or_else(String::new, |probe| format!("@{probe}"));
        let usual = self.experiment == Experiment::usual().to_string();
        let experiment = if usual { "" } else { self.experiment.as_str() };
        let words = [&format!("{}{probe}", page.id), experiment, &self.words, &asked.settings];
        Ok(Some(words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")))
    }

    /// What it is sorted by, and the line of the table.
    fn line(
        &self,
        asked: &Asked,
        rules: &Rules,
        newest: Option<i64>,
        figures: &Runs<'_>,
        catalogue: &Catalogue,
    ) -> anyhow::Result<(f64, String)> {
        let run = found(figures, &self.run)?;
        let name =
            asked.advised.as_ref().map_or_else(|| asked.name.clone(), |by| format!("{} (tuned: {by})", asked.name));
        let without = |why: String, command: String| {
            let empty = if self.outside.is_some() { 4 } else { 3 };
            let cells = [vec![name.clone(), why], vec![String::new(); empty], vec![command]].concat();
            (f64::INFINITY, format!("| {} |", cells.join(" | ")))
        };
        let Some(pattern) = self.pattern(asked, catalogue)? else {
            return Ok(without(format!("not measured: {}", asked.absent[&self.id]), String::new()));
        };
        let row = one(run, &pattern)?;
        let heap = rules.heap_of(row, catalogue);
        let command = format!("`{}`", command_line(["switchcost", "run", &pattern]));
        if let Err(why) = usable(row) {
            return Ok(without(format!("no figure: {why}"), command));
        }
        let figure = if row.summary.percentiles.is_empty() {
            cost(row)
        } else {
            format!("{}, p99 {}", measured(row, "p50")?, measured(row, "p99")?)
        };
        let old = newest.is_some_and(|newest| newest - run.run.started_unix_ns > OLD_NS);
        let date = Utc::new(run.run.started_unix_ns).date();
        let figure = if old { format!("~~{figure}~~ (old: {date})") } else { figure };
        let outside = self.outside.as_ref().map(|by| by.of(asked, figures, catalogue, row)).transpose()?;
        let unsettled = row.unsettled().map_or_else(String::new, |why| format!("; {why}"));
        let verdict = format!("{}{unsettled}", row.verdict);
        let collected = match heap {
            Some(NO_COLLECTOR) => NO_COLLECTOR.to_owned(),
            _ => collections(row),
        };
        let first = [name, figure].into_iter().chain(outside);
        let cells: Vec<String> = first.chain([verdict, collected, version(row)?, command]).collect();
        Ok((row.usual().unwrap_or(f64::INFINITY), format!("| {} |", cells.join(" | "))))
    }
}

impl Outside {
    /// What the process held more for each further context, by the kernel's account of its largest
    /// resident set.
    fn of(&self, asked: &Asked, figures: &Runs<'_>, catalogue: &Catalogue, like: &Row<'_>) -> anyhow::Result<String> {
        let run = found(figures, &self.run)?;
        let page = asked.page(catalogue)?;
        let probe = asked.probe.as_ref().map_or_else(String::new, |probe| format!("@{probe}"));
        let few = one(run, &format!("{}{probe}", page.id))?;
        let Ok(many) = one(run, &format!("{}{probe} contexts={}", page.id, self.contexts)) else {
            return Ok("not measured".into());
        };
        let peaks = |row: &Row<'_>| -> BTreeMap<u64, f64> {
            let known = row.starts.iter().filter(|start| start.peak_rss_bytes > 0);
            known.map(|start| (start.round, start.peak_rss_bytes as f64)).collect()
        };
        let (small, large) = (peaks(few), peaks(many));
        if usable(many).is_err() {
            return Ok("unknown: it does not run so many".into());
        }
        let more = (self.contexts - Experiment::usual().contexts) as f64;
        let each: Vec<f64> =
            large.iter().filter_map(|(round, large)| Some((large - small.get(round)?) / more)).collect();
        let Some(middle) = median(&each) else { return Ok("unknown".into()) };
        let amount = |bytes: f64| like.quantity.amount(bytes);
        Ok(match median_interval(&sorted(&each), CONFIDENCE) {
            Some(of) if of.low <= 0.0 => format!("at most {}", amount(of.high.max(0.0))),
            Some(of) => format!("{} ({} – {})", amount(middle), amount(of.low), amount(of.high)),
            None => format!("{} (no interval)", amount(middle)),
        })
    }
}

/// Prints the rows of a run.
pub fn print(run: &str) -> anyhow::Result<()> {
    let catalogue = catalogue()?;
    for row in Rules::read(&catalogue)?.asked(run, &catalogue)? {
        writeln!(std::io::stdout(), "{row}")?;
    }
    Ok(())
}

/// A kept run of this page.
fn found<'f, 'r>(runs: &'f Runs<'r>, run: &str) -> anyhow::Result<&'f Analysis<'r>> {
    runs.get(format!("runtimes-{run}").as_str()).with_context(|| format!("the run runtimes-{run} is not kept"))
}

/// The one row of a run that a pattern names.
fn one<'l, 'r>(run: &'l Analysis<'r>, pattern: &str) -> anyhow::Result<&'l Row<'r>> {
    let pattern = Pattern::parse(pattern).map_err(anyhow::Error::msg)?;
    let fits = run.rows.iter().filter(|row| pattern.fits(row.variant, &row.label));
    let plain = |row: &&Row<'_>| pattern.said().is_ok_and(|said| said.len() == words(row));
    let found: Vec<&Row<'_>> = fits.filter(plain).collect();
    let [row] = found.as_slice() else {
        bail!("the run has {} rows for `{}`; measure it again: scripts/answers runtimes", found.len(), pattern.text());
    };
    Ok(row)
}

/// Words of a row's label behind its mechanism.
fn words(row: &Row<'_>) -> usize {
    row.label.split_whitespace().count() - 1
}

/// The version that ran, by what the probe said of itself.
fn version(row: &Row<'_>) -> anyhow::Result<String> {
    let hello = row.starts.iter().find_map(|start| start.transcript.hello.as_ref());
    let hello = hello.with_context(|| format!("{} does not say which version ran", row.label))?;
    let said = |text: &str| !text.is_empty() && text != "none" && text.chars().any(|c| c.is_ascii_digit());
    // A probe notes the package that a row takes: `trio 0.35.0`.
    let package =
        |note: &&str| note.split_once(' ').is_some_and(|(_, of)| of.chars().all(|c| c == '.' || c.is_ascii_digit()));
    let notes = row.starts.iter().flat_map(|start| &start.transcript.notes).map(String::as_str).find(package);
    let all = [notes, Some(hello.runtime.as_str()), hello.compiler.as_deref()];
    let known: Vec<&str> = all.into_iter().flatten().filter(|text| said(text)).collect();
    ensure!(!known.is_empty(), "{} does not say which version ran", row.label);
    Ok(known.join(", "))
}

/// Garbage collections within the batches, per million units.
fn collections(row: &Row<'_>) -> String {
    let told = row.starts.iter().filter_map(|start| start.transcript.evidence.as_ref());
    let told: Vec<(u64, u64)> = told.filter_map(|evidence| Some((evidence.gc_cycles?, evidence.units))).collect();
    let (cycles, units) = told.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    match (units, cycles) {
        (0, _) => "unknown".into(),
        (_, 0) => "none".into(),
        _ => format!("{:.2} per million", cycles as f64 * 1e6 / units as f64),
    }
}
