//! Two threads, each with a word that the other stores a number in before it unparks it.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::thread::{current, park, spawn, Thread};

static BOXES: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn put(place: usize, owner: &Thread, token: u64) {
    BOXES[place].store(token, Release);
    owner.unpark();
}

/// 0 is none.
fn take(place: usize) -> u64 {
    loop {
        match BOXES[place].load(Acquire) {
            0 => park(),
            token => {
                BOXES[place].store(0, Release);
                return token;
            }
        }
    }
}

fn main() {
    let (switches, batches) = plain_rust::begin();
    let driver = current();
    let partner = spawn(move || loop {
        let token = take(1);
        put(0, &driver, token + 1);
    });
    let mut token = 1;
    plain_rust::time_pairs!(switches, batches, |_| {
        put(1, partner.thread(), token);
        token = take(0);
    });
    std::process::exit(0);
}
