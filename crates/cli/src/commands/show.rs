//! `show`: a stored run.

use super::compare::operands::{Runs, is_pattern};
use crate::arguments::DetailOptions;
use crate::formats::Form;
use clap::Parser;
use std::time::Instant;
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::grammar::Pattern;
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// Show a stored run
#[derive(Parser, Debug)]
#[command(name = "show")]
pub struct Show {
    /// Run id, the beginning of one, `latest`, or `latest~N` for the Nth before it; then, or instead, mechanisms whose rows
    /// are shown only: thread, goroutine, 'stack/*'. Without a run the newest that has them is shown
    #[arg(value_name = "RUN|PATTERN")]
    pub operands: Vec<String>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table", value_parser = Form::parser())]
    pub format: Form,
    /// Draw the rows as bars on a logarithmic scale below the table
    #[arg(long)]
    pub plot: bool,
    /// How much is told
    #[command(flatten)]
    pub detail: DetailOptions,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Show {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        if self.plot && !self.format.is("table") && !self.format.is("md") {
            return Err(Failure::usage("--plot is for people: it goes with --format table or md only"));
        }
        let catalogue = Installation::find()?.catalogue()?;
        let mut runs = Runs::new(paths::store(self.store.store.as_deref())?, &catalogue);
        let (run, patterns) = match self.operands.split_first() {
            Some((first, others)) if !is_pattern(first, &catalogue) => (first.clone(), others),
            _ => {
                let patterns: Vec<&str> = self.operands.iter().map(String::as_str).collect();
                (runs.newest_with(&patterns)?, self.operands.as_slice())
            }
        };
        let patterns: Vec<Pattern<'_>> =
            patterns.iter().map(|text| catalogue.pattern(text)).collect::<Result<_, _>>().map_err(Failure::usage)?;
        let index = runs.load(&run)?;
        let Some(run) = runs.all.get(index) else { return Err(Failure::internal("the run was not loaded")) };
        let fits = |row: &Row<'_>, pattern: &Pattern<'_>| pattern.fits(row.variant, &row.label);
        let wanted = |row: &Row<'_>| patterns.is_empty() || patterns.iter().any(|pattern| fits(row, pattern));
        // As people may see it, whatever others put into the run.
        let shown = self.format.is_for_people().then(|| run.harmless());
        let analysis = Analysis::new(shown.as_ref().unwrap_or(run), &catalogue);
        if let Some(lost) = patterns.iter().find(|pattern| !analysis.rows.iter().any(|row| fits(row, pattern))) {
            let hint = catalogue.did_you_mean(lost.name());
            return Err(Failure::usage(format!("run {} has no row `{}`{hint}", run.id, lost.text())));
        }
        let style = self.detail.style();
        let analysis = analysis.only(wanted);
        let mut text = self.format.write(&analysis, style).map_err(Failure::internal)?;
        if self.plot {
            text += &switchcost_report::ladder_plot(&analysis, style);
        }
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}
