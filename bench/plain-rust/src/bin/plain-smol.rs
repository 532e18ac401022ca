//! Two tasks of smol's executor on one thread, two channels of capacity 1.

use smol::channel::bounded;
use smol::{future, LocalExecutor};
use std::time::Instant;

fn main() {
    let (switches, batches) = plain_rust::begin();
    let executor = LocalExecutor::new();
    let (there, from_there) = bounded::<u64>(1);
    let (back, from_back) = bounded::<u64>(1);
    executor
        .spawn(async move {
            while let Ok(token) = from_there.recv().await {
                back.send(token).await.expect("the partner");
            }
        })
        .detach();
    let driver = executor.spawn(async move {
        for _ in 0..batches {
            let begin = Instant::now();
            for token in 0..switches / 2 {
                there.send(token).await.expect("the partner");
                from_back.recv().await.expect("the partner");
            }
            plain_rust::batch_done(begin, switches);
        }
    });
    future::block_on(executor.run(driver));
}
