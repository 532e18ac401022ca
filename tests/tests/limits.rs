//! Limits of the session with the real probes: each is a reason and a cure, and neither a stack
//! trace nor a hang.

use super::runtimes::mechanisms;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use switchcost_e2e::{Real, Said, World, wrapped};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// One mechanism of each runtime, which may fail to start, and of each kind that needs tasks or
/// descriptors.
fn all() -> String {
    format!("thread/pipe process/pipe container/pipe {}", mechanisms())
}

/// What the gate takes of them.
const FEW: &str = "thread/pipe fiber/goroutine";

const PLAN: &str = "--contexts 30 --rounds 1 --batches 1 --batch-time 100us --budget 60s";

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The same command under a limit; as nobody where the superuser would be spared. The words are
/// those of prlimit.
fn under(limit: &str, plain: &Command) -> Said {
    let spared = limit.starts_with("--nproc") && is_root();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let wrapper = if spared { &nobody[..] } else { &[] };
    wrapped(&[wrapper, &["prlimit", limit]].concat(), plain)
}

/// What the real binary says under a limit, in a folder of its own that anybody may write to. None:
/// it cannot be set here.
fn limited(limit: &str, arguments: &str) -> Option<Said> {
    let real = Real::new(FAKE)?;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let mut plain = real.command(arguments);
    plain.env("HOME", folder.path()).env("XDG_DATA_HOME", folder.path()).env("XDG_CACHE_HOME", folder.path());
    // The binary must also be within reach of nobody.
    let possible = |trial| under(trial, &real.command("--help")).status == 0;
    (possible("--nofile=100") && possible("--nproc=1000")).then(|| under(limit, &plain))
}

#[track_caller]
fn check(limit: &str, name: &str, mechanisms: &str) {
    let Some(said) = limited(limit, &format!("run {mechanisms} {PLAN} --format json")) else {
        switchcost_e2e::untested(&format!("{limit} cannot be set here, or no probes are staged"));
        return;
    };
    assert!([0, 3, 4].contains(&said.status), "{limit}: {said:?}");
    let rows = said.json()["results"].as_array().cloned().unwrap_or_default();
    let asked: BTreeSet<&str> = mechanisms.split_whitespace().collect();
    assert!(rows.len() >= asked.len(), "{limit}: rows are missing: {said:?}");
    let reasons: Vec<&str> = rows
        .iter()
        .filter(|row| row["verdict"] == "unsupported")
        .map(|row| row["reason"].as_str().unwrap_or_default())
        .collect();
    assert!(reasons.iter().any(|reason| reason.contains(name)), "{limit}: nobody names {name}: {reasons:?}");
    for line in reasons.into_iter().chain([said.err.as_str()]) {
        let crash =
            ["panicked", "stack backtrace", "goexit", "+0x", ": 0x"].into_iter().find(|word| line.contains(word));
        assert!(line.is_empty() || (line.len() > 20 && crash.is_none()), "{limit}: {line}");
    }
}

#[test]
fn a_limit_is_a_reason_and_a_cure() {
    check("--nofile=16:16", "RLIMIT_NOFILE = 16", FEW);
    check("--nproc=12:12", "RLIMIT_NPROC = 12", FEW);
}

#[test]
#[ignore = "suite real"]
fn few_descriptors() {
    check("--nofile=16:16", "RLIMIT_NOFILE = 16", &all());
    check("--nofile=40:40", "RLIMIT_NOFILE = 40", &all());
}

#[test]
#[ignore = "suite real"]
fn few_processes() {
    check("--nproc=1:1", "RLIMIT_NPROC = 1 ", &all());
    check("--nproc=12:12", "RLIMIT_NPROC = 12", &all());
}

