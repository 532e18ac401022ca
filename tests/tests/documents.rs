//! What is generated is what the code generates. `SWITCHCOST_UPDATE=1` (set by `make generate`) rewrites instead of comparing.

use std::fs;
use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Text between two marker lines.
fn block<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = page.find(&format!("<!-- {name}:")).unwrap_or_else(|| panic!("no marker {name}"));
    let begin = begin + page[begin..].find('\n').unwrap() + 1;
    let end = begin + page[begin..].find(&format!("<!-- /{name} -->")).unwrap();
    &page[begin..end]
}

#[test]
fn the_ladder_in_the_readme_is_the_stored_run() {
    let Some(real) = Real::new(FAKE) else { return };
    let example = repository().join("data/example/ladder.jsonl");
    assert_eq!(real.run(&format!("import {}", example.display())).status, 0);
    let shown = real.run("show").out;
    let path = repository().join("README.md");
    let page = fs::read_to_string(&path).unwrap();
    let command = "$ make run        # or: switchcost run";
    let expected = format!("```\n{command}\n{shown}```\n");
    if std::env::var_os("SWITCHCOST_UPDATE").is_some() {
        fs::write(&path, page.replace(block(&page, "ladder"), &expected)).unwrap();
        return;
    }
    assert_eq!(block(&page, "ladder"), expected, "README.md is not what data/example gives: run `make generate`");
}

#[test]
fn the_answers_are_filled_from_the_kept_runs() {
    let Some(real) = Real::new(FAKE) else { return };
    let mut files: Vec<String> = fs::read_dir(repository().join("data/example/answers"))
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    files.sort();
    let template = repository().join("docs/answers.md.in");
    let said = real.run(&format!("fill {} {}", template.display(), files.join(" ")));
    assert_eq!(said.status, 0, "{}", said.err);
    let path = repository().join("docs/answers.md");
    if std::env::var_os("SWITCHCOST_UPDATE").is_some() {
        fs::write(&path, said.out).unwrap();
        return;
    }
    let page = fs::read_to_string(&path).unwrap();
    assert_eq!(page, said.out, "docs/answers.md is not what its runs give: run `make generate`");
    for question in 'a'..='i' {
        assert!(page.contains(&format!("\n## ({question}) ")), "question ({question}) has no answer");
    }
    assert_eq!(page.matches("**What would falsify it:**").count(), 9);
}

#[test]
fn every_command_in_the_readme_is_understood() {
    let Some(real) = Real::new(FAKE) else { return };
    let page = fs::read_to_string(repository().join("README.md")).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("switchcost "));
    let mut checked = 0;
    for command in commands.flat_map(|line| line.split('#').next().unwrap_or_default().split("; switchcost ")) {
        let words = command.replace('\'', "");
        let verb = words.split_whitespace().next().unwrap();
        if verb == "run" {
            // Measuring is tested elsewhere; here only that the words mean something.
            let said = real.run(&format!("{words} --rounds 1 --batches 1 --batch-time 1us --budget 20s"));
            assert_ne!(said.status, 2, "{words}: {said:?}");
        } else if ["list", "doctor", "history"].contains(&verb) {
            assert_eq!(real.run(&words).status, 0, "{words}");
        }
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} commands found");
}
