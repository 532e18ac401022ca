//! One look at a child and all that descends from it. The children are shell scripts, or this
//! program again.
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use switchcost_machine::cpus::Cpus;
use switchcost_machine::spawn::{Child, Heard, SpawnRequest, adopt_orphans, tasks_created};
use switchcost_model::{Capabilities, Tree};

/// Names what this program is to be when it is started as a child.
const ROLE: &str = "SWITCHCOST_TEST_ROLE";

/// Orphans belong to the whole host, so that only one child may have some.
static TURN: Mutex<()> = Mutex::new(());

struct Started {
    child: Child,
    said: String,
    _turn: MutexGuard<'static, ()>,
}

/// Starts a child and waits until it says a line.
fn started(request: &SpawnRequest) -> Started {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    adopt_orphans();
    let mut child = Child::start(request).unwrap();
    let mut said = String::new();
    while !said.ends_with('\n') {
        match child.listen(Instant::now() + Duration::from_secs(300), None) {
            Heard::Report(bytes) => said.push_str(&String::from_utf8(bytes).unwrap()),
            Heard::Printed(_) => {}
            other => panic!("{other:?} after {said:?}"),
        }
    }
    Started { child, said, _turn: turn }
}

impl Started {
    fn task_tree(&self) -> Tree {
        self.child.task_tree(self.child.pid() as u64).unwrap()
    }
}

fn request(program: &str, arguments: &[&str], role: &str) -> SpawnRequest {
    SpawnRequest {
        program: program.into(),
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned()), (ROLE.to_owned(), role.to_owned())],
        cpus: None,
        directory: None,
        capabilities: Capabilities::ALL,
        hogs: None,
        timer_slack_ns: None,
        report_fd: 3,
    }
}

fn script(text: &str) -> SpawnRequest {
    request("sh", &["-c", text], "")
}

/// This program as a child: [`child`] does what `role` says.
fn role(role: &str) -> SpawnRequest {
    let own = std::env::current_exe().unwrap();
    request(own.to_str().unwrap(), &["--exact", "tree::child", "--nocapture"], role)
}

extern "C" fn sleeper(_: *mut libc::c_void) -> libc::c_int {
    loop {
        // SAFETY: no argument points anywhere; async-signal-safe.
        unsafe { libc::pause() };
    }
}

/// A child process that shares this one's memory (CLONE_VM) or has a copy.
fn process(sharing: bool) {
    let stack = vec![0_u8; 64 * 1024].leak();
    let flags = libc::SIGCHLD | if sharing { libc::CLONE_VM } else { 0 };
    // SAFETY: the child has a stack of its own, of which this is the upper end (aligned by the
    // mask), leaked so that nobody frees it; it only makes a system call for ever and touches no
    // memory of this process.
    let pid = unsafe {
        let end = stack.as_mut_ptr().add(stack.len()).map_addr(|address| address & !15);
        libc::clone(sleeper, end.cast(), flags, std::ptr::null_mut())
    };
    assert!(pid > 0, "{}", std::io::Error::last_os_error());
}

/// Not a test by itself: what the children that [`role`] starts do.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("threads") => {
            for _ in 0..40 {
                std::thread::spawn(std::thread::park);
            }
        }
        Ok("sharing") => (0..3).for_each(|_| process(true)),
        Ok("copies") => (0..3).for_each(|_| process(false)),
        _ => return,
    }
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().count();
    writeln!(std::fs::File::options().write(true).open("/proc/self/fd/3").unwrap(), "{tasks}").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_process_alone_is_seen_as_that() {
    let one = started(&script("echo ready >&3; exec sleep 600"));
    let tree = one.task_tree();
    assert_eq!((tree.tasks, tree.processes, tree.most_tasks, tree.looked_at), (1, 1, 1, 1));
    assert!(tree.knows_pid);
    assert!(!one.child.task_tree(1).unwrap().knows_pid, "init is none of its processes");
    assert_eq!(tree.namespaces["pid"], 1, "{tree:?}");
    assert_eq!(tree.allowed_cpus, Cpus::detect().unwrap().allowed());
    assert!(tree.ran_on.iter().all(|cpu| tree.allowed_cpus.contains(cpu)) && tree.ran_on.len() == 1, "{tree:?}");
    assert!(tree.address_spaces.is_none_or(|count| count == 1), "{tree:?}");
}

#[test]
fn threads_are_tasks_of_one_process() {
    let many = started(&role("threads"));
    let tree = many.task_tree();
    let tasks: u64 = many.said.trim().parse().unwrap();
    assert!(tasks > 40);
    assert_eq!((tree.tasks, tree.processes, tree.most_tasks), (tasks, 1, tasks));
    // Each goes to sleep as soon as the machine has a moment for it.
    let slept = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        many.task_tree().switches >= 40
    });
    assert!(slept, "{:?}", many.task_tree());
}

#[test]
fn processes_are_told_from_processes_that_share_memory() {
    for (name, spaces) in [("copies", 4), ("sharing", 1)] {
        let family = started(&role(name));
        let tree = family.task_tree();
        assert_eq!((tree.processes, tree.looked_at), (4, 4), "{name}: {tree:?}");
        assert!(tree.address_spaces.is_none_or(|count| count == spaces), "{name}: {tree:?}");
    }
}

#[test]
fn grandchildren_and_orphans_in_a_session_of_their_own_belong_to_the_family() {
    let family = started(&script(
        "sh -c 'sleep 600 & sleep 600 & wait' & (setsid sh -c 'sleep 600 & echo ready >&3; wait' >/dev/null 2>&1 &); wait",
    ));
    // Both branches come up side by side.
    let until = Instant::now() + Duration::from_secs(300);
    let tree = loop {
        let tree = family.task_tree();
        if tree.processes == 6 || Instant::now() > until {
            break tree;
        }
    };
    assert_eq!((tree.processes, tree.tasks, tree.looked_at), (6, 6, 6), "{tree:?}");
    assert!(tree.address_spaces.is_none_or(|count| count == 6), "{tree:?}");
    let Started { child, .. } = family;
    assert!(child.finish().strays >= 2);
}

#[test]
fn details_of_large_families_are_bounded_and_counts_are_not() {
    let family = started(&script("i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done; echo ready >&3; wait"));
    let tree = family.task_tree();
    assert_eq!((tree.processes, tree.tasks, tree.looked_at), (301, 301, 64));
    assert!(tree.address_spaces.is_none_or(|count| count == 64), "{tree:?}");
    assert_eq!(tree.namespaces["net"], 1);
}

#[test]
fn a_look_that_comes_too_late_is_no_look() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let text = format!("echo ready >&3; read x <{}; echo more >&3; echo said; exec sleep 600", gate.display());
    let late = started(&script(&text));
    std::fs::write(&gate, "x\n").unwrap();
    let Started { mut child, .. } = late;
    while child.printed().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(child.task_tree(1), None);
    assert!(matches!(child.listen(Instant::now() + Duration::from_secs(300), None), Heard::Report(_)));
    assert!(child.task_tree(1).is_some());
}

#[test]
fn tasks_of_the_machine_are_counted() {
    let Some(before) = tasks_created() else { return };
    let tasks: Vec<_> = (0..5).map(|_| std::thread::spawn(|| {})).collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert!(tasks_created().unwrap() >= before + 5);
}
