//! Which probes are here and what they implement.

use crate::invoke::{Reading, read_until_end, start};
use crate::no_answer::NoAnswer;
use std::cell::Cell;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use switchcost_analysis::{is_message, last_words};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{Child, ExitStatus};
use switchcost_model::{Described, Hello, LastWords, MechanismId, ProbeInfo, Reason, Silence, TightLimits, harmless};
use switchcost_protocol::{DescribeReader, describe_arguments};

/// A remembered answer is believed for so long: what a key cannot see (a device that came, a
/// permission) may have changed.
const FRESH: Duration = Duration::from_secs(600);

/// How long a probe is waited for at most that gets on.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// CPU time between two looks that is more than being looked at costs, ns.
const PROGRESS_NS: u64 = 5_000_000;

/// A shell and the dynamic loader end so where what they were to start is not there.
const NOTHING_TO_START: ExitStatus = ExitStatus::Exited(127);

/// No answer is longer, in bytes: ours have a thousandth of it.
const MOST_REMEMBERED: u64 = 16 * 1024 * 1024;

/// A probe and its answer to `describe`.
#[derive(Debug, Clone)]
pub struct KnownProbe {
    /// As described in its `probe.toml`.
    pub info: ProbeInfo,
    /// Introduction and list, or why there is none.
    pub answer: Result<(Hello, Vec<Described>), NoAnswer>,
}

impl KnownProbe {
    /// Before it is asked.
    #[must_use]
    pub fn unasked(info: ProbeInfo) -> Self {
        Self { info, answer: Err(Silence::NotAsked.into()) }
    }

    /// What the probe says of a mechanism.
    #[must_use]
    pub fn describes(&self, id: &MechanismId) -> Option<&Described> {
        let (_, mechanisms) = self.answer.as_ref().ok()?;
        mechanisms.iter().find(|described| described.id == *id)
    }
}

/// Asks all probes at once; slow runtimes start side by side. With `cache`, a folder, an answer of
/// the last ten minutes is taken instead if neither the probe nor the programs on the path have
/// changed: a virtual machine takes longer to start than a list may take. A probe that has not
/// answered `until` then is not waited for. None: the user wants to stop.
#[must_use]
pub fn discover(
    probes: Vec<ProbeInfo>,
    cache: Option<&Path>,
    until: Option<Instant>,
    interrupt: Option<&Interrupt>,
) -> Option<Vec<KnownProbe>> {
    let stopped = AtomicBool::new(false);
    let ask = |info: &ProbeInfo| {
        let remembered = cache.map(|folder| folder.join(cache_name(info)));
        let known = remembered.as_deref().and_then(recall);
        known.map_or_else(|| describe(info, remembered.as_deref(), until, (interrupt, &stopped)), Ok)
    };
    let answers: Vec<_> = std::thread::scope(|scope| {
        // Where the system refuses a thread (RLIMIT_NPROC), the probe is asked by this one.
        let threads: Vec<_> =
            probes.iter().map(|info| std::thread::Builder::new().spawn_scoped(scope, move || ask(info)).ok()).collect();
        let answers = probes.iter().zip(threads).map(|(info, thread)| {
            let answered = thread.map_or_else(|| Ok(ask(info)), std::thread::ScopedJoinHandle::join);
            answered.unwrap_or_else(|_| Err(Silence::Failed.into()))
        });
        answers.collect()
    });
    let limited = |answer: NoAnswer| {
        let limits = switchcost_machine::tight_limits();
        NoAnswer { missing: answer.missing && limits.is_empty(), limits, ..answer }
    };
    let known =
        probes.into_iter().zip(answers).map(|(info, answer)| KnownProbe { info, answer: answer.map_err(limited) });
    (!stopped.load(Ordering::Relaxed)).then(|| known.collect())
}

/// Changes with the probe's files, the folders of the path, the variables it is given, and the
/// limits and rights of the session.
fn cache_name(info: &ProbeInfo) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    let mut look = |path: &Path| {
        let seen = fs::metadata(path).and_then(|metadata| Ok((metadata.modified()?, metadata.len())));
        (path, seen.ok()).hash(&mut hasher);
    };
    look(&info.folder);
    for entry in fs::read_dir(&info.folder).into_iter().flatten().flatten() {
        look(&entry.path());
    }
    info.command.iter().filter(|word| word.starts_with('/')).for_each(|program| look(Path::new(program)));
    let path = switchcost_machine::environment("PATH").unwrap_or_default();
    std::env::split_paths(&path).for_each(|folder| look(&folder));
    switchcost_machine::RUNTIME_FOLDERS.iter().for_each(|folder| look(Path::new(folder)));
    for name in &info.environment {
        (name, switchcost_machine::environment(name)).hash(&mut hasher);
    }
    info.command.hash(&mut hasher);
    switchcost_machine::surroundings().hash(&mut hasher);
    format!("{}-{:016x}.jsonl", info.id, hasher.finish()).into()
}

