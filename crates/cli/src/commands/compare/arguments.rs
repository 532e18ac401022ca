//! What `compare` is asked.

use crate::arguments::{parse_contexts, parse_precision};
use clap::{ArgGroup, Args, Parser};
use std::path::{Path, PathBuf};
use std::time::Duration;
use switchcost_analysis::{At, Most};
use switchcost_catalogue::grammar;
use switchcost_session::Failure;
use switchcost_session::arguments::{Measuring, StoreOption, parse_budget, parse_difference};
use switchcost_session::defaults::is_default;
use switchcost_session::output::writable_file;

/// A form of a comparison, and where it goes.
#[derive(Debug, Clone)]
pub struct Output {
    form: &'static str,
    /// None: standard output.
    file: Option<PathBuf>,
}

/// For people at a terminal, as Markdown, for scripts, for CI systems.
const FORMS: [&str; 4] = ["table", "md", "json", "junit"];

fn parse_output(text: &str) -> Result<Output, String> {
    let (form, file) = text.split_once('=').map_or((text, None), |(form, file)| (form, Some(PathBuf::from(file))));
    let form = FORMS.into_iter().find(|known| *known == form);
    let form = form.ok_or_else(|| format!("it is one of {}, or such a word, = and a file", FORMS.join(", ")))?;
    Ok(Output { form, file: file.map(writable_file).transpose()? })
}

/// Is B slower than A, by how much, and can that be trusted?
///
/// Of mechanisms by name it compares the cost of a switch, of making one, and the memory of one.
/// Figures come from stored runs; anything missing is measured now. The first is the reference, and
/// so it is of rows of a run, whole runs, files and published figures. The verdict is `slower` or
/// `faster` if the interval of the ratio excludes 1 and the difference exceeds noise floor and
/// threshold; `same within x %` if the whole interval lies within that; else `inconclusive`.
///
/// switchcost compare goroutine thread which is cheaper here, and by how much switchcost compare
/// goroutine thread coroutine --contexts 10k --rate 200k/s which fits switchcost compare
/// thread/pipe 'thread/*' one against all that match switchcost compare latest~1 latest --gate 5%
/// all common rows of two runs, for CI switchcost compare baseline:v1 latest --gate 5% against a
/// named run (`baseline set v1`) switchcost compare --measure thread/pipe 'thread/pipe free'
/// measured now and judged switchcost compare --measure 'thread/*' --probe old/gcc-12 --probe
/// new/gcc-12 two builds switchcost compare --git main..HEAD --build 'make probe' --probe
/// build/probe 'stack/*' --gate 5% switchcost compare a.jsonl:thread/pipe thread/pipe
/// published:bendersky-pinned
#[derive(Parser, Debug)]
#[command(name = "compare", verbatim_doc_comment, group(ArgGroup::new("measured").args(["measure", "git"]).multiple(true)))]
pub struct Compare {
    /// Mechanisms, or the reference and what is compared with it: a row, RUN:ROW, RUN, file or
    /// published:NAME
    ///
    /// Names of mechanisms; or A, the reference, then what is compared with it: RUN:LABEL; a label
    /// or pattern of the newest run that has them all; a RUN or a file by `export` (*.jsonl) or
    /// baseline:NAME, for all rows that both have; published:NAME, shown and never judged. With
    /// --probe: what both builds measure
    #[arg(value_name = "OPERAND", required = true)]
    pub operands: Vec<String>,
    /// Of names: contexts alive at once, such as 10k
    #[arg(long, value_name = "N", value_parser = parse_contexts)]
    pub contexts: Option<u64>,
    /// Of names: share of a CPU at this rate, as 200k/s
    ///
    /// What so many switches per second take of a CPU.
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// With --rate: the largest share that fits
    #[arg(long, value_name = "PERCENT", default_value = "10%", requires = "rate", value_parser = parse_precision)]
    pub cpu: f64,
    /// Smallest difference that matters [default: 3%]
    ///
    /// By default that of --gate, if it is smaller than 3%.
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub threshold: Option<f64>,
    /// End with 1 if a row is slower by more than this, 0 if all intervals exclude that, else 7
    #[arg(long, value_name = "PERCENT", value_parser = parse_difference)]
    pub gate: Option<f64>,
    /// With --gate: most of a count that a unit of B may have
    ///
    /// Counts are system_calls and instructions of rows that are counted, and kernel_switches of
    /// any.
    #[arg(long, value_name = "COUNT=N,...", value_delimiter = ',', requires = "gate", value_parser = parse_most)]
    pub most: Vec<Most>,
    /// Compare percentiles such as p99 or p50,p99,p99.9
    ///
    /// Of rows measured with --timing each, or of wake-ups; several are a table each.
    #[arg(long, value_name = "P,...", value_delimiter = ',', default_value = "median", hide_default_value = true)]
    pub at: Vec<At>,
    /// Compare even if a run was unstable
    ///
    /// Or if the method, the hardware or its observers differ.
    #[arg(long)]
    pub force: bool,
    /// Measuring now
    #[command(flatten)]
    pub measure: Measure,
    /// table, md, json or junit, or FORM=FILE [default: table]
    ///
    /// FORM=FILE writes it to a file. May be repeated.
    #[arg(long, value_name = "FORM", value_parser = parse_output)]
    pub format: Vec<Output>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Compare {
    /// No file is written twice.
    ///
    /// # Errors
    /// The file that is named twice.
    pub fn check_outputs(&self) -> Result<(), Failure> {
        let files: Vec<&PathBuf> = self.format.iter().filter_map(|output| output.file.as_ref()).collect();
        let one = self.format.iter().find(|output| self.at.len() > 1 && matches!(output.form, "json" | "junit"));
        if let Some(output) = one {
            return Err(Failure::usage(format!("--format: {} is of one percentile; name one by --at", output.form)));
        }
        let twice = files.iter().enumerate().find(|(place, file)| files[..*place].contains(file));
        twice.map_or(Ok(()), |(_, file)| {
            Err(Failure::usage(format!(
                "--format: {} is named twice; give each form a file of its own",
                file.display()
            )))
        })
    }

    /// The forms asked for. Where all go to files, people still see the table.
    pub fn outputs(&self) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        let shown = self.format.iter().any(|output| output.file.is_none());
        let usual = (!shown).then_some(("table", None));
        self.format.iter().map(|output| (output.form, output.file.as_deref())).chain(usual)
    }
}

