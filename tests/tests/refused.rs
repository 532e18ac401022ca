//! What cannot be done is refused before a probe is asked, and nothing of it is stored; what takes
//! long says how far it is.

use std::process::{Command, Stdio};
use switchcost_e2e::{BY_CTRL_C, Said, Starts, World, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// It tells that it was started.
const PROBE: &str = "id = \"told\"\ntitle = \"Told\"\nsource = \"fake\"\npriority = 200\ncommand = [\"sh\", \"probe.sh\"]\nstart_timeout_ms = 1000\n";

/// A control that was measured for its sake is not what was asked for.
#[test]
fn nothing_is_measured_where_only_a_control_is() {
    let world = World::new(FAKE);
    let page = |own: &str| mechanism("").replacen("placements", &format!("{own}\nplacements"), 1);
    world.write("share/switchcost/mechanisms/thread/noise.toml", &page("control = true"));
    world.write("share/switchcost/mechanisms/thread/unsupported.toml", &page("bound = [\"thread/noise\"]"));
    for (asked, status) in [("thread/unsupported", 3), ("thread/unsupported thread/noise", 0), ("thread/noise", 0)] {
        let said = world.run(&format!("run {asked} --format json"));
        let rows = said.json()["results"].clone();
        let control = rows.as_array().unwrap().iter().find(|row| row["mechanism"] == "thread/noise").unwrap();
        assert_eq!((said.status, &control["verdict"]), (status, &"verified".into()), "{asked}: {said:?}");
    }
}

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
        ("run --contexts 1", &["--contexts 2 or more"]),
        ("run thread/honest --contexts 1,4", &["--contexts 2 or more"]),
        ("run thread/honset", &["did you mean `thread/honest`"]),
        ("run thread/honest --param ticks=-1", &["ticks", "0", "1000000000"]),
        ("run thread/honest --experiment create", &["create", "switch"]),
        ("run thread/honest --probe nobody", &["--probe nobody"]),
        ("sweep contexts thread/honset", &["did you mean `thread/honest`"]),
        ("sweep contexts thread/honest --placement two_cpus", &["two_cpus", "it has one_cpu, free"]),
        ("compare thread/honest thread/noise --contexts 1", &["--contexts 1: ", "--contexts 2 or more"]),
        ("compare --measure thread/honest thread/honset", &["did you mean `thread/honest`"]),
        ("compare --measure thread/honest thread/noise --format json=/nowhere/x", &["there is no folder /nowhere"]),
        ("audit -o /nowhere/x -- true", &["--output `/nowhere/x`", "there is no folder /nowhere"]),
    ] {
        world.run(command).refuses(2, words);
        assert!(!started.exists(), "{command}");
    }
    for (words, why) in [
        (&["thread/noise two_cpus", "--placement", "one_cpu"][..], "two_cpus contradicts --placement one_cpu"),
        (&["thread/noise two_cpus", "--placement", "one_cpu,two_cpus"], "--placement one_cpu,two_cpus"),
        (&["thread/noise two_cpus free"], "free contradicts two_cpus"),
        (&["thread/noise contexts=4", "--contexts", "5"], "contexts=4 contradicts --contexts 5"),
        (&["thread/noise message", "--experiment", "switch"], "message contradicts --experiment switch"),
        (&["thread/noise batch", "--timing", "each"], "batch contradicts --timing each"),
        (&["thread/noise ticks=5", "--param", "ticks=6"], "ticks=5 contradicts --param ticks=6"),
        (&["thread/noise ticks=5 ticks=6"], "ticks=6 contradicts ticks=5"),
        (&["thread/noise@fake", "--probe", "told"], "@fake contradicts --probe told"),
    ] {
        world.run_words(&[&["run"], words].concat()).refuses(2, &[words[0], why, "leave one of them out"]);
        assert!(!started.exists(), "{words:?}");
    }
    world.run_words(&["explain", "thread/noise free one_cpu"]).refuses(2, &["one_cpu contradicts free"]);
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
    let said = world.run("baseline set ../x");
    assert!(said.status == 2 && said.err.lines().count() == 1, "{said:?}");
    let said = world.run("baseline set check");
    assert!(said.status == 0 && said.err.contains("is too noisy for `check`"), "{said:?}");
    assert_eq!(world.run("run thread/honest --rounds 10").status, 0);
    let said = world.run("baseline set check --replace");
    assert!(said.status == 0 && said.err.is_empty(), "{said:?}");
}

