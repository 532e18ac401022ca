//! What mechanisms would cost a program, as one sentence and what it rests on, and as JSON.

use crate::text::{Style, cell, drawn, right, wrapped};
use core::time::Duration;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::number::{grouped, percent, roughly};
use switchcost_analysis::{Answer, Demand, Fit, Offer, Quantity};

/// Rows of the table; the rest is listed below it.
const SHOWN: usize = 10;

/// Names in a note; the rest is a number.
const NAMED: usize = 4;

/// A mechanism's offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Bid {
    /// Its row's name.
    pub label: String,
    /// What it would cost.
    pub offer: Offer,
    /// Whose contexts are the same, and whose memory is taken; None: its own.
    pub memory_of: Option<String>,
    /// Runs that it comes from.
    pub runs: Vec<String>,
}

/// What `--measure` would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Missing {
    /// Rows that were not measured as asked, as they are named.
    pub rows: Vec<String>,
    /// How long measuring them takes, about.
    pub time: Duration,
}

/// All that one `budget` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgeted {
    /// What is asked.
    pub demand: Demand,
    /// Every mechanism with a stored figure: those measured as asked by what they cost, after them the guesses.
    pub bids: Vec<Bid>,
    /// What was not measured as asked.
    pub missing: Missing,
    /// Rows that could not be measured as asked, and why.
    pub failed: Vec<(String, String)>,
}

fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::Yes => "fits",
        Fit::No => "does not fit",
        Fit::Unknown => "cannot tell",
        Fit::Guess => "guess",
    }
}

fn in_table(fit: Fit) -> bool {
    matches!(fit, Fit::Yes | Fit::Unknown)
}

/// `5.9 % (5.7 % – 6.1 %)`.
fn share(answer: &Answer) -> String {
    let interval = answer.interval.map_or(String::new(), |i| format!(" ({} – {})", percent(i.low), percent(i.high)));
    format!("{}{interval}", percent(answer.value))
}

fn memory(bid: &Bid) -> String {
    let answer = bid.offer.memory.as_ref();
    answer.map_or("–".into(), |answer| {
        Quantity::MEMORY.amount(answer.value) + if bid.memory_of.is_some() { " †" } else { "" }
    })
}

fn rate(rate: f64) -> String {
    if rate >= 1.0 { grouped(rate.round() as i64) } else { rate.to_string() }
}

/// What rows must have been measured with.
fn asked(demand: &Demand) -> String {
    let touched = demand.working_set.map(|bytes| format!(" that touch {}", Quantity::MEMORY.tick(bytes as f64)));
    format!("{} contexts{}", grouped(demand.contexts as i64), touched.unwrap_or_default())
}

impl Budgeted {
    fn of(&self, fits: impl Fn(Fit) -> bool) -> Vec<&Bid> {
        self.bids.iter().filter(|bid| fits(bid.offer.fit(&self.demand))).collect()
    }

    /// The answer.
    fn sentence(&self) -> String {
        let demand = &self.demand;
        let measured = self.of(|fit| fit != Fit::Guess);
        let (rate, asked, limit) = (rate(demand.rate), asked(demand), percent(demand.cpu));
        let Some(first) = measured.first() else {
            return format!("No mechanism was measured with {asked}; what follows are guesses.");
        };
        let cost = first.offer.cpu.as_ref().map_or_else(String::new, share);
        if self.of(|fit| fit == Fit::Yes).is_empty() {
            return format!(
                "Of {} measured with {asked} none is known to stay within {limit} of a CPU at {rate} switches/s; {} comes nearest with {cost}.",
                mechanisms(measured.len()),
                first.label
            );
        }
        let memory =
            first.offer.memory.as_ref().map_or_else(String::new, |memory| {
                format!(", and {} of memory", Quantity::MEMORY.amount(memory.value))
            });
        format!(
            "{} costs least of {} measured with {asked}: {rate} switches/s take {cost} of a CPU{memory}.",
            first.label,
            mechanisms(measured.len())
        )
    }

    /// What a reader must know of the figures.
    fn notes(&self) -> Vec<String> {
        let demand = &self.demand;
        let mut notes = Vec::new();
        let mut borrowed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for bid in self.of(in_table).into_iter().take(SHOWN) {
            if let Some(of) = &bid.memory_of {
                borrowed.entry(of).or_default().push(&bid.label);
            }
        }
        for (of, labels) in borrowed {
            notes.push(format!("† memory of {} is that of {of}, which has the same contexts", some(&labels)));
        }
        if demand.latency_ns.is_some() {
            notes.push(
                "--latency-p99 decides nothing: the p99 shown is of uncontended consecutive switches, closed loop. Whoever arrives while another waits \
                 sees more, and there is no open-loop measurement yet"
                    .into(),
            );
        }
        if !self.failed.is_empty() {
            let labels: Vec<&str> = self.failed.iter().map(|(label, _)| label.as_str()).collect();
            notes.push(format!("could not be measured here (--format json says why): {}", some(&labels)));
        }
        if !self.missing.rows.is_empty() {
            let count = self.missing.rows.len();
            let rows = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
            notes.push(format!("{rows} not measured as asked: add --measure (about {})", roughly(self.missing.time)));
        }
        notes
    }
}

fn mechanisms(count: usize) -> String {
    if count == 1 { "1 mechanism".into() } else { format!("{count} mechanisms") }
}

