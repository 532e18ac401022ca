use super::*;
use crate::os::facts::tests::tree;

const STATUS: &str =
    "Name:\tworker\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t70\nnonvoluntary_ctxt_switches:\t5\n";

fn stat(name: &str, state: &str, flags: u64) -> String {
    let zeros = "0 ".repeat(15);
    format!(
        "7 ({name}) {state} 1 7 7 0 -1 {flags} 0 0 0 0 300 200 0 0 20 0 1 0 9 {zeros}17 3 0 0
"
    )
}

fn watched(stat: &str) -> Result<Observed, ProgramError> {
    let files = tree(&[
        ("proc/7/stat", stat),
        ("proc/7/task/7/status", STATUS),
        ("proc/7/task/7/stat", stat),
        ("proc/7/task/7/schedstat", "123456 7 8\n"),
        ("proc/7/task/7/wchan", "futex_do_wait"),
        (
            "proc/interrupts",
            "           CPU0 CPU1
 24: 9 9 PCI eth0
RES: 4 6 Rescheduling interrupts
CAL: 1 1 Function call interrupts
",
        ),
    ]);
    let mut watched = Watched::on(Host::fake(files.path()), 7, false, false)?;
    let later = [
        ("proc/7/task/7/status", STATUS.replace("70", "100").replace(":\t5", ":\t9")),
        ("proc/7/task/7/schedstat", "223456 7 42\n".to_owned()),
        ("proc/interrupts", "RES: 6 8 Rescheduling interrupts\nCAL: 2 1 Function call interrupts\n".to_owned()),
    ];
    for (path, text) in later {
        std::fs::write(files.path().join(path), text).unwrap();
    }
    assert!(watched.sample());
    Ok(watched.observed())
}

#[test]
fn counts_are_differences_of_two_looks() {
    let odd = stat("a) (b", "S", 0);
    let seen = watched(&odd).unwrap();
    // It was `a) (b` when it was found, and has started another program in its place since.
    assert_eq!((seen.program.as_str(), seen.wake_interrupts, seen.samples), ("worker", Some(5), 2));
    let thread = &seen.threads[0];
    assert_eq!((thread.voluntary, thread.involuntary, thread.cpu_ns), (30, 4, Some(100_000)));
    assert_eq!((thread.cpus[&3], thread.channels["futex_do_wait"]), (2, 2));
    assert!(!thread.ended && seen.blind.is_empty());
}

#[test]
fn what_is_no_program_is_refused() {
    assert_eq!(watched(&stat("kworker/0:1", "I", KERNEL_THREAD)), Err(ProgramError::Kernel(7, "kworker/0:1".into())));
    assert_eq!(watched(&stat("gone", "Z", 0)), Err(ProgramError::Ended(7, "gone".into())));
    let empty = tempfile::tempdir().unwrap();
    let hidden = |pid| Watched::on(Host::fake(empty.path()), pid, false, false).unwrap_err();
    assert_eq!(hidden(std::process::id()), ProgramError::Hidden(std::process::id()));
    assert_eq!(hidden(u32::MAX), ProgramError::Gone(u32::MAX));
}

/// The first thread has ended, another works: they stand for themselves, and once all have ended
/// nothing is counted without time.
#[test]
fn threads_outlive_the_first() {
    let leader = stat("main", "Z", 0).replace(" 20 0 1 0 9", " 20 0 2 0 9");
    let worker = |switches: u64| STATUS.replace("70", &switches.to_string());
    let files = tree(&[
        ("proc/7/stat", &leader),
        ("proc/7/task/7/status", STATUS),
        ("proc/7/task/7/stat", &leader),
        ("proc/7/task/8/status", &worker(1000)),
        ("proc/7/task/8/stat", &stat("worker", "S", 0)),
    ]);
    let mut watched = Watched::on(Host::fake(files.path()), 7, false, false).unwrap();
    std::fs::write(files.path().join("proc/7/task/8/status"), worker(3000)).unwrap();
    assert!(watched.sample());
    let wall = watched.observed().wall;
    // All have ended, and the counts of the first grew to its end.
    std::fs::write(files.path().join("proc/7/stat"), stat("main", "Z", 0)).unwrap();
    std::fs::write(files.path().join("proc/7/task/7/status"), worker(900_000)).unwrap();
    std::fs::write(files.path().join("proc/7/task/8/status"), worker(9000)).unwrap();
    assert!(!watched.sample());
    let seen = watched.observed();
    assert!(seen.ended && seen.wall == wall, "{seen:?}");
    assert_eq!(
        seen.threads.iter().map(|thread| (thread.thread, thread.voluntary)).collect::<Vec<_>>(),
        [(7, 0), (8, 2000)]
    );
}

#[test]
fn a_deaf_command_is_killed() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"]).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut [0]).unwrap();
    let mut watched = Watched::begin(child.id(), false, true).unwrap();
    watched.own(child);
    assert_eq!(watched.end(Some(Duration::from_millis(20))), Some(ExitStatus::Signalled(9)));
}
