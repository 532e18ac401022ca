//! `check`: one line, a status of its own, in time.

use std::process::{Command, Stdio};
use switchcost_e2e::{Said, World, in_time, scaled, until};

/// Attempts at the CPU: even if other tests measured on it nine tenths of the time, all would fail
/// once in a billion times.
const ATTEMPTS: usize = 200;

/// A world whose baseline `check` is a run of the honest fake.
fn with_baseline() -> World {
    let world = World::new(env!("CARGO_BIN_EXE_switchcost-fake"));
    assert_eq!(world.run("run thread/honest --rounds 12").status, 0);
    assert_eq!(world.run("baseline set check").status, 0);
    world
}

/// One line of at most 80 bytes, and the status that goes with its first words.
fn line(said: &Said) -> &str {
    assert!(said.out.len() <= 80 && said.out.ends_with('\n') && said.out.lines().count() == 1, "{said:?}");
    let status = match said.out.split(": ").next().unwrap() {
        "fit" => 0,
        "not fit" => 1,
        "inconclusive" => 2,
        other => panic!("{other}"),
    };
    assert_eq!(said.status, status, "{said:?}");
    said.out.trim_end()
}

/// What `check` says once no other test measures on the CPU.
fn alone(world: &World, words: &[&str]) -> Said {
    let mut attempts = (0..ATTEMPTS).map(|_| world.run_words(words));
    attempts.find(|said| !said.out.contains("another switchcost")).expect("others had the CPU all the time")
}

/// The same where it can tell. On a machine that is starved even a minute may be too short for two
/// passes: then it is asked again.
fn answered(world: &World, words: &[&str]) -> Said {
    let words = [words, &["--within", "60s"]].concat();
    let unknown = |said: &Said| said.out.starts_with("inconclusive") || said.out.contains("UNKNOWN");
    (0..5).map(|_| alone(world, &words)).find(|said| !unknown(said)).expect("no answer in five minutes")
}

/// What makes this machine unfit whatever its rows cost (a quota on its CPUs): the first words of
/// any answer.
fn unfit(world: &World) -> Option<String> {
    let said = world.run("doctor --format json").json();
    let findings = said["machine"]["findings"].as_array().unwrap();
    let counts = |finding: &&serde_json::Value| {
        ["clock_source", "clock_step", "cpu_quota"].contains(&finding["id"].as_str().unwrap())
            && finding["severity"] == "warning"
    };
    let what = findings.iter().find(counts)?["what"].as_str().unwrap().to_owned();
    Some(format!("not fit: {}", what.chars().take(20).collect::<String>()))
}

#[test]
fn a_node_that_is_as_it_was_is_fit() {
    let world = with_baseline();
    let said = answered(&world, &["check"]);
    match unfit(&world) {
        Some(words) => assert!(line(&said).starts_with(&words), "{said:?}"),
        None => assert_eq!(line(&said), "fit: 1 row at most 10 % above the baseline"),
    }
    assert_eq!(world.run("history").out.lines().filter(|line| line.contains("run thread/honest")).count(), 1);
    assert!(world.leftovers().is_empty());
    let said = world.run("check --baseline nosuch");
    assert_eq!(line(&said), "inconclusive: no baseline `nosuch`; switchcost baseline set nosuch");
}

#[test]
fn a_row_that_costs_more_than_the_baseline_makes_it_unfit_if_it_does_so_twice() {
    let world = with_baseline();
    let faster = world.forged("faster", |body| scaled(body, 0.7));
    let check = |words: &[&str]| answered(&world, &[&["check", "--baseline", &faster][..], words].concat());
    if let Some(words) = unfit(&world) {
        assert!(line(&check(&[])).starts_with(&words));
        return switchcost_e2e::untested("this machine is too busy to be checked");
    }
    assert_eq!(line(&check(&[])), "not fit: thread/honest +43 %");
    let nagios = check(&["--contract", "nagios"]);
    assert_eq!((nagios.status, nagios.out.as_str()), (2, "SWITCHCOST CRITICAL - thread/honest +43 %\n"));
    // A gate above that lets it through.
    assert_eq!(line(&check(&["--gate", "60%"])), "fit: 1 row at most 60 % above the baseline");
}

#[test]
fn a_fact_that_differs_is_told_without_measuring() {
    let world = with_baseline();
    let fact = |name: &str, value: &str| {
        world.forged(name, |body| {
            let start = body.find(&format!("\"{name}\":\"")).unwrap() + name.len() + 4;
            let end = start + body[start..].find('"').unwrap();
            format!("{}{value}{}", &body[..start], &body[end..])
        })
    };
    let kernel = world.run_words(&["check", "--baseline", &fact("kernel.release", "5.4.0-other")]);
    assert!(line(&kernel).starts_with("not fit: kernel.release is "), "{kernel:?}");
    assert!(line(&kernel).contains("baseline 5.4.0-other"), "{kernel:?}");
    // Where check was started from says nothing of the node.
    let deeper = world.run_words(&["check", "--baseline", &fact("cgroup.cpu_depth", "9")]);
    let expected = unfit(&world).unwrap_or_else(|| "inconclusive: cgroup.cpu_depth is ".to_owned());
    assert!(line(&deeper).starts_with(&expected), "{deeper:?}");
}

