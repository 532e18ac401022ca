//! fiber/monoio: tasks of monoio, one runtime on one thread, with io_uring where the kernel has it.

use super::local_tasks::{create, hold, set_up, Runtime};
use kit::{Mechanism, Refusal};
use local_sync::mpsc::bounded::{channel, Rx, Tx};
use monoio::{FusionDriver, FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};
use std::cell::RefCell;
use std::future::Future;

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[kit::HEAP_OFFSET, kit::WORKING_SET],
    create: create::<Monoio>,
    hold: hold::<Monoio>,
    ..Mechanism::new("fiber/monoio", set_up::<Monoio>)
};

/// Never freed: dropping it would cancel a million tasks one by one.
#[derive(Clone, Copy)]
struct Monoio(&'static RefCell<FusionRuntime<IoUringDriver, LegacyDriver>>);

impl Runtime for Monoio {
    type To = Tx<i64>;
    type From = Rx<i64>;

    fn new() -> Result<Self, Refusal> {
        let made = RuntimeBuilder::<FusionDriver>::new().build();
        let runtime = made.map_err(|error| Refusal::failed("set_up_failed", format!("no monoio runtime: {error}")))?;
        Ok(Self(Box::leak(Box::new(RefCell::new(runtime)))))
    }

    fn channel() -> (Self::To, Self::From) {
        channel(1)
    }

    async fn send(to: &Self::To, token: i64) -> bool {
        to.send(token).await.is_ok()
    }

    async fn receive(from: &mut Self::From) -> Option<i64> {
        from.recv().await
    }

    fn detach(self, future: impl Future<Output = ()> + 'static) {
        drop(monoio::spawn(future));
    }

    fn task<T: 'static>(self, future: impl Future<Output = T> + 'static) -> impl Future<Output = T> + 'static {
        monoio::spawn(future)
    }

    fn block_on<T>(self, future: impl Future<Output = T>) -> T {
        self.0.borrow_mut().block_on(future)
    }
}
