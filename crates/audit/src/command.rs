//! `audit`: what the switches of a running program cost it.

use crate::arguments::Audit;
use crate::cost::{self, Estimate, Price, PricePoint, point_of, price_of};
use crate::data::{AuditData, load_audit};
use crate::json::audit_json;
use crate::rule::{PriceRule, SwitchKind};
use crate::text::{Audited, audit_text};
use crate::wakeups::{self, watching};
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_analysis::number::roughly;
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::Catalogue;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::program::{Observed, ProgramError, Watched, Woken};
use switchcost_machine::spawn::ExitStatus;
use switchcost_model::{Run, Variant, Wanted};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{
    Action, Exit, Failure, Installation, Prepared, Progress, Stored, expected, output, paths, place, request,
};

/// How long to watch a process when nothing is said.
const USUAL_TIME: Duration = Duration::from_secs(10);

/// A stored measurement older than this is not "what it costs now".
const RECENT: Duration = Duration::from_secs(7 * 86_400);

/// Share of a core that looks between the first and the last may take; those two come on top.
const OWN_SHARE: f64 = 0.002;

/// Looks come no closer than this.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(20);

/// Time between two pictures of --watch.
const PICTURE: Duration = Duration::from_secs(1);

/// Starts behind a price.
const ROUNDS: u64 = 10;

/// Time that measuring the prices may take.
const MEASURING: Duration = Duration::from_secs(30);

/// What every step needs.
struct Auditing<'a> {
    arguments: &'a Audit,
    catalogue: Catalogue,
    data: AuditData,
    indirect: Option<(f64, f64)>,
    notes: Vec<String>,
    prices: Vec<Price>,
}

impl Action for Audit {
    /// Audits.
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        switchcost_machine::program::available().map_err(unwatchable)?;
        if let Some(pid) = self.pid.filter(|_| self.wakeups) {
            return self.carry_out_wakeups(pid);
        }
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let data = load_audit(&installation.data("audit.toml"), &catalogue).map_err(Failure::usage)?;
        let store = paths::store(self.store.path())?;
        let mut session =
            Auditing { arguments: self, catalogue, data, indirect: None, notes: Vec::new(), prices: Vec::new() };
        let begin = || match (self.pid, self.service()) {
            (Some(pid), _) => Watched::begin(pid, self.children),
            (None, Some(service)) => Watched::service(&service),
            (None, None) => Watched::start(&self.command, self.children),
        };
        // The program is looked for before anything is measured: a wrong number or name must not
        // take half a minute to say.
        match self.command.is_empty() {
            true => drop(begin().map_err(unwatchable)?),
            false => switchcost_machine::program::startable(&self.command).map_err(unwatchable)?,
        }
        let missing = session.recall(&store)?;
        session.measure(&missing, &installation, &store)?;
        let stop = Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
        let mut watched = begin().map_err(unwatchable)?;
        let woken = session.watch(&mut watched, &stop)?;
        let status = watched.conclude(woken != Woken::Ended);
        session.show(watched.observed(), status, false)?;
        let failed = status.is_some_and(|status| status != ExitStatus::Exited(0));
        let early_end = self.command.is_empty() && woken == Woken::Ended;
        let stopped = woken == Woken::Interrupted && !self.watch;
        Ok(if failed || early_end || stopped { Exit::Partial } else { Exit::Fine })
    }
}

impl Audit {
    /// How long the threads of a process wait.
    fn carry_out_wakeups(&self, pid: u32) -> Result<Exit, Failure> {
        let stop = Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
        let (wakeups, early) = wakeups::watch(pid, self.time.unwrap_or(USUAL_TIME), &stop)?;
        let style = if self.output.is_some() { switchcost_report::Style::PIPED } else { output::style() };
        let text = match self.format {
            ListFormat::Table => wakeups.text(style),
            ListFormat::Json => wakeups.json(),
        };
        match &self.output {
            Some(file) => output::write_file(file, text.as_bytes())?,
            None => output::print(&text)?,
        }
        Ok(if early { Exit::Partial } else { Exit::Fine })
    }
}

fn unwatchable(error: ProgramError) -> Failure {
    Failure::usage(error)
}

