//! The emulator, and what came of a boot.

use crate::image::archive;
use crate::serial::Said;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{self, Child, Heard, SpawnRequest};
use switchcost_model::Capabilities;

/// The emulator's program.
pub const EMULATOR: &str = "qemu-system-x86_64";

/// One CPU whose clock goes on by 1 ns with each instruction, and not while it sleeps; a date that is always the same; nothing beside a serial line.
const HARDWARE: &str = "-accel tcg,thread=single -icount shift=0,sleep=off -cpu max -smp 1 -m 512 -M q35 -rtc base=2026-01-01,clock=vm -no-reboot -nodefaults \
                        -no-user-config -display none -monitor none -chardev stdio,id=said,mux=on,signal=off -serial chardev:said -device isa-debugcon,chardev=said";

/// What is equal in all kernels: no randomness of addresses, no mitigations, no groups of sessions, the counter of instructions as the only clock.
pub const WORDS: &str = "console=ttyS0 quiet loglevel=1 panic=-1 norandmaps nokaslr randomize_kstack_offset=off mitigations=off noautogroup tsc=reliable \
                         clocksource=tsc tsc_early_khz=1000000";

/// Why nothing was counted.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The user wants to stop.
    Interrupted,
    /// Nothing can be booted here.
    Host(String),
    /// This kernel does not do what it should.
    Kernel(String),
}

/// What is booted.
pub struct Boot<'a> {
    /// The kernel.
    pub image: &'a Path,
    /// Words of its command line beside [`WORDS`].
    pub words: &'a str,
    /// Files at the root of its file system; `init` is started.
    pub files: &'a [(&'a str, &'a [u8])],
    /// What the emulated processor's random numbers are made of: equal seeds give equal boots.
    pub seed: u64,
    /// A plugin of the emulator.
    pub plugin: Option<&'a Path>,
    /// Longest silence.
    pub silence: Duration,
    /// The user's wish to stop.
    pub interrupt: &'a Interrupt,
}

/// A folder that goes with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Version of the emulator, in its own words.
///
/// # Errors
/// There is none, or the user wants to stop.
pub fn emulator(interrupt: &Interrupt) -> Result<String, Trouble> {
    let arguments = vec!["--version".to_owned()];
    let said = started(arguments, Duration::from_secs(30), interrupt, &mut |_| {})?.0;
    let version = said.first.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.map(|version| format!("QEMU {version}")).ok_or_else(|| {
        Trouble::Host(format!(
            "{EMULATOR} does not say its version but `{}`; install Debian's qemu-system-x86",
            said.first
        ))
    })
}

/// Boots a kernel and listens until its end; `heard` looks at what it has said so far.
///
/// # Errors
/// Why there is no end.
pub fn boot(boot: &Boot<'_>, heard: &mut dyn FnMut(&Said)) -> Result<Said, Trouble> {
    let folder = Folder(spawn::scratch());
    let archive_file = folder.0.join("initrd");
    let made = std::fs::create_dir_all(&folder.0).and_then(|()| std::fs::write(&archive_file, archive(boot.files)));
    made.map_err(|error| {
        Trouble::Host(format!("{} cannot be written: {error}; set TMPDIR to a folder with 64 MB", folder.0.display()))
    })?;
    let text = |path: &Path| path.display().to_string();
    let mut arguments: Vec<String> = HARDWARE.split_whitespace().map(str::to_owned).collect();
    let words = format!("{WORDS} {}", boot.words);
    let own =
        ["-kernel", &text(boot.image), "-initrd", &text(&archive_file), "-append", words.trim()].map(str::to_owned);
    arguments.extend(own);
    arguments.extend(["-seed".to_owned(), boot.seed.to_string()]);
    arguments.extend(boot.plugin.into_iter().flat_map(|plugin| ["-plugin".to_owned(), text(plugin)]));
    let (said, silent) = started(arguments, boot.silence, boot.interrupt, heard)?;
    let kernel = |what: String| Err(Trouble::Kernel(what));
    match (&said.panic, silent) {
        _ if said.whole => Ok(said),
        (Some(why), _) => kernel(format!("it panics: {why}")),
        (None, true) => kernel(format!("it hangs: silent for {} s after `{}`", boot.silence.as_secs(), said.last)),
        (None, false) if said.facts.contains_key("uname") => kernel(format!("it ends early, after `{}`", said.last)),
        (None, false) => kernel(format!("it does not boot: the last line is `{}`", said.last)),
    }
}

/// Starts the emulator and listens until its end, or until it has been silent for too long. The answer says which.
fn started(
    arguments: Vec<String>,
    silence: Duration,
    interrupt: &Interrupt,
    heard: &mut dyn FnMut(&Said),
) -> Result<(Said, bool), Trouble> {
    let host = |why: String| Trouble::Host(why);
    let program = spawn::find_program(EMULATOR, &[]).ok_or_else(|| {
        host(format!("{EMULATOR} is not here; `scripts/setup kernels` or `apt install qemu-system-x86` brings it"))
    })?;
    let environment = spawn::ENVIRONMENT.iter().chain(&["HOME", "TMPDIR"]);
    let environment = environment.filter_map(|name| Some(((*name).to_owned(), switchcost_machine::environment(name)?)));
    let mut child = Child::start(&SpawnRequest {
        program,
        arguments,
        environment: environment.collect(),
        cpus: None,
        directory: None,
        capabilities: Capabilities::ALL,
        hogs: None,
        timer_slack_ns: None,
        report_fd: spawn::REPORT_FD,
    })
    .map_err(|error| host(error.to_string()))?;
    let (mut said, mut silent) = (Said::default(), false);
    loop {
        match child.listen(Instant::now() + silence, Some(interrupt)) {
            Heard::Printed(bytes) | Heard::Report(bytes) => said.push(&bytes).map_err(Trouble::Kernel)?,
            Heard::Closed => break,
            Heard::Time => {
                silent = true;
                break;
            }
            Heard::Interrupted => return Err(Trouble::Interrupted),
        }
        heard(&said);
    }
    while let Some(bytes) = child.printed() {
        said.push(&bytes).map_err(Trouble::Kernel)?;
    }
    let _ = child.finish();
    Ok((said, silent))
}
