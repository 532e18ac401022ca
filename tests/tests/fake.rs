//! The real binary against a probe that lies, hangs, crashes and talks nonsense.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use switchcost_e2e::{BY_CTRL_C, Said, World, in_time, mechanism, probe, repository, told, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn world() -> World {
    World::new(FAKE)
}

/// The only row of `run thread/NAME --format json`.
fn row(said: &Said) -> serde_json::Value {
    let results = said.json()["results"].as_array().cloned().unwrap_or_default();
    assert_eq!(results.len(), 1, "{said:?}");
    results[0].clone()
}

fn measured(name: &str, extra: &str) -> (Said, serde_json::Value) {
    let world = world();
    let said = world.run(&format!("run thread/{name} --format json --rounds 6 {extra}"));
    let row = row(&said);
    gone(&world);
    (said, row)
}

/// The system ends what is left a moment after its parent, on a busy machine.
#[track_caller]
fn gone(world: &World) {
    until("the end of processes that were left behind", || world.leftovers().is_empty());
}

#[test]
fn exact_numbers_come_through() {
    let (said, row) = measured("honest", "--param ticks=1234");
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(row["verdict"], "verified");
    for figure in ["median", "low", "high", "min", "mean", "p90", "p99"] {
        assert_eq!(row[figure], 1234.0, "{figure}");
    }
    assert_eq!(row["kernel_switches"], 1.0);
    assert_eq!(row["turns_ok"], true);
    assert_eq!((&row["starts"], &row["samples"]), (&6.into(), &180.into()), "{row}");
    // A clock called `simulated`: nothing that ran beside the probe disturbed it, and nobody takes
    // its figures for measured ones.
    assert!(
        row["notes"].to_string().contains("not timed") && row["disturbances"].as_array().is_none_or(Vec::is_empty),
        "{row}"
    );
}

#[test]
fn a_warm_up_is_found_and_kept_out() {
    let (_, row) = measured("warm-up", "");
    assert_eq!(row["median"], 1000.0);
    assert_eq!(row["p99"], 1000.0);
    assert_eq!(row["warmup_batches"], 6 * 8, "{row}");
}

