//! `check`: one line, a status of its own, in time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use switchcost_e2e::{Said, World};

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
        "cannot tell" => 2,
        other => panic!("{other}"),
    };
    assert_eq!(said.status, status, "{said:?}");
    said.out.trim_end()
}

/// Other programs had the CPU, or another test measured on it: then nothing is known, and that is right.
fn busy(said: &Said) -> bool {
    said.status == 2
        && ["disturbed", "slowed", "another switchcost", "start", "steady", "measured"]
            .iter()
            .any(|word| said.out.contains(word))
}

#[test]
fn a_node_that_is_as_it_was_is_fit() {
    let world = with_baseline();
    let said = world.run("check --within 10s");
    assert!(busy(&said) || line(&said) == "fit: 1 row at most 10 % above the baseline", "{said:?}");
    assert_eq!(world.run("history").out.lines().filter(|line| line.contains("run thread/honest")).count(), 1);
    assert!(world.leftovers().is_empty());
}

#[test]
fn a_row_that_costs_more_than_the_baseline_makes_it_unfit_if_it_does_so_twice() {
    let world = with_baseline();
    let faster = world.forged("faster", |body| body.replace("100000", "70000"));
    let said = world.run_words(&["check", "--within", "10s", "--baseline", &faster]);
    assert!(busy(&said) || line(&said) == "not fit: thread/honest +43 %", "{said:?}");
    let nagios = world.run_words(&["check", "--within", "10s", "--contract", "nagios", "--baseline", &faster]);
    let critical = (2, "SWITCHCOST CRITICAL - thread/honest +43 %\n");
    assert!(nagios.status == 3 || (nagios.status, nagios.out.as_str()) == critical, "{nagios:?}");
    // A gate above that lets it through.
    let loose = world.run_words(&["check", "--within", "10s", "--gate", "60%", "--baseline", &faster]);
    assert!(busy(&loose) || loose.status == 0, "{loose:?}");
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
    assert!(line(&deeper).starts_with("cannot tell: cgroup.cpu_depth is "), "{deeper:?}");
}

#[test]
fn without_a_baseline_it_says_how_to_store_one() {
    let world = World::new(env!("CARGO_BIN_EXE_switchcost-fake"));
    // A quota on this process makes any node unfit, baseline or not.
    let said = world.run("check");
    assert!(said.status == 1 || line(&said).ends_with("switchcost run && switchcost baseline set check"), "{said:?}");
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
fn what_is_late_is_named() {
    let world = with_baseline();
    // Nobody ever writes into this.
    let pipe = world.path("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = world.run_words(&["check", "--within", "1s", "--baseline", pipe.to_str().unwrap()]);
    assert_eq!(line(&said), "cannot tell: late: reading the baseline, not done within 1s");
    // A probe that hangs is ended in time, with its family.
    for (name, mechanism) in [("hang", "thread/hang"), ("family", "thread/hang-family")] {
        let hangs = world.forged(name, |body| body.replace("thread/honest", mechanism));
        let said = world.run_words(&["check", "--within", "2s", "--baseline", &hangs]);
        assert!(line(&said).starts_with("cannot tell: "), "{said:?}");
        gone(&world);
    }
}

/// The system ends what is left a moment after its parent.
fn gone(world: &World) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !world.leftovers().is_empty() {
        assert!(Instant::now() < patience, "{:?} are left", world.leftovers());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_check_that_is_killed_leaves_nothing() {
    let world = with_baseline();
    let hangs = world.forged("hang", |body| body.replace("thread/honest", "thread/hang"));
    let mut child = world
        .command(&["check", "--within", "60s", "--baseline", &hangs])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while world.leftovers().is_empty() && Instant::now() < patience && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    gone(&world);
}
