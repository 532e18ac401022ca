//! `kernels`: columns of kernels, rows of mechanisms.

use crate::answer::{Answered, Column, Row};
use crate::arguments::{Format, Kernels};
use crate::boot::{Boot, Trouble, boot, emulator};
use crate::counts::{Count, believed, count};
use crate::data::Data;
use crate::functions::{Profile, profile};
use crate::image::{Image, images_in};
use crate::passage::{STOP, judged};
use crate::serial::{Said, Start};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_catalogue::Catalogue;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::{Plan, ProbeInfo, Request, Transcript, Variant};
use switchcost_runner::{KnownProbe, discover, select};
use switchcost_session::{Action, Exit, Failure, Installation, Progress, output, paths};

/// Starts of the probe in each boot, batches of each, batches before them, and instructions in a batch. A tick of a kernel with 250 a second comes every
/// 4,000,000 instructions: most batches have none.
const STARTS: u64 = 3;
const BATCHES: u64 = 100;
const WARMUP: u64 = 40;
const BATCH: u64 = 200_000;

/// Of a start that is counted by function, the units for one of the start before it.
const MORE: u64 = 8;

/// Settings that are words of the command line begin so; others are files of the scheduler.
const OF_START: &str = "preempt=";

/// Programs for the virtual machine, beside the static probe: its first process, and the emulator's plugin.
const INIT: &str = "guest-init";
const PLUGIN: &str = "guest-functions.so";

/// A probe with its files.
struct Guest {
    known: KnownProbe,
    files: Vec<(String, Vec<u8>)>,
}

/// What all columns have.
struct Work<'a> {
    how: &'a Kernels,
    data: Data,
    catalogue: Catalogue,
    guests: Vec<Guest>,
    init: Vec<u8>,
    plugin: PathBuf,
    /// The control first.
    rows: Vec<(Variant, u8)>,
    interrupt: Interrupt,
}

impl Action for Kernels {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        self.all().map_err(|failure| Failure { exit: self.gate.map_or(failure.exit, |_| Exit::Other(STOP)), ..failure })
    }
}

impl Kernels {
    fn all(&self) -> Result<Exit, Failure> {
        let answered = self.from.as_deref().map_or_else(|| self.counted(), kept)?;
        let (outcome, exit) = self.gate.map(|limit| judged(&answered, limit)).unzip();
        output::print(&match self.format {
            Format::Table => answered.answer(outcome).terminal(output::style()),
            Format::Md => answered.mail(outcome),
            Format::Json => answered.json(),
        })?;
        Ok(exit.unwrap_or_else(|| answered.exit()))
    }

    fn counted(&self) -> Result<Answered, Failure> {
        let images = self.images()?;
        let settings: Vec<Option<String>> = std::iter::once(None).chain(self.with.iter().cloned().map(Some)).collect();
        let many = images.len() * self.probe.len().max(1) * settings.len();
        if self.gate.is_some() && many != 2 {
            return Err(Failure::usage(format!(
                "--gate compares two columns, and here are {many}; name two --image, or one and two --probe"
            )));
        }
        let work = self.work()?;
        let failed = |trouble| match trouble {
            Trouble::Interrupted => Failure::partial("stopped before all was counted; nothing is kept"),
            Trouble::Host(why) | Trouble::Kernel(why) => Failure::nothing(why),
        };
        let emulator = emulator(&work.interrupt).map_err(failed)?;
        let mut progress = Progress::drawn();
        progress.set_length(work.rows.len() as u64 * STARTS * self.boots * many as u64);
        progress.announce(|| {
            format!("counting {} rows in {many} columns; a boot takes about half a minute", work.rows.len())
        });
        let mut columns = Vec::new();
        let with_guest = |image| work.guests.iter().map(move |guest| (image, guest));
        let pairs = images.iter().flat_map(with_guest);
        for ((image, guest), setting) in pairs.flat_map(|pair| settings.iter().map(move |setting| (pair, setting))) {
            let probe = (work.guests.len() > 1).then(|| guest.known.info.id.clone());
            let mut column = Column::of(image, setting.clone(), probe);
            match fill(&work, guest, &mut column, &mut progress) {
                // What one kernel does not do costs its column only.
                Err(Trouble::Kernel(why)) => column.missing = Some(why),
                done => done.map_err(failed)?,
            }
            columns.push(column);
        }
        progress.clear();
        Ok(Answered::new(emulator, self.boots, &work.data, columns))
    }

