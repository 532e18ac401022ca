//! What cannot be done is refused before a probe is asked, and nothing of it is stored; what takes long says how far it is.

use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// It tells that it was started.
const PROBE: &str =
    "id = \"told\"\ntitle = \"Told\"\nsource = \"fake\"\ncommand = [\"sh\", \"probe.sh\"]\nstart_timeout_ms = 1000\n";

#[test]
fn what_cannot_be_done_asks_no_probe() {
    let world = World::new(FAKE);
    let started = world.path("started");
    world.write("libexec/switchcost/probes/told/probe.toml", PROBE);
    world.write("libexec/switchcost/probes/told/probe.sh", &format!("touch {}\n", started.display()));
    let placed = world.path("share/switchcost/mechanisms/thread/honest.toml");
    let page = std::fs::read_to_string(&placed).unwrap().replace("\"two_cpus\", ", "");
    std::fs::write(&placed, page).unwrap();
    for (command, words) in [
        ("run thread/honest --placement two_cpus", &["two_cpus", "it has one_cpu, free"][..]),
        ("run thread/honest --placement one_cpu,two_cpus", &["two_cpus", "it has one_cpu, free"]),
        ("run thread/noise --placement pair:0-4000", &["CPU 4000", "may be used"]),
        ("run thread/honest --contexts 1", &["--contexts 2 or more"]),
        ("run thread/honest --contexts 1,4", &["--contexts 2 or more"]),
        ("run thread/honset", &["did you mean `thread/honest`"]),
        ("run thread/honest --param ticks=-1", &["ticks", "0", "1000000000"]),
        ("run thread/honest --experiment create", &["create", "switch"]),
        ("run thread/honest --probe nobody", &["--probe nobody"]),
        ("sweep contexts thread/honset", &["did you mean `thread/honest`"]),
        ("sweep contexts thread/honest --placement two_cpus", &["two_cpus", "it has one_cpu, free"]),
        ("compare --measure thread/honest thread/honset", &["did you mean `thread/honest`"]),
    ] {
        world.run(command).refuses(2, words);
        assert!(!started.exists(), "{command}");
    }
    assert_eq!(world.run("run thread/honest --rounds 1").status, 0);
    assert!(started.exists(), "a request that can be met asks it");
}

/// Neither `latest` nor `history` is to name a run in which no probe was started.
#[test]
fn a_run_without_a_start_is_not_stored() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 1").status, 0);
    let before = world.run("history").out;
    assert_eq!(world.run("run thread/absent").status, 3);
    assert_eq!(world.run("history").out, before);
}

#[test]
fn a_run_that_check_cannot_use_gets_a_name_with_a_warning() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 1").status, 0);
    let said = world.run("baseline set check");
    assert!(said.status == 0 && said.err.contains("is too noisy for `check`"), "{said:?}");
    assert_eq!(world.run("run thread/honest --rounds 10").status, 0);
    let said = world.run("baseline set check --replace");
    assert!(said.status == 0 && said.err.is_empty(), "{said:?}");
}

/// Rows that there was no time for are counted, with the budget that is enough for them, and not listed.
#[test]
fn too_little_time_says_how_much_would_do() {
    let world = World::new(FAKE);
    let names = "thread/honest thread/noise thread/blind thread/spin thread/sized";
    let _ = world.run(&format!("run {names} --rounds 1 --batches 10"));
    let starved = |body: &str| {
        let starts = |line: &&str| !line.contains("\"t\":\"invocation\"");
        let kept: String = body.lines().filter(starts).map(|line| format!("{line}\n")).collect();
        kept.replace("\"ended_by\":\"rounds\"", "\"ended_by\":\"budget\"")
    };
    let said = world.run(&format!("show {}", world.forged("starved", starved)));
    assert!(said.out.contains("Nothing measured: all ") && said.out.contains("with --budget "), "{said:?}");
    assert!(!said.out.contains("unmeasured"), "{said:?}");
}

/// A log keeps a line every ten seconds, not a bar.
#[test]
fn long_work_says_how_far_it_is_where_there_is_no_terminal() {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --rounds 100000 --budget 13s");
    let lines = said.err.lines().filter(|line| line.starts_with("round ") && line.ends_with(" s left")).count();
    assert!(lines >= 1 && !said.err.contains('\r'), "{said:?}");
}
