//! One coroutine that gives back what it was given. It compares the token with the one it is due:
//! that is part of what stack/corosensei says a unit is.

use corosensei::{Coroutine, CoroutineResult};
use std::time::Instant;

fn main() {
    let (switches, batches) = plain_rust::begin();
    let mut echo = Coroutine::<u64, u64, ()>::new(|yielder, mut token| {
        let mut due = 0;
        while token == due {
            due += 2;
            token = yielder.suspend(token + 1);
        }
    });
    let mut token = 0;
    for batch in 1..=batches {
        let begin = Instant::now();
        while token < batch * switches {
            let CoroutineResult::Yield(next) = echo.resume(token) else { unreachable!() };
            token = next + 1;
        }
        plain_rust::batch_done(begin, switches);
    }
    std::mem::forget(echo);
}
