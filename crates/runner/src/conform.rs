//! Does a probe keep to PROTOCOL.md? It is started by the table of plans, through the code that
//! measures, and its answers are held against the rules.

mod orders;
mod rules;
mod seen;
mod subject;
mod talk;
mod transcript;

pub use transcript::{TranscriptFault, TranscriptKind, check_transcript};

use orders::{Place, Sent};
use rules::Found;
use std::collections::BTreeSet;
use subject::Subject;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_catalogue::{Catalogue, PlanAnswer, PlanCommand, PlanEnd, PlanEntry, PlanNeed, PlanScope, PlanTable};
use switchcost_machine::cpus::Cpus;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::{Described, EndStatus, Experiment, Mechanism, MechanismId, ProbeInfo, ProcessEnd, Timing};
use talk::Answer;

/// A rule that a probe broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Section of PROTOCOL.md.
    pub section: u64,
    /// Words of that section.
    pub words: String,
    /// Mechanism, where one was asked for, and what is special about the plan.
    pub plan: String,
    /// The probe's arguments, as they were sent.
    pub arguments: String,
    /// What it did instead, as one sentence.
    pub what: String,
    /// The line of its report that shows it, if one does: number and text.
    pub line: Option<(usize, String)>,
    /// The end of what it printed.
    pub log: String,
}

/// What came of checking a probe. Its texts are the probe's own in part: make them harmless before
/// they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conformance {
    /// Mechanisms that were carried out.
    pub checked: Vec<MechanismId>,
    /// Rules that at least one start tested.
    pub rules: usize,
    /// Starts of the probe.
    pub starts: usize,
    /// Rules that it broke, start by start.
    pub broken: Vec<Breach>,
    /// What cannot be checked here, and why.
    pub unchecked: Vec<String>,
    /// What breaks no rule and is hardly meant.
    pub remarks: Vec<String>,
    /// What the host saw of each mechanism by itself.
    pub seen: Vec<String>,
    /// The user stopped it.
    pub interrupted: bool,
}

/// A probe to be checked, and against what.
pub struct CheckProbe<'a> {
    /// As its `probe.toml` describes it.
    pub info: &'a ProbeInfo,
    /// Only these of its mechanisms; none: all that it describes.
    pub mechanisms: &'a [MechanismId],
    /// Pages of mechanisms.
    pub catalogue: &'a Catalogue,
    /// CPUs that may be used.
    pub cpus: &'a Cpus,
    /// Set once the user wants to stop.
    pub interrupt: Option<&'a Interrupt>,
    /// Hears before each start how many there were, and what the next one is.
    pub starting: &'a dyn Fn(usize, &str),
}

/// Why a probe cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncheckable {
    /// Its program does not start.
    #[error("the probe {0} cannot be started: {1}")]
    NotStarted(String, String),
    /// A mechanism was named that it does not describe.
    #[error("the probe {probe} does not describe {wrong}{hint}; it describes {known}")]
    NotDescribed {
        /// Its id.
        probe: String,
        /// As typed.
        wrong: MechanismId,
        /// One like it.
        hint: String,
        /// All that it describes.
        known: String,
    },
}

/// Starts the probe by every plan that fits it.
///
/// # Errors
/// It cannot be started, or does not describe what is to be checked.
pub fn check_probe(check: &CheckProbe<'_>) -> Result<Conformance, Uncheckable> {
    let table = PlanTable::of_this_version();
    let mut session = Session {
        check,
        table: &table,
        tested: BTreeSet::new(),
        found: Conformance::default(),
        fields: BTreeSet::new(),
        senseless: 0,
    };
    if let Some(described) = session.introduction()? {
        session.pages(&described);
        let chosen = session.chosen(&described)?;
        session.go_through(&chosen);
    }
    session.found.rules = session.tested.len();
    Ok(session.found)
}

