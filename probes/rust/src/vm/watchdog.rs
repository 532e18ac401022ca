//! No entry of a guest may last for ever, whatever the hypervisor does: a thread that sleeps, looks
//! twice a second whether the measured loop gets on, and otherwise interrupts it.

use kit::Refusal;
use std::cell::Cell;
use std::sync::atomic::{compiler_fence, AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

/// No turn for so long: stuck. Counted in looks and not by the clock, because a stopped process or
/// machine gets on later; of a look only the time that the threads had the CPU, because a starved
/// one gets on later too.
pub const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(500);

/// Between two signals to threads that have not come out yet; one may come while no guest is being
/// entered.
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
        let (mut last, mut had) = (progress(), self.had());
        let mut without = Duration::ZERO;
        while !self.over.load(SeqCst) {
            thread::park_timeout(LOOK);
            let (now, have) = (progress(), self.had());
            let stuck = self.watching.load(SeqCst) && now == last;
            without = if stuck { without + counted(&had, &have) } else { Duration::ZERO };
            (last, had) = (now, have);
            if without >= PATIENCE {
                self.fire();
            }
        }
    }

    /// What each thread had of the CPU so far, and whether it wants it now; None: the system does
    /// not tell.
    fn had(&self) -> Vec<Option<Had>> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().map(|id| Had::of(&format!("/proc/self/task/{id}"))).collect()
    }

    fn fire(&self) {
        self.fired.store(true, SeqCst);
        for _ in 0..SIGNALS {
            if !self.watching.load(SeqCst) || self.over.load(SeqCst) {
                return;
            }
            for &id in self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // SAFETY: takes numbers only; a thread that has ended is an error, which needs no
                // answer.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, SIGNAL) };
            }
            thread::sleep(AGAIN);
        }
        eprintln!("a guest is stuck and its thread does not answer to signals");
        std::process::exit(1);
    }
}

/// What a thread had of the CPU.
#[derive(Clone, Copy)]
struct Had {
    cpu: Duration,
    wants: bool,
}

impl Had {
    fn of(task: &str) -> Option<Self> {
        let ran = std::fs::read_to_string(format!("{task}/schedstat")).ok()?;
        let stat = std::fs::read_to_string(format!("{task}/stat")).ok()?;
        let state = stat.rsplit(')').next()?.split_ascii_whitespace().next()?.to_owned();
        Some(Self {
            cpu: Duration::from_nanos(ran.split_ascii_whitespace().next()?.parse().ok()?),
            wants: state == "R",
        })
    }
}

/// How much of a look without a turn counts: what the thread that had most of the CPU had of it;
/// nothing while one only waits for the CPU; all of it where everybody sleeps, or nobody can tell.
fn counted(before: &[Option<Had>], after: &[Option<Had>]) -> Duration {
    let pairs = before.iter().zip(after).map(|(before, after)| Some((before.as_ref()?, after.as_ref()?)));
    let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { return LOOK };
    let most = pairs.iter().map(|(before, after)| after.cpu.saturating_sub(before.cpu)).max().unwrap_or(LOOK);
    if pairs.iter().any(|(_, after)| after.wants) {
        most.min(LOOK)
    } else {
        LOOK
    }
}

thread_local! {
    /// `immediate_exit` of the processor this thread enters; null: of none. Initialised at compile
    /// time and without destructor, so that a signal handler may read it.
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
        // SAFETY: points into the mapping of a processor that lives as long as the flag is set
        // (`Machine::watched`); the kernel reads this byte at any time, therefore volatile.
        unsafe { flag.write_volatile(1) };
    }
}

fn install_handler() {
    // SAFETY: all zeroes is a valid sigaction: no flags, empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = interrupt as extern "C" fn(libc::c_int) as usize;
    // Not SA_RESTART: futex waits must also come back. SA_ONSTACK: a ring of stacks in the process
    // has small ones.
    action.sa_flags = libc::SA_ONSTACK;
    // SAFETY: the handler only touches a thread-local cell and one byte. Nothing else here uses
    // SIGUSR1.
    unsafe { libc::sigaction(SIGNAL, &action, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_had_the_cpu_is_stuck() {
        let had = |ms, wants| Some(Had { cpu: Duration::from_millis(ms), wants });
        let ms = |before: &[Option<Had>], after: &[Option<Had>]| counted(before, after).as_millis();
        // One spins while the other waits for it; both starve; a tenth of a CPU; both sleep; nobody
        // can tell.
        assert_eq!(ms(&[had(0, true), had(0, false)], &[had(500, true), had(0, false)]), 500);
        assert_eq!(ms(&[had(9, true), had(3, false)], &[had(9, true), had(3, false)]), 0);
        assert_eq!(ms(&[had(0, true)], &[had(50, true)]), 50);
        assert_eq!(ms(&[had(7, false); 2], &[had(7, false); 2]), 500);
        assert_eq!(ms(&[None], &[None]), 500);
        // This thread runs, and there is no other of that name.
        assert!(Had::of("/proc/thread-self").unwrap().wants && Had::of("/proc/self/task/0").is_none());
    }
}
