//! `forget`: what goes, what stays, and that nothing is lost that was not named.

use std::io::Write;
use std::process::{Command, Stdio};
use switchcost_e2e::{Said, World, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with this many runs; the ids, newest first.
fn with_runs(count: usize) -> (World, Vec<String>) {
    let world = World::new(FAKE);
    for _ in 0..count {
        let said = world.run("run thread/honest --rounds 2 --batches 2");
        assert!([0, 4].contains(&said.status), "{said:?}");
    }
    let ids = ids(&world);
    (world, ids)
}

fn ids(world: &World) -> Vec<String> {
    let runs = world.run("history --format json").json();
    runs["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

fn bytes(world: &World) -> u64 {
    std::fs::metadata(world.store()).unwrap().len()
}

#[test]
fn what_is_old_goes_and_what_has_a_name_stays() {
    let (world, ids_before) = with_runs(5);
    let at = |back: usize| ids_before[back].clone();
    assert_eq!(world.run("baseline set v1 latest~3").status, 0);
    let before = bytes(&world);
    // Nobody can be asked: it says what would go, and nothing goes.
    let said = world.run("forget --keep 2");
    said.refuses(2, &["nothing was removed", "--yes"]);
    assert!(said.out.contains("2 runs would go, with 4 process runs") && said.out.contains(&at(4)), "{said:?}");
    assert!(said.out.contains("3 runs stay, 1 as the baseline v1"), "{said:?}");
    assert_eq!(ids(&world), ids_before);

    let said = world.run("forget --keep 2 --yes");
    assert!(said.status == 0 && said.out.contains("2 runs removed; "), "{said:?}");
    assert_eq!(ids(&world), [at(0), at(1), at(3)]);
    assert!(bytes(&world) <= before);
    assert_eq!((world.run("show latest").status, world.run("show baseline:v1").status), (0, 0));
    // Both conditions must hold.
    assert_eq!(world.run("forget --before 1d --keep 1 --yes").out, "no run is to go\n");
    assert_eq!(world.run("forget --older-than-baseline v1 --yes").out, "no run is to go\n");
    assert_eq!(world.run("baseline set v2").status, 0);
    let said = world.run("forget --older-than-baseline v2 --yes");
    assert!(said.status == 0 && said.out.contains("1 as the baseline v1"), "{said:?}");
    assert_eq!(ids(&world), [at(0), at(3)]);
    // By its name it goes, and the name says so.
    let said = world.run("forget baseline:v1 --yes");
    assert!(said.status == 0 && ids(&world) == [at(0)], "{said:?}");
    world.run("show baseline:v1").refuses(2, &["`v1`", "gone"]);
    // What probes said of themselves goes with the last run that needs it, and the rest can be
    // read.
    let left = rusqlite::Connection::open(world.store()).unwrap();
    let count = |table: &str| left.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
    assert_eq!((count("run"), count("invocation")), (Ok(1), Ok(2)));
    assert!(count("hello").unwrap() <= 2 && count("samples").unwrap() > 0);
}

#[test]
fn space_is_given_back() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 40 --batches 200").status, 0);
    assert_eq!(world.run("run thread/honest --rounds 2 --batches 2").status % 4, 0);
    let before = bytes(&world);
    let said = world.run("forget latest~1 --yes");
    assert!(said.status == 0 && bytes(&world) < before / 2, "{said:?}: {before} → {}", bytes(&world));
}

/// What is typed at a terminal.
fn answered(world: &World, command: &str, answer: &str) -> Said {
    let own = world.command(&command.split(' ').collect::<Vec<_>>());
    let words: Vec<String> = std::iter::once(own.get_program())
        .chain(own.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let mut script = Command::new("script");
    script.args(["-qec", &words.join(" "), "/dev/null"]).env_clear();
    script.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_terminal_is_asked() {
    if cfg!(not(target_os = "linux")) {
        return; // `script` has other options there.
    }
    let (world, ids_before) = with_runs(2);
    let said = answered(&world, "forget --keep 1", "n\n");
    assert!(said.status == 0 && said.out.contains("[y/N]") && said.out.contains("nothing was removed"), "{said:?}");
    assert_eq!(ids(&world), ids_before);
    let said = answered(&world, "forget --keep 1", "yes\n");
    assert!(said.status == 0 && said.out.contains("1 run removed"), "{said:?}");
    assert_eq!(ids(&world), ids_before[..1]);
}

#[test]
fn what_cannot_go_is_one_sentence() {
    let world = World::new(FAKE);
    world.run("forget latest --yes").refuses(2, &["there is no store"]);
    assert!(!world.store().exists());
    let (world, ids_before) = with_runs(2);
    world.run("forget").refuses(2, &["--before"]);
    world.run("forget --keep 0").refuses(2, &["--keep"]);
    world.run("forget --before soon").refuses(2, &["--before", "30d"]);
    world.run("forget latest --keep 1").refuses(2, &["--keep"]);
    world.run("forget nowhere --yes").refuses(2, &["nowhere"]);
    world.run("forget --older-than-baseline v9 --yes").refuses(2, &["`v9`"]);
    let all = format!("all 2 runs of {}; to do so, delete that file", world.store().display());
    world.run("forget --before 0s --yes").refuses(2, &[&all]);
    world.run("forget latest latest~1 --yes").refuses(2, &[&all]);
    assert_eq!(ids(&world), ids_before);
}

/// A run that goes on stays, and so does what another command goes on with; a run whose host was
/// killed goes.
#[test]
fn a_run_in_use_stays() {
    let (world, _) = with_runs(1);
    let starts = world.counted(FAKE, "");
    let before = starts.count();
    starts.hold(before + 3);
    let mut measuring =
        world.command(&["run", "thread/honest", "--rounds", "5"]).stderr(Stdio::null()).spawn().unwrap();
    starts.reach(before + 3);
    until("the run is stored", || ids(&world).len() == 2);
    let id = ids(&world)[0].clone();
    world.run(&format!("forget {id} --yes")).refuses(2, &["nothing was removed", &id, "is unfinished", "wait"]);
    // Another run may go meanwhile.
    let said = world.run("forget latest~1 --yes");
    assert!(said.status == 0 && ids(&world) == [id.as_str()], "{said:?}");
    measuring.kill().unwrap();
    measuring.wait().unwrap();
    starts.let_go();
    assert_eq!(world.run("run thread/honest --rounds 2 --batches 2").status % 4, 0);
    let said = world.run(&format!("forget {id} --yes"));
    assert!(said.status == 0 && ids(&world).len() == 1, "{said:?}");
}
