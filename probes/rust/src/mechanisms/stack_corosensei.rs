//! stack/corosensei: a parent and the coroutines that it resumes pass a token round.
//!
//! corosensei is asymmetric: a coroutine can hand the CPU only to its parent. Context 0 is the parent, contexts
//! 1 … N − 1 are coroutines. A switch between the parent and a coroutine is one transfer of control (a resume or a
//! suspend); one between two coroutines is two, because it goes through the parent, which then only relays and has no
//! turn. So a lap of N switches has 2 (N − 1) transfers: with two contexts one each, with many nearly two.
//!
//! The token is one word, which corosensei passes in a register. Commands are negative tokens: the comparison with the
//! token that is due is all that a coroutine pays for them.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use kit::{
    disjoint, now, read_counter, Claim, Histogram, Mechanism, Parameter, ParameterKind, Plan, Population, Refusal,
    Touch, Trace, Turns, WorkingSet, WorkingSets, Workload,
};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::ops::Range;
use std::rc::Rc;

pub const MECHANISM: Mechanism = Mechanism {
    id: "stack/corosensei",
    experiments: &["switch", "create", "footprint"],
    parameters: &[STACK, STACK_SIZE, kit::WORKING_SET],
    timings: kit::ALL_TIMINGS,
    pins: false,
    unavailable: || None,
    set_up,
    hold: Some(|plan| {
        Ok(Box::new(Held { stack_size: plan.number(STACK_SIZE.name) as usize, routines: Vec::new(), ran: 0 }))
    }),
};

/// corosensei's own default.
const STACK_BYTES: usize = 1 << 20;

const STACK: Parameter =
    Parameter { name: "stack", kind: ParameterKind::Words(&["fresh", "reused"]), default: "fresh" };

const STACK_SIZE: Parameter =
    Parameter { name: "stack_size", kind: ParameterKind::Integer { min: 4096, max: 1 << 30 }, default: "1048576" };

/// A stack of a ring: corosensei's own, or a part of one mapping for all.
struct RingStack {
    base: StackPointer,
    limit: StackPointer,
    /// Held until the coroutine is dropped.
    #[cfg_attr(not(windows), expect(dead_code, reason = "it is dropped, no more"))]
    own: Option<DefaultStack>,
}

// SAFETY: base and limit enclose memory that lasts as long as the stack and is nobody else's. A part of the common
// mapping has no guard page, because 30 000 of them meet vm.max_map_count; what a member's few frames need is far below
// the smallest size.
unsafe impl Stack for RingStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.own.as_ref().map_or(
            corosensei::stack::StackTebFields {
                StackBase: self.base.get(),
                StackLimit: self.limit.get(),
                DeallocationStack: self.limit.get(),
                GuaranteedStackBytes: 0,
            },
            Stack::teb_fields,
        )
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        if let Some(own) = &mut self.own {
            own.update_teb_fields(stack_limit, guaranteed_stack_bytes);
        }
    }
}

/// The stacks of a ring: with corosensei's size its own kind, with any other parts of one mapping, three cache lines
/// apart, so that the hot words of neighbours lie in different sets of the caches.
fn ring_stacks(size: usize, count: u64) -> Result<Vec<RingStack>, Refusal> {
    const CURE: &str = "use fewer contexts or a smaller stack_size";
    if size == STACK_BYTES {
        let own = |made| new_stack(made).map(|own| RingStack { base: own.base(), limit: own.limit(), own: Some(own) });
        return (0..count).map(own).collect();
    }
    let (size, gap) = (size.next_multiple_of(64), 3 * 64);
    // A context touches the top page of its stack and perhaps a second one.
    kit::require_memory((size + gap).min(2 * 4096) as u64 * count, CURE)?;
    let start = kit::map_pages((size + gap) * count as usize, CURE)?.as_ptr().addr();
    let part = |made| {
        let limit = start + (size + gap) * made as usize;
        Some(RingStack { base: StackPointer::new(limit + size)?, limit: StackPointer::new(limit)?, own: None })
    };
    let parts: Option<Vec<_>> = (0..count).map(part).collect();
    parts.ok_or_else(|| Refusal::failed("set_up_failed", "the stacks were mapped at address 0"))
}

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    if plan.experiment == "create" {
        let spare = (plan.parameter("stack") == "reused").then(|| new_stack(0)).transpose()?;
        return Ok(Box::new(Creation { spare, turns: 0, broken: false }));
    }
    if plan.contexts < 2 {
        return Err(Refusal::refused("bad_value", "a ring needs at least two contexts: contexts=2 or more"));
    }
    Ok(match WorkingSets::new(plan)? {
        None => Box::new(Ring::<()>::new(plan, None)?),
        sets => Box::new(Ring::<WorkingSet>::new(plan, sets)?),
    })
}

