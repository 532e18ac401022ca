//! What the host sees of probes by itself, with the real ones where they are staged. No test here
//! asserts a time.

use super::runtimes::mechanisms;
use serde_json::Value;
use switchcost_e2e::{Real, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Rows that ran and were looked at, by mechanism: what the host saw and what the probe said.
fn seen(real: &Real, mechanisms: &str, arguments: &str) -> Vec<(String, Value, Value)> {
    let rows = real.started(mechanisms, arguments);
    let ran = rows.into_iter().filter(|row| row["verdict"] == "verified");
    let parts = |mut row: Value| {
        let mechanism = row["mechanism"].as_str().unwrap().to_owned();
        let [host, probe] = ["host", "probe"].map(|side| row["seen_by"][side].take());
        (mechanism, host, probe)
    };
    ran.map(parts).collect()
}

#[test]
#[ignore = "suite real"]
fn no_honest_probe_claims_more_than_the_host_saw() {
    let Some(real) = Real::new(FAKE) else { return };
    let others = "stack/asm stack/winfiber thread/pipe process/pipe container/pipe vm/pair container/sandbox-pipe";
    let rows = seen(&real, &format!("{others} {}", mechanisms()), "");
    assert!(!rows.is_empty());
    for (mechanism, host, probe) in rows {
        let both = format!("{mechanism}: {host} {probe}");
        assert!(number(&host["plan_ns"]) <= number(&host["first_samples_ns"]), "{both}");
        assert!(number(&host["first_samples_ns"]) <= number(&host["last_samples_ns"]), "{both}");
        assert!(number(&probe["claimed_ns"]) <= number(&host["last_samples_ns"]), "{both}");
        if let Some(claimed) = probe["kernel_switches"].as_u64() {
            assert!(claimed <= number(&host["voluntary"]) + number(&host["involuntary"]), "{both}");
        }
        if let Some(claimed) = probe["cpu_ns"].as_u64() {
            assert!(claimed <= number(&host["cpu_ns"]), "{both}");
        }
        // The look may come too late on a busy machine; then there is none.
        let tree = &host["tree"];
        if tree.is_null() {
            continue;
        }
        assert_eq!(tree["knows_pid"], true, "{both}");
        assert_eq!(tree["allowed_cpus"].as_array().unwrap().len(), 1, "one_cpu is the default: {both}");
        assert_eq!(tree["allowed_cpus"], tree["ran_on"], "{both}");
        assert_eq!(probe["cpus"], tree["allowed_cpus"], "{both}");
    }
}

#[test]
#[ignore = "suite real"]
fn contexts_that_are_tasks_are_there() {
    let Some(real) = Real::new(FAKE) else { return };
    for (mechanism, host, _) in seen(&real, "stack/asm thread/pipe process/pipe container/pipe", "--contexts 5") {
        let tree = &host["tree"];
        // The host may see nothing of a context that is not a task, or may look too late.
        if tree.is_null() && mechanism == "stack/asm" {
            continue;
        }
        let [tasks, processes, most] = ["tasks", "processes", "most_tasks"].map(|name| number(&tree[name]));
        let spaces = tree["address_spaces"].as_u64();
        match mechanism.as_str() {
            "stack/asm" | "control/empty-loop" => assert_eq!((tasks, processes, most), (1, 1, 1), "{tree}"),
            "thread/pipe" => assert_eq!((tasks, processes, most), (5, 1, 5), "{tree}"),
            "process/pipe" => {
                assert_eq!((tasks, processes, most), (5, 5, 1), "{tree}");
                assert!(spaces.is_none_or(|count| count == 5), "{tree}");
            }
            _ => {
                assert!(processes >= 5 && spaces.is_none_or(|count| count >= 5), "{tree}");
                for kind in ["pid", "net", "mnt", "ipc", "uts"] {
                    assert!(number(&tree["namespaces"][kind]) >= 5, "{kind}: {tree}");
                }
                assert!(number(&tree["control_groups"]) >= 5, "{tree}");
            }
        }
    }
}

#[test]
#[ignore = "suite real"]
fn created_tasks_are_counted_by_the_machine() {
    let Some(real) = Real::new(FAKE) else { return };
    for (mechanism, host, probe) in seen(&real, "process/fork thread/pthread", "") {
        if let Some(forks) = host["forks"].as_u64() {
            assert!(forks >= number(&probe["units"]), "{mechanism}: {host} {probe}");
        }
    }
}

#[test]
fn what_was_seen_is_stored_and_travels() {
    let world = World::new(FAKE);
    let ran = world.run("run thread/honest --rounds 1 --format json").json();
    let seen_by = &ran["results"][0]["seen_by"];
    assert!(seen_by["host"]["pid"].is_u64() && seen_by["probe"]["pid"].is_u64(), "{seen_by}");
    assert!(number(&seen_by["host"]["last_samples_ns"]) > 0, "{seen_by}");
    let file = world.path("shareable.jsonl");
    std::fs::write(&file, world.run("export").out).unwrap();
    let other = world.path("other.sqlite");
    let store = ["--store", other.to_str().unwrap()];
    assert_eq!(world.run_words(&[&["import", file.to_str().unwrap()][..], &store].concat()).status, 0);
    let shown =
        world.run_words(&[&["export", "20", "--private-facts", "--format", "json"][..], &store].concat()).json();
    assert_eq!(&shown["results"][0]["seen_by"], seen_by);
}

#[test]
fn a_probe_that_cannot_be_heard_was_seen_all_the_same() {
    let world = World::new(FAKE);
    let said = world.run("run thread/crash --rounds 1 --format json");
    let host = &said.json()["results"][0]["seen_by"]["host"];
    assert!(host["pid"].is_u64() && host["last_samples_ns"].is_null(), "{host}");
}
