//! What the import of a guest waits for, in the probe and in `bench/plain.rs`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Pending once.
pub struct Suspension(pub bool);

impl Future for Suspension {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