fn new_stack(made: u64) -> Result<DefaultStack, Refusal> {
    DefaultStack::new(STACK_BYTES).map_err(|error| {
        let detail = format!(
            "no stack for coroutine {} ({error}); ask for fewer contexts, give another stack_size (those share one \
             mapping), or raise the sysctl vm.max_map_count",
            made + 1
        );
        Refusal::unsupported("limit_reached", detail)
    })
}

type Routine = Coroutine<i64, i64, (), RingStack>;

const RESET: i64 = -1;
const PUBLISH: i64 = -2;
const PLAIN: i64 = -3;
const EACH: i64 = -4;
const VERIFY: i64 = -5;
const NEVER: i64 = i64::MIN;

/// What parent and coroutines share; one thread, so no locks.
#[derive(Default)]
struct Shared {
    broken: Cell<bool>,
    turns: RefCell<Turns>,
    /// The stack of each context that was found on its own at PUBLISH.
    stacks: RefCell<Vec<Range<usize>>>,
    /// Counter as read by the sender.
    stamp: Cell<u64>,
    histogram: RefCell<Option<Box<Histogram>>>,
    trace: RefCell<Option<Box<Trace>>>,
    trace_begin: Cell<i64>,
}

impl Shared {
    fn arrive(&self) {
        if let Some(histogram) = self.histogram.borrow_mut().as_mut() {
            histogram.arrive(self.stamp.get());
        }
    }

    fn visit(&self, token: i64, context: u64) {
        if let Some(trace) = self.trace.borrow_mut().as_mut() {
            trace.visit((token - self.trace_begin.get()) as u64, context);
        }
    }
}

struct Ring<S: Touch> {
    partners: Vec<Routine>,
    shared: Rc<Shared>,
    /// The parent's turns: one a lap.
    turns: u64,
    sequence: i64,
    begin: i64,
    mode: i64,
    sets: Option<WorkingSets>,
    /// The parent's.
    set: S,
}

impl<S: Touch> Ring<S> {
    fn new(plan: &Plan, sets: Option<WorkingSets>) -> Result<Self, Refusal> {
        let contexts = plan.contexts;
        let set = |context| S::of(sets.as_ref(), context);
        let shared = Rc::new(Shared::default());
        let mut partners = Vec::with_capacity(contexts as usize - 1);
        let stacks = ring_stacks(plan.number(STACK_SIZE.name) as usize, contexts - 1)?;
        for (i, stack) in (1..).zip(stacks) {
            let mut member = Member::<S>::new(&shared, i, contexts, set(i));
            member.stack = stack.limit.get()..stack.base.get();
            partners.push(Coroutine::with_stack(stack, move |yielder, first| member.live(yielder, first)));
        }
        let set = set(0);
        Ok(Self { partners, shared, turns: 0, sequence: 0, begin: 0, mode: PLAIN, sets, set })
    }

    /// Gives a command to every coroutine.
    fn command(&mut self, command: i64) {
        for partner in &mut self.partners {
            if resume(partner, command) != command {
                self.shared.broken.set(true);
            }
        }
    }

    fn enter(&mut self, mode: i64) {
        if self.mode != mode {
            self.mode = mode;
            self.command(mode);
        }
    }
}

#[inline(always)]
fn resume(routine: &mut Routine, token: i64) -> i64 {
    match routine.resume(token) {
        CoroutineResult::Yield(token) => token,
        CoroutineResult::Return(()) => i64::MIN,
    }
}

/// The parent's measured loop. The token goes from hand to hand in a register; the coroutine checks each, and a token
/// that went wrong anywhere is not the last one due, which the caller checks.
#[inline(never)]
fn pass_pair<S: Touch>(partner: &mut Routine, mut token: i64, laps: u64, set: S) -> i64 {
    let end = token + 2 * laps as i64;
    while token < end {
        token = resume(partner, token) + 1;
        set.touch();
    }
    token
}

