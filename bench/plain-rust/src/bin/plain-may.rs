//! Two coroutines of may on one worker thread, two of its channels.

use may::sync::mpsc::channel;
use may::{config, coroutine};

fn main() {
    let (switches, batches) = plain_rust::begin();
    config().set_workers(1).set_worker_pin(false);
    let (there, from_there) = channel::<u64>();
    let (back, from_back) = channel::<u64>();
    // SAFETY: neither body looks at variables of a thread, and both need a small part of may's
    // usual stack.
    let driver = unsafe {
        coroutine::spawn(move || {
            while let Ok(token) = from_there.recv() {
                back.send(token).expect("the partner");
            }
        });
        coroutine::spawn(move || {
            plain_rust::time_pairs!(switches, batches, |token| {
                there.send(token).expect("the partner");
                from_back.recv().expect("the partner");
            });
        })
    };
    driver.join().expect("the driver");
}