/// The first of them, and how many more.
fn some(labels: &[&str]) -> String {
    let named = labels[..labels.len().min(NAMED)].join(", ");
    if labels.len() > NAMED { format!("{named} and {} more", labels.len() - NAMED) } else { named }
}

fn table(budgeted: &Budgeted, bids: &[&Bid], style: Style) -> String {
    let latency = budgeted.demand.latency_ns.is_some();
    let mut table = style.table();
    let mut head = vec![cell(format!("measured with {}", asked(&budgeted.demand))), right("of a CPU"), right("memory")];
    if latency {
        head.push(right("p99, closed loop"));
    }
    head.push(cell(""));
    table.set_header(head);
    for bid in bids.iter().take(SHOWN) {
        let mut row =
            vec![cell(&bid.label), right(bid.offer.cpu.as_ref().map_or("–".into(), share)), right(memory(bid))];
        if latency {
            let measured = bid.offer.p99.filter(|p99| p99.measured);
            row.push(right(measured.map_or("–".into(), |p99| Quantity::TIME.amount(p99.value))));
        }
        row.push(cell(fit_word(bid.offer.fit(&budgeted.demand))));
        table.add_row(row);
    }
    drawn(&mut table)
}

fn listed(bids: &[&Bid]) -> String {
    let each =
        |bid: &&Bid| format!("{} {}", bid.label, bid.offer.cpu.as_ref().map_or("–".into(), |cpu| percent(cpu.value)));
    bids.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// For a terminal.
#[must_use]
pub fn budget_text(budgeted: &Budgeted, style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold(&budgeted.sentence()));
    let near = budgeted.of(in_table);
    let far = budgeted.of(|fit| fit == Fit::No);
    if !near.is_empty() {
        out.push_str(&table(budgeted, &near, style));
    }
    let mut list = |lead: &str, bids: &[&Bid]| {
        if !bids.is_empty() {
            out.push_str(&wrapped(lead, &listed(bids), style));
        }
    };
    list("also measured: ", near.get(SHOWN..).unwrap_or_default());
    list(&format!("beyond {}: ", percent(budgeted.demand.cpu)), &far);
    let mut guesses: BTreeMap<(u64, u64), Vec<&Bid>> = BTreeMap::new();
    for bid in budgeted.of(|fit| fit == Fit::Guess) {
        if let Some(cpu) = &bid.offer.cpu {
            guesses.entry((cpu.contexts, cpu.working_set)).or_default().push(bid);
        }
    }
    for ((contexts, touched), bids) in guesses {
        let from =
            asked(&Demand { contexts, working_set: Some(touched).filter(|bytes| *bytes > 0), ..budgeted.demand });
        list(&format!("guess from {from}, not ranked: "), &bids);
    }
    budgeted.notes().iter().for_each(|note| out.push_str(&wrapped("note: ", note, style)));
    style.sealed(&out)
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    rate: f64,
    contexts: u64,
    working_set: Option<u64>,
    latency_p99_ns: Option<f64>,
    cpu_limit: f64,
    sentence: String,
    mechanisms: Vec<BidJson<'a>>,
    missing: &'a [String],
    measuring_s: u64,
    failed: Vec<FailedJson<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct FailedJson<'a> {
    row: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct BidJson<'a> {
    label: &'a str,
    fit: &'static str,
    share_of_a_cpu: Option<AnswerJson>,
    memory_bytes: Option<AnswerJson>,
    memory_of: &'a Option<String>,
    closed_loop_p99_ns: Option<AnswerJson>,
    runs: &'a [String],
}

#[derive(Serialize)]
struct AnswerJson {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    contexts: u64,
    working_set: u64,
    measured_as_asked: bool,
}

fn answer_json(answer: Option<&Answer>) -> Option<AnswerJson> {
    answer.map(|a| AnswerJson {
        value: a.value,
        low: a.interval.map(|interval| interval.low),
        high: a.interval.map(|interval| interval.high),
        contexts: a.contexts,
        working_set: a.working_set,
        measured_as_asked: a.measured,
    })
}

/// For scripts.
#[must_use]
pub fn budget_json(budgeted: &Budgeted) -> String {
    let demand = &budgeted.demand;
    let mechanisms = budgeted
        .bids
        .iter()
        .map(|bid| BidJson {
            label: &bid.label,
            fit: fit_word(bid.offer.fit(demand)),
            share_of_a_cpu: answer_json(bid.offer.cpu.as_ref()),
            memory_bytes: answer_json(bid.offer.memory.as_ref()),
            memory_of: &bid.memory_of,
            closed_loop_p99_ns: answer_json(bid.offer.p99.as_ref()),
            runs: &bid.runs,
        })
        .collect();
    let document = Document {
        format: 2,
        rate: demand.rate,
        contexts: demand.contexts,
        working_set: demand.working_set,
        latency_p99_ns: demand.latency_ns,
        cpu_limit: demand.cpu,
        sentence: budgeted.sentence(),
        mechanisms,
        missing: &budgeted.missing.rows,
        measuring_s: budgeted.missing.time.as_secs(),
        failed: budgeted.failed.iter().map(|(row, reason)| FailedJson { row, reason }).collect(),
        notes: budgeted.notes(),
    };
    crate::text::json(&document)
}
