//! The documents of this repository that are derived, each with the code or the runs that it comes
//! from.

use crate::book::walk;
use crate::outputs;
use crate::pages::{self, Kept};
use crate::places::{KEPT, top};
use crate::reasons;
use anyhow::{Context, bail};
use std::fmt::Write as _;
use std::io::Read as _;
use std::{fs, io};

/// Writes every derived document; or only fails, naming those that are not what they would be.
pub fn derive(check: bool) -> anyhow::Result<()> {
    let mut documents: Vec<(String, String)> =
        schemas().into_iter().map(|(name, text)| (format!("docs/{name}"), text)).collect();
    documents.push(("web/page.schema.json".into(), switchcost_report::page_schema()));
    documents.extend(pages::filled(&Kept::read(&top().join(KEPT))?)?);
    documents.push(("docs/cli.md".into(), command_line()));
    documents.push(("docs/notebook/limits.md".into(), limits()?));
    documents.push((reasons::PAGE.into(), reasons::page()?));
    for page in COUNTED {
        documents.push((format!("docs/{page}.md"), counted(page)?));
    }
    with_outputs(&mut documents)?;
    settle(documents, check)
}

/// Each schema by the name of its file.
pub fn schemas() -> Vec<(&'static str, String)> {
    let core = [
        ("compare.schema.json", switchcost_report::compare_schema()),
        ("doctor.schema.json", switchcost_report::doctor_schema()),
        ("explain.schema.json", switchcost_report::explain_schema()),
        ("history.schema.json", switchcost_report::history_schema()),
        ("results.schema.json", switchcost_report::schema()),
    ];
    core.into_iter().chain(switchcost::derived::schemas()).collect()
}

/// Puts README's table of platforms in its place.
pub fn platforms(check: bool) -> anyhow::Result<()> {
    let mut table = String::new();
    io::stdin().read_to_string(&mut table).context("the table comes by standard input")?;
    let page = fs::read_to_string(top().join("README.md"))?;
    let published = block(&page, "platforms")?;
    let rows = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
    };
    if !check {
        if table.contains("untried") {
            bail!("something could not be tried here (see above); README.md is left as it is");
        }
        return settle(vec![("README.md".into(), page.replace(published, &table))], false);
    }
    let (found, stated) = (rows(&table), rows(published));
    let differ = |(ours, theirs): &(&Vec<String>, &Vec<String>)| {
        ours.len() != theirs.len() || ours.iter().zip(*theirs).any(|(a, b)| !a.starts_with("untried") && a != b)
    };
    if let Some((ours, theirs)) = found.iter().zip(&stated).find(differ) {
        bail!("README.md says {theirs:?}; here it is {ours:?}");
    }
    if found.len() != stated.len() {
        bail!("README.md has {} platforms, here are {}", stated.len(), found.len());
    }
    Ok(())
}

fn settle(documents: Vec<(String, String)>, check: bool) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for (path, text) in documents {
        let at = top().join(&path);
        if fs::read_to_string(&at).unwrap_or_default() == text {
            continue;
        }
        if !check {
            fs::write(&at, text).with_context(|| format!("cannot write {}", at.display()))?;
        }
        stale.push(path);
    }
    if check && !stale.is_empty() {
        bail!("not what the code and data/example give: {}; run `make generate`", stale.join(", "));
    }
    Ok(())
}

/// Text between two marker lines.
fn block<'a>(page: &'a str, name: &str) -> anyhow::Result<&'a str> {
    let missing = || format!("a page has no block {name}");
    let begin = page.find(&format!("<!-- {name}:")).with_context(missing)?;
    let begin = begin + page[begin..].find('\n').with_context(missing)? + 1;
    let end = begin + page[begin..].find(&format!("<!-- /{name} -->")).with_context(missing)?;
    Ok(&page[begin..end])
}

