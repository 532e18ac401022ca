//! stack/minicoro: coroutines of minicoro, a library in C, resumed in turn by a loop, which is not
//! a context.

use kit::{Context, Mechanism, Resumed};
use minicoro_sys::mco_result::MCO_SUCCESS as SUCCESS;
use minicoro_sys::{mco_coro, mco_create, mco_desc_init, mco_destroy, mco_get_user_data, mco_resume, mco_yield};
use std::cell::Cell;
use std::ptr::{from_ref, null};

pub const MECHANISM: Mechanism = kit::of_resumed::<Minicoro>("stack/minicoro");

/// What a coroutine shares with whoever resumes it.
struct Shared {
    token: Cell<i64>,
    /// Taken at the first entry.
    own: Cell<Option<Context<()>>>,
}

type Body = extern "C" fn(*const mco_coro);

struct Minicoro {
    coroutine: *const mco_coro,
    shared: Box<Shared>,
}

impl Minicoro {
    /// With the library's own size of stack.
    fn new(body: Body, shared: Shared) -> Self {
        let shared = Box::new(shared);
        let mut coroutine = null();
        // SAFETY: the description is that of the library, and what it points to lives as long as
        // the coroutine.
        let made = unsafe {
            let mut description = mco_desc_init(body, 0);
            description.user_data = from_ref(&*shared).cast();
            mco_create(&mut coroutine, &description)
        };
        assert_eq!(made, SUCCESS, "minicoro has no memory for a coroutine");
        Self { coroutine, shared }
    }

    #[inline(always)]
    fn enter(&self, token: i64) -> i64 {
        self.shared.token.set(token);
        // SAFETY: it is suspended, and this thread's.
        let resumed = unsafe { mco_resume(self.coroutine) };
        // What did not run leaves the token, which the next context was not due.
        if resumed == SUCCESS {
            self.shared.token.get()
        } else {
            kit::BROKEN
        }
    }
}

extern "C" fn live(coroutine: *const mco_coro) {
    // SAFETY: the library calls this for a coroutine of `new`, whose data lives as long.
    let shared: &Shared = unsafe { &*mco_get_user_data(coroutine).cast() };
    let Some(mut own) = shared.own.take() else { return };
    loop {
        shared.token.set(own.turn(shared.token.get()));
        // SAFETY: it runs.
        unsafe { mco_yield(coroutine) };
    }
}

extern "C" fn once(coroutine: *const mco_coro) {
    // SAFETY: as in `live`.
    let shared: &Shared = unsafe { &*mco_get_user_data(coroutine).cast() };
    shared.token.set(shared.token.get() + 1);
}

impl Resumed for Minicoro {
    const DISTINCT: &'static str = "distinct_stacks";
    /// 56 KiB of stack, of which the library writes the ends, and its own block.
    const BYTES: u64 = 3 * 4096;

    fn make(own: Context<()>) -> Self {
        Self::new(live, Shared { token: Cell::new(0), own: Cell::new(Some(own)) })
    }

    #[inline(always)]
    fn resume(&mut self, token: i64) -> i64 {
        self.enter(token)
    }

    fn make_and_end(token: u64) -> u64 {
        let made = Self::new(once, Shared { token: Cell::new(0), own: Cell::new(None) });
        let next = made.enter(token as i64) as u64;
        // SAFETY: it has ended.
        unsafe { mco_destroy(made.coroutine) };
        next
    }
}
