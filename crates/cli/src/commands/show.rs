//! `show`: a stored run.

use super::compare::operands::{Runs, is_pattern};
use crate::arguments;
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::grammar::Pattern;
use switchcost_session::{Exit, Failure, Installation, output, paths};

/// Shows a stored run, or some of its rows.
pub fn show(arguments: &arguments::Show) -> Result<Exit, Failure> {
    if arguments.plot && !arguments.format.is("table") && !arguments.format.is("md") {
        return Err(Failure::usage("--plot is for people: it goes with --format table or md only"));
    }
    let catalogue = Installation::find()?.catalogue()?;
    let mut runs = Runs::new(paths::store(arguments.store.store.as_deref())?, &catalogue);
    let (run, patterns) = match arguments.operands.split_first() {
        Some((first, others)) if !is_pattern(first, &catalogue) => (first.clone(), others),
        _ => {
            let patterns: Vec<&str> = arguments.operands.iter().map(String::as_str).collect();
            (runs.newest_with(&patterns)?, arguments.operands.as_slice())
        }
    };
    let patterns: Vec<Pattern<'_>> =
        patterns.iter().map(|text| catalogue.pattern(text)).collect::<Result<_, _>>().map_err(Failure::usage)?;
    let index = runs.load(&run)?;
    let Some(run) = runs.all.get(index) else { return Err(Failure::internal("the run was not loaded")) };
    let fits = |row: &Row<'_>, pattern: &Pattern<'_>| pattern.fits(row.variant, &row.label);
    let wanted = |row: &Row<'_>| patterns.is_empty() || patterns.iter().any(|pattern| fits(row, pattern));
    // As people may see it, whatever others put into the run.
    let shown = arguments.format.is_for_people().then(|| run.harmless());
    let analysis = Analysis::new(shown.as_ref().unwrap_or(run), &catalogue);
    if let Some(lost) = patterns.iter().find(|pattern| !analysis.rows.iter().any(|row| fits(row, pattern))) {
        let hint = catalogue.did_you_mean(lost.name());
        return Err(Failure::usage(format!("run {} has no row `{}`{hint}", run.id, lost.text())));
    }
    let style = arguments.detail.style();
    let analysis = analysis.only(wanted);
    let mut text = arguments.format.write(&analysis, style).map_err(Failure::internal)?;
    if arguments.plot {
        text += &switchcost_report::ladder_plot(&analysis, style);
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}
