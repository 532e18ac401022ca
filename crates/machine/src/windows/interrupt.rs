//! Ctrl-C and Ctrl-Break.

use super::sys;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Kept from those who wait; when they are dropped, everybody's wait is over.
static WAITING: Mutex<Vec<Sender<()>>> = Mutex::new(Vec::new());

/// A channel in which nothing comes, and that is closed once and for all.
#[derive(Debug)]
pub(crate) struct Interrupt(Receiver<()>);

impl Interrupt {
    pub(crate) fn on_request() -> io::Result<Self> {
        let (keep, wait) = bounded(0);
        waiting().push(keep);
        sys::on_request(stop)?;
        Ok(Self(wait))
    }

    pub(crate) fn closing(&self) -> &Receiver<()> {
        &self.0
    }
}

/// See [`crate::interrupt::full_files_are_errors`]. No process has such a limit here.
pub(crate) fn full_files_are_errors() {}

fn waiting() -> std::sync::MutexGuard<'static, Vec<Sender<()>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// False: everybody has been told already.
fn stop() -> bool {
    let pending = std::mem::take(&mut *waiting());
    !pending.is_empty()
}

/// See [`crate::interrupt::end_as_asked`].
pub(crate) fn end_as_asked() {}
