//! `report`: a page of one or several runs.

mod audits;
mod opening;
mod saving;

use super::compare::operands::Runs;
use crate::parallel::on_all_cpus;
use clap::Parser;
use rayon::prelude::*;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::command_line;
use switchcost_model::{Run, harmless_line};
use switchcost_report::{AuditAnswer, Page};
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// Write a page with pictures of runs, for any browser
///
///   switchcost report --open                      the latest run, in a browser
///   switchcost report latest~1 latest mine.jsonl  several runs, or runs of several machines
///   switchcost report latest audit.json           with what `audit --format json` printed
///   switchcost report --save ladder.svg           its first picture, for a README or a slide
///
/// Each picture of the page can be saved as SVG or PNG. The page needs no network.
#[derive(Parser, Debug)]
#[command(name = "report", verbatim_doc_comment)]
pub struct Report {
    /// Runs: an id, the beginning of one, `latest`, `latest~N`, or a file from `export` (*.jsonl);
    /// also answers of `audit --format json` (*.json)
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// Page to write; an older one of that name is replaced [default: switchcost-RUN.html in this
    /// folder]
    #[arg(short, long, value_name = "FILE", value_parser = output::file_parser())]
    pub output: Option<PathBuf>,
    /// Write the first picture instead, as .svg or .png, by an installed browser without a window
    #[arg(long, value_name = "FILE", value_parser = saving::parse_file)]
    pub save: Option<PathBuf>,
    /// With --save: the view, as behind # in the page's address, such as view=curves&theme=dark
    #[arg(long, value_name = "VIEW", requires = "save")]
    pub show: Option<String>,
    /// Keep what says whose the runs are: host name, user names, paths
    #[arg(long)]
    pub private_facts: bool,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// Name and version, as the page tells them.
const TOOL: &str = concat!("switchcost ", env!("CARGO_PKG_VERSION"));

impl Action for Report {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let browser = self.save.as_ref().map(|_| saving::browser()).transpose()?;
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let template = template(&installation)?;
        // Not dropped: the process ends with it, and to take 200 runs apart, cell by cell, is a
        // seventh of the time.
        let mut runs = ManuallyDrop::new(Runs::new(paths::store(self.store.path())?, &catalogue));
        let mut sources = Vec::new();
        let (audits, mut named): (Vec<&String>, Vec<&str>) = (
            self.runs.iter().filter(|text| audits::is_one(text)).collect(),
            self.runs.iter().filter(|text| !audits::is_one(text)).map(String::as_str).collect(),
        );
        if named.is_empty() {
            named.push("latest");
        }
        let audited = audits.iter().map(|text| audits::read(Path::new(text))).collect::<Result<Vec<_>, _>>()?;
        for (text, index) in named.iter().zip(runs.load_all(&named)?) {
            // The same run, named twice, is shown once.
            if index == sources.len() {
                sources.push(source(text));
            }
        }
        if !self.private_facts {
            on_all_cpus(|| runs.all.par_iter_mut().for_each(switchcost_store::strip_personal))?;
        }
        sources.extend(audits.iter().map(|text| source(text)));
        let text = page(&template, &runs.all, &sources, &audited, &catalogue)?;
        if let (Some(browser), Some(file)) = (browser, &self.save) {
            saving::save(&browser, &text, self.show.as_deref().unwrap_or_default(), file)?;
            output::print(&format!("{}\n", harmless_line(&file.display().to_string())))?;
            if self.output.is_none() && !self.open {
                return Ok(Exit::Fine);
            }
        }
        let file = self.output.clone().unwrap_or_else(|| default_name(&runs.all));
        output::write_file(&file, text.as_bytes())?;
        let named = file != Path::new("-");
        if self.open && named {
            opening::open(&file);
        }
        let name = format!("{}\n", harmless_line(&file.display().to_string()));
        if named { output::print(&name).map(|()| Exit::Fine) } else { Ok(Exit::Fine) }
    }
}

/// What `web/` was built into.
fn template(installation: &Installation) -> Result<String, Failure> {
    let path = installation.data("report.html");
    std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(if error.kind() == std::io::ErrorKind::NotFound {
            format!(
                "{} is missing: `make run` does not build the page, and nothing does without Node.js; install nodejs and npm and run `make build`, or use `show`",
                path.display()
            )
        } else {
            format!("{} cannot be read: {}", path.display(), switchcost_machine::cause(&error))
        })
    })
}

fn page(
    template: &str,
    runs: &[Run],
    sources: &[String],
    audits: &[AuditAnswer],
    catalogue: &Catalogue,
) -> Result<String, Failure> {
    let command = command_line(["switchcost", "report"].into_iter().chain(sources.iter().map(String::as_str)));
    let written = on_all_cpus(|| {
        let runs: Vec<Analysis<'_>> = runs.par_iter().map(|run| Analysis::new(run, catalogue)).collect();
        let page = Page { runs: &runs, sources, audits, tool: TOOL, command: &command };
        let text = switchcost_report::html(template, &page, catalogue);
        // As little as the runs: the process ends with them.
        std::mem::forget(runs);
        text
    });
    written?.map_err(|reason| {
        Failure::usage(format!("report.html of this installation is unusable: {reason}; run `make build` again"))
    })
}

fn default_name(runs: &[Run]) -> PathBuf {
    let id = runs.last().map_or("none", |run| run.id.as_str());
    match runs.len() {
        0 | 1 => format!("switchcost-{id}.html").into(),
        many => format!("switchcost-{id}-and-{}-more.html", many - 1).into(),
    }
}

/// How a run was named; of a file only its name, since its folders are nobody's business.
fn source(text: &str) -> String {
    let path = Path::new(text);
    let name = path.file_name().filter(|_| text.contains('/')).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_names_without_folders() {
        assert_eq!(source("/home/somebody/a.jsonl"), "a.jsonl");
        assert_eq!(source("latest~2"), "latest~2");
    }
}
