//! The real binary with the real probes: every mechanism, tiny plans, evidence. No test here asserts a time.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use switchcost_e2e::{Real, leftover_groups, plant_dead_groups, wrapped};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A plan so small that all mechanisms together take seconds.
const TINY: &str = "--rounds 1 --batches 3 --batch-time 100us --budget 300s";

fn real() -> Option<Real> {
    let real = Real::new(FAKE);
    if real.is_none() {
        eprintln!("no probes are staged (run `make build`): the real probes are not tested here");
    }
    real
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// Rows that could run, all of them verified.
fn verified(rows: Vec<Value>) -> Vec<Value> {
    let able: Vec<Value> = rows
        .into_iter()
        .filter(|row| {
            let unsupported = text(row, "verdict") == "unsupported";
            assert!(!unsupported || text(row, "reason").len() > 10, "no reason: {row}");
            !unsupported
        })
        .collect();
    for row in &able {
        let fine = ["verified", "unobservable"].contains(&text(row, "verdict"));
        assert!(fine, "{}: {}: {}", text(row, "label"), text(row, "verdict"), text(row, "reason"));
        // What is left after compensation may be negative with timing each: then it is not resolved, and the row says so.
        let Some(median) = row["median"].as_f64() else {
            assert!(text(row, "reason").starts_with("below the resolution"), "{row}");
            continue;
        };
        assert!(median > 0.0 || row["notes"].to_string().contains("not resolved"), "{row}");
    }
    able
}

#[test]
fn every_mechanism_passes_its_evidence() {
    let Some(real) = real() else { return };
    let rows = verified(real.rows(&format!("* {TINY}")));
    assert!(rows.len() >= 15, "only {} mechanisms ran", rows.len());
    for row in rows {
        let kernel = row["kernel_switches"].as_f64();
        match text(&row, "mechanism").split('/').next().unwrap_or_default() {
            // Timer interrupts may preempt a tiny batch; a mechanism that enters the kernel would show about 1.
            "stack" | "coroutine" => assert!(kernel.unwrap() < 0.1, "{row}"),
            "thread" | "process" => assert!(kernel.unwrap() > 0.45, "{row}"),
            _ => {}
        }
    }
}

#[test]
fn every_experiment_of_every_mechanism_answers() {
    let Some(real) = real() else { return };
    for experiment in ["create", "message"] {
        let rows = real.rows(&format!("* --experiment {experiment} {TINY}"));
        assert!(!verified(rows).is_empty(), "nothing has experiment {experiment}");
    }
}

#[test]
fn footprints_are_bytes_of_contexts_that_ran() {
    let Some(real) = real() else { return };
    let rows = real.rows("* --experiment footprint --rounds 1 --budget 300s");
    let able: Vec<&Value> = rows.iter().filter(|row| text(row, "verdict") != "unsupported").collect();
    assert!(able.len() >= 8, "only {} mechanisms hold contexts", able.len());
    // Patterns take in those that have the experiment; a name is answered in any case.
    assert!(!rows.iter().any(|row| text(row, "reason").contains("has no experiment")));
    let said = real.run("run stack/asm thread/* --experiment footprint --rounds 1 -v");
    assert!(said.err.contains("left out for having no experiment footprint: "), "{}", said.err);
    assert!(said.out.contains("B/context") && !said.out.contains("thread/pipe"), "{}", said.out);
    let csv = real.run("run stack/asm --experiment footprint --rounds 1 --format csv").out;
    let column = |name: &str| {
        let [head, row] = [0, 1].map(|line| csv.lines().nth(line).unwrap().split(',').collect::<Vec<_>>());
        row[head.iter().position(|title| *title == name).unwrap()].to_owned()
    };
    assert!(column("median").parse::<f64>().unwrap() > 1000.0 && column("quantity") == "memory", "{csv}");
    let named = real.rows("stack/asm thread/pipe --experiment footprint --rounds 1");
    assert!(text(&named[1], "reason").contains("thread/pipe has no experiment footprint"), "{}", named[1]);
    for row in able {
        assert_eq!(text(row, "verdict"), "verified", "{row}");
        // The kernel's own work for virtual machines that ended is not a disturbance of their memory, for which they were repeated.
        assert_eq!(row["starts"], 1, "{row}");
        let bytes = |quantity: &str| row["bytes"][quantity].as_f64().unwrap();
        assert!(bytes("resident_bytes") > 0.0 && bytes("virtual_bytes") >= 0.0, "{row}");
        bytes("kernel_bytes");
    }
}

#[test]
fn each_timing_answers_too() {
    let Some(real) = real() else { return };
    let rows = verified(real.rows(&format!("* --timing each {TINY}")));
    assert!(rows.len() >= 10);
    // What lies below the resolution has no figure; a control that bounds others is measured in batches.
    for row in rows.iter().filter(|row| !row["reading"].is_null()) {
        assert!(row["reading"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["p999"].as_f64() >= row["p50"].as_f64(), "{row}");
    }
}

#[test]
fn rings_of_three_are_passed_round() {
    let Some(real) = real() else { return };
    verified(real.rows(&format!("stack fiber thread process --contexts 3 {TINY}")));
}

fn most_mappings() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

#[test]
fn large_rings_are_measured_or_refused_with_the_limit() {
    let Some(real) = real() else { return };
    for row in real.rows("stack fiber --contexts 100000 --rounds 1 --batches 1 --batch-time 1us --budget 300s") {
        let reason = text(&row, "reason");
        match text(&row, "verdict") {
            "verified" | "unobservable" => {}
            "unsupported" => assert!(
                reason.contains("limit") || reason.contains("max_map_count") || reason.contains("not installed"),
                "{row}"
            ),
            other => panic!("{}: {other}: {reason}", text(&row, "label")),
        }
        // Two mappings a stack: the kernel's usual 65530 do not do.
        if text(&row, "mechanism") == "stack/corosensei" && most_mappings().is_some_and(|most| most < 200_000) {
            assert!(reason.contains("raise the sysctl vm.max_map_count"), "{row}");
        }
    }
    for row in real.rows("thread/futex thread/pipe --contexts 100000 --rounds 1 --batches 1 --budget 60s") {
        assert_eq!(text(&row, "verdict"), "unsupported", "{row}");
        assert!(
            ["pid_max", "threads-max", "RLIMIT", "pids", "memory"]
                .iter()
                .any(|limit| text(&row, "reason").contains(limit)),
            "{row}"
        );
    }
}

#[test]
fn two_cpus_are_two_or_a_reason() {
    let Some(real) = real() else { return };
    for row in real.rows("thread/futex process/pipe --placement two_cpus --rounds 1 --batches 20 --budget 60s") {
        match text(&row, "verdict") {
            "unsupported" => assert!(text(&row, "reason").contains("CPU"), "{row}"),
            "verified" => {
                assert_eq!(row["cpus"].as_array().unwrap().len(), 2, "{row}");
                assert_eq!(row["same_cpu_hops"], 0.0, "{row}");
            }
            // A single start in which partners answered before anyone slept.
            "contradicted" if text(&row, "reason").starts_with("other than the row names") => {}
            // A host that a busy machine woke too late to look.
            "unobservable" if text(&row, "reason").contains("before the host had looked") => {}
            other => panic!("{other}: {row}"),
        }
    }
}

#[test]
fn what_probes_describe_has_a_page() {
    let Some(real) = real() else { return };
    let listed = real.run("list --format json").json();
    let mechanisms = listed["mechanisms"].as_array().unwrap();
    for mechanism in mechanisms {
        assert!(!mechanism["probes"].as_array().unwrap().is_empty(), "nobody implements {mechanism}");
        for probe in mechanism["probes"].as_array().unwrap() {
            assert!(probe["available"] == true || text(probe, "reason").len() > 5, "{mechanism}");
        }
    }
}

#[test]
#[ignore = "suite containers"]
fn containers_leave_nothing_behind() {
    let Some(real) = real() else { return };
    let of_others = leftover_groups();
    for after_ms in [60, 200, 450] {
        let mut command = real.command("run container --rounds 50 --budget 20s");
        let mut host = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        host.kill().unwrap();
        host.wait().unwrap();
    }
    // The guardian removes the groups once the kernel has taken everybody else down.
    let only = |allowed: &[PathBuf]| {
        let more = || leftover_groups().into_iter().filter(|group| !allowed.contains(group)).collect::<Vec<_>>();
        let gone = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            more().is_empty()
        });
        assert!(gone, "{:?}", more());
    };
    only(&of_others);
    let dead = plant_dead_groups();
    let able = verified(real.rows(&format!("container {TINY}")));
    only(if able.is_empty() { &dead } else { &[] });
    let said = real.run("run container --budget 700ms --rounds 50 --format csv");
    assert!(said.status != 70, "{said:?}");
    only(&dead);
}

