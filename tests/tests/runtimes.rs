//! The runtimes of `probes/`, by what `[dev]` of each `probe.toml` says: scripts, benches and tests
//! read it, and nothing else lists them.

use super::architecture::{files, mechanism_ids};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use switchcost_e2e::{Said, repository, untested};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Tables of `[dev]`, with the keys that are read.
const READ: [(&str, &[&str]); 6] = [
    ("source", &["endings", "comment", "width"]),
    ("build", &["purpose", "command", "files", "language", "kit"]),
    ("setup", &["purpose", "test", "packages", "otherwise", "lost"]),
    ("test", &["toolchain", "command", "lint", "mechanism", "conforms", "mistake"]),
    ("package", &["suggests", "each", "without"]),
    ("bench", &["mechanism", "plan", "build", "command", "units", "wide", "bounds"]),
];

/// Name and `[dev]` of each.
fn runtimes() -> Vec<(String, toml::Table)> {
    let folders = fs::read_dir(repository().join("probes")).unwrap().flatten().map(|entry| entry.path());
    let described = |folder: std::path::PathBuf| {
        let text = fs::read_to_string(folder.join("probe.toml")).ok()?;
        let mut page: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let name = folder.file_name()?.to_str()?.to_owned();
        let Some(toml::Value::Table(dev)) = page.remove("dev") else { panic!("probes/{name} has no [dev]") };
        Some((name, dev))
    };
    let mut found: Vec<_> = folders.filter_map(described).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Of each kit a mechanism that stands for it: name of the probe's folder, mechanism.
pub(super) fn kits() -> Vec<(String, String)> {
    kits_by(&["mechanism"])
}

/// The same, for what starts a probe very often.
pub(super) fn quickest_of_kits() -> Vec<(String, String)> {
    kits_by(&["conforms", "mechanism"])
}

fn kits_by(keys: &[&str]) -> Vec<(String, String)> {
    let chosen = |(name, dev): (String, toml::Table)| {
        let mechanism = keys.iter().find_map(|key| dev["test"].get(key)?.as_str());
        (name, mechanism.expect("[dev.test] names a mechanism").to_owned())
    };
    runtimes().into_iter().map(chosen).collect()
}

/// The mechanisms of all kits as words of a command.
pub(super) fn mechanisms() -> String {
    kits().into_iter().map(|(_, mechanism)| mechanism).collect::<Vec<_>>().join(" ")
}

/// Endings of the runtimes' sources, each with its sign of a comment.
pub(super) fn endings() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (_, dev) in runtimes() {
        let comment = dev["source"]["comment"].as_str().unwrap();
        let endings = dev["source"]["endings"].as_array().unwrap();
        found.extend(endings.iter().map(|ending| (ending.as_str().unwrap().to_owned(), comment.to_owned())));
    }
    found
}

/// As `scripts/probes` says a value: of an array its words.
fn said(value: Option<&toml::Value>) -> String {
    match value {
        None => String::new(),
        Some(toml::Value::String(text)) => text.clone(),
        Some(toml::Value::Array(words)) => {
            words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    }
}

#[test]
fn scripts_read_a_probe_s_page_as_it_is_written() {
    for (name, dev) in runtimes() {
        for (table, entry) in dev {
            let keys = READ.iter().find(|(known, _)| *known == table).map(|(_, keys)| *keys);
            let keys = keys.unwrap_or_else(|| panic!("nothing reads [dev.{table}] of probes/{name}"));
            let entries = entry.as_array().cloned().unwrap_or_else(|| vec![entry]);
            for key in entries.iter().flat_map(|entry| entry.as_table().unwrap().keys()) {
                assert!(keys.contains(&key.as_str()), "nothing reads {key} in [dev.{table}] of probes/{name}");
            }
        }
    }
    for (table, keys) in READ {
        let mut expected = String::new();
        for (name, dev) in runtimes() {
            let entries = match dev.get(table) {
                Some(toml::Value::Array(entries)) => entries.clone(),
                other => other.cloned().into_iter().collect(),
            };
            for entry in entries {
                expected += &format!("{name}\n");
                keys.iter().for_each(|key| expected += &format!("{}\n", said(entry.get(key))));
            }
        }
        let call =
            format!("told() {{ printf '%s\\n' \"$@\"; }}; eval \"$(scripts/probes told {table} {})\"", keys.join(" "));
        let told = Command::new("sh").args(["-euc", &call]).current_dir(repository()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout), expected, "[dev.{table}]: {told:?}");
    }
}

