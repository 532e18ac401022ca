//! The invariants of ARCHITECTURE.md that no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use switchcost_e2e::repository;

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "build", "node_modules"].contains(&name.as_str()) {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// Source without tests and without comments.
fn shipped(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn mechanism_ids() -> Vec<String> {
    let root = repository().join("mechanisms");
    files(&root, "toml")
        .into_iter()
        .filter_map(|path| {
            let id = path.strip_prefix(&root).ok()?.with_extension("").to_string_lossy().into_owned();
            id.contains('/').then_some(id)
        })
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = [
        ("switchcost-model", &[][..]),
        ("switchcost-stats", &[]),
        ("switchcost-protocol", &["model"]),
        ("switchcost-catalogue", &["model"]),
        ("switchcost-machine", &["model"]),
        ("switchcost-store", &["model"]),
        ("switchcost-analysis", &["catalogue", "model", "stats"]),
        ("switchcost-runner", &["analysis", "catalogue", "machine", "model", "protocol"]),
        ("switchcost-report", &["analysis", "catalogue", "model", "stats"]),
        ("switchcost", &["analysis", "catalogue", "machine", "model", "report", "runner", "store"]),
        ("switchcost-e2e", &[]),
        ("xtask", &["report"]),
    ]
    .into();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let expected = allowed.get(name).unwrap_or_else(|| panic!("crate {name} has no line in this test"));
        seen.insert(name.to_owned());
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(ours) = dependency["name"].as_str().unwrap().strip_prefix("switchcost-") else { continue };
            assert!(expected.contains(&ours), "{name} may not use {ours}; ARCHITECTURE.md says why");
        }
    }
    assert_eq!(seen.len(), allowed.len(), "a crate of this test is gone");
}

#[test]
fn no_crate_names_a_mechanism() {
    let ids = mechanism_ids();
    assert!(ids.len() > 10);
    for path in files(&repository().join("crates"), "rs") {
        if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs") {
            continue;
        }
        let text = shipped(&path);
        for id in &ids {
            assert!(
                !text.contains(&format!("\"{id}")),
                "{} names {id}: behaviour belongs into mechanisms/",
                path.display()
            );
        }
    }
}

#[test]
fn unsafe_code_is_in_one_crate() {
    for path in files(&repository().join("crates"), "rs") {
        let uses = shipped(&path).lines().any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(!uses || path.to_string_lossy().contains("crates/machine/"), "{} has unsafe code", path.display());
    }
}

#[test]
fn model_and_statistics_do_no_io() {
    for (krate, words) in [
        ("model", &["std::fs", "std::io", "std::env"][..]),
        ("stats", &["serde", "std::fs", "std::io", "std::env", "std::time"]),
        ("analysis", &["std::fs", "std::io", "std::env", "std::time"]),
        ("report", &["std::fs", "std::env", "std::time"]),
    ] {
        for path in files(&repository().join("crates").join(krate).join("src"), "rs") {
            let text = shipped(&path);
            for word in words {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn every_mechanism_s_probe_has_a_folder() {
    for id in mechanism_ids() {
        let text = fs::read_to_string(repository().join("mechanisms").join(format!("{id}.toml"))).unwrap();
        let line = text.lines().find(|line| line.starts_with("implemented_by")).unwrap();
        for source in line.split('"').skip(1).step_by(2) {
            assert!(
                repository().join("probes").join(source).is_dir(),
                "{id} is implemented by {source}, which has no folder"
            );
        }
    }
}

#[test]
fn functions_and_files_stay_readable() {
    for path in files(&repository().join("crates"), "rs") {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines; split it", path.display());
    }
}

#[test]
fn the_page_on_architecture_names_tests_that_exist() {
    let page = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let mut sources = String::new();
    for folder in ["tests/tests", "crates"] {
        for path in files(&repository().join(folder), "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter_map(|word| word.strip_prefix("test ")).collect();
    assert!(named.len() >= 8, "ARCHITECTURE.md names too few tests: {named:?}");
    for name in named {
        assert!(sources.contains(&format!("fn {name}(")), "ARCHITECTURE.md names test {name}, which does not exist");
    }
}

#[test]
fn no_tracked_file_names_this_machine() {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output().unwrap();
    if !output.status.success() {
        return; // An archive without git has nothing tracked.
    }
    let here = format!("{}/", repository().display());
    for name in String::from_utf8_lossy(&output.stdout).split('\0').filter(|name| !name.is_empty()) {
        let Ok(text) = fs::read_to_string(repository().join(name)) else { continue };
        assert!(!text.contains(&here), "{name} names {here}");
    }
}
