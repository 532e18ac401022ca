//! Scripts of contrib/ that change somebody else's system, with that system and `switchcost`
//! played: what they did not set themselves stays.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use switchcost_e2e::repository;

/// A node of Slurm in a file: `STATE|REASON`. What is asked of it is answered as `scontrol` does,
/// and each update is a line of `updates`.
const SCONTROL: &str = r#"#!/bin/sh
here=$(dirname "$0")
IFS='|' read -r state reason <"$here/node"
case "$*" in
*"show node"*)
    [ "$state" != unreachable ] || exit 1
    echo "NodeName=n1 Arch=x86_64 State=$state Partitions=p${reason:+ Reason=$reason [root@2026-11-25T10:00:00]} Comment=none" ;;
*state=drain*) for word; do case $word in reason=*) echo "IDLE+DRAIN|${word#reason=}" >"$here/node" ;; esac; done ;;
*state=resume*) echo 'IDLE|' >"$here/node" ;;
esac
case $1 in update) echo "$*" >>"$here/updates" ;; esac
"#;

const ANSWER: &str = "#!/bin/sh\ncat \"$(dirname \"$0\")/answer\"\nexit \"$(cat \"$(dirname \"$0\")/status\")\"\n";

const UNFIT: (&str, i32) = ("not fit: thread/pipe costs 14 % more", 1);
const FIT: (&str, i32) = ("fit: 5 rows at most 10 % above the baseline", 0);
const OURS: &str = "IDLE+DRAIN|switchcost: not fit: thread/pipe costs 14 % more";

fn program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs a script of contrib/ in a folder where `switchcost` answers so.
fn played(script: &str, folder: &Path, (line, status): (&str, i32), arguments: &[&Path]) -> Output {
    program(&folder.join("switchcost"), ANSWER);
    program(&folder.join("scontrol"), SCONTROL);
    std::fs::write(folder.join("answer"), format!("{line}\n")).unwrap();
    std::fs::write(folder.join("status"), status.to_string()).unwrap();
    let mut command = Command::new("sh");
    command.arg(repository().join("contrib").join(script)).args(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display())).env("SLURMD_NODENAME", "n1");
    command.output().unwrap()
}

#[test]
fn slurm_drains_and_gives_back_only_what_it_drained_itself() {
    let cannot_tell = ("inconclusive: another program has the CPU", 0);
    let not_there = ("", 127);
    for (before, said, after) in [
        ("IDLE|", UNFIT, OURS),
        ("MIXED|", UNFIT, OURS),
        (OURS, FIT, "IDLE|"),
        (OURS, UNFIT, OURS),
        (OURS, cannot_tell, OURS),
        ("IDLE|", FIT, "IDLE|"),
        ("IDLE|", cannot_tell, "IDLE|"),
        // A program that is not there, or is used wrongly, says nothing of the node.
        ("IDLE|", not_there, "IDLE|"),
        ("IDLE|", ("error: no such flag", 2), "IDLE|"),
        // Drained by somebody else, whatever the answer.
        ("IDLE+DRAIN|bad DIMM, ticket 4711", UNFIT, "IDLE+DRAIN|bad DIMM, ticket 4711"),
        ("IDLE+DRAIN|bad DIMM, ticket 4711", FIT, "IDLE+DRAIN|bad DIMM, ticket 4711"),
        ("IDLE+DRAIN|", UNFIT, "IDLE+DRAIN|"),
        ("IDLE+DRAIN|", FIT, "IDLE+DRAIN|"),
        ("IDLE+DRAIN|his Reason=switchcost: not fit: x", FIT, "IDLE+DRAIN|his Reason=switchcost: not fit: x"),
        ("IDLE+DRAIN|his State=IDLE", UNFIT, "IDLE+DRAIN|his State=IDLE"),
        ("IDLE+DRAIN|path /", UNFIT, "IDLE+DRAIN|path /"),
        ("IDLE|watch this one", UNFIT, "IDLE|watch this one"),
        // Ours, and something more has happened to it since.
        ("DOWN+DRAIN|switchcost: not fit: x", FIT, "DOWN+DRAIN|switchcost: not fit: x"),
        ("IDLE+DRAIN+REBOOT_ISSUED|switchcost: not fit: x", FIT, "IDLE+DRAIN+REBOOT_ISSUED|switchcost: not fit: x"),
        ("IDLE*+DRAIN|switchcost: not fit: x", FIT, "IDLE*+DRAIN|switchcost: not fit: x"),
        ("DOWN|Not responding", UNFIT, "DOWN|Not responding"),
        ("DOWN|", UNFIT, "DOWN|"),
        ("IDLE+MAINTENANCE|", UNFIT, "IDLE+MAINTENANCE|"),
        // Slurm does not answer.
        ("unreachable|", UNFIT, "unreachable|"),
        ("|", UNFIT, "|"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let node = folder.path().join("node");
        std::fs::write(&node, format!("{before}\n")).unwrap();
        let output = played("slurm/healthcheck", folder.path(), said, &[]);
        assert!(output.status.success(), "{before} {said:?}: {output:?}");
        let found = std::fs::read_to_string(&node).unwrap();
        assert_eq!(found.trim_end(), after, "{before}, and then {said:?}");
        let updates = std::fs::read_to_string(folder.path().join("updates")).unwrap_or_default();
        assert_eq!(updates.lines().count(), usize::from(before != after), "{before}, {said:?}: {updates}");
    }
    // A job is kept from a node that is not fit, and from no other: a prolog that fails drains it.
    for (said, status) in [(UNFIT, 1), (FIT, 0), (cannot_tell, 0), (not_there, 0), (("error: no such flag", 2), 0)] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(played("slurm/prolog", folder.path(), said, &[]).status.code(), Some(status), "{said:?}");
    }
}

