//! stack/corosensei: a parent and the coroutines that it resumes pass a token round.
//!
//! corosensei is asymmetric: a coroutine can hand the CPU only to its parent. Context 0 is the
//! parent, contexts 1 … N − 1 are coroutines. A switch between the parent and a coroutine is one
//! transfer of control (a resume or a suspend); one between two coroutines is two, because it goes
//! through the parent, which then only relays and has no turn. So a lap of N switches has 2 (N − 1)
//! transfers: with two contexts one each, with many nearly two.
//!
//! The token is one word, which corosensei passes in a register. Commands are negative tokens: the
//! comparison with the token that is due is all that a coroutine pays for them.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{on_stack, Coroutine, CoroutineResult, Yielder};
use kit::{
    memory_of, now, Claim, Context, Contexts, Done, Mechanism, Parameter, PassToken, Plan, Population, Recorder,
    Refusal, Series, Touch, Units, WorkingSet, Workload, BROKEN,
};
use std::hint::black_box;
use std::ops::Range;

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint", "count"],
    parameters: &[STACK, STACK_SIZE, kit::STACK_OFFSET, kit::WORKING_SET],
    create,
    hold: |plan| Ok(Box::new(Held { stack_size: plan.number(STACK_SIZE.name) as usize, routines: Vec::new(), ran: 0 })),
    ..Mechanism::new("stack/corosensei", set_up)
};

/// corosensei's own default.
const STACK_BYTES: usize = 1 << 20;

const STACK: Parameter = Parameter { name: "stack", words: &["fresh", "reused"] };

const STACK_SIZE: Parameter = Parameter { name: "stack_size", words: &[] };

/// A stack of a ring or of its parent: corosensei's own, or a part of one mapping for all.
struct RingStack {
    base: StackPointer,
    limit: StackPointer,
    /// Held until the coroutine is dropped.
    #[cfg_attr(not(windows), expect(dead_code, reason = "it is dropped, no more"))]
    own: Option<DefaultStack>,
}

// SAFETY: base and limit enclose memory that lasts as long as the stack and is nobody else's. A
// part of the common mapping has no guard page, because 30 000 of them meet vm.max_map_count; what
// a member's few frames need is far below the smallest size.
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

/// The stacks of a ring: with corosensei's size its own kind, with any other parts of one mapping,
/// three cache lines apart, so that the hot words of neighbours lie in different sets of the
/// caches.
fn ring_stacks(size: usize, count: u64, offset: usize) -> Result<Vec<RingStack>, Refusal> {
    const CURE: &str = "use fewer contexts or a smaller stack_size";
    if size == STACK_BYTES {
        return (0..count).map(|made| own_stack(made, offset)).collect();
    }
    let (size, gap) = (size.next_multiple_of(64), 3 * 64);
    // A context touches the top page of its stack and perhaps a second one.
    kit::require_memory((size + gap).min(2 * 4096) as u64 * count, CURE)?;
    let start = kit::map_pages((size + gap) * count as usize, CURE)?.as_ptr().addr();
    let part = |made| {
        let limit = start + (size + gap) * made as usize;
        Some(RingStack { base: StackPointer::new(limit + size - offset)?, limit: StackPointer::new(limit)?, own: None })
    };
    let parts: Option<Vec<_>> = (0..count).map(part).collect();
    parts.ok_or_else(|| Refusal::failed("set_up_failed", "the stacks were mapped at address 0"))
}

fn create(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let spare = (plan.parameter("stack") == "reused").then(|| new_stack(0)).transpose()?;
    Ok(Units::boxed(Creation { spare }))
}

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let contexts = Contexts::new(plan)?;
    let size = plan.number(STACK_SIZE.name) as usize;
    let stacks = ring_stacks(size, contexts.number - 1, kit::stack_offset(plan, size))?;
    let below_parent = own_stack(0, kit::driver_offset(plan, STACK_BYTES))?;
    Ok(match contexts.have_sets() {
        false => Coroutines::<()>::ring(contexts, stacks, below_parent),
        true => Coroutines::<WorkingSet>::ring(contexts, stacks, below_parent),
    })
}

fn own_stack(made: u64, offset: usize) -> Result<RingStack, Refusal> {
    let own = new_stack(made)?;
    let base = StackPointer::new(own.base().get() - offset).unwrap_or(own.base());
    Ok(RingStack { base, limit: own.limit(), own: Some(own) })
}