/// Rows that there was no time for are counted, with the budget that is enough for them, and not
/// listed.
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

/// The command, stopped by Ctrl-C while its probe is held at this start.
fn stopped(world: &World, starts: &Starts, words: &str, at: usize) -> Said {
    starts.hold(at);
    let words: Vec<&str> = words.split(' ').collect();
    let child = world.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    starts.reach(at);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said = child.wait_with_output().unwrap().into();
    starts.let_go();
    said
}

#[test]
fn a_comparison_that_is_stopped_answers_with_what_it_has() {
    let world = World::new(FAKE);
    let starts = world.counted(FAKE, "");
    let said = stopped(&world, &starts, "compare thread/honest thread/noise", 1);
    said.refuses(BY_CTRL_C, &["before two rows that are compared had a process run each"]);
    let said = stopped(&world, &starts, "compare thread/honest thread/noise", starts.count() + 40);
    assert_eq!(said.status, BY_CTRL_C, "{said:?}");
    assert!(said.out.contains("thread/noise against thread/honest: a switch"), "{said:?}");
    assert!(said.out.contains("Stopped while it measured"), "{said:?}");
}

/// What another command measures by the same plan is none of `run`'s.
#[test]
fn nobody_continues_the_run_of_another_command() {
    let world = World::new(FAKE);
    let starts = world.counted(FAKE, "");
    stopped(&world, &starts, "compare --measure thread/honest thread/noise --rounds 8", 5);
    world.run("run --rounds 8 --resume").refuses(2, &["no stored run of this command has this plan"]);
    stopped(&world, &starts, "run --rounds 8", starts.count() + 5);
    let refuses = |words: &str| world.run(words).refuses(2, &["no stored run of this command has this plan"]);
    refuses("explain thread/honest --rounds 8 --resume");
    refuses("compare --measure thread/honest thread/noise --rounds 9 --resume");
    refuses("compare --measure thread/noise thread/honest --rounds 8 --resume");
    refuses("compare --measure thread/honest thread/noise --rounds 8 --seed 1 --resume");
    world.run("compare latest latest~1 --resume").refuses(2, &["--resume is of a comparison that measures"]);
}

/// Variant and round of each start of the newest run, in order of execution.
fn rounds(world: &World) -> Vec<(u64, u64)> {
    let lines = world.run("export").out;
    let all = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let all = all.filter(|line| line["t"] == "invocation");
    all.map(|line| (line["variant"].as_u64().unwrap(), line["round"].as_u64().unwrap())).collect()
}

/// What is stored is as it was, and nothing is measured twice.
fn once_each(before: &[(u64, u64)], after: &[(u64, u64)]) {
    assert_eq!(after[..before.len()], *before, "what was stored has changed");
    let mut once = after.to_vec();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), after.len(), "{after:?}");
}

