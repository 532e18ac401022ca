//! A world of its own for each test: an installation of only the fake probe, and an empty store.

mod pace;
mod real;
mod untested;

pub use pace::{Starts, in_time, until};
pub use real::{Real, shows_nothing};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
pub use untested::{OWN, untested};

/// Mechanisms of the fake installation: its behaviours, as threads that switch in the kernel.
const BEHAVIOURS: &[&str] = include!("../../probes/fake/behaviours.rs");

/// An installation with only the fake probe.
pub struct World {
    folder: TempDir,
    switchcost: PathBuf,
}

impl World {
    /// Builds it; `fake` is the path of the fake probe, beside which the real binary stands.
    ///
    /// # Panics
    /// When the binary is missing or the disk refuses.
    #[must_use]
    pub fn new(fake: &str) -> Self {
        let switchcost = Path::new(fake).with_file_name("switchcost");
        assert!(switchcost.is_file(), "{} is missing: run `make test`, or `cargo build` first", switchcost.display());
        let world = Self { folder: tempfile::tempdir().unwrap(), switchcost };
        world.write("libexec/switchcost/probes/fake/probe.toml", &probe("fake", fake, 100));
        let families =
            "[[family]]\nid = \"control\"\ntitle = \"Controls\"\n[[family]]\nid = \"thread\"\ntitle = \"Threads\"\n";
        world.write("share/switchcost/mechanisms/families.toml", families);
        world.write("share/switchcost/audit.toml", &prices());
        // `absent` is described by the fake as not available.
        for behaviour in BEHAVIOURS.iter().chain(&["absent"]) {
            let headline = if *behaviour == "honest" { "[[headline]]\nplacement = \"one_cpu\"\n" } else { "" };
            world.write(&format!("share/switchcost/mechanisms/thread/{behaviour}.toml"), &mechanism(headline));
        }
        world
    }

    /// Writes a file of this world.
    ///
    /// # Panics
    /// When the disk refuses.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Path of a file of this world.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The store that commands of this world use by default.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.path("data/switchcost/runs.sqlite")
    }

    /// The real binary with this world's environment.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.switchcost);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("SWITCHCOST_LIBEXEC", self.path("libexec/switchcost"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run(&self, arguments: &str) -> Said {
        self.run_words(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs it with arguments that may hold blanks.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run_words(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    /// Runs it by another program, which gets its path and arguments behind its own `wrapper`.
    ///
    /// # Panics
    /// When that cannot be started.
    #[must_use]
    pub fn run_wrapped(&self, wrapper: &[&str], arguments: &[&str]) -> Said {
        wrapped(wrapper, &self.command(arguments))
    }

    /// The exported latest run, changed and sealed again with a fitting checksum, as `NAME.jsonl`.
    ///
    /// # Panics
    /// When there is no run, or the disk refuses.
    #[must_use]
    pub fn forged(&self, name: &str, change: impl Fn(&str) -> String) -> String {
        let exported = self.run("export").out;
        let (body, _) = exported.trim_end().rsplit_once('\n').unwrap();
        let path = self.path(&format!("{name}.jsonl"));
        std::fs::write(&path, sealed(&change(&format!("{body}\n")))).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Processes that a probe of this world left: by their environment and their folder.
    ///
    /// # Panics
    /// When /proc cannot be read.
    #[must_use]
    pub fn leftovers(&self) -> BTreeSet<u32> {
        let mine = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.windows(19).any(|w| w == b"SWITCHCOST_PADDING="))
                && std::fs::read_link(format!("/proc/{pid}/cwd"))
                    .is_ok_and(|cwd| cwd.starts_with(self.folder.path().canonicalize().unwrap()))
        };
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(mine)
            .collect()
    }
}

