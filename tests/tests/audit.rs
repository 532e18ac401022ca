//! `audit` with the real binary, on programs whose switches are known.

use std::process::{Command, Stdio};
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with a row for every price.
fn priced() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=500,1000,30000 --rounds 6");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

/// A child that ends with the test.
struct Child(std::process::Child);

impl Child {
    fn start(words: &[&str]) -> Self {
        Self(Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_switch_of_a_command_is_counted() {
    let world = priced();
    let file = world.path("audit.json");
    let said = world.run_words(&[
        "audit",
        "--format",
        "json",
        "--output",
        file.to_str().unwrap(),
        "--",
        FAKE,
        "switch",
        "400",
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let own: Vec<u64> = said.out.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let (voluntary, involuntary) = (json["voluntary"].as_u64().unwrap(), json["involuntary"].as_u64().unwrap());
    // After it has read its own counters it joins one thread and ends: a handful of switches.
    assert!((own[0]..=own[0] + 8).contains(&voluntary), "{own:?} {json}");
    assert!((own[1]..=own[1] + 8).contains(&involuntary), "{own:?} {json}");
    assert!(own[0] >= 200, "two threads that wake each other 400 times block at least 200 times: {own:?}");
    let kinds = json["kinds"].as_array().unwrap();
    let total: f64 = kinds.iter().map(|kind| kind["switches"].as_f64().unwrap()).sum();
    assert!((total - (voluntary + involuntary) as f64).abs() < 1e-6, "every switch has a kind: {json}");
    for kind in kinds {
        let each = kind["cost_ns"].as_f64().unwrap() / kind["switches"].as_f64().unwrap();
        let expected = match kind["kind"].as_str().unwrap() {
            "same_cpu" => 1000.0,
            "preempted" => 500.0,
            _ => 30_000.0,
        };
        assert!((each - expected).abs() < 1e-6, "{kind}");
    }
}

#[test]
fn a_sleeper_does_not_matter() {
    let world = priced();
    let sleeper = Child::start(&["sleep", "60"]);
    // Until it has begun to sleep.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let said = world.run_words(&["audit", "--pid", &sleeper.pid(), "--for", "300ms", "--format", "json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    assert_eq!((&json["voluntary"], &json["involuntary"], &json["program"]), (&0.into(), &0.into(), &"sleep".into()));
    let text = world.run_words(&["audit", "--pid", &sleeper.pid(), "--for", "300ms"]);
    assert!(text.out.contains("No switch was seen") && text.out.contains("not known; run"), "{text:?}");
}

#[test]
fn an_end_in_the_middle_and_a_failing_command_are_told() {
    let world = priced();
    let brief = Child::start(&["sleep", "1"]);
    let said = world.run_words(&["audit", "--pid", &brief.pid(), "--for", "60s"]);
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.out.contains("ended before the time was up"), "{said:?}");
    let said = world.run_words(&["audit", "--", "sh", "-c", "exit 7"]);
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.err.contains("ended with status 7") && said.out.is_empty(), "{said:?}");
}

#[test]
fn prices_are_measured_when_none_are_stored() {
    let world = World::new(FAKE);
    let said = world.run_words(&["audit", "--", "true"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(world.run("history").out.contains("audit"), "{said:?}");
}

#[test]
fn bad_input_is_one_sentence() {
    let world = priced();
    world.run("audit").refuses(2, &["--pid"]);
    world.run("audit --pid 4194304").refuses(2, &["4194304", "no such process"]);
    world.run("audit --pid 0").refuses(2, &["--pid"]);
    world.run("audit --pid 1 --for 5").refuses(2, &["--for"]);
    world.run("audit -- /nowhere/at/all").refuses(2, &["/nowhere/at/all", "cannot be started"]);
    let kernel = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
    if kernel {
        world.run("audit --pid 2 --for 1s").refuses(2, &["kthreadd", "thread of the kernel"]);
    }
    let ended = Child::start(&["true"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    world.run_words(&["audit", "--pid", &ended.pid(), "--for", "1s"]).refuses(2, &["has ended"]);
    // Neither a stored measurement nor a probe.
    let bare = World::new(FAKE);
    std::fs::remove_dir_all(bare.path("libexec/switchcost/probes/fake")).unwrap();
    bare.run("audit -- true").refuses(3, &["no probe"]);
    // Probes, but none that can price a switch.
    let blind = World::new(FAKE);
    let text = std::fs::read_to_string(blind.path("share/switchcost/audit.toml")).unwrap();
    blind.write("share/switchcost/audit.toml", &text.replace("thread/honest", "thread/unsupported"));
    blind.run("audit -- true").refuses(3, &["no measurement", "plug it in"]);
    blind.write("share/switchcost/audit.toml", &text.replace("same_cpu", "somewhere"));
    blind.run("audit -- true").refuses(2, &["audit.toml", "somewhere"]);
    let first = |line: &str| text.replacen("why = ", &format!("{line}\nwhy = "), 1);
    blind.write("share/switchcost/audit.toml", &first("also = [\"thread/nowhere\"]"));
    blind.run("audit -- true").refuses(2, &["audit.toml", "thread/nowhere"]);
    let between = "between = { parameter = \"pages\", values = [\"1\"], alone = \"thread/honest\" }";
    blind.write("share/switchcost/audit.toml", &first(between));
    blind.run("audit -- true").refuses(2, &["audit.toml", "pages"]);
}
