//! A ring of contexts that pass a token: all that is the same whatever a context is.
//!
//! The token is one word, the sequence number of the last switch. A context knows which token it is
//! due. Commands are negative tokens, and in the modes that record something a context is due a
//! token that never comes: both take the path of a token that was not due, so that the measured
//! loop has one compare a turn. The count of turns is the same variable, because every turn
//! advances it by one lap.

use crate::clock::read_counter;
use crate::evidence::{disjoint, Trace, Turns};
use crate::histogram::Histogram;
use crate::mechanism::{Claim, Workload};
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::working_set::{Touch, WorkingSets};
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Command: turns are counted from here on.
pub const RESET: i64 = -1;
/// Command: each context tells its turns and where it is.
pub const PUBLISH: i64 = -2;
/// Mode of batches, and the command to enter it; so are the next two.
const PLAIN: i64 = -3;
/// Mode of `timing=each`.
const EACH: i64 = -4;
/// Mode of the verification pass.
const VERIFY: i64 = -5;
/// Comes instead of a token from a context that cannot go on.
pub const BROKEN: i64 = i64::MIN;
/// A token that never comes.
const NEVER: i64 = i64::MIN + 1;

/// What a mechanism adds to a ring: how the token gets from one context to the next.
pub trait PassToken {
    /// Name of the count of evidence for contexts that each are in a place of their own.
    const DISTINCT: &'static str;

    /// Passes a token or a command round, `laps` times; each context takes it by `Context::turn`,
    /// context 0 last. What context 0 makes of it in the end, and the ticks of the clock.
    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64);

    /// The same in batches, for mechanisms that have a loop of its own for them: each context takes
    /// the token that it is due.
    fn pass_batch(&mut self, token: i64, laps: u64) -> (i64, u64) {
        self.pass(token, laps)
    }

    /// Adds what the mechanism counted itself.
    fn complete(&mut self, _claim: &mut Claim) {}

    /// As of a workload.
    fn fault(&self) -> Option<Refusal> {
        None
    }

    /// As of a workload.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What contexts share besides the token; touched only by the one that has the token, and never in
/// batches.
#[derive(Debug, Default)]
struct Shared {
    /// Counter as read by the sender.
    stamp: AtomicU64,
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    turns: Turns,
    places: Vec<Range<usize>>,
    broken: bool,
    histogram: Option<Box<Histogram>>,
    trace: Option<Box<Trace>>,
    trace_begin: i64,
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A context's own record.
#[derive(Debug)]
pub struct Context<S: Touch> {
    shared: &'static Shared,
    number: u64,
    lap: i64,
    /// Token that comes next, in batches; otherwise one that never comes, so that every turn is a
    /// special one.
    pub due: i64,
    /// Token that comes next, in the other modes.
    due_special: i64,
    mode: i64,
    due_at_reset: i64,
    /// What it touches each turn.
    pub set: S,
}

impl<S: Touch> Context<S> {
    /// Whether this token was due in a batch; then the turn is counted, and the token goes on plus
    /// one.
    #[inline(always)]
    pub fn takes(&mut self, token: i64) -> bool {
        if token != self.due {
            return false;
        }
        self.due += self.lap;
        self.set.touch();
        true
    }

    /// One turn: takes the token, returns what to pass on. At PUBLISH the context shows its own
    /// record's memory.
    #[inline(always)]
    pub fn turn(&mut self, token: i64) -> i64 {
        if token == self.due {
            self.due += self.lap;
            self.set.touch();
            token + 1
        } else {
            self.special(token, |own| Some(memory_of(own)))
        }
    }

    /// A turn with what `takes` did not: commands, and tokens in the modes that record something.
    /// `place` is the memory in which the context shows itself at PUBLISH.
    #[cold]
    pub fn special(&mut self, token: i64, place: impl FnOnce(&Self) -> Option<Range<usize>>) -> i64 {
        let arrived = if self.mode == EACH { read_counter() } else { 0 };
        let mut records = self.shared.records();
        let due = if self.mode == PLAIN { self.due } else { self.due_special };
        match token {
            RESET => self.due_at_reset = due,
            PUBLISH => {
                records.turns.count(((due - self.due_at_reset) / self.lap) as u64);
                records.places.extend(place(self));
            }
            PLAIN => (self.mode, self.due, self.due_special) = (token, due, NEVER),
            EACH | VERIFY => (self.mode, self.due, self.due_special) = (token, NEVER, due),
            _ if token != self.due_special => records.broken = true,
            _ => {
                let hop = (token - records.trace_begin) as u64 + 1;
                if self.mode == EACH {
                    let sent = self.shared.stamp.load(Relaxed);
                    records.histogram.iter_mut().for_each(|histogram| histogram.arrived(sent, arrived));
                } else {
                    records.trace.iter_mut().for_each(|trace| trace.visit(hop, self.number));
                }
                drop(records);
                self.due_special += self.lap;
                self.set.touch(); // Outside the interval.
                self.depart();
                return token + 1;
            }
        }
        token
    }

    /// An interval of `timing=each` begins. `turn` ends with it; the first context of a pass must
    /// call it itself.
    #[inline(always)]
    pub fn depart(&self) {
        self.shared.stamp.store(read_counter(), Relaxed);
    }