impl Auditing<'_> {
    /// Takes what the store has; the rest is the answer.
    fn recall(&mut self, store: &Path) -> Result<Vec<PriceRule>, Failure> {
        let rows: Vec<&Wanted> = self.data.rules.iter().flat_map(PriceRule::rows).collect();
        let mut stored = Stored::open(store, &self.arguments.how, |variant: &Variant| {
            let mechanism = self.catalogue.find(&variant.mechanism);
            variant.parameters.contains_key(&self.data.indirect_parameter)
                || mechanism.is_some_and(|mechanism| rows.iter().any(|row| row.fits(variant, mechanism)))
        })?;
        let mut prices = Vec::new();
        let mut missing = Vec::new();
        for rule in &self.data.rules {
            match stored.find(Some(RECENT), |run| self.complete_price(run, rule))? {
                Some(price) => prices.push(price),
                None => missing.push(rule.clone()),
            }
        }
        self.indirect = stored
            .find(None, |run| cost::indirect(&Analysis::new(run, &self.catalogue), &self.data.indirect_parameter))?;
        self.prices = prices;
        Ok(missing)
    }

    /// Only of a run that has every row: a price is not put together from what was measured at
    /// different times.
    fn complete_price(&self, run: &Run, rule: &PriceRule) -> Option<Price> {
        let all = rule.rows().all(|row| place(run, row, &self.catalogue).is_some());
        if all { price(run, rule, &self.catalogue) } else { None }
    }

    /// Measures what the store did not have, in one run.
    fn measure(&mut self, missing: &[PriceRule], installation: &Installation, store: &Path) -> Result<(), Failure> {
        if !missing.is_empty() {
            let mut wanted: Vec<Wanted> = missing.iter().map(|rule| rule.wanted.clone()).collect();
            for row in missing.iter().flat_map(PriceRule::rows) {
                if !wanted.contains(row) {
                    wanted.push(row.clone());
                }
            }
            let time = expected(&wanted, ROUNDS, &[]).min(MEASURING);
            output::say(&format!("measuring first what a switch costs here, about {}", roughly(time)));
            let how = &self.arguments.how;
            let request = request(MEASURING, Some(ROUNDS), how);
            let prepared = Prepared::new(&wanted, &request, installation, &self.catalogue, store, how)?;
            let (run, places) = prepared.measure(&request, &self.catalogue)?;
            for (rule, place) in missing.iter().zip(places) {
                match price(&run, rule, &self.catalogue) {
                    Some(price) => self.prices.push(price),
                    None => {
                        let analysis = Analysis::new(&run, &self.catalogue);
                        let row = place.and_then(|place| analysis.rows.get(place));
                        let why = row.map_or_else(|| "nothing is called so".to_owned(), reason);
                        self.notes.push(format!("{} could not be measured: {why}", rule.wanted));
                    }
                }
            }
        }
        self.complete()
    }

    /// Prices in the order of the data file; a kind that this machine cannot measure borrows that
    /// of a switch on one CPU.
    fn complete(&mut self) -> Result<(), Failure> {
        let rank = |price: &Price| self.data.rules.iter().position(|rule| *rule == price.rule);
        self.prices.sort_by_key(rank);
        let general = |kind| self.prices.iter().find(|price| price.rule.kind == kind && price.rule.channels.is_empty());
        let Some(base) = general(SwitchKind::SameCpu).cloned() else {
            return Err(Failure::nothing(format!(
                "there is no measurement to price a switch by, neither stored nor to be had now ({}); run `{}`",
                if self.notes.is_empty() { "nothing was measured".to_owned() } else { self.notes.join("; ") },
                self.data
                    .rules
                    .iter()
                    .rev()
                    .find(|rule| rule.kind == SwitchKind::SameCpu)
                    .map_or_else(String::new, |rule| rule.wanted.command())
            )));
        };
        // Sleep on timers has no general price, and needs none: without it, it is a wake-up like
        // others.
        let lacking = |kind: &SwitchKind| *kind != SwitchKind::Timer && general(*kind).is_none();
        for kind in SwitchKind::ALL.into_iter().filter(lacking).collect::<Vec<_>>() {
            self.notes.push(format!("switches of kind {} are priced like switches on one CPU", kind.as_str()));
            let rule = PriceRule { kind, ..base.rule.clone() };
            self.prices.push(Price { rule, ..base.clone() });
        }
        Ok(())
    }

    /// Looks from time to time until the time is up, the program has ended or the user has seen
    /// enough.
    fn watch(&self, watched: &mut Watched, stop: &Interrupt) -> Result<Woken, Failure> {
        let endless = self.arguments.watch || !self.arguments.command.is_empty();
        let time = self.arguments.time.or((!endless).then_some(USUAL_TIME));
        let end = time.map(|time| Instant::now() + time);
        let mut before = watched.observed();
        let (mut progress, began) = (Progress::lines(), Instant::now());
        // A command has the terminal for itself.
        let heard = self.arguments.command.is_empty() || !std::io::stderr().is_terminal();
        loop {
            let shortest = if self.arguments.watch { PICTURE } else { SHORTEST_INTERVAL };
            let interval = watched.cost_of_sample().div_f64(OWN_SHARE).max(shortest);
            let now = Instant::now();
            // No look shortly before the last one.
            let until = end.filter(|end| now + interval.mul_f64(1.5) >= *end).unwrap_or(now + interval);
            let woken = watched.wait(until, Some(stop));
            let alive = watched.sample();
            match woken {
                Woken::Interrupted | Woken::Ended => return Ok(woken),
                Woken::Time if !alive => return Ok(Woken::Ended),
                Woken::Time if end.is_some_and(|end| Instant::now() >= end) => return Ok(Woken::Time),
                Woken::Time if self.arguments.watch => {
                    let now = watched.observed();
                    self.show(now.since(&before), None, true)?;
                    before = now;
                }
                Woken::Time if heard => progress.say(|| watching(began, time)),
                Woken::Time => {}
            }
        }
    }

    /// A picture of --watch covers the time since the one before; the last answer covers all.
    fn show(&self, observed: Observed, status: Option<ExitStatus>, going_on: bool) -> Result<(), Failure> {
        let command = self.arguments.command.join(" ");
        let mut notes = self.notes.clone();
        let service = self.arguments.service();
        if observed.ended && self.arguments.command.is_empty() {
            let what = if service.is_some() { "its last process" } else { "the process" };
            notes.push(format!("{what} ended before the time was up; this is what was seen until then"));
        }
        let audited = Audited {
            audit: cost::audit(&observed, &self.prices),
            observed,
            prices: self.prices.clone(),
            indirect: self.indirect,
            indirect_command: format!(
                "switchcost sweep {} {}",
                self.data.indirect_parameter.replace('_', "-"),
                self.data.indirect_mechanism
            ),
            notes,
            command_status: status.map(|status| format!("`{command}` {}", ended(status))),
            command_exit: status.and_then(|status| match status {
                ExitStatus::Exited(code) => Some(code),
                ExitStatus::Signalled(signal) => Some(128 + signal),
                ExitStatus::Unknown => None,
            }),
            service: service.map(|service| service.to_string()),
            all_threads: self.arguments.threads,
            now_unix_ns: switchcost_session::now_unix_ns(),
        };
        let text = match self.arguments.format {
            ListFormat::Table => {
                let style = if self.to_stdout() { output::style() } else { switchcost_report::Style::PIPED };
                audit_text(&audited, self.arguments.verbose, style)
            }
            ListFormat::Json => audit_json(&audited),
        };
        self.write(&text, going_on)
    }

    fn to_stdout(&self) -> bool {
        self.arguments.output.is_none() && self.arguments.command.is_empty()
    }

    fn write(&self, text: &str, going_on: bool) -> Result<(), Failure> {
        if let Some(path) = &self.arguments.output {
            // What took so long to watch is not lost with the place for it.
            return output::write_file(path, text.as_bytes()).inspect_err(|_| output::say(text.trim_end_matches('\n')));
        }
        if !self.to_stdout() {
            output::say(text.trim_end_matches('\n'));
            return Ok(());
        }
        // On a terminal each picture takes the place of the one before.
        let clear = self.arguments.watch
            && self.arguments.format == ListFormat::Table
            && output::understood(std::io::stdout().is_terminal());
        let between = if going_on && self.arguments.format == ListFormat::Table { "\n" } else { "" };
        if !clear {
            return output::print(&format!("{text}{between}"));
        }
        let picture = if going_on { output::fitting(text) } else { text.to_owned() };
        output::print(&format!("\x1b[2J\x1b[H{picture}"))
    }
}

