//! The recipes of CONTRIBUTING.md, carried out as they stand there, to a verified row.

use std::path::Path;
use switchcost_e2e::{World, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A code block that names the file it belongs to: "```LANGUAGE PATH".
struct Block {
    path: String,
    text: String,
}

/// The blocks of one section.
fn recipe(heading: &str) -> Vec<Block> {
    let page = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let blocks = section.split("\n```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| {
        let (head, text) = block.split_once('\n')?;
        let path = head.split_once(' ')?.1.to_owned();
        Some(Block { path, text: format!("{text}\n") })
    });
    blocks.collect()
}

/// Where a file of the repository lies in an installation.
fn installed(path: &str) -> String {
    if path.starts_with("probes/") { format!("libexec/switchcost/{path}") } else { format!("share/switchcost/{path}") }
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// False, and said so, where the program is not installed.
fn here(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !found {
        eprintln!("{program} is not installed: its recipe is not tested here");
    }
    found
}

/// An installation with the descriptions of all mechanisms and none of their probes.
fn installation() -> World {
    let world = World::new(FAKE);
    copy_tree(&repository().join("mechanisms"), &world.path("share/switchcost/mechanisms"));
    world
}

fn verified(world: &World, mechanism: &str) {
    let said = world.run(&format!("run {mechanism} --rounds 1 --batches 10 --batch-time 1ms --format json"));
    let row = &said.json()["results"][0];
    assert_eq!(row["verdict"], "verified", "{mechanism}: {row} {}", said.err);
    // A single start on a busy machine may show modes, and then has no median.
    assert!(row["min"].as_f64().unwrap() > 0.0, "{row}");
}

#[test]
#[ignore = "suite recipes"]
fn a_mechanism_is_one_file_one_line_and_one_page() {
    if !here("node") {
        return;
    }
    let blocks = recipe("A mechanism in a probe that exists");
    let [code, line, page] = &blocks[..] else { panic!("{} files are touched instead of 3", blocks.len()) };
    assert_eq!(line.text.lines().count(), 1, "{:?} is more than a line", line.text);
    assert!(
        !repository().join(&code.path).exists() && !repository().join(&page.path).exists(),
        "the recipe adds nothing"
    );

    let world = installation();
    copy_tree(&repository().join("probes/node"), &world.path(&installed("probes/node")));
    let list = std::fs::read_to_string(repository().join(&line.path)).unwrap();
    let at = list.find("\n];").unwrap() + 1;
    world.write(&installed(&line.path), &format!("{}{}{}", &list[..at], line.text, &list[at..]));
    for block in [code, page] {
        world.write(&installed(&block.path), &block.text);
    }
    verified(&world, "control/js-clock");
    let each = world.run("run control/js-clock --timing each --rounds 1 --batches 3 --batch-time 100us --format json");
    let row = &each.json()["results"][0];
    // What reading the counter costs, a busy machine decides; little may be left of so cheap a unit.
    let unresolved = || row["reason"].as_str().is_some_and(|reason| reason.starts_with("below the resolution"));
    assert!(row["verdict"] == "verified" || unresolved(), "{each:?}");
}

#[test]
#[ignore = "suite recipes"]
fn a_runtime_is_one_folder() {
    if !here("awk") {
        return;
    }
    let blocks = recipe("A runtime: one folder");
    let world = installation();
    for block in &blocks {
        assert!(!repository().join(&block.path).exists(), "{} is there already", block.path);
        let page_or_folder = block.path.starts_with("probes/awk/") || block.path.starts_with("mechanisms/");
        assert!(page_or_folder, "{} lies outside of the folder", block.path);
        world.write(&installed(&block.path), &block.text);
    }
    verified(&world, "control/awk-loop");
    assert!(world.run("list control").out.contains("control/awk-loop"));
}

/// Inserts `line` before the `];` that ends the list which `name` begins.
fn into_list(text: &str, name: &str, line: &str) -> String {
    let list = text.find(&format!("{name}: &[")).unwrap_or_else(|| panic!("no list {name}"));
    let end = list + text[list..].find("];").unwrap();
    let before = text[..end].trim_end();
    let comma = if before.ends_with([',', '[']) { "" } else { "," };
    format!("{before}{comma}\n{line}{}", &text[end..])
}

#[test]
#[ignore = "suite recipes"]
fn a_format_a_column_an_axis_and_a_check_are_one_file_and_one_line() {
    let blocks = recipe("Where a change goes");
    // A copy of the workspace that shares what is built of its dependencies.
    let copy = tempfile::tempdir().unwrap();
    for folder in [
        "crates",
        "tests",
        "mechanisms",
        "data",
        "protocol",
        "docs",
        "web/page.schema.json",
        "probes/fake",
        "probes/liar",
    ] {
        let (from, to) = (repository().join(folder), copy.path().join(folder));
        if from.is_dir() {
            copy_tree(&from, &to);
        } else {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
        }
    }
    for name in ["Cargo.toml", "Cargo.lock"] {
        std::fs::copy(repository().join(name), copy.path().join(name)).unwrap();
    }
    let edit = |path: &str, change: &dyn Fn(&str) -> String| {
        let at = copy.path().join(path);
        let text = std::fs::read_to_string(&at).unwrap();
        std::fs::write(&at, change(&text)).unwrap();
    };
    let mut added = 0;
    for Block { path, text } in &blocks {
        assert!(text.lines().count() == 1 || path.ends_with(".rs"), "{text:?} is more than a line");
        if let Some((path, list)) = path.split_once(' ') {
            edit(path, &|old| into_list(old, list, text));
        } else if repository().join(path).exists() {
            edit(path, &|old| old.replacen("\nmod ", &format!("\n{text}mod "), 1));
        } else {
            std::fs::write(copy.path().join(path), text).unwrap();
            added += 1;
        }
    }
    assert_eq!((added, blocks.len()), (3, 10), "a format, an axis and a check are three blocks each, a column is one");
    let built = std::process::Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "-p", "switchcost", "--profile", "dev"])
        .env("CARGO_TARGET_DIR", repository().join("target/recipes"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .current_dir(copy.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 6").status, 0);
    let ask = |words: &[&str]| {
        let program = repository().join("target/recipes/debug/switchcost");
        let said = world
            .command(&[])
            .get_envs()
            .fold(std::process::Command::new(program), |mut command, (name, value)| {
                value.map(|value| command.env(name, value));
                command
            })
            .args(words)
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    assert_eq!(ask(&["export", "--format", "labels"]), "thread/honest\n");
    let json: serde_json::Value = serde_json::from_str(&ask(&["export", "--format", "json"])).unwrap();
    // Disturbed starts are repeated on a busy machine.
    assert!(json["results"][0]["rounds"].as_u64().unwrap() >= 6, "{}", json["results"]);
    let csv = ask(&["export", "--format", "csv"]);
    assert!(csv.lines().next().unwrap().contains(",rounds"), "{csv}");
    ask(&["sweep", "placement", "thread/honest", "--rounds", "1", "--values", "one_cpu,free"]);
    assert_eq!(ask(&["export", "--format", "labels"]), "thread/honest\nthread/honest free\n");
    let found: serde_json::Value = serde_json::from_str(&ask(&["doctor", "--format", "json"])).unwrap();
    assert!(found.to_string().contains("huge_pages"), "{found}");
}
