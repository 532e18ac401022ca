//! Controls of fiber/tokio: what one task does alone, of what a switch is made of.

use super::fiber_tokio::{new_runtime, on_a_task};
use kit::{now, Claim, Done, Mechanism, Recorder, Series, Turns, Units};
use std::future::poll_fn;
use std::task::Poll;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::channel;
use tokio::task::unconstrained;

/// A send and a receive that wait for nobody, by one task and a channel of capacity 1.
pub const CHANNEL: Mechanism =
    Mechanism::new("control/tokio-channel", |plan| Ok(Units::boxed(Channel(new_runtime(plan)?))));

/// A task wakes itself and returns `Pending`: into the scheduler's queue, out of it, polled again.
pub const WAKE: Mechanism = Mechanism::new("control/tokio-wake", |plan| Ok(Units::boxed(Wake(new_runtime(plan)?))));

struct Channel(Runtime);

impl Series for Channel {
    fn series<R: Recorder>(&mut self, mut token: u64, units: u64, mut recorder: R) -> Done<R> {
        let batch = async move {
            let (to, mut from) = channel(1);
            let begin = now();
            for _ in 0..units {
                recorder.depart();
                if to.send(token + 1).await.is_err() {
                    std::process::abort();
                }
                token = from.recv().await.unwrap_or_default();
                recorder.arrive();
            }
            Done { token, ticks: now() - begin, recorder }
        };
        // Unconstrained: a task that is never suspended would have to give way now and then.
        on_a_task(&self.0, unconstrained(batch))
    }

    fn claim(&self, token: u64) -> Claim {
        claim_of_one(token)
    }
}

struct Wake(Runtime);

impl Series for Wake {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, mut recorder: R) -> Done<R> {
        on_a_task(&self.0, async move {
            let mut polls = 0;
            let begin = now();
            poll_fn(|context| {
                if polls > 0 {
                    recorder.arrive();
                }
                if polls == units {
                    return Poll::Ready(());
                }
                polls += 1;
                recorder.depart();
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            Done { token: token + polls, ticks: now() - begin, recorder }
        })
    }

    fn claim(&self, token: u64) -> Claim {
        claim_of_one(token)
    }
}

/// One task has all turns.
fn claim_of_one(token: u64) -> Claim {
    let mut turns = Turns::default();
    turns.count(token);
    Claim::new(turns, token, false)
}
