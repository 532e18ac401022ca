//! Pages of prose with figures of kept runs put in by name, and the claims that the prose makes.
//!
//! | between double braces | becomes |
//! |---|---|
//! | `RUN ROW` | the row's figure with half of its interval, or the figures and shares of its groups |
//! | `RUN ROW: QUANTITY` | `fastest` batch, `kernel` switches per unit, or the share of switches that `moved` to another CPU or `thread` |
//! | `RUN ROW / ROW` | the ratio as `compare` forms it, with its interval |
//! | `RUN command`, `RUN machine`, `RUN speed` | how, where, and at which CPU speed the run was measured |
//! | `runtimes PART` | a part of docs/runtimes.md, by data/runtimes.toml |
//! | `published NAME` | a figure of data/published.toml |
//! | `NAME` | what a program printed, kept as NAME.txt |

use crate::book::walk;
use crate::cells::{cost, measured};
use crate::places::{catalogue, top};
use crate::runtimes::Rules as Runtimes;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use switchcost_analysis::number::factor;
use switchcost_analysis::{Analysis, Row, Rules, judge_again, usable, within};
use switchcost_catalogue::grammar::command_line;
use switchcost_catalogue::{Catalogue, published};
use switchcost_model::Run;
use switchcost_report::{machine_words, moment, published_figure, reason, slowed_by};

/// Templates of other pages than these.
const OTHERS: [&str; 2] = ["docs/mechanism.md", "docs/mechanisms.md"];

/// The runs and printed texts in a folder, by the names of their files.
pub struct Kept {
    runs: BTreeMap<String, Run>,
    texts: BTreeMap<String, String>,
    catalogue: Catalogue,
    runtimes: Runtimes,
}

/// The same with its runs analysed.
pub struct Figures<'a> {
    runs: BTreeMap<&'a str, Analysis<'a>>,
    kept: &'a Kept,
}

impl Kept {
    /// Reads a folder.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let catalogue = catalogue()?;
        let runtimes = Runtimes::read(&catalogue)?;
        let (mut runs, mut texts) = (BTreeMap::new(), BTreeMap::new());
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let unread = || format!("cannot read {}", path.display());
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("txt") => drop(texts.insert(name, fs::read_to_string(&path).with_context(unread)?)),
                Some("jsonl") => {
                    let mut file = BufReader::new(File::open(&path).with_context(unread)?);
                    let mut run = switchcost_store::import_jsonl(&mut file).with_context(unread)?.run;
                    judge_again(&mut run, &catalogue.mechanisms);
                    run.make_harmless();
                    runs.insert(name, run);
                }
                _ => {}
            }
        }
        Ok(Self { runs, texts, catalogue, runtimes })
    }

    /// Changes a run, which is then judged again.
    #[cfg(test)]
    pub fn change(&mut self, name: &str, change: impl Fn(&mut Run)) {
        let run = self.runs.get_mut(name).unwrap();
        change(run);
        judge_again(run, &self.catalogue.mechanisms);
    }

    /// Its runs, analysed.
    pub fn figures(&self) -> Figures<'_> {
        let runs = self.runs.iter().map(|(name, run)| (name.as_str(), Analysis::new(run, &self.catalogue)));
        Figures { runs: runs.collect(), kept: self }
    }
}

/// Every page that is filled from `PAGE.in`, by its path.
pub fn filled(kept: &Kept) -> anyhow::Result<Vec<(String, String)>> {
    let (figures, mut files) = (kept.figures(), Vec::new());
    walk(&top().join("docs"), &mut files)?;
    let paths = files.iter().filter_map(|file| file.strip_prefix(top()).ok()?.to_str()?.strip_suffix(".in"));
    let page = |path: &str| Ok((path.to_owned(), figures.fill(&source(path)?).with_context(|| format!("{path}.in"))?));
    paths.filter(|path| !OTHERS.contains(path)).map(page).collect()
}

/// The text of a page before it is filled.
pub fn source(page: &str) -> anyhow::Result<String> {
    fs::read_to_string(top().join(format!("{page}.in"))).with_context(|| format!("cannot read {page}.in"))
}

