//! `audit` of a service: all processes of a control group.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use switchcost_e2e::{OWN, World, in_time, untested, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with a row for every price.
fn priced() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=500,1000,30000 --rounds 6 --batches 5");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

/// A control group of this test, which goes with it, and what runs in it.
struct Group {
    dir: PathBuf,
    children: Vec<Child>,
}

impl Group {
    /// None, and the test is untested: only root may make one, and not in every container.
    fn new(name: &str) -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let dir = mount.map(|line| PathBuf::from(line.split(' ').nth(4).unwrap()).join(name));
        match dir.map(|dir| std::fs::create_dir(&dir).map(|()| dir)) {
            Some(Ok(dir)) => Some(Self { dir, children: Vec::new() }),
            _ => {
                untested(&format!("{OWN}no control group can be made"));
                None
            }
        }
    }

    fn path(&self) -> String {
        self.dir.to_str().unwrap().to_owned()
    }

    /// Starts a script in it.
    fn start(&mut self, script: &str) {
        let script = format!("echo $$ >{}/cgroup.procs || exit 9; {script}", self.path());
        let child =
            Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let inside = format!("/{}\n", self.dir.file_name().unwrap().to_str().unwrap());
        let of_it = format!("/proc/{}/cgroup", child.id());
        until("the process is in the group", || {
            std::fs::read_to_string(&of_it).is_ok_and(|in_it| in_it.ends_with(&inside))
        });
        self.children.push(child);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::write(self.dir.join("cgroup.kill"), "1");
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        for _ in 0..100 {
            if std::fs::remove_dir(&self.dir).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn all_processes_of_a_service_are_seen_by_name() {
    let name = format!("switchcost-test-{}.service", std::process::id());
    let Some(mut group) = Group::new(&name) else { return };
    let world = priced();
    group.start(&format!("exec {FAKE} switch 2000000000"));
    group.start("while :; do sleep 0.05; done");
    let program = format!("/proc/{}/comm", group.children[0].id());
    until("the shell is the program", || std::fs::read_to_string(&program).is_ok_and(|name| name != "sh\n"));
    for named in [format!("--cgroup {}", group.path()), format!("--cgroup /{name}"), format!("--unit {name}")] {
        // On a busy machine it takes longer until two of the sleeps were seen.
        in_time(|times| {
            let said = world.run(&format!("audit {named} --for {}ms --format json", 700 * times));
            assert_eq!(said.status, 0, "{said:?}");
            let json = said.json();
            assert_eq!((&json["service"], &json["pid"]), (&named.clone().into(), &serde_json::Value::Null), "{json}");
            let programs: Vec<&str> =
                json["threads"].as_array().unwrap().iter().map(|thread| thread["program"].as_str().unwrap()).collect();
            // The sleeps come and go, each a copy of its shell until it has become one.
            let count = |name: &str| programs.iter().filter(|program| **program == name).count();
            assert!(count("switchcost-fake") >= 2 && count("sh") >= 1, "{programs:?}");
            (count("sleep") >= 2).then(|| {
                assert!(json["voluntary"].as_u64().unwrap() > 100, "{json}");
                assert!(json["processes"].as_u64().unwrap() >= 4, "{json}");
            })
        });
    }
    let text = world.run(&format!("audit --unit {name} --for 700ms")).out;
    let line = |start: &str| {
        text.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(line("process ").contains("threads"), "{text}");
    assert!(line("switchcost-fake ").contains("switchcost-fake  "), "{text}");
    assert!(text.contains(&format!("--unit {name}, ")) && text.contains(" processes, "), "{text}");
}

#[test]
fn it_ends_when_the_service_ends() {
    let Some(mut group) = Group::new(&format!("switchcost-brief-{}.service", std::process::id())) else { return };
    let world = priced();
    group.start("exec sleep 1");
    let said = world.run(&format!("audit --cgroup {} --for 600s", group.path()));
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.out.contains("its last process ended before the time was up"), "{said:?}");
    world.run(&format!("audit --cgroup {}", group.path())).refuses(2, &["no process is in it"]);
}

#[test]
fn what_is_no_service_is_one_sentence() {
    let world = World::new(FAKE);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    if !mounts.contains(" - cgroup") {
        untested(&format!("{OWN}no control groups here"));
        return;
    }
    world
        .run("audit --cgroup /nowhere")
        .refuses(2, &["--cgroup /nowhere: it is not a control group", "/proc/PID/cgroup"]);
    world.run("audit --cgroup /etc").refuses(2, &["--cgroup /etc: it is not a control group"]);
    world.run("audit --unit no-such.service").refuses(2, &["--unit no-such.service: no running unit", "systemctl"]);
    world.run("audit --container none").refuses(2, &["--container none: no running container", "`docker ps`"]);
    world.run("audit --unit a --pid 1").refuses(2, &["--unit"]);
    world.run("audit --unit a --wakeups").refuses(2, &["--wakeups"]);
    // Nothing was measured for it.
    assert!(!world.store().exists());
}
