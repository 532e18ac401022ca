//! stack/wasm-async: calls into guests that wait in an import, polled in turn by a loop of the
//! host.
//!
//! Each context is one call of an instance of its own: wasmtime runs it on a stack of its own, and
//! leaves that when the future of the import is pending. The loop that polls is not a context. The
//! guest also counts its turns, and tells the import so far how many it had.

use crate::guest::{refused, Word};
use crate::suspension::Suspension;
use kit::{
    memory_of, now, Claim, Context, Contexts, Done, Mechanism, PassToken, Plan, Population, Recorder, Refusal, Series,
    Units, Workload, BROKEN, PUBLISH, RESET,
};
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{self, Poll, Waker};
use wasmtime::{Caller, Config, Engine, InstancePre, Linker, Module, Result, Store};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[],
    create: |_| Ok(Units::boxed(Creation { machine: Machine::new()? })),
    hold: |plan| {
        Ok(Box::new(Held { machine: Machine::new()?, all: Contexts::of(plan.contexts), members: Vec::new(), ran: 0 }))
    },
    ..Mechanism::new("stack/wasm-async", set_up)
};

/// Takes turns for ever; or takes one.
const GUEST: &str = r#"(module
  (import "host" "turn" (func $turn (param i64) (result i64)))
  (func (export "live") (local $turns i64)
    (loop $on
      (local.set $turns (i64.add (local.get $turns) (call $turn (local.get $turns))))
      (br $on)))
  (func (export "once") (param i64) (result i64)
    (i64.add (local.get 0) (i64.const 1))))"#;

/// What a ring's contexts share besides the token; the driver reads it.
#[derive(Default)]
struct Shared {
    token: Word,
    /// Turns of all guests by their own count, since the last reset.
    turns: Word,
}

/// A guest's context, on the host's side.
struct Member {
    own: Context<()>,
    shared: &'static Shared,
    at_reset: i64,
}

impl Member {
    /// A turn, of which the guest says that it had so many before. Whether it was one: a command is
    /// not.
    fn turn(&mut self, turns: i64) -> i64 {
        let token = self.shared.token.get();
        let answer = if self.own.takes(token) { token + 1 } else { self.command(token, turns) };
        self.shared.token.set(answer);
        i64::from(token >= 0)
    }

    /// The same with what no batch has.
    #[cold]
    fn command(&mut self, token: i64, turns: i64) -> i64 {
        match token {
            RESET => self.at_reset = turns,
            PUBLISH => self.shared.turns.set(self.shared.turns.get() + turns - self.at_reset),
            _ => {}
        }
        // A word of the stack that this runs on.
        self.own.special(token, |_| Some(memory_of(&0_u64.to_owned())))
    }
}

type Call<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// The compiled guest with its import.
struct Machine {
    engine: Engine,
    guest: InstancePre<Option<Member>>,
}

impl Machine {
    fn new() -> std::result::Result<Self, Refusal> {
        Self::made().map_err(|error| refused("compiles no guest", &error))
    }

    fn made() -> Result<Self> {
        let engine = Engine::new(Config::new().async_support(true))?;
        let module = Module::new(&engine, GUEST)?;
        let mut linker = Linker::new(&engine);
        linker.func_wrap_async("host", "turn", |mut caller: Caller<'_, Option<Member>>, (turns,): (i64,)| {
            Box::new(async move {
                let counted = caller.data_mut().as_mut().map_or(0, |member| member.turn(turns));
                Suspension(false).await;
                counted
            })
        })?;
        let guest = linker.instantiate_pre(&module)?;
        Ok(Self { engine, guest })
    }

    /// A call that has not begun.
    fn live(&self, own: Context<()>, shared: &'static Shared) -> Call<()> {
        let mut store = Store::new(&self.engine, Some(Member { own, shared, at_reset: 0 }));
        let guest = self.guest.clone();
        Box::pin(async move {
            let instance = guest.instantiate_async(&mut store).await?;
            instance.get_typed_func::<(), ()>(&mut store, "live")?.call_async(&mut store, ()).await
        })
    }

    /// One that takes a token up by one.
    fn once(&self, token: i64) -> Call<i64> {
        let mut store = Store::new(&self.engine, None);
        let guest = self.guest.clone();
        Box::pin(async move {
            let instance = guest.instantiate_async(&mut store).await?;
            instance.get_typed_func::<i64, i64>(&mut store, "once")?.call_async(&mut store, token).await
        })
    }
}

/// Polls a call that must not end.
#[inline(always)]
fn pends(call: &mut Call<()>, context: &mut task::Context<'_>) -> bool {
    call.as_mut().poll(context).is_pending()
}

/// Begins a call with the token that its context is due, which it must take.
fn begun(mut call: Call<()>, due: i64, shared: &Shared) -> std::result::Result<Call<()>, Refusal> {
    shared.token.set(due);
    match call.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Pending => Ok(call),
        Poll::Ready(Err(error)) => Err(refused("begins no call", &error)),
        Poll::Ready(Ok(())) => Err(Refusal::failed("self_check_failed", "a call ended that should have waited")),
    }
}

fn set_up(plan: &Plan) -> std::result::Result<Box<dyn Workload>, Refusal> {
    let (contexts, machine) = (Contexts::new(plan)?, Machine::new()?);
    let shared: &'static Shared = Box::leak(Box::default());
    // In the order of their turns: context 1 first, context 0 last. A command begins them, which
    // none takes for a turn.
    let member = |i| begun(machine.live(contexts.context(i % contexts.number), shared), RESET, shared);
    let members = (1..=contexts.number).map(member).collect::<std::result::Result<_, _>>()?;
    let first = contexts.context(0);
    Ok(contexts.ring(Calls { members, first, shared }))
}

struct Calls {
    members: Vec<Call<()>>,
    /// Begins the first interval of a pass.
    first: Context<()>,
    shared: &'static Shared,
}

impl PassToken for Calls {
    const DISTINCT: &'static str = "distinct_stacks";

    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let members = black_box(&mut self.members[..]);
        let mut context = task::Context::from_waker(Waker::noop());
        let mut pending = true;
        self.shared.token.set(token);
        let begin = now();
        self.first.depart();
        for _ in 0..laps {
            for member in &mut *members {
                pending &= pends(member, &mut context);
            }
        }
        let ticks = now() - begin;
        (if pending { self.shared.token.get() } else { BROKEN }, ticks)
    }

    fn complete(&mut self, claim: &mut Claim) {
        claim.counts.insert("guest_turns", self.shared.turns.get());
        self.shared.turns.set(0);
    }
}

/// A store with an instance and a call in it, which ends at once.
struct Creation {
    machine: Machine,
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R> {
        let mut context = task::Context::from_waker(Waker::noop());
        // A call that did not end leaves the token where it was, which the claim shows.
        Done::units(token, units, recorder, |token| {
            match self.machine.once(token as i64).as_mut().poll(&mut context) {
                Poll::Ready(Ok(next)) => next as u64,
                _ => token,
            }
        })
    }
}

/// Calls that had one turn and wait.
struct Held {
    machine: Machine,
    all: Contexts,
    members: Vec<Call<()>>,
    ran: u64,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> std::result::Result<(), Refusal> {
        let shared: &'static Shared = Box::leak(Box::default());
        self.members.reserve_exact(contexts as usize);
        for number in 0..contexts {
            let own = self.all.context(number % self.all.number);
            let due = own.due;
            self.members.push(begun(self.machine.live(own, shared), due, shared)?);
            self.ran += u64::from(shared.token.get() == due + 1);
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(std::mem::take(&mut self.ran))
    }
}