/// Adds the pages of which nothing else is derived, and puts into all what their commands print.
fn with_outputs(documents: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    let mut files = vec![top().join("README.md")];
    walk(&top().join("docs"), &mut files)?;
    for file in files {
        let path = file.strip_prefix(top())?.to_string_lossy().into_owned();
        if path.ends_with(".md") && !documents.iter().any(|(known, _)| *known == path) {
            documents.push((path, fs::read_to_string(&file)?));
        }
    }
    for (path, text) in documents {
        *text = outputs::renewed(text).with_context(|| path.clone())?;
    }
    Ok(())
}

/// Where the limits of what others wrote stand in the code.
const LIMITS: [(&str, &str); 6] = [
    ("a run file", "crates/store/src/limits.rs"),
    ("an id in a run file", "crates/store/src/rules.rs"),
    ("a name of `baseline set`", "crates/store/src/baseline.rs"),
    ("what a probe reports", "crates/protocol/src/reader.rs"),
    ("a data file, such as a mechanism's page", "crates/catalogue/src/files.rs"),
    ("`probe.toml`", "crates/catalogue/src/probes.rs"),
];

/// docs/notebook/limits.md with the table of all constants `MAX_…` of these files: what their
/// comments and values say.
fn limits() -> anyhow::Result<String> {
    let page = fs::read_to_string(top().join("docs/notebook/limits.md"))?;
    let mut table = "| In | What | At most |\n|---|---|---|\n".to_owned();
    for (what, file) in LIMITS {
        let source = fs::read_to_string(top().join(file)).with_context(|| format!("cannot read {file}"))?;
        let mut comment = String::new();
        for line in source.lines() {
            if let Some(text) = line.strip_prefix("///") {
                comment += text;
                continue;
            }
            if let Some((_, value)) = line.split_once("const MAX_").and_then(|(_, rest)| rest.split_once(" = ")) {
                let value = value.trim_end_matches(';').replace('_', "\u{a0}").replace('*', "×");
                writeln!(table, "| {what} | {} | {value} |", comment.trim().trim_end_matches('.'))?;
            }
            comment.clear();
        }
    }
    Ok(page.replace(block(&page, "limits")?, &table))
}

/// Pages of `docs/` whose tables are counted by tests of `crates/analysis`.
const COUNTED: [&str; 2] = ["notebook/coverage", "notebook/fleet"];

/// Such a page with the tables that the tests counted and did not find in it. They leave them in
/// files.
fn counted(page: &str) -> anyhow::Result<String> {
    let mut text = fs::read_to_string(top().join(format!("docs/{page}.md")))?;
    let Ok(tables) = fs::read_dir(top().join("target/tmp/counted").join(page)) else { return Ok(text) };
    for table in tables {
        let file = table?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        text = text.replace(block(&text, &name)?, &fs::read_to_string(&file)?);
    }
    Ok(text)
}

/// The help of every command.
fn command_line() -> String {
    let mut page = "# The command line\n\nWhat `switchcost COMMAND -h` says; `--help` says more. Generated by `make generate`.\n\n\
        Most commands have `--store FILE`, the database of runs, and `-h`.\nAll end with 0 if fine, 2 for a usage error.\n"
        .to_owned();
    let mut all = switchcost::derived::command().term_width(100);
    all.build();
    let mut commands: Vec<(String, &clap::Command)> = Vec::new();
    for command in all.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let named = |below: &'_ clap::Command| format!("{} {}", command.get_name(), below.get_name());
        commands.push((command.get_name().to_owned(), command));
        commands.extend(below.map(|below| (named(below), below)));
    }
    for (name, command) in commands {
        let help = command.clone().render_help().to_string();
        let common = |line: &&str| {
            ["--store <FILE>", "/switchcost/runs.sqlite]", "-h, --help", "  help   Print this"]
                .iter()
                .all(|common| !line.contains(common))
        };
        let lines: Vec<&str> = help
            .lines()
            .map(str::trim_end)
            .filter(common)
            .filter(|line| !["Arguments:", "Options:", "Exit status: 0 fine, 2 usage error"].contains(line))
            .collect();
        let text = lines.join("\n").replace("\n\n\n", "\n\n").replace("\n\nUsage:", "\nUsage:");
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", text.trim_end());
    }
    page
}
