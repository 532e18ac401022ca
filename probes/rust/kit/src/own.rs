//! For a probe of one's own that measures one mechanism: contexts that a driver resumes in turn,
//! each with the token that the one before it handed on. What `switchcost new-probe --language
//! rust` starts from.
//!
//! The driver is not a context: a switch is one suspension and one resumption.

use crate::clock::now;
use crate::experiments::OF_CONTEXTS;
use crate::mechanism::{Claim, Mechanism, Population, Workload};
use crate::memory::require_memory;
use crate::offsets::HEAP_OFFSET;
use crate::plan::Plan;
use crate::program::probe;
use crate::refusal::Refusal;
use crate::ring::{Context, Contexts, PassToken};
use crate::series::{Done, Recorder, Series, Units};
use crate::wire::Build;
use std::marker::PhantomData;
use std::process::ExitCode;

/// A context of the library that is measured.
pub trait Resumed: Sized + 'static {
    /// Name of the count of evidence for contexts that each are in a place of their own.
    const DISTINCT: &'static str = "distinct_frames";

    /// Memory of one, at least: more contexts than the machine has room for are refused.
    const BYTES: u64 = 0;

    /// Makes one that is suspended. Resumed with a token it hands on `own.turn(token)`, and
    /// suspends again.
    fn make(own: Context<()>) -> Self;

    /// Continues it with this token and gives the one that it hands on.
    fn resume(&mut self, token: i64) -> i64;

    /// Makes a context, enters it once with the token, lets it end. Gives the token plus one.
    fn make_and_end(token: u64) -> u64;
}

/// The whole of `main`.
#[must_use]
pub fn own_probe<R: Resumed>(name: &'static str, mechanism: &'static str) -> ExitCode {
    let build =
        Build { probe: name, version: "1", runtime: "Rust std", compiler: crate::COMPILER, flags: crate::FLAGS };
    probe(build, &[of_resumed::<R>(mechanism)])
}

/// One mechanism of several.
#[must_use]
pub const fn of_resumed<R: Resumed>(id: &'static str) -> Mechanism {
    Mechanism {
        experiments: OF_CONTEXTS,
        parameters: &[HEAP_OFFSET],
        create: |_| Ok(Units::boxed(Creation::<R>(PhantomData))),
        hold: |plan| {
            require_memory(R::BYTES * plan.contexts, CURE)?;
            Ok(Box::new(Held::<R> { lap: plan.contexts, members: Vec::new(), ran: 0 }))
        },
        ..Mechanism::new(id, set_up::<R>)
    }
}

/// Of memory that is short.
const CURE: &str = "use fewer contexts";

fn set_up<R: Resumed>(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    require_memory(R::BYTES * plan.contexts, CURE)?;
    let contexts = Contexts::new(plan)?;
    // In the order of their turns: context 1 first, context 0 last.
    let members = (1..=contexts.number).map(|i| R::make(contexts.context(i % contexts.number))).collect();
    let first = contexts.context(0);
    Ok(contexts.ring(Members { members, first }))
}

struct Members<R> {
    members: Vec<R>,
    /// Begins the first interval of a pass.
    first: Context<()>,
}

impl<R: Resumed> PassToken for Members<R> {
    const DISTINCT: &'static str = R::DISTINCT;

    fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
        let members = std::hint::black_box(&mut self.members[..]);
        let begin = now();
        self.first.depart();
        for _ in 0..laps {
            for member in &mut *members {
                token = member.resume(token);
            }
        }
        (token, now() - begin)
    }
}

struct Creation<R>(PhantomData<R>);

impl<R: Resumed> Series for Creation<R> {
    fn series<C: Recorder>(&mut self, mut token: u64, units: u64, mut recorder: C) -> Done<C> {
        let begin = now();
        for _ in 0..units {
            recorder.depart();
            token = R::make_and_end(token);
            recorder.arrive();
        }
        Done { token, ticks: now() - begin, recorder }
    }
}

/// Contexts that had one turn.
struct Held<R> {
    lap: u64,
    members: Vec<R>,
    ran: u64,
}

impl<R: Resumed> Population for Held<R> {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let all = Contexts::of(self.lap);
        self.members.reserve_exact(contexts as usize);
        for number in 0..contexts {
            let own = all.context(number % self.lap);
            let due = own.due;
            let mut member = R::make(own);
            self.ran += u64::from(member.resume(due) == due + 1);
            self.members.push(member);
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(std::mem::take(&mut self.ran))
    }
}
