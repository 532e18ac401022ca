//! Complaints about pages that compare runtimes, done again: the page refuses each. Where they
//! stand: docs/runtimes.md.

use crate::pages::Kept;
use crate::places::{KEPT, catalogue, top};
use crate::runtimes::{FILE, OLD_NS, Rules};
use std::fs;
use switchcost_model::Run;

/// The line of a row in the tables of a question, with a kept run changed.
fn line(question: &str, name: &str, run: &str, change: impl Fn(&mut Run)) -> anyhow::Result<String> {
    let mut kept = Kept::read(&top().join(KEPT))?;
    kept.change(run, change);
    let text = kept.figures().part_of_runtimes(question)?;
    Ok(text.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default().to_owned())
}

/// aether PR#1535: a rate 1,000 times too high, because the divisor counted units that nobody made.
#[test]
fn units_that_were_never_made_divide_nothing() {
    let honest = line("switch", "goroutine", "runtimes-switch", |_| {}).unwrap();
    assert!(honest.contains(" verified") && honest.contains(" ns "), "{honest}");
    let claimed = line("switch", "goroutine", "runtimes-switch", |run| {
        for start in &mut run.invocations {
            if run.variants[start.variant].mechanism.as_str() != "fiber/goroutine" {
                continue;
            }
            start.transcript.samples.iter_mut().for_each(|samples| samples.units *= 1000);
            start.transcript.evidence.iter_mut().for_each(|evidence| evidence.units *= 1000);
            start.transcript.plan.iter_mut().for_each(|plan| plan.batch_units *= 1000);
        }
    })
    .unwrap();
    assert!(claimed.contains("no figure: its evidence contradicts its claim"), "{claimed}");
    assert!(!claimed.contains(" ns "), "{claimed}");
}

/// atemerev/skynet#2 and #7: a generator that its caller resumes, ranked with tasks that a
/// scheduler wakes.
#[test]
fn unlike_things_share_no_table() {
    let (text, catalogue) = (fs::read_to_string(top().join(FILE)).unwrap(), catalogue().unwrap());
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        format!("{:#}", Rules::parse(&text.replacen(from, to, 1), &catalogue).err().unwrap())
    };
    let generator = |class: &str| format!("name = \"Python generator\"\nclass = \"{class}\"");
    let said = refused(&generator("bare"), &generator("scheduler"));
    assert!(said.contains("Python generator") && said.contains("does not belong to the class scheduler"), "{said}");
    // One number for all that a runtime does.
    let said = refused(&generator("bare"), &format!("{}\nscore = 87", generator("bare")));
    assert!(said.contains("unknown field `score`"), "{said}");
}

/// crossbeam-channel#71 and pgjdbc#1951: figures of versions that nobody names, or that nobody runs
/// any more.
#[test]
fn a_row_without_a_version_or_of_long_ago_is_no_news() {
    let silent = line("switch", "goroutine", "runtimes-switch", |run| {
        for hello in run.invocations.iter_mut().filter_map(|start| start.transcript.hello.as_mut()) {
            hello.runtime = "none".into();
            hello.compiler = None;
        }
    });
    let said = format!("{:#}", silent.unwrap_err());
    assert!(said.contains("does not say which version ran"), "{said}");
    let old = line("switch", "goroutine", "runtimes-switch", |run| run.started_unix_ns -= OLD_NS + 1).unwrap();
    assert!(old.contains("~~") && old.contains("(old: "), "{old}");
    let recent = line("switch", "goroutine", "runtimes-switch", |run| run.started_unix_ns -= OLD_NS / 2).unwrap();
    assert!(!recent.contains("(old: "), "{recent}");
}

/// tzcnt/runtime-benchmarks PR#1: settings chosen by whoever measures, without the row that users
/// get.
#[test]
fn settings_need_who_advises_them_and_the_default_beside_them() {
    let (text, catalogue) = (fs::read_to_string(top().join(FILE)).unwrap(), catalogue().unwrap());
    let refused = |changed: String| format!("{:#}", Rules::parse(&changed, &catalogue).err().unwrap());
    let advised = text.lines().find(|line| line.starts_with("advised = ")).unwrap();
    assert!(refused(text.replace(advised, "")).contains("where its authors advise that"));
    let usual = "[[row]]\nname = \"corosensei\"\nclass = \"bare\"\nmechanism = \"stack/corosensei\"\n";
    assert!(text.contains(usual));
    assert!(refused(text.replace(usual, "")).contains("the row by default is missing"));
    let hidden = text.replace("[row.absent]\ncreate = \"as with Node.js\"\n", "");
    assert!(refused(hidden).contains("has no create: say why"));
}
