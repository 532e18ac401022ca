//! Up to how many looks a context that looks before it blocks gains by them.

use crate::row::Row;
use std::collections::BTreeMap;
use switchcost_model::{CountedShare, Mechanism, Placement, Quantity, Remark, Timing, Value, remark};

/// Looks of the sweep that finds it.
const VALUES: &str = "0,10,100,1000";

/// What is known of it, from the newest runs that have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BreakEven {
    /// A switch that blocks, each context on a CPU of its own, ns.
    blocked: Option<f64>,
    /// A look in vain, ns.
    look: Option<f64>,
    /// Looks from which on the partner of the measured ring has answered.
    first: Option<u64>,
}

/// The parameter of a mechanism that says how often a context looks before it blocks.
fn parameter(mechanism: &Mechanism) -> Option<&str> {
    let looks = |counted: &switchcost_model::Counted| counted.share == CountedShare::PerBlock;
    let found = mechanism.parameters.iter().find(|(_, parameter)| parameter.counted.as_ref().is_some_and(looks));
    found.map(|(name, _)| name.as_str())
}

impl BreakEven {
    /// None of a mechanism whose contexts cannot look, or have one kind of CPU only.
    #[must_use]
    pub fn of(mechanism: &Mechanism) -> Option<Self> {
        let has = |kind: fn(Placement) -> bool| mechanism.placements.iter().any(|placement| kind(*placement));
        let measured = parameter(mechanism).is_some() && has(Placement::on_one_cpu) && has(Placement::on_several_cpus);
        measured.then(Self::default)
    }

    /// Takes what a run adds to newer ones.
    pub fn take(&mut self, rows: &[Row<'_>], mechanism: &Mechanism) {
        let alone = points(rows, mechanism, Placement::on_one_cpu);
        let apart = points(rows, mechanism, Placement::on_several_cpus);
        // Where nobody can answer meanwhile, looks are all that is added.
        let look = alone.first_key_value().zip(alone.last_key_value()).and_then(|((none, base), (most, figure))| {
            let each = (figure.0 - base.0) / *most as f64;
            (*none == 0 && each > 0.0).then_some(each)
        });
        self.look = self.look.or(look);
        let Some((blocked, reach)) = apart.get(&0).copied().filter(|_| self.blocked.is_none()) else { return };
        self.blocked = Some(blocked);
        let below = |reaches: Option<(f64, f64)>| reaches.zip(reach).is_some_and(|((_, high), (low, _))| high < low);
        self.first = apart.iter().find(|(_, (_, reaches))| below(*reaches)).map(|(looks, _)| *looks);
    }

    /// All of it is known that is to be said.
    #[must_use]
    pub fn known(&self) -> bool {
        self.blocked.is_some() && self.look.is_some()
    }

    /// Where it lies, or the command that finds it.
    #[must_use]
    pub fn remark(&self, mechanism: &Mechanism) -> Option<Remark> {
        let name = parameter(mechanism)?;
        let (Some(blocked), Some(look)) = (self.blocked, self.look) else {
            let pinned = mechanism.placements.iter().filter(|placement| !placement.may_move());
            let pinned = pinned.map(ToString::to_string).collect::<Vec<_>>().join(",");
            let command = format!("switchcost sweep {name} {} --placement {pinned} --values {VALUES}", mechanism.id);
            return Some(remark!(break_even_unknown, command));
        };
        let time = |ns| Value::Amount(ns, Quantity::TIME);
        let looks = (blocked / look).floor() as u64;
        Some(remark!(break_even, looks, within = time(blocked), look = time(look), first = self.first))
    }
}

/// A figure, and both ends of what it reaches, where that is known.
type Point = (f64, Option<(f64, f64)>);

/// Figures of two contexts by how often they look, all other parameters being usual.
fn points(rows: &[Row<'_>], mechanism: &Mechanism, kind: fn(Placement) -> bool) -> BTreeMap<u64, Point> {
    let Some(name) = parameter(mechanism) else { return BTreeMap::new() };
    let usual = |row: &&Row<'_>| {
        let same = |(other, value): (&String, &String)| {
            other == name || mechanism.parameters.get(other).is_some_and(|known| known.default == *value)
        };
        row.variant.mechanism == mechanism.id
            && (row.variant.contexts, row.variant.timing) == (2, Timing::Batch)
            && mechanism.parameters[name].experiments.contains(&row.variant.experiment)
            && kind(row.variant.placement)
            && row.full.parameters.iter().all(same)
    };
    let point = |row: &Row<'_>| Some((row.full.parameters.get(name)?.parse().ok()?, (row.one()?, row.reach())));
    rows.iter().filter(usual).filter_map(point).collect()
}