/// A probe's sources name the mechanisms whose pages name it, and no other.
#[test]
fn a_mechanism_s_page_names_the_probes_that_have_it() {
    let page = |id: &str| fs::read_to_string(repository().join("mechanisms").join(format!("{id}.toml"))).unwrap();
    let pages: Vec<(String, String)> = mechanism_ids().into_iter().map(|id| (page(&id), id)).collect();
    let kits = kits().into_iter().map(|(name, _)| name).chain(["native".to_owned()]);
    for name in kits {
        let folder = repository().join("probes").join(&name);
        let kinds = ["rs", "cpp", "h", "inc"].map(str::to_owned).into_iter();
        let kinds: BTreeSet<String> = kinds.chain(endings().into_iter().map(|(ending, _)| ending)).collect();
        let tests =
            |path: &Path| path.iter().any(|part| ["test", "tests", "bench"].iter().any(|folder| part == *folder));
        let sources = kinds.iter().flat_map(|kind| files(&folder, kind)).filter(|path| !tests(path));
        let text: String = sources.map(|path| fs::read_to_string(path).unwrap()).collect();
        for (page, id) in &pages {
            let line = page.lines().find(|line| line.starts_with("implemented_by")).unwrap();
            let (has, named) = (text.contains(&format!("\"{id}\"")), line.contains(&format!("\"{name}\"")));
            assert_eq!(has, named, "{id}: probes/{name} has it, and its page names that probe");
        }
    }
}

