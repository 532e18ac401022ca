//! A run fit to be shown to strangers.
//!
//! Three kinds of personal text are taken out of every free text of the run (log, notes, reasons,
//! flags, findings …): home folders, the user names seen in them, and the values of the personal
//! facts (host name …). The words of the command that are paths are taken out whole. Numbers, ids,
//! variants and verdicts stay, so every result can be computed again from the shareable form.

use std::collections::BTreeSet;
use switchcost_model::{Experiment, Invocation, MechanismId, Placement, Run, Timing, Transcript, change_texts};

/// Stands for a home folder.
const HOME: &str = "~";
/// Stands for a path of the command.
const PATH: &str = "<path>";
/// Stands for a user name or a personal fact.
const REMOVED: &str = "<removed>";
/// Folders whose subfolders are called after users; those that end like another stand before it.
const HOMES: &[&str] = &["/var/home/", "/usr/home/", "/home/", "/mnt/c/Users/", "/Users/", "\\Users\\"];
/// Most of a run's tens of thousands of texts have none of them.
const SEPARATORS: [char; 2] = ['/', '\\'];
/// Accounts and hosts that are everywhere, and therefore nobody's; some are also words of ordinary
/// facts.
const COMMON: &[&str] = &[
    "root",
    "user",
    "admin",
    "runner",
    "guest",
    "localhost",
    "linux",
    "ubuntu",
    "debian",
    "fedora",
    "Public",
    "Shared",
    "Default",
];
/// A personal word shorter than this is not looked for: it would be found inside ordinary text.
const SHORTEST: usize = 3;

/// Takes out of a run what says whose it is: personal facts, paths of the command, home folders,
/// user and host names.
///
/// Not found are names that neither the personal facts nor a home folder mention. Id, variants,
/// parameters and labels stay as they are.
pub fn strip_personal(run: &mut Run) {
    let mut names: BTreeSet<String> = run.machine.personal.values().cloned().collect();
    each_text(run, &mut |text| names.extend(users(text)));
    names.retain(|name| is_telling(name));
    // Longest first: a host name may begin with the user's.
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    run.machine.personal.clear();
    strip_command(run);
    each_text(run, &mut |text| strip_text(text, &names));
}

/// Worth looking for: long enough, nobody else's, and no number.
fn is_telling(name: &str) -> bool {
    name.chars().count() >= SHORTEST && !COMMON.contains(&name) && !name.chars().all(|c| c.is_ascii_digit())
}

/// Every free text of a run.
fn each_text(run: &mut Run, change: &mut dyn FnMut(&mut String)) {
    run.command.iter_mut().for_each(&mut *change);
    let request = &mut run.request;
    request.patterns.iter_mut().chain(&mut request.axis).chain(&mut request.probes).for_each(&mut *change);
    request.parameters.values_mut().flatten().for_each(&mut *change);
    let machine = &mut run.machine;
    machine.stable.values_mut().chain(machine.drifting.values_mut()).for_each(&mut *change);
    machine.findings.iter_mut().flat_map(|finding| finding.facts.values_mut()).for_each(&mut *change);
    run.not_run.values_mut().for_each(|reason| change_texts(reason, change));
    run.invocations.iter_mut().for_each(|invocation| each_text_of(invocation, change));
}

fn each_text_of(invocation: &mut Invocation, change: &mut dyn FnMut(&mut String)) {
    let Transcript { hello, plan: _, samples: _, histograms: _, evidence, notes, end, fault } =
        &mut invocation.transcript;
    if let Some(hello) = hello {
        change(&mut hello.runtime);
        hello.compiler.iter_mut().chain(&mut hello.flags).for_each(&mut *change);
    }
    if let Some(evidence) = evidence {
        evidence.why.values_mut().for_each(&mut *change);
        evidence.kernel.iter_mut().for_each(|kernel| change(&mut kernel.source));
    }
    notes.iter_mut().for_each(&mut *change);
    fault.iter_mut().for_each(|fault| change_texts(fault, change));
    end.iter_mut().filter_map(|end| end.detail.as_mut()).for_each(&mut *change);
    invocation.disturbances.iter_mut().for_each(|other| change_texts(other, change));
    invocation.judgement.reason.iter_mut().for_each(|reason| change_texts(reason, change));
    change(&mut invocation.log);
}

