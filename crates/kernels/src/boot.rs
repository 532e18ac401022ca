//! The emulator, and what came of a boot.

use crate::answer::Column;
use crate::arguments::Kernels;
use crate::functions::Data;
use crate::image::{WORDS, archive};
use crate::serial::{MOST, Said};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use switchcost_catalogue::Catalogue;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{Child, Heard, SpawnRequest};
use switchcost_model::{ProbeInfo, Variant};
use switchcost_session::{Failure, Progress};

/// The emulator's program.
const EMULATOR: &str = "qemu-system-x86_64";

/// One CPU whose clock goes on by 1 ns with each instruction, and not while it sleeps; a date that
/// is always the same; nothing beside a serial line.
const HARDWARE: &str = "-accel tcg,thread=single -icount shift=0,sleep=off -cpu max -smp 1 -m 512 -M q35 -rtc base=2026-01-01,clock=vm -no-reboot -nodefaults \
                        -no-user-config -display none -monitor none -chardev stdio,id=said,mux=on,signal=off -serial chardev:said -device isa-debugcon,chardev=said";

/// A probe with what its machines start with: the first process, and the files of its folder.
pub type Guest = (ProbeInfo, Vec<(String, Vec<u8>)>);

/// What all machines have.
pub struct Work<'a> {
    /// What was asked for.
    pub how: &'a Kernels,
    /// What is counted.
    pub data: Data,
    /// What the rows mean.
    pub catalogue: Catalogue,
    /// Rows with their levels of control groups, the control first.
    pub rows: Vec<(Variant, u8)>,
    /// The emulator's plugin, which counts by address.
    pub plugin: PathBuf,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
}

impl Work<'_> {
    /// Boots a column's kernel, in which the first process carries out this plan, and listens until
    /// its end. Equal seeds of the emulated processor's random numbers give equal boots. With
    /// `functions` the plugin counts. The inner error says why this kernel comes to no end.
    ///
    /// # Errors
    /// Nothing can be booted here, or the user wants to stop.
    pub fn boot(
        &self,
        guest: &Guest,
        column: &Column,
        plan: &str,
        seed: u64,
        functions: bool,
        progress: &mut Progress,
    ) -> Result<Result<Said, String>, Failure> {
        let place = std::env::temp_dir().display().to_string();
        let refused =
            |error| Failure::nothing(format!("{place} takes no file: {error}; set TMPDIR to one with 64 MB of room"));
        let folder = tempfile::Builder::new().prefix("switchcost-").tempdir().map_err(refused)?;
        let initrd = folder.path().join("initrd").display().to_string();
        let plan = column.setting.iter().map(|setting| format!("set {setting}\n")).collect::<String>() + plan;
        let files = guest.1.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        std::fs::write(&initrd, archive(files.chain([("plan", plan.as_bytes())]))).map_err(refused)?;
        let (random, plugin) = (seed.to_string(), self.plugin.display().to_string());
        let own =
            ["-kernel", &column.image, "-initrd", &initrd, "-append", WORDS, "-seed", &random, "-plugin", &plugin];
        let (own, by) = if functions { (&own[..], " by function") } else { (&own[..8], "") };
        let arguments = HARDWARE.split_whitespace().chain(own.iter().copied()).map(str::to_owned).collect();
        let (mut said, silent) = self.started(arguments, &mut |said| {
            progress.say(|| format!("{}{by} - boot {seed} - start {}", column.name(), said.starts.len()));
        })?;
        if said.facts.remove("end").is_some() {
            return Ok(other(column, &said).map_or(Ok(said), Err));
        }
        let silence = self.how.silence.as_secs();
        let last = if said.last.is_empty() { "no word".to_owned() } else { format!("`{}`", said.last) };
        Ok(Err(match said.facts.get("panic") {
            Some(why) => format!("it panics: {why}"),
            None if said.bytes > MOST => "it does not stop talking".to_owned(),
            None if silent => format!("it hangs: silent for {silence} s after {last}"),
            None if said.facts.contains_key("uname") => format!("it ends early, after {last}"),
            None => format!("it does not boot: it ends after {last}"),
        }))
    }

    /// Starts the emulator and listens until its end, or until it has been silent or has talked for
    /// too long, and says whether it did not end.
    ///
    /// # Errors
    /// There is none, or the user wants to stop.
    pub fn started(&self, arguments: Vec<String>, heard: &mut dyn FnMut(&Said)) -> Result<(Said, bool), Failure> {
        let cure = "`scripts/setup kernels` or `apt install qemu-system-x86` brings it";
        let child = Child::start(&SpawnRequest::of(EMULATOR, arguments, &["HOME", "TMPDIR"]));
        let mut child = child.map_err(|error| Failure::nothing(format!("{error}; {cure}")))?;
        let mut said = Said::default();
        let over = child.hear(Instant::now() + self.how.silence, Some(&self.interrupt), |bytes| {
            said.push(&bytes);
            heard(&said);
            Instant::now() + if said.bytes > MOST { Duration::ZERO } else { self.how.silence }
        });
        if over == Heard::Interrupted {
            return Err(Failure::partial("stopped before all was counted; nothing is kept"));
        }
        let _ = child.finish();
        Ok((said, over == Heard::Time))
    }
}

/// Why a machine that came to its end is not the one that was asked for.
fn other(column: &Column, said: &Said) -> Option<String> {
    let fact = |name: &str| said.facts.get(name).map_or("", String::as_str);
    let (file, release) = (column.release.as_str(), fact("uname").split(' ').next().unwrap_or_default());
    let (clock, now) = (fact("clock"), fact("sched"));
    let set = |setting: &str| {
        let value = setting.rsplit('=').next().unwrap_or_default();
        // A kernel sets what it chose in brackets beside the other choices.
        let chosen = if now.contains('(') { format!("({value})") } else { value.to_owned() };
        now.split_whitespace().any(|word| word == chosen)
    };
    let unset = column.setting.as_deref().filter(|setting| !set(setting));
    let refused = said.facts.get("no").map_or(String::new(), |why| format!(" ({why})"));
    Some(match unset {
        _ if release != file => format!("the file says that it is {file}, and the machine that it is {release}"),
        _ if fact("idle") != "yes" => "it is still busy a minute after its start".to_owned(),
        _ if clock != "tsc" => format!("its clock is {clock}, which does not count instructions"),
        setting => format!("this kernel has no {}{refused}", setting?),
    })
}