/// Each kit made to a mistake, where its runtime is here: a probe that claims to switch and does
/// not, with the kit's evidence as it is.
#[test]
fn a_mistake_of_each_kit_is_found() {
    for (name, dev) in runtimes() {
        let said = |key: &str| dev["test"].get(key).and_then(toml::Value::as_str);
        let Some(mistake) = said("mistake") else { continue };
        let [toolchain, mechanism] = ["toolchain", "mechanism"]
            .map(|key| said(key).unwrap_or_else(|| panic!("{name}: a mistake without {key}")));
        let target = Path::new(FAKE).ancestors().nth(2).unwrap();
        let staged = target.join("libexec/switchcost/probes").join(&name);
        let there = |command: &str| Command::new("sh").args(["-c", command]).output().unwrap().status.success();
        if !there(&format!("command -v {toolchain}")) || !staged.exists() {
            untested(&format!("{name} is not here"));
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let [libexec, work] = ["libexec/switchcost", "work"].map(|part| folder.path().join(part));
        let out = libexec.join("probes").join(&name);
        fs::create_dir_all(out.parent().unwrap()).unwrap();
        fs::create_dir(&work).unwrap();
        std::os::unix::fs::symlink(target.join("share"), folder.path().join("share")).unwrap();
        assert!(Command::new("cp").arg("-R").args([&staged, &out]).status().unwrap().success());
        let mut made = Command::new("sh");
        made.args(["-euc", mistake]).current_dir(repository().join("probes").join(&name));
        let made = made.env("out", &out).env("work", &work).output().unwrap();
        // What its compiler takes is not here.
        if made.status.code() == Some(3) {
            untested(&format!("{name} cannot be built"));
            continue;
        }
        assert!(made.status.success(), "{name}: {made:?}");
        let arguments = format!(
            "run {mechanism} --probe {name} --placement one_cpu --rounds 1 --batches 20 --batch-time 1ms --format json"
        );
        let mut command = Command::new(Path::new(FAKE).with_file_name("switchcost"));
        command.args(arguments.split_whitespace()).env("SWITCHCOST_LIBEXEC", &libexec);
        command.env("XDG_DATA_HOME", folder.path().join("data")).env("XDG_CACHE_HOME", folder.path().join("cache"));
        let rows = Said::from(command.stdin(std::process::Stdio::null()).output().unwrap()).json();
        let mut rows = rows["results"].as_array().unwrap().iter().filter(|row| row["mechanism"] == mechanism);
        let row = rows.next().unwrap_or_else(|| panic!("{name} has no row"));
        if row["reason_code"] == "probe_unable" {
            untested(&format!("{name}: {}", row["reason"]));
            continue;
        }
        assert!(row["verdict"] == "contradicted" || row["verdict"] == "broken", "{name}: {row}");
    }
}

/// `bench/run` beside probes that are staged as names only: each row says what it lacks, and the
/// next one is tried.
#[test]
fn a_bench_row_without_a_figure_says_what_it_lacks() {
    if !Command::new("python3").args(["-c", "import tomllib"]).output().is_ok_and(|said| said.status.success()) {
        return untested("there is no Python of 3.11 or newer");
    }
    let folder = tempfile::tempdir().unwrap();
    let target = Path::new(FAKE).ancestors().nth(2).unwrap();
    std::os::unix::fs::symlink(target.join("share"), folder.path().join("share")).unwrap();
    let libexec = folder.path().join("libexec/switchcost");
    for name in ["wasm", "kotlin"] {
        let staged = libexec.join("probes").join(name);
        fs::create_dir_all(&staged).unwrap();
        fs::copy(repository().join("probes").join(name).join("probe.toml"), staged.join("probe.toml")).unwrap();
    }
    let mut bench = Command::new(repository().join("bench/run"));
    bench.args(["--pairs", "1", "--only", "wasm", "--only", "kotlin", "--program"]);
    bench.arg(Path::new(FAKE).with_file_name("switchcost")).env("SWITCHCOST_LIBEXEC", &libexec);
    bench.env("XDG_DATA_HOME", folder.path().join("data")).env("XDG_CACHE_HOME", folder.path().join("cache"));
    let said = Said::from(bench.output().unwrap());
    assert!(said.status == 0 && said.err.is_empty(), "{said:?}");
    for mechanism in ["coroutine/kotlin-sequence", "fiber/kotlin-yield", "stack/wasm-async", "stack/wasm-continuation"]
    {
        let line = said.out.lines().find(|line| line.starts_with(mechanism));
        assert!(line.is_some_and(|line| line.contains("lacks a figure: unsupported: ")), "{mechanism}: {said:?}");
    }
}

/// Tracked files, but for one runtime, in a tree of its own that has the same packages and tools.
fn tree_without(runtime: &str, tree: &Path) {
    let top = repository();
    let gone = format!("probes/{runtime}/");
    let tracked = Command::new("git").args(["ls-files"]).current_dir(&top).output().unwrap();
    for file in String::from_utf8(tracked.stdout).unwrap().lines().filter(|file| !file.starts_with(&gone)) {
        let to = tree.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(top.join(file), to).unwrap();
    }
    fs::create_dir(tree.join("target")).unwrap();
    for shared in ["node_modules", "web/node_modules", "target/lint-tools"] {
        if top.join(shared).exists() {
            std::os::unix::fs::symlink(top.join(shared), tree.join(shared)).unwrap();
        }
    }
    for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
        assert!(Command::new("git").args(arguments).current_dir(tree).status().unwrap().success());
    }
}

/// Lists, form and sizes of a tree without one, and those of these tests that read the tree.
#[test]
#[ignore = "suite recipes"]
fn a_runtime_that_is_gone_costs_its_rows_only() {
    let tree = tempfile::tempdir().unwrap();
    tree_without("ruby", tree.path());
    let tests = std::env::current_exe().unwrap().display().to_string();
    let calls = [
        vec!["scripts/size"],
        vec!["scripts/lint", "form"],
        vec![
            &tests,
            "architecture::",
            "runtimes::",
            "every_kit_has",
            "a_mechanism_of_each_kit",
            "of_each_family",
            "list_answers",
        ],
    ];
    for call in calls {
        let mut command = Command::new(call[0]);
        command.args(&call[1..]).current_dir(tree.path()).env("SWITCHCOST_TREE", tree.path());
        let said = command.output().unwrap();
        let [out, err] = [&said.stdout, &said.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(said.status.success(), "{call:?}: {out}{err}");
        assert!(!out.contains("probes/ruby") && !out.contains("stack/ruby"), "{call:?}: {out}");
    }
}