fn new_stack(made: u64) -> Result<DefaultStack, Refusal> {
    DefaultStack::new(STACK_BYTES).map_err(|error| {
        let detail = format!(
            "no stack for coroutine {} ({error}); ask for fewer contexts, give another stack_size (those share create_and_end \
             mapping), or raise the sysctl vm.max_map_count",
            made + 1
        );
        Refusal::unsupported("limit_reached", detail)
    })
}

type Routine = Coroutine<i64, i64, (), RingStack>;

/// One thread's coroutines and their parent.
struct Coroutines<S: Touch> {
    partners: Vec<Routine>,
    parent: Context<S>,
    /// What the parent's loop runs on. The kernel draws by 16 bytes where the stack of a process
    /// begins, and at one of four places what the parent keeps there crosses a cache line: a switch
    /// then takes a seventh more.
    below_parent: RingStack,
}

impl<S: Touch> Coroutines<S> {
    fn ring(contexts: Contexts, stacks: Vec<RingStack>, below_parent: RingStack) -> Box<dyn Workload> {
        let partner = |(number, own): (u64, RingStack)| {
            let (context, stack) = (contexts.context::<S>(number), own.limit.get()..own.base.get());
            Coroutine::with_stack(own, move |yielder, first| live(context, stack, yielder, first))
        };
        let partners = (1..).zip(stacks).map(partner).collect();
        let parent = contexts.context(0);
        contexts.ring(Self { partners, parent, below_parent })
    }
}

/// An address on the stack that this runs on.
#[inline(never)]
fn here() -> usize {
    memory_of(&0_u8.to_owned()).start
}

/// One coroutine's measured loop: every variable of it lives in memory, because a switch clobbers
/// the registers, and a second counter would cost a third of a nanosecond.
fn live<S: Touch>(mut context: Context<S>, stack: Range<usize>, yielder: &Yielder<i64, i64>, mut token: i64) {
    loop {
        if context.takes(token) {
            token = yielder.suspend(token + 1);
        } else {
            let answer = context.special(token, |_| Some(stack.clone()).filter(|stack| stack.contains(&here())));
            token = yielder.suspend(answer);
        }
    }
}

#[inline(always)]
fn resume(routine: &mut Routine, token: i64) -> i64 {
    match routine.resume(token) {
        CoroutineResult::Yield(token) => token,
        CoroutineResult::Return(()) => BROKEN,
    }
}

/// The parent's measured loop. The token goes from hand to hand in a register; the coroutine checks
/// each, and a token that went wrong anywhere is not the last one due, which the caller checks.
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

impl<S: Touch> PassToken for Coroutines<S> {
    const DISTINCT: &'static str = "distinct_stacks";

    fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
        let begin = now();
        self.parent.depart();
        for _ in 0..laps {
            for partner in &mut self.partners {
                token = resume(partner, token);
            }
            token = self.parent.turn(token);
        }
        (token, now() - begin)
    }

    fn pass_batch(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let (base, limit, set) = (self.below_parent.base, self.below_parent.limit, self.parent.set);
        let partners = black_box(&mut self.partners[..]);
        let begin = now();
        let token = on_stack(RingStack { base, limit, own: None }, || match partners {
            // One partner has a loop of its own: in the general one the list is walked with
            // variables that live in memory.
            [partner] => pass_pair::<S>(partner, token, laps, set),
            partners => pass_ring::<S>(partners, token, laps, set),
        });
        let ticks = now() - begin;
        self.parent.had_turns(laps);
        (token, ticks)
    }
}

/// Creates a coroutine, runs it to its end, drops it. `spare` is the stack that goes from one to
/// the next.
struct Creation {
    spare: Option<DefaultStack>,
}

impl Creation {
    /// A fresh stack that could not be had leaves the token where it was, which the claim shows.
    fn create_and_end(&mut self, mut token: u64) -> u64 {
        match self.spare.take() {
            Some(stack) => self.spare = Some(enter(stack, &mut token)),
            None => drop(DefaultStack::new(STACK_BYTES).map(|stack| enter(stack, &mut token))),
        }
        token
    }
}

/// Gives the stack back. A coroutine that did not end also leaves the token.
fn enter(stack: DefaultStack, token: &mut u64) -> DefaultStack {
    let mut routine = Coroutine::with_stack(stack, |_: &Yielder<u64, ()>, token: u64| black_box(token) + 1);
    if let CoroutineResult::Return(next) = routine.resume(*token) {
        *token = next;
    }
    routine.into_stack()
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R> {
        Done::units(token, units, recorder, |token| self.create_and_end(token))
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
        for stack in ring_stacks(self.stack_size, contexts, 0)? {
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
        Claim::of_created(std::mem::take(&mut self.ran))
    }
}
