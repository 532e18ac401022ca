//! `audit` of programs that are not one's own, and of a /proc that shows little. As root, which
//! such worlds take; else these tests say so and pass.

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use switchcost_e2e::{Said, World, in_time, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// What `setpriv` puts before a command that an ordinary user starts.
const NOBODY: [&str; 6] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"];

/// A store with a row for every price, in a world that everybody may use; None: not as root, or
/// without the tools.
fn priced() -> Option<World> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout == b"0\n");
    let tools = ["setpriv", "unshare", "mount"].iter().all(|tool| {
        Command::new(tool)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    });
    if !root || !tools {
        switchcost_e2e::untested("it takes root, setpriv, unshare and mount");
        return None;
    }
    let world = World::new(FAKE);
    let program = world.command(&[]).get_program().to_owned();
    let reach = Command::new(NOBODY[0]).args(&NOBODY[1..]).args(["test", "-x"]).arg(program).status();
    if !reach.is_ok_and(|status| status.success()) {
        switchcost_e2e::untested("an ordinary user cannot start what was built in this folder");
        return None;
    }
    let said = world.run("run thread/honest --param ticks=500,1000,30000 --rounds 6 --batches 5");
    assert_eq!(said.status, 0, "{said:?}");
    for folder in ["", "data", "data/switchcost"] {
        std::fs::set_permissions(world.path(folder), PermissionsExt::from_mode(0o777)).unwrap();
    }
    for file in std::fs::read_dir(world.path("data/switchcost")).unwrap() {
        std::fs::set_permissions(file.unwrap().path(), PermissionsExt::from_mode(0o666)).unwrap();
    }
    Some(world)
}

/// The real binary with this world's environment, behind other words.
fn behind(world: &World, before: &[&str], arguments: &str) -> Said {
    world.run_wrapped(before, &arguments.split_whitespace().collect::<Vec<_>>())
}

/// A program that ends with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start(before: &[&str]) -> Self {
        let words: Vec<&str> = before.iter().copied().chain(["sleep", "1000"]).collect();
        let child = Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).spawn().unwrap();
        // Until it has become `sleep`.
        let comm = format!("/proc/{}/comm", child.id());
        let sleeper = Self(child);
        until("another program", || std::fs::read_to_string(&comm).unwrap().trim() == "sleep");
        sleeper
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn another_user_s_program_is_counted() {
    let Some(world) = priced() else { return };
    for (watcher, sleeper) in [(&["env"][..], &NOBODY[..]), (&NOBODY[..], &["env"][..]), (&NOBODY[..], &NOBODY[..])] {
        let sleeper = Sleeper::start(sleeper);
        let said = behind(&world, watcher, &format!("audit --pid {} --for 300ms --format json", sleeper.0.id()));
        assert_eq!(said.status, 0, "{watcher:?}: {said:?}");
        let json = said.json();
        assert_eq!((&json["program"], json["threads"].as_array().unwrap().len()), (&"sleep".into(), 1), "{json}");
    }
}

/// What a stranger's threads wait for is not for everybody to know: the general price is taken, and
/// that is said.
#[test]
fn what_a_stranger_s_threads_wait_for_is_said_to_be_unknown() {
    let Some(world) = priced() else { return };
    let busy = Command::new(FAKE).args(["switch", "2000000000"]).stdout(Stdio::null()).spawn().unwrap();
    let busy = Sleeper(busy);
    let json = in_time(|times| {
        let words = format!("audit --pid {} --for {}ms --format json", busy.0.id(), 400 * times);
        let said = behind(&world, &NOBODY, &words);
        assert_eq!(said.status, 0, "{said:?}");
        Some(said.json()).filter(|json| json["voluntary"].as_u64().unwrap() > 0)
    });
    assert!(json["not_covered"].to_string().contains("another user's"), "{json}");
}

#[test]
fn a_proc_that_hides_programs_is_told_from_one_without_them() {
    let Some(world) = priced() else { return };
    let sleeper = Sleeper::start(&["env"]);
    let pid = sleeper.0.id();
    let hidden = |pid: u32, arguments: &str| {
        let inner =
            "mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
        behind(
            &world,
            &["unshare", "--mount", "--", "sh", "-c", inner, "sh"],
            &format!("audit --pid {pid} {arguments}"),
        )
    };
    let said = hidden(pid, "--for 300ms");
    if said.err.contains("mount:") {
        switchcost_e2e::untested("this kernel does not let root mount a /proc of its own");
        return;
    }
    said.refuses(2, &[&pid.to_string(), "hidepid"]);
    hidden(4_194_303, "--for 300ms").refuses(2, &["4194303", "no such process"]);
}
