//! No entry of a guest may last for ever, whatever the hypervisor does: a thread that sleeps, looks twice a second whether
//! the measured loop gets on, and otherwise interrupts it.

use kit::Refusal;
use std::cell::Cell;
use std::sync::atomic::{compiler_fence, AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

/// No turn for so long: stuck. Counted in looks and not by the clock, because a stopped process or machine gets on later.
pub const PATIENCE_S: u32 = 3;
const LOOK: Duration = Duration::from_millis(500);
const LOOKS: u32 = PATIENCE_S * 2;

/// Between two signals to threads that have not come out yet; one may come while no guest is being entered.
const AGAIN: Duration = Duration::from_millis(10);
/// Then the process ends without their help.
const SIGNALS: u32 = 300;

const SIGNAL: libc::c_int = libc::SIGUSR1;

#[derive(Default)]
struct State {
    watching: AtomicBool,
    fired: AtomicBool,
    over: AtomicBool,
    threads: Mutex<Vec<libc::pid_t>>,
}

/// Watches one workload.
pub struct Watchdog {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// `progress` tells something that changes while the workload gets on.
    pub fn new(progress: impl Fn() -> u64 + Send + 'static) -> Result<Self, Refusal> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        let state = Arc::new(State::default());
        let of_thread = Arc::clone(&state);
        let thread = Builder::new().spawn(move || of_thread.watch(progress));
        let thread = thread.map_err(|error| super::limit("no thread for a watchdog", &error))?;
        let watchdog = Self { state, thread: Some(thread) };
        watchdog.enrol();
        Ok(watchdog)
    }

    /// The calling thread enters guests, or waits for one that does.
    pub fn enrol(&self) {
        // SAFETY: no argument, no failure.
        let id = unsafe { libc::gettid() };
        self.state.threads.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Does something that must get on.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.watch(true);
        let outcome = work();
        self.watch(false);
        outcome
    }

    /// The same in two steps.
    pub fn watch(&self, yes: bool) {
        self.state.watching.store(yes, SeqCst);
    }

    /// It did not get on: whoever waits must give up.
    pub fn fired(&self) -> bool {
        self.state.fired.load(SeqCst)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.state.over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It panics nowhere; were it otherwise, there is nothing left to watch.
            let _ = thread.join();
        }
    }
}

impl State {
    fn watch(&self, progress: impl Fn() -> u64) {
        let (mut last, mut looks) = (progress(), 0);
        while !self.over.load(SeqCst) {
            thread::park_timeout(LOOK);
            let now = progress();
            looks = if self.watching.load(SeqCst) && now == last { looks + 1 } else { 0 };
            last = now;
            if looks >= LOOKS {
                self.fire();
            }
        }
    }

    fn fire(&self) {
        self.fired.store(true, SeqCst);
        for _ in 0..SIGNALS {
            if !self.watching.load(SeqCst) || self.over.load(SeqCst) {
                return;
            }
            for &id in self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // SAFETY: takes numbers only; a thread that has ended is an error, which needs no answer.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, SIGNAL) };
            }
            thread::sleep(AGAIN);
        }
        eprintln!("a guest is stuck and its thread does not answer to signals");
        std::process::exit(1);
    }
}

thread_local! {
    /// `immediate_exit` of the processor this thread enters; null: of none. Initialised at compile time and without
    /// destructor, so that a signal handler may read it.
    static FLAG: Cell<*mut u8> = const { Cell::new(std::ptr::null_mut()) };
}

/// The flag that a signal to this thread sets; it must stay valid until the next call.
pub fn set_flag_of_this_thread(flag: *mut u8) {
    FLAG.set(flag);
    // The handler runs on this thread: only the compiler could put the entry before the flag.
    compiler_fence(SeqCst);
}

extern "C" fn interrupt(_: libc::c_int) {
    let flag = FLAG.get();
    if !flag.is_null() {
        // SAFETY: points into the mapping of a processor that lives as long as the flag is set (`Machine::watched`);
        // the kernel reads this byte at any time, therefore volatile.
        unsafe { flag.write_volatile(1) };
    }
}

fn install_handler() {
    // SAFETY: all zeroes is a valid sigaction: no flags, empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = interrupt as extern "C" fn(libc::c_int) as usize;
    // Not SA_RESTART: futex waits must also come back. SA_ONSTACK: a ring of stacks in the process has small ones.
    action.sa_flags = libc::SA_ONSTACK;
    // SAFETY: the handler only touches a thread-local cell and one byte. Nothing else here uses SIGUSR1.
    unsafe { libc::sigaction(SIGNAL, &action, std::ptr::null_mut()) };
}
