//! Two tasks on the current-thread runtime, two channels of capacity 1.

use tokio::runtime::Builder;
use tokio::sync::mpsc::channel;

fn main() {
    let (switches, batches) = plain_rust::begin();
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let (there, mut from_there) = channel::<u64>(1);
    let (back, mut from_back) = channel::<u64>(1);
    runtime.spawn(async move {
        while let Some(token) = from_there.recv().await {
            back.send(token).await.expect("the partner");
        }
    });
    // A task as well: the future of block_on itself is polled only after the runtime has parked.
    let driver = runtime.spawn(async move {
        plain_rust::time_pairs!(switches, batches, |token| {
            there.send(token).await.expect("the partner");
            from_back.recv().await.expect("the partner");
        });
    });
    runtime.block_on(driver).expect("the driver");
}
