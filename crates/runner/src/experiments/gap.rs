//! The idle states that the CPU of a sleeper enters: the host reads the kernel's counts of them
//! when the plan has come, and when the first figures have.

use super::part::{Acts, Around};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use switchcost_machine::cpus::idle_states;
use switchcost_machine::spawn::Child;
use switchcost_model::{IdleState, Idled, PartSeen, Transcript};

/// On a busy machine each wake-up waits for a CPU, and no clock ends a batch.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) const ACTS: Acts = Acts {
    patience: PATIENCE,
    around: |plan, _, _| {
        let cpu = *plan.cpus.first()?;
        Some(Box::new(Looking { begun: None, seen: Idled { cpu, ..Idled::default() } }))
    },
    ..Acts::NONE
};

/// A start beside which the host looks at its first CPU.
struct Looking {
    /// The look at the plan.
    begun: Option<(Instant, Option<BTreeMap<String, IdleState>>)>,
    seen: Idled,
}

impl Around for Looking {
    fn begin(&mut self, _: &Child, _: Instant) {
        self.begun = Some((Instant::now(), idle_states(self.seen.cpu)));
    }

    fn end(&mut self, _: &Child) {
        let Some((at, before)) = self.begun.take() else { return };
        self.seen.between_ns = at.elapsed().as_nanos() as u64;
        self.seen.states = before.zip(idle_states(self.seen.cpu)).map(|(before, now)| since(&before, now));
    }

    fn seen(self: Box<Self>, _: &mut Transcript) -> PartSeen {
        PartSeen { idled: Some(self.seen), ..PartSeen::default() }
    }
}

/// What was counted between two looks.
fn since(before: &BTreeMap<String, IdleState>, mut now: BTreeMap<String, IdleState>) -> BTreeMap<String, IdleState> {
    for (name, state) in &mut now {
        let then = before.get(name).copied().unwrap_or_default();
        state.entered = state.entered.saturating_sub(then.entered);
        state.ns = state.ns.saturating_sub(then.ns);
    }
    now
}