#[test]
fn without_a_baseline_it_says_how_to_store_one() {
    let world = World::new(env!("CARGO_BIN_EXE_switchcost-fake"));
    // A quota on this process makes any node unfit, baseline or not.
    let said = world.run("check");
    assert!(
        said.status == 1 || line(&said).ends_with("no baseline; after a run: switchcost baseline set check"),
        "{said:?}"
    );
    let nagios = world.run("check --contract nagios");
    assert!(
        said.status == 1 || nagios.out.ends_with("no baseline; after a run: switchcost baseline set check\n"),
        "{nagios:?}"
    );
    for (contract, status) in [("plain", 2), ("npd", 2), ("nagios", 3), ("nhc", 0), ("slurm", 0)] {
        let said = world.run(&format!("check --contract {contract} --baseline golden"));
        assert_eq!(said.status, status, "{said:?}");
        assert!(said.out.len() <= 80, "{said:?}");
        let told = world.run(&format!("check --contract {contract} --baseline golden --verbose"));
        assert!(told.err.contains("runs.sqlite"), "{told:?}");
    }
    // To Nagios 2 is CRITICAL, which a flag that cannot be used is not.
    assert_eq!(world.run("check --contract nagios --within soon").status, 3);
    assert_eq!(world.run("check --contract=nagios --gate").status, 3);
    assert_eq!(world.run("check --contract npd --within soon").status, 2);
}

#[test]
fn what_a_gate_asks_of_a_baseline_is_named() {
    let world = World::new(env!("CARGO_BIN_EXE_switchcost-fake"));
    assert_eq!(world.run("run thread/spread --rounds 10 --seed 1").status, 0);
    assert_eq!(world.run("baseline set check").status, 0);
    let said = alone(&world, &["check", "--gate", "0.1%", "--within", "60s"]);
    let words = unfit(&world).unwrap_or_else(|| "inconclusive: baseline too noisy for --gate".to_owned());
    assert!(line(&said).starts_with(&words), "{said:?}");
}

#[test]
fn a_baseline_that_cannot_be_read_is_named_with_the_cure() {
    let world = World::new(env!("CARGO_BIN_EXE_switchcost-fake"));
    for (name, bytes) in
        [("empty", &b""[..]), ("wide", b"\xff\xfe{\0\"\0"), ("packed", b"\x1f\x8b\x08\0"), ("odd", b"\x7fELF")]
    {
        std::fs::write(world.path(&format!("{name}.jsonl")), bytes).unwrap();
    }
    std::fs::create_dir(world.path("folder.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(world.path("pipe.jsonl")).status().unwrap().success());
    for (name, words) in [
        ("none", "none.jsonl: cannot be read (no such file or directory)"),
        ("folder", "folder.jsonl: cannot be read (it is a folder)"),
        ("pipe", "pipe.jsonl: cannot be read (it is not a regular file)"),
        ("empty", "empty.jsonl: is not a run file: it is empty; give one by `export`"),
        ("wide", "wide.jsonl: it is UTF-16 ..; convert it: iconv -f UTF-16 -t UTF-8"),
        ("packed", "packed.jsonl: it is compressed; unpack it with gunzip first"),
        ("odd", "odd.jsonl: is not a run file: its first l..; give one by `export`"),
    ] {
        let path = world.path(&format!("{name}.jsonl")).to_str().unwrap().to_owned();
        let said = world.run_words(&["check", "--baseline", &path, "-v"]);
        assert_eq!(line(&said), format!("inconclusive: {words}"));
        assert_eq!(said.err.is_empty(), !words.contains(".."), "what the line says is not said twice: {said:?}");
        for command in ["import", "show"] {
            let said = world.run_words(&[command, &path]);
            said.refuses(2, &[words.split(&['(', ';', '.'][..]).next().unwrap()]);
            assert!(!said.err.contains("os error"), "{said:?}");
        }
    }
    world.run("show /tmp").refuses(2, &["/tmp: cannot be read (it is a folder)"]);
    world.run("import /dev/full").refuses(2, &["it is not a regular file"]);
    world.run("check-probe /tmp").refuses(2, &["there is no probe.toml in /tmp"]);
}

#[test]
fn what_is_late_is_named() {
    let world = with_baseline();
    if let Some(words) = unfit(&world) {
        assert!(line(&world.run("check")).starts_with(&words));
        return switchcost_e2e::untested("this machine is too busy to be checked");
    }
    // A probe that hangs is ended in time, with its family and who left that.
    for (name, mechanism) in [("hang", "thread/hang"), ("family", "thread/hang-family"), ("far", "thread/escape")] {
        let hangs = world.forged(name, |body| body.replace("thread/honest", mechanism));
        let said = in_time(|times| {
            let said = alone(&world, &["check", "--within", &format!("{times}s"), "--baseline", &hangs]);
            said.out.contains(mechanism).then_some(said)
        });
        assert!(line(&said).starts_with("inconclusive: "), "{said:?}");
        gone(&world);
    }
}

/// The system ends what is left a moment after its parent.
fn gone(world: &World) {
    until("the end of processes that were left behind", || world.leftovers().is_empty());
}

#[test]
fn a_check_that_is_killed_leaves_nothing() {
    let world = with_baseline();
    if let Some(words) = unfit(&world) {
        assert!(line(&world.run("check")).starts_with(&words));
        return switchcost_e2e::untested("this machine is too busy to be checked");
    }
    let starts = world.counted(env!("CARGO_BIN_EXE_switchcost-fake"), "");
    let hangs = world.forged("hang", |body| body.replace("thread/honest", "thread/hang"));
    let killed = (0..ATTEMPTS).any(|_| {
        let mut child = world
            .command(&["check", "--within", "60s", "--baseline", &hangs])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("a start", || starts.count() > 0 || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        starts.count() > 0
    });
    assert!(killed, "others had the CPU all the time");
    gone(&world);
}