/// What the binary said.
#[derive(Debug)]
pub struct Said {
    /// Exit status; of a signal as shells tell it, 128 and its number.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The status as shells tell it.
#[must_use]
pub fn told(status: std::process::ExitStatus) -> i32 {
    let by_signal = || std::os::unix::process::ExitStatusExt::signal(&status).map_or(-1, |signal| 128 + signal);
    status.code().unwrap_or_else(by_signal)
}

/// Ended by Ctrl-C, as its shell sees it.
pub const BY_CTRL_C: i32 = 130;

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            status: told(output.status),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// What it printed, as one line: tests read words and not line ends.
    #[must_use]
    pub fn words(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The same, unless the budget ended before any probe had said what it measures.
    #[must_use]
    pub fn once_asked(self) -> Option<Self> {
        (!self.out.is_empty() || !self.err.contains("the budget is too short to ask")).then_some(self)
    }

    /// Standard output as JSON.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts status and one sentence on standard error with all `words`; no panic, no trace.
    ///
    /// # Panics
    /// When it is otherwise.
    pub fn refuses(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in {:?}", self.err);
        }
        assert!(!self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"), "{:?}", self.err);
    }
}

/// Runs a command by another program. Its environment is the command's, the path and the home.
///
/// # Panics
/// When that cannot be started.
#[must_use]
pub fn wrapped(wrapper: &[&str], own: &Command) -> Said {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(own.get_program()).args(own.get_args()).stdin(Stdio::null()).env_clear();
    command.envs(["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Said::from(command.output().unwrap())
}

/// A `probe.toml`. No neighbour disturbs a start of the fake, whose costs are scripted.
#[must_use]
pub fn probe(id: &str, program: &str, priority: i64) -> String {
    format!(
        "id = \"{id}\"\ntitle = \"Fake\"\nsource = \"fake\"\npriority = {priority}\ncommand = [\"{program}\"]\nstart_timeout_ms = 60000\n\
         [install]\ndebian = \"fake-runtime\"\n"
    )
}

/// An `audit.toml`: 1 µs per switch on one CPU, 30 µs per sleep or wake-up, 500 ns per preemption.
fn prices() -> String {
    let mut text = "[indirect]\nparameter = \"working_set\"\nmechanism = \"thread/honest\"\n".to_owned();
    for (kind, ticks) in [("same_cpu", 1000), ("idle_cpu", 30_000), ("preempted", 500)] {
        text.push_str(&format!(
            "[[price]]\nkind = \"{kind}\"\nmechanism = \"thread/honest\"\nparameters = {{ ticks = \"{ticks}\" }}\nunit_is_delay = true\nwhy = \"a test\"\n"
        ));
    }
    text.push_str("[[price]]\nkind = \"timer\"\nchannels = [\"hrtimer_*\", \"*nanosleep\"]\nmechanism = \"thread/honest\"\nparameters = { ticks = \"30000\" }\nwhy = \"a test\"\n");
    text
}

/// A mechanism that switches in the kernel once a unit.
#[must_use]
pub fn mechanism(tail: &str) -> String {
    format!(
        "title = \"A fake\"\nimplemented_by = [\"fake\"]\niteration = \"nothing\"\nincludes = \"nothing\"\n\
         placements = [\"one_cpu\", \"two_cpus\", \"free\"]\nexperiments = [\"switch\"]\n\
         [parameters.ticks]\nmin = 0\nmax = 1000000000\ndefault = \"1000\"\nhelp = \"cost\"\nexperiments = [\"switch\"]\n\
         [evidence]\nturns = true\nkernel_switches = [1.0, 1.0]\n{tail}"
    )
}

/// The lines of a run file, changed, with an end line whose checksum fits them.
#[must_use]
pub fn sealed(body: &str) -> String {
    let hash = Sha256::digest(body).iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    format!("{body}{{\"t\":\"end\",\"lines\":{},\"sha256\":\"{hash}\"}}\n", body.lines().count())
}

/// The repository's root, or the tree that `SWITCHCOST_TREE` names.
///
/// # Panics
/// Never in a checkout.
#[must_use]
pub fn repository() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    std::env::var_os("SWITCHCOST_TREE").map_or_else(own, PathBuf::from)
}

/// Control groups whose probe is gone and which nobody removed. Tests run side by side, and those
/// of other PID namespaces too: as long as a probe or its guardian lives, one of them holds the
/// lock on the group `switchcost-PID-RANDOM`, after which all its groups are called.
#[must_use]
pub fn leftover_groups() -> Vec<PathBuf> {
    let (mut found, mut living) = (Vec::new(), BTreeSet::new());
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            if name.starts_with("switchcost-") {
                let owner: Vec<&str> = name.split('-').take(3).collect();
                if std::fs::File::open(&path).is_ok_and(|group| group.try_lock().is_err()) {
                    living.insert(owner.join("-"));
                }
                found.push((owner.join("-"), path));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    found.into_iter().filter(|(owner, path)| !living.contains(owner) && path.exists()).map(|(_, path)| path).collect()
}

/// Makes control groups as a killed probe leaves them, where they may be made. All that are there.
#[must_use]
pub fn plant_dead_groups() -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let hierarchies: Vec<Vec<&str>> = mounts.lines().map(|mount| mount.split_whitespace().collect()).collect();
    let has_cpu = |words: &[&str]| words[2] == "cgroup" && words[3].split(',').any(|option| option == "cpu");
    let separate = hierarchies.iter().any(|words| has_cpu(words));
    for words in hierarchies.iter().filter(|words| matches!(words[2], "cgroup" | "cgroup2")) {
        // Linux numbers processes to 4194304. The empty group bears a lock that nobody holds.
        let bears_lock = if separate { has_cpu(words) } else { words[2] == "cgroup2" };
        if bears_lock {
            let group = Path::new(words[1]).join("switchcost-4194305-aB3xY9");
            if std::fs::create_dir(&group).is_ok() {
                let _ = std::fs::set_permissions(&group, std::fs::Permissions::from_mode(0o700));
            }
        }
        let _ = std::fs::create_dir(Path::new(words[1]).join("switchcost-4194305-aB3xY9-0"));
    }
    leftover_groups()
}

/// What stands in a page's place for data.
///
/// # Panics
/// If it is not JSON that was packed as the page unpacks it.
#[must_use]
pub fn page_data(packed: &str) -> serde_json::Value {
    let part = |part| {
        let packed = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, part).expect("base64");
        miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("zlib")
    };
    serde_json::from_slice(&packed.split(',').flat_map(part).collect::<Vec<u8>>()).expect("JSON")
}

/// The line with another text behind `key`.
///
/// # Panics
/// When the key is missing.
#[must_use]
pub fn with(line: &str, key: &str, text: &str) -> String {
    let at = line.find(key).unwrap_or_else(|| panic!("{key} is missing")) + key.len();
    let end = at + line[at..].find('"').unwrap();
    format!("{}{text}{}", &line[..at], &line[end..])
}

/// All ticks and CPU times × this.
///
/// # Panics
/// When one is not a number.
#[must_use]
pub fn scaled(line: &str, factor: f64) -> String {
    let scaled = |numbers: &str| {
        let one = |number: &str| format!("{:.0}", number.parse::<f64>().unwrap() * factor);
        numbers.split(',').filter(|number| !number.is_empty()).map(one).collect::<Vec<_>>().join(",")
    };
    let each = |text: &str, before: &str, ends: [char; 2]| {
        let mut parts = text.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| {
            let (numbers, rest) = part.split_at(part.find(ends).unwrap());
            out + before + &scaled(numbers) + rest
        })
    };
    let cpu = |text: &str, before: &str| each(text, before, [',', '}']);
    cpu(&cpu(&each(line, "\"ticks\":[", [']', ']']), "\"cpu_time_ns\":"), "\"cpu_ns\":")
}

/// A run file's text with two kinds of starts: those of odd rounds take half as long.
///
/// # Panics
/// When a start names no round.
#[must_use]
pub fn two_kinds(text: &str) -> String {
    let kind = |line: &str| {
        let Some(round) = line.strip_prefix("{\"t\":\"invocation\"").and_then(|rest| rest.split("\"round\":").nth(1))
        else {
            return line.to_owned() + "\n";
        };
        let round: u64 = round.split(',').next().unwrap().parse().unwrap();
        scaled(line, if round % 2 == 1 { 0.5 } else { 1.0 }) + "\n"
    };
    text.lines().map(kind).collect()
}