/// Beside `run` and `sweep`: stopped when each row has as many starts as an answer takes, and not
/// those that were asked for.
#[test]
fn each_command_that_measures_goes_on_with_its_run() {
    let pid = std::process::id();
    let audit = format!("audit --pid {pid} --for 100ms");
    for (words, last, answer) in [
        ("explain thread/honest --rounds 9", 8, "thread/honest takes"),
        ("compare thread/honest thread/noise --rounds 9", 8, "thread/noise against thread/honest"),
        ("compare --measure thread/honest thread/noise --rounds 9", 8, "thread/noise"),
        ("compare --measure thread/honest --probe a --probe b --rounds 9", 8, "fake.b"),
        (&audit, 9, "switches"),
        ("classic ring --rounds 9 --seed 3", 8, "Here one switch takes"),
    ] {
        let world = World::new(FAKE);
        let starts = world.counted(FAKE, "");
        let floor = "[[layer]]\nname = \"noise\"\nfrom = [{ mechanism = \"thread/noise\", parameters = { ticks = \"150\" }, times = 1.0 }]\nwhy = \"a test\"\n";
        world.write("share/switchcost/mechanisms/thread/honest.toml", &mechanism(floor));
        ["ring", "hoop"].iter().for_each(|name| world.write(&format!("share/switchcost/classic/{name}.toml"), RING));
        for build in ["a", "b"] {
            let probe = std::fs::read_to_string(world.path("libexec/switchcost/probes/fake/probe.toml")).unwrap();
            let counted = world.path("libexec/switchcost/probes/fake/counted");
            world.write(&format!("{build}/probe.toml"), &probe.replace("./counted", counted.to_str().unwrap()));
        }
        let words = words.replace("--probe ", &format!("--probe {}/", world.path("").display()));
        let said = stopped(&world, &starts, &words, 25);
        assert_eq!(said.status, BY_CTRL_C, "{words}: {said:?}");
        let told = format!("{} {}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("the same command with --resume continues"), "{words}: {told}");
        let (command, rest) = words.split_once(' ').unwrap();
        let shown = world.run("show").out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&format!("to continue: switchcost {command} --resume {rest}")), "{words}: {shown}");
        let before = rounds(&world);
        assert_eq!(before.len(), 24, "{words}");
        // Neither other builds nor another program of the same rows.
        let other = words.replace("b --rounds", "./b --rounds").replace("ring", "hoop");
        if other != words {
            world.run(&format!("{other} --resume")).refuses(2, &["no stored run of this command has this plan"]);
        }
        let resumed = world.run(&format!("{words} --resume"));
        assert_eq!(resumed.status, 0, "{words}: {resumed:?}");
        assert!(resumed.out.contains(answer), "{words}: {resumed:?}");
        let after = rounds(&world);
        once_each(&before, &after);
        assert!(after.len() > before.len() && after.iter().all(|start| start.1 <= last), "{words}: {after:?}");
        assert_eq!(
            after.iter().filter(|start| start.1 == last).count(),
            after.iter().filter(|start| start.1 == 1).count()
        );
        assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 1, "{words}");
        let count = starts.count();
        let again = world.run(&format!("{words} --resume"));
        assert_eq!((again.status, starts.count()), (0, count), "{words}: {again:?}");
    }
}

/// Several runs by one command: those that are complete are read, the stopped one goes on, and the
/// rest begins.
#[test]
fn all_programs_go_on_where_they_stopped() {
    let world = World::new(FAKE);
    let starts = world.counted(FAKE, "");
    for name in ["one", "two", "zoo"] {
        world.write(&format!("share/switchcost/classic/{name}.toml"), RING);
    }
    let whole = world.run("classic all --rounds 6");
    assert_eq!(whole.status, 0, "{whole:?}");
    let (each, before) = (starts.count() / 3, starts.count());
    assert_eq!(stopped(&world, &starts, "classic all --rounds 6", before + each + 5).status, BY_CTRL_C);
    let resumed = world.run("classic all --rounds 6 --resume");
    assert_eq!((resumed.status, resumed.out.matches("## `").count()), (0, 3), "{resumed:?}");
    // The start that was held is done again.
    assert_eq!(starts.count(), before + 3 * each + 1);
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 6);
}