/// The same with several partners.
#[inline(never)]
fn pass_ring<S: Touch>(partners: &mut [Routine], mut token: i64, laps: u64, set: S) -> i64 {
    for _ in 0..laps {
        for partner in &mut *partners {
            token = resume(partner, token);
        }
        token += 1;
        set.touch();
    }
    token
}

/// One coroutine's side. The count of turns is `due`, which every turn advances by one lap: every variable of the loop
/// lives in memory, because a switch clobbers the registers, and a second counter would cost a third of a nanosecond.
struct Member<S: Touch> {
    shared: Rc<Shared>,
    context: u64,
    lap: i64,
    /// Token that comes next, in mode PLAIN; otherwise one that never comes, so that every turn is a special one.
    due: i64,
    /// Token that comes next, in the other modes.
    due_special: i64,
    mode: i64,
    due_at_reset: i64,
    /// Lowest and highest address of its stack.
    stack: Range<usize>,
    set: S,
}

impl<S: Touch> Member<S> {
    fn new(shared: &Rc<Shared>, context: u64, contexts: u64, set: S) -> Self {
        // Context 1 is the first to have a turn, context 0 the last of a lap.
        let due = context as i64 - 1;
        let (shared, lap) = (Rc::clone(shared), contexts as i64);
        Self { shared, context, lap, due, due_special: NEVER, mode: PLAIN, due_at_reset: due, stack: 0..0, set }
    }

    /// The measured loop.
    fn live(mut self, yielder: &Yielder<i64, i64>, mut token: i64) {
        loop {
            if token == self.due {
                self.due += self.lap;
                self.set.touch();
                token = yielder.suspend(token + 1);
            } else {
                let answer = self.special(token);
                token = yielder.suspend(answer);
            }
        }
    }

    /// Commands, and turns in the modes that record something; returns what to suspend with.
    #[cold]
    fn special(&mut self, token: i64) -> i64 {
        let due = if self.mode == PLAIN { self.due } else { self.due_special };
        match token {
            RESET => self.due_at_reset = due,
            PUBLISH => {
                self.shared.turns.borrow_mut().count(((due - self.due_at_reset) / self.lap) as u64);
                let own = Some(self.stack.clone()).filter(|stack| stack.contains(&super::memory_of(&due).start));
                self.shared.stacks.borrow_mut().extend(own);
            }
            PLAIN => (self.mode, self.due, self.due_special) = (token, due, NEVER),
            EACH | VERIFY => (self.mode, self.due, self.due_special) = (token, NEVER, due),
            _ if token == self.due_special => return self.recorded_turn(token),
            _ => self.shared.broken.set(true),
        }
        token
    }

    fn recorded_turn(&mut self, token: i64) -> i64 {
        if self.mode == EACH {
            self.shared.arrive();
        } else {
            self.shared.visit(token + 1, self.context);
        }
        self.due_special += self.lap;
        self.set.touch(); // Outside the interval.
        self.shared.stamp.set(read_counter());
        token + 1
    }
}

impl<S: Touch> Workload for Ring<S> {
    fn lap(&self) -> u64 {
        self.partners.len() as u64 + 1
    }

    fn run(&mut self, units: u64) -> u64 {
        self.enter(PLAIN);
        let laps = units / self.lap();
        let begin = now();
        // One partner has a loop of its own: in the general one the list is walked with variables that live in memory.
        let token = match black_box(&mut self.partners[..]) {
            [partner] => pass_pair::<S>(partner, self.sequence, laps, self.set),
            partners => pass_ring::<S>(partners, self.sequence, laps, self.set),
        };
        let ticks = now() - begin;
        self.turns += laps;
        self.sequence += units as i64;
        self.shared.broken.set(self.shared.broken.get() | (token != self.sequence));
        ticks
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        self.enter(EACH);
        self.shared.histogram.replace(Some(histogram));
        let laps = units / self.lap();
        let begin = now();
        for _ in 0..laps {
            let mut token = self.sequence;
            self.shared.stamp.set(read_counter());
            for partner in &mut self.partners {
                token = resume(partner, token);
            }
            self.shared.arrive();
            self.set.touch();
            self.sequence += self.partners.len() as i64 + 1;
            if token + 1 != self.sequence {
                self.shared.broken.set(true);
            }
        }
        self.turns += laps;
        (now() - begin, self.shared.histogram.take().unwrap_or_else(Histogram::new))
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.turns = 0;
        self.command(RESET);
        self.sets.iter_mut().for_each(WorkingSets::reset);
    }

