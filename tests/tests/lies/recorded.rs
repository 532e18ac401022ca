//! Every lie, judged from a recording: the judge of `run` gets the recorded answer of a real probe,
//! edited as the lie says, and what the host saw of that start. `scripts/record-lies` records
//! again.

#[path = "../../../probes/liar/edits.rs"]
pub(super) mod edits;

use super::edges::{self, Edges};
use super::list::{List, string};
use edits::{Known, Quote};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;
use switchcost_analysis::{Bound, Bounds, Constants, ProbeAnswer, judge_by};
use switchcost_catalogue::Catalogue;
use switchcost_e2e::repository;
use switchcost_model::{Judgement, Mechanism, Plan, ProcessEnd, Reason, Seen, Variant, Verdict};
use switchcost_protocol::RunReader;

/// The list must hold at least so many lies that have a verdict.
const LEAST_LIES: usize = 200;

/// Lies that only `real` tells, since no recording of them can be judged. Let there be no more of
/// them.
const ONLY_REAL: [&str; 0] = [];

/// What a lie may say that changes what the probe does, and with it what the host sees.
const OWN_START: [&str; 7] = ["instead", "through", "helpers", "idle_threads", "decoy", "hold", "stale"];

/// The recording that a lie is told with: its own if the probe does something else for it, or if
/// the host looks for the process that it names; else that of its base.
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

/// Keeps a start: `told` is what the liar wrote down, `row` what `run --format json` said of it,
/// `rows` those of the same run.
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

/// The message without what tells the machine and decides nothing: flags name folders, and a
/// runtime its kernel.
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
        LazyLock::new(|| switchcost_catalogue::load(&repository().join("mechanisms"), &[], &|_| Ok(())).unwrap());
    CATALOGUE.find(&id.parse().unwrap()).unwrap_or_else(|| panic!("there is no page of {id}"))
}

/// A recorded start.
struct Recording {
    words: BTreeMap<String, String>,
    plan: Plan,
    seen: Seen,
    bound: Option<Bounds>,
    messages: Vec<Value>,
}

impl Recording {
    /// None: there is none.
    fn read(name: &str) -> Option<Self> {
        let text = std::fs::read_to_string(path(name)).ok()?;
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let head = lines.next().unwrap_or_else(|| panic!("{name} is empty"));
        let words = string(&head, "plan").split(' ').filter_map(|word| word.split_once('=')).map(own).collect();
        let bound = head["bound"].as_object().map(|bound| Bounds {
            control: Bound::Measured {
                mechanism: bound["mechanism"].as_str().unwrap().to_owned(),
                ns: bound["ns"].as_f64().unwrap(),
                // Recorded beside a control that nothing had slowed.
                starts: usize::MAX,
            },
            content: None,
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

    /// What the judge says of this lie by these constants; of none where it is quoted faithfully.
    fn judged(&self, lie: Option<&Value>, constants: &Constants) -> Result<Judgement, String> {
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
        let unmeasured = Bounds { control: unmeasured, content: None };
        let answer = ProbeAnswer {
            transcript: &reader.into_transcript(),
            process,
            log: "",
            seen: Some(&self.seen),
            bound: self.bound.as_ref().unwrap_or(&unmeasured),
        };
        Ok(judge_by(constants, &mechanism.rule(&self.plan.variant), &self.plan, &answer).judgement)
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
        let faithful = recording.judged(None, &Constants::OURS);
        if faithful.as_ref() != Ok(&Judgement::VERIFIED) {
            wrong.push(format!("{name}, quoted faithfully: {faithful:?}"));
        }
    }
    for lie in &told.lies {
        let (expected, says) = (string(lie, "verdict"), lie["says"].as_str().unwrap_or_default());
        let judged = recording.judged(Some(lie), &Constants::OURS);
        let fits = |judged: &Judgement| {
            let reason = judged.reason.as_ref().map(Reason::to_string).unwrap_or_default();
            let right = judged.verdict.to_string() == expected && says.split('|').any(|words| reason.contains(words));
            right || expected == "undetectable" && (judged.verdict == Verdict::Verified || lie["luck"] == true)
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

/// What each rule finds, and what each constant of the rules is for: `protocol/rules.txt`, which
/// this test writes anew where SWITCHCOST_RECORD is set.
#[test]
fn every_rule_and_constant_does_what_the_table_says() {
    let (list, edges) = (List::read(), Edges::read());
    let runs = edges.recorded();
    let told = told(&list);
    let recordings: Vec<(&str, Recording, &Told<'_>)> =
        told.iter().filter_map(|(name, told)| Some((name.as_str(), Recording::read(name)?, told))).collect();
    // Lies that are believed, honest starts that are not, and the lies that each reason finds.
    let judged = |constants: &Constants| {
        let (mut believed, mut accused, mut found) =
            (BTreeSet::new(), edges::accused(&runs, constants), BTreeMap::new());
        for (name, recording, told) in &recordings {
            if let Some(base) = name.strip_prefix("bases/")
                && recording.judged(None, constants).unwrap() != Judgement::VERIFIED
            {
                accused.insert(base.to_owned());
            }
            for lie in &told.lies {
                let (id, judgement) = (string(lie, "id"), recording.judged(Some(lie), constants).unwrap());
                match judgement.reason {
                    Some(reason) => found.entry(code(&reason)).or_insert_with(BTreeSet::new).insert(id),
                    None => believed.insert(id),
                };
            }
        }
        (believed, accused, found)
    };
    let (believed, accused, found) = judged(&Constants::OURS);
    assert!(accused.is_empty(), "{accused:?}");
    let names = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" ");
    let honest: BTreeSet<String> = list.bases.keys().cloned().collect();
    let mut table = format!(
        "What each rule finds: its reason, and the lies of lies.toml\n\nhonest, and spared by all: {}\n",
        names(honest)
    );
    table.extend(found.into_iter().map(|(code, lies)| format!("{code}: {}\n", names(lies))));
    table += "\nWhat changes if a constant is half of what it is, or one and a half times that: lies that are believed then, honest starts that are not\n\n";
    for (name, _, place) in Constants::TABLE {
        for factor in [0.5, 1.5] {
            let mut constants = Constants::OURS;
            *place(&mut constants) *= factor;
            let (more, accused, _) = judged(&constants);
            let more = more.difference(&believed).cloned().collect::<BTreeSet<_>>();
            let said = |what: &str, all: BTreeSet<String>| {
                if all.is_empty() { String::new() } else { format!("; {what} {}", names(all)) }
            };
            let changes = said("believed:", more) + &said("accused:", accused);
            if !changes.is_empty() {
                table += &format!("{name} × {factor}{changes}\n");
            }
        }
    }
    let (lies, wrong) = edges::table(&edges, &runs);
    table += &format!("{}\n\n{lies}", edges::HEAD);
    let file = repository().join("protocol/rules.txt");
    if std::env::var_os("SWITCHCOST_RECORD").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = table.lines().zip(kept.lines()).find(|(now, kept)| now != kept);
    assert!(
        table == kept,
        "protocol/rules.txt differs, first in {differs:?}; `scripts/record-lies rules` writes it anew"
    );
    assert!(wrong.is_empty(), "{} edges or constants are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The reason's code; of what is wrapped around another, both.
fn code(reason: &Reason) -> String {
    match reason {
        Reason::OtherWay { instead } => format!("other_way {}", code(instead)),
        reason => reason.code(),
    }
}