/// A program of a write-up.
const RING: &str = r#"
title = "A ring"
source = "a write-up"
explains = "prints totals"
rounds = 6
columns = [{ heading = "ns / switch", value = "unit_ns" }]
differences = ["The original does it otherwise."]
[[row]]
mechanism = "thread/honest"
placement = "one_cpu"
work = "2000"
batch_units = 100
[[row]]
mechanism = "thread/noise"
placement = "one_cpu"
work = "1000"
batch_units = 200
"#;

#[test]
fn a_run_that_was_stopped_goes_on_and_measures_nothing_twice() {
    const RUN: &str = "run thread/honest thread/noise --rounds 8";
    let world = World::new(FAKE);
    let starts = world.counted(FAKE, "");
    let said = stopped(&world, &starts, RUN, 1);
    assert!(said.status == BY_CTRL_C && !said.out.contains("to continue"), "nothing is stored of it: {said:?}");
    let said = stopped(&world, &starts, RUN, starts.count() + 11);
    assert!(said.out.contains(&format!("to continue: switchcost run --resume {}", &RUN[4..])), "{said:?}");
    let before = rounds(&world);
    assert_eq!(before.len(), 10);
    let refuses = |words: &str, why: &[&str]| world.run(&format!("{words} --resume")).refuses(2, why);
    refuses("run thread/honest --rounds 8", &["no stored run of this command has this plan"]);
    // What was imported was not measured here.
    let (file, other) = (world.path("stopped.jsonl"), world.path("other.sqlite"));
    std::fs::write(&file, world.run("export --private-facts").out).unwrap();
    assert_eq!(world.run(&format!("import {} --store {}", file.display(), other.display())).status, 0);
    refuses(&format!("{RUN} --store {}", other.display()), &["no stored run of this command has this plan"]);
    let resumed = world.run(&format!("{RUN} --resume --format json"));
    assert_eq!((resumed.status, &resumed.json()["run"]["ended_by"]), (0, &"rounds".into()), "{resumed:?}");
    let after = rounds(&world);
    once_each(&before, &after);
    assert_eq!(after.iter().map(|start| start.1).max(), Some(7), "{after:?}");
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 1);
    let count = starts.count();
    let again = world.run(&format!("{RUN} --resume"));
    assert!(again.status == 0 && again.err.contains("is complete, nothing is left to measure"), "{again:?}");
    assert_eq!((starts.count(), rounds(&world)), (count, after));
    assert_eq!(stopped(&world, &starts, RUN, starts.count() + 5).status, BY_CTRL_C);
    let page = world.path("libexec/switchcost/probes/fake/probe.toml");
    std::fs::write(&page, std::fs::read_to_string(&page).unwrap().replace("id = \"fake\"", "id = \"other\"")).unwrap();
    refuses(RUN, &["its probe fake is not here any more"]);
}

