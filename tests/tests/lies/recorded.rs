//! Every lie, judged from a recording: the judge of `run` gets the recorded answer of a real probe, edited as the lie says, and what the host saw of that
//! start. `scripts/record-lies` records again.

#[path = "../../../probes/liar/edits.rs"]
mod edits;

use super::list::{List, string};
use edits::{Known, Quote};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use switchcost_analysis::{Bound, ProbeAnswer, judge};
use switchcost_catalogue::Catalogue;
use switchcost_e2e::repository;
use switchcost_model::{Mechanism, Plan, ProcessEnd, Seen, Variant, Verdict};
use switchcost_protocol::RunReader;

/// The list must hold at least so many lies that have a verdict.
const LEAST_LIES: usize = 190;

/// Lies that only `real` tells, since no recording of them can be judged. Let there be no more of them.
const ONLY_REAL: [&str; 0] = [];

/// What a lie may say that changes what the probe does, and with it what the host sees.
const OWN_START: [&str; 7] = ["instead", "through", "helpers", "idle_threads", "decoy", "hold", "stale"];

/// The recording that a lie is told with: its own if the probe does something else for it, or if the host looks for the process that it names; else that
/// of its base.
fn name(lie: &Value) -> String {
    let names_process = |edit: &Value| edit.as_str().is_some_and(|edit| edit.starts_with("hello.pid ="));
    let own = OWN_START.iter().any(|key| !lie[key].is_null())
        || lie["edits"].as_array().is_some_and(|edits| edits.iter().any(names_process));
    if own { format!("lies/{}", string(lie, "id")) } else { format!("bases/{}", string(lie, "base")) }
}

/// Where a recording is.
fn path(name: &str) -> PathBuf {
    repository().join("protocol/recorded").join(format!("{name}.jsonl"))
}

/// Keeps a start: `told` is what the liar wrote down, `row` what `run --format json` said of it, `rows` those of the same run.
pub(super) fn keep(name: &str, told: &str, row: &Value, rows: &[&Value]) {
    let (plan, messages) = told.split_once('\n').unwrap();
    let id = string(row, "mechanism");
    let bounds = &mechanism(&id).bound;
    let bounding = |other: &&&Value| {
        other["verdict"] == "verified" && bounds.iter().any(|bound| other["mechanism"] == bound.to_string())
    };
    let fastest =
        rows.iter().filter(bounding).min_by(|a, b| a["min"].as_f64().partial_cmp(&b["min"].as_f64()).unwrap());
    let bound = fastest.map(|row| json!({ "mechanism": row["mechanism"], "ns": row["min"] }));
    let head = json!({ "plan": plan, "placement": row["placement"], "bound": bound, "seen": row["seen_by"]["host"] });
    let messages: String = messages.lines().map(|line| anybody_s(line) + "\n").collect();
    std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
    std::fs::write(path(name), format!("{head}\n{messages}")).unwrap();
}

/// The message without what tells the machine and decides nothing: flags name folders, and a runtime its kernel.
fn anybody_s(line: &str) -> String {
    let mut message: Value = serde_json::from_str(line).unwrap();
    if let Some(hello) = message.as_object_mut().filter(|message| message["t"] == "hello") {
        hello.retain(|key, _| !["flags", "compiler"].contains(&key.as_str()));
        let runtime =
            hello["runtime"].as_str().and_then(|runtime| runtime.split(',').next()).unwrap_or_default().into();
        hello.insert("runtime".into(), runtime);
    }
    message.to_string()
}

fn mechanism(id: &str) -> &'static Mechanism {
    static CATALOGUE: LazyLock<Catalogue> =
        LazyLock::new(|| switchcost_catalogue::load(&repository().join("mechanisms"), None, &|_| Ok(())).unwrap());
    CATALOGUE.find(&id.parse().unwrap()).unwrap_or_else(|| panic!("there is no page of {id}"))
}

/// A recorded start.
struct Recording {
    words: BTreeMap<String, String>,
    plan: Plan,
    seen: Seen,
    bound: Option<Bound>,
    messages: Vec<Value>,
}

impl Recording {
    /// None: there is none.
    fn read(name: &str) -> Option<Self> {
        let text = std::fs::read_to_string(path(name)).ok()?;
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let head = lines.next().unwrap_or_else(|| panic!("{name} is empty"));
        let words = string(&head, "plan").split(' ').filter_map(|word| word.split_once('=')).map(own).collect();
        let bound = head["bound"].as_object().map(|bound| Bound::Measured {
            mechanism: bound["mechanism"].as_str().unwrap().to_owned(),
            ns: bound["ns"].as_f64().unwrap(),
        });
        let plan = plan(&words, &string(&head, "placement"));
        Some(Self {
            words,
            plan,
            seen: serde_json::from_value(head["seen"].clone()).unwrap(),
            bound,
            messages: lines.collect(),
        })
    }

