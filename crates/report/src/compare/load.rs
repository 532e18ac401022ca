//! What mechanisms would cost a program, in words.

use super::Loaded;
use crate::text::{Style, cell, drawn, right};
use comfy_table::Table;
use switchcost_analysis::number::{grouped, percent};
use switchcost_analysis::{Burden, Fit, Quantity};

/// `5.9 % (5.7 % – 6.1 %)`.
fn share(burden: &Burden) -> String {
    let interval = burden.interval.map(|(low, high)| format!(" ({} – {})", percent(low), percent(high)));
    percent(burden.cpu) + &interval.unwrap_or_default()
}

/// One sentence, and a line for each mechanism.
pub fn answer(loaded: &Loaded, mut table: Table, style: Style) -> String {
    let load = &loaded.load;
    let rate = if load.rate >= 1.0 { grouped(load.rate.round() as i64) } else { load.rate.to_string() };
    let what = format!("{rate} switches/s between {} contexts", grouped(load.contexts as i64));
    let sentence = match loaded.burdens.first() {
        None => format!("No figure says what {what} cost."),
        Some(first) if first.fit == Fit::Fits => {
            format!("{} costs least: {what} take {} of a CPU.", first.mechanism, share(first))
        }
        Some(first) if first.interval.is_none() => format!(
            "By {} {what} take about {} of a CPU; too few process runs to be certain.",
            first.mechanism,
            share(first)
        ),
        Some(first) => format!(
            "None is known to stay within {} of a CPU at {what}; {} comes nearest with {}.",
            percent(load.cpu),
            first.mechanism,
            share(first)
        ),
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
