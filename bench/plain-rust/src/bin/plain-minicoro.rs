//! Two coroutines of minicoro, resumed in turn. Each compares the token with the one it is due, and
//! the loop checks that it ran: that is part of what stack/minicoro says a unit is.

use minicoro_sys::mco_result::MCO_SUCCESS;
use minicoro_sys::{mco_coro, mco_create, mco_desc_init, mco_get_user_data, mco_resume, mco_yield};
use std::cell::Cell;
use std::ptr::{from_ref, null};

struct Member {
    first: u64,
    token: Cell<u64>,
}

extern "C" fn live(coroutine: *const mco_coro) {
    // SAFETY: the user's data outlives the coroutine.
    let member: &Member = unsafe { &*mco_get_user_data(coroutine).cast() };
    let mut due = member.first;
    while member.token.get() == due {
        due += 2;
        member.token.set(member.token.get() + 1);
        // SAFETY: it runs.
        unsafe { mco_yield(coroutine) };
    }
}

fn main() {
    let (switches, batches) = plain_rust::begin();
    let members = [0, 1].map(|first| Member { first, token: Cell::new(0) });
    let coroutine = |member: &Member| {
        let mut coroutine = null();
        // SAFETY: the description is the library's own.
        unsafe {
            let mut description = mco_desc_init(live, 0);
            description.user_data = from_ref(member).cast();
            assert_eq!(mco_create(&mut coroutine, &description), MCO_SUCCESS);
        }
        coroutine
    };
    let pair = [0, 1].map(|i| (coroutine(&members[i]), &members[i].token));
    let mut token = 0;
    plain_rust::time_pairs!(switches, batches, |_| {
        for (one, shared) in pair {
            shared.set(token);
            // SAFETY: it is suspended.
            assert_eq!(unsafe { mco_resume(one) }, MCO_SUCCESS);
            token = shared.get();
        }
    });
    assert_eq!(token, batches * (switches / 2) * 2);
}
