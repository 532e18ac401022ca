//! Figures that `history` keeps in the cache, with the real binary.

use serde_json::Value;
use std::path::PathBuf;
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with a run, and another with other figures.
fn world() -> World {
    let world = World::new(FAKE);
    measure(&world, "1000,2000");
    measure(&world, "1500,3000");
    world
}

fn measure(world: &World, ticks: &str) {
    let said = world.run(&format!("run thread/honest --param ticks={ticks} --rounds 6 --batches 2"));
    assert_eq!(said.status, 0, "{said:?}");
}

fn trends(world: &World) -> Value {
    let said = world.run("history thread/honest --format json");
    assert_eq!(said.status, 0, "{said:?}");
    said.json()
}

fn files(world: &World) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(world.path("cache/switchcost/figures")).into_iter().flatten();
    folder.map(|file| file.unwrap().path()).collect()
}

#[test]
fn kept_figures_are_those_that_were_worked_out() {
    let world = world();
    assert_eq!(files(&world), [] as [PathBuf; 0]);
    let fresh = trends(&world);
    let [file] = files(&world).try_into().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(trends(&world), fresh);
    // That they were not worked out again is seen by a figure that is another now.
    std::fs::write(&file, text.replace("\"median\":", "\"median\":9")).unwrap();
    let kept = trends(&world);
    assert_ne!(kept, fresh);
    assert_eq!(trends(&world), kept);
    // What cannot be read is worked out again, and written rightly.
    std::fs::write(&file, text.replace("\"median\":", "\"median\":{}")).unwrap();
    assert_eq!(trends(&world), fresh);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    // A new run is another line, and another percentile or form another file.
    measure(&world, "1000,4000");
    assert_ne!(trends(&world), fresh);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    assert_eq!(world.run("history thread/honest").status, 0);
    assert_eq!(files(&world).len(), 2);
}

/// Others may not say what a run has measured, and nobody can make it wait.
#[test]
#[cfg(unix)]
fn what_others_may_have_written_is_not_read() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let fresh = trends(&world);
    let [file] = files(&world).try_into().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"median\":", "\"median\":9")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    assert_eq!(trends(&world), fresh);
    std::fs::remove_file(&file).unwrap();
    let (file, planted) = (file.to_str().unwrap(), world.path("planted"));
    let said = std::process::Command::new("mkfifo").arg(file).status().unwrap();
    assert!(said.success());
    assert_eq!(trends(&world), fresh);
    std::fs::write(&planted, "three weeks of work").unwrap();
    let _ = std::fs::remove_file(file);
    std::os::unix::fs::symlink(&planted, file).unwrap();
    assert_eq!(trends(&world), fresh);
    assert_eq!(std::fs::read_to_string(&planted).unwrap(), "three weeks of work");
}

/// A cache that cannot be made only costs time.
#[test]
fn nothing_is_kept_where_nothing_can_be_written() {
    let world = world();
    std::fs::remove_dir_all(world.path("cache")).ok();
    std::fs::write(world.path("cache"), "a file").unwrap();
    assert_eq!(trends(&world), trends(&world));
    assert_eq!(std::fs::read_to_string(world.path("cache")).unwrap(), "a file");
}

#[test]
fn of_a_run_that_was_removed_nothing_is_kept() {
    let world = world();
    trends(&world);
    assert_eq!(files(&world).len(), 1);
    assert_eq!(world.run("forget latest --yes").status, 0);
    assert_eq!(files(&world), [] as [PathBuf; 0]);
}

/// A run with the same description and other figures, in a new store of that name.
#[test]
fn figures_are_of_what_is_stored_not_of_its_name() {
    let world = World::new(FAKE);
    measure(&world, "1000");
    let exported = world.run("export").out;
    let (body, _) = exported.trim_end().rsplit_once('\n').unwrap();
    let slower = |line: &str| match line.starts_with("{\"t\":\"invocation\"") {
        true => switchcost_e2e::scaled(line, 1.7),
        false => line.to_owned(),
    };
    let other = body.lines().map(slower).collect::<Vec<_>>().join("\n");
    assert_ne!(other, body);
    let mut said = Vec::new();
    for body in [body, &other] {
        let _ = std::fs::remove_file(world.store());
        world.write("run.jsonl", &switchcost_e2e::sealed(&format!("{body}\n")));
        let said_of_import = world.run(&format!("import {}", world.path("run.jsonl").display()));
        assert_eq!(said_of_import.status, 0, "{said_of_import:?}");
        said.push(world.run("history thread/honest --machine all --format json").out);
    }
    assert_ne!(said[0], said[1]);
}