/// A figure without what a control group costs is not shown as if it had it.
#[test]
#[ignore = "suite containers"]
fn containers_without_control_groups_say_so() {
    let Some(real) = real() else { return };
    for (asked, said) in [
        ("", true),
        (" --experiment create", true),
        (" --experiment footprint", true),
        (" --param cgroup_depth=0", false),
    ] {
        let plain = real.command(&format!("run container/pipe{asked} --rounds 1 --format json"));
        let script = "mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\"";
        let rows = wrapped(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script], &plain);
        if rows.out.is_empty() {
            eprintln!("no namespace without control groups can be made here ({}): not tested", rows.err.trim());
            return;
        }
        for row in rows.json()["results"].as_array().unwrap().iter().filter(|row| row["verdict"] == "verified") {
            let notes = row["notes"].to_string();
            assert_eq!(notes.contains("no control group could be made here"), said, "{asked}: {row}");
        }
    }
}

/// The program of a process, by its number.
fn program(pid: u32) -> PathBuf {
    std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default()
}

/// A measuring process started by this one whose program lies in that folder of the installation.
fn probe_of(host: u32, folder: &str) -> Option<u32> {
    let of_host = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let measures = words.split(|byte| *byte == 0).nth(1) == Some(b"run");
        parent == Some(host) && measures && program(*pid).parent().is_some_and(|of| of.ends_with(folder))
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find(of_host)
}

/// The first process of a container cannot end before all others of it have been reaped, which become the host's when the probe dies.
#[test]
#[ignore = "suite containers"]
fn a_probe_that_dies_amid_its_containers_holds_nobody_up() {
    let Some(real) = real() else { return };
    if verified(real.rows(&format!("container/pipe --probe runc {TINY}"))).is_empty() {
        eprintln!("runc makes no containers here: its death is not tested");
        return;
    }
    for attempt in 0..10 {
        let mut command = real.command("run container/pipe --probe runc --rounds 50 --budget 4s --format csv");
        let mut host = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut killed = false;
        let ended = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            // Its containers have been made and are measured when there are as many processes as contexts.
            if let Some(probe) = probe_of(host.id(), "probes/runc").filter(|_| !killed) {
                std::thread::sleep(Duration::from_millis(20 + 5 * attempt));
                killed = Command::new("kill").args(["-9", &probe.to_string()]).status().unwrap().success();
            }
            host.try_wait().unwrap()
        });
        let status = ended.and_then(|status| status.code());
        if ended.is_none() {
            host.kill().unwrap();
            host.wait().unwrap();
        }
        assert!(killed && matches!(status, Some(0 | 3 | 4)), "attempt {attempt}: {killed} {status:?}");
    }
}
