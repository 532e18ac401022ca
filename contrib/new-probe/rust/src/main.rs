//! Measures coroutine/@name@. Put your library's calls into the three functions; the kit does the
//! rest.

use kit::{own_probe, Resumed};
use std::cell::Cell;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What your library keeps of a context.
struct Library {
    future: Pin<Box<dyn Future<Output = ()>>>,
    token: Rc<Cell<i64>>,
}

impl Resumed for Library {
    /// Makes a context that is suspended. Resumed with a token it hands on `own.turn(token)`, and
    /// suspends again.
    fn make(own: kit::Context<()>) -> Self {
        let token = Rc::new(Cell::new(0));
        Self { future: Box::pin(Member { own, token: Rc::clone(&token) }), token }
    }

    /// Continues the context with this token and gives the one that it hands on.
    #[inline(always)]
    fn resume(&mut self, token: i64) -> i64 {
        self.token.set(token);
        let _ = self.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.token.get()
    }

    /// Makes a context, enters it once with the token, lets it end. Gives the token plus one.
    fn make_and_end(token: u64) -> u64 {
        let mut made: Pin<Box<dyn Future<Output = u64>>> = black_box(Box::pin(async move { black_box(token) + 1 }));
        match made.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(token) => token,
            Poll::Pending => token,
        }
    }
}

struct Member {
    own: kit::Context<()>,
    token: Rc<Cell<i64>>,
}

impl Future for Member {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let token = self.token.get();
        let next = self.own.turn(token);
        self.token.set(next);
        Poll::Pending
    }
}

fn main() -> ExitCode {
    own_probe::<Library>("@name@", "coroutine/@name@")
}
