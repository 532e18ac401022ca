//! What is derived is what the code gives.

use std::fs;
use std::process::Command;
use switchcost_e2e::{Real, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

#[test]
fn every_derived_document_is_what_the_code_gives() {
    let Some(_real) = Real::new(FAKE) else { return };
    let xtask = std::path::Path::new(FAKE).with_file_name("xtask");
    let said = Command::new(&xtask).args(["documents", "--check"]).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let page = fs::read_to_string(repository().join("docs/answers.md")).unwrap();
    for question in 'a'..='i' {
        assert!(page.contains(&format!("\n## ({question}) ")), "question ({question}) has no answer");
    }
    assert_eq!(page.matches("**What would falsify it:**").count(), 9);
    assert_eq!(page.matches("| why not |\n").count(), 9);
    for finding in ["million", "isolation", "ring", "condvar"] {
        let page = fs::read_to_string(repository().join(format!("docs/findings/{finding}.md"))).unwrap();
        for part in ["We measured on ", "```sh\nswitchcost ", "**What it says.**", "**What would falsify it:**"] {
            assert!(page.contains(part), "docs/findings/{finding}.md lacks `{part}`");
        }
        assert!(page.contains(&format!("]({finding}.svg)")), "{page}");
        assert!(repository().join(format!("docs/findings/{finding}.svg")).exists(), "{finding} has no picture");
    }
}

#[test]
fn every_command_in_the_readme_is_understood() {
    let Some(real) = Real::new(FAKE) else { return };
    let page = fs::read_to_string(repository().join("README.md")).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("switchcost "));
    let mut checked = 0;
    for command in commands.flat_map(|line| line.split('#').next().unwrap_or_default().split("; switchcost ")) {
        let words = command.trim();
        let verb = words.split_whitespace().next().unwrap();
        if verb == "run" {
            // Measuring is tested elsewhere; here only that the words mean something, for which no budget is too short.
            let said = real.run_line(&format!("{words} --budget 100ms"));
            assert_ne!(said.status, 2, "{words}: {said:?}");
        } else if verb == "doctor" {
            // Whether its gate passes is the machine's affair.
            assert!([0, 1].contains(&real.run_line(words).status), "{words}");
        } else if ["list", "history"].contains(&verb) {
            assert_eq!(real.run_line(words).status, 0, "{words}");
        }
        checked += 1;
    }
    assert!(checked >= 5, "only {checked} commands found");
}