#[test]
fn the_collector_s_folder_keeps_what_others_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = folder.path().join("metrics");
    std::fs::create_dir(&metrics).unwrap();
    let run = metrics.join("switchcost_run.prom");
    let check = metrics.join("switchcost_check.prom");
    std::fs::write(&run, "switchcost_seconds 1\n").unwrap();
    for (said, status) in [(FIT, "0"), (UNFIT, "1"), (("inconclusive: no baseline", 2), "2")] {
        let output = played("prometheus/textfile", folder.path(), said, &[&metrics]);
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(&check).unwrap();
        assert!(text.contains(&format!("\nswitchcost_check_status {status}\n")), "{text}");
    }
    assert_eq!(std::fs::read_to_string(&run).unwrap(), "switchcost_seconds 1\n");
    assert_eq!(std::fs::read_dir(&metrics).unwrap().count(), 2);
    // A check that cannot be asked leaves the last answer to grow old.
    let before = std::fs::read_to_string(&check).unwrap();
    assert_eq!(played("prometheus/textfile", folder.path(), ("", 127), &[&metrics]).status.code(), Some(127));
    assert_eq!(std::fs::read_to_string(&check).unwrap(), before);
    std::fs::write(&check, "something_else 1\n").unwrap();
    let output = played("prometheus/textfile", folder.path(), FIT, &[&metrics]);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("left as it is"),
        "{output:?}"
    );
    assert_eq!(std::fs::read_to_string(&check).unwrap(), "something_else 1\n");
}

#[test]
fn documents_and_scripts_name_one_file_each_for_the_collector() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
    let (docs, script) = (read("docs/ci.md"), read("contrib/prometheus/textfile"));
    assert!(docs.contains("/switchcost_run.prom`") && !docs.contains("switchcost.prom"));
    assert!(script.contains("file=$folder/switchcost_check.prom\n") && !script.contains("switchcost.prom"));
    assert!(read("contrib/prometheus/switchcost.rules.yml").contains("absent(switchcost_check_status)"));
}

#[test]
fn the_job_of_a_fleet_replaces_nobody_s() {
    let folder = tempfile::tempdir().unwrap();
    program(&folder.path().join("kubectl"), "#!/bin/sh\necho \"$*\" >>\"$(dirname \"$0\")/asked\"\ncat >/dev/null\n");
    let plan = || {
        let mut fleet = Command::new(Path::new(env!("CARGO_BIN_EXE_switchcost-fake")).with_file_name("switchcost"));
        fleet
            .args(["fleet", "plan", "--launcher", "k8s", "--nodes", "a,b", "--go", "--into"])
            .arg(folder.path().join("runs"));
        fleet.args(["--", "true"]).env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        fleet.output().unwrap();
        let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
        std::fs::remove_file(folder.path().join("asked")).unwrap();
        asked
    };
    let (first, second) = (plan(), plan());
    let job = |asked: &str| {
        let deleted: Vec<&str> = asked.lines().filter_map(|line| line.strip_prefix("delete job ")).collect();
        assert!(asked.starts_with("apply ") && deleted.len() == 1, "{asked}");
        deleted[0].split(' ').next().unwrap().to_owned()
    };
    assert_ne!(job(&first), job(&second));
    assert!(first.contains(&format!("job/{}", job(&first))), "{first}");
}
