//! Sweeps through the real binary, with costs that are known exactly.

use std::collections::BTreeSet;
use std::process::Stdio;
use switchcost_e2e::{Said, World, in_time, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A cost for each axis: 1000 + contexts + working_set / 64 + payload, and working_set / 256 more
/// beyond 64 KiB.
const SIZED: &str = r#"
title = "A fake with axes"
implemented_by = ["fake"]
iteration = "nothing"
includes = "nothing"
placements = ["one_cpu", "two_cpus", "free"]
experiments = ["switch", "message"]
[parameters.working_set]
min = 0
max = 1073741824
default = "0"
help = "bytes touched"
experiments = ["switch"]
control = "thread/touch"
[parameters.payload]
min = 0
max = 1048576
default = "0"
help = "bytes sent"
experiments = ["message"]
[parameters.pause]
min = 0
max = 10000
default = "0"
help = "ms that a start takes longer"
experiments = ["switch"]
[parameters.sched]
values = ["other", "fifo"]
default = "other"
help = "class"
experiments = ["switch"]
[evidence]
turns = true
"#;

const TOUCH: &str = r#"
title = "The touches alone"
implemented_by = ["fake"]
iteration = "nothing"
includes = "nothing"
placements = ["one_cpu"]
experiments = ["switch"]
unit = "iteration"
control = true
[parameters.working_set]
min = 0
max = 1073741824
default = "0"
help = "bytes touched"
experiments = ["switch"]
[evidence]
turns = false
"#;

fn world() -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/mechanisms/thread/sized.toml", SIZED);
    world.write("share/switchcost/mechanisms/thread/touch.toml", TOUCH);
    world
}

fn array(value: &serde_json::Value) -> Vec<serde_json::Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// x and median of each point of the curve of a mechanism.
fn points(said: &Said, mechanism: &str) -> Vec<(u64, f64)> {
    let curves = array(&said.json()["curves"]);
    let curve = curves.iter().find(|curve| curve["mechanism"] == mechanism).unwrap_or_else(|| panic!("{said:?}"));
    array(&curve["points"]).iter().map(|p| (p["x"].as_u64().unwrap(), p["median"].as_f64().unwrap())).collect()
}

