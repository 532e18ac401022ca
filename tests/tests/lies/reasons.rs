//! Each reason that the judge gives has a lie or an edge that gets it, or a line that says why
//! there is none.

use std::collections::BTreeSet;
use switchcost_e2e::repository;

/// Codes of the reasons that the judge's sources name.
fn given() -> BTreeSet<String> {
    let sources = repository().join("crates/analysis/src");
    let folders = ["judge", "judge/experiments", "judge/experiments/wakeup"];
    let parts = folders.map(|folder| std::fs::read_dir(sources.join(folder)).unwrap());
    let parts = parts.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut codes = BTreeSet::new();
    for path in parts.chain([sources.join("judge.rs")]) {
        if path.is_dir() || path.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        codes.extend(text.split("Reason::").skip(1).filter_map(|rest| {
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
            name.starts_with(char::is_uppercase).then(|| code(name))
        }));
    }
    codes
}

/// The name of a kind in JSON.
fn code(name: &str) -> String {
    let mut code = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !code.is_empty() {
            code.push('_');
        }
        code.push(letter.to_ascii_lowercase());
    }
    code
}

#[test]
fn each_reason_of_the_judge_has_a_lie_or_a_line_why_not() {
    let given = given();
    assert!(given.len() > 90, "only {} reasons are found", given.len());
    let rules = std::fs::read_to_string(repository().join("protocol/rules.txt")).unwrap();
    let (found, rest) = rules.split_once("\nWhat changes").unwrap();
    let found = found.lines().skip(3).filter_map(|line| line.split_once(':'));
    let mut found: BTreeSet<String> = found.flat_map(|(codes, _)| codes.split(' ').map(str::to_owned)).collect();
    found.extend(super::edges::codes(rest));
    let list: toml::Table = std::fs::read_to_string(repository().join("protocol/lies.toml")).unwrap().parse().unwrap();
    let mut excused = BTreeSet::new();
    for line in list["unlied"].as_array().unwrap() {
        assert!(line["because"].as_str().unwrap().len() > 20, "{line} gives no reason");
        for code in line["codes"].as_array().unwrap() {
            assert!(excused.insert(code.as_str().unwrap().to_owned()), "{code} is excused twice");
        }
    }
    let lacking: Vec<&String> =
        given.iter().filter(|code| !found.contains(*code) && !excused.contains(*code)).collect();
    assert!(lacking.is_empty(), "no lie of protocol/lies.toml gets {lacking:?}, and `unlied` does not say why");
    let idle: Vec<&String> = excused.iter().filter(|code| found.contains(*code) || !given.contains(*code)).collect();
    assert!(idle.is_empty(), "`unlied` excuses {idle:?}, which a lie gets or nobody gives");
}
