//! `import`: run files of others.

use clap::Parser;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_model::Run;
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

/// Runs that are kept between reading all files and storing the first: beyond as many bytes of
/// files they are read twice, so that memory does not grow with the number of files.
const KEPT_BYTES: u64 = 16 << 20;

/// A file that was read to its end, and is right.
struct Checked<'a> {
    path: &'a Path,
    id: String,
    started_unix_ns: i64,
    /// None: it is read again.
    run: Option<Run>,
}

/// One run file; - is standard input.
fn read(path: &Path) -> Result<Imported, Failure> {
    let mut reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(switchcost_session::named(path)?)
    };
    switchcost_store::import_jsonl(&mut reader).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

impl Action for Import {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        // All files are read before the first is stored: one bad file leaves the store as it was.
        let (mut files, mut bytes) = (Vec::new(), 0);
        for path in &self.files {
            let Imported { run, left_out } = read(path)?;
            switchcost_session::say_left_out(&path.display().to_string(), &run, &left_out);
            bytes += path.metadata().map_or(0, |file| file.len());
            let (id, started_unix_ns) = (run.id.clone(), run.started_unix_ns);
            let kept = bytes <= KEPT_BYTES || !path.is_file();
            files.push(Checked { path, id, started_unix_ns, run: kept.then_some(run) });
        }
        let catalogue = Installation::find()?.catalogue()?;
        let mut store = switchcost_session::open_store(self.store.path())?;
        // The store keeps the order in which it gets them.
        files.sort_by_key(|file| file.started_unix_ns);
        say_future(files.iter().map(|file| (file.id.as_str(), file.started_unix_ns)));
        for file in files {
            let mut run = match file.run {
                Some(run) => run,
                None => read(file.path)?.run,
            };
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
