//! A part of the host: what it does for a row, and what it does around one start.

use crate::no_answer::NoAnswer;
use std::time::{Duration, Instant};
use switchcost_machine::spawn::{Child, SpawnRequest};
use switchcost_model::{PartSeen, Plan, Reason, Transcript, Variant};

/// What runs around one start, if its plan asks for something.
pub(crate) type MaybeAround = Option<Box<dyn Around>>;

/// What the host does for rows of an experiment.
pub(crate) struct Acts {
    /// Why this row cannot be had on so many CPUs, before anything is started.
    pub(crate) refusal: fn(&Variant, usize) -> Option<Reason>,
    /// On these CPUs the first start of a row is for the host's own look, and one more is made.
    pub(crate) looks_first: fn(&[u32]) -> bool,
    /// A row that seeks something: it goes on until that is found, whatever its precision.
    pub(crate) seeks: fn(&Variant) -> bool,
    /// Parts of a batch, each of which holds whole laps.
    pub(crate) parts_of_a_batch: u64,
    /// How much longer than others a start may take.
    pub(crate) patience: Duration,
    /// What it does around a start on these CPUs; the last says whether it is the row's first.
    pub(crate) around: fn(&Plan, &[u32], bool) -> MaybeAround,
}

impl Acts {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        refusal: |_, _| None,
        looks_first: |_| false,
        seeks: |_| false,
        parts_of_a_batch: 1,
        patience: Duration::ZERO,
        around: |_, _, _| None,
    };
}

/// What the host does around one start.
pub(crate) trait Around {
    /// Starts the probe by another program, or with something beside it.
    ///
    /// # Errors
    /// Why it cannot be started so.
    fn change(&self, _request: &mut SpawnRequest) -> Result<(), NoAnswer> {
        Ok(())
    }

    /// The plan has arrived, and no measurement yet; `began`: when the start did.
    fn begin(&mut self, _child: &Child, _began: Instant) {}

    /// Measurements have arrived; of several messages each calls it.
    fn end(&mut self, _child: &Child) {}

    /// When it wants to be woken though nothing arrives.
    fn alarm(&self) -> Option<Instant> {
        None
    }

    /// That time has come.
    fn woken(&mut self, _child: &Child) {}

    /// What it saw. The probe has left, and what it wrote elsewhere is still there; samples that
    /// are the host's to send go to the transcript.
    fn seen(self: Box<Self>, transcript: &mut Transcript) -> PartSeen;
}
