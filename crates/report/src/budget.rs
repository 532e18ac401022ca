//! What mechanisms would cost a program, as a table and one sentence, and as JSON.

use crate::text::{Style, cell, right, trimmed, wrapped};
use serde::Serialize;
use switchcost_analysis::number::{nanoseconds, percent};
use switchcost_analysis::{Answer, Demand, Fit, Offer};

/// A mechanism's offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Bid {
    /// Its row's name.
    pub label: String,
    /// What it would cost.
    pub offer: Offer,
    /// Runs that it comes from.
    pub runs: Vec<String>,
    /// Commands that would measure what is missing or extrapolated.
    pub missing: Vec<String>,
}

/// All that one `budget` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgeted {
    /// What is asked.
    pub demand: Demand,
    /// Every mechanism with a stored figure, cheapest first.
    pub bids: Vec<Bid>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::Yes => "fits",
        Fit::No => "does not fit",
        Fit::Unknown => "cannot tell",
    }
}

fn bytes(value: f64) -> String {
    match value {
        v if v < 1024.0 => format!("{v:.0} B"),
        v if v < 1_048_576.0 => format!("{:.1} KiB", v / 1024.0),
        v if v < 1_073_741_824.0 => format!("{:.1} MiB", v / 1_048_576.0),
        v => format!("{:.1} GiB", v / 1_073_741_824.0),
    }
}

fn marked(answer: Option<&Answer>, text: impl Fn(f64) -> String) -> String {
    answer.map_or("–".into(), |answer| {
        let mark = if answer.extrapolated.is_empty() { "" } else { " *" };
        format!("{}{mark}", text(answer.value.value))
    })
}

fn sentence(budgeted: &Budgeted) -> String {
    let demand = &budgeted.demand;
    let fitting: Vec<&Bid> = budgeted.bids.iter().filter(|bid| bid.offer.fit(demand) == Fit::Yes).collect();
    let refused = budgeted.bids.iter().filter(|bid| bid.offer.fit(demand) == Fit::No).count();
    // The limit that nobody typed must also be seen.
    let (rate, limit) = (rate(demand.rate), percent(demand.cpu));
    let asked = format!("{rate} switches a second between {} contexts, on at most {limit} of a CPU,", demand.contexts);
    match fitting.split_first() {
        None => format!("For {asked} nothing that was measured is known to fit; {refused} do not fit."),
        Some((first, others)) => {
            let share = first.offer.cpu.as_ref().map_or(0.0, |answer| answer.value.value);
            let others = match others.len() {
                0 => "nothing else fits".to_owned(),
                n => format!("{n} more fit"),
            };
            let doubt = if first.offer.extrapolated() { ", by extrapolation" } else { "" };
            format!(
                "For {asked} {} is the cheapest that fits, with {} of a CPU{doubt}; {others}, {refused} do not.",
                first.label,
                percent(share)
            )
        }
    }
}

fn rate(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{} million", (r / 1e4).round() / 100.0),
        r if r >= 1e4 => format!("{} thousand", (r / 10.0).round() / 100.0),
        r => format!("{r}"),
    }
}

/// For a terminal.
#[must_use]
pub fn budget_text(budgeted: &Budgeted, style: Style) -> String {
    let mut table = style.table();
    table.set_header(vec![
        cell("mechanism"),
        right("of a CPU"),
        right("interval"),
        right("memory"),
        right("p99, ns"),
        cell(""),
    ]);
    for bid in &budgeted.bids {
        let interval = bid
            .offer
            .cpu
            .as_ref()
            .map_or("–".into(), |a| format!("{} – {}", percent(a.value.low), percent(a.value.high)));
        table.add_row(vec![
            cell(&bid.label),
            right(marked(bid.offer.cpu.as_ref(), percent)),
            right(interval),
            right(marked(bid.offer.memory.as_ref(), bytes)),
            right(marked(bid.offer.p99.as_ref(), nanoseconds)),
            cell(fit_word(bid.offer.fit(&budgeted.demand))),
        ]);
    }
    let mut out = format!("{}\n\n{}", style.bold(&sentence(budgeted)), trimmed(&table));
    let mut assumed: Vec<&String> = budgeted
        .bids
        .iter()
        .flat_map(|bid| [&bid.offer.cpu, &bid.offer.memory, &bid.offer.p99].into_iter().flatten())
        .flat_map(|answer| &answer.extrapolated)
        .collect();
    assumed.sort();
    assumed.dedup();
    if !assumed.is_empty() {
        let list: Vec<&str> = assumed.into_iter().map(String::as_str).collect();
        out.push_str(&wrapped("\n * ", &format!("extrapolated: {}", list.join("; ")), style));
    }
    let missing: Vec<&String> = budgeted.bids.iter().flat_map(|bid| &bid.missing).collect();
    if !missing.is_empty() {
        out.push_str("\nto be measured (--measure does it)\n");
        missing.iter().for_each(|command| out.push_str(&format!("  {command}\n")));
    }
    budgeted.notes.iter().for_each(|note| out.push_str(&wrapped("note: ", note, style)));
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
    notes: &'a [String],
}

#[derive(Serialize)]
struct BidJson<'a> {
    label: &'a str,
    fit: &'static str,
    share_of_a_cpu: Option<AnswerJson<'a>>,
    memory_bytes: Option<AnswerJson<'a>>,
    p99_ns: Option<AnswerJson<'a>>,
    runs: &'a [String],
    missing: &'a [String],
}

#[derive(Serialize)]
struct AnswerJson<'a> {
    value: f64,
    low: f64,
    high: f64,
    extrapolated: &'a [String],
}

fn answer_json(answer: Option<&Answer>) -> Option<AnswerJson<'_>> {
    answer.map(|a| AnswerJson {
        value: a.value.value,
        low: a.value.low,
        high: a.value.high,
        extrapolated: &a.extrapolated,
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
            p99_ns: answer_json(bid.offer.p99.as_ref()),
            runs: &bid.runs,
            missing: &bid.missing,
        })
        .collect();
    let document = Document {
        format: 1,
        rate: demand.rate,
        contexts: demand.contexts,
        working_set: demand.working_set,
        latency_p99_ns: demand.latency_ns,
        cpu_limit: demand.cpu,
        sentence: sentence(budgeted),
        mechanisms,
        notes: &budgeted.notes,
    };
    serde_json::to_string_pretty(&document).expect("plain data") + "\n"
}