/// Who overflows a small stack is ended by a signal, and says nothing.
#[test]
fn a_crash_under_a_low_limit_names_it() {
    let world = World::new(FAKE);
    let words = ["run", "thread/crash", "--rounds", "1", "--format", "json"];
    let low = world.run_wrapped(&["prlimit", "--stack=524288"], &words).json()["results"][0].clone();
    let reason = low["reason"].as_str().unwrap();
    assert!(reason.ends_with("may be why: RLIMIT_STACK = 524288 (raise it with ulimit -s)"), "{low}");
    let usual = world.run_words(&words).json()["results"][0].clone();
    assert!(!usual["reason"].as_str().unwrap().contains("may be why"), "{usual}");
}

#[test]
fn list_answers_under_every_limit() {
    for limit in ["--nofile=12:12", "--nproc=1:1", "--nproc=6:6"] {
        let Some(said) = limited(limit, "list *") else {
            return switchcost_e2e::untested(&format!("{limit} cannot be set here"));
        };
        assert!(said.status == 0 && !said.err.contains("panicked"), "{limit}: {said:?}");
        assert!(said.out.contains("a limit of this session may be why"), "{limit}: {said:?}");
    }
}

/// No thread can be started beside the first: what all CPUs do elsewhere is done by that one.
#[test]
fn what_is_done_on_all_cpus_is_done_without_further_threads() {
    let Some(real) = Real::new(FAKE) else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.path().join("node.jsonl"), "no run").unwrap();
    if under("--nproc=1:1", &real.command("--help")).status != 0 {
        return switchcost_e2e::untested("that limit cannot be set here");
    }
    let mut judge = real.command("fleet judge");
    let said = under("--nproc=1:1", judge.arg(folder.path()));
    assert!(said.status == 3 && !said.err.contains("panicked"), "{said:?}");
    let ladder = switchcost_e2e::repository().join("data/example/ladder.jsonl");
    let store = folder.path().join("runs.sqlite");
    let mut import = real.command("import");
    assert!(import.arg(&ladder).arg("--store").arg(&store).status().unwrap().success());
    std::fs::set_permissions(&store, Permissions::from_mode(0o644)).unwrap();
    for (words, starts) in
        [("history thread/futex --machine all", "thread/futex"), ("report -o - 20261125T160157-1c0e", "<!doctype")]
    {
        let said = under("--nproc=1:1", real.command(words).arg("--store").arg(&store));
        let told = said.out.to_lowercase().starts_with(starts) || said.out.contains(starts);
        assert!(said.status == 0 && told, "{words}: {} {}", said.status, said.err);
    }
}

/// A group of control groups with a limit, and one in it: only the outer one limits. None: they
/// cannot be made here.
struct Groups(std::path::PathBuf);

impl Groups {
    fn of_40_tasks() -> Option<Self> {
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(std::path::Path::new);
        roots.into_iter().find_map(|root| {
            let outer = root.join(format!("switchcost-test-{}", std::process::id()));
            std::fs::create_dir_all(outer.join("inner")).ok()?;
            let groups = Self(outer);
            std::fs::write(groups.0.join("pids.max"), "40").ok().map(|()| groups)
        })
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for folder in [self.0.join("inner"), self.0.clone()] {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[test]
#[ignore = "suite real"]
fn the_limit_of_an_outer_group_is_named() {
    let Some(real) = Real::new(FAKE) else { return };
    let Some(groups) = Groups::of_40_tasks() else {
        return switchcost_e2e::untested("no control group can be made here");
    };
    let enter = format!("echo $$ >{}/inner/cgroup.procs && exec \"$0\" \"$@\"", groups.0.display());
    let command =
        real.command("run thread/futex process/pipe --contexts 100 --rounds 1 --batches 1 --budget 60s --format json");
    let said = wrapped(&["sh", "-c", &enter], &command);
    for row in said.json()["results"].as_array().unwrap().iter().filter(|row| row["contexts"] == 100) {
        let reason = row["reason"].as_str().unwrap();
        assert!(reason.contains("pids.max of the control group = 40"), "{row}");
    }
}