struct Session<'a> {
    check: &'a CheckProbe<'a>,
    table: &'a PlanTable,
    /// Rules that a start has tested.
    tested: BTreeSet<&'a str>,
    /// Unknown fields that are told already.
    fields: BTreeSet<String>,
    /// Starts in a row that broke a rule and came to no end.
    senseless: usize,
    found: Conformance,
}

/// After so many senseless starts in a row further ones would say nothing new, and each may take as
/// long as its deadline.
const MOST_SENSELESS: usize = 5;

impl<'a> Session<'a> {
    /// What the probe has; None where it does not say so.
    fn introduction(&mut self) -> Result<Option<Vec<Described>>, Uncheckable> {
        let is_list = |plan: &&PlanEntry| plan.command == PlanCommand::Describe && plan.end == PlanEnd::Ok;
        let Some(plan) = self.table.plans.iter().find(is_list) else { return Ok(None) };
        let plan = PlanEntry { name: "describe".into(), at: PlanAnswer::Report, ..plan.clone() };
        let sent = Sent::describe(&plan, PlanAnswer::Report);
        let answer = self.start(&sent, &self.free());
        if answer.process == ProcessEnd::NotStarted {
            return Err(Uncheckable::NotStarted(self.check.info.id.clone(), answer.log));
        }
        self.examine(&plan, None, &sent, &answer);
        Ok(answer.described)
    }

    /// Mechanisms without a page are never run, and pages without a mechanism say so in `list`.
    fn pages(&mut self, described: &[Described]) {
        let CheckProbe { info, catalogue, .. } = self.check;
        for id in described.iter().map(|described| &described.id).filter(|id| catalogue.find(id).is_none()) {
            let broken = catalogue.broken.iter().find(|page| page.mechanism.as_ref() == Some(id));
            let none = || "there is none: `run` finds it once there is mechanisms/".to_owned() + id.as_str() + ".toml";
            let why = broken.map_or_else(none, |page| page.reason.clone());
            self.found.remarks.push(format!("{id} is described and has no page that can be used; {why}"));
        }
        let absent = |mechanism: &&Mechanism| {
            mechanism.implemented_by.contains(&info.source)
                && !described.iter().any(|described| described.id == mechanism.id)
        };
        let absent: Vec<&str> =
            catalogue.mechanisms.iter().filter(absent).map(|mechanism| mechanism.id.as_str()).collect();
        if !absent.is_empty() {
            self.found.remarks.push(format!(
                "pages that name {} in implemented_by and that this probe does not describe: {}",
                info.source,
                absent.join(", ")
            ));
        }
    }

