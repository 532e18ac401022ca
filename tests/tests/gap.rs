//! Experiment gap: what waking a CPU costs after it idled. By a fake probe, whose figures are known
//! exactly, and by the real one.

use crate::real::{real, text};
use serde_json::Value;
use switchcost_e2e::{Said, World, in_time, probe};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Waking costs 1,000 ns, and 1 ns more for each µs of the gap; `slept`: percent of the gaps that
/// the probe really waits, by 0 it spins.
const PAGE: &str = r#"
title = "A fake that sleeps"
implemented_by = ["fake"]
iteration = "nothing"
includes = "nothing"
placements = ["one_cpu", "two_cpus", "free"]
experiments = ["gap"]
[evidence]
turns = true
[[evidence_when]]
experiment = "gap"
kernel_switches = [1.0, 1.0]
blocks = true
[parameters.gap]
min = 1
max = 100000
default = "10"
help = "µs"
experiments = ["gap"]
[parameters.slept]
min = 0
max = 100
default = "100"
help = "percent"
experiments = ["gap"]
"#;

/// None where there is one CPU.
fn world() -> Option<World> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        switchcost_e2e::untested("a gap takes two CPUs");
        return None;
    }
    let world = World::new(FAKE);
    let command = format!("\"{FAKE}\"");
    let offering = probe("fake", FAKE, 100).replace(&command, &format!("{command}, \"offers=gap\""));
    world.write("libexec/switchcost/probes/fake/probe.toml", &offering);
    world.write("share/switchcost/mechanisms/thread/offered.toml", PAGE);
    Some(world)
}

fn rows(said: &Said) -> Vec<Value> {
    said.json()["results"].as_array().cloned().unwrap_or_else(|| panic!("{said:?}"))
}

fn idle_states_are_counted() -> bool {
    std::path::Path::new("/sys/devices/system/cpu/cpu0/cpuidle/state0").exists()
}

/// In all starts or in some, other programs may have the CPU instead, or the kernel counts its idle
/// time when that ends, which the fake makes nobody do. Then the figure stands, and the row says
/// so.
fn idled_or_says_so(row: &Value) {
    let busy = text(row, "verdict") == "unobservable" && text(row, "reason").contains(" idled ");
    assert!(text(row, "verdict") == "verified" || busy, "{row}");
}

#[test]
fn a_sweep_of_gaps_is_a_curve_of_what_waking_costs() {
    let Some(world) = world() else { return };
    let said = world.run("sweep gap thread/offered --values 100,200,1k --rounds 6 --batches 18 --format json");
    for row in &rows(&said) {
        idled_or_says_so(row);
        assert_eq!((text(row, "experiment"), text(row, "placement")), ("gap", "two_cpus"), "{row}");
        let gap: f64 = text(&row["parameters"], "gap").parse().unwrap();
        // Of 100 wake-ups 90 cost that, 9 twice and 1 ten times as much.
        assert_eq!(
            (row["p50"].as_f64(), row["max"].as_f64()),
            (Some(1000.0 + gap), Some(10_000.0 + 10.0 * gap)),
            "{row}"
        );
    }
    let curve = said.json()["curves"][0].clone();
    let points: Vec<u64> = curve["points"].as_array().unwrap().iter().map(|p| p["x"].as_u64().unwrap()).collect();
    assert_eq!((text(&curve, "axis"), points), ("gap", vec![100, 200, 1000]), "{curve}");
    // Each start is stored with what the kernel counted of the CPU meanwhile, or that it counts
    // nothing.
    let stored = world.run("export --private-facts --format jsonl").out;
    let idled = stored.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        Some(line["seen"]["idled"].clone()).filter(|_| line["t"] == "invocation")
    });
    let idled: Vec<Value> = idled.collect();
    assert!(idled.len() >= 18 && idled.iter().all(|idled| idled["between_ns"].as_u64() > Some(0)), "{idled:?}");
    let counts = idle_states_are_counted();
    assert!(idled.iter().all(|idled| idled["states"].is_object() == counts), "{idled:?}");
    let notes = world.run("show --notes").out.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = if counts { "by cpuidle's counts" } else { "is the hypervisor's" };
    assert!(notes.contains(words), "{notes}");
}

#[test]
fn gaps_that_did_not_pass_are_contradicted() {
    let Some(world) = world() else { return };
    in_time(|times| {
        let gap = 4000 * times;
        let said = world.run(&format!(
            "run thread/offered --experiment gap --param gap={gap} --param slept=1 --rounds 1 --batches 18 --format json"
        ));
        let row = rows(&said).remove(0);
        (row["verdict"] == "contradicted").then_some(())?;
        assert_eq!((said.status, text(&row, "reason_code")), (5, "longer_than_lived"), "{row}");
        Some(())
    });
}

#[test]
fn who_spins_through_the_gaps_is_found_by_its_cpu_time_or_by_the_idle_states() {
    let Some(world) = world() else { return };
    if !idle_states_are_counted() {
        return switchcost_e2e::untested("no cpuidle: beside other programs a probe that spins is not found here");
    }
    let said = world.run(
        "run thread/offered --experiment gap --param gap=1000 --param slept=0 --rounds 1 --batches 18 --format json",
    );
    let row = rows(&said).remove(0);
    assert!(["contradicted", "unobservable"].contains(&text(&row, "verdict")), "{row}");
    assert_eq!(text(&row, "reason_code"), "not_idle", "{row}");
}

#[test]
fn a_gap_needs_a_cpu_for_each() {
    let Some(world) = world() else { return };
    let said = world.run("run thread/offered --experiment gap --placement one_cpu");
    said.refuses(2, &["placement one_cpu cannot be measured for thread/offered", "it has two_cpus"]);
}

#[test]
fn a_real_thread_sleeps_through_each_gap() {
    let Some(real) = real() else { return };
    let rows = real.started("thread/futex", "--experiment gap --param gap=10,2000");
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows.iter().filter(|row| row["verdict"] != "unsupported") {
        idled_or_says_so(row);
        assert_eq!((text(row, "placement"), text(row, "unit")), ("two_cpus", "wake-up"), "{row}");
        assert!(row["p50"].as_f64() > Some(0.0) && row["kernel_switches"].as_f64() > Some(0.9), "{row}");
    }
}