    fn claim(&mut self) -> Claim {
        let mut turns = Turns::default();
        turns.count(self.turns);
        self.shared.turns.replace(turns);
        self.command(PUBLISH);
        let token = (self.sequence - self.begin) as u64;
        self.shared.stacks.borrow_mut().push(super::memory_of(&token)); // The parent's: wherever it is, in no other.
        let mut claim = Claim::new(self.shared.turns.take(), token, self.shared.broken.get());
        claim.counts.insert("distinct_stacks", disjoint(self.shared.stacks.take()));
        claim.with_touches(self.sets.as_ref())
    }

    fn verify(&mut self, units: u64, trace: Box<Trace>) -> Option<Box<Trace>> {
        self.enter(VERIFY);
        self.shared.trace.replace(Some(trace));
        self.shared.trace_begin.set(self.sequence);
        self.shared.visit(self.sequence, 0);
        for _ in 0..units / self.lap() {
            for partner in &mut self.partners {
                self.sequence = resume(partner, self.sequence);
            }
            self.sequence += 1;
            self.shared.visit(self.sequence, 0);
            self.set.touch();
        }
        self.shared.trace.take()
    }
}

/// Creates a coroutine, runs it to its end, drops it. `spare` is the stack that goes from one to the next.
struct Creation {
    spare: Option<DefaultStack>,
    turns: u64,
    broken: bool,
}

impl Creation {
    fn one(&mut self) {
        match self.spare.take() {
            Some(stack) => self.spare = self.enter(stack),
            None => drop(DefaultStack::new(STACK_BYTES).map(|stack| self.enter(stack))),
        }
    }

    /// Some: the stack, free again. A fresh stack that could not be had leaves the turn uncounted, which the claim shows.
    fn enter(&mut self, stack: DefaultStack) -> Option<DefaultStack> {
        let mut routine = Coroutine::with_stack(stack, |_: &Yielder<u64, ()>, turn: u64| black_box(turn) + 1);
        match routine.resume(self.turns) {
            CoroutineResult::Return(turns) => self.turns = turns,
            CoroutineResult::Yield(()) => self.broken = true,
        }
        Some(routine.into_stack())
    }
}

impl Workload for Creation {
    fn lap(&self) -> u64 {
        1
    }

    fn run(&mut self, units: u64) -> u64 {
        let begin = now();
        for _ in 0..units {
            self.one();
        }
        now() - begin
    }

    fn run_each(&mut self, units: u64, mut histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let begin = now();
        for _ in 0..units {
            let sent = read_counter();
            self.one();
            histogram.arrive(sent);
        }
        (now() - begin, histogram)
    }

    fn reset(&mut self) {
        self.turns = 0;
    }

    fn claim(&mut self) -> Claim {
        super::claim_of_created(self.turns, self.broken)
    }

    fn verify(&mut self, _: u64, _: Box<Trace>) -> Option<Box<Trace>> {
        None
    }
}

/// Coroutines at their first suspension, each on a stack of its own.
struct Held {
    stack_size: usize,
    routines: Vec<Coroutine<u64, u64, (), RingStack>>,
    ran: u64,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        self.routines.reserve_exact(contexts as usize);
        for stack in ring_stacks(self.stack_size, contexts)? {
            let mut routine = Coroutine::with_stack(stack, |yielder: &Yielder<u64, u64>, turn| {
                yielder.suspend(turn + 1);
            });
            match routine.resume(self.ran) {
                CoroutineResult::Yield(ran) => self.ran = ran,
                CoroutineResult::Return(()) => {
                    return Err(Refusal::failed(
                        "self_check_failed",
                        "a coroutine ended that should have been suspended",
                    ));
                }
            }
            self.routines.push(routine);
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        super::claim_of_held(std::mem::take(&mut self.ran))
    }
}
