//! Files that a crashed runtime drops stay neither in the installation nor in the folder of the
//! reader.

use std::collections::BTreeSet;
use std::path::Path;
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn names(folder: &Path) -> BTreeSet<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_crashed_runtime_leaves_no_file() {
    let world = World::new(FAKE);
    let folder = world.path("libexec/switchcost/probes/fake");
    let limits = world.path("limits");
    // As the JVM, Node.js and Erlang do, and the kernel; the first of them where only the temporary
    // folder may be written.
    let crash = format!(
        "echo $$ $(ulimit -c) >>{}; echo x >hs_err_pid$$.log; echo x >/tmp/hs_err_pid$$.log\n\
         echo x >report.20260101.120000.$$.0.001.json; echo x >erl_crash.dump; kill -SEGV $$",
        limits.display()
    );
    let _starts = world.counted(FAKE, &crash);
    let home = world.path("reader");
    std::fs::create_dir(&home).unwrap();
    let before = names(&folder);
    let mut command = world.command(&[]);
    let program = command.get_program().to_owned();
    command = {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"]).arg(program);
        shell.args(["run", "thread/honest", "--rounds", "2"]).env_clear().current_dir(&home);
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
    };
    let said = switchcost_e2e::Said::from(command.output().unwrap());
    assert_eq!(said.status, 3, "{said:?}");
    let limits = std::fs::read_to_string(limits).unwrap();
    assert!(said.out.contains("broken") && limits.lines().count() >= 1, "{said:?}");
    for line in limits.lines() {
        let (pid, limit) = line.split_once(' ').unwrap();
        assert_eq!(limit, "0", "the kernel dumps nothing");
        assert!(!Path::new(&format!("/tmp/hs_err_pid{pid}.log")).exists(), "{said:?}");
    }
    assert_eq!(names(&folder), before, "{said:?}");
    assert_eq!(names(&home), BTreeSet::new(), "{said:?}");
}
