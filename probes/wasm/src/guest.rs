//! What both kinds of guest have in common.

use kit::Refusal;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use wasmtime::Error;

/// A word that contexts and their driver share. They have one thread.
#[derive(Default)]
pub struct Word(AtomicI64);

impl Word {
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    pub fn set(&self, value: i64) {
        self.0.store(value, Relaxed);
    }
}

/// Why wasmtime does not do what a plan asks for.
pub fn refused(what: &str, error: &Error) -> Refusal {
    Refusal::unsupported("limit_reached", format!("wasmtime {what}: {error:#}; {}", kit::MORE_ROOM))
}
