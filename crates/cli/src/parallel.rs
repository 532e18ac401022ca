//! Work on all CPUs.

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use switchcost_session::Failure;

/// Does it with a thread for each CPU; where the system refuses threads (RLIMIT_NPROC), with this
/// one alone. Work of such work has its threads already.
pub fn on_all_cpus<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let alone = |_: ThreadPoolBuildError| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let pool = ThreadPoolBuilder::new().build().or_else(alone);
    Ok(pool.map_err(|error| Failure::refused("no thread can work", error))?.install(work))
}
