//! What was counted beside the time.

use super::View;
use crate::answer::{Cell, Section};
use std::collections::BTreeSet;
use switchcost_analysis::{Judged, counters};
use switchcost_model::{Counter, Counters, Obstacle, PerUnit, Value, remark};

impl View<'_, '_> {
    /// Events per unit, a line per row.
    pub(super) fn counted(&self) -> Option<Section> {
        let rows = || self.rows.iter().filter_map(|row| Some((row, counters(row)?.per_unit())));
        let mut names: Vec<String> = Counter::ALL.iter().flat_map(|event| event.names()).collect();
        names.retain(|name| rows().any(|(_, counts)| counts.get(name).is_some_and(|one| Value::from(one).is_known())));
        let titles = names.iter().map(|name| (name.as_str(), 0));
        let table = Section { goes_on: true, ..Section::new([("counted per unit", 0)].into_iter().chain(titles)) };
        let cells = rows().map(|(row, counts)| {
            let cell = |name| Cell::Value(counts.get(name).map_or(Value::Unknown, Value::from));
            [Cell::Name(row.label.clone())].into_iter().chain(names.iter().map(cell)).collect()
        });
        (!names.is_empty()).then(|| table.with(cells))
    }

    /// Why events were not counted beside its rows.
    pub(super) fn uncounted(&self) -> Vec<String> {
        not_counted(self.rows.iter().map(|row| &row.judged))
    }
}

/// Why events were not counted beside these rows, each reason once.
#[must_use]
pub fn not_counted<'j, 'r: 'j>(rows: impl IntoIterator<Item = &'j Judged<'r>>) -> Vec<String> {
    let mut all: Vec<(Obstacle, BTreeSet<String>)> = Vec::new();
    for (name, of) in rows.into_iter().filter_map(counters).flat_map(Counters::per_unit) {
        let PerUnit::Refused(why) = of else { continue };
        match all.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => drop(names.insert(name)),
            None => all.push((why, [name].into())),
        }
    }
    let names = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
    let said = |(why, events)| remark!(not_counted, events = names(events), why = Obstacle::to_string(&why));
    all.into_iter().map(|one| said(one).to_string()).collect()
}
