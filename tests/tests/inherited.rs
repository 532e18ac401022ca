//! What a parent hands on over exec, in random combinations of the rows of
//! docs/notebook/inherited.md: no honest row is accused or lost, and nothing is left.

use std::collections::BTreeSet;
use switchcost_e2e::{Real, Said, World, repository, shows_nothing, wrapped};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Rows of the table that a program can make for itself, each with values. What it may not set, it
/// leaves as it is.
const DRAWN: &[(&str, &[&str])] = &[
    ("ignored signals", &["1", "2", "3", "13", "14", "15", "17", "18", "20", "21", "22", "24", "25", "29", "34", "64"]),
    ("blocked signals", &["1", "2", "3", "10", "12", "14", "15", "17", "18", "20", "28", "34", "63"]),
    ("timers", &["0 5", "1 0.02", "2 0.02"]),
    ("scheduling class", &["0 0", "3 0", "5 0", "1 1", "2 1"]),
    ("nice value", &["1", "5", "19"]),
    ("CPU affinity", &["first", "last"]),
    ("personality", &["0x0040000", "0x0400000", "0x8", "0x4040008"]),
    (
        "resource limits",
        &[
            "0 600",
            "1 268435456",
            "3 262144",
            "3 unlimited",
            "4 0",
            "7 64",
            "8 0",
            "8 65536",
            "11 0",
            "12 0",
            "15 1000000",
        ],
    ),
    ("umask", &["0", "0o022", "0o077", "0o777"]),
    ("timer slack", &["1", "1000000", "100000000"]),
    ("huge pages, merged pages", &["41", "67"]),
    ("death signal, subreaper, dumpable", &["1 9", "36 1", "4 0"]),
    ("out-of-memory score", &["0", "500", "1000"]),
    ("no new privileges", &["1"]),
    ("open descriptors", &["3", "4", "9", "40", "63"]),
    (
        "variables of loader, language and runtimes",
        &[
            "LD_LIBRARY_PATH=/nowhere",
            "LD_BIND_NOW=1",
            "LD_PRELOAD=",
            "LANG=de_DE.UTF-8",
            "LC_ALL=tr_TR",
            "TZ=/nowhere",
            "GODEBUG=gctrace=1",
            "GOMAXPROCS=1",
            "MALLOC_ARENA_MAX=1",
            "GLIBC_TUNABLES=glibc.malloc.check=3",
            "RUST_BACKTRACE=full",
            "PYTHONMALLOC=debug",
            "TERM=dumb",
        ],
    ),
    ("working folder", &["/", "/proc/self", "/tmp"]),
    ("session and terminal", &["setsid", "setpgid"]),
];

/// Rows that take other rights or another machine; suites and tests of their own have them.
const ELSEWHERE: &[&str] = &[
    "filters, speculation",
    "capabilities",
    "forbidden time stamp counter",
    "memory policy",
    "written memory that may run",
    "control groups, namespaces",
];

/// Becomes a program with what its words before `--` say, each `ROW:VALUE`.
const HEIR: &str = r#"
import ctypes, os, resource, signal, sys
call = ctypes.CDLL(None, use_errno=True)
words = sys.argv[1:]
at = words.index("--")
environment = dict(os.environ)
late = []
def own(row, value):
    numbers = [int(word, 0) for word in value.split() if word.lstrip("-").replace("0x", "").replace("0o", "").isalnum() and word[0].isdigit() and "." not in word]
    if row == "ignored signals": signal.signal(numbers[0], signal.SIG_IGN)
    elif row == "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    elif row == "timers": late.append(lambda: signal.setitimer(numbers[0], float(value.split()[1])))
    elif row == "scheduling class": os.sched_setscheduler(0, numbers[0], os.sched_param(numbers[1]))
    elif row == "nice value": os.nice(numbers[0])
    elif row == "CPU affinity":
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, [cpus[0] if value == "first" else cpus[-1]])
    elif row == "personality": call.personality(ctypes.c_ulong(numbers[0]))
    elif row == "resource limits":
        hard = resource.getrlimit(numbers[0])[1]
        wanted = resource.RLIM_INFINITY if value.endswith("unlimited") else numbers[1]
        resource.setrlimit(numbers[0], (wanted, hard if hard == resource.RLIM_INFINITY else max(wanted, hard)))
    elif row == "umask": os.umask(numbers[0])
    elif row == "timer slack": call.prctl(29, ctypes.c_ulong(numbers[0]), 0, 0, 0)
    elif row == "huge pages, merged pages": call.prctl(numbers[0], 1, 0, 0, 0)
    elif row == "death signal, subreaper, dumpable": call.prctl(numbers[0], numbers[1], 0, 0, 0)
    elif row == "out-of-memory score": open("/proc/self/oom_score_adj", "w").write(value)
    elif row == "no new privileges": call.prctl(38, 1, 0, 0, 0)
    elif row == "open descriptors": os.dup2(os.open("/dev/null", os.O_RDWR), numbers[0], inheritable=True)
    elif row == "variables of loader, language and runtimes": environment.__setitem__(*value.split("=", 1))
    elif row == "working folder": os.chdir(value)
    elif row == "session and terminal": os.setsid() if value == "setsid" else os.setpgid(0, 0)
    else: sys.exit("no row " + row)