fn recall(path: &Path) -> Option<(Hello, Vec<Described>)> {
    let age = SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()?;
    let mut reader = DescribeReader::default();
    let (file, mut description) = (switchcost_machine::open_file(path).ok().filter(|_| age < FRESH)?, Vec::new());
    file.take(MOST_REMEMBERED).read_to_end(&mut description).ok()?;
    reader.push(&description).ok()?;
    reader.finish().ok()
}

fn describe(
    info: &ProbeInfo,
    remembered: Option<&Path>,
    until: Option<Instant>,
    (interrupt, stopped): (Option<&Interrupt>, &AtomicBool),
) -> Result<(Hello, Vec<Described>), NoAnswer> {
    let mut child = start(info, describe_arguments, None, 0)?;
    let patience = Duration::from_millis(info.start_timeout_ms);
    let deadline = until.into_iter().fold(Instant::now() + patience.max(MOST_PATIENCE), Instant::min);
    let alarm = Cell::new(Some(Instant::now() + patience / 2));
    let late = || Silence::Slow { limit_ms: info.start_timeout_ms };
    let (mut moved, mut used) = (Instant::now(), None);
    let mut reader = DescribeReader::default();
    let mut description = Vec::new();
    let mut push = |child: &Child, bytes: &[u8]| -> Result<bool, Silence> {
        // On a slow or busy machine it is waited for as long as it gets on: it says something, or
        // computes.
        let now = child.cpu_ns();
        let works = used.flatten().zip(now).is_some_and(|(then, now): (u64, u64)| now > then + PROGRESS_NS);
        if works || !bytes.is_empty() {
            moved = Instant::now();
        }
        used = Some(now);
        if moved.elapsed() >= patience {
            return Err(late());
        }
        alarm.set(Some(Instant::now() + patience / 2));
        description.extend_from_slice(bytes);
        reader.push(bytes)?;
        Ok(reader.ended())
    };
    let (reading, log) = read_until_end(&mut child, deadline, &alarm, interrupt, &mut push);
    let ended = child.finish().status;
    match reading {
        Reading::Ended => reader
            .finish()
            .inspect(|_| {
                if let Some(path) = remembered {
                    switchcost_machine::remember(path, &description);
                }
            })
            .map_err(|fault| Silence::from(fault).into()),
        Reading::Closed => reader.finish().map_err(|fault| match last_words(&log) {
            Some(_) if log.lines().any(is_message) => Silence::OnStandardOutput.into(),
            Some(words) => {
                let missing = || NoAnswer::new(Silence::Ended { words: harmless(&words) }, ended == NOTHING_TO_START);
                unlinked(info, &words).map_or_else(missing, NoAnswer::from)
            }
            None => match ended {
                ExitStatus::Signalled(signal) => {
                    let killed = Reason::Killed { signal, words: LastWords::None, limits: TightLimits::default() };
                    Silence::Ended { words: killed.to_string() }.into()
                }
                ended => NoAnswer::new(fault.into(), ended == NOTHING_TO_START),
            },
        }),
        Reading::Deadline if until.is_some_and(|until| until <= Instant::now()) => Err(Silence::ShortBudget.into()),
        Reading::Deadline => Err(late().into()),
        Reading::Fault(why) => Err(why.into()),
        Reading::Interrupted => {
            stopped.store(true, Ordering::Relaxed);
            Err(Silence::Interrupted.into())
        }
    }
}

/// The loader found no library, and this session has a path for it that probes do not get.
fn unlinked(info: &ProbeInfo, words: &str) -> Option<Silence> {
    const PATH: &str = "LD_LIBRARY_PATH";
    let not_handed_on =
        switchcost_machine::environment(PATH).is_some() && !info.environment.iter().any(|name| name == PATH);
    (not_handed_on && words.contains("error while loading shared libraries"))
        .then(|| Silence::Unlinked { words: harmless(words), variable: PATH.into() })
}
