//! The recipes of CONTRIBUTING.md and contrib/recipes.md, carried out as they stand there, to a
//! verified row.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use switchcost_e2e::{World, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A code block that names the file it belongs to: "```LANGUAGE PATH".
struct Block {
    path: String,
    text: String,
}

/// What stands behind a line "WHAT, whole: N files, M of them new."
struct Recipe {
    what: String,
    blocks: Vec<Block>,
}

/// The recipes of one section, each of as many files as it says.
fn recipes(heading: &str) -> Vec<Recipe> {
    let pages =
        ["CONTRIBUTING.md", "contrib/recipes.md"].map(|page| std::fs::read_to_string(repository().join(page)).unwrap());
    let mut sections = pages.iter().flat_map(|page| page.split("\n## "));
    let section = sections.find(|section| section.starts_with(heading) && section.contains(", whole: ")).unwrap();
    let mut found: Vec<Recipe> = Vec::new();
    // Prose and blocks take turns.
    for (place, part) in section.split("\n```").enumerate() {
        if place % 2 == 0 {
            for (what, told) in part.lines().filter_map(|line| line.split_once(", whole: ")) {
                found.push(Recipe { what: format!("{what}: {}", told.split('.').next().unwrap()), blocks: Vec::new() });
            }
        } else if let Some((path, text)) =
            part.split_once('\n').and_then(|(head, text)| Some((head.split_once(' ')?.1, text)))
        {
            let block = Block { path: path.to_owned(), text: format!("{text}\n") };
            found.last_mut().expect("a recipe before its blocks").blocks.push(block);
        }
    }
    for Recipe { what, blocks } in &found {
        let files: BTreeSet<&str> = blocks.iter().map(Block::file).collect();
        let new = files.iter().filter(|file| !repository().join(file).exists()).count();
        let named = what.split_once(": ").unwrap().1;
        let plural = if files.len() == 1 { "file" } else { "files" };
        assert_eq!(format!("{} {plural}, {new} of them new", files.len()), named, "{what}");
        for block in blocks.iter().filter(|block| repository().join(block.file()).exists()) {
            let lines = if block.is_table() { 1 } else { block.text.lines().count() };
            assert_eq!(lines, 1, "{what}: {} gets more than a line", block.file());
        }
    }
    found
}

/// The blocks of a section's only recipe.
fn recipe(heading: &str) -> Vec<Block> {
    let mut found = recipes(heading);
    assert_eq!(found.len(), 1, "recipes of {heading}");
    found.remove(0).blocks
}

impl Block {
    /// The file: behind it may stand the list that the text is a line of.
    fn file(&self) -> &str {
        self.path.split(' ').next().unwrap()
    }

    /// Tables of TOML, which stand at the end of a file.
    fn is_table(&self) -> bool {
        self.file().ends_with(".toml") && self.text.starts_with('[')
    }

    /// The file's text with what the block adds.
    fn added_to(&self, text: Option<&str>) -> String {
        let Some(text) = text else { return self.text.clone() };
        match self.path.split_once(' ') {
            Some((_, list)) => into_list(text, list, &self.text),
            None if self.is_table() => format!("{text}\n{}", self.text),
            None => text.replacen("\nmod ", &format!("\n{}mod ", self.text), 1),
        }
    }

    /// Writes it into a tree of the repository.
    fn write(&self, tree: &Path) {
        let path = tree.join(self.file());
        let known = std::fs::read_to_string(&path).ok();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.added_to(known.as_deref())).unwrap();
    }
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
        switchcost_e2e::untested(&format!("{program} is not installed"));
    }
    found
}

/// An installation with the descriptions of all mechanisms and of their probes only those of a
/// compiler, which have the control that bounds others.
fn installation() -> World {
    let world = World::new(FAKE);
    copy_tree(&repository().join("mechanisms"), &world.path("share/switchcost/mechanisms"));
    let staged = Path::new(FAKE).ancestors().nth(2).unwrap().join("libexec/switchcost/probes");
    for name in std::fs::read_dir(&staged).into_iter().flatten().flatten().map(|entry| entry.file_name()) {
        if name.to_string_lossy().starts_with("gcc-") {
            symlink(staged.join(&name), world.path("libexec/switchcost/probes").join(&name)).unwrap();
        }
    }
    world
}

