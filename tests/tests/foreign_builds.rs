//! What users have set for builds of other projects does not reach the builds of this one.

use std::process::Command;
use switchcost_e2e::repository;

/// Variables with a value that breaks or moves a build.
const SET: &[(&str, &str)] = &[
    ("CARGO_TARGET_DIR", "elsewhere"),
    ("CARGO_BUILD_TARGET", "wasm32-unknown-unknown"),
    ("CARGO_BUILD_TARGET_DIR", "elsewhere"),
    ("CARGO_BUILD_RUSTFLAGS", "--cfg nothing"),
    ("RUSTFLAGS", "-C no-such-option"),
    ("GO111MODULE", "off"),
    ("GOWORK", "/nowhere"),
    ("GOFLAGS", "-mod=vendor"),
    ("CFLAGS", "-m32"),
    ("CXXFLAGS", "-m32"),
    ("MAKEFLAGS", "n"),
    ("NODE_ENV", "production"),
    ("npm_config_omit", "dev"),
    ("npm_config_production", "true"),
];

#[test]
fn each_script_that_builds_forgets_them() {
    let mut sourced = Command::new("sh");
    sourced
        .args(["-c", ". scripts/own-build; env"])
        .envs(SET.iter().copied())
        .env("GOPROXY", "off")
        .env("CARGO_NET_OFFLINE", "true");
    let left = String::from_utf8(sourced.current_dir(repository()).output().unwrap().stdout).unwrap();
    for (name, _) in SET {
        assert!(!left.lines().any(|line| line.starts_with(&format!("{name}="))), "{name} is left");
    }
    // What says where packages come from stays.
    assert!(left.contains("GOPROXY=off") && left.contains("CARGO_NET_OFFLINE=true"), "{left}");
    let builds = ["cargo build", "cargo test", "cargo clippy", "go build", "cmake -", "npm ci"];
    for script in std::fs::read_dir(repository().join("scripts")).unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(script.path()) else { continue };
        let found = builds.iter().find(|build| text.contains(**build)).filter(|_| text.starts_with("#!/bin/"));
        let sources = text.contains(". \"$(dirname \"$0\")/own-build\"\n");
        assert!(
            found.is_none() || sources,
            "{} has `{}` and does not source own-build",
            script.path().display(),
            found.unwrap()
        );
    }
    let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
    let plain = makefile.lines().find(|line| line.starts_with("\t@cargo ") || line.starts_with("\tcargo "));
    assert!(makefile.contains("WITH_TOOLS = . scripts/own-build; PATH=") && plain.is_none(), "{plain:?}");
}
