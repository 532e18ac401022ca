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
    let page = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let readme = page("README.md");
    let screen = readme.lines().position(|line| line.starts_with("New here?")).unwrap() + 1;
    assert!(screen <= 60 && readme.split_whitespace().count() <= 1300, "README's first screen has {screen} lines");
    let answers = page("docs/answers.md");
    for question in 'a'..='i' {
        assert!(answers.contains(&format!("\n## ({question}) ")), "question ({question}) has no answer");
    }
    assert_eq!(answers.matches("**What would falsify it:**").count(), 9);
    for finding in ["million", "isolation", "ring", "sandbox", "condvar", "latency"] {
        let text = page(&format!("docs/findings/{finding}.md"));
        for part in ["We measured on", "```sh\nswitchcost ", "**What it says.**", "**What would falsify it:**"] {
            assert!(text.contains(part), "docs/findings/{finding}.md lacks `{part}`");
        }
    }
    let write_ups = files("docs/write-ups");
    assert_eq!(write_ups.len(), 5);
    for path in &write_ups {
        let text = page(path);
        assert!(answers.contains(path.strip_prefix("docs/").unwrap()), "docs/answers.md does not lead to {path}");
        for part in ["**The write-up.**", "**It says.**", "**We find.**", "```sh\nswitchcost classic ", "xcluded"] {
            assert!(text.contains(part), "{path} lacks `{part}`");
        }
    }
    for path in write_ups.iter().chain(&files("docs/findings")) {
        let picture = path.replace(".md", ".svg");
        let name = picture.rsplit('/').next().unwrap();
        assert!(
            page(path).contains(&format!("]({name})")) && repository().join(&picture).exists(),
            "{path} has no picture"
        );
    }
    for path in files("docs/how-to") {
        let (text, words) = (page(&path), page(&path).split_whitespace().count());
        for part in ["**Goal.**", "**You need**", "\n## Do it", "\n## Read it", "\n## If it goes wrong"] {
            assert!(text.contains(part), "{path} lacks `{part}`");
        }
        assert!(words <= 600, "{path} has {words} words");
    }
}

/// Pages of a folder.
fn files(folder: &str) -> Vec<String> {
    let all =
        fs::read_dir(repository().join(folder)).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    all.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")).collect()
}

/// `bench/league/run --page` makes page and picture of the kept comparisons alone.
#[test]
fn the_page_of_the_league_is_what_its_data_give() {
    let place = tempfile::tempdir().unwrap();
    let copied =
        |from: &str, name: &str| fs::copy(repository().join(from), place.path().join(name)).map(|_| ()).unwrap();
    copied("data/league.json", "league.json");
    copied("docs/league.md", "league.md");
    let league = repository().join("bench/league/run");
    let said = match Command::new("python3").arg(league).args(["--page", "--out"]).arg(place.path()).output() {
        Ok(said) => said,
        Err(error) => return switchcost_e2e::untested(&format!("python3 is not here: {error}")),
    };
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    for name in ["league.md", "league.svg"] {
        let read = |path: std::path::PathBuf| fs::read_to_string(path).unwrap();
        let made = read(place.path().join(name));
        assert!(made == read(repository().join("docs").join(name)), "docs/{name}: run bench/league/run --page");
    }
}
