//! Two boxed futures take turns at counting a shared cell up.

use std::cell::Cell;
use std::future::{poll_fn, Future};
use std::hint::black_box;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

async fn count(token: Rc<Cell<u64>>) {
    loop {
        token.set(token.get() + 1);
        let mut pending = true;
        poll_fn(|_| if std::mem::take(&mut pending) { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

fn main() {
    let (switches, batches) = plain_rust::begin();
    let token = Rc::new(Cell::new(0));
    let mut pair: Vec<Pin<Box<dyn Future<Output = ()>>>> =
        vec![Box::pin(count(token.clone())), Box::pin(count(token.clone()))];
    let mut context = Context::from_waker(Waker::noop());
    let pair = black_box(&mut pair[..]);
    plain_rust::time_pairs!(switches, batches, |_| {
        for future in &mut *pair {
            assert!(future.as_mut().poll(&mut context).is_pending());
        }
    });
    assert_eq!(token.get(), batches * (switches / 2) * 2);
}