/// One sentence: the flag, the reason and the cure.
#[test]
fn what_the_parser_refuses_is_one_sentence() {
    let world = World::new(FAKE);
    for (typed, sentence) in [
        (
            "show --format json",
            "switchcost show: it has no option --format; `switchcost export` writes formats; `switchcost show -h` says more",
        ),
        (
            "run --rownds 3",
            "switchcost run: it has no option --rownds (did you mean `--rounds`?); `switchcost run -h` says more",
        ),
        ("run --rounds x", "switchcost run: --rounds `x`: it is a whole number; `switchcost run -h` says more"),
        ("run --rounds", "switchcost run: --rounds needs a value; `switchcost run -h` says more"),
        ("run --rounds 1 --rounds 2", "switchcost run: --rounds is given twice; `switchcost run -h` says more"),
        (
            "doctor --format jsn",
            "switchcost doctor: --format `jsn`: it is one of table, json (did you mean `json`?); `switchcost doctor -h` says more",
        ),
        (
            "doctor now",
            "switchcost doctor: it takes nothing more, and there is `now`; `switchcost doctor -h` says more",
        ),
        ("import", "switchcost import: it needs <FILE>...; `switchcost import -h` says more"),
        (
            "baseline sett x",
            "switchcost: there is no command `sett` (did you mean `baseline set`?); `switchcost -h` lists all",
        ),
        ("judge", "switchcost: there is no command `judge` (did you mean `fleet judge`?); `switchcost -h` lists all"),
        (
            "budget",
            "switchcost: there is no command `budget` (did you mean the option `run --budget`?); `switchcost -h` lists all",
        ),
        ("baseline", "switchcost baseline: name a command: set, list, remove; `switchcost baseline -h` says more"),
        ("audit --pid 1 -- ls", "switchcost audit: --pid does not go with COMMAND; `switchcost audit -h` says more"),
        ("run thread/pipe --all", "switchcost run: PATTERN does not go with --all; `switchcost run -h` says more"),
        (
            "sweep context",
            "switchcost: sweep context: it is none of contexts, working-set, payload, stack-size, cpus, sched, and no parameter that a mechanism has (did you mean `contexts`?); `switchcost list NAME` shows those",
        ),
        (
            "run --rounds 0",
            "switchcost run: --rounds `0`: it is a number from 1 to 100,000; `switchcost run -h` says more",
        ),
        ("run --rounds -1", "switchcost run: --rounds `-1`: it is not negative; `switchcost run -h` says more"),
        ("run --budget -5s", "switchcost run: --budget `-5s`: it is not negative; `switchcost run -h` says more"),
        ("audit --pid -1", "switchcost audit: --pid `-1`: it is not negative; `switchcost audit -h` says more"),
        (
            "history --since -5d",
            "switchcost history: --since `-5d`: it is not negative; `switchcost history -h` says more",
        ),
        ("doctor -x", "switchcost doctor: it has no option -x; `switchcost doctor -h` says more"),
        (
            "run --budget 99999999999999999999d",
            "switchcost run: --budget `99999999999999999999d`: it lies between 100ms and 1day; `switchcost run -h` says more",
        ),
    ] {
        let said = world.run(typed);
        assert_eq!((said.status, said.err.trim_end(), said.out.as_str()), (2, sentence, ""), "{typed}");
    }
    world.run("audit --pid 99999999").refuses(2, &["--pid 99999999", "no such process"]);
    world.run_words(&[]).refuses(2, &["name a command: run, sweep"]);
    let mut command = world.command(&["show"]);
    command.arg(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff"));
    Said::from(command.output().unwrap()).refuses(2, &["argument 2", "not UTF-8"]);
    assert_eq!(world.run("run thread/honest thread/noise --rounds 1").status, 0);
    world.run("compare thread/honest thread/noise --format json=").refuses(2, &["the file to write has no name"]);
    // What is looked at stays as it is.
    world.write("o/old", "old");
    world.run(&format!("audit --pid 99999999 -o {}", world.path("o/old").display())).refuses(2, &["no such process"]);
    assert_eq!(std::fs::read_to_string(world.path("o/old")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(world.path("o")).unwrap().count(), 1);
    for words in [&["-h"][..], &["--version"], &["run", "-h"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let said: Said = world.command(words).stdout(full).output().unwrap().into();
        assert!(said.status == 2 && said.err.contains("cannot write to standard output"), "{said:?}");
    }
}

#[test]
fn what_a_run_lacks_is_likened_to_what_it_has() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 1").status, 0);
    let said = world.run("show latest honset");
    said.refuses(2, &["no row `honset` (did you mean `thread/honest`?)"]);
    let said = world.run("show latest noize");
    assert!(!said.err.contains("thread/noise"), "the run has none: {said:?}");
}

#[test]
fn batches_that_cannot_fit_into_the_budget_are_refused_before_measuring() {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --rounds 1 --batches 30 --batch-time 300ms --budget 8s");
    said.refuses(2, &["--budget", "9.0s", "8.0s", "--batch-time"]);
    world.run("show").refuses(2, &["holds no runs"]);
}