    /// Counts turns of a batch that context 0 drives without taking the token at each.
    pub fn had_turns(&mut self, laps: u64) {
        self.due += laps as i64 * self.lap;
    }
}

/// The memory that a value occupies.
#[must_use]
pub fn memory_of<T>(value: &T) -> Range<usize> {
    let start = black_box(value as *const T).addr();
    start..start + size_of::<T>().max(1)
}

/// The contexts of a ring before it is one.
#[derive(Debug)]
pub struct Contexts {
    /// How many.
    pub number: u64,
    /// Never freed: a ring lasts until the process ends, and nothing is to be dropped where a
    /// switch is measured.
    shared: &'static Shared,
    sets: Option<WorkingSets>,
}

impl Contexts {
    /// As many as the plan says, with their working sets.
    ///
    /// # Errors
    /// There is no memory for the working sets.
    pub fn new(plan: &Plan) -> Result<Self, Refusal> {
        Ok(Self { sets: WorkingSets::new(plan)?, ..Self::of(plan.contexts) })
    }

    /// So many, without working sets.
    #[must_use]
    pub fn of(number: u64) -> Self {
        Self { number, shared: Box::leak(Box::default()), sets: None }
    }

    /// Whether they have working sets; if not, `()` is the type of their sets.
    #[must_use]
    pub fn have_sets(&self) -> bool {
        self.sets.is_some()
    }

    /// The record of one. Context 1 is the first to have a turn, context 0 the last of a lap.
    #[must_use]
    pub fn context<S: Touch>(&self, number: u64) -> Context<S> {
        let due = ((number + self.number - 1) % self.number) as i64;
        Context {
            shared: self.shared,
            number,
            lap: self.number as i64,
            due,
            due_special: NEVER,
            mode: PLAIN,
            due_at_reset: due,
            set: S::of(self.sets.as_ref(), number),
        }
    }

    /// The ring of these contexts.
    #[must_use]
    pub fn ring(self, passing: impl PassToken + 'static) -> Box<dyn Workload> {
        Box::new(Ring { passing, contexts: self, sequence: 0, begin: 0, mode: PLAIN })
    }
}

struct Ring<P> {
    passing: P,
    contexts: Contexts,
    sequence: i64,
    begin: i64,
    mode: i64,
}

impl<P: PassToken> Ring<P> {
    fn command(&mut self, command: i64) {
        if self.passing.pass(command, 1).0 != command {
            self.contexts.shared.records().broken = true;
        }
    }

    fn enter(&mut self, mode: i64) {
        if self.mode != mode {
            self.mode = mode;
            self.command(mode);
        }
    }

    /// Passes the token on, at the end of which it must be `units` further.
    fn pass(&mut self, units: u64, pass: fn(&mut P, i64, u64) -> (i64, u64)) -> u64 {
        let (token, ticks) = pass(&mut self.passing, self.sequence, units / self.contexts.number);
        self.sequence += units as i64;
        if token != self.sequence {
            self.contexts.shared.records().broken = true;
        }
        ticks
    }
}

impl<P: PassToken> Workload for Ring<P> {
    fn lap(&self) -> u64 {
        self.contexts.number
    }

    fn run(&mut self, units: u64) -> u64 {
        self.enter(PLAIN);
        self.pass(units, P::pass_batch)
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        self.enter(EACH);
        self.contexts.shared.records().histogram = Some(histogram);
        let ticks = self.pass(units, P::pass);
        let histogram = self.contexts.shared.records().histogram.take();
        (ticks, histogram.unwrap_or_else(Histogram::new))
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.command(RESET);
        self.contexts.sets.iter_mut().for_each(WorkingSets::reset);
    }

    fn claim(&mut self) -> Claim {
        self.contexts.shared.records().turns = Turns::default();
        self.command(PUBLISH);
        let mut records = self.contexts.shared.records();
        let mut claim = Claim::new(records.turns.clone(), (self.sequence - self.begin) as u64, records.broken);
        claim.counts.insert(P::DISTINCT, disjoint(std::mem::take(&mut records.places)));
        claim.counts.extend(self.contexts.sets.as_ref().map(|sets| ("touches", sets.touches())));
        self.passing.complete(&mut claim);
        claim
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        self.enter(VERIFY);
        trace.visit(0, 0);
        {
            let mut records = self.contexts.shared.records();
            (records.trace, records.trace_begin) = (Some(trace), self.sequence);
        }
        self.pass(units, P::pass);
        self.contexts.shared.records().trace.take()
    }

    fn fault(&self) -> Option<Refusal> {
        self.passing.fault()
    }

    fn notes(&self) -> Vec<String> {
        self.passing.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of three in one thread; at one turn context 1 hands on what is not the token.
    struct Faulty {
        members: [Context<()>; 3],
        turns: u64,
        wrong_at: u64,
    }

    impl PassToken for Faulty {
        const DISTINCT: &'static str = "distinct_frames";

        fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
            for _ in 0..laps {
                for i in [1, 2, 0] {
                    token = self.members[i].turn(token);
                    self.turns += u64::from(token >= 0);
                    token += i64::from(token >= 0 && self.turns == self.wrong_at);
                }
            }
            (token, 0)
        }
    }

    #[test]
    fn a_token_that_went_wrong_is_seen_in_every_mode() {
        let plan = Plan::of_tests();
        for (wrong_at, broken) in [(0, false), (4, true), (10, true), (16, true)] {
            let contexts = Contexts::new(&plan).unwrap();
            let members = [0, 1, 2].map(|number| contexts.context(number));
            let mut ring = contexts.ring(Faulty { members, turns: 0, wrong_at });
            ring.reset();
            ring.run(6);
            ring.run_each(6, Histogram::new());
            let trace = ring.verify(6, Trace::new(6)).unwrap();
            assert_eq!(ring.claim().broken, broken, "{wrong_at}");
            assert!(broken || trace.in_order(3));
        }
    }
}
