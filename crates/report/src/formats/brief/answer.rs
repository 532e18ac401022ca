//! The first sentence of a run.

use super::View;
use crate::text::wrapped;
use switchcost_analysis::number::{factor, percent};
use switchcost_analysis::{Beside, Row};

/// Families that the reference is set beside.
const FEW_FACTORS: usize = 3;

/// Rows of which the first is the answer.
const FEW_ROWS: usize = 2;

impl View<'_, '_> {
    /// `A thread/pipe switch costs 1.32 µs ±1.9 %, 1.24 times as much as thread/futex.` If no more was asked for, and not the reference.
    fn only(&self) -> Option<String> {
        let row = self.rows.first().filter(|_| self.rows.len() <= FEW_ROWS)?;
        let reference =
            self.analysis.reference().filter(|reference| self.rows.iter().all(|row| row.index != reference.index))?;
        let half = row.summary.figures.as_ref().filter(|_| row.summary.modes.is_empty())?.half_width()?;
        let apart =
            row.times_reference.filter(|times| times.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0));
        let times = apart.and_then(|times| times.carried()).map_or(String::new(), |times| match times < 1.0 {
            true => format!(", {} times less than {}", factor(1.0 / times), reference.label),
            false => format!(", {} times as much as {}", factor(times), reference.label),
        });
        let cost = row.quantity.amount(row.median()?);
        let sentence = format!("A {} {} costs {cost} ±{}{times}.", row.label, row.unit, percent(half));
        Some(wrapped("  ", &sentence, self.style))
    }

    /// What the reference is worth in switches of other families; without one, what stands for each family beside the others.
    pub(super) fn families(&self) -> String {
        if let Some(only) = self.only() {
            return only;
        }
        let found = self.analysis.representatives();
        let worth = self.worth(&found);
        if found.len() < 2 || !worth.is_empty() {
            return worth;
        }
        let amount = |row: &Row<'_>, value: f64| row.quantity.tick(two_digits(value));
        let figure = |row: &Row<'_>| match row.summary.modes.as_slice() {
            [] => amount(row, row.median().unwrap_or_default()),
            modes => modes.iter().map(|mode| amount(row, mode.value)).collect::<Vec<_>>().join(" or "),
        };
        let sentence = |figures: bool| {
            let one = |(row, _): &(&Row<'_>, _)| match figures {
                true => format!("{} {}", row.label, figure(row)),
                false => row.label.clone(),
            };
            let order = found.iter().map(one).collect::<Vec<_>>().join(", ");
            wrapped("  ", &format!("One of each family, cheapest first: {order}{}.", open(&found)), self.style)
        };
        // The table has the figures as well.
        let whole = sentence(true);
        if whole.lines().count() > 2 { sentence(false) } else { whole }
    }

    /// `A thread/futex switch costs 1.07 µs here: as much as 4.78 fiber/goroutine or 444 coroutine/cpp20 switches.` Only of factors that their intervals carry.
    fn worth(&self, found: &[(&Row<'_>, Option<Beside>)]) -> String {
        let shown = |reference: &&Row<'_>| self.rows.iter().any(|row| row.index == reference.index);
        let Some(reference) = self.analysis.reference().filter(shown) else { return String::new() };
        let Some(median) = reference.one() else { return String::new() };
        let own = reference.variant.mechanism.family();
        let cheaper = |(row, _): &(&Row<'_>, Option<Beside>)| {
            let times = 1.0 / row.times_reference?.carried()?;
            (row.variant.mechanism.family() != own && times > 1.0).then(|| format!("{} {}", factor(times), row.label))
        };
        let few: Vec<String> = found.iter().rev().filter_map(cheaper).take(FEW_FACTORS).collect();
        if few.is_empty() {
            return String::new();
        }
        let cost = reference.quantity.amount(median);
        let few = match few.as_slice() {
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            all => all.concat(),
        };
        wrapped(
            "  ",
            &format!("A {} switch costs {cost} here: as much as {few} switches.", reference.label),
            self.style,
        )
    }
}

/// Of which neighbours the order is not known, or does not matter: `; this run does not order process/pipe and container/pipe`.
fn open(found: &[(&Row<'_>, Option<Beside>)]) -> String {
    let mut clauses = String::new();
    for group in found.split_inclusive(|(_, next)| *next == Some(Beside::Less)) {
        let names: Vec<&str> = group.iter().map(|(row, _)| row.label.as_str()).collect();
        clauses += &match (names.as_slice(), group) {
            ([] | [_], _) => continue,
            ([a, b], [(_, Some(Beside::Same)), _]) => format!("; {a} and {b} cost the same"),
            ([most @ .., last], _) => format!("; this run does not order {} and {last}", most.join(", ")),
        };
    }
    clauses
}

/// Rounded to two significant digits: enough to say which is cheaper.
fn two_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 1.0);
    (value / unit).round() * unit
}
