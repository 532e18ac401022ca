//! Experiments, placements and quantities are values that are asked: nothing branches on their
//! names.

use super::super::runtimes::endings;
use super::{files, host, shipped};
use std::fs;
use std::path::{Path, PathBuf};
use switchcost_e2e::repository;

/// The text names an experiment or a placement: as a text of its own, behind an option, as a
/// variant or a constant.
fn naming(kind: &str, word: &str, text: &str) -> bool {
    // A kernel's parameter has that name.
    let text = &text.replace("host, \"preempt\"", "");
    let camel: String = word.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let owner = kind[..1].to_uppercase() + &kind[1..];
    let ways = [
        format!("\"{word}\""),
        format!("'{word}'"),
        format!("`{word}`"),
        format!("{kind}={word}"),
        format!("{kind} {word}"),
        format!("{owner}::{camel}"),
        format!("{owner}::{}", word.to_uppercase()),
    ];
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let named = |way: &String| text.match_indices(way).any(|(at, _)| !goes_on(&text[at + way.len()..]));
    if ways.iter().any(named) {
        return true;
    }
    // The other names are words of English too.
    let english = ["switch", "create", "message", "free", "count", "gap", "preempt", "submit", "serve"];
    // A method of perf_event2.
    let text = text.replace(".one_cpu(", "(");
    let own = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
    own && !english.contains(&word)
}

/// One page each holds all that is special about an experiment or a placement, and files of that
/// name what the host does in it; the list of these is the only other file that names it.
#[test]
fn no_file_but_its_page_names_an_experiment_or_a_placement() {
    let web = files(&repository().join("web/src"), "ts").into_iter().filter(|path| !path.ends_with("page.d.ts"));
    let searched: Vec<PathBuf> = host(&[]).filter(|path| !path.ends_with("tests.rs")).chain(web).collect();
    assert!(searched.len() > 300, "only {} files are found", searched.len());
    for kind in ["experiment", "placement"] {
        let pages = repository().join("crates/model/src").join(kind);
        let lists = [pages.with_extension("rs"), pages.with_file_name("host.rs")];
        let listed = lists.each_ref().map(|list| shipped(list)).concat();
        for page in files(&pages, "toml") {
            let word = page.file_stem().unwrap().to_str().unwrap();
            let in_macro = listed.contains(&format!("    {word}: "));
            assert!(in_macro || naming(kind, word, &listed), "{lists:?} do not list {word}");
            let named_so =
                |path: &Path| path.iter().any(|part| Path::new(part).file_stem().is_some_and(|stem| stem == word));
            for path in searched.iter().filter(|path| !lists.contains(path) && !named_so(path)) {
                let named = naming(kind, word, &shipped(path));
                assert!(!named, "{} names {kind} {word}: ask its value", path.display());
            }
        }
    }
}

/// The kits' sources without their tests, each with its text but for comments.
fn kits() -> Vec<(PathBuf, String)> {
    let native = ["cpp", "h"].map(|ending| (ending.to_owned(), "//".to_owned()));
    let mut found = Vec::new();
    for (extension, comment) in native.into_iter().chain(endings()) {
        for path in files(&repository().join("probes"), &extension) {
            let stem = path.file_stem().unwrap().to_string_lossy();
            let part = |name| path.iter().any(|part| part == name);
            if !part("kit") || part("tests") || stem == "tests" || stem.ends_with("_test") {
                continue;
            }
            let text = shipped(&path);
            let code = |line: &str| line.split(&comment).next().unwrap_or_default().to_owned();
            // Of the evidence: a field of hops is called `count`.
            let counts = |line: &&str| !line.contains("hops") && !line.contains("json:");
            let prose = |line: &&str| !line.trim_start().starts_with(['*', '/']);
            let lines: Vec<String> = text.lines().filter(prose).filter(counts).map(code).collect();
            found.push((path, lines.join("\n")));
        }
    }
    found
}

/// An experiment's own file is called like it, and the list `experiments`, or lies in a folder of
/// that name.
#[test]
fn no_file_of_a_kit_but_its_list_names_an_experiment_of_another_file() {
    let kits = kits();
    assert!(kits.len() > 150, "only {} files are found", kits.len());
    for page in files(&repository().join("crates/model/src/experiment"), "toml") {
        let word = page.file_stem().unwrap().to_str().unwrap();
        for (path, text) in &kits {
            let stem = path.file_stem().unwrap().to_str().unwrap().to_lowercase();
            let stem = stem.strip_prefix("kit_").unwrap_or(&stem);
            let list = stem == "experiments"
                || path.parent().unwrap().ends_with("experiments") && ["list", "__init__"].contains(&stem);
            let named = !list && stem != word && naming("experiment", word, text);
            assert!(!named, "{} names experiment {word}: ask the kit's list of experiments", path.display());
        }
    }
}

/// What a figure is of, the page of a report is told with the figure; it knows times and sizes only
/// for what is beside figures.
#[test]
fn the_page_of_a_report_derives_no_quantity() {
    for path in files(&repository().join("web/src"), "ts") {
        let text = fs::read_to_string(&path).unwrap();
        for asked in ["quantity === \"", "quantity.name === \"", "experiment === \"", "unit === \""] {
            assert!(!text.contains(asked), "{} asks {asked}…", path.display());
        }
    }
}
