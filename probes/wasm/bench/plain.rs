//! Two contexts of WebAssembly guests, resumed in turn: `plain KIND CPU SWITCHES_PER_BATCH
//! BATCHES`, pinned from outside.

#[path = "../src/suspension.rs"]
mod suspension;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Instant;
use suspension::Suspension;
use wasmtime::{Caller, Config, Engine, Linker, Module, Result, Store};

const WAITING: &str = r#"(module
  (import "host" "turn" (func $turn (param i64) (result i64)))
  (func (export "live") (local $turns i64)
    (loop $on
      (local.set $turns (i64.add (local.get $turns) (call $turn (local.get $turns))))
      (br $on))))"#;

/// Two continuations compare the token with the one that they are due.
const CONTINUATIONS: &str = concat!(
    r#"(module
  (type $body (func (param i64) (result i64)))
  (type $continuation (cont $body))
  (tag $handed (param i64) (result i64))
  (table $all 2 (ref null $continuation))
  (elem declare func $live)
  (func $live (param $token i64) (result i64) (local $due i64)
    (local.set $due (local.get $token))
    (loop $on
      (if (i64.ne (local.get $token) (local.get $due)) (then (unreachable)))
      (local.set $due (i64.add (local.get $due) (i64.const 2)))
      (local.set $token (suspend $handed (i64.add (local.get $token) (i64.const 1))))
      (br $on))
    (unreachable))
  (func (export "make")
    (table.set $all (i32.const 0) (cont.new $continuation (ref.func $live)))
    (table.set $all (i32.const 1) (cont.new $continuation (ref.func $live))))
"#,
    include_str!("../src/pass.wat"),
    ")"
);

fn print(begin: Instant, switches: u64) {
    println!("{:.3}", begin.elapsed().as_nanos() as f64 / switches as f64);
}

fn waiting(switches: u64, batches: u64) -> Result<()> {
    let engine = Engine::new(Config::new().async_support(true))?;
    let module = Module::new(&engine, WAITING)?;
    let mut linker = Linker::new(&engine);
    // Its turns, by the guest's own count.
    linker.func_wrap_async("host", "turn", |mut caller: Caller<'_, i64>, (turns,): (i64,)| {
        Box::new(async move {
            assert_eq!(*caller.data(), turns);
            *caller.data_mut() += 1;
            Suspension(false).await;
            1_i64
        })
    })?;
    let guest = linker.instantiate_pre(&module)?;
    let call = || {
        let (mut store, guest) = (Store::new(&engine, 0), guest.clone());
        let call: Pin<Box<dyn Future<Output = Result<()>>>> = Box::pin(async move {
            let instance = guest.instantiate_async(&mut store).await?;
            instance.get_typed_func::<(), ()>(&mut store, "live")?.call_async(&mut store, ()).await
        });
        call
    };
    let mut both = [call(), call()];
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..batches {
        let begin = Instant::now();
        for _ in 0..switches / 2 {
            for one in &mut both {
                assert!(one.as_mut().poll(&mut context).is_pending());
            }
        }
        print(begin, switches);
    }
    Ok(())
}

fn continuations(switches: u64, batches: u64) -> Result<()> {
    let mut config = Config::new();
    config.wasm_function_references(true).wasm_exceptions(true).wasm_stack_switching(true);
    let engine = Engine::new(&config)?;
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &Module::new(&engine, CONTINUATIONS)?)?;
    instance.get_typed_func::<(), ()>(&mut store, "make")?.call(&mut store, ())?;
    let pass = instance.get_typed_func::<(i64, i64), i64>(&mut store, "pass")?;
    let mut token = 0;
    for _ in 0..batches {
        let begin = Instant::now();
        token = pass.call(&mut store, (token, switches as i64 / 2))?;
        print(begin, switches);
    }
    assert_eq!(token, (batches * switches) as i64);
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, kind, _, switches, batches] = words.as_slice() else { panic!("usage: plain KIND CPU SWITCHES BATCHES") };
    let [switches, batches] = [switches, batches].map(|word| word.parse().expect("a number"));
    let carry_out = if kind == "async" { waiting } else { continuations };
    carry_out(switches, batches)
}