#[test]
fn lies_are_contradicted() {
    for (name, words) in [
        ("liar", "kernel counted 2 switches"),
        ("few-turns", "counted 3 turns"),
        ("wrong-cpu", "ran on CPU 999"),
        ("impossible", "less than one clock cycle"),
    ] {
        let (said, row) = measured(name, "");
        assert_eq!((said.status, &row["verdict"]), (5, &"contradicted".into()), "{name}: {said:?}");
        assert!(row["reason"].as_str().unwrap().contains(words), "{name}: {}", row["reason"]);
        let warnings = said.json()["warnings"].to_string();
        assert!(warnings.contains(words), "{name}: {warnings}");
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    for (name, words) in [("blind", "counters are blind"), ("no-turns", "turns")] {
        let (said, row) = measured(name, "");
        assert_eq!((said.status, &row["verdict"]), (0, &"unobservable".into()), "{name}: {said:?}");
        assert!(row["reason"].as_str().unwrap().contains(words), "{name}: {}", row["reason"]);
    }
}

#[test]
fn broken_probes_are_rows() {
    for (name, words) in [
        ("crash", "signal 6; its last words: about to fall over"),
        ("garbage", "`OpenJDK 64-Bit Server VM warning: this is not JSON`"),
        ("shouts", "belong to the descriptor of report_fd"),
        ("empty-detail", "`detail` is empty"),
        ("odd-code", "unknown code `because`; expected one of unknown_key,"),
        ("flood", "more than 100 notes"),
        ("short", "before `end`"),
        ("cut", "cut short"),
        ("mute", "before `end`"),
        ("refused", "refused the plan: There is no such device"),
        ("failed", "the probe failed: There is no such device"),
        ("exit-one", "exit status is 1"),
        ("other-plan", "contexts is 7, asked was 2"),
    ] {
        let (said, row) = measured(name, "");
        assert_eq!((said.status, &row["verdict"]), (3, &"broken".into()), "{name}: {said:?}");
        assert!(row["reason"].as_str().unwrap().contains(words), "{name}: {}", row["reason"]);
        assert!(row["median"].is_null(), "{name} has a figure");
    }
}

#[test]
fn a_broken_row_beside_a_good_one_is_partial() {
    let world = world();
    let said = world.run("run thread/honest thread/crash --rounds 6 --format json");
    assert_eq!(said.status, 4, "{said:?}");
    assert_eq!(said.json()["results"].as_array().unwrap().len(), 2);
}

#[test]
fn hanging_probes_and_their_families_are_killed() {
    for (name, words) in [
        ("hang", "no answer within"),
        ("hang-family", "no answer within"),
        ("escape", "no answer within"),
        ("linger", "answered but did not leave within 5020 ms"),
    ] {
        let (said, row) = in_time(|times| {
            let world = world();
            let words = format!("run thread/{name} --format json --rounds 6 --budget {}ms", 800 * times);
            let said = world.run(&words).once_asked()?;
            let row = row(&said);
            gone(&world);
            // Until it was started, has said what it has, and answered where it does, only that
            // can be told.
            let reason = row["reason"].as_str().unwrap();
            let early = row["verdict"] == "unmeasured"
                || reason.contains("`describe`")
                || name == "linger" && reason.contains("no answer within");
            (!early).then_some((said, row))
        });
        assert_eq!((said.status, &row["verdict"]), (3, &"broken".into()), "{name}: {said:?}");
        assert!(row["reason"].as_str().unwrap().contains(words), "{name}: {}", row["reason"]);
    }
}

#[test]
fn noise_on_standard_output_is_kept_apart() {
    let (said, row) = measured("noise", "");
    assert_eq!((said.status, &row["verdict"]), (0, &"verified".into()), "{said:?}");
}

#[test]
fn unsupported_is_a_row_with_its_reason() {
    for (name, words) in [("unsupported", "plug it in"), ("absent", "libabsent; install libabsent-dev")] {
        let (said, row) = measured(name, "");
        assert_eq!((said.status, &row["verdict"]), (3, &"unsupported".into()), "{said:?}");
        assert!(row["reason"].as_str().unwrap().contains(words), "{}", row["reason"]);
    }
}

#[test]
fn a_missing_program_is_a_reason_and_a_cure() {
    let world = world();
    world.write("libexec/switchcost/probes/fake/probe.toml", &probe("fake", "./gone", 1));
    let said = world.run("run thread/honest --format json");
    assert_eq!(said.status, 3, "{said:?}");
    let reason = row(&said)["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("gone") && reason.contains("install fake-runtime"), "{reason}");
    let listed = world.run("list --format json").json();
    let honest = listed["mechanisms"].as_array().unwrap().iter().find(|m| m["id"] == "thread/honest").unwrap().clone();
    assert_eq!(honest["probes"][0]["available"], false);
    assert!(honest["probes"][0]["install"].as_str().unwrap().contains("fake-runtime"));
}

#[test]
fn rounds_are_shuffled_by_the_seed() {
    let order = |seed: &str| {
        let world = world();
        let said = world.run(&format!(
            "run thread/honest thread/noise thread/spread thread/blind --rounds 6 --seed {seed} --format jsonl"
        ));
        assert_eq!(said.status, 0, "{said:?}");
        said.out
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|line| line["t"] == "invocation")
            .map(|line| (line["round"].as_u64().unwrap(), line["variant"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    let (one, again, other) = (order("7"), order("7"), order("8"));
    assert_eq!(one, again);
    assert_ne!(one, other);
    for round in 0..6 {
        let mut variants: Vec<u64> = one.iter().filter(|(r, _)| *r == round).map(|(_, v)| *v).collect();
        variants.sort_unstable();
        assert_eq!(variants, [0, 1, 2, 3, 4], "round {round} is not one of each and the A/A twin");
    }
    assert!((0..6).any(|round| {
        one.iter().filter(|(r, _)| *r == round).map(|(_, v)| *v).collect::<Vec<_>>() != [0, 1, 2, 3, 4]
    }));
}

#[test]
fn precision_ends_a_run_and_a_wide_row_says_why() {
    let world = world();
    let said = world.run("run thread/honest thread/spread --seed 1 --budget 600s --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    assert_eq!(json["run"]["ended_by"], "precision");
    let of = |name: &str| json["results"].as_array().unwrap().iter().find(|r| r["mechanism"] == name).cloned().unwrap();
    let last_round = |name: &str| {
        let medians = of(name)["start_medians"].as_array().unwrap().clone();
        medians.iter().map(|median| median[0].as_u64().unwrap()).max().unwrap()
    };
    assert!(last_round("thread/honest") < 10);
    assert!(of("thread/spread")["starts"].as_u64().unwrap() > 10);
    assert!(of("thread/spread")["notes"].to_string().contains("process runs differ by"));
}

#[test]
fn the_json_fits_its_schema() {
    let world = world();
    let schema = std::fs::read_to_string(repository().join("docs/results.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    // A row of every verdict.
    let said =
        world.run("run thread/honest thread/liar thread/blind thread/crash thread/absent --rounds 1 --format json");
    let errors: Vec<String> = validator.iter_errors(&said.json()).map(|error| error.to_string()).collect();
    assert_eq!(errors, [] as [String; 0]);
    // A schema that accepts everything would pass too.
    let mut wrong = said.json();
    wrong["results"][0]["verdict"] = 3.into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn show_history_export_and_import_agree() {
    let world = world();
    let ran = world.run("run thread/honest --rounds 6 --format json");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(world.run("export --private-facts --format json").out, ran.out);
    let id = ran.json()["run"]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.run("history --format json").json()["runs"][0]["id"], id.as_str());
    let exported = world.run("export --format jsonl --private-facts").out;
    std::fs::write(world.path("run.jsonl"), &exported).unwrap();
    let other = world.path("other.sqlite");
    let other = other.to_str().unwrap();
    let imported = world.run_words(&["import", world.path("run.jsonl").to_str().unwrap(), "--store", other]);
    assert_eq!(imported.status, 0, "{imported:?}");
    world.run_words(&["show", "--store", other]).refuses(2, &["latest", "imported runs only", &id]);
    assert_eq!(world.run_words(&["export", &id, "--private-facts", "--store", other]).out, exported, "not bit for bit");
    let json = world.run_words(&["export", &id, "--private-facts", "--format", "json", "--store", other]);
    assert_eq!(json.out, ran.out);
    for command in ["show", "export --format csv", "export --format md"] {
        let shown = world.run(&format!("{command} {}", &id[..12]));
        assert!(shown.status == 0 && shown.out.contains("thread/honest"), "{command}: {shown:?}");
    }
}

#[test]
fn bad_input_is_one_sentence() {
    let world = world();
    assert_eq!(world.run("run thread/honest --rounds 6").status, 0);
    let refuses = |arguments: &str, words: &[&str]| world.run(arguments).refuses(2, words);
    refuses("run thread/honset", &["no mechanism matches `thread/honset`", "did you mean `thread/honest`"]);
    refuses("run [", &["`[` is not a pattern"]);
    refuses("run thread/honest --contexts 0", &["--contexts", "0"]);
    refuses("run thread/honest --contexts -1", &["-1"]);
    refuses("run thread/honest --contexts abc", &["--contexts", "abc"]);
    refuses("run thread/honest --contexts 99999999999999999999", &["--contexts"]);
    refuses("run thread/honest --placement nowhere", &["nowhere", "two_cpus"]);
    refuses("run thread/honest --experiment dance", &["dance", "switch"]);
    refuses("run thread/honest --param ticks", &["NAME=VALUE"]);
    refuses("run thread/honest --param tocks=1", &["--param tocks", "ticks"]);
    refuses("run thread/honest --param ticks=many", &["--param ticks", "whole number"]);
    refuses("run thread/honest --param ticks=1 --param ticks=2", &["twice"]);
    refuses("run thread/honest --budget 0", &["--budget"]);
    refuses("run thread/honest --budget 20", &["--budget", "unit"]);
    refuses("run thread/honest --rounds 0", &["--rounds"]);
    refuses("run thread/honest --precision nan", &["--precision"]);
    refuses("run thread/honest --probe fuke", &["--probe fuke", "did you mean `fake`"]);
    refuses("show 1999", &["1999"]);
    refuses("show latest~9", &["latest~9"]);
    refuses("import /nowhere.jsonl", &["/nowhere.jsonl"]);
    refuses("import Cargo.toml", &["Cargo.toml"]);
    refuses("frobnicate", &["frobnicate"]);
    refuses("run thread/honest --store /proc/x/runs.sqlite", &["/proc/x"]);
    refuses("export --output /proc/x.jsonl", &["/proc/x.jsonl"]);
    std::fs::write(world.path("text.sqlite"), "this is a diary, not a database, and it is long enough to be one")
        .unwrap();
    world.run_words(&["show", "--store", world.path("text.sqlite").to_str().unwrap()]).refuses(2, &["text.sqlite"]);
    assert!(
        std::fs::read_to_string(world.path("text.sqlite")).unwrap().contains("diary"),
        "a foreign file was changed"
    );
    refuses("run thread/honest --contexts 1", &["--contexts 2 or more"]);
}

#[test]
fn a_damaged_run_file_leaves_the_store_as_it_was() {
    let world = world();
    assert_eq!(world.run("run thread/honest --rounds 6").status, 0);
    let exported = world.run("export").out;
    let other = world.path("other.sqlite").to_str().unwrap().to_owned();
    world.write("half", &exported[..exported.len() / 2]);
    world.run_words(&["import", world.path("half").to_str().unwrap(), "--store", &other]).refuses(2, &["half"]);
    assert!(
        !world.path("other.sqlite").exists() || world.run_words(&["history", "--store", &other]).out.contains("No run")
    );
}

#[test]
fn a_run_killed_at_any_moment_is_shown_as_partial() {
    let world = world();
    let starts = world.counted(FAKE, "");
    for killed_in in [1, 2, 7] {
        let before = starts.count();
        starts.hold(before + killed_in);
        let mut child = world
            .command(&["run", "thread/honest", "--rounds", "1000"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        starts.reach(before + killed_in);
        child.kill().unwrap();
        child.wait().unwrap();
        gone(&world);
        let run = world.run("history --format json").json()["runs"][0].clone();
        if killed_in == 1 {
            // Nothing is stored of a run in which no start has ended.
            assert!(run.is_null(), "{run}");
            continue;
        }
        assert_eq!((&run["partial"], &run["invocations"]), (&true.into(), &(killed_in - 1).into()), "{run}");
        let shown = world.run(&format!("export {} --private-facts --format json", run["id"].as_str().unwrap()));
        assert_eq!(shown.status, 0, "{shown:?}");
        let json = shown.json();
        assert_eq!(json["run"]["partial"], true);
        assert!(json["warnings"].to_string().contains("has not ended"));
        assert_eq!(json["results"][0]["starts"], run["invocations"]);
    }
}

#[test]
fn ctrl_c_and_a_closed_terminal_keep_and_print_what_is_there() {
    stopped_by("-INT");
    stopped_by("-HUP");
}

fn stopped_by(signal: &str) {
    // Under nohup the signal is ignored, and by what is started here too: signal 1 is bit 0.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    if signal == "-HUP" && ignored.is_some_and(|mask| u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & 1 == 1)) {
        return switchcost_e2e::untested("SIGHUP is ignored here");
    }
    let world = world();
    let starts = world.counted(FAKE, "");
    let mut child = world
        .command(&["run", "thread/honest", "--rounds", "100000", "--budget", "600s", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.by_ref().map_while(Result::ok).any(|line| line.starts_with("measuring "));
    assert!(begun, "no line at the beginning");
    starts.reach(7);
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    std::thread::spawn(move || lines.for_each(drop));
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    // A shell's loop goes on after a program that ended otherwise than by its Ctrl-C.
    let status = told(child.wait().unwrap());
    let expected = if signal == "-INT" { BY_CTRL_C } else { 4 };
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["run"]["ended_by"]), (expected, &"interrupt".into()));
    assert_eq!(json["results"][0]["verdict"], "verified");
    assert!(json["results"][0]["starts"].as_u64().unwrap() >= 6);
    gone(&world);
    assert_eq!(world.run("export --private-facts --format json").json()["run"]["partial"], true);
}

#[test]
fn several_probes_of_one_mechanism_stand_side_by_side() {
    let world = world();
    world.write("libexec/switchcost/probes/second/probe.toml", &probe("second", FAKE, 50));
    let best = world.run("run thread/honest --rounds 6 --format json").json();
    assert_eq!(best["results"][0]["probe"], "fake", "the ladder shows the probe of higher priority");
    let both = world.run("run thread/honest --rounds 6 --probe fake,second --format json").json();
    let labels: Vec<&str> = both["results"].as_array().unwrap().iter().map(|r| r["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["thread/honest@fake", "thread/honest@second"]);
}

#[test]
fn a_wrong_data_file_is_named() {
    let world = world();
    world.write("share/switchcost/mechanisms/thread/odd.toml", &mechanism("kernel_swiches = 1\n"));
    let said = world.run("list");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("odd.toml") && said.out.contains("kernel_swiches"), "{said:?}");
    assert!(said.out.contains("thread/honest"), "one page costs its own rows only: {said:?}");
    let said = world.run("run thread/odd thread/honest --rounds 6 --format json");
    let rows = said.json()["results"].as_array().unwrap().clone();
    let row =
        |id: &str| rows.iter().find(|row| row["mechanism"] == id).unwrap_or_else(|| panic!("{id}: {said:?}")).clone();
    assert_eq!(row("thread/honest")["verdict"], "verified");
    assert_eq!(row("thread/odd")["verdict"], "unsupported");
    assert!(row("thread/odd")["reason"].as_str().unwrap().contains("kernel_swiches"), "{said:?}");
}

#[test]
fn plain_output_holds_no_escape_sequences() {
    let world = world();
    let said = world.run("run thread/honest thread/liar --rounds 6 --notes");
    assert!(!said.out.contains('\x1b') && !said.err.contains('\x1b'), "{said:?}");
    for word in ["per switch", "95 % interval", "contradicted", "warning: "] {
        assert!(said.out.contains(word), "{word} is missing in {}", said.out);
    }
}

#[test]
fn what_leaves_a_probe_that_only_describes_is_killed_too() {
    for command in ["list", "run thread/honest --rounds 1 --batches 2"] {
        let world = world();
        let leaving = format!("setsid sleep 1000 >/dev/null 2>&1 & exec {FAKE} \\\"$0\\\" \\\"$@\\\"");
        let text = probe("fake", "sh", 100).replace("[\"sh\"]", &format!("[\"sh\", \"-c\", \"{leaving}\"]"));
        world.write("libexec/switchcost/probes/fake/probe.toml", &text);
        let said = world.run(command);
        assert_eq!(said.status, 0, "{said:?}");
        gone(&world);
        if command.starts_with("run") {
            let notes = world.run("export --private-facts --format json").json()["results"][0]["notes"].to_string();
            assert!(notes.contains(" starts and were ended by the host"), "{notes}");
        }
    }
}

/// What disturbs may come with what is measured: where leaving it out moves the figure, both are
/// told.
#[test]
fn a_row_whose_disturbed_starts_cost_otherwise_has_both_figures() {
    let world = world();
    assert_eq!(world.run("run thread/honest --rounds 20 --batches 5 --param ticks=1000").status, 0);
    // Of each row six starts are left as they are, and the others cost twice as much while
    // something disturbs them.
    let file = world.forged("linked", |body| {
        let change = |line: &str| {
            let Some(round) = line.split("\"round\":").nth(1).filter(|_| line.starts_with("{\"t\":\"invocation\""))
            else {
                return format!("{line}\n");
            };
            let disturbed = round.split(',').next().unwrap().parse::<u64>().unwrap() > 5;
            let (head, tail) = line.split_once("\"disturbances\":[").unwrap();
            let (_, log) = tail.split_once("],\"log\"").unwrap();
            let told = if disturbed { r#"{"kind":"steal","ns":5,"of_ns":100}"# } else { "" };
            let (before, list) = head.split_once("\"phase\":\"measure\"").unwrap();
            let (units, list) = list.split_once("\"ticks\":[").unwrap();
            let (ticks, after) = list.split_once(']').unwrap();
            let cost = |tick: &str| (tick.parse::<i64>().unwrap() * if disturbed { 2 } else { 1 }).to_string();
            let ticks = ticks.split(',').map(cost).collect::<Vec<_>>().join(",");
            format!(
                "{before}\"phase\":\"measure\"{units}\"ticks\":[{ticks}]{after}\"disturbances\":[{told}],\"log\"{log}\n"
            )
        };
        body.lines().map(change).collect()
    });
    let elsewhere = format!("--store {}", world.path("linked.sqlite").display());
    assert_eq!(world.run(&format!("import {file} {elsewhere}")).status, 0);
    let row = world.run(&format!("export 20 --private-facts --format json {elsewhere}")).json()["results"][0].clone();
    assert_eq!(row["median"], 1000.0, "{row}");
    let words = " starts that other programs disturbed are left out; with them the median is 2,000 ns";
    assert!(row["notes"].to_string().contains(words), "{row}");
}

/// A probe that never says what it can do is waited for by its limit: after an unheard Ctrl-C the
/// run would go on without it.
#[test]
fn ctrl_c_is_heard_while_probes_are_asked() {
    let world = world();
    let script = format!("#!/bin/sh\necho >>{}\nexec sleep 600\n", world.path("asked").display());
    world.write("libexec/switchcost/probes/mute/mute", &script);
    let program = world.path("libexec/switchcost/probes/mute/mute");
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mute = probe("mute", "./mute", 200);
    world.write("libexec/switchcost/probes/mute/probe.toml", &mute);
    let mut run = world.command(&["run", "thread/honest", "--budget", "3000s"]);
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the probe is asked", || world.path("asked").exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said = child.wait_with_output().unwrap();
    let words = String::from_utf8(said.stderr).unwrap();
    assert_eq!(
        (told(said.status), words.contains("stopped before anything was measured")),
        (BY_CTRL_C, true),
        "{words}"
    );
    gone(&world);
}
