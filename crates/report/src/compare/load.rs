//! What mechanisms would cost a program, in words.

use super::compared::Loaded;
use crate::text::{Style, cell, drawn, right};
use comfy_table::Table;
use switchcost_analysis::number::{grouped, percent};
use switchcost_analysis::{Burden, Fit, Quantity};

/// `5.9 % (5.7 % – 6.1 %)`, of modes `5.7 % – 26 %`.
fn share(burden: &Burden) -> String {
    let interval = burden.interval.map(|(low, high)| format!("{} – {}", percent(low), percent(high)));
    match (burden.cpu, interval) {
        (Some(cpu), Some(interval)) => format!("{} ({interval})", percent(cpu)),
        (cpu, interval) => cpu.map(percent).or(interval).unwrap_or_default(),
    }
}

/// Those that may take least, since all others with an interval take more by it; this verb; and their shares.
fn least(burdens: &[Burden], verb: &str) -> (String, String) {
    let spans = || burdens.iter().filter_map(|burden| Some((burden, burden.interval?)));
    let bound = spans().map(|(_, (_, high))| high).fold(f64::INFINITY, f64::min);
    let all: Vec<&Burden> = spans().filter(|(_, (low, _))| *low <= bound).map(|(burden, _)| burden).collect();
    let joined = |of: &dyn Fn(&Burden) -> String| all.iter().map(|one| of(one)).collect::<Vec<_>>().join(" and ");
    let one = if all.len() == 1 { "s" } else { "" };
    (format!("{} {verb}{one}", joined(&|one| one.mechanism.clone())), joined(&share))
}

/// That not all could be compared, so that none of them costs least; empty where all could.
fn open(loaded: &Loaded) -> String {
    let without = loaded.burdens.iter().filter(|burden| burden.interval.is_none()).map(|burden| &burden.mechanism);
    let names: Vec<&str> = without.chain(&loaded.unknown).map(String::as_str).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(" of those with enough process runs (not {})", names.join(", "))
    }
}

/// One sentence, and a line for each mechanism.
pub fn answer(loaded: &Loaded, mut table: Table, style: Style) -> String {
    let load = &loaded.load;
    let rate = if load.rate >= 1.0 { grouped(load.rate.round() as i64) } else { load.rate.to_string() };
    let what = format!("{rate} switches/s between {} contexts", grouped(load.contexts as i64));
    let sentence = match loaded.burdens.first() {
        None => format!("No figure says what {what} cost."),
        Some(first) if first.fit == Fit::Fits => {
            let (names, shares) = least(&loaded.burdens, "cost");
            format!("{names} least{}: {what} take {shares} of a CPU.", open(loaded))
        }
        Some(first) if first.interval.is_none() => format!(
            "By {} {what} take about {} of a CPU; too few process runs to be certain.",
            first.mechanism,
            share(first)
        ),
        Some(_) => {
            let (names, shares) = least(&loaded.burdens, "come");
            let limit = percent(load.cpu);
            format!("None is known to stay within {limit} of a CPU at {what}; {names} nearest with {shares}.")
        }
    };
    table.set_header([cell(""), right("of a CPU"), right("memory"), cell("")]);
    for burden in &loaded.burdens {
        let memory = burden.memory.map_or("–".into(), |bytes| Quantity::MEMORY.amount(bytes));
        let fit = match burden.fit {
            Fit::Fits => "fits",
            Fit::CannotTell => "inconclusive",
            Fit::DoesNotFit => "does not fit",
        };
        table.add_row([cell(&burden.mechanism), right(share(burden)), right(memory), cell(fit)]);
    }
    style.headline(&sentence) + &drawn(&mut table) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_analysis::Load;

    #[test]
    fn nothing_costs_least_among_those_that_nobody_knows() {
        let burden = |mechanism: &str, cpu: f64, interval: Option<(f64, f64)>| {
            let fit = if interval.is_some() { Fit::Fits } else { Fit::CannotTell };
            Burden { mechanism: mechanism.into(), fit, cpu: Some(cpu), interval, memory: None }
        };
        let first_line = |burdens: Vec<Burden>, unknown: &[&str]| {
            let load = Load { rate: 1000.0, contexts: 2, cpu: 0.1 };
            let unknown = unknown.iter().map(|id| (*id).to_owned()).collect();
            let text = answer(&Loaded { load, burdens, unknown }, Table::new(), Style::PLAIN);
            text.lines().next().unwrap().to_owned()
        };
        let known = || vec![burden("a", 0.01, Some((0.009, 0.011))), burden("b", 0.05, Some((0.04, 0.06)))];
        assert!(first_line(known(), &[]).starts_with("a costs least: 1,000 switches/s"));
        let open = first_line([known(), vec![burden("c", 0.02, None)]].concat(), &["d"]);
        assert!(open.starts_with("a costs least of those with enough process runs (not c, d): "), "{open}");
    }
}
