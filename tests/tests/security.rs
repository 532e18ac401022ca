//! What docs/security.md says of rights.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Stdio};
use switchcost_e2e::{BY_CTRL_C, World, page_data};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

const NOBODY: u32 = 65534;

#[test]
fn root_starts_only_what_nobody_else_may_change() {
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        switchcost_e2e::untested("not root");
        return;
    }
    for part in ["", "/fake", "/fake/probe.toml", "/fake/other"] {
        let world = World::new(FAKE);
        world.write("libexec/switchcost/probes/fake/other", "a library");
        let run = || world.run("run thread/honest --rounds 1 --batches 2");
        assert_eq!(run().status, 0);
        let path = world.path(&format!("libexec/switchcost/probes{part}"));
        let mode = std::fs::metadata(&path).unwrap().permissions();
        for (change, reason) in [(0o002, "can be written by others"), (0o020, "can be written by others")] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode.mode() | change)).unwrap();
            let said = run();
            said.refuses(2, &[reason]);
            assert!(world.run("list").words().contains(reason), "{part}");
        }
        std::fs::set_permissions(&path, mode).unwrap();
        chown(&path, Some(NOBODY), None).unwrap();
        run().refuses(2, &["belongs to another user"]);
        assert!(world.run("list").words().contains("belongs to another user"), "{part}");
        chown(&path, Some(0), None).unwrap();
        assert_eq!(run().status, 0, "{part}");
    }
}

/// By whatever way its name came: a folder, the PATH, a `probe.toml`.
#[test]
fn root_starts_nobody_else_s_program_by_any_way() {
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        return switchcost_e2e::untested("not root");
    }
    let world = World::new(FAKE);
    let (bobs, proof) = (world.path("bob"), world.path("proof"));
    let script = format!("#!/bin/sh\nid >{}\n", proof.display());
    let text = |command: &str| {
        format!("id = \"evil\"\ntitle = \"t\"\nsource = \"evil\"\ncommand = [\"{command}\"]\nstart_timeout_ms = 1000\n")
    };
    let program = |path: &str| {
        world.write(path, &script);
        std::fs::set_permissions(world.path(path), Permissions::from_mode(0o755)).unwrap();
        chown(world.path(path), Some(NOBODY), None).unwrap();
    };
    for name in ["bob/evil/p", "bob/bin/p", "bob/bin/srun", "mine/sub/p"] {
        program(name);
    }
    world.write("bob/evil/probe.toml", &text("./p"));
    world.write("mine/probe.toml", &text("./sub/p"));
    world.write("ours/probe.toml", &text("p"));
    for folder in ["bob", "bob/evil", "bob/bin"] {
        chown(world.path(folder), Some(NOBODY), None).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", bobs.join("bin").display());
    let evil = bobs.join("evil").display().to_string();
    let [mine, ours] = ["mine", "ours"].map(|name| world.path(name).display().to_string());
    for (words, status) in [
        (vec!["check-probe", &evil], 2),
        (vec!["check-probe", &mine], 3),
        (vec!["check-probe", &ours], 3),
        (vec!["fleet", "plan", "--launcher", "srun", "--nodes", "a,b", "--into", &mine, "--go"], 2),
    ] {
        let said: switchcost_e2e::Said = world.command(&words).env("PATH", &path).output().unwrap().into();
        said.refuses(status, &["belongs to another user"]);
        assert!(!proof.exists(), "{words:?}");
    }
    // Root's own program in a folder that anybody may write could be exchanged.
    program("open/p");
    chown(world.path("open/p"), Some(0), None).unwrap();
    world.write("third/probe.toml", &text(&world.path("open/p").display().to_string()));
    std::fs::set_permissions(world.path("open"), Permissions::from_mode(0o777)).unwrap();
    world.run_words(&["check-probe", world.path("third").to_str().unwrap()]).refuses(3, &["can be written by others"]);
    assert!(!proof.exists());
    std::fs::set_permissions(world.path("open"), Permissions::from_mode(0o755)).unwrap();
    let _ = world.run_words(&["check-probe", world.path("third").to_str().unwrap()]);
    assert!(proof.exists(), "root's own program was not started");
}

/// What is given to others does not say whose it is, unless that is asked.
#[test]
fn exports_and_pages_leave_out_whose_the_run_is() {
    let world = World::new(FAKE);
    world.write("share/switchcost/report.html", "\"@switchcost-data@\"");
    let (store, page) = (world.path("alices/own.sqlite"), world.path("page.html"));
    std::fs::create_dir(world.path("alices")).unwrap();
    let (store, page) = (store.to_str().unwrap(), page.to_str().unwrap());
    let words = ["run", "thread/honest", "--rounds", "1", "--batches", "2", "--store", store];
    let mut run = world.command(&words);
    run.env("USER", "alice77").env("LOGNAME", "alice77").env("HOME", world.path("home-of-alice77"));
    assert!(run.output().unwrap().status.success());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    // A name may be short and part of other words.
    let host = format!("\"{}\"", host.trim());
    let secrets = [host.as_str(), "alice", world.path("").to_str().unwrap()].map(str::to_owned);
    let told = |text: &str| secrets.iter().filter(|secret| text.contains(secret.as_str())).cloned().collect::<Vec<_>>();
    for format in ["jsonl", "json", "csv", "md", "benchstat"] {
        let said = world.run_words(&["export", "--format", format, "--store", store]);
        assert_eq!((said.status, told(&said.out)), (0, vec![]), "{format}: {}", said.out);
    }
    assert_eq!(world.run_words(&["report", "--store", store, "-o", page]).status, 0);
    let text = page_data(&std::fs::read_to_string(page).unwrap()).to_string();
    assert!(text.contains("thread/honest") && told(&text).is_empty(), "{:?} in {text}", told(&text));
    let private = world.run_words(&["export", "--private-facts", "--store", store]).out;
    assert_eq!(told(&private), secrets, "{private}");
}