fn strip_command(run: &mut Run) {
    let families: BTreeSet<String> = run.variants.iter().map(|v| v.mechanism.family().to_owned()).collect();
    for (position, word) in run.command.iter_mut().enumerate() {
        if position == 0 {
            *word = word.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            continue;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
            _ => (String::new(), word.as_str()),
        };
        if is_path(value, &families) {
            *word = option + PATH;
        }
    }
}

/// A word of the command that is a path; `family/name`, also as a pattern with the words of rows
/// after it, is none.
fn is_path(word: &str, families: &BTreeSet<String>) -> bool {
    if let Some((name, rest)) = word.split_once(' ')
        && rest.split(' ').all(names_rows)
    {
        return is_path(name, families);
    }
    let file = [".sqlite", ".jsonl", ".json", ".html", ".csv", ".md", ".db", ".toml", ".gz"];
    if file.iter().any(|ending| word.ends_with(ending)) || word.contains('\\') || word.starts_with('~') {
        return true;
    }
    let Some((family, rest)) = word.split_once('/') else { return false };
    let pattern = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-*?@_".contains(c);
    let mechanism = word.parse::<MechanismId>().is_ok() || (rest.chars().all(pattern) && !family.is_empty());
    !(mechanism && (families.contains(family) || family == "*"))
}

/// A word that follows a mechanism in a pattern: `free`, `each`, `contexts=4`.
fn names_rows(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.,=-".contains(c);
    word.parse::<Placement>().is_ok()
        || word.parse::<Timing>().is_ok()
        || word.parse::<Experiment>().is_ok()
        || (word.contains('=') && word.chars().all(plain))
}

/// User names in the home folders that a text mentions.
fn users(text: &str) -> Vec<String> {
    let after =
        |homes: &&str| -> Vec<String> { text.split(*homes).skip(1).map(|rest| component(rest).to_owned()).collect() };
    if text.contains(SEPARATORS) { HOMES.iter().flat_map(after).collect() } else { Vec::new() }
}

/// The beginning of a text up to the end of the path component.
fn component(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "/\\:;,'\"`()[]{}<>|=".contains(c);
    text.split(ends).next().unwrap_or_default()
}

fn strip_text(text: &mut String, names: &[String]) {
    if text.contains(SEPARATORS) {
        *text = HOMES.iter().fold(strip_root(text), |text, homes| strip_homes(&text, homes));
    }
    for name in names.iter().filter(|name| text.contains(*name)).collect::<Vec<_>>() {
        *text = strip_word(text, name);
    }
}

/// Replaces `/home/NAME` by `~`, wherever it stands: in front of it there may be a drive, an
/// option, a prefix.
fn strip_homes(text: &str, homes: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(homes) {
        let name = component(after);
        stripped.push_str(before);
        stripped.push_str(if name.is_empty() { homes } else { HOME });
        rest = after.strip_prefix(name).unwrap_or_default();
    }
    stripped + rest
}

/// Replaces `/root/`, a home without a name, by `~/` where a path begins with it.
fn strip_root(text: &str) -> String {
    let mut parts = text.split("/root/");
    let mut stripped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let word = stripped.rsplit(|c: char| c.is_whitespace() || "'\"=,:;".contains(c)).next().unwrap_or_default();
        let within = word.contains('/') || word.ends_with('.');
        stripped.push_str(if within { "/root/" } else { "~/" });
        stripped.push_str(part);
    }
    stripped
}

/// Replaces a name where it stands as a word of its own.
fn strip_word(text: &str, name: &str) -> String {
    let part_of_word = |c: char| c.is_alphanumeric();
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some((ahead, after)) = rest.split_once(name) {
        before = ahead.chars().next_back().or(before);
        let alone = !before.is_some_and(part_of_word) && !after.starts_with(part_of_word);
        stripped.push_str(ahead);
        stripped.push_str(if alone { REMOVED } else { name });
        before = name.chars().next_back();
        rest = after;
    }
    stripped + rest
}
