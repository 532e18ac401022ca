//! `crosscheck` with the real binary beside tools that are scripts.

use switchcost_e2e::{Said, World, repository, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world whose only tools are these: name, what the script does, how its figure is read, and
/// further lines.
fn world(tools: &[(&str, &str, &str)]) -> World {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(FAKE);
    for (name, script, more) in tools {
        let timeout = if *name == "hang" { 1 } else { 300 };
        let folder = world.path("tools").display().to_string();
        if !script.is_empty() {
            let path = world.path(&format!("tools/{name}"));
            world.write(&format!("tools/{name}"), &format!("#!/bin/sh\n{script}\n"));
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        world.write(
            &format!("share/switchcost/crosscheck/{name}.toml"),
            &format!(
                "title = \"A script\"\nprogram = \"{name}\"\nlook_in = [\"{folder}\"]\npackage = \"script-{name}\"\n\
                 arguments = [\"{{cpu}}\"]\nfigure = \"takes {{figure}} us\"\nunit = \"us per round trip\"\nns = 1000.0\n\
                 switches = 2.0\ntimeout_s = {timeout}\nmechanism = \"thread/honest\"\nreason = \"it is a script\"\n{more}"
            ),
        );
    }
    world
}

fn rows(said: &Said) -> Vec<serde_json::Value> {
    said.json()["rows"].as_array().unwrap().clone()
}

#[test]
fn figures_are_converted_and_held_against_ours() {
    let world = world(&[
        ("steady", "echo it takes 2.5 us on $1", ""),
        ("rate", "echo takes 500000 us", "rate = true\n[parameters]\nticks = \"2000\"\n"),
        ("gone", "", ""),
    ]);
    // A rate of 500 000 in a unit of 1 000 ns and 2 switches: 1000 / 500000 / 2.
    let said = world.run("crosscheck --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let rows = rows(&said);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    let steady = &row("steady")["measured"];
    for (field, expected) in [("printed", 2.5), ("theirs_ns", 1250.0), ("ours_ns", 1000.0), ("ratio", 1.25)] {
        assert!((steady[field].as_f64().unwrap() - expected).abs() < 1e-9, "{field}: {steady}");
    }
    assert_eq!(steady["rounds"], 6);
    assert!((steady["interval"][0].as_f64().unwrap() - 1.25).abs() < 1e-9, "{steady}");
    assert!((row("rate")["measured"]["theirs_ns"].as_f64().unwrap() - 0.001).abs() < 1e-12, "{}", row("rate"));
    assert_eq!(
        (&row("rate")["measured"]["ours_ns"], &row("rate")["ours"]),
        (&2000.0.into(), &"thread/honest ticks=2000".into())
    );
    let missing = row("gone")["missing"].as_str().unwrap();
    assert!(missing.contains("not installed") && missing.contains("script-gone") && row("gone")["measured"].is_null());
    let schema = std::fs::read_to_string(repository().join("docs/crosscheck.schema.json")).unwrap();
    jsonschema::validate(&serde_json::from_str(&schema).unwrap(), &said.json())
        .unwrap_or_else(|error| panic!("{error}"));
    let text = world.run("crosscheck steady gone --rounds 2").out;
    for words in ["us per round", "figure × 1000 ns ÷ 2 switches", "It is a script.", "1.25", "script-gone"] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
}

#[test]
fn tools_that_misbehave_are_rows_and_leave_nothing() {
    let world = world(&[
        ("crash", "echo takes 1.0 us; echo the reason >&2; exit 3", ""),
        ("mute", "true", ""),
        ("twice", "echo takes 1.0 us; echo takes 2.0 us", ""),
        ("infinite", "echo takes inf us", ""),
        ("zero", "echo takes 0.0 us", ""),
        ("hang", "cd ${0%/*}; sleep 1000 & wait", ""),
        ("fine", "echo takes 2.0 us", ""),
    ]);
    let said = world.run("crosscheck --rounds 1 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    for (id, words) in [
        ("crash", "status 3: takes 1.0 us … the reason"),
        ("mute", "no figure of the form"),
        ("twice", "2 figures"),
        ("infinite", "not a positive number"),
        ("zero", "not a positive number"),
        ("hang", "did not end within 1 s"),
    ] {
        let row = rows(&said).into_iter().find(|row| row["id"] == id).unwrap();
        assert!(row["missing"].as_str().unwrap().contains(words), "{row}");
    }
    until("the end of what a tool has left behind", || {
        let here = |cwd: std::path::PathBuf| cwd.starts_with(world.path(""));
        let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
        !processes.any(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(here))
    });
    assert_eq!(world.run("crosscheck mute zero --rounds 1").status, 3);
    world.run("crosscheck nobody").refuses(2, &["`nobody`", "crash", "twice"]);
    world.run("crosscheck --rounds 0").refuses(2, &["--rounds"]);
    world.write("share/switchcost/crosscheck/bad.toml", "title = 1");
    world.run("crosscheck").refuses(2, &["bad.toml", "line 1"]);
}

#[test]
fn ours_must_have_its_evidence() {
    let world = world(&[("tool", "echo takes 2.0 us", "")]);
    let path = "share/switchcost/crosscheck/tool.toml";
    let text = std::fs::read_to_string(world.path(path)).unwrap();
    world.write(path, &text.replace("thread/honest", "thread/liar"));
    let said = world.run("crosscheck --rounds 1 --format json");
    assert_eq!(said.status, 3, "{said:?}");
    assert!(rows(&said)[0]["missing"].as_str().unwrap().contains("contradicted"), "{said:?}");
    world.write(path, &text.replace("thread/honest", "thread/absent"));
    assert_eq!(world.run("crosscheck --rounds 1").status, 3);
}
