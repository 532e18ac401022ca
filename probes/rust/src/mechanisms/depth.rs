//! Futures below a context's switches, each of which awaits the next one; the last of them
//! switches. held: a context made so many before its first switch, and none of them ends. unwound:
//! it makes them anew for each switch, and all of them end.

use kit::{Claim, Parameter, Plan};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

pub const DEPTH: Parameter = Parameter { name: "depth", words: &[] };
pub const FRAMES: Parameter = Parameter { name: "frames", words: &["held", "unwound"] };

/// What a ring keeps of them.
pub struct Depth {
    /// How many; 0: none.
    pub calls: u64,
    pub unwound: bool,
    counts: Vec<Arc<Entered>>,
    before: u64,
}

/// Of one context, on a cache line of its own: those that began.
#[derive(Default)]
#[repr(align(64))]
pub struct Entered(AtomicU64);

impl Entered {
    #[inline(always)]
    pub fn count(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }
}

impl Depth {
    pub fn new(plan: &Plan) -> Self {
        let unwound = plan.parameter(FRAMES.name) == "unwound";
        let counts = (0..plan.contexts).map(|_| Arc::default()).collect();
        Self { calls: plan.number(DEPTH.name), unwound, counts, before: 0 }
    }

    pub fn held(&self) -> bool {
        self.calls > 0 && !self.unwound
    }

    pub fn unwinds(&self) -> bool {
        self.calls > 0 && self.unwound
    }

    pub fn of(&self, context: u64) -> Arc<Entered> {
        Arc::clone(&self.counts[context as usize])
    }

    fn sum(&self) -> u64 {
        self.counts.iter().map(|entered| entered.0.load(Relaxed)).sum()
    }

    /// Turns are counted from here on.
    pub fn reset(&mut self) {
        self.before = self.sum();
    }

    /// Adds those below all switches. Held: of the context that has fewest; `driver`: context 0
    /// holds none between batches.
    pub fn complete(&self, claim: &mut Claim, driver: bool) {
        if self.calls == 0 {
            return;
        }
        let of_members = self.counts.iter().skip(usize::from(driver)).map(|entered| entered.0.load(Relaxed));
        let frames = match self.unwound {
            true => self.sum() - self.before,
            false => of_members.min().unwrap_or(0) * claim.token.unwrap_or(0),
        };
        claim.counts.insert("frames", i64::try_from(frames).unwrap_or(i64::MAX));
    }
}

/// So many futures around a body.
pub fn hold<'a, T: Send + 'a>(
    calls: u64,
    entered: &Arc<Entered>,
    body: impl Future<Output = T> + Send + 'a,
) -> Pin<Box<dyn Future<Output = T> + Send + 'a>> {
    let mut whole: Pin<Box<dyn Future<Output = T> + Send + 'a>> = Box::pin(body);
    for _ in 0..calls {
        let entered = Arc::clone(entered);
        whole = Box::pin(async move {
            entered.count();
            whole.await
        });
    }
    whole
}