#[test]
fn a_curve_over_contexts_is_exact_and_a_run_like_any_other() {
    let world = world();
    let said = world.run("sweep contexts thread/sized --to 1000 --steps 4 --rounds 6 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(points(&said, "thread/sized"), [(2, 1002.0), (16, 1016.0), (130, 1130.0), (1000, 2000.0)]);
    assert_eq!(world.run("export --private-facts --format json").out, said.out);
    let shown = world.run("show").out;
    let line = |words: &str| {
        let found = shown.lines().find(|line| line.contains(words));
        found
            .unwrap_or_else(|| panic!("{words} is missing in\n{shown}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    // A line a curve; the points stand in the order of the axis, and one sentence concludes.
    assert!(line("growth").starts_with("2 16 130 1,000"), "{shown}");
    assert!(line("thread/sized ").ends_with("×2.00 ▁▁▂█"), "{shown}");
    line("Cost per switch by contexts");
    line("thread/sized: ×2.00 from 2 contexts to 1,000 contexts.");
    assert!(!shown.contains('\x1b') && !shown.contains("╌"));
    let exported = world.run("export --private-facts").out;
    std::fs::write(world.path("sweep.jsonl"), &exported).unwrap();
    let other = world.path("other.sqlite").to_str().unwrap().to_owned();
    let file = world.path("sweep.jsonl").to_str().unwrap().to_owned();
    assert_eq!(world.run_words(&["import", &file, "--store", &other]).status, 0);
    let exported = world.run_words(&["export", "20", "--private-facts", "--format", "json", "--store", &other]);
    assert_eq!(exported.out, said.out);
    let compared = world.run_words(&["compare", "thread/sized", "thread/sized contexts=1000", "--format", "json"]);
    assert_eq!(compared.json()["comparisons"][0]["verdict"], "slower", "{compared:?}");
}

#[test]
fn a_pattern_chooses_curves_and_their_points() {
    let world = world();
    assert_eq!(world.run("sweep contexts thread/sized thread/honest --to 8 --steps 4 --rounds 6").status, 0);
    for words in ["show latest thread/honest", "show latest thread/honest -v"] {
        let shown = world.run(words).out;
        assert!(shown.contains("\n thread/honest ") && !shown.contains("\n thread/sized"), "{shown}");
    }
    // A point by itself is a row.
    let shown = world.run_words(&["show", "latest", "thread/sized contexts=8"]).out;
    assert!(shown.contains("thread/sized contexts=8") && !shown.contains("growth"), "{shown}");
}

#[test]
fn every_point_is_shown_however_narrow_the_terminal_is() {
    let world = world();
    let said = world.run("sweep contexts thread/sized --to 10k --steps 25 --rounds 6 --batches 5 --format json");
    let points = points(&said, "thread/sized");
    assert_eq!(points.last().unwrap().0, 10_000, "contexts are counted by thousands");
    for width in [80, 100] {
        let shown = crate::golden::shown(&world.command(&[]), "show", width);
        let heads: Vec<&str> = shown.lines().filter(|line| !line.contains("thread/sized")).collect();
        let words: BTreeSet<String> =
            heads.iter().flat_map(|line| line.split_whitespace()).map(|word| word.replace(',', "")).collect();
        assert!(points.iter().all(|(x, _)| words.contains(&x.to_string())), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= usize::from(width)), "{shown}");
        assert!(shown.contains("×11.0") && shown.lines().any(|line| line.contains("▁▁▁")), "{shown}");
        assert!(!shown.contains("no room") && !shown.contains("--format csv"), "{shown}");
    }
}

#[test]
fn a_point_beyond_a_limit_is_a_gap_with_its_reason() {
    let world = world();
    let said = world.run("sweep contexts thread/sized --rounds 6 --batches 5 --steps 4 --format json");
    let curve = said.json()["curves"][0].clone();
    assert_eq!(array(&curve["points"]).len(), 3, "{said:?}");
    assert_eq!(curve["gaps"][0]["x"], 1_000_000);
    assert!(curve["gaps"][0]["reason"].as_str().unwrap().contains("Only 100000 contexts fit here"), "{curve}");
    assert!(world.run("show").out.contains("Only 100000 contexts fit here"));
}

#[test]
fn direct_and_indirect_cost_are_told_apart() {
    let world = world();
    let said = world.run("sweep working-set thread/sized --values 64K,1M,4M --rounds 6 --batches 5 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let curve = said.json()["curves"][0].clone();
    assert_eq!(curve["control"], "thread/touch");
    let point = |x: u64, total: f64, control: f64, indirect: f64, resolved: bool| {
        let point = array(&curve["points"]).into_iter().find(|point| point["x"] == x).unwrap();
        assert_eq!(point["median"], total, "{point}");
        let parts = &point["parts"];
        assert_eq!((&parts["control"], &parts["direct"]), (&control.into(), &1002.0.into()), "{point}");
        assert_eq!(
            (&parts["indirect"], &parts["low"], &parts["high"]),
            (&indirect.into(), &indirect.into(), &indirect.into())
        );
        assert_eq!(parts["resolved"], resolved, "{point}");
    };
    assert!(curve["points"][0]["x"] == 0 && curve["points"][0]["parts"].is_null(), "{curve}");
    point(65_536, 2026.0, 1024.0, 0.0, false);
    point(1 << 20, 21_482.0, 16_384.0, 4096.0, true);
    point(4 << 20, 82_922.0, 65_536.0, 16_384.0, true);
    let shown = world.run("show").out;
    for words in ["direct is the cost at 0", "not resolved", "thread/touch alone", "thread/sized: cost per switch by"] {
        assert!(shown.contains(words), "{words} is missing in\n{shown}");
    }
    world.write("share/switchcost/report.html", "\"@switchcost-data@\"");
    let page = world.path("page.html");
    assert_eq!(world.run_words(&["report", "-o", page.to_str().unwrap()]).status, 0);
    let page: serde_json::Value = switchcost_e2e::page_data(&std::fs::read_to_string(page).unwrap());
    assert_eq!(page["runs"][0]["curves"], said.json()["curves"], "the page finds no curves of its own");
    // The columns of curves in the CSV, which do not differ from machine to machine.
    let csv = world.run("export --private-facts --format csv").out;
    let wanted =
        "mechanism,contexts,parameters,unit,verdict,median,control,direct,indirect,indirect_low,indirect_high,relation";
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let places: Vec<usize> =
        wanted.split(',').map(|name| header.iter().position(|column| *column == name).unwrap()).collect();
    let lines = csv.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| cells[place]).collect::<Vec<_>>().join(",")
    });
    let expected = "\
mechanism,contexts,parameters,unit,verdict,median,control,direct,indirect,indirect_low,indirect_high,relation
thread/sized,2,pause=0 payload=0 sched=other working_set=0,switch,verified,1002.000000,,,,,,
thread/sized,2,pause=0 payload=0 sched=other working_set=65536,switch,verified,2026.000000,1024.000000,1002.000000,0.000000,0.000000,0.000000,
thread/sized,2,pause=0 payload=0 sched=other working_set=1048576,switch,verified,21482.000000,16384.000000,1002.000000,4096.000000,4096.000000,4096.000000,
thread/sized,2,pause=0 payload=0 sched=other working_set=4194304,switch,verified,82922.000000,65536.000000,1002.000000,16384.000000,16384.000000,16384.000000,
thread/touch,1,working_set=65536,iteration,verified,1024.000000,,,,,,
thread/touch,1,working_set=1048576,iteration,verified,16384.000000,,,,,,
thread/touch,1,working_set=4194304,iteration,verified,65536.000000,,,,,,";
    let mut lines: Vec<String> = lines.collect();
    lines[1..].sort_by_key(|line| line.starts_with("thread/touch")); // A stable sort: the order within a curve is kept.
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn the_default_range_of_a_working_set_ends_at_four_times_the_cache() {
    let world = world();
    let said = world.run("sweep working-set thread/sized --rounds 1 --batches 1 --budget 600s --format json");
    let fact = said.json()["machine"]["stable"]["cache.l3"].as_str().unwrap().to_owned();
    let Some(cache) = fact.split('K').next().and_then(|kibibytes| kibibytes.parse::<u64>().ok()) else {
        return switchcost_e2e::untested("the size of the last cache is not known here");
    };
    let rows = array(&said.json()["results"]).into_iter().filter(|row| row["mechanism"] == "thread/sized");
    let size = |row: &serde_json::Value| row["parameters"]["working_set"].as_str().unwrap().parse::<u64>().unwrap();
    let sizes: std::collections::BTreeSet<u64> = rows.map(|row| size(&row)).collect();
    assert!(sizes.iter().take(2).eq(&[0, 4096]), "{sizes:?}");
    assert_eq!(sizes.last(), Some(&(4 * cache * 1024).min(1 << 30)));
}

#[test]
fn payload_is_swept_as_messages_and_words_make_rows() {
    let world = world();
    let said = world.run("sweep payload thread/sized --to 64K --steps 3 --rounds 6 --batches 5 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let curve = points(&said, "thread/sized");
    assert_eq!(curve, [(0, 1002.0), (4096, 5098.0), (16_384, 17_386.0), (65_536, 66_538.0)]);
    assert_eq!(said.json()["results"][0]["experiment"], "message");
    let said = world.run("sweep sched thread/sized --rounds 6 --format json");
    assert_eq!(array(&said.json()["results"]).len(), 2, "{said:?}");
    assert_eq!(array(&said.json()["curves"]).len(), 0);
}

#[test]
fn any_parameter_is_an_axis_by_its_name() {
    let world = world();
    let said = world.run("sweep pause thread/sized --to 20 --rounds 6 --batches 2 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    // 0 stands before the series, and numbers that are not sizes go up tenfold.
    assert_eq!(points(&said, "thread/sized"), [(0, 1002.0), (1, 1002.0), (20, 1002.0)]);
    let said = world.run("sweep pause thread/sized --values 1,1k --rounds 6 --batches 2 --format json");
    assert_eq!(array(&said.json()["results"])[1]["parameters"]["pause"], "1000", "{said:?}");
    // The name of a listed axis's parameter is that axis.
    let said = world.run("sweep working_set thread/sized --values 16K --rounds 6 --batches 2 --format json");
    assert_eq!(points_of(&said, "working_set"), ["0", "16384"]);
}

/// Values of a parameter in the rows of thread/sized.
fn points_of(said: &Said, parameter: &str) -> Vec<String> {
    let rows = array(&said.json()["results"]).into_iter().filter(|row| row["mechanism"] == "thread/sized");
    rows.map(|row| row["parameters"][parameter].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_mechanism_without_the_axis_is_a_row_that_says_so() {
    let world = world();
    let said = world.run("sweep payload thread/sized thread/honest --to 64 --steps 3 --rounds 6 --format json");
    let rows = array(&said.json()["results"]);
    let honest = rows.iter().find(|row| row["mechanism"] == "thread/honest").unwrap();
    assert_eq!(honest["verdict"], "unsupported");
    assert!(honest["reason"].as_str().unwrap().contains("no parameter `payload`"), "{honest}");
    // Without patterns: the headline. Only thread/honest belongs to it here.
    let said = world.run("sweep contexts --to 8 --steps 3 --rounds 6 --format json");
    assert_eq!(points(&said, "thread/honest").len(), 3);
}

#[test]
fn every_pair_of_cpus_is_a_cell_and_judged_by_the_rule_of_its_kind() {
    let world = world();
    world.write(
        "share/switchcost/mechanisms/thread/honest.toml",
        &mechanism("[[evidence_when]]\nplacement = \"two_cpus\"\nkernel_switches = [5.0, 5.0]\n"),
    );
    let said = world.run("sweep cpus thread/honest --rounds 6 --format json");
    let json = said.json();
    let Some(matrix) = json["matrices"].get(0) else {
        assert_eq!(array(&json["results"]).len(), 1, "one CPU has one pair: {said:?}");
        return;
    };
    let (cpus, cells) = (array(&matrix["cpus"]).len(), array(&matrix["cells"]));
    assert_eq!(cells.len(), cpus * (cpus + 1) / 2);
    for cell in &cells {
        let alone = cell["a"] == cell["b"];
        assert_eq!(cell["relation"] == "same_cpu", alone, "{cell}");
        assert_eq!(cell["verdict"], if alone { "verified" } else { "contradicted" }, "{cell}");
    }
    assert_eq!(said.status, 5);
    let shown = world.run("show").out;
    assert!(shown.contains("between each pair of CPUs") && shown.contains("same_cpu 1.00 µs"), "{shown}");
    assert_eq!(world.run("run thread/noise --placement pair:0-0 --rounds 6").status, 0);
}

/// Variant and round of each invocation, in order of execution.
fn executed(world: &World) -> Vec<(u64, u64)> {
    let lines = world.run("export").out;
    let all = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let invocations = all.filter(|line| line["t"] == "invocation");
    invocations.map(|line| (line["variant"].as_u64().unwrap(), line["round"].as_u64().unwrap())).collect()
}

/// Nothing was measured twice in a round.
fn once_each(executed: &[(u64, u64)]) {
    assert_eq!(executed.iter().collect::<BTreeSet<_>>().len(), executed.len(), "{executed:?}");
}

#[test]
fn a_killed_sweep_goes_on_by_the_same_plan_and_measures_nothing_twice() {
    const SWEEP: &str = "sweep contexts thread/sized --to 8 --steps 3 --rounds 8 --seed 7";
    let whole = world();
    assert_eq!(whole.run(SWEEP).status, 0);
    let world = world();
    let starts = world.counted(FAKE, "");
    starts.hold(11);
    let words: Vec<&str> = SWEEP.split(' ').collect();
    let mut child = world.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    starts.reach(11);
    child.kill().unwrap();
    child.wait().unwrap();
    starts.let_go();
    let before = executed(&world);
    assert_eq!(before.len(), 10);
    let id = world.run("export --private-facts --format json").json()["run"]["id"].as_str().unwrap().to_owned();
    assert!(world.run("show").out.contains(&format!("to continue: switchcost sweep --resume {}", &SWEEP[6..])));
    let resumed = world.run(&format!("{SWEEP} --resume --format json"));
    assert_eq!((resumed.status, &resumed.json()["run"]["ended_by"]), (0, &"rounds".into()), "{resumed:?}");
    assert_eq!(resumed.json()["run"]["id"], id.as_str());
    let after = executed(&world);
    assert_eq!(after[..before.len()], before, "what was stored has changed");
    once_each(&after);
    assert_eq!(after, executed(&whole), "another plan");
    assert_eq!(world.run("history --format json").json()["runs"].as_array().unwrap().len(), 1);
    let again = world.run(&format!("{SWEEP} --resume"));
    assert!(again.status == 0 && again.err.contains(&format!("run {id} is complete")), "{again:?}");
    assert_eq!(executed(&world), after);
}

#[test]
fn a_row_that_the_budget_does_not_reach_is_unmeasured_and_not_broken() {
    in_time(|times| {
        let world = world();
        // A start of 200 ms cannot be done in a sixth of a second, the share of a first one.
        let (pause, budget) = ((200 * times).to_string(), 1000 * times);
        let words = format!("run thread/sized --param pause=0,{pause} --rounds 6 --batches 2 --batch-time 1us");
        let said = world.run(&format!("{words} --budget {budget}ms --format json")).once_asked()?;
        let rows = array(&said.json()["results"]);
        let of = |pause: &str| rows.iter().find(|row| row["parameters"]["pause"] == pause);
        of("0").filter(|quick| !quick["median"].is_null())?;
        let slow = of(&pause)?;
        assert_eq!((said.status, &slow["verdict"]), (4, &"unmeasured".into()), "{said:?}");
        assert!(slow["reason"].as_str().unwrap().contains("allow more with --budget"), "{slow}");
        assert!(slow["median"].is_null(), "{slow}");
        Some(())
    });
}

#[test]
fn a_row_that_is_too_slow_for_an_interval_is_named_with_the_command_that_measures_it() {
    in_time(|times| {
        let world = world();
        // Six starts of each of two slow rows do not fit into the budget, those of one and of the
        // quick row do.
        let (one, other, budget) = (200 * times, 200 * times + 1, 2000 * times);
        let words = format!(
            "run thread/sized --param pause=0,{one},{other} --rounds 6 --batches 2 --batch-time 1us --budget {budget}ms"
        );
        let said = world.run(&format!("{words} --format json")).once_asked()?;
        let rows = array(&said.json()["results"]);
        rows.iter().find(|row| row["parameters"]["pause"] == "0" && !row["low"].is_null())?;
        let few: Vec<_> = rows.iter().filter(|row| row["low"].is_null() && !row["median"].is_null()).collect();
        let slow = *few.first()?;
        assert_eq!((said.status, &said.json()["run"]["ended_by"]), (4, &"budget".into()), "{said:?}");
        let command = format!("switchcost run '{}'", slow["label"].as_str().unwrap());
        assert!(slow["notes"].to_string().contains(&format!("by itself: {command}")), "{slow}");
        assert!(world.run("show").out.contains("Too few process runs"));
        let told = world.run("show -v").out;
        let headline = match few.len() {
            1 => format!("Too few process runs of `{}` for an interval: ", slow["label"].as_str().unwrap()),
            rows => format!("Too few process runs for an interval in {rows} of 3 rows (`thread/sized pause="),
        };
        assert!(told.contains(&headline), "{told}");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("by themselves: switchcost run"), "{told}");
        Some(())
    });
}

#[test]
fn a_slow_point_does_not_keep_the_others_from_their_interval_and_can_be_made_up_for() {
    in_time(|times| {
        let world = world();
        let (pause, budget) = ((175 * times).to_string(), 1000 * times);
        let sweep = format!(
            "sweep contexts thread/sized --values 2,3 --param pause=0,{pause} --seed 1 --rounds 6 --format json"
        );
        let said = world.run(&format!("{sweep} --budget {budget}ms")).once_asked()?;
        let intervals = |said: &Said, pause: &str| {
            let rows = array(&said.json()["results"]);
            let mine = rows.iter().filter(|row| row["parameters"]["pause"] == pause);
            mine.map(|row| !row["low"].is_null()).collect::<BTreeSet<bool>>()
        };
        if intervals(&said, "0") != [true].into() {
            return None;
        }
        assert_eq!((said.status, &said.json()["run"]["ended_by"]), (4, &"budget".into()), "{said:?}");
        assert!(intervals(&said, &pause).contains(&false));
        assert!(said.json()["warnings"].to_string().contains("sweep --resume"));
        let resumed = world.run(&format!("{sweep} --budget 600s --resume"));
        assert_eq!((resumed.status, &resumed.json()["run"]["ended_by"]), (0, &"rounds".into()), "{resumed:?}");
        assert_eq!(intervals(&resumed, &pause), [true].into());
        once_each(&executed(&world));
        Some(())
    });
}

#[test]
fn bad_input_is_one_sentence() {
    let world = world();
    let refuses = |arguments: &str, words: &[&str]| world.run(arguments).refuses(2, words);
    refuses("sweep", &["AXIS"]);
    refuses("sweep heat", &["sweep heat: it is none of contexts, working-set", "no parameter that a mechanism has"]);
    refuses("sweep contexts thread/sized --from 10 --to 2", &["--from 10", "--to 2"]);
    refuses("sweep contexts thread/sized --values 2,many", &["`many`", "whole number"]);
    refuses("sweep contexts thread/sized --from -3", &["-3"]);
    refuses("sweep contexts thread/sized --steps 201", &["201 points", "200"]);
    refuses("sweep contexts thread/sized --steps 1", &["--steps 1"]);
    refuses("sweep contexts thread/sized --values 2,99999999", &["99999999", "out of range"]);
    refuses("sweep contexts thread/sized --to 99999999999", &["`99999999999`", "2 to 10,000,000"]);
    refuses("sweep contexts thread/sized --from 0", &["`0`", "2 to 10,000,000"]);
    refuses("sweep contexts thread/sized --to 1", &["`1`", "2 to 10,000,000"]);
    refuses("sweep contexts thread/sized --values 2 --to 3", &["--values", "--to"]);
    refuses("sweep contexts thread/touch", &["thread/touch", "ring"]);
    refuses("sweep contexts thread/honset", &["did you mean `thread/honest`"]);
    refuses("sweep payload thread/honest", &["thread/honest", "parameter `payload`", "`switchcost list NAME`"]);
    refuses("sweep payload thread/sized --to 2M", &["`2M`", "0 to 1,048,576"]);
    refuses("sweep payload", &["parameter `payload`", "by default"]);
    refuses("sweep sched thread/sized --from 1", &["--values other,fifo"]);
    refuses("sweep sched thread/sized --values idle", &["idle", "other, fifo"]);
    refuses("sweep cpus thread/sized --values 4000", &["4000", "out of range"]);
    refuses("sweep cpus thread/touch", &["two_cpus"]);
    refuses("sweep contexts thread/sized --param ticks=1 --param ticks=2", &["twice"]);
    refuses("sweep cpus thread/sized --placement free", &["--placement", "varies"]);
    refuses("sweep payload thread/sized --param payload=4", &["--param payload", "varies"]);
    const SWEEP: &str = "sweep contexts thread/sized --to 8 --steps 3 --rounds 6 --format json";
    let resume = format!("{SWEEP} --resume");
    refuses(&resume, &["no stored run of this command has this plan"]);
    refuses("sweep --resume", &["AXIS"]);
    assert_eq!(world.run("run thread/sized --contexts 2,4,8 --rounds 6").status, 0);
    refuses(&resume, &["no stored run of this command has this plan"]);
    // A sweep of another version of the method, of another machine, of another build.
    let ran = world.run(SWEEP);
    let id = ran.json()["run"]["id"].as_str().unwrap().to_owned();
    let cases = [
        ("method", "\"method_version\":1", "\"method_version\":999", "999"),
        ("machine", "\"hypervisor\":\"", "\"hypervisor\":\"not ", "another machine"),
        ("build", "\"runtime\":\"none\"", "\"runtime\":\"some\"", "built anew"),
        ("probe", "\"probe\":\"fake\",\"experiment\"", "\"probe\":\"gone\",\"experiment\"", "probe gone is not here"),
    ];
    let stopped = |name: &str, from: &str, to: &str| {
        world.forged(name, |run| {
            assert!(run.contains(from), "{name}");
            let run = run.replace("\"ended_by\":\"rounds\"", "\"ended_by\":\"interrupt\"");
            run.replace(from, to).replace(&id, &format!("{id}-{name}"))
        })
    };
    let files = cases.map(|(name, from, to, _)| stopped(name, from, to));
    for (file, (name, _, _, words)) in files.iter().zip(cases) {
        let other = self::world();
        assert_eq!(other.run_words(&["import", file]).status, 0, "{name}");
        other.run(&resume).refuses(2, &["no stored run of this command has this plan"]);
        let own = self::world();
        let mut read = std::io::BufReader::new(std::fs::File::open(file).unwrap());
        let mut run = switchcost_store::import_jsonl(&mut read).unwrap().run;
        let mut store = switchcost_store::Store::open(&own.store()).unwrap();
        let starts = std::mem::take(&mut run.invocations);
        store.begin_run(&run).unwrap();
        starts.iter().for_each(|start| store.add_invocation(&run.id, start).unwrap());
        run.ended_unix_ns = Some(run.started_unix_ns);
        store.finish_run(&run).unwrap();
        own.run(&resume).refuses(2, &[words, &format!("{id}-{name}")]);
    }
}