for word in words[:at]:
    row, value = word.split(":", 1)
    try: own(row, value)
    except (OSError, ValueError, PermissionError): pass
for last in late: last()
os.execve(words[at + 1], words[at + 1:], environment)
"#;

/// Random numbers by splitmix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }

    /// One to six rows, a value of each.
    fn heritage(&mut self) -> Vec<String> {
        let many = 1 + self.below(6);
        let mut one = |_| {
            let (row, values) = DRAWN[self.below(DRAWN.len())];
            format!("{row}:{}", values[self.below(values.len())])
        };
        (0..many).map(&mut one).collect()
    }
}

fn heir(heritage: &[String]) -> Vec<&str> {
    ["python3", "-c", HEIR].into_iter().chain(heritage.iter().map(String::as_str)).chain(["--"]).collect()
}

/// No row of this run is accused or broken.
#[track_caller]
fn accuses_nobody(said: &Said, heritage: &[String]) {
    assert!([0, 3].contains(&said.status), "{heritage:?}: {said:?}");
    let rows = said.json()["results"].as_array().unwrap().clone();
    assert!(!rows.is_empty(), "{heritage:?}: {said:?}");
    // A limit that was drawn may refuse a row, by its name.
    let fine = |row: &serde_json::Value| ["verified", "unsupported"].contains(&row["verdict"].as_str().unwrap());
    let accused: Vec<_> = rows.iter().filter(|row| !fine(row)).map(|row| [&row["label"], &row["reason"]]).collect();
    assert!(accused.is_empty(), "{heritage:?}: {accused:?}");
}

fn draws(seed: u64, many: usize) {
    let world = World::new(FAKE);
    let mut draws = Draws(seed);
    for _ in 0..many {
        let heritage = draws.heritage();
        let words = ["run", "thread/honest", "--rounds", "2", "--batches", "2", "--format", "json"];
        accuses_nobody(&world.run_wrapped(&heir(&heritage), &words), &heritage);
        assert_eq!(world.leftovers(), BTreeSet::new(), "{heritage:?}");
    }
}

#[test]
fn what_is_inherited_accuses_nobody() {
    draws(34, 20);
}

#[test]
#[ignore = "suite kills"]
fn a_thousand_heritages_accuse_nobody() {
    draws(1, 1000);
}

/// The real probes under one heritage of each value, and some of many.
#[test]
#[ignore = "suite real"]
fn what_is_inherited_accuses_no_real_probe() {
    let Some(real) = Real::new(FAKE) else { return };
    let each = DRAWN.iter().flat_map(|(row, values)| values.iter().map(move |value| vec![format!("{row}:{value}")]));
    let mut draws = Draws(2);
    let mixed: Vec<_> = (0..60).map(|_| draws.heritage()).collect();
    for heritage in each.chain(mixed) {
        // A start that a busy machine let nobody look at is repeated with longer batches.
        let start = |us: u32| {
            let run =
                "run thread/futex process/pipe fiber/goroutine stack/fcontext --rounds 1 --batches 3 --format json";
            wrapped(&heir(&heritage), &real.command(&format!("{run} --batch-time {us}us")))
        };
        let mut said = start(200);
        for us in [800, 3200, 12_800] {
            if said.json()["results"].as_array().is_some_and(|rows| rows.iter().any(shows_nothing)) {
                said = start(us);
            }
        }
        accuses_nobody(&said, &heritage);
    }
}

/// Each row of the table is drawn, or named as one that cannot be.
#[test]
fn the_table_of_what_is_inherited_is_tested_row_by_row() {
    let page = std::fs::read_to_string(repository().join("docs/notebook/inherited.md")).unwrap();
    let rows: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).skip(1).collect();
    let tested: BTreeSet<&str> = DRAWN.iter().map(|(row, _)| *row).chain(ELSEWHERE.iter().copied()).collect();
    assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), tested);
    assert_eq!(rows.len(), tested.len(), "a row stands there twice");
    // Each fact that the table names is one.
    let world = World::new(FAKE);
    let machine = world.run("doctor --format json").json()["machine"].clone();
    for fact in page.split('`').filter(|word| word.starts_with("process.") || word.starts_with("security.")) {
        let there = ["drifting", "stable"].iter().any(|kind| machine[kind][fact].is_string());
        assert!(there, "{fact} stands nowhere: {machine}");
    }
}
