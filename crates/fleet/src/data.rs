//! `data/fleet.toml`: what is measured on each node of a fleet, and what each row goes through.

use crate::passage::Passage;
use serde::Deserialize;

/// The file travels inside the program, as `published.toml` does: a verdict on a fleet must not
/// differ for want of it.
const TEXT: &str = include_str!("../../../data/fleet.toml");

/// What one node measures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetPlan {
    /// Time limit for a node, s.
    pub budget_s: u64,
    /// Starts of each row.
    pub rounds: u64,
    /// Rows.
    #[serde(rename = "row")]
    pub rows: Vec<FleetRow>,
}

/// A row of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetRow {
    /// Pattern, as typed at `run`.
    pub pattern: String,
    /// What the row goes through.
    pub through: Passage,
}

/// The plan of a node.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
pub fn fleet_plan() -> FleetPlan {
    toml::from_str(TEXT).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_catalogue::grammar::Pattern;

    #[test]
    fn the_plan_of_a_node_can_be_read() {
        let plan = fleet_plan();
        assert!(plan.budget_s < 10 && plan.rounds >= 6, "{plan:?}");
        assert!(plan.rows.iter().all(|row| Pattern::parse(&row.pattern).is_ok()), "{plan:?}");
    }
}
