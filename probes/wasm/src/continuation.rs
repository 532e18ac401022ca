//! stack/wasm-continuation: continuations of WebAssembly's stack-switching proposal, resumed in
//! turn by a loop of the same guest. A switch never leaves the guest; the loop is not a context.
//!
//! Commands, and tokens in the modes that record something, go to the host, which keeps the
//! records.

use crate::guest::refused;
use kit::{
    memory_of, now, Claim, Context, Contexts, Mechanism, PassToken, Plan, Population, Refusal, Workload, BROKEN,
};
use wasmtime::{Caller, Config, Engine, Linker, Module, Result, Store, TypedFunc};

pub const MECHANISM: Mechanism = Mechanism {
    // wasmtime frees a continuation with its store, and not before: as many as `create` makes have
    // no room.
    experiments: &["switch", "footprint"],
    parameters: &[],
    // Of a single switch the host would see its own calls.
    timings: &["batch"],
    unavailable,
    hold: |plan| Ok(Box::new(Held { guest: Guest::new(&Contexts::of(plan.contexts), 0)?, lap: plan.contexts, ran: 0 })),
    ..Mechanism::new("stack/wasm-continuation", set_up)
};

const GUEST: &str = concat!(
    r#"(module
  (type $body (func (param i64) (result i64)))
  (type $continuation (cont $body))
  (tag $handed (param i64) (result i64))
  (import "host" "special" (func $special (param i32 i64 i64) (result i64 i64)))
  (table $all 0 (ref null $continuation))
  (global $number (mut i32) (i32.const 0))
  (global $lap (mut i64) (i64.const 0))
  (elem declare func $live)

  (func $live (param $due i64) (result i64)
    (local $token i64) (local $number i32) (local $lap i64)
    (local.set $number (global.get $number))
    (local.set $lap (global.get $lap))
    (local.set $token (suspend $handed (i64.const 0)))
    (loop $on
      (if (i64.eq (local.get $token) (local.get $due))
        (then
          (local.set $due (i64.add (local.get $due) (local.get $lap)))
          (local.set $token (i64.add (local.get $token) (i64.const 1))))
        (else
          (call $special (local.get $number) (local.get $token) (local.get $due))
          (local.set $due)
          (local.set $token)))
      (local.set $token (suspend $handed (local.get $token)))
      (br $on))
    (unreachable))

  (func (export "make") (param $number i32) (param $lap i64) (param $due i64)
    (local $place i32)
    (local.set $place (table.grow $all (ref.null $continuation) (i32.const 1)))
    (global.set $number (local.get $number))
    (global.set $lap (local.get $lap))
    (table.set $all (local.get $place) (cont.new $continuation (ref.func $live)))
    (drop (call $entered (local.get $place) (local.get $due))))

  (func $entered (export "enter") (param $place i32) (param $token i64) (result i64)
    (local $next (ref null $continuation))
    (block $back (result i64 (ref $continuation))
      (resume $continuation (on $handed $back) (local.get $token) (table.get $all (local.get $place)))
      (unreachable))
    (local.set $next)
    (local.set $token)
    (table.set $all (local.get $place) (local.get $next))
    (local.get $token))
"#,
    include_str!("pass.wat"),
    ")"
);

fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config.wasm_function_references(true).wasm_exceptions(true).wasm_stack_switching(true);
    Engine::new(&config)
}

fn unavailable() -> Option<Refusal> {
    let error = engine().err()?;
    Some(Refusal::unsupported("unsupported_here", format!("wasmtime has no stack switching here: {error:#}")))
}

/// A guest and the records of its continuations.
struct Guest {
    store: Store<Vec<Context<()>>>,
    make: TypedFunc<(i32, i64, i64), ()>,
    enter: TypedFunc<(i32, i64), i64>,
    pass: TypedFunc<(i64, i64), i64>,
}

impl Guest {
    /// With so many of these contexts, each entered once: context 1 first, context 0 last.
    fn new(contexts: &Contexts, number: u64) -> std::result::Result<Self, Refusal> {
        let mut guest = Self::made().map_err(|error| refused("compiles no guest", &error))?;
        for i in 1..=number {
            guest.add(contexts.context(i % contexts.number), contexts.number)?;
        }
        Ok(guest)
    }

    fn made() -> Result<Self> {
        let engine = engine()?;
        let module = Module::new(&engine, GUEST)?;
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "special", special)?;
        let mut store = Store::new(&engine, Vec::new());
        let instance = linker.instantiate(&mut store, &module)?;
        let make = instance.get_typed_func(&mut store, "make")?;
        let enter = instance.get_typed_func(&mut store, "enter")?;
        let pass = instance.get_typed_func(&mut store, "pass")?;
        Ok(Self { store, make, enter, pass })
    }

    fn add(&mut self, own: Context<()>, lap: u64) -> std::result::Result<(), Refusal> {
        let (number, due) = (self.store.data().len() as i32, own.due);
        self.store.data_mut().push(own);
        let made = self.make.call(&mut self.store, (number, lap as i64, due));
        made.map_err(|error| refused("makes no further continuation", &error))
    }
}

/// What no batch has. It runs on the stack of the continuation that calls it.
fn special(mut caller: Caller<'_, Vec<Context<()>>>, number: i32, token: i64, due: i64) -> (i64, i64) {
    let Some(own) = caller.data_mut().get_mut(number as usize) else { return (BROKEN, due) };
    own.due = due;
    let answer = own.special(token, |_| Some(memory_of(&0_u64.to_owned())));
    (answer, own.due)
}

fn set_up(plan: &Plan) -> std::result::Result<Box<dyn Workload>, Refusal> {
    let contexts = Contexts::new(plan)?;
    let guest = Guest::new(&contexts, contexts.number)?;
    Ok(contexts.ring(Continuations(guest)))
}

struct Continuations(Guest);

impl PassToken for Continuations {
    const DISTINCT: &'static str = "distinct_stacks";

    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let Guest { store, pass, .. } = &mut self.0;
        let begin = now();
        let passed = pass.call(&mut *store, (token, laps as i64));
        let ticks = now() - begin;
        (passed.unwrap_or(BROKEN), ticks)
    }
}

/// Continuations that had one turn.
struct Held {
    guest: Guest,
    lap: u64,
    ran: u64,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> std::result::Result<(), Refusal> {
        let all = Contexts::of(self.lap);
        for number in 0..contexts {
            let place = self.guest.store.data().len() as i32;
            let own = all.context(number % self.lap);
            let due = own.due;
            self.guest.add(own, self.lap)?;
            let Guest { store, enter, .. } = &mut self.guest;
            self.ran += u64::from(enter.call(&mut *store, (place, due)).is_ok_and(|next| next == due + 1));
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(std::mem::take(&mut self.ran))
    }
}
