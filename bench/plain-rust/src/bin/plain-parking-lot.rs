//! Four threads take one lock of parking_lot, as the defaults of thread/rust-mutex say: 50 steps of
//! work under it and 50 after it.

use parking_lot::Mutex;
use std::arch::asm;
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread::spawn;
use std::time::Instant;

const THREADS: usize = 4;

#[repr(align(128))]
struct Left(Mutex<u64>);

/// So many steps as the probe's contexts do, of a number that the compiler does not know: it would
/// write out what it knows. Not in rbp or r13, from which `lea` takes a cycle more.
fn work(mut product: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        // SAFETY: counts in the register that it is given.
        unsafe { asm!("lea {0}, [{0} + {0} * 2]", inout(reg_abcd) product, options(nomem, nostack, preserves_flags)) };
    }
    product
}

fn take_turns(left: &Left) {
    let (mut product, steps) = (1, black_box(50));
    loop {
        let mut left = left.0.lock();
        if *left == 0 {
            return;
        }
        product = work(product, steps);
        *left -= 1;
        drop(left);
        product = work(product, steps);
    }
}

fn main() {
    let (units, batches) = plain_rust::begin();
    let left = Arc::new(Left(Mutex::new(0)));
    let (begun, ended) = (Arc::new(Barrier::new(THREADS)), Arc::new(Barrier::new(THREADS)));
    for _ in 1..THREADS {
        let (left, begun, ended) = (Arc::clone(&left), Arc::clone(&begun), Arc::clone(&ended));
        spawn(move || loop {
            begun.wait();
            take_turns(&left);
            ended.wait();
        });
    }
    for _ in 0..batches {
        *left.0.lock() = units;
        let begin = Instant::now();
        begun.wait();
        take_turns(&left);
        ended.wait();
        plain_rust::batch_done(begin, units);
    }
    std::process::exit(0);
}