#[test]
fn two_runs_at_once_are_told_and_one_can_wait() {
    let world = World::new(FAKE);
    let starts = world.counted(FAKE, "");
    let spawned = |words: &[&str]| {
        let mut command = world.command(&[&["run", "thread/honest", "--batches", "2", "--wait"][..], words].concat());
        command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    };
    // Other tests may measure as well; then it waits until it has the CPU.
    let mut first = spawned(&["--rounds", "100000", "--budget", "600s"]);
    starts.reach(1);
    let told = world.run("run thread/honest --rounds 1 --batches 2 --format json");
    assert!(told.err.contains("another switchcost measures on CPU"), "{told:?}");
    assert!(told.out.contains("another switchcost measured on CPU"), "{told:?}");
    let mut second = spawned(&["--rounds", "1"]);
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("waiting until it is done")));
    assert!(Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap().success());
    assert_eq!(switchcost_e2e::told(first.wait().unwrap()), BY_CTRL_C);
    assert!(!lines.any(|line| line.contains("panicked")));
    assert!(second.wait().unwrap().success());
    let store = rusqlite::Connection::open(world.store()).unwrap();
    let moment =
        |what: &str| store.query_row(&format!("SELECT {what} FROM run"), [], |row| row.get::<_, i64>(0)).unwrap();
    let ended = moment("max(CASE ended_by WHEN 'interrupt' THEN ended_unix_ns END)");
    assert!(moment("max(started_unix_ns)") >= ended, "the second did not wait for the first");
    let said = world.run("run thread/honest --rounds 1 --batches 2 --format json --wait");
    assert!(!said.out.contains("another switchcost measured"), "{said:?}");
}

#[test]
fn a_probe_keeps_no_right_of_root_but_those_that_its_page_names() {
    let world = World::new(FAKE);
    // Tells what it may do and goes on as the probe.
    let told = world.path("told");
    let wrapper =
        format!("#!/bin/sh\necho $1 $(grep CapBnd /proc/self/status) >>{}\nexec {FAKE} \"$@\"\n", told.display());
    world.write("libexec/switchcost/probes/fake/wrapper", &wrapper);
    let path = world.path("libexec/switchcost/probes/fake/wrapper");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    world.write("libexec/switchcost/probes/fake/probe.toml", &switchcost_e2e::probe("fake", "./wrapper", 100));
    let page = |rights: &str| format!("capabilities.fake = [{rights}]\n{}", switchcost_e2e::mechanism(""));
    world.write("share/switchcost/mechanisms/thread/honest.toml", &page(""));
    world.write("share/switchcost/mechanisms/thread/spread.toml", &page("\"sys_nice\", \"kill\""));
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("CapBnd:")).unwrap();
    let own = u64::from_str_radix(own.trim(), 16).unwrap();
    // Whoever may not give up rights keeps them; for an ordinary user the set means nothing.
    let may = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) && own & 1 << 8 != 0;
    let kept = |set: u64| if may { own & set } else { own };
    for (mechanism, set) in [("honest", 0), ("spread", 1 << 23 | 1 << 5)] {
        let said = world.run(&format!("run thread/{mechanism} --rounds 1 --batches 2"));
        assert_eq!(said.status, 0, "{said:?}");
        let lines = std::fs::read_to_string(&told).unwrap();
        std::fs::remove_file(&told).unwrap();
        let rights = |command: &str| -> Vec<u64> {
            let words = lines.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            words.filter(|words| words[0] == command).map(|words| u64::from_str_radix(words[2], 16).unwrap()).collect()
        };
        // Asked what it can do, it has what any of its pages names.
        assert_eq!(rights("describe"), [kept(1 << 23 | 1 << 5)], "{lines}");
        let runs = rights("run");
        assert!(!runs.is_empty() && runs.iter().all(|right| *right == kept(set)), "{lines}");
    }
    world.write("share/switchcost/mechanisms/thread/honest.toml", &page("\"sys_nise\""));
    let said = world.run("run thread/honest");
    assert!(said.status == 3 && said.out.contains("there is no capability `sys_nise`"), "{said:?}");
}

/// `sudo -E`: what root makes in the home of another belongs to that user.
#[test]
fn root_leaves_nothing_of_its_own_in_the_home_of_another() {
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        return switchcost_e2e::untested("not root");
    }
    let world = World::new(FAKE);
    let home = world.path("home");
    std::fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let run = |words: &[&str]| {
        let mut command = world.command(words);
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME").env("HOME", &home);
        let said: switchcost_e2e::Said = command.output().unwrap().into();
        assert_eq!(said.status, 0, "{words:?}: {said:?}");
    };
    for words in [
        &["list"][..],
        &["run", "thread/honest", "--rounds", "1", "--batches", "2"],
        &["list"],
        &["baseline", "set", "a"],
    ] {
        run(words);
        let mut folders = vec![home.clone()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let facts = std::fs::symlink_metadata(&path).unwrap();
                assert_eq!((facts.uid(), facts.gid()), (NOBODY, NOBODY), "{} after {words:?}", path.display());
                folders.extend(facts.is_dir().then_some(path));
                count += 1;
            }
        }
        assert!(count > 2, "{count} files after {words:?}");
    }
}
