//! Two tasks of smol's executor on one thread, two channels of capacity 1.

use smol::channel::bounded;
use smol::{future, LocalExecutor};

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
        plain_rust::time_pairs!(switches, batches, |token| {
            there.send(token).await.expect("the partner");
            from_back.recv().await.expect("the partner");
        });
    });
    future::block_on(executor.run(driver));
}