fn verified(world: &World, mechanism: &str) {
    let said = world.run(&format!("run {mechanism} --rounds 1 --batches 10 --batch-time 1ms --format json"));
    let (said_of, id) = (said.json(), mechanism.split(' ').next().unwrap());
    let row = said_of["results"].as_array().unwrap().iter().find(|row| row["mechanism"] == id).unwrap();
    assert_eq!(row["verdict"], "verified", "{mechanism}: {row} {}", said.err);
    // A single start on a busy machine may show modes, and then has no median.
    assert!(row["min"].as_f64().unwrap() > 0.0, "{row}");
}

#[test]
#[ignore = "suite recipes"]
fn a_mechanism_is_one_file_one_line_and_one_page() {
    if !here("python3") {
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    copy_tree(&repository().join("probes/python"), &tree.path().join("probes/python"));
    for block in recipe("A mechanism in a probe that exists") {
        block.write(tree.path());
    }
    let world = installation();
    for folder in ["probes/python", "mechanisms"] {
        copy_tree(&tree.path().join(folder), &world.path(&installed(folder)));
    }
    for experiment in ["switch", "create", "footprint"] {
        verified(&world, &format!("coroutine/python-await --experiment {experiment}"));
    }
    verified(&world, "coroutine/python-await --timing each");
}

#[test]
#[ignore = "suite recipes"]
fn a_runtime_is_one_folder() {
    if !here("awk") {
        return;
    }
    let (world, tree) = (installation(), tempfile::tempdir().unwrap());
    let reader = tree.path().join("scripts/probes");
    std::fs::create_dir(reader.parent().unwrap()).unwrap();
    std::fs::copy(repository().join("scripts/probes"), &reader).unwrap();
    for block in &recipe("A runtime: one folder") {
        let page_or_folder = block.path.starts_with("probes/awk/") || block.path.starts_with("mechanisms/");
        assert!(page_or_folder, "{} lies outside of the folder", block.path);
        block.write(tree.path());
    }
    copy_tree(&tree.path().join("mechanisms"), &world.path("share/switchcost/mechanisms"));
    let staged = world.path("libexec/switchcost/probes/awk");
    let built = std::process::Command::new(reader).args(["--stage", "awk"]).arg(staged).status().unwrap();
    assert!(built.success());
    verified(&world, "control/awk-loop");
    assert!(world.run("list control").out.contains("control/awk-loop"));
}

/// Where the first list of a text ends.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.find(|character| {
        depth += i32::from("[{(".contains(character)) - i32::from("]})".contains(character));
        depth == 0 && "]}".contains(character)
    })
}

/// Inserts `line` at the end of the list that `name` begins: between brackets or braces, or the
/// rows of a table.
fn into_list(text: &str, name: &str, line: &str) -> String {
    let found = |begin: &str| text.find(&format!("{name}{begin}"));
    let (list, end) = if let Some(table) = text.find(&format!("\n| {name} |")) {
        (table, text[table..].find("|\n\n").map(|end| end + 2))
    } else if let Some(list) = found(" (") {
        (list, text[list..].find(')'))
    } else {
        let list =
            found(": &").or_else(|| found(":")).or_else(|| found(" =")).unwrap_or_else(|| panic!("no list {name}"));
        let rest = &text[list..];
        (list, if rest[..rest.find('\n').unwrap()].contains("&[") { rest.find("];") } else { closing(rest) })
    };
    let end = list + end.unwrap();
    let before = text[..end].trim_end();
    let comma = if before.ends_with([',', '[', '{', '|']) { "" } else { "," };
    format!("{before}{comma}\n{line}{}", &text[end..])
}

