//! The probe ran under callgrind: was it counted, and can a switch have so few instructions?

use super::super::case::Case;
use super::rules::Rules;
use std::collections::BTreeMap;
use switchcost_model::{Executed, Obstacle, Reason, Seen};

pub(super) const RULES: Rules = Rules { unusable, contradiction, made_of, callers, ..Rules::NONE };

fn unusable(seen: Option<&Seen>) -> Option<Reason> {
    let Some(executed) = seen.and_then(|seen| seen.part.executed.as_ref()) else {
        return Some(Reason::NotCounted { why: Obstacle::NobodyCounted });
    };
    executed.refused.clone().map(|why| Reason::NotCounted { why })
}

fn contradiction(case: &Case<'_>) -> Option<Reason> {
    let per_unit = crate::series::values(case.transcript).into_iter().min_by(f64::total_cmp)?;
    let least = case.constants.least_instructions;
    (per_unit < least).then_some(Reason::NoInstructions { per_unit, least: Some(least) })
}

fn made_of(seen: &Seen) -> Option<BTreeMap<String, f64>> {
    per_unit(seen, |executed| &executed.functions)
}

fn callers(seen: &Seen) -> Option<BTreeMap<String, f64>> {
    per_unit(seen, |executed| &executed.callers)
}

fn per_unit(seen: &Seen, of: fn(&Executed) -> &BTreeMap<String, i64>) -> Option<BTreeMap<String, f64>> {
    let executed = seen.part.executed.as_ref()?;
    let units = executed.units.max(1) as f64;
    Some(of(executed).iter().map(|(name, count)| (name.clone(), *count as f64 / units)).collect())
}
