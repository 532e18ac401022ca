//! From an entry of the table to the words that are sent, and to what they mean.

use super::subject::Subject;
use std::collections::BTreeMap;
use switchcost_catalogue::{PlanAnswer, PlanEntry, PlanTable};
use switchcost_machine::cpus::Cpus;
use switchcost_machine::spawn::REPORT_FD;
use switchcost_model::{Experiment, Parameters, Placement, Plan, Timing, Variant};

/// Another descriptor than the host's usual one.
const OTHER_FD: i32 = 7;

/// Time that a probe has beyond its start.
const PATIENCE_MS: u64 = 60_000;

/// What fills the gaps of a plan.
#[derive(Default)]
pub(super) struct Place {
    pub experiment: Option<Experiment>,
    pub parameter: String,
    /// All of them with their defaults.
    pub parameters: Parameters,
}

impl Place {
    pub(super) fn of(subject: &Subject<'_>, experiment: Experiment) -> Self {
        let known = subject.mechanism.map(|mechanism| &mechanism.parameters);
        let default = |name: &String| Some((name.clone(), known?.get(name)?.default.clone()));
        let parameters = subject.described.parameters.iter().filter_map(default).collect();
        Self { experiment: Some(experiment), parameter: String::new(), parameters }
    }
}

/// The words of one start.
pub(super) struct Sent {
    /// As they stand.
    pub words: Vec<String>,
    /// Where the answer must come.
    pub at: PlanAnswer,
    /// What is asked for; None: nothing that could be carried out.
    pub expected: Option<Plan>,
}

impl Sent {
    /// The descriptor that the probe is told, and has.
    pub(super) fn report_fd(&self) -> i32 {
        if self.at == PlanAnswer::Other && REPORT_FD != 1 { OTHER_FD } else { REPORT_FD }
    }

    pub(super) fn describe(plan: &PlanEntry, at: PlanAnswer) -> Self {
        let mut sent = Self { words: vec!["describe".into()], at, expected: None };
        let fd = sent.report_fd();
        if at != PlanAnswer::Stdout {
            sent.words.push(format!("report_fd={fd}"));
        }
        sent.words.extend(plan.add.iter().map(|word| word.replace("{report_fd}", &fd.to_string())));
        sent
    }

    pub(super) fn run(table: &PlanTable, plan: &PlanEntry, subject: &Subject<'_>, place: &Place, cpus: &Cpus) -> Self {
        let mut sent = Self { words: vec!["run".into()], at: plan.at, expected: None };
        if plan.at != PlanAnswer::Stdout {
            sent.words.push(format!("report_fd={}", sent.report_fd()));
        }
        let pair = cpus.pair().map_or(String::new(), |pair| cpu_words(&pair));
        let apart = place.experiment.is_some_and(|experiment| experiment.apart);
        let own = if apart { pair.clone() } else { cpu_words(&subject.cpus) };
        let fill = |text: &str| {
            text.replace("{mechanism}", subject.described.id.as_str())
                .replace("{experiment}", place.experiment.map_or("", Experiment::as_str))
                .replace("{cpus}", &pair)
                .replace("{cpu}", &own)
                .replace("{contexts}", if subject.is_control() { "1" } else { "2" })
                .replace("{parameter}", &place.parameter)
        };
        let mut keys = table.base.clone();
        keys.extend(place.parameters.clone());
        keys.extend(plan.set.iter().map(|(key, value)| (fill(key), value.clone())));
        keys.retain(|key, _| !plan.without.iter().any(|left_out| left_out == "*" || fill(left_out) == *key));
        sent.words.extend(keys.iter().map(|(key, value)| format!("{key}={}", fill(value))));
        sent.words.extend(plan.add.iter().map(|word| fill(word)));
        sent.expected = expected(&sent.words, subject);
        sent
    }
}

/// As the key `cpus` has them, which knows no ranges.
fn cpu_words(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// What the words ask for; None where they cannot be carried out.
fn expected(words: &[String], subject: &Subject<'_>) -> Option<Plan> {
    let keys: BTreeMap<&str, &str> = words.iter().filter_map(|word| word.split_once('=')).collect();
    let number = |key: &str| keys.get(key)?.parse::<u64>().ok();
    let cpus = match *keys.get("cpus")? {
        "" => Vec::new(),
        list => list.split(',').map(|cpu| cpu.parse().ok()).collect::<Option<_>>()?,
    };
    let asked = |name: &String| Some((name.clone(), (*keys.get(name.as_str())?).to_owned()));
    let parameters: Parameters = subject.described.parameters.iter().filter_map(asked).collect();
    Some(Plan {
        variant: Variant {
            mechanism: keys.get("mechanism")?.parse().ok()?,
            probe: String::new(),
            experiment: keys.get("experiment")?.parse().ok()?,
            contexts: number("contexts")?,
            placement: Placement::of_cpus(cpus.len()),
            timing: keys.get("timing")?.parse::<Timing>().ok()?,
            parameters,
            label: String::new(),
        },
        cpus,
        batch_units: number("batch_units")?,
        batch_ns: number("batch_ns")?,
        batches: number("batches")?,
        warmup_batches: number("warmup_batches")?,
        verify_units: number("verify_units")?,
        seed: number("seed")?,
        deadline_ms: PATIENCE_MS,
    })
}

/// Until when an answer must have come.
pub(super) fn deadline_ms(start_timeout_ms: u64) -> u64 {
    start_timeout_ms.min(PATIENCE_MS) + PATIENCE_MS
}
