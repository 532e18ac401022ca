//! What the session does to the tool: locks, limits, words and files of the wrong kind. Each is a
//! sentence with a documented status, and nothing is lost.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use switchcost_e2e::{BY_CTRL_C, Said, World, told, wrapped};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn measured() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --rounds 1 --batches 2");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

/// A run that goes on until it is stopped.
fn endless(world: &World) -> Child {
    world
        .command(&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "600s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Ends it as Ctrl-C does. Whether all of what it measured is stored, and how much that is.
fn stopped(world: &World, mut run: Child) -> (bool, i64) {
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(told(run.wait().unwrap()), BY_CTRL_C);
    let counts = "SELECT count(*), min(sequence), max(sequence) FROM invocation JOIN run ON run = run.key WHERE ended_by = 'interrupt'";
    let store = rusqlite::Connection::open(world.store()).unwrap();
    let (stored, first, last): (i64, i64, i64) =
        store.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    ((first, last) == (0, stored - 1), stored)
}

/// A parent that ignores SIGCHLD, blocks signals and leaves a timer running, and then becomes the
/// program.
const CARELESS: &str = "import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
signal.setitimer(signal.ITIMER_PROF, 0.02)
os.execv(sys.argv[1], sys.argv[1:])";

#[test]
fn what_a_careless_parent_hands_on_accuses_nobody() {
    let world = World::new(FAKE);
    let said =
        world.run_wrapped(&["python3", "-c", CARELESS], &["run", "thread/honest", "--rounds", "6", "--format", "json"]);
    let row = &said.json()["results"][0];
    assert!(said.status == 0 && row["verdict"] == "verified", "{said:?}");
    // Ctrl-C is heard.
    let own = world.command(&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "600s"]);
    let starts = world.counted(FAKE, "");
    let mut careless = Command::new("python3");
    careless.args(["-c", CARELESS]).arg(own.get_program()).args(own.get_args());
    careless.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = careless.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    starts.reach(3);
    assert!(stopped(&world, run).0);
}

/// Another process has the store when the run begins, so that the run has no place there yet.
#[test]
fn a_lock_at_the_beginning_loses_nothing() {
    let world = measured();
    let starts = world.counted(FAKE, "");
    let other = rusqlite::Connection::open(world.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let run = endless(&world);
    // Of two starts the storing has failed.
    starts.reach(3);
    other.execute_batch("COMMIT").unwrap();
    starts.reach(5);
    let (whole, stored) = stopped(&world, run);
    assert!(whole && stored >= 4, "{stored}");
}

/// Another process has the store for longer than a write waits: what could not be stored meanwhile
/// is stored later.
#[test]
fn a_lock_amid_a_run_loses_nothing() {
    let world = measured();
    let starts = world.counted(FAKE, "");
    let run = endless(&world);
    starts.reach(2);
    let other = rusqlite::Connection::open(world.store()).unwrap();
    other.busy_timeout(Duration::from_secs(300)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Starts that were over before the lock are stored; of the two that began under it the first
    // cannot be.
    starts.reach(starts.count() + 2);
    other.execute_batch("COMMIT").unwrap();
    starts.reach(starts.count() + 2);
    let (whole, stored) = stopped(&world, run);
    assert!(whole && stored >= 5, "{stored}");
}

#[test]
fn a_store_that_is_none_is_one_sentence() {
    let world = measured();
    let history = |path: &str| world.run(&format!("history --store {}", world.path(path).display()));
    assert!(Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success());
    std::fs::write(world.path("empty"), "").unwrap();
    history("pipe").refuses(2, &["pipe` cannot be opened", "a device or a pipe"]);
    history("data").refuses(2, &["data` cannot be opened", "a folder"]);
    history("empty").refuses(2, &["empty` holds no runs yet"]);
    assert!(Command::new("mkfifo").arg(world.path("data/switchcost/runs.sqlite-wal")).status().unwrap().success());
    history("data/switchcost/runs.sqlite").refuses(2, &["its `-wal` is a device or a pipe"]);
    std::fs::remove_file(world.path("data/switchcost/runs.sqlite-wal")).unwrap();
    let pipe = world.path("pipe").display().to_string();
    world.run(&format!("run thread/honest --rounds 1 --store {pipe}")).refuses(2, &["a device or a pipe"]);
    rusqlite::Connection::open(world.store()).unwrap().execute_batch("PRAGMA user_version = 6").unwrap();
    let cure = ["has schema 6", "`switchcost export RUN --store OLD -o FILE`", "`switchcost import FILE`"];
    history("data/switchcost/runs.sqlite").refuses(2, &cure);
    world.run("run thread/honest --rounds 1").refuses(2, &cure);
}

/// Commands and host names are in it.
#[test]
fn a_new_store_is_for_its_user_only() {
    let world = measured();
    let mode = std::fs::metadata(world.store()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
}

#[test]
fn words_that_are_not_utf8_are_kept_as_far_as_they_can_be() {
    let world = measured();
    let store = world.path("").into_os_string();
    let store = [store.as_bytes(), b"\xff.sqlite"].concat();
    let mut command = world.command(&["run", "thread/honest", "--rounds", "1", "--batches", "2", "--store"]);
    let said = Said::from(command.arg(OsStr::from_bytes(&store)).output().unwrap());
    assert_eq!(said.status, 0, "{said:?}");
    let said = Said::from(world.command(&["history", "--store"]).arg(OsStr::from_bytes(&store)).output().unwrap());
    assert!(said.status == 0 && said.out.contains("thread/honest"), "{said:?}");
}

/// A file that may not grow is an error of its writer and no signal that ends the process.
#[test]
fn a_limit_on_the_size_of_files_is_one_sentence() {
    let world = measured();
    let limited = |arguments: &str| {
        world.run_wrapped(&["prlimit", "--fsize=4096"], &arguments.split_whitespace().collect::<Vec<_>>())
    };
    let said = limited("history");
    assert!([0, 2].contains(&said.status), "{said:?}");
    let said = limited("run thread/honest --rounds 1 --batches 2");
    assert!([2, 4].contains(&said.status) && said.err.contains("the store"), "{said:?}");
    let target = world.path("page.html");
    let said = limited(&format!("export --format jsonl -o {}", target.display()));
    assert!([0, 2].contains(&said.status) && (said.status == 0) == target.exists(), "{said:?}");
    assert_eq!(world.run("history").status, 0, "the store is as it was");
}

/// Nobody may be there to read what is said beside the result: that is not a reason to lose it.
#[test]
fn what_cannot_be_said_on_stderr_is_left_unsaid() {
    let world = measured();
    let unheard = |arguments: &str| {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = world.command(&arguments.split_whitespace().collect::<Vec<_>>());
        Said::from(command.stderr(full).stdout(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap())
    };
    let run = unheard("run thread/honest --rounds 6 --batches 2");
    assert!(run.status == 0 && run.out.contains("thread/honest"), "{run:?}");
    assert_eq!(world.run("export latest --format json").json()["run"]["ended_by"], "rounds");
    for (arguments, status) in [
        ("list", 0),
        ("run thread/nothing", 2),
        ("run thread/crash --rounds 1 --budget 5s", 3),
        ("show nothing", 2),
        ("compare thread/honest thread/nothing", 2),
        ("export -o /nowhere/at/all", 2),
        ("sweep contexts thread/honest --values 2,3 --rounds 1 --batches 2", 0),
        ("--nothing", 2),
    ] {
        let said = unheard(arguments);
        assert_eq!(said.status, status, "{arguments}: {said:?}");
    }
}

/// Whoever has a second does not wait for a probe that takes a minute to say what it can do.
#[test]
fn the_budget_also_holds_for_probes_that_are_slow_to_answer() {
    let world = World::new(FAKE);
    let late = format!("sleep 50; exec {FAKE} \\\"$0\\\" \\\"$@\\\"");
    let text = switchcost_e2e::probe("fake", "sh", 100).replace("[\"sh\"]", &format!("[\"sh\", \"-c\", \"{late}\"]"));
    world.write("libexec/switchcost/probes/fake/probe.toml", &text);
    for words in ["run --all --budget 1s", "explain thread/honest --rounds 1 --budget 1s"] {
        world.run(words).refuses(3, &["the budget is too short to ask the probes", "--budget"]);
    }
    // Beside one that lacks a package it is this one that could be here.
    world.write("libexec/switchcost/probes/lacking/probe.toml", &switchcost_e2e::probe("lacking", "gone", 5));
    world.run("run thread/honest --budget 1s").refuses(3, &["the budget is too short to ask the probes"]);
}

/// Where /proc is not mounted nothing can be measured: one sentence with the cure, whatever the
/// command.
#[test]
fn without_proc_one_sentence_says_what_to_mount() {
    let world = measured();
    let without = |plain: &Command| {
        let script = "mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
        wrapped(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script], plain)
    };
    let probe = without(&Command::new("true"));
    if probe.status != 0 {
        switchcost_e2e::untested(&format!("no namespace without /proc can be made here ({})", probe.err.trim()));
        return;
    }
    for words in [&["run", "thread/honest", "--rounds", "1"][..], &["list"]] {
        let mut unplaced = world.command(words);
        unplaced.env_remove("SWITCHCOST_LIBEXEC");
        without(&unplaced).refuses(3, &["/proc", "mount", "SWITCHCOST_LIBEXEC"]);
    }
    // Told where it is, it says the same of what it cannot look at.
    let said = without(&world.command(&["run", "thread/honest", "--rounds", "1", "--batches", "2"]));
    assert!(said.status == 3 && said.err.contains("/proc"), "{said:?}");
}

/// No clock of a run file is out of range.
#[test]
fn runs_of_wrong_clocks_are_shown() {
    let world = measured();
    let clocks = [
        ("1969", "-1", "1969-12-31"),
        ("1677", "-9223372036854775808", "1677-09-21"),
        ("2262", "9223372036854775807", "2262-04-11"),
    ];
    for (name, ns, day) in clocks {
        let file = world.forged(name, |body| {
            let (head, rest) = body.split_once("\"started_unix_ns\":").unwrap();
            let rest = &rest[rest.find(',').unwrap()..];
            let (between, tail) = rest.split_once("\"ended_unix_ns\":").unwrap();
            let tail = &tail[tail.find(',').unwrap()..];
            let (before, after) = head.split_once("\"id\":\"").unwrap();
            let after = &after[after.find('"').unwrap()..];
            format!("{before}\"id\":\"of-{name}{after}\"started_unix_ns\":{ns}{between}\"ended_unix_ns\":{ns}{tail}")
        });
        assert_eq!(world.run(&format!("import {file}")).status, 0, "{name}");
        let shown = [
            format!("show of-{name}"),
            format!("export --private-facts --format md of-{name}"),
            "history --machine all".to_owned(),
        ];
        for command in shown {
            let said = world.run(&command);
            assert!(said.status == 0 && said.out.contains(day), "{command}: {said:?}");
        }
    }
}

/// Memory that runs out is a sentence: Rust alone would end by a signal.
#[test]
fn memory_that_runs_out_is_one_sentence() {
    let world = measured();
    for megabytes in [24, 30, 36, 42, 50, 60] {
        let limit = format!("--as={megabytes}000000");
        let run = ["run", "thread/honest", "--rounds", "1", "--batches", "2"];
        // Where not even the program itself fits, the kernel or the loader ends it.
        if world.run_wrapped(&["prlimit", &limit], &["--version"]).status != 0 {
            assert!(megabytes < 36, "the program takes {megabytes} MB to say its version");
            continue;
        }
        let said = world.run_wrapped(&["prlimit", &limit], &run);
        assert!([0, 3, 4].contains(&said.status), "{megabytes} MB: {said:?}");
        let told = |words| said.err.contains(words);
        assert!(said.status != 3 || told("memory ran out") || told("a limit of this session"), "{said:?}");
    }
    assert_eq!(world.run("history").status, 0, "the store is as it was");
}

/// A small stack is enough: who overflows his own is ended by a signal.
#[test]
fn a_small_stack_is_enough() {
    let world = measured();
    for arguments in [&["history"][..], &["show"], &["run", "thread/honest", "--rounds", "1", "--batches", "2"]] {
        let said = world.run_wrapped(&["prlimit", "--stack=65536"], arguments);
        assert_eq!(said.status, 0, "{said:?}");
    }
}

/// A shell may start services and then become the tool: they are nobody's strays.
#[test]
fn what_was_there_before_the_tool_is_left_alone() {
    let world = measured();
    let starts = world.counted(FAKE, "");
    // Both are there before the tool. The second loses its parent while the third start is held,
    // and is given to the tool.
    starts.hold(3);
    let script = "setsid sleep 1000 > /dev/null 2>&1 & echo $!
                  setsid sh -c 'sleep 1000 > /dev/null & echo $!; exec > /dev/null; : >\"$1.ready\"
                                while [ $(wc -l < \"$1\") -lt 3 ]; do sleep 0.01; done; rm \"$2\"' sh \"$0\" \"$1\" 2> /dev/null &
                  until [ -e \"$0.ready\" ]; do sleep 0.01; done; shift; exec \"$@\" > /dev/null 2>&1";
    let words = ["run", "thread/honest", "--rounds", "6", "--batches", "2"];
    let said = world.run_wrapped(&["sh", "-c", script, path(starts.file()), path(&world.path("hold"))], &words);
    let services: Vec<&str> = said.out.split_whitespace().collect();
    assert_eq!((services.len(), said.status), (2, 0), "{said:?}");
    // A signal reaches only who is there.
    let ended = |service: &&&str| !Command::new("kill").arg(service).status().is_ok_and(|sent| sent.success());
    let gone: Vec<_> = services.iter().filter(ended).collect();
    assert!(gone.is_empty(), "{gone:?} of {services:?} were killed");
}

/// As the first process in a container it is given the orphans of whoever came in by `docker exec`
/// while it measures; those of a probe it ends as ever.
#[test]
fn orphans_of_those_who_come_into_its_container_are_left_alone() {
    let world = measured();
    let starts = world.counted(FAKE, "setsid sleep 1000 > /dev/null 2>&1 &");
    // The orphan comes in during the first start and lives through the ends of two, whose own
    // orphans are ended.
    starts.hold(1);
    let script = r#"unshare --user --map-root-user --pid --fork --mount-proc --kill-child "$2" run thread/honest --rounds 3 --batches 2 \
                        --format json 2>/dev/null &
                    outer=$!
                    while [ -e /proc/$outer ] && [ ! -s "$0" ]; do sleep 0.01; done
                    inner=$({ cat /proc/$outer/task/$outer/children 2>/dev/null || ps -o pid= --ppid $outer; } | tr -d ' ')
                    nsenter --user --preserve-credentials --mount --pid --target $inner sh -c '
                        setsid sh -c "until [ \$(wc -l <\"$0\") = 3 ]; do sleep 0.01; done; echo lived >&2; rm \"$1\"" "$0" "$1" & exit 0
                        ' "$0" "$1" || { echo no namespaces >&2; rm "$1"; }
                    [ ! -e "$1" ] || echo 3 >"$1"
                    wait $outer"#;
    let said = world.run_wrapped(&["sh", "-c", script, path(starts.file()), path(&world.path("hold"))], &[]);
    if said.err.contains("no namespaces") {
        switchcost_e2e::untested(&format!("no PID namespace can be made and entered here ({})", said.err.trim()));
        return;
    }
    assert!(said.err.contains("lived"), "{said:?}");
    let notes = said.json()["results"][0]["notes"].to_string();
    assert!(notes.contains(" starts and were ended by the host"), "{notes}");
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Root may have the home of a user (sudo), who can plant anything where `list` remembers what
/// probes said.
#[test]
fn what_is_planted_in_the_cache_is_neither_followed_nor_waited_for() {
    let world = measured();
    assert_eq!(world.run("list").status, 0);
    let cache = world.path("cache/switchcost/describe");
    let name = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&name).unwrap();
    let victim = world.path("victim");
    std::fs::write(&victim, "three weeks of work").unwrap();
    let script = "ln -s \"$1\" \"${2%.jsonl}.$$.partial\"; mkfifo \"$2\"; exec timeout 20 \"$0\" list";
    // Whoever becomes another program keeps its process id, but for `timeout`, which starts one: so
    // without and with it.
    for script in [script.replace("mkfifo \"$2\"; exec timeout 20 ", "exec "), script.to_owned()] {
        let words = [victim.to_str().unwrap(), name.to_str().unwrap()];
        let said = world.run_wrapped(&["sh", "-c", &script], &words);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "three weeks of work");
        assert!(!std::fs::symlink_metadata(&name).is_ok_and(|there| there.is_symlink()), "{said:?}");
    }
}

/// Whoever clears up while it is measured, removes the store: the run is stored whole in a new one.
#[test]
fn a_store_that_is_removed_amid_a_run_is_made_anew() {
    let world = measured();
    let starts = world.counted(FAKE, "");
    let run = endless(&world);
    starts.reach(3);
    std::fs::remove_dir_all(world.path("data")).unwrap();
    starts.reach(starts.count() + 2);
    let (whole, stored) = stopped(&world, run);
    assert!(whole && stored >= 4, "{stored}");
}

/// By a copy of itself, as a synchronised folder does it: the copy has a part of the run.
#[test]
fn a_store_that_is_replaced_amid_a_run_is_told_as_that() {
    let world = measured();
    let starts = world.counted(FAKE, "");
    let mut command =
        world.command(&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "600s"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    starts.reach(3);
    let copy = world.path("copy.sqlite");
    let store = rusqlite::Connection::open(world.store()).unwrap();
    store.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    drop(store);
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", world.store().display()));
    }
    std::fs::rename(&copy, world.store()).unwrap();
    starts.reach(starts.count() + 2);
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let said: switchcost_e2e::Said = run.wait_with_output().unwrap().into();
    assert!(said.status == BY_CTRL_C && said.err.contains("was replaced by another while the run"), "{said:?}");
    assert!(!said.err.contains("a different run"), "{said:?}");
    assert!(world.run("history").out.contains("unfinished"), "what the copy held is kept");
}

/// The result can neither be shown nor kept: both are told, the store first, since that loses the
/// figures.
#[test]
fn a_result_that_is_neither_shown_nor_stored_is_told_as_both() {
    let world = measured();
    let other = rusqlite::Connection::open(world.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut command = world.command(&["run", "thread/honest", "--rounds", "1", "--batches", "2"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let said: switchcost_e2e::Said = command.stdout(full).stderr(Stdio::piped()).output().unwrap().into();
    let both = ["is locked by another process", "cannot write to standard output"];
    assert!(said.status == 4 && both.iter().all(|words| said.err.contains(words)), "{said:?}");
}
