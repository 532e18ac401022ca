//! One coroutine that gives back what it was given.

use corosensei::{Coroutine, CoroutineResult};
use std::time::Instant;

fn main() {
    let (switches, batches) = plain_rust::begin();
    let mut echo = Coroutine::<u64, u64, ()>::new(|yielder, mut token| loop {
        token = yielder.suspend(token + 1);
    });
    for _ in 0..batches {
        let begin = Instant::now();
        let mut token = 0;
        while token < switches {
            let CoroutineResult::Yield(next) = echo.resume(token) else { unreachable!() };
            token = next + 1;
        }
        plain_rust::batch_done(begin, switches);
    }
    std::mem::forget(echo);
}
