//! Faults of at least 30 kinds at random instants, counted: nothing stored is lost or changed,
//! nothing is left, nobody hangs, panics or is accused.
//!
//! `make soak` tries for 15 minutes; `make test-all` only a few of each sort. SWITCHCOST_CHAOS:
//! seconds; SWITCHCOST_SEED: another sequence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use switchcost_e2e::{Real, World, leftover_groups};
use tempfile::TempDir;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Faults tried where nobody says for how long.
const FEW: u64 = 40;

/// Statuses that `--help` lists and that a fault may lead to: neither a false accusation, nor a
/// broken rule, nor a fault of our own.
const STATUSES: [i32; 4] = [0, 2, 3, 4];

/// Budget of a run, and how much later it may end at most: in a campaign; elsewhere a busy machine
/// decides nothing.
const BUDGET: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_secs(2);
const HANGS: Duration = Duration::from_secs(60);

/// When whatever a run made is gone.
const GONE: Duration = Duration::from_secs(30);

const SIGNALS: [&str; 7] = ["KILL", "TERM", "INT", "HUP", "QUIT", "ABRT", "STOP"];

/// What the faults happen to: each makes other things that might be left.
const REAL: [&str; 7] = [
    "thread/pipe",
    "process/pipe",
    "container/pipe",
    "container/pipe --probe runc",
    "stack/winfiber",
    "fiber/goroutine fiber/java-virtual",
    "vm/exit",
];

/// Misbehaviour of the fake probe.
const FAKES: [&str; 14] = [
    "honest",
    "hang",
    "hang-family",
    "escape",
    "crash",
    "garbage",
    "flood",
    "short",
    "cut",
    "mute",
    "failed",
    "noise",
    "exit-one",
    "linger",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Host,
    Probe,
    Descendant,
    Group,
}

/// Numbers from a seed, one after the other.
struct Draw(u64, u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.1 += 1;
        let mut hasher = DefaultHasher::new();
        (self.0, self.1).hash(&mut hasher);
        (hasher.finish() % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn up_to(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.below(1000) as f64 / 1000.0)
    }
}

/// An installation whose temporary folder is its own.
struct Place {
    world: World,
    real: Option<Real>,
    folder: TempDir,
    /// What was there before: probes of others, control groups, mounts.
    others: BTreeSet<u32>,
    groups: Vec<PathBuf>,
    mounts: usize,
    /// Exported runs that have ended.
    kept: BTreeMap<String, String>,
}

fn parents() -> BTreeMap<u32, u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    pids.filter_map(|pid| Some((pid, parent(&pid)?))).collect()
}

fn descendants(of: u32) -> Vec<u32> {
    let parents = parents();
    let mut found: Vec<u32> = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, above)| **above == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found
}

/// Processes in whose environment these letters are found.
fn with_environment(letters: &str) -> BTreeSet<u32> {
    let has = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.windows(letters.len()).any(|window| window == letters.as_bytes())
    };
    parents().keys().copied().filter(has).collect()
}

fn mounts() -> usize {
    std::fs::read_to_string("/proc/self/mounts").unwrap().lines().count()
}

