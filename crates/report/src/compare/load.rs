//! What mechanisms would cost a program: its claim and its table.

use super::compared::Loaded;
use crate::answer::{Cell, Section, Tint};
use switchcost_analysis::number::{grouped, percent};
use switchcost_analysis::{Burden, Fit, Quantity};
use switchcost_model::Value;

impl Loaded {
    /// Which mechanism takes least.
    pub(super) fn claim(&self) -> String {
        let load = &self.load;
        let rate = if load.rate >= 1.0 { grouped(load.rate.round() as i64) } else { load.rate.to_string() };
        let what = format!("{rate} switches/s between {} contexts", grouped(load.contexts as i64));
        match self.burdens.first() {
            None => format!("No figure says what {what} cost."),
            Some(first) if first.fit == Fit::Fits => {
                let (names, shares) = least(&self.burdens, "cost");
                format!("{names} least{}: {what} take {shares} of a CPU.", self.open())
            }
            Some(first) if first.interval.is_none() => format!(
                "By {} {what} take about {} of a CPU; too few process runs to be certain.",
                first.mechanism,
                share(first)
            ),
            Some(first) if first.fit == Fit::CannotTell && first.conditions.iter().any(|limit| limit.forbids()) => {
                let limits = first.conditions.iter().map(|limit| limit.word()).collect::<Vec<_>>().join(", ");
                let (limit, name, share) = (percent(load.cpu), &first.mechanism, share(first));
                format!(
                    "Whether any stays within {limit} of a CPU at {what} is not known; {name} takes {share}, and is {limits}."
                )
            }
            Some(_) => {
                let (names, shares) = least(&self.burdens, "come");
                let limit = percent(load.cpu);
                format!("None is known to stay within {limit} of a CPU at {what}; {names} nearest with {shares}.")
            }
        }
    }

    /// That not all could be compared, so that none of them costs least; empty if all could.
    fn open(&self) -> String {
        let without = self.burdens.iter().filter(|burden| burden.interval.is_none()).map(|burden| &burden.mechanism);
        let names: Vec<&str> = without.chain(&self.unknown).map(String::as_str).collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(" of those with enough process runs (not {})", names.join(", ")),
        }
    }

    pub(super) fn table(&self) -> Section {
        let limit = format!("fits in {} (--cpu)", percent(self.load.cpu));
        let mut table = Section::new([("", 0), ("of a CPU", 0), ("interval", 2), ("memory", 1), (&limit, 0), ("", 0)]);
        for burden in &self.burdens {
            let (fit, tint) = match burden.fit {
                Fit::Fits => ("fits", Tint::Green),
                Fit::CannotTell => ("inconclusive", Tint::Yellow),
                Fit::DoesNotFit => ("does not fit", Tint::Red),
            };
            let interval = burden.interval.map(|(low, high)| Value::between(Value::Percent(low), Value::Percent(high)));
            table.rows.push(vec![
                Cell::Name(burden.mechanism.clone()),
                Cell::Value(burden.cpu.map_or(Value::Unknown, Value::Percent)),
                Cell::Value(interval.unwrap_or(Value::Unknown)),
                Cell::Value(burden.memory.map_or(Value::Unknown, |bytes| Value::Amount(bytes, Quantity::MEMORY))),
                Cell::Verdict(fit.to_owned(), tint),
                Cell::Limits(burden.conditions.clone()),
            ]);
        }
        table
    }
}

/// `5.9 % (5.7 – 6.1 %)`, of modes `5.7 – 26 %`.
fn share(burden: &Burden) -> String {
    let interval = burden.interval.map(|(low, high)| Value::between(Value::Percent(low), Value::Percent(high)));
    match (burden.cpu, interval) {
        (Some(cpu), Some(interval)) => format!("{} ({interval})", percent(cpu)),
        (cpu, interval) => cpu.map(percent).or(interval.map(|interval| interval.to_string())).unwrap_or_default(),
    }
}

/// Those that may take least, since all others with an interval take more by it; this verb; and
/// their shares.
fn least(burdens: &[Burden], verb: &str) -> (String, String) {
    let spans = || burdens.iter().filter_map(|burden| Some((burden, burden.interval?)));
    let bound = spans().map(|(_, (_, high))| high).fold(f64::INFINITY, f64::min);
    let all: Vec<&Burden> = spans().filter(|(_, (low, _))| *low <= bound).map(|(burden, _)| burden).collect();
    let names: Vec<&str> = all.iter().map(|burden| burden.mechanism.as_str()).collect();
    let shares: Vec<String> = all.iter().map(|burden| share(burden)).collect();
    let one = if all.len() == 1 { "s" } else { "" };
    (format!("{} {verb}{one}", names.join(" and ")), shares.join(" and "))
}