    fn work(&self) -> Result<Work<'_>, Failure> {
        let installation = Installation::find()?;
        let data: Data = switchcost_catalogue::read(&installation.data("kernels.toml")).map_err(Failure::usage)?;
        let mut catalogue = installation.catalogue()?;
        let ready = |probe: &ProbeInfo| probe.folder.join(INIT).exists();
        let staged = installation.probes(&catalogue).into_iter().find(ready).ok_or_else(|| {
            Failure::nothing(
                "no static probe is installed, which alone runs in a bare kernel; `make build` or a package brings it",
            )
        })?;
        let own = |folder: &PathBuf| installation.probe_in(folder);
        let named: Vec<ProbeInfo> = self.probe.iter().map(own).collect::<Result<_, _>>()?;
        let infos = if named.is_empty() { vec![staged.clone()] } else { named };
        catalogue.sources.extend(infos.iter().map(|probe| (probe.id.clone(), probe.source.clone())));
        let interrupt =
            Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
        let known = discover(infos, None, None, Some(&interrupt));
        let guests = known.into_iter().flatten().map(guest).collect::<Result<Vec<_>, _>>()?;
        let first = guests.first().ok_or_else(|| Failure::partial("stopped before anything was counted"))?;
        let rows = self.rows(&data, &catalogue, &first.known)?;
        let init = read(&staged.folder.join(INIT))?;
        Ok(Work { how: self, data, catalogue, guests, init, plugin: staged.folder.join(PLUGIN), rows, interrupt })
    }

    /// The control and what was asked for, at each depth.
    fn rows(&self, data: &Data, catalogue: &Catalogue, probe: &KnownProbe) -> Result<Vec<(Variant, u8)>, Failure> {
        let chosen = |patterns: &[String]| {
            let request =
                Request { patterns: patterns.to_vec(), probes: vec![probe.info.id.clone()], ..Request::default() };
            let selection = select(&request, catalogue, std::slice::from_ref(probe)).map_err(Failure::usage)?;
            let able = |variant: &Variant| probe.describes(&variant.mechanism).is_some();
            Ok::<_, Failure>(selection.variants.into_iter().filter(able).collect::<Vec<_>>())
        };
        let asked = if self.rows.is_empty() { &data.rows } else { &self.rows };
        let control = chosen(std::slice::from_ref(&data.control))?.into_iter().take(1).map(|variant| (variant, 0));
        let mut rows: Vec<(Variant, u8)> = control.collect();
        for variant in chosen(asked)? {
            rows.extend(self.depth.iter().map(|depth| (variant.clone(), *depth)));
        }
        if rows.len() < 2 {
            return Err(Failure::usage(format!(
                "the static probe has no row `{}`; `switchcost list` names rows",
                asked.join(" ")
            )));
        }
        Ok(rows)
    }

    /// The kernels that are named, or those that setup has brought.
    fn images(&self) -> Result<Vec<Image>, Failure> {
        let found = || paths::cache("kernels").as_deref().map(images_in).unwrap_or_default();
        let files = if self.image.is_empty() { found() } else { self.image.clone() };
        if files.is_empty() {
            let cure = "`scripts/setup kernels` brings Debian's, or name one with --image";
            return Err(Failure::nothing(format!("no kernel is here; {cure}")));
        }
        files.iter().map(|file| Image::read(file).map_err(|why| Failure::usage(format!("--image {why}")))).collect()
    }
}