fn send(signal: &str, to: &str) {
    // It may have ended by itself meanwhile.
    let _ = Command::new("kill").args([&format!("-{signal}"), "--", to]).stderr(Stdio::null()).status();
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(FAKE);
        // One kind of fault is somebody else's.
        for (path, mode) in
            [(folder.path(), 0o755), (&folder.path().join("tmp"), 0o777), (&folder.path().join("open"), 0o777)]
        {
            std::fs::create_dir_all(path).unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        std::fs::set_permissions(world.path(""), Permissions::from_mode(0o755)).unwrap();
        let others = with_environment("SWITCHCOST_PADDING=");
        let (groups, mounts) = (leftover_groups(), mounts());
        Self { world, real: Real::new(FAKE), folder, others, groups, mounts, kept: BTreeMap::new() }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("runs.sqlite")
    }

    /// The binary with fake or real probes; a group of its own, so that it can be killed with all
    /// that is in it.
    fn command(&self, real: bool, words: &str) -> Command {
        let mut command = match &self.real {
            Some(installed) if real => installed.command(words),
            _ => self.world.command(&words.split_whitespace().collect::<Vec<_>>()),
        };
        let scratch = self.folder.path().join("tmp");
        command
            .arg("--store")
            .arg(self.store())
            .env("TMPDIR", scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0);
        command
    }

    fn start(&self, command: &mut Command) -> Child {
        command.stderr(File::create(self.folder.path().join("said")).unwrap()).spawn().unwrap()
    }

    /// Waits for the end, or says why that is a fault.
    fn end(&self, host: &mut Child, from: Instant, strict: bool) -> Result<ExitStatus, String> {
        let longest = if strict { BUDGET + LATE } else { HANGS };
        while from.elapsed() < HANGS {
            if let Some(status) = host.try_wait().unwrap() {
                let took = from.elapsed();
                return if took < longest { Ok(status) } else { Err(format!("ended after {took:?}")) };
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        send("KILL", &format!("-{}", host.id()));
        let _ = host.wait();
        Err("it hung".to_owned())
    }

    fn fine(&self, status: ExitStatus) -> Result<(), String> {
        let said = std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
        match status.code() {
            Some(code) if !STATUSES.contains(&code) => Err(format!("status {code}: {said}")),
            _ if said.contains("panicked") || said.contains("RUST_BACKTRACE") => Err(said),
            _ => Ok(()),
        }
    }

    /// Hosts of this place, and probes that were not there before it.
    fn processes(&self) -> BTreeSet<u32> {
        let place = self.folder.path().to_str().unwrap();
        with_environment(place)
            .union(&with_environment("SWITCHCOST_PADDING="))
            .filter(|pid| !self.others.contains(pid))
            .copied()
            .collect()
    }

    /// What is still there that was not before.
    fn left(&self) -> Option<String> {
        let processes = self.processes();
        let folders = files(&self.folder.path().join("tmp"));
        let groups: Vec<PathBuf> = leftover_groups().into_iter().filter(|group| !self.groups.contains(group)).collect();
        let mounts = mounts().saturating_sub(self.mounts);
        let clean = processes.is_empty() && folders.is_empty() && groups.is_empty() && mounts == 0;
        (!clean).then(|| {
            let names: Vec<String> = processes
                .iter()
                .map(|pid| {
                    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    format!("{pid} {}", String::from_utf8_lossy(&words).replace('\0', " "))
                })
                .collect();
            format!("left: processes {names:?}, files {folders:?}, control groups {groups:?}, {mounts} mounts")
        })
    }

    fn nothing_left(&self) -> Result<(), String> {
        let ended = Instant::now();
        loop {
            match self.left() {
                None => return Ok(()),
                Some(what) if ended.elapsed() > GONE => return Err(what),
                Some(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Every run can be read, has all invocations up to its last, and is what it was when it had
    /// ended.
    fn nothing_lost(&mut self) -> Result<(), String> {
        let connection = rusqlite::Connection::open(self.store()).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        let sql = "SELECT id, ended_by, (SELECT count(*) FROM invocation WHERE run = run.key),
                          (SELECT coalesce(max(sequence) + 1, 0) FROM invocation WHERE run = run.key) FROM run";
        let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let runs = statement.query_map([], read).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let runs: Vec<(String, String, i64, i64)> = runs.map_err(|error| error.to_string())?;
        for (id, ended_by, stored, measured) in runs {
            if stored != measured {
                return Err(format!("run {id} has {stored} of {measured} invocations"));
            }
            if ended_by != "unfinished" && !self.kept.contains_key(&id) {
                let exported = self.exported(&self.store(), &id)?;
                self.kept.insert(id, exported);
            }
        }
        let missing = self.kept.keys().find(|id| {
            let there = connection.query_row("SELECT count(*) FROM run WHERE id = ?1", [id.as_str()], |row| row.get(0));
            there != Ok(1_i64)
        });
        missing.map_or(Ok(()), |id| Err(format!("run {id} is gone")))
    }

    fn exported(&self, store: &Path, id: &str) -> Result<String, String> {
        let mut command = self.world.command(&["export", "--private-facts", id, "--store", store.to_str().unwrap()]);
        let said = switchcost_e2e::Said::from(command.output().unwrap());
        if said.status == 0 { Ok(said.out) } else { Err(format!("export {id}: {} {}", said.status, said.err)) }
    }

    /// At the end: what had ended reads as it did then.
    fn nothing_changed(&self) -> Result<(), String> {
        let changed = self.kept.iter().find(|(id, then)| self.exported(&self.store(), id).as_ref() != Ok(then));
        changed.map_or(Ok(()), |(id, _)| Err(format!("run {id} is not what it was")))
    }
}

fn files(below: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(below).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// A signal to one of those that take part, at a random instant.
fn signal(place: &Place, draw: &mut Draw, strict: bool) -> (String, Result<(), String>) {
    let target = draw.of(&[Target::Host, Target::Probe, Target::Descendant, Target::Group]);
    let (signal, subject) = (draw.of(&SIGNALS), draw.of(&REAL));
    let words = format!("run {subject} --rounds 100000 --batches 2 --budget {}s --format json", BUDGET.as_secs());
    let from = Instant::now();
    let mut host = place.start(&mut place.command(true, &words));
    std::thread::sleep(draw.up_to(BUDGET));
    let family = descendants(host.id());
    let to = match target {
        Target::Host => host.id().to_string(),
        Target::Probe => family.get(1).unwrap_or(&family[0]).to_string(),
        Target::Descendant => family[draw.below(family.len())].to_string(),
        Target::Group => format!("-{}", host.id()),
    };
    send(signal, &to);
    if signal == "STOP" {
        std::thread::sleep(draw.up_to(Duration::from_millis(300)));
        send("CONT", &to);
    }
    let ended = place.end(&mut host, from, strict).and_then(|status| place.fine(status));
    (format!("SIG{signal} to {target:?}"), ended.map_err(|what| format!("{subject}: {what}")))
}

/// A probe that does not do as it should.
fn misbehaviour(place: &Place, draw: &mut Draw, strict: bool) -> (String, Result<(), String>) {
    let which = draw.of(&FAKES);
    let from = Instant::now();
    let words = format!("run thread/{which} --rounds 2 --batches 2 --budget {}s --format json", BUDGET.as_secs());
    let mut host = place.start(&mut place.command(false, &words));
    (format!("a probe: {which}"), place.end(&mut host, from, strict).and_then(|status| place.fine(status)))
}

/// Limits of the session, or of the disk.
fn poverty(place: &Place, draw: &mut Draw, strict: bool) -> (String, Result<(), String>) {
    let kind = draw.below(6);
    let words = format!("run thread/honest --rounds 3 --batches 2 --budget {}s --format json", BUDGET.as_secs());
    let plain = place.command(false, &words);
    // A disk of its own, gone with its namespace.
    let own = place.folder.path().join("full");
    let on_its_own_disk = |mount: &str| {
        std::fs::create_dir_all(&own).unwrap();
        let mut command = Command::new("unshare");
        let script =
            format!("d={}; {{ {mount}; }} 2>/dev/null || exit 0; exec \"$@\" --store $d/s.sqlite", own.display());
        command.args(["-m", "sh", "-c", &script, "sh"]);
        command
    };
    let limited = |limit: String| {
        let mut command = Command::new("prlimit");
        command.arg(limit);
        command
    };
    let (name, mut command) = match kind {
        0 => ("few descriptors", limited(format!("--nofile={}", 5 + draw.below(60)))),
        1 => ("small files", limited(format!("--fsize={}", 1024 * draw.below(200)))),
        // The loader itself needs 20 MB.
        2 => ("little memory", limited(format!("--as={}", 1_000_000 * (24 + draw.below(60))))),
        // Root would be spared.
        3 => {
            let (limit, store) = (1 + draw.below(40), place.folder.path().join("open/s.sqlite"));
            let as_nobody = "[ $(id -u) = 0 ] && nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'";
            let mut command = Command::new("sh");
            let script =
                format!("{as_nobody}; exec $nobody prlimit --nproc={limit} \"$@\" --store {}", store.display());
            command.args(["-c", &script, "sh"]);
            ("few processes", command)
        }
        4 => {
            let size = 200 + draw.below(200);
            ("a full disk", on_its_own_disk(&format!("mount -t tmpfs -o size={size}k none $d")))
        }
        _ => ("a read-only disk", on_its_own_disk("mount -t tmpfs none $d && mount -o remount,ro $d")),
    };
    let arguments: Vec<_> = plain.get_args().collect();
    // Its store is said once.
    let count = if kind >= 3 { arguments.len() - 2 } else { arguments.len() };
    command
        .arg(plain.get_program())
        .args(&arguments[..count])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0);
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let from = Instant::now();
    let mut host = place.start(&mut command);
    (name.to_owned(), place.end(&mut host, from, strict).and_then(|status| place.fine(status)))
}

/// Another writer has the store for a while; or several runs and readers at once.
fn company(place: &Place, draw: &mut Draw, strict: bool) -> (String, Result<(), String>) {
    let words = format!("run thread/honest --rounds 100000 --batches 2 --budget {}s --format json", BUDGET.as_secs());
    let from = Instant::now();
    let locked = draw.below(2) == 0;
    let mut hosts: Vec<Child> =
        (0..if locked { 1 } else { 3 }).map(|_| place.start(&mut place.command(false, &words))).collect();
    if locked {
        std::thread::sleep(draw.up_to(BUDGET));
        let other = rusqlite::Connection::open(place.store()).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::sleep(draw.up_to(Duration::from_millis(1500)));
        other.execute_batch("COMMIT").unwrap();
    } else {
        for _ in 0..10 {
            hosts.push(place.start(&mut place.command(false, "history")));
        }
    }
    let ended =
        hosts.iter_mut().map(|host| place.end(host, from, strict && !locked).and_then(|status| place.fine(status)));
    let ended: Vec<Result<(), String>> = ended.collect();
    (["three runs at once", "a locked store"][usize::from(locked)].to_owned(), ended.into_iter().collect())
}

/// A bit of a copy of the store flips: it reads as before, or is a sentence.
fn flip(place: &Place, draw: &mut Draw) -> (String, Result<(), String>) {
    let name = "a flipped bit".to_owned();
    let Some((id, then)) = place.kept.iter().nth(draw.below(place.kept.len().max(1))) else { return (name, Ok(())) };
    let copy = place.folder.path().join("flipped.sqlite");
    let source = rusqlite::Connection::open(place.store()).unwrap();
    let _ = std::fs::remove_file(&copy);
    source.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    let at = draw.below(bytes.len());
    bytes[at] ^= 1 << draw.below(8);
    std::fs::write(&copy, bytes).unwrap();
    let read = place.exported(&copy, id);
    let fine = match &read {
        Ok(now) => now == then,
        Err(said) => said.contains(": 2 switchcost: "),
    };
    (name, if fine { Ok(()) } else { Err(format!("byte {at}: {}", read.err().unwrap_or_default())) })
}

#[test]
#[ignore = "suite kills"]
fn nothing_is_lost_or_left_whatever_happens() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let seconds: Option<u64> = number("SWITCHCOST_CHAOS");
    let mut draw = Draw(number("SWITCHCOST_SEED").unwrap_or(17), 0);
    let mut place = Place::new();
    let (began, strict) = (Instant::now(), seconds.is_some());
    let mut tried: BTreeMap<String, u64> = BTreeMap::new();
    let mut faults = Vec::new();
    let first = place.command(false, "run thread/honest --rounds 2 --batches 2").status().unwrap();
    assert!(first.success(), "{first}");
    let more = |tried: u64| seconds.map_or(tried < FEW, |seconds| began.elapsed().as_secs() < seconds);
    let mut count = 0;
    while more(count) {
        count += 1;
        let (kind, mut outcome) = match draw.below(20) {
            0..10 if place.real.is_some() => signal(&place, &mut draw, strict),
            0..13 => misbehaviour(&place, &mut draw, strict),
            13..16 => poverty(&place, &mut draw, strict),
            16..18 => company(&place, &mut draw, strict),
            _ => flip(&place, &mut draw),
        };
        outcome = outcome.and_then(|()| place.nothing_left()).and_then(|()| place.nothing_lost());
        *tried.entry(kind.clone()).or_default() += 1;
        if let Err(what) = outcome {
            println!("{count} {kind}: {what}");
            faults.push(format!("{count} {kind}: {what}"));
        }
    }
    if let Err(what) = place.nothing_changed() {
        faults.push(what);
    }
    for (kind, times) in &tried {
        println!("{times:5} × {kind}");
    }
    println!("{count} faults of {} kinds, {} runs kept, {} failed", tried.len(), place.kept.len(), faults.len());
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}
