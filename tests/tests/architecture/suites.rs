//! What `make test-all` runs, and which change calls for it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use switchcost_e2e::repository;

/// What git knows of a file below the top: its mode, and its path.
fn tracked(below: &str) -> Vec<(String, String)> {
    let listed = Command::new("git").args(["ls-files", "-s", below]).current_dir(repository()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let split = |line: &str| {
        let (about, path) = line.split_once('\t').unwrap();
        (about.split(' ').next().unwrap().to_owned(), path.to_owned())
    };
    listed.lines().map(split).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

/// CONTRIBUTING's table of suites beside the tree: every folder of sources stands in it once, and
/// every suite is called for.
#[test]
fn every_folder_calls_for_suites() {
    let root = repository();
    let page = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let (_, table) = page.split_once("<!-- suites -->").unwrap();
    let (table, _) = table.split_once("<!-- /suites -->").unwrap();
    let (mut folders, mut called) = (BTreeSet::new(), BTreeSet::new());
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').collect();
        for folder in cells[1].split('`').skip(1).step_by(2) {
            let exists = folder == "probes/*" || root.join(folder).is_dir();
            assert!(exists, "CONTRIBUTING.md names {folder}, which does not exist");
            assert!(folders.insert(folder.to_owned()), "{folder} stands twice in the table of suites");
        }
        called.extend(cells[2].split('`').skip(1).step_by(2).flat_map(str::split_whitespace).map(str::to_owned));
    }
    let listed = Command::new(root.join("scripts/test")).arg("--list").output().unwrap();
    let suites: BTreeSet<String> = String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(called, suites, "suites that the table calls for, and those that scripts/test has");
    for (_, file) in tracked(".") {
        let parts: Vec<&str> = file.split('/').collect();
        let folder = match parts[..] {
            [top @ ("crates" | "probes"), name, _, ..] => format!("{top}/{name}"),
            [top, _, ..] => top.to_owned(),
            _ => continue,
        };
        let runtime = root.join(&folder).join("probe.toml").is_file() && folders.contains("probes/*");
        assert!(runtime || folders.contains(&folder), "{folder} stands in no row of CONTRIBUTING's table of suites");
    }
}

/// `make test-all SUITES=bench` starts every program of `bench/` by the short forms that its head
/// names: without one nobody sees for months that it is broken.
#[test]
fn every_bench_has_a_short_form() {
    let all = tracked("bench");
    let programs: Vec<&String> = all.iter().filter(|(mode, _)| mode == "100755").map(|(_, path)| path).collect();
    assert!(programs.len() > 10, "only {programs:?} are found");
    for program in programs {
        let text = fs::read_to_string(repository().join(program)).unwrap();
        let form = |line: &str| line.trim_start_matches(['#', '/', ' ']).starts_with("Short form:");
        assert!(text.lines().take(20).any(form), "{program} names no `Short form:`, so that no suite starts it");
    }
}

/// The loops that nothing has a line for are compared with nothing: those of runtimes stand in
/// their `probe.toml`.
#[test]
fn every_plain_loop_is_compared() {
    let run = read("bench/run");
    let pages: String = tracked("probes/*/probe.toml").into_iter().map(|(_, page)| read(&page)).collect();
    for (_, path) in tracked("bench/plain*").into_iter().chain(tracked("probes/*/bench/*")) {
        let (folder, file) = path.rsplit_once('/').unwrap();
        let (name, ending) = file.split_once('.').unwrap_or((file, ""));
        let named = match folder {
            "bench/plain" if ["c", "cpp"].contains(&ending) => run.contains(&format!("\"{name}\"")),
            "bench/plain-rust/src/bin" => pages.contains(&format!("/{name}\"")),
            // A folder of Go is built whole.
            _ if folder.starts_with("probes/") => {
                let page = read(&folder.replace("/bench", "/probe.toml"));
                page.contains("[[dev.bench]]") && ["cd bench", name].iter().any(|word| page.contains(word))
            }
            _ => true,
        };
        assert!(named, "no line compares {path}");
    }
}
