//! What a start is asked to do, and how long it may take.

use super::Schedule;
use crate::experiments::acts;
use crate::needed::cpus_of;
use std::time::Duration;
use switchcost_model::{Plan, Variant};

/// Units of the verification pass, where a unit is cheap.
const VERIFY_UNITS: u64 = 1000;

/// Time a probe has for itself beyond start-up and batches before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(5);

/// Laps that a kit may do at once without looking at the token.
pub(super) const UNROLLED: u64 = 8;

/// What a unit of a size that was not calibrated may take: several times a wake-up of a halted CPU
/// through a hypervisor.
const SLOWEST_UNIT: Duration = Duration::from_micros(200);

/// What laps through many contexts may take by that, at most: a probe that hangs is waited for as
/// long.
const SLOW_LAPS: Duration = Duration::from_secs(60);

impl Schedule<'_> {
    /// Bound of the first start of a variant, where there are others: one that takes longer could
    /// not get its rounds, as many as an interval needs if no fewer are asked for, within the
    /// budget anyway.
    pub(super) fn first_attempt(&self, expected: Duration) -> Duration {
        let alone = self.run.variants.len() - self.run.not_run.len() <= 1;
        if alone || expected > Duration::ZERO { Duration::MAX } else { self.request.budget / self.fewest() as u32 }
    }

    /// ns that one unit may take by parameters whose value is work of its own (those with a
    /// control): a byte or a step takes no longer than 1 ns.
    fn unit_time(&self, variant: &Variant) -> u64 {
        let Some(mechanism) = self.catalogue.find(&variant.mechanism) else { return 0 };
        let working =
            |name: &&String| mechanism.control || mechanism.parameters.get(*name).is_some_and(|p| p.control.is_some());
        let values = variant.parameters.iter().filter(|(name, _)| working(name));
        values.filter_map(|(_, value)| value.parse::<u64>().ok()).fold(0, u64::saturating_add)
    }

    /// How long it may take to touch memory that the row's processes hold: a MiB is a fifth of a
    /// millisecond where nothing else runs.
    fn touching(&self, variant: &Variant) -> Duration {
        let Some(mechanism) = self.catalogue.find(&variant.mechanism) else { return Duration::ZERO };
        let held = |name: &String| mechanism.parameters.get(name).is_some_and(|p| p.seen_value.is_some());
        let values = variant.parameters.iter().filter(|(name, _)| held(name));
        let mebibytes = values.filter_map(|(_, value)| value.parse::<u64>().ok()).fold(0, u64::saturating_add);
        Duration::from_millis(mebibytes.saturating_mul(variant.contexts).saturating_mul(5))
    }

    /// How long an invocation may take before it counts as hanging.
    pub(super) fn patience(&self, index: usize, start_timeout_ms: u64, expected: Duration) -> Duration {
        let variant = &self.run.variants[index];
        let batches = self.batches(index) + warmup_batches(self.batches(index));
        let laps = laps(variant.contexts, batches, Duration::from_nanos(self.unit_time(variant)));
        let work = match self.sizes.get(&index) {
            Some(sizes) => {
                let units = sizes.batch_units.saturating_mul(batches);
                Duration::from_nanos(units.saturating_mul(SLOWEST_UNIT.as_nanos() as u64))
            }
            None => self.batch(variant) * batches as u32 * 4,
        };
        PATIENCE
            + acts(variant.experiment).patience
            + laps
            + self.touching(variant)
            + Duration::from_millis(start_timeout_ms)
            + work
            // A worker of Node takes 15 ms to begin, and for its memory several times as many do;
            // of what a start has more of, each takes microseconds.
            + Duration::from_millis(variant.contexts + 100 * variant.contexts.min(1000))
            + expected * 10
    }

    /// Units in a batch, as the first start has calibrated them. A row that the scheduler places is
    /// calibrated in each start: by the first one's luck, batches of the other kind would last many
    /// times as long, or as short.
    fn batch_units(&self, index: usize) -> u64 {
        let variant = &self.run.variants[index];
        if let Some(own) = variant.experiment.page().batch_units {
            let laps = acts(variant.experiment).parts_of_a_batch.saturating_mul(UNROLLED);
            let whole = variant.contexts.max(1).saturating_mul(laps);
            return own.div_ceil(whole).saturating_mul(whole);
        }
        let free = self.run.variants[index].placement.may_move() && !self.sizes.contains_key(&index);
        if free { 0 } else { self.progress[index].batch_units }
    }

    /// Measured batches of an invocation.
    fn batches(&self, index: usize) -> u64 {
        let own = || self.request.batches_of(self.run.variants[index].experiment);
        self.sizes.get(&index).map_or_else(own, |sizes| sizes.batches)
    }

    /// How long a batch is to last: as the experiment takes it, unless it was asked for.
    pub(super) fn batch(&self, variant: &Variant) -> Duration {
        self.request.batch_of(variant.experiment)
    }

    pub(super) fn plan(&self, variant: Variant, index: usize, seed: u32, deadline: Duration) -> Plan {
        let one = variant.experiment.in_one_batch();
        Plan {
            cpus: cpus_of(variant.placement, self.control.cpus).unwrap_or_default(), // Rows without CPUs were taken out before the first round.
            batch_units: self.batch_units(index),
            batch_ns: self.batch(&variant).as_nanos().max(1) as u64,
            batches: if one { 1 } else { self.batches(index) },
            warmup_batches: if one { 0 } else { warmup_batches(self.batches(index)) },
            verify_units: VERIFY_UNITS.min(1_000_000_000 / self.unit_time(&variant).max(1)).max(1),
            seed: u64::from(seed),
            deadline_ms: deadline.as_millis() as u64,
            variant,
        }
    }
}

/// What laps through all contexts may take, whatever a batch is to last; `unit`: of the work that
/// was asked for.
fn laps(contexts: u64, batches: u64, unit: Duration) -> Duration {
    let contexts = contexts.try_into().unwrap_or(u32::MAX);
    // The calibration also makes a few.
    let made = u32::try_from(batches).unwrap_or(u32::MAX).saturating_add(16);
    let all = |unit: Duration| unit.saturating_mul(contexts).saturating_mul(made);
    // On a busy machine a switch takes as long as the slowest unit.
    all(unit).min(Duration::from_secs(86_400)).max(all(SLOWEST_UNIT).min(SLOW_LAPS))
}

/// Planned warm-up: a sixth of the measured batches, at least one.
fn warmup_batches(batches: u64) -> u64 {
    (batches / 6).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_laps_are_waited_for_up_to_a_minute_and_asked_work_up_to_a_day() {
        let idle = |contexts| laps(contexts, 35, Duration::ZERO);
        // Two contexts, a thousand on a busy machine (10 s), and a ring that may hang.
        assert_eq!([idle(2), idle(1000), idle(1_000_000)].map(|laps| laps.as_millis()), [20, 10_200, 60_000]);
        let working = |contexts, unit_ms| laps(contexts, 35, Duration::from_millis(unit_ms)).as_secs();
        assert_eq!([working(100, 1), working(1000, 10), working(u64::MAX, 10)], [5, 510, 86_400]);
    }
}
