//! Two tasks of monoio, two channels of capacity 1.

use local_sync::mpsc::bounded::channel;
use monoio::{FusionDriver, RuntimeBuilder};

fn main() {
    let (switches, batches) = plain_rust::begin();
    let mut runtime = RuntimeBuilder::<FusionDriver>::new().build().expect("a runtime");
    runtime.block_on(async move {
        let (there, mut from_there) = channel::<u64>(1);
        let (back, mut from_back) = channel::<u64>(1);
        drop(monoio::spawn(async move {
            while let Some(token) = from_there.recv().await {
                if back.send(token).await.is_err() {
                    return;
                }
            }
        }));
        // A task as well: the future of block_on itself is polled otherwise.
        let driver = monoio::spawn(async move {
            plain_rust::time_pairs!(switches, batches, |token| {
                assert!(there.send(token).await.is_ok());
                from_back.recv().await.expect("the partner");
            });
        });
        driver.await;
    });
}