/// What `--format json` has printed.
fn kept(path: &Path) -> Result<Answered, Failure> {
    let unread =
        |why: String| Failure::usage(format!("--from {} {why}; name what --format json has printed", path.display()));
    let text = std::fs::read(path).map_err(|error| unread(format!("cannot be read: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| unread(format!("is none: {error}")))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
}

/// A probe with the files of its folder.
fn guest(known: KnownProbe) -> Result<Guest, Failure> {
    if let Err(why) = &known.answer {
        return Err(Failure::nothing(format!("probe {} does not answer: {why}", known.info.id)));
    }
    let entries = std::fs::read_dir(&known.info.folder).into_iter().flatten().flatten();
    let wanted = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let named = wanted.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let own = named.filter(|(name, _)| !name.starts_with("guest-") && !name.contains('.'));
    let files = own.map(|(name, path)| Ok((name, read(&path)?))).collect::<Result<_, Failure>>()?;
    Ok(Guest { known, files })
}

impl Work<'_> {
    fn plan(&self, row: usize, seed: u64) -> Plan {
        Plan {
            variant: self.rows[row].0.clone(),
            cpus: vec![0],
            batch_units: 0,
            batch_ns: BATCH,
            batches: BATCHES,
            warmup_batches: WARMUP,
            verify_units: 0,
            seed,
            deadline_ms: 0,
        }
    }

    /// A line of the guest's plan.
    fn line(&self, guest: &Guest, tag: usize, row: usize, plan: &Plan) -> String {
        let mut words = switchcost_protocol::run_arguments(plan, 1);
        words.retain(|word| !word.starts_with("report_fd="));
        let program = guest.known.info.command.first().map_or("probe", |program| program.trim_start_matches("./"));
        format!("run {tag} {} /{program} {}\n", self.rows[row].1, words.join(" "))
    }
}

/// The kernel's words and the first lines of the plan for a setting.
fn setting(of: Option<&str>) -> (String, String) {
    match of {
        Some(word) if word.starts_with(OF_START) => (word.to_owned(), String::new()),
        Some("sched_ext") => (String::new(), "sched_ext\n".to_owned()),
        Some(word) => {
            let (file, value) = word.split_once('=').unwrap_or(("features", word));
            (String::new(), format!("sched {file} {value}\n"))
        }
        None => Default::default(),
    }
}

/// Why a machine that came to its end is not the one that was asked for.
fn other(column: &Column, said: &Said) -> Option<String> {
    let fact = |name: &str| said.facts.get(name).map_or("", String::as_str);
    let (release, clock) = (fact("uname").split(' ').next().unwrap_or_default(), fact("clock"));
    if release != column.release {
        return Some(format!("the file says that it is {}, and the machine that it is {release}", column.release));
    }
    if fact("idle") != "yes" {
        return Some("it is still busy a minute after its start".to_owned());
    }
    if clock != "tsc" {
        return Some(format!("its clock is {clock}, which does not count instructions"));
    }
    let setting = column.setting.as_deref()?;
    let value = setting.split_once('=').map_or(setting, |(_, value)| value);
    let now = fact(if setting.starts_with(OF_START) { "preemption" } else { "sched" });
    // A kernel sets what it chose in brackets beside the other choices.
    let chosen = |word: &str| !now.contains('(') && word == value || word == format!("({value})");
    (!now.split_whitespace().any(chosen)).then(|| format!("this kernel has no {setting}"))
}

/// Counts a column.
fn fill(work: &Work<'_>, guest: &Guest, column: &mut Column, progress: &mut Progress) -> Result<(), Trouble> {
    let mut starts: Vec<Vec<Start>> = work.rows.iter().map(|_| Vec::new()).collect();
    for boot in 1..=work.how.boots {
        let planned = (0..work.rows.len()).flat_map(|row| (1..=STARTS).map(move |start| (row, start)));
        let plan = |row, start| work.plan(row, (boot - 1) * STARTS + start);
        let line = |(tag, (row, start))| work.line(guest, tag, row, &plan(row, start));
        let lines: Vec<String> = planned.enumerate().map(line).collect();
        let mut done = 0;
        let said = machine(work, guest, column, boot, &lines.concat(), None, &mut |said| {
            let now = said.starts.iter().filter(|start| start.status.is_some()).count();
            (done..now).for_each(|_| progress.step());
            done = done.max(now);
            let of = lines.len();
            progress.say(|| format!("{} - boot {boot} of {} - start {done} of {of}", column.name(), work.how.boots));
        })?;
        if let Some(why) = other(column, &said) {
            return Err(Trouble::Kernel(why));
        }
        column.facts.clone_from(&said.facts);
        for start in said.starts {
            if let Some(of_row) = starts.get_mut(start.tag / STARTS as usize) {
                of_row.push(start);
            }
        }
    }
    let mut profiles =
        if work.how.functions { profiled(work, guest, column, &starts, progress)? } else { BTreeMap::new() };
    for (row, starts) in starts.iter().enumerate() {
        let (variant, depth) = &work.rows[row];
        let label = switchcost_analysis::label(variant, &work.catalogue, false);
        let label = if *depth == 0 { label } else { format!("{label} depth={depth}") };
        let (depth, count, profile) = (*depth, counted(work, row, starts), profiles.remove(&row));
        column.rows.push(Row { label, depth, count, profile });
    }
    Ok(())
}

/// Boots a kernel and lets it carry out these lines.
fn machine(
    work: &Work<'_>,
    guest: &Guest,
    column: &Column,
    seed: u64,
    lines: &str,
    plugin: Option<&Path>,
    heard: &mut dyn FnMut(&Said),
) -> Result<Said, Trouble> {
    let (words, first) = setting(column.setting.as_deref());
    let plan = first + lines;
    let mut files: Vec<(&str, &[u8])> = vec![("init", &work.init), ("plan", plan.as_bytes())];
    files.extend(guest.files.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
    let (silence, interrupt, image) = (work.how.silence, &work.interrupt, Path::new(&column.image));
    boot(&Boot { image, words: &words, files: &files, seed, plugin, silence, interrupt }, heard)
}

/// What the starts of a row come to.
fn counted(work: &Work<'_>, row: usize, starts: &[Start]) -> Count {
    let (variant, depth) = &work.rows[row];
    let Some(mechanism) = work.catalogue.find(&variant.mechanism) else { return Count::missing("its page is gone") };
    for start in starts {
        if start.status == Some(127) && start.transcript.hello.is_none() {
            return Count::missing("the probe does not start: link it statically");
        }
        if start.depth != Some(usize::from(*depth)) {
            let found = start.depth.map_or("nowhere".to_owned(), |depth| depth.to_string());
            return Count::missing(format!("it ran at depth {found}, not {depth}"));
        }
        if let Err(why) = believed(mechanism, &work.plan(row, 1), &start.transcript, start.status) {
            return Count::missing(why);
        }
    }
    let transcripts: Vec<&Transcript> = starts.iter().map(|start| &start.transcript).collect();
    count(&transcripts)
}

/// The same by function, by row: three more starts in a machine of its own. The first warms up what the kernel keeps; the last does more units than the second.
fn profiled(
    work: &Work<'_>,
    guest: &Guest,
    column: &Column,
    starts: &[Vec<Start>],
    progress: &mut Progress,
) -> Result<BTreeMap<usize, Profile>, Trouble> {
    let mut lines = "symbols\n".to_owned();
    for (row, starts) in starts.iter().enumerate().skip(1) {
        let echo = starts.first().and_then(|start| start.transcript.plan.as_ref());
        for batch_units in echo.iter().flat_map(|echo| [1, 1, MORE].map(|times| echo.batch_units * times)) {
            lines += &work.line(guest, row, row, &Plan { batch_units, ..work.plan(row, 1) });
        }
    }
    let said = machine(work, guest, column, 1, &lines, Some(&work.plugin), &mut |said| {
        progress.say(|| format!("{} by function - {} starts", column.name(), said.starts.len()));
    });
    let said = match said {
        Err(Trouble::Kernel(_)) => return Ok(BTreeMap::new()),
        said => said?,
    };
    let of_rows = said.starts.chunk_by(|a, b| a.tag == b.tag).filter(|starts| starts.len() == 3);
    Ok(of_rows
        .filter_map(|starts| Some((starts[0].tag, profile(&said, &starts[1], &starts[2], &work.data)?)))
        .collect())
}
