//! `import`: run files of others.

use clap::Parser;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_model::number::counted;
use switchcost_session::arguments::StoreOption;
use switchcost_session::{Action, Exit, Failure, Installation, output, say_future};
use switchcost_store::{Imported, Insertion};

/// Import run files made by `export`
///
/// Name such a run by its id: it is never `latest`.
#[derive(Parser, Debug)]
#[command(name = "import")]
pub struct Import {
    /// Run files; - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Import {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        // All files are read before the first is stored: one bad file leaves the store as it was.
        let mut runs = Vec::new();
        for path in &self.files {
            let named = |reason: &dyn std::fmt::Display| Failure::usage(format!("{}: {reason}", path.display()));
            let mut reader: Box<dyn BufRead> = if path == Path::new("-") {
                Box::new(std::io::stdin().lock())
            } else {
                Box::new(switchcost_session::named(path)?)
            };
            let Imported { run, left_out } =
                switchcost_store::import_jsonl(&mut reader).map_err(|error| named(&error))?;
            switchcost_session::say_left_out(&path.display().to_string(), &run, &left_out);
            runs.push(run);
        }
        let catalogue = Installation::find()?.catalogue()?;
        let mut store = switchcost_session::open_store(self.store.path())?;
        // The store keeps the order in which it gets them.
        runs.sort_by_key(|run| run.started_unix_ns);
        say_future(runs.iter().map(|run| (run.id.as_str(), run.started_unix_ns)));
        for mut run in runs {
            let changed = switchcost_session::judged_here(&mut run, &catalogue);
            let outcome = match store.insert_run(&run).map_err(Failure::usage)? {
                Insertion::Inserted => "imported",
                Insertion::AlreadyThere => "already there",
            };
            let machine = switchcost_report::machine_words(&run.machine);
            let (rows, starts) = (counted(run.variants.len(), "row"), counted(run.invocations.len(), "process run"));
            output::print(&format!("{}: {outcome}, {rows} by {starts} on {machine}\n", run.id))?;
            for line in changed {
                output::print(&format!("{line}\n"))?;
            }
        }
        Ok(Exit::Fine)
    }
}
