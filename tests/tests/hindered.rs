//! What is in the way of a probe has its name: a filter of the session, the class that a parent
//! handed on, CPUs that the kernel keeps back.

use switchcost_e2e::{Real, Said, World, wrapped};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Becomes a program behind a filter that answers calls, as `CALL=ANSWER,…`: 0x50001 refuses with
/// EPERM, 0x80000000 kills.
const FILTERED: &str = r#"
import ctypes, os, struct, sys
load, equal, end = 0x20, 0x15, 0x06
rules = [(load, 0, 0, 0)]
for word in sys.argv[1].split(","):
    call, answer = word.split("=")
    rules += [(equal, 0, 1, int(call)), (end, 0, 0, int(answer, 16))]
rules += [(end, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ" if struct.calcsize("P") == 8 else "HxxI", len(rules), ctypes.addressof(code)))
call = ctypes.CDLL(None, use_errno=True)
if call.prctl(38, 1, 0, 0, 0) or call.prctl(22, 2, program): sys.exit("no filter can be set here")
os.execv(sys.argv[2], sys.argv[2:])
"#;

/// Becomes a program under SCHED_IDLE. It says first whether that class may be left.
const IDLE: &str = r#"
import os, sys
def to(policy): os.sched_setscheduler(0, policy, os.sched_param(0))
to(os.SCHED_IDLE)
try: to(os.SCHED_OTHER); print("left", file=sys.stderr)
except PermissionError: print("held", file=sys.stderr)
to(os.SCHED_IDLE)
sys.stderr.flush()
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// What the rows of a run say that are not verified.
fn reasons(said: &Said) -> Vec<String> {
    let rows = said.json()["results"].as_array().unwrap().clone();
    assert!(!rows.is_empty(), "{said:?}");
    let of = |row: &serde_json::Value| row["reason"].as_str().map(str::to_owned);
    rows.iter().filter(|row| row["verdict"] != "verified").filter_map(of).collect()
}

#[test]
fn a_filter_that_refuses_clone3_is_named() {
    let Some(real) = Real::new(FAKE) else { return };
    let command = real.command("run thread/pipe --rounds 1 --batches 1 --format json");
    // As filters did that knew it not (moby 42680).
    let said = wrapped(&["python3", "-c", FILTERED, "435=0x50001"], &command);
    if said.err.contains("no filter can be set") {
        return switchcost_e2e::untested("no filter can be set here");
    }
    // musl, and C libraries older than the call, start threads without it.
    let told = |reason: &String| reason.contains("a filter of the session (seccomp) refuses the call");
    let found = reasons(&said);
    assert!(found.iter().all(told), "{said:?}");
    // Where no thread spun there is no share, however long it all took.
    assert!(found.is_empty() || !said.words().contains("of one CPU over the last"), "{said:?}");
}

/// Numbers of calls are those of x86-64.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_wall_that_the_session_does_not_allow_is_a_row_with_its_reason() {
    let Some(real) = Real::new(FAKE) else { return };
    let filters = [
        ("101=0x50001", "sandbox/ptrace", "may not trace its own child (Operation not permitted); see kernel.yama"),
        ("444=0x5005f", "sandbox/syscall --param wall=landlock", "Landlock was refused (Operation not supported)"),
        ("317=0x50001", "sandbox/syscall", "a seccomp filter was refused (Operation not permitted)"),
        ("317=0x50001", "sandbox/notify", "and a session whose filter allows it"),
        ("323=0x50001", "sandbox/userfaultfd", "a session whose filter allows it"),
        ("449=0x50026", "thread/futex-waitv", "lacks futex_waitv"),
        ("240=0x80000000", "process/mqueue", "killed by signal 31 (SIGSYS: a filter of the session forbids"),
        // This one is killed when it is asked what it can do.
        ("449=0x80000000", "thread/futex-waitv", "killed by signal 31 (SIGSYS: a filter of the session forbids"),
    ];
    for (filter, row, words) in filters {
        let command = real.command(&format!("run {row} --rounds 1 --batches 1 --format json"));
        let said = wrapped(&["python3", "-c", FILTERED, filter], &command);
        if said.err.contains("no filter can be set") {
            return switchcost_e2e::untested("no filter can be set here");
        }
        let found = reasons(&said);
        assert!(found.len() == 1 && found[0].contains(words), "{filter} {row}: {found:?}, {said:?}");
    }
}

/// The limit of a user namespace is its own.
#[test]
fn a_system_without_user_namespaces_is_a_row_with_its_reason() {
    let Some(real) = Real::new(FAKE) else { return };
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"];
    if wrapped(&wrapper, &real.command("--version")).status != 0 {
        return switchcost_e2e::untested("no user namespace can be made here");
    }
    let said = wrapped(&wrapper, &real.command("run container/futex --rounds 1 --batches 1 --format json"));
    let found = reasons(&said);
    assert!(found.iter().any(|reason| reason.contains("user.max_user_namespaces = 0; raise it")), "{said:?}");
}

#[test]
fn an_idle_class_is_left_or_told() {
    let world = World::new(FAKE);
    let said = world.run_wrapped(&["python3", "-c", IDLE], &["doctor", "--format", "json"]);
    let class = said.json()["machine"]["drifting"]["process.class"].clone();
    assert_eq!(class == "other", said.err.contains("left"), "{class}: {}", said.err);
    assert_eq!(said.out.contains("was started under SCHED_IDLE"), said.err.contains("held"), "{said:?}");
}

#[test]
fn an_idle_class_that_may_not_be_left_is_the_reason() {
    let Some(real) = Real::new(FAKE) else { return };
    let command = real.command("run thread/pipe --rounds 1 --batches 1 --format json");
    let as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c", IDLE];
    let folder = tempfile::tempdir().unwrap();
    let home = |mut command: std::process::Command| {
        command.env("HOME", folder.path()).env("XDG_DATA_HOME", folder.path()).env("XDG_CACHE_HOME", folder.path());
        command
    };
    std::os::unix::fs::chown(folder.path(), Some(65534), Some(65534)).ok();
    let said = wrapped(&as_nobody, &home(command));
    if !said.err.contains("held") || said.out.is_empty() {
        return switchcost_e2e::untested("nobody may leave that class here, or not start the program");
    }
    let found = reasons(&said);
    assert!(!found.is_empty() && found.iter().all(|reason| reason.contains("started under SCHED_IDLE")), "{said:?}");
    assert!(!found.iter().any(|reason| reason.contains("ulimit -r")), "{found:?}");
}

/// A CPU that was isolated at boot is in no inherited affinity: whoever names it gets it, and
/// nobody else.
#[test]
fn an_isolated_cpu_is_had_by_its_number() {
    let world = World::new(FAKE);
    let script = "mount --bind \"$1\" /sys/devices/system/cpu/isolated && shift && exec taskset -c 0 \"$@\"";
    let isolated = world.path("isolated");
    world.write("isolated", "1\n");
    let wrapper =
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", isolated.to_str().unwrap()];
    if world.run_wrapped(&wrapper, &["--version"]).status != 0 {
        return switchcost_e2e::untested("no file of /sys can be replaced here, or there is one CPU");
    }
    let run =
        |row: &str| world.run_wrapped(&wrapper, &["run", row, "--rounds", "1", "--batches", "2", "--format", "json"]);
    let named = run("thread/honest pair:1-1");
    assert_eq!(reasons(&named), [""; 0], "{named:?}");
    assert!(named.out.contains("\"verified\""), "{named:?}");
    let doctor = world.run_wrapped(&wrapper, &["doctor", "-v"]).words();
    assert!(doctor.contains("the kernel's isolcpus leaves only CPU 0") && doctor.contains("pair:A-A"), "{doctor}");
}

/// By the ids that the outer /proc gives, strangers would be watched.
#[test]
fn a_proc_of_another_pid_namespace_is_no_witness() {
    let world = World::new(FAKE);
    let wrapper = ["unshare", "--user", "--map-root-user", "--pid", "--fork"];
    if world.run_wrapped(&wrapper, &["--version"]).status != 0 {
        return switchcost_e2e::untested("no PID namespace can be made here");
    }
    let other = ["/proc shows the processes of another PID namespace", "mount -t proc proc /proc"];
    world.run_wrapped(&wrapper, &["run", "thread/honest", "--rounds", "1"]).refuses(3, &other);
    world.run_wrapped(&wrapper, &["audit", "--for", "1s", "--", "sleep", "9"]).refuses(2, &other);
    world.run_wrapped(&wrapper, &["audit", "--pid", "1"]).refuses(2, &other);
    world.run_wrapped(&wrapper, &["audit", "--wakeups", "--pid", "1"]).refuses(2, &other);
    let doctor = world.run_wrapped(&wrapper, &["doctor"]).words();
    assert!(doctor.contains(other[0]) && doctor.contains(other[1]), "{doctor}");
    let listed = world.run_wrapped(&wrapper, &["list", "-v"]).words();
    assert!(other.iter().all(|words| listed.contains(words)), "{listed}");
    world.run("show").refuses(2, &["holds no runs"]);
}

/// Each line of the table of limits is carried out, with real probes.
#[test]
#[ignore = "suite real"]
fn each_limit_is_named() {
    let Some(real) = Real::new(FAKE) else { return };
    let page = std::fs::read_to_string(switchcost_e2e::repository().join("docs/limits.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `prlimit ")?.split_once("` |"));
    let rows: Vec<(&str, &str)> = rows.map(|(flag, rest)| (flag, rest.split('`').nth(1).unwrap())).collect();
    assert!(rows.len() >= 7, "{rows:?}");
    for (flag, words) in rows {
        let run = "run thread/futex fiber/asyncio fiber/goroutine --rounds 1 --batches 5 --format json";
        let said = wrapped(&["prlimit", flag], &real.command(run));
        assert!(format!("{} {}", said.out, said.err).contains(words), "{flag}: {words} is missing in {said:?}");
    }
}
