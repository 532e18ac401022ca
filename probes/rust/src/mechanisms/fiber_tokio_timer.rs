//! fiber/tokio-timer: a task sleeps until a time that was fixed beforehand, on tokio's
//! current-thread runtime.

use super::fiber_tokio::{new_timed_runtime, on_a_task};
use kit::{Mechanism, Plan, Refusal, Waiter};

/// The mechanism.
pub const MECHANISM: Mechanism = Mechanism::waiter("fiber/tokio-timer", set_up);

fn set_up(_: &Plan) -> Result<Box<dyn FnOnce(Waiter) -> Waiter>, Refusal> {
    let runtime = new_timed_runtime()?;
    Ok(Box::new(move |mut waiter| {
        on_a_task(&runtime, async move {
            while let Some(left) = waiter.left() {
                tokio::time::sleep(left).await;
            }
            waiter
        })
    }))
}