impl<'a> Figures<'a> {
    fn fill(&self, page: &str) -> anyhow::Result<String> {
        let (mut text, mut rest) = (String::new(), page);
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").context("a `{{` has no `}}`")?;
            text += before;
            text += &self.named(name).with_context(|| format!("{{{{{name}}}}} means nothing"))?;
            rest = after;
        }
        Ok(text + rest)
    }

    fn named(&self, name: &str) -> anyhow::Result<String> {
        let Some((run, what)) = name.split_once(' ') else {
            return Ok(self
                .kept
                .texts
                .get(name)
                .with_context(|| format!("{name}.txt is not kept"))?
                .trim_end()
                .to_owned());
        };
        if run == "runtimes" {
            return self.part_of_runtimes(what);
        }
        if run == "published" {
            let value = published().into_iter().find(|value| value.name == what);
            let value = value.with_context(|| format!("nothing is published as {what}"))?;
            return Ok(format!("{} {}", published_figure(&value), value.unit));
        }
        let analysis = self.run(run)?;
        let measured_on = &analysis.run.machine;
        Ok(match (what, what.split_once(" / "), what.split_once(": ")) {
            ("command", ..) => command(analysis.run),
            ("machine", ..) => format!("{}, {}", machine_words(measured_on), moment(analysis.run.started_unix_ns)),
            ("speed", ..) => slowed_by(analysis).unwrap_or_else(|| "no slower than at its best".into()),
            (_, Some((above, below)), _) => ratio(analysis, row(analysis, above)?, row(analysis, below)?)?,
            (_, None, Some((label, quantity))) => measured(row(analysis, label)?, quantity)?,
            _ => cost(row(analysis, what)?),
        })
    }

    /// A part of docs/runtimes.md.
    pub fn part_of_runtimes(&self, part: &str) -> anyhow::Result<String> {
        self.kept.runtimes.part(part, &self.runs, &self.kept.catalogue)
    }

    /// A run by its name.
    pub fn run(&self, name: &str) -> anyhow::Result<&Analysis<'a>> {
        self.runs.get(name).with_context(|| format!("the run {name} is not kept"))
    }
}

/// A row by its label.
pub fn row<'l, 'r>(analysis: &'l Analysis<'r>, label: &str) -> anyhow::Result<&'l Row<'r>> {
    analysis.ladder().find(|row| row.label == label).with_context(|| format!("the run has no row `{label}`"))
}

/// A row with groups has no ratio: it would follow their shares.
fn ratio(analysis: &Analysis<'_>, above: &Row<'_>, below: &Row<'_>) -> anyhow::Result<String> {
    if [above, below].iter().any(|row| row.summary.modes_phrase().is_some()) {
        return Ok("groups".into());
    }
    [above, below].into_iter().try_for_each(|row| usable(row)).map_err(anyhow::Error::msg)?;
    let rules = Rules { threshold: switchcost_analysis::THRESHOLD, comparisons: 1 };
    let compared = within(below, above, &analysis.noise, &rules).map_err(|why| anyhow::anyhow!(reason(&why)))?;
    let (low, high) = compared.interval.with_context(|| compared.why.as_ref().map(reason).unwrap_or_default())?;
    Ok(format!("{} ({} – {})", factor(compared.ratio), factor(low), factor(high)))
}

/// As somebody else would type it: where the run was kept is left out.
fn command(run: &Run) -> String {
    let (words, _) = run.command_and_store();
    command_line(["switchcost"].into_iter().chain(words.into_iter().skip(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::KEPT;

    /// Else each reader of a kept run first reads of verdicts that changed. `switchcost import`,
    /// then `export`, writes today's.
    #[test]
    fn kept_runs_have_the_verdicts_of_today() {
        let catalogue = catalogue().unwrap();
        for entry in fs::read_dir(top().join(KEPT)).unwrap().flatten().map(|entry| entry.path()) {
            if entry.extension().is_some_and(|extension| extension == "jsonl") {
                let mut run =
                    switchcost_store::import_jsonl(&mut BufReader::new(File::open(&entry).unwrap())).unwrap().run;
                assert_eq!(judge_again(&mut run, &catalogue.mechanisms), [], "{}", entry.display());
            }
        }
    }

    #[test]
    fn a_name_is_replaced_and_one_that_means_nothing_is_an_error() {
        let kept = Kept::read(&top().join(KEPT)).unwrap();
        let figures = kept.figures();
        let filled = figures.fill("A {{condvar thread/condvar: kernel}}, {{published writeup-0-fiber-4}}.").unwrap();
        assert_eq!(filled, "A 2.04, 105 cycles per switch.");
        assert!(figures.fill("{{condvar thread/condvar / thread/futex}}").unwrap().starts_with("2."));
        assert_eq!(figures.fill("{{condvar thread/futex two_cpus / thread/futex}}").unwrap(), "groups");
        assert!(figures.fill("{{longjmp}}").unwrap().contains("| aborts: "));
        for name in [
            "condvar thread/nowhere",
            "nowhere thread/condvar",
            "condvar thread/condvar: weight",
            "condvar thread/condvar / thread/nowhere",
            "published nowhere",
            "nowhere",
            "never ends",
        ] {
            let text = if name == "never ends" { "{{never ends".into() } else { format!("{{{{{name}}}}}") };
            let error = format!("{:#}", figures.fill(&text).unwrap_err());
            assert!(error.contains(name) || error.contains("no `}}`"), "{error}");
        }
    }
}
