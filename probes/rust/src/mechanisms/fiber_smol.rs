//! fiber/smol: tasks of smol's executor on one thread.

use super::local_tasks::{create, hold, set_up, Runtime};
use kit::{Mechanism, Refusal};
use smol::channel::{bounded, Receiver, Sender};
use smol::{future, LocalExecutor};
use std::future::Future;

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[kit::HEAP_OFFSET, kit::WORKING_SET],
    create: create::<Smol>,
    hold: hold::<Smol>,
    ..Mechanism::new("fiber/smol", set_up::<Smol>)
};

/// Never freed: dropping it would cancel a million tasks one by one.
#[derive(Clone, Copy)]
struct Smol(&'static LocalExecutor<'static>);

impl Runtime for Smol {
    type To = Sender<i64>;
    type From = Receiver<i64>;

    fn new() -> Result<Self, Refusal> {
        Ok(Self(Box::leak(Box::new(LocalExecutor::new()))))
    }

    fn channel() -> (Self::To, Self::From) {
        bounded(1)
    }

    async fn send(to: &Self::To, token: i64) -> bool {
        to.send(token).await.is_ok()
    }

    async fn receive(from: &mut Self::From) -> Option<i64> {
        from.recv().await.ok()
    }

    fn detach(self, future: impl Future<Output = ()> + 'static) {
        self.0.spawn(future).detach();
    }

    fn task<T: 'static>(self, future: impl Future<Output = T> + 'static) -> impl Future<Output = T> + 'static {
        self.0.spawn(future)
    }

    /// Without smol's reactor, which nothing here waits for.
    fn block_on<T>(self, future: impl Future<Output = T>) -> T {
        future::block_on(self.0.run(future))
    }
}
