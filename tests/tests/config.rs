//! The user's defaults: what a file sets, what overrides it, and what is refused.

use switchcost_e2e::{Said, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world whose user has this file.
fn with(text: &str) -> World {
    let world = World::new(FAKE);
    world.write("config/switchcost/config.toml", text);
    world
}

fn run(world: &World, words: &str) -> Said {
    let mut command = world.command(&words.split_whitespace().collect::<Vec<_>>());
    Said::from(command.env("XDG_CONFIG_HOME", world.path("config")).output().unwrap())
}

const MEASURE: &str = "run thread/honest --rounds 2 --batches 2";

#[test]
fn a_file_sets_what_the_command_line_does_not() {
    let world = with("[run]\nformat = \"json\"\nplacement = [\"one_cpu\", \"free\"]\nbudget = \"45s\"\n");
    let said = run(&world, MEASURE);
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    let placements = |json: &serde_json::Value| -> Vec<String> {
        let rows = json["results"].as_array().unwrap().iter();
        rows.map(|row| row["placement"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(placements(&json), ["one_cpu", "free"], "{json:#}");
    // The run says it as if it had been typed, so that the same words mean the same without the
    // file.
    let command = json["run"]["command"].to_string();
    for word in ["--budget=45s", "--placement=one_cpu,free", "--rounds"] {
        assert!(command.contains(word), "{command}");
    }
    assert_eq!(json["run"]["budget_s"], 45.0, "{}", json["run"]);
    // Flags come first; what a flag set is recorded once.
    let json = run(&world, &format!("{MEASURE} --placement free --budget 30s")).json();
    let command = json["run"]["command"].to_string();
    assert!(placements(&json) == ["free"] && !command.contains("45s") && !command.contains("one_cpu"), "{command}");
    let json = run(&world, &format!("{MEASURE} --quick")).json();
    assert_eq!(json["run"]["budget_s"], 10.0, "--quick is a budget of its own");
    let table = run(&world, &format!("{MEASURE} --no-config"));
    assert!(table.status == 0 && table.out.contains("thread/honest") && !table.out.starts_with('{'), "{table:?}");
    // Other commands have their own.
    assert!(run(&world, "history").out.starts_with(" run "));
}

#[test]
fn a_project_s_file_is_read_only_if_it_is_named() {
    let world = World::new(FAKE);
    let store = world.path("elsewhere/runs.sqlite");
    world.write("project/switchcost.toml", &format!("store = \"{}\"\n[run]\nbudget = \"45s\"\n", store.display()));
    world.write("project/config.toml", "nonsense");
    let mut entered = world.command(&MEASURE.split(' ').collect::<Vec<_>>());
    let said = Said::from(entered.current_dir(world.path("project")).output().unwrap());
    assert!(said.status == 0 && world.store().exists() && !store.exists(), "{said:?}");
    let file = world.path("project/switchcost.toml").display().to_string();
    for words in [format!("{MEASURE} --config {file}"), format!("--config={file} {MEASURE}")] {
        let said = world.run(&words);
        assert!(said.status == 0 && store.exists(), "{said:?}");
    }
    let runs = world.run(&format!("history --config {file} --format json")).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    let command = runs["runs"][0]["command"].as_str().unwrap();
    assert!(command.starts_with("run --budget=45s thread/honest") && !command.contains("config"), "{command}");
    // A flag names another store.
    let other = world.run(&format!("history --config {file} --store {} --format json", world.store().display()));
    assert_eq!(other.json()["runs"].as_array().unwrap().len(), 1);
    let shown = world.run(&format!("config --config {file}"));
    let line = |start: &str| shown.out.lines().find(|line| line.trim_start().starts_with(start)).unwrap().to_owned();
    assert!(line("store ").contains(store.to_str().unwrap()) && line("store ").ends_with(&file), "{shown:?}");
    assert!(line("run --budget ").contains(" 45s ") && line("run --budget ").ends_with(&file), "{shown:?}");
    assert!(line("sweep --budget ").contains(" 120s ") && line("sweep --budget ").ends_with("built in"), "{shown:?}");
    assert!(world.run("config").out.contains("no file is read; "));
}

/// A gate of every comparison, and a budget that one which measures nothing does not stumble over.
#[test]
fn comparisons_have_theirs() {
    let world = with("[compare]\ngate = \"5%\"\nbudget = \"20s\"\n");
    for _ in 0..2 {
        assert_eq!(run(&world, "run thread/honest --rounds 8 --batches 2").status, 0);
    }
    let said = run(&world, "compare latest~1 latest");
    assert!([0, 1, 7].contains(&said.status) && said.out.contains("(gate 5 %)"), "{said:?}");
    run(&world, "compare latest~1 latest --budget 20s").refuses(2, &["--budget is of a comparison that measures"]);
}

#[test]
fn what_is_no_default_is_one_sentence() {
    for (text, words) in [
        ("[run\n", ["config.toml: line 1 is not TOML", "--no-config"]),
        ("\nnothing = \n", ["line 2 is not TOML", "--no-config"]),
        ("budget = \"2m\"\n", ["there is no `budget`", "[COMMAND]"]),
        ("[rum]\nbudget = \"2m\"\n", ["there is no command [rum]", "`run`"]),
        ("[run]\nrounds = 3\n", ["[run] has no `rounds`", "budget"]),
        ("[list]\nbudget = \"2m\"\n", ["[list] has no `budget`", "format"]),
        ("[run]\nbudget = \"soon\"\n", ["[run] budget `soon`: it is a time with a unit", "--no-config"]),
        ("[run]\nformat = \"pdf\"\n", ["[run] format `pdf`: it is one of table", "--no-config"]),
        ("[run]\nbudget = [\"1s\", \"2s\"]\n", ["[run] budget: it is one value", "config.toml"]),
        ("[run]\nbudget = { a = 1 }\n", ["[run] budget: it is a text", "config.toml"]),
        ("store = \"runs.sqlite\"\n", ["store: it is a whole path", "config.toml"]),
        ("store = 3\n", ["store: it is a whole path", "config.toml"]),
        ("store = \"/proc/none/runs.sqlite\"\n", ["`/proc/none/runs.sqlite` cannot be", "config.toml names it"]),
    ] {
        let world = with(text);
        run(&world, MEASURE).refuses(2, &words);
        assert_eq!(run(&world, &format!("{MEASURE} --no-config")).status, 0, "{text}");
    }
    let world = World::new(FAKE);
    world.run("list --config /nowhere.toml").refuses(2, &["/nowhere.toml: cannot be read"]);
    world.run("list --config a --no-config").refuses(2, &["--config"]);
    let world = with("[run]\nbudget = \"2m\"\n");
    let file = world.path("config/switchcost/config.toml");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    run(&world, "list").refuses(2, &["config.toml", "--no-config"]);
}