fn price(run: &Run, rule: &PriceRule, catalogue: &Catalogue) -> Option<Price> {
    let at = |wanted: &Wanted| place(run, wanted, catalogue);
    let (cpu, wall) = price_of(run, at(&rule.wanted)?)?;
    let others = rule.also.iter().filter_map(|other| Some(price_of(run, at(other)?)?.0));
    let cpu = others.fold(cpu, Estimate::reaching);
    let mut points: Vec<PricePoint> =
        rule.between.iter().filter_map(|working| point_of(run, at(&working.with)?, at(&working.alone)?)).collect();
    let further = rule.apart.iter().filter_map(|other| price_of(run, at(other)?));
    points.extend(further.map(|(cpu, each_ns)| PricePoint { each_ns, cpu }));
    points.sort_by(|a, b| a.each_ns.total_cmp(&b.each_ns));
    let delay_ns = rule.unit_is_delay.then_some(wall);
    let each_ns = if rule.apart.is_empty() { cpu.value } else { wall };
    let disturbed = at(&rule.wanted).is_some_and(|index| cost::is_disturbed(run, index));
    let (run, measured_unix_ns) = (run.id.clone(), run.started_unix_ns);
    Some(Price { rule: rule.clone(), cpu, each_ns, points, delay_ns, disturbed, run, measured_unix_ns })
}

/// Why a row has no price.
fn reason(row: &Row<'_>) -> String {
    let unpriced = || "its probe counts no CPU time, and its contexts did not share one CPU".to_owned();
    row.reason.as_ref().map_or_else(unpriced, ToString::to_string)
}

fn ended(status: ExitStatus) -> String {
    match status {
        ExitStatus::Exited(code) => format!("ended with status {code}"),
        ExitStatus::Signalled(signal) => format!("was ended by signal {signal}"),
        ExitStatus::Unknown => "ended, and nobody could learn how".to_owned(),
    }
}