#[test]
#[ignore = "suite recipes"]
fn every_recipe_of_the_host_shows_in_what_the_program_says() {
    // A copy of the workspace that shares what is built of its dependencies.
    let copy = tempfile::tempdir().unwrap();
    for folder in
        ["crates", "tests", "mechanisms", "data", "protocol", "docs", "probes/fake", "probes/liar", "probes/node"]
    {
        copy_tree(&repository().join(folder), &copy.path().join(folder));
    }
    std::fs::create_dir(copy.path().join("web")).unwrap();
    for name in ["Cargo.toml", "Cargo.lock", "PROTOCOL.md", "README.md", "web/page.schema.json"] {
        std::fs::copy(repository().join(name), copy.path().join(name)).unwrap();
    }
    let recipes = recipes("Where a change goes");
    assert_eq!(recipes.len(), 8, "a format, a column, an axis, a check, a command, a placement and two experiments");
    recipes.iter().flat_map(|recipe| &recipe.blocks).for_each(|block| block.write(copy.path()));
    let built = std::process::Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "-p", "switchcost", "--profile", "dev"])
        .env("CARGO_TARGET_DIR", repository().join("target/recipes"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .current_dir(copy.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ask = |world: &World, words: &str| {
        let program = repository().join("target/recipes/debug/switchcost");
        let said = world
            .command(&[])
            .get_envs()
            .fold(std::process::Command::new(program), |mut command, (name, value)| {
                value.map(|value| command.env(name, value));
                command
            })
            .args(words.split_whitespace())
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let json = |world: &World, words: &str| -> serde_json::Value {
        let said = ask(world, &format!("{words} --format json"));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{words}: {error}: {said}"))
    };
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 6").status, 0);
    assert_eq!(ask(&world, "export --format labels"), "thread/honest\n");
    // Disturbed starts are repeated on a busy machine.
    let exported = json(&world, "export");
    assert!(exported["results"][0]["rounds"].as_u64().unwrap() >= 6, "{exported}");
    let csv = ask(&world, "export --format csv");
    assert!(csv.lines().next().unwrap().contains(",rounds"), "{csv}");
    ask(&world, "sweep placement thread/honest --rounds 1 --values one_cpu,free");
    assert_eq!(ask(&world, "export --format labels"), "thread/honest\nthread/honest free\n");
    assert!(json(&world, "doctor").to_string().contains("huge_pages"));
    assert_eq!(ask(&world, "count"), "2\n");
    let protocol = std::fs::read_to_string(copy.path().join("PROTOCOL.md")).unwrap();
    let told = protocol.split("\n## ").find(|section| section.starts_with("3. What a unit is")).unwrap();
    assert!(told.contains("see section 4 |\n| `hiccup` |"), "{told}");
    if !here("node") {
        return;
    }
    for folder in ["probes/node", "mechanisms"] {
        copy_tree(&copy.path().join(folder), &world.path(&installed(folder)));
    }
    let run = "run control/js-microtask --experiment hiccup --placement other_cpu --rounds 1 --batches 10";
    let row = &json(&world, run)["results"][0];
    // Where there is one CPU, there is no other.
    if row["verdict"] != "unsupported" {
        assert_eq!((&row["verdict"], &row["placement"]), (&"verified".into(), &"other_cpu".into()), "{row}");
        assert_eq!((&row["quantity"], &row["unit"]), (&"time".into(), &"reading".into()), "{row}");
        // On a busy machine a reading may cost more than the gap between two.
        assert!(row["p999"].is_number() && row["p999"].as_f64() <= row["max"].as_f64(), "{row}");
    }
    let row = &json(&world, "run control/js-microtask --experiment stall --rounds 1 --batches 10")["results"][0];
    // On a busy machine the host may come too late to look.
    let verdict = row["verdict"].as_str().unwrap();
    assert!(verdict == "verified" || row["reason_code"] == "not_looked_at", "{row}");
    let stored = ask(&world, "export --private-facts --format jsonl");
    assert!(stored.contains("\"stalled\":{\"waited_ns\":"), "{stored}");
    let help = ask(&world, "run --help").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains(", stall, ")
            && help.contains(", hiccup [default")
            && help.contains("other_cpu (one CPU, but not the usual one)"),
        "{help}"
    );
}