/// How `compare` measures.
#[derive(Args, Debug)]
pub struct Measure {
    /// Measure the operands now, in one run
    ///
    /// They are mechanisms with further words, such as 'thread/pipe free' or 'stack/fcontext
    /// fpu_state=differ', measured side by side and judged. The same one twice is an A/A test
    #[arg(long)]
    pub measure: bool,
    /// Folder of a probe; given twice: two builds, A and B
    ///
    /// The folder has a probe.toml. The first is A's build and the second B's, and the operands are
    /// what both measure. Their rows are called after the probe's id with .a and .b
    #[arg(long, value_name = "FOLDER", requires = "measured")]
    pub probe: Vec<PathBuf>,
    /// Measure two revisions, such as main..HEAD, in turns
    ///
    /// Each is checked out in the user's cache, built by --build and removed; --probe is then the
    /// probe's folder within.
    #[arg(long, value_name = "A..B", requires = "probe")]
    pub git: Option<String>,
    /// With --git: shell command that builds the probe of each
    #[arg(long, value_name = "COMMAND", requires = "git")]
    pub build: Option<String>,
    /// With --git: keep both folders
    #[arg(long, requires = "git")]
    pub keep: bool,
    /// Rounds: starts of each side [default: 20]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(6..=100_000))]
    pub rounds: Option<u64>,
    /// Time limit for measuring [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// How each command measures
    #[command(flatten)]
    pub how: Measuring,
}

impl Measure {
    /// An option that only measuring obeys.
    pub fn given(&self) -> Option<&'static str> {
        let Measuring { seed, resume, wait } = &self.how;
        let given = [
            ("--rounds", self.rounds.is_some()),
            ("--budget", self.budget.is_some() && !is_default("budget")),
            ("--seed", seed.is_some()),
            ("--resume", *resume),
            ("--wait", *wait),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

fn parse_most(text: &str) -> Result<Most, String> {
    let most = text.split_once('=').and_then(|(count, limit)| {
        let limit = limit.parse().ok().filter(|limit| (0.0..=1e12).contains(limit))?;
        Some(Most { count: count.to_owned(), limit })
    });
    most.ok_or_else(|| "it is a count and the most of it per unit, such as system_calls=0".to_owned())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = grammar::scaled(text.strip_suffix("/s").unwrap_or(text), 1000.0);
    rate.filter(|rate| (0.001..=1e10).contains(rate))
        .ok_or_else(|| "it is a number of switches per second, such as 500/s, 200k/s or 1.5M/s".into())
}

#[cfg(test)]
mod tests {
    use super::{parse_output, parse_rate};

    #[test]
    fn numbers_with_units() {
        assert_eq!(["500/s", "200k/s", "1.5M"].map(parse_rate), [Ok(500.0), Ok(200_000.0), Ok(1_500_000.0)]);
        for wrong in ["", "k", "-1", "nan", "inf", "1e99", "1,5", "0"] {
            assert!(parse_rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_form_may_go_to_a_file() {
        let parsed = ["json", "md=a=b.md"].map(|text| parse_output(text).map(|output| (output.form, output.file)));
        assert_eq!(parsed, [Ok(("json", None)), Ok(("md", Some("a=b.md".into())))]);
        assert!(parse_output("csv").is_err() && parse_output("a.md").is_err());
    }
}
