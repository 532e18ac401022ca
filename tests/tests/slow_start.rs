//! A probe that is slow to answer, or cannot: it is waited for as long as it gets on, packages are
//! named only if something is missing, and none is started that would not be chosen.

use switchcost_e2e::{World, in_time, probe};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world whose probe is this script, which may become the fake, and is given up after so many ms
/// without progress.
fn scripted(script: &str, patience_ms: u64) -> World {
    let world = World::new(FAKE);
    world.write("libexec/switchcost/probes/fake/probe.sh", &script.replace("FAKE", FAKE));
    let page = format!(
        "id = \"fake\"\ntitle = \"Fake\"\nsource = \"fake\"\npriority = 100\ncommand = [\"sh\", \"./probe.sh\"]\n\
         start_timeout_ms = {patience_ms}\n[install]\ndebian = \"fake-runtime\"\n"
    );
    world.write("libexec/switchcost/probes/fake/probe.toml", &page);
    world
}

fn why(world: &World) -> String {
    let listed = world.run("list thread/honest --format json").json();
    let probe = &listed["mechanisms"][0]["probes"][0];
    format!("{} | {}", probe["reason"].as_str().unwrap_or_default(), probe["install"].as_str().unwrap_or("nothing"))
}

#[test]
fn a_probe_is_waited_for_as_long_as_it_computes() {
    // It computes for four times its patience, as on a slow machine.
    let computes = "from=$(date +%s%3N)\nwhile [ $(($(date +%s%3N) - from)) -lt PATIENCE ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done\nexec FAKE \"$@\"\n";
    in_time(|times| {
        let patience = 400 * times;
        let world = scripted(&computes.replace("PATIENCE", &(4 * patience).to_string()), patience);
        (world.run("list thread/honest").status == 0 && why(&world) == " | nothing").then_some(())
    });
}

#[test]
fn packages_are_named_only_if_something_is_missing() {
    // One that sleeps does not get on.
    let said = why(&scripted("sleep 100\n", 100));
    assert_eq!(said, "no answer to `describe` within 100 ms | nothing");
    let said = why(&scripted("echo 'the filter says no' >&2\nexit 1\n", 5000));
    assert_eq!(said, "the filter says no | nothing");
    let said = why(&scripted("no-such-runtime \"$@\"\n", 5000));
    assert!(said.contains("no-such-runtime: not found") && said.contains("| fake-runtime"), "{said}");
    // A library that the session's own path would find.
    let loader = "echo \"$0: error while loading shared libraries: libx.so: cannot open\" >&2\nexit 127\n";
    let world = scripted(loader, 5000);
    let said = world.run_wrapped(&["env", "LD_LIBRARY_PATH=/opt/modules/lib"], &["list", "thread/honest"]);
    let words = said.words();
    assert!(words.contains("probes do not get LD_LIBRARY_PATH") && !words.contains("fake-runtime"), "{said:?}");
    assert!(why(&world).contains("| fake-runtime"));
}

#[test]
fn a_probe_that_would_not_be_chosen_is_not_started() {
    let world = World::new(FAKE);
    let asked = |rows: &str| {
        let log = world.path("asked");
        let _ = std::fs::remove_file(&log);
        world.write(
            "libexec/switchcost/probes/second/probe.sh",
            &format!("echo asked >>'{}'\nexec {FAKE} \"$@\"\n", log.display()),
        );
        let page = probe("second", FAKE, 50).replace(&format!("[\"{FAKE}\"]"), "[\"sh\", \"./probe.sh\"]");
        world.write("libexec/switchcost/probes/second/probe.toml", &page);
        let said = world.run(&format!("run {rows} --rounds 6 --format json"));
        assert!(said.out.contains("\"results\""), "{said:?}");
        log.exists()
    };
    assert!(!asked("thread/honest"), "the one of higher priority can");
    assert!(asked("thread/honest@second"), "a row of it is asked for");
    // The best one answers nothing.
    world.write("libexec/switchcost/probes/fake/probe.toml", &probe("fake", "/nowhere/probe", 100));
    assert!(asked("thread/honest"), "the one of higher priority is silent");
}