    /// Verdict and reason of this lie; of none where it is quoted faithfully.
    fn judged(&self, lie: Option<&Value>) -> Result<(Verdict, String), String> {
        let edits = lie.and_then(|lie| lie["edits"].as_array()).into_iter().flatten();
        let edits: Vec<String> = edits.map(|edit| edit.as_str().unwrap().to_owned()).collect();
        let mut quote = Quote::new(&edits, Known::of(&self.words))?;
        let (mut reader, mut fault) = (RunReader::default(), false);
        for message in &self.messages {
            let mut message = message.clone();
            for _ in 0..quote.change(&mut message)? {
                fault = fault || reader.push(format!("{message}\n").as_bytes()).is_err();
            }
        }
        quote.finish()?;
        let status = lie.and_then(|lie| lie["exit"].as_i64()).unwrap_or(0);
        let process = if fault { ProcessEnd::Stopped } else { ProcessEnd::Exited(status.try_into().unwrap()) };
        let mechanism = mechanism(self.plan.variant.mechanism.as_str());
        let unmeasured = if mechanism.bound.is_empty() { Bound::None } else { Bound::Unmeasured };
        let answer = ProbeAnswer {
            transcript: &reader.into_transcript(),
            process,
            log: "",
            seen: Some(&self.seen),
            bound: self.bound.as_ref().unwrap_or(&unmeasured),
        };
        let judgement = judge(&mechanism.rule(&self.plan.variant), &self.plan, &answer).judgement;
        Ok((judgement.verdict, judgement.reason))
    }
}

fn own((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// The plan behind the words that a probe got.
fn plan(words: &BTreeMap<String, String>, placement: &str) -> Plan {
    const KEYS: [&str; 13] = [
        "report_fd",
        "protocol",
        "mechanism",
        "experiment",
        "contexts",
        "timing",
        "cpus",
        "batch_units",
        "batch_ns",
        "batches",
        "warmup_batches",
        "verify_units",
        "seed",
    ];
    let number = |key: &str| words[key].parse().unwrap();
    let parameters = words.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    Plan {
        variant: Variant {
            mechanism: words["mechanism"].parse().unwrap(),
            probe: String::new(),
            experiment: words["experiment"].parse().unwrap(),
            contexts: number("contexts"),
            placement: placement.parse().unwrap(),
            timing: words["timing"].parse().unwrap(),
            parameters: parameters.map(|(key, value)| own((key, value))).collect(),
            label: String::new(),
        },
        cpus: words["cpus"].split(',').filter_map(|cpu| cpu.parse().ok()).collect(),
        batch_units: number("batch_units"),
        batch_ns: number("batch_ns"),
        batches: number("batches"),
        warmup_batches: number("warmup_batches"),
        verify_units: number("verify_units"),
        seed: number("seed"),
        deadline_ms: 0,
    }
}

/// What is told with one recording.
pub(super) struct Told<'a> {
    pub(super) base: String,
    pub(super) lies: Vec<&'a Value>,
}

/// Every recording that there must be.
pub(super) fn told(list: &List) -> BTreeMap<String, Told<'_>> {
    let bases = list.bases.keys().map(|base| (format!("bases/{base}"), Told { base: base.clone(), lies: Vec::new() }));
    let mut told: BTreeMap<String, Told<'_>> = bases.collect();
    for lie in list.lies.iter().filter(|lie| !ONLY_REAL.contains(&string(lie, "id").as_str())) {
        let own = || Told { base: string(lie, "base"), lies: Vec::new() };
        told.entry(name(lie)).or_insert_with(own).lies.push(lie);
    }
    told
}

/// What the judge says wrongly of a recording, one sentence each.
pub(super) fn misjudged(name: &str, told: &Told<'_>) -> Vec<String> {
    let Some(recording) = Recording::read(name) else { return vec![format!("{name} is not recorded")] };
    let mut wrong = Vec::new();
    if name.starts_with("bases/") {
        let faithful = recording.judged(None);
        if !matches!(faithful, Ok((Verdict::Verified, _))) {
            wrong.push(format!("{name}, quoted faithfully: {faithful:?}"));
        }
    }
    for lie in &told.lies {
        let (expected, says) = (string(lie, "verdict"), lie["says"].as_str().unwrap_or_default());
        let judged = recording.judged(Some(lie));
        let fits = |(verdict, reason): &(Verdict, String)| {
            let right = verdict.to_string() == expected && says.split('|').any(|words| reason.contains(words));
            right || expected == "undetectable"
        };
        if !judged.as_ref().is_ok_and(fits) {
            wrong.push(format!("{}: expected {expected} ({says}), got {judged:?}", string(lie, "id")));
        }
    }
    wrong
}

#[test]
fn every_lie_gets_its_verdict_from_a_recording() {
    let list = List::read();
    let detectable = list.lies.iter().filter(|lie| lie["verdict"] != "undetectable").count();
    assert!(detectable >= LEAST_LIES, "the list has only {detectable} lies");
    let told = told(&list);
    let wrong: Vec<String> = told.iter().flat_map(|(name, told)| misjudged(name, told)).collect();
    assert!(wrong.is_empty(), "{} are wrong; `scripts/record-lies` records again:\n{}", wrong.len(), wrong.join("\n"));
    let there = ["bases", "lies"].into_iter().flat_map(|folder| {
        let files = std::fs::read_dir(repository().join("protocol/recorded").join(folder)).unwrap().flatten();
        files.map(move |file| format!("{folder}/{}", file.path().file_stem().unwrap().to_string_lossy()))
    });
    let unused: Vec<String> = there.filter(|name| !told.contains_key(name)).collect();
    assert!(unused.is_empty(), "recordings that no lie tells: {unused:?}");
}