    fn chosen<'d>(&mut self, described: &'d [Described]) -> Result<Vec<Subject<'d>>, Uncheckable>
    where
        'a: 'd,
    {
        let ids: Vec<&str> = described.iter().map(|described| described.id.as_str()).collect();
        if let Some(wrong) = self.check.mechanisms.iter().find(|id| !ids.contains(&id.as_str())) {
            return Err(Uncheckable::NotDescribed {
                probe: self.check.info.id.clone(),
                wrong: wrong.clone(),
                hint: did_you_mean(wrong.as_str(), ids.iter().copied()),
                known: ids.join(", "),
            });
        }
        let named = |one: &&Described| self.check.mechanisms.is_empty() || self.check.mechanisms.contains(&one.id);
        let mut subjects = Vec::new();
        for described in described.iter().filter(named) {
            if let Some(unavailable) = &described.unavailable {
                self.found.unchecked.push(format!("{}: {}", described.id, unavailable.reason));
                continue;
            }
            let mechanism = self.check.catalogue.find(&described.id);
            let on_page = |name: &&String| mechanism.is_some_and(|page| page.parameters.contains_key(*name));
            if let Some(name) = described.parameters.iter().find(|name| !on_page(name)) {
                self.found.unchecked.push(format!("{}: no page says what its parameter {name} may be", described.id));
                continue;
            }
            subjects.push(Subject { described, mechanism, cpus: vec![self.check.cpus.measured()] });
        }
        Ok(subjects)
    }

    /// First whether each mechanism runs here at all, then everything else.
    fn go_through(&mut self, subjects: &[Subject<'_>]) {
        let plain = self.table.plans.iter().find(|plan| plan.is_plain());
        let mut able = Vec::new();
        for subject in subjects {
            if let Some(plain) = plain
                && let Some(cpus) = self.trial(plain, subject)
            {
                self.found.checked.push(subject.described.id.clone());
                able.push(Subject { cpus, ..*subject });
            }
        }
        // Where none runs here, a probe still has to refuse what makes no sense.
        let first = able.first().or(subjects.first());
        for plan in self.table.plans.iter().filter(|plan| !plan.is_plain()) {
            if plan.command == PlanCommand::Describe {
                self.carry_out(plan, None, &Place::default());
                continue;
            }
            let subjects =
                if plan.per == PlanScope::Probe { first.map(std::slice::from_ref).unwrap_or_default() } else { &able };
            for subject in subjects {
                self.for_subject(plan, subject);
            }
        }
    }

    /// The plan without anything special, on two CPUs if one does not do: the CPUs. None: it does
    /// not run here.
    fn trial(&mut self, plain: &'a PlanEntry, subject: &Subject<'_>) -> Option<Vec<u32>> {
        let mut cpus = subject.cpus.clone();
        loop {
            let subject = Subject { cpus: cpus.clone(), ..*subject };
            let place = Place::of(&subject, subject.described.experiments.first().copied()?);
            let answer = self.carry_out(plain, Some(&subject), &place)?;
            let end = answer.transcript.end.as_ref();
            let unsupported = end.filter(|end| end.status == EndStatus::Unsupported);
            let Some(end) = unsupported else { return Some(cpus) };
            match self.check.cpus.pair() {
                Ok(pair) if cpus.len() == 1 && end.code.as_deref() == Some("too_few_cpus") => cpus = pair.to_vec(),
                _ => {
                    let why = end.detail.clone().unwrap_or_default();
                    self.found.unchecked.push(format!("{}: {why}", subject.described.id));
                    return None;
                }
            }
        }
    }

    fn for_subject(&mut self, plan: &'a PlanEntry, subject: &Subject<'_>) {
        let described = subject.described;
        let Some(&usual) = described.experiments.first() else { return };
        match plan.per {
            PlanScope::Probe | PlanScope::Mechanism => self.if_needed(plan, subject, &Place::of(subject, usual)),
            PlanScope::Experiment => {
                for &experiment in &described.experiments {
                    self.if_needed(plan, subject, &Place::of(subject, experiment));
                }
            }
            PlanScope::Parameter => {
                for parameter in &described.parameters {
                    let place = Place { parameter: parameter.clone(), ..Place::of(subject, usual) };
                    self.if_needed(plan, subject, &place);
                }
            }
        }
    }

    fn if_needed(&mut self, plan: &'a PlanEntry, subject: &Subject<'_>, place: &Place) {
        let experiment = place.experiment.unwrap_or_else(Experiment::usual);
        let each = subject.described.timings.contains(&Timing::Each);
        let two = || {
            let sensible = subject
                .mechanism
                .is_some_and(|mechanism| mechanism.placements.iter().any(|placement| placement.on_several_cpus()));
            sensible && subject.cpus.len() == 1 && self.check.cpus.pair().is_ok()
        };
        let met = |need: &PlanNeed| match need {
            PlanNeed::Switch => experiment == Experiment::usual(),
            PlanNeed::Ring => subject.is_ring(experiment),
            PlanNeed::Each => each && experiment.each,
            PlanNeed::NoEach => !each,
            PlanNeed::TwoCpus => two(),
        };
        if !self.found.interrupted && plan.needs.iter().all(met) {
            self.carry_out(plan, Some(subject), place);
        }
    }

    /// One start, held against the rules. None: the user wants to stop.
    fn carry_out(&mut self, plan: &'a PlanEntry, subject: Option<&Subject<'_>>, place: &Place) -> Option<Answer> {
        if self.found.interrupted || self.senseless >= MOST_SENSELESS {
            return None;
        }
        let sent = match subject {
            Some(subject) => Sent::run(self.table, plan, subject, place, self.check.cpus),
            None => Sent::describe(plan, plan.at),
        };
        // Who has to refuse needs no CPU of its own.
        let cpus = match (&sent.expected, plan.end) {
            (Some(expected), PlanEnd::Ok) if !expected.cpus.is_empty() => expected.cpus.clone(),
            _ => self.free(),
        };
        let of = subject.map(|subject| format!("{}, ", subject.described.id)).unwrap_or_default();
        (self.check.starting)(self.found.starts, &format!("{of}{}", plan.name));
        let answer = self.start(&sent, &cpus);
        if answer.interrupted {
            self.found.interrupted = true;
            return None;
        }
        let before = self.found.broken.len();
        self.examine(plan, subject, &sent, &answer);
        let senseless = answer.transcript.end.is_none() && self.found.broken.len() > before;
        self.senseless = if senseless { self.senseless + 1 } else { 0 };
        if self.senseless == MOST_SENSELESS {
            let why = format!("all that was not started yet: {MOST_SENSELESS} starts in a row came to no end");
            self.found.unchecked.push(why);
        }
        Some(answer)
    }

    fn start(&mut self, sent: &Sent, cpus: &[u32]) -> Answer {
        self.found.starts += 1;
        talk::start(self.check.info, sent, cpus, self.check.interrupt)
    }

    fn free(&self) -> Vec<u32> {
        self.check.cpus.allowed().to_vec()
    }

    /// Notes down what an answer breaks, and what else is to be said of it.
    fn examine(&mut self, plan: &PlanEntry, subject: Option<&Subject<'_>>, sent: &Sent, answer: &Answer) {
        let table = self.table;
        let known = |name: &str| table.rules.get_key_value(name).map(|(name, _)| name.as_str());
        let ended_well = answer.transcript.end.as_ref().is_some_and(|end| end.status == EndStatus::Ok);
        self.tested.extend(known(&plan.rule));
        if plan.end == PlanEnd::Ok && ended_well {
            self.tested.extend(table.rules.iter().filter(|(_, rule)| rule.property).map(|(name, _)| name.as_str()));
        }
        let of = subject.map(|subject| format!("{}, ", subject.described.id)).unwrap_or_default();
        for Found { rule, what, line } in rules::broken(plan, subject, sent, answer) {
            self.tested.extend(known(&rule));
            let text = table.rule(&rule);
            self.found.broken.push(Breach {
                section: text.section,
                words: text.words.clone(),
                plan: format!("{of}{}", plan.name),
                arguments: sent.words.join(" "),
                what,
                line: line.and_then(|number| Some((number, answer.lines.get(number.checked_sub(1)?)?.clone()))),
                log: answer.log.clone(),
            });
        }
        self.remark(plan, &of, answer);
        if plan.is_plain() && ended_well {
            self.found.seen.push(format!("{of}{}", seen::words(answer)));
        }
    }

    fn remark(&mut self, plan: &PlanEntry, of: &str, answer: &Answer) {
        for (field, known) in answer.lines.iter().flat_map(|line| switchcost_protocol::unknown_fields(line)) {
            let name = field.rsplit('.').next().unwrap_or_default();
            let hint = did_you_mean(name, known.iter().copied());
            if self.fields.insert(field.clone()) {
                self.found.remarks.push(format!("nobody reads the field {field}{hint}"));
            }
        }
        let end = answer.transcript.end.as_ref();
        if let Some(end) =
            end.filter(|end| end.status == EndStatus::Unsupported && plan.end == PlanEnd::Ok && !plan.is_plain())
        {
            self.found.unchecked.push(format!("{of}{}: {}", plan.name, end.detail.clone().unwrap_or_default()));
        }
    }
}
