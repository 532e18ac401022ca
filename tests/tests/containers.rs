//! Containers of the real probes: nothing of them stays, and what they lack is told.

use super::real::{real, verified};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use switchcost_e2e::{leftover_groups, plant_dead_groups, wrapped};

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
    let able = verified(real.started("container", ""));
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
            switchcost_e2e::untested(&format!(
                "no namespace without control groups can be made here ({})",
                rows.err.trim()
            ));
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

/// The first process of a container cannot end before all others of it have been reaped, which
/// become the host's when the probe dies.
#[test]
#[ignore = "suite containers"]
fn a_probe_that_dies_amid_its_containers_holds_nobody_up() {
    let Some(real) = real() else { return };
    let listed = real.run("list container/pipe --format json").json();
    let probes = listed["mechanisms"][0]["probes"].as_array().unwrap();
    let built = probes.iter().any(|probe| probe["id"] == "runc" && probe["available"] == true);
    if !built || verified(real.started("container/pipe", "--probe runc")).is_empty() {
        switchcost_e2e::untested("runc makes no containers here: its death is not tested");
        return;
    }
    for attempt in 0..10 {
        let mut command = real.command("run container/pipe --probe runc --rounds 50 --budget 4s --format csv");
        let mut host = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut killed = false;
        let ended = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            // Its containers have been made and are measured when there are as many processes as
            // contexts.
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
