//! `kernels`: columns of kernels, rows of mechanisms.

use crate::answer::{Answered, Column, Row};
use crate::arguments::Kernels;
use crate::boot::{Guest, Work};
use crate::counts::{Count, count};
use crate::functions::{Data, profile};
use crate::image::{Image, images_in};
use crate::passage::{STOP, judged};
use crate::serial::Start;
use std::path::Path;
use std::time::Instant;
use switchcost_catalogue::Catalogue;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::{Plan, ProbeInfo, Request, Variant};
use switchcost_report::{Style, text};
use switchcost_runner::{KnownProbe, discover, select};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{Action, Exit, Failure, Installation, Progress, named, output, paths};

/// Starts of the probe in each boot.
const STARTS: u64 = 3;

/// Of a start that is counted by function, the units for one of the start before it.
const MORE: u64 = 8;

/// The first process of a virtual machine, beside the static probe and the emulator's plugin.
const INIT: &str = "guest-init";

/// Columns of a line that survives a plain-text mail.
const MAIL: u16 = 76;

impl Action for Kernels {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let answered = self.from.as_deref().map_or_else(|| self.counted(), kept);
        let stop =
            |failure: Failure| Failure { exit: self.gate.map_or(failure.exit, |_| Exit::Other(STOP)), ..failure };
        let answered = answered.map_err(stop)?;
        let (outcome, exit) = self.gate.map(|limit| judged(&answered, limit)).unzip();
        let style = output::style();
        let mail = Style { ascii: true, width: style.width.map(|width| width.min(MAIL)), ..style };
        output::print(&match self.format {
            ListFormat::Table => answered.answer(outcome).terminal(mail),
            ListFormat::Json => text::json(&answered),
        })?;
        Ok(exit.unwrap_or_else(|| answered.exit()))
    }
}

impl Kernels {
    fn counted(&self) -> Result<Answered, Failure> {
        let images = self.images()?;
        let (work, guests) = self.work()?;
        let mut columns = Vec::new();
        for (image, guest) in images.iter().flat_map(|image| guests.iter().map(move |guest| (image, guest))) {
            for setting in std::iter::once(None).chain(self.with.iter().cloned().map(Some)) {
                let probe = (guests.len() > 1).then(|| guest.0.id.clone());
                let (release, image) = (image.release.clone(), image.path.display().to_string());
                columns.push((guest, Column { release, image, setting, probe, ..Column::default() }));
            }
        }
        let many = columns.len();
        if self.gate.is_some() && many != 2 {
            let cure = "name two --image, or one and two --probe";
            return Err(Failure::usage(format!("--gate compares two columns, and here are {many}; {cure}")));
        }
        let emulator = work.started(vec!["--version".to_owned()], &mut |_| {})?.0.first;
        if !emulator.starts_with("QEMU") {
            return Err(Failure::nothing(format!("the emulator says `{emulator}`; install Debian's qemu-system-x86")));
        }
        let mut progress = Progress::drawn();
        progress.set_length(many as u64 * self.boots);
        progress
            .announce(|| format!("counting {} rows in {many} columns; a boot takes half a minute", work.rows.len()));
        for (guest, column) in &mut columns {
            // What one kernel does not do costs its column only.
            column.missing = work.fill(guest, column, &mut progress)?;
        }
        progress.clear();
        Ok(Answered::new(emulator, self.boots, &work.data, &images, columns.into_iter().map(|pair| pair.1).collect()))
    }

    fn work(&self) -> Result<(Work<'_>, Vec<Guest>), Failure> {
        let installation = Installation::find()?;
        let data: Data = switchcost_catalogue::read(&installation.data("kernels.toml")).map_err(Failure::usage)?;
        let mut catalogue = installation.catalogue()?;
        let ready = |probe: &ProbeInfo| probe.folder.join(INIT).exists();
        let none = "no static probe is installed; `make build` or a package brings it";
        let staged = installation.probes(&catalogue).into_iter().find(ready).ok_or_else(|| Failure::nothing(none))?;
        let (init, plugin) = (read(&staged.folder.join(INIT))?, staged.folder.join("guest-functions.so"));
        let named = self.probe.iter().map(|folder| installation.probe_in(folder)).collect::<Result<Vec<_>, _>>()?;
        let infos = if named.is_empty() { vec![staged] } else { named };
        catalogue.sources.extend(infos.iter().map(|probe| (probe.id.clone(), probe.source.clone())));
        let known = discover(infos, None, None, None).unwrap_or_default();
        let guests = known.iter().map(|probe| guest(probe, init.clone())).collect::<Result<_, _>>()?;
        let rows = self.rows(&data, &catalogue, &known[0])?;
        let interrupt = Interrupt::on_request().map_err(|error| Failure::refused("no signal is heard", error))?;
        Ok((Work { how: self, data, catalogue, rows, plugin, interrupt }, guests))
    }

    /// The control and what was asked for, at each depth.
    fn rows(&self, data: &Data, catalogue: &Catalogue, probe: &KnownProbe) -> Result<Vec<(Variant, u8)>, Failure> {
        let asked = if self.rows.is_empty() { &data.rows } else { &self.rows };
        let patterns = [std::slice::from_ref(&data.control), asked].concat();
        let request = Request { patterns, probes: vec![probe.info.id.clone()], ..Request::default() };
        let mut found = select(&request, catalogue, std::slice::from_ref(probe)).map_err(Failure::usage)?.variants;
        found.retain(|variant| probe.describes(&variant.mechanism).is_some());
        let is_control = |variant: &Variant| variant.mechanism.as_str() == data.control;
        found.sort_by_key(|variant| !is_control(variant));
        let depths = |variant: Variant| {
            let depths = if is_control(&variant) { vec![0] } else { self.depth.clone() };
            depths.into_iter().map(move |depth| (variant.clone(), depth))
        };
        let rows: Vec<_> = found.into_iter().flat_map(depths).collect();
        let none = || format!("the static probe has no row `{}`; `switchcost list` names rows", asked.join(" "));
        if rows.len() < 2 { Err(Failure::usage(none())) } else { Ok(rows) }
    }

