//! Two coroutines of minicoro, resumed in turn, that count a number up.

use minicoro_sys::mco_result::MCO_SUCCESS;
use minicoro_sys::{mco_coro, mco_create, mco_desc_init, mco_get_user_data, mco_resume, mco_yield};
use std::cell::Cell;
use std::ptr::{from_ref, null};
use std::time::Instant;

extern "C" fn live(coroutine: *const mco_coro) {
    // SAFETY: the user's data is a number that outlives the coroutine.
    let token: &Cell<u64> = unsafe { &*mco_get_user_data(coroutine).cast() };
    loop {
        token.set(token.get() + 1);
        // SAFETY: it runs.
        unsafe { mco_yield(coroutine) };
    }
}

fn main() {
    let (switches, batches) = plain_rust::begin();
    let token = Cell::new(0_u64);
    let coroutine = || {
        let mut coroutine = null();
        // SAFETY: the description is the library's own.
        unsafe {
            let mut description = mco_desc_init(live, 0);
            description.user_data = from_ref(&token).cast();
            assert_eq!(mco_create(&mut coroutine, &description), MCO_SUCCESS);
        }
        coroutine
    };
    let pair = [coroutine(), coroutine()];
    for batch in 1..=batches {
        let begin = Instant::now();
        for _ in 0..switches / 2 {
            for one in pair {
                // SAFETY: it is suspended.
                unsafe { mco_resume(one) };
            }
        }
        plain_rust::batch_done(begin, switches);
        assert_eq!(token.get(), batch * (switches / 2) * 2);
    }
}
