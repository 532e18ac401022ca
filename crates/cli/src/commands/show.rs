//! `show`: a stored run.

use super::compare::operands::{Runs, is_pattern};
use crate::arguments::DetailOptions;
use crate::formats::Form;
use clap::Parser;
use std::path::Path;
use std::time::Instant;
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::grammar::{Pattern, did_you_mean};
use switchcost_report::legend;
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// Show a stored run, or some of its rows
#[derive(Parser, Debug)]
#[command(name = "show")]
pub struct Show {
    /// Run id, the beginning of one, `latest`, `latest~N` for the Nth before it, or a run file;
    /// then, or instead, mechanisms whose rows are shown only: thread, goroutine, 'stack/*'.
    /// Without a run the newest that has them is shown
    #[arg(value_name = "RUN|PATTERN")]
    pub operands: Vec<String>,
    /// What the columns and words mean
    #[arg(long, exclusive = true)]
    pub legend: bool,
    /// Verbosity
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Show {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        if self.legend {
            output::print(&legend(output::style()))?;
            return Ok(Exit::Fine);
        }
        let catalogue = Installation::find()?.catalogue()?;
        // A path to something else than a file names neither a run nor rows.
        let path =
            |text: &&String| text.starts_with(['/', '.']) && Path::new(text).exists() && !Path::new(text).is_file();
        if let Some(path) = self.operands.iter().find(path) {
            switchcost_session::named(Path::new(path))?;
        }
        let mut runs = Runs::new(paths::store(self.store.path())?, &catalogue);
        let (run, patterns) = match self.operands.split_first() {
            Some((first, others)) if !is_pattern(first, &catalogue) => (first.clone(), others),
            _ => {
                let patterns: Vec<&str> = self.operands.iter().map(String::as_str).collect();
                (runs.newest_with(&patterns, false)?, self.operands.as_slice())
            }
        };
        let patterns: Vec<Pattern<'_>> =
            patterns.iter().map(|text| catalogue.pattern(text)).collect::<Result<_, _>>().map_err(Failure::usage)?;
        let index = runs.load(&run)?;
        let Some(run) = runs.all.get(index) else { return Err(Failure::internal("the run was not loaded")) };
        let fits = |row: &Row<'_>, pattern: &Pattern<'_>| pattern.fits(row.variant, &row.label);
        let wanted = |row: &Row<'_>| patterns.is_empty() || patterns.iter().any(|pattern| fits(row, pattern));
        // As people may see it, whatever others put into the run.
        let shown = run.harmless();
        let analysis = Analysis::new(&shown, &catalogue);
        if let Some(lost) = patterns.iter().find(|pattern| !analysis.rows.iter().any(|row| fits(row, pattern))) {
            let here = did_you_mean(lost.name(), analysis.rows.iter().map(|row| row.variant.mechanism.as_str()));
            let text = format!("run {} has no row `{}`{here}; `switchcost show {0}` shows all", run.id, lost.text());
            return Err(Failure::usage(text));
        }
        let text = Form::table().write(&analysis.only(wanted), self.detail.style()).map_err(Failure::internal)?;
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}