    /// The kernels that are named, or those that setup has brought.
    fn images(&self) -> Result<Vec<Image>, Failure> {
        let found = || paths::cache("kernels").as_deref().map(images_in).unwrap_or_default();
        let files = if self.image.is_empty() { found() } else { self.image.clone() };
        if files.is_empty() {
            let none = "no kernel is here; `scripts/setup kernels` brings Debian's, or name one with --image";
            return Err(Failure::nothing(none));
        }
        files.iter().map(|file| Image::read(file).map_err(|why| Failure::usage(format!("--image {why}")))).collect()
    }
}

/// What `--format json` has printed.
fn kept(path: &Path) -> Result<Answered, Failure> {
    let unread = |why| format!("--from {}: {why}; name what --format json has printed", path.display());
    serde_json::from_reader(named(path)?).map_err(|error| Failure::usage(unread(error)))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
}

/// A probe with the first process and the files of its folder.
fn guest(probe: &KnownProbe, init: Vec<u8>) -> Result<Guest, Failure> {
    let silent = |why| Failure::nothing(format!("probe {} does not answer: {why}", probe.info.id));
    probe.answer.as_ref().map_err(silent)?;
    let mut files = vec![("init".to_owned(), init)];
    for entry in std::fs::read_dir(&probe.info.folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        if path.is_file() && !name.starts_with("guest-") {
            files.push((name, read(&path)?));
        }
    }
    Ok((probe.info.clone(), files))
}

impl Work<'_> {
    /// A batch has so many ns, which are instructions. A tick of a kernel with 250 a second comes
    /// every 4,000,000: most batches have none.
    fn plan(&self, row: usize, seed: u64) -> Plan {
        Plan {
            variant: self.rows[row].0.clone(),
            cpus: vec![0],
            batch_units: 0,
            batch_ns: 200_000,
            batches: 100,
            warmup_batches: 40,
            verify_units: 0,
            seed,
            deadline_ms: 0,
        }
    }

    /// A line of the guest's plan.
    fn line(&self, guest: &Guest, row: usize, plan: &Plan) -> String {
        let mut words = switchcost_protocol::run_arguments(plan, 1);
        words.retain(|word| !word.starts_with("report_fd="));
        let program = guest.0.command.first().map_or("probe", |program| program.trim_start_matches("./"));
        format!("run {row} {} /{program} {}\n", self.rows[row].1, words.join(" "))
    }

    /// Counts a column; the answer is why there is nothing to count.
    fn fill(&self, guest: &Guest, column: &mut Column, progress: &mut Progress) -> Result<Option<String>, Failure> {
        let mut starts: Vec<Vec<Start>> = self.rows.iter().map(|_| Vec::new()).collect();
        for boot in 1..=self.how.boots {
            let seeds = |row| (1..=STARTS).map(move |start| (row, (boot - 1) * STARTS + start));
            let line = |(row, seed)| self.line(guest, row, &self.plan(row, seed));
            let plan: String = (0..self.rows.len()).flat_map(seeds).map(line).collect();
            let said = match self.boot(guest, column, &plan, boot, false, progress)? {
                Ok(said) => said,
                Err(why) => return Ok(Some(why)),
            };
            column.facts = said.facts;
            for start in said.starts.into_iter().filter(|start| start.row < self.rows.len()) {
                starts[start.row].push(start);
            }
            progress.step();
        }
        let (mut profiles, again) = (std::collections::BTreeMap::new(), self.by_function(guest, &starts));
        if self.how.functions
            && let Ok(said) = self.boot(guest, column, &again, 1, true, progress)?
        {
            let of_row = |starts: &[Start]| match starts {
                [_, a, b] => Some((a.row, profile(&said, a, b, &self.data)?)),
                _ => None,
            };
            profiles.extend(said.starts.chunk_by(|a, b| a.row == b.row).filter_map(of_row));
        }
        for (row, (starts, (variant, depth))) in starts.iter().zip(&self.rows).enumerate() {
            let label = switchcost_analysis::label(variant, &self.catalogue, false);
            let label = if *depth == 0 { label } else { format!("{label} depth={depth}") };
            let mechanism = self.catalogue.find(&variant.mechanism).ok_or("its page is gone".to_owned());
            let count = mechanism.and_then(|mechanism| count(mechanism, &self.plan(row, 1), *depth, starts));
            let count = count.unwrap_or_else(|why| Count { missing: Some(why), ..Count::default() });
            column.rows.push(Row { label, depth: *depth, count, profile: profiles.remove(&row) });
        }
        Ok(None)
    }

    /// A plan to count by function: three more starts of each row, in a machine of their own. The
    /// first warms up what the kernel keeps; the last does more units than the second.
    fn by_function(&self, guest: &Guest, starts: &[Vec<Start>]) -> String {
        let mut lines = "symbols\n".to_owned();
        for (row, starts) in starts.iter().enumerate().skip(1) {
            let echo = starts.first().and_then(|start| start.transcript.plan.as_ref());
            for batch_units in echo.iter().flat_map(|echo| [1, 1, MORE].map(|times| echo.batch_units * times)) {
                lines += &self.line(guest, row, &Plan { batch_units, ..self.plan(row, 1) });
            }
        }
        lines
    }
}
