//! Which CPUs may be used, which of them is measured, and where the host itself runs.

use crate::{list, os};
use std::collections::BTreeMap;
use switchcost_model::{CpuRole, IdleState, Reason};

/// CPUs that this process may use and what each is used for.
///
/// Policy: the measured CPU is the highest-numbered allowed one of the fastest kind, because
/// interrupts and the host's own work gather on the lowest, and the last are often small cores; the
/// host goes to the lowest-numbered other one, off the measured core if possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    allowed: Vec<u32>,
    measured: u32,
    partner: Option<u32>,
    housekeeping: Option<u32>,
    restriction: Option<String>,
}

/// A restriction of the affinity that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CpusError(
    /// One sentence.
    pub String,
);

impl Cpus {
    /// Reads affinity, online CPUs and core siblings. Call it before [`pin_self`], which narrows
    /// what it sees.
    ///
    /// # Errors
    /// The affinity cannot be read here.
    pub fn detect() -> Result<Self, CpusError> {
        let mut allowed = os::allowed_cpus().map_err(CpusError)?;
        let online = os::online_cpus();
        if !online.is_empty() {
            allowed.retain(|cpu| online.contains(cpu));
        }
        let restriction = os::restriction(&allowed, &online);
        let fast = os::fast_cpus(&allowed);
        Self::arrange(allowed, &fast, restriction, os::core_siblings)
    }

    /// The policy itself; `siblings` lists the CPUs of a CPU's core.
    fn arrange(
        allowed: Vec<u32>,
        fast: &[u32],
        restriction: Option<String>,
        siblings: impl Fn(u32) -> Vec<u32>,
    ) -> Result<Self, CpusError> {
        let Some(&measured) = fast.last().or(allowed.last()) else {
            return Err(CpusError("no CPU is both online and allowed to this process".to_owned()));
        };
        let core = siblings(measured);
        let others = || allowed.iter().copied().filter(|&cpu| cpu != measured);
        let off_core = || others().filter(|cpu| !core.contains(cpu));
        let partner = off_core().rfind(|cpu| fast.contains(cpu));
        let partner = partner.or_else(|| off_core().next_back()).or_else(|| others().next_back());
        let housekeeping = off_core().next().or_else(|| others().next());
        Ok(Self { measured, partner, housekeeping, restriction, allowed })
    }

    /// Every CPU that may be used, ascending.
    #[must_use]
    pub fn allowed(&self) -> &[u32] {
        &self.allowed
    }

    /// May contexts be put on this CPU, if it is asked for by its number? The kernel keeps isolated
    /// ones out of what a process inherits, and grants them.
    #[must_use]
    pub fn grants(&self, cpu: u32) -> bool {
        self.allowed.contains(&cpu) || (os::isolated_cpus().contains(&cpu) && on_cpu(cpu, || ()).is_some())
    }

    /// The CPU of all contexts that share one.
    #[must_use]
    pub fn measured(&self) -> u32 {
        self.measured
    }

    /// Two for contexts that take turns: on two cores if there are two.
    ///
    /// # Errors
    /// Why there is only one.
    pub fn pair(&self) -> Result<[u32; 2], Reason> {
        let reason = || Reason::OneCpu { cpu: self.measured, restriction: self.restriction.clone() };
        self.partner.map(|partner| [self.measured, partner]).ok_or_else(reason)
    }

    /// The CPU that a placement names by what it is for.
    ///
    /// # Errors
    /// Why this machine has none.
    pub fn of(&self, role: CpuRole) -> Result<u32, Reason> {
        match role {
            CpuRole::Measured => Ok(self.measured),
            CpuRole::Partner => self.pair().map(|[_, partner]| partner),
        }
    }

    /// Where the host runs while it measures; None: there is no CPU but the measured one.
    #[must_use]
    pub fn housekeeping(&self) -> Option<u32> {
        self.housekeeping
    }

    /// The host's CPU and the measured one.
    #[must_use]
    pub fn housekeeping_and_measured(&self) -> (Option<u32>, u32) {
        (self.housekeeping, self.measured)
    }

    /// Why not every CPU of the machine may be used; None: every one may.
    #[must_use]
    pub fn restriction(&self) -> Option<&str> {
        self.restriction.as_deref()
    }
}

/// The measured CPU, for one host of this machine at a time: two rings on one CPU push each other
/// aside, and both figures are of both.
#[derive(Debug)]
pub struct Claim {
    _held: Option<os::Claim>,
}

impl Claim {
    /// Held until it is dropped, or this process ends, however. None: another host has it.
    #[must_use]
    pub fn of(cpu: u32) -> Option<Self> {
        os::claim(cpu).ok().map(|held| Self { _held: held })
    }
}

/// Restricts the calling thread, and threads that it starts later, to `cpus`. Returns the previous
/// set, which the same call restores.
///
/// # Errors
/// One sentence with the CPUs and the cause.
pub fn pin_self(cpus: &[u32]) -> Result<Vec<u32>, CpusError> {
    let before = os::allowed_cpus().map_err(CpusError)?;
    os::pin_thread(cpus)
        .map_err(|cause| CpusError(format!("cannot restrict the host to CPU {}: {cause}", list::format(cpus))))?;
    Ok(before)
}

/// Runs a piece of work on a thread of its own, restricted to a CPU; None where that fails.
pub fn on_cpu<T: Send>(cpu: u32, work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let pinned = || pin_self(&[cpu]).ok().map(|_| work());
        std::thread::Builder::new().spawn_scoped(scope, pinned).ok()?.join().ok()?
    })
}

/// What the kernel has counted of each idle state of a CPU until now; None: this system has none,
/// or does not count them.
#[must_use]
pub fn idle_states(cpu: u32) -> Option<BTreeMap<String, IdleState>> {
    // Only Linux has such a folder, and only where a driver puts its CPUs into states of which it
    // knows.
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let mut states = BTreeMap::new();
    for state in std::fs::read_dir(folder).ok()?.flatten() {
        let text = |name: &str| std::fs::read_to_string(state.path().join(name)).ok();
        let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
        let counted = IdleState { entered: number("usage")?, ns: number("time")?.saturating_mul(1000) };
        states.insert(text("name")?.trim().to_owned(), counted);
    }
    Some(states).filter(|states| !states.is_empty())
}

/// The name of an idle state of a CPU, by its number; without cpuidle the number.
#[must_use]
pub(crate) fn idle_state(cpu: u32, number: u32) -> String {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}/name");
    std::fs::read_to_string(file).map_or_else(|_| format!("state {number}"), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(allowed: &[u32], siblings: fn(u32) -> Vec<u32>) -> Cpus {
        Cpus::arrange(allowed.to_vec(), allowed, None, siblings).unwrap()
    }

    #[test]
    fn a_cpu_is_claimed_by_one_at_a_time() {
        let no_cpu = u32::MAX - std::process::id();
        let first = Claim::of(no_cpu);
        assert!(first.is_some());
        let second = Claim::of(no_cpu).is_some();
        assert_eq!(second, !cfg!(target_os = "linux"));
        drop(first);
        assert!(Claim::of(no_cpu).is_some());
    }

    #[test]
    fn the_highest_cpu_is_measured_and_the_host_keeps_off_its_core() {
        let cpus = arranged(&[0, 1, 2, 3], |cpu| vec![cpu & !1, cpu | 1]);
        assert_eq!(cpus.housekeeping_and_measured(), (Some(0), 3));
        assert_eq!(cpus.pair(), Ok([3, 1]));
        let one_core = arranged(&[4, 5], |_| vec![4, 5]);
        assert_eq!(one_core.housekeeping_and_measured(), (Some(4), 5));
        assert_eq!(one_core.pair(), Ok([5, 4]));
    }

    #[test]
    fn a_fast_core_is_measured_beside_another_fast_one() {
        let hybrid = |allowed: &[u32], fast: &[u32]| {
            Cpus::arrange(allowed.to_vec(), fast, None, |cpu| if cpu < 4 { vec![cpu & !1, cpu | 1] } else { vec![cpu] })
                .unwrap()
        };
        let cpus = hybrid(&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 3]);
        assert_eq!((cpus.measured(), cpus.pair()), (3, Ok([3, 1])));
        let one_fast = hybrid(&[0, 4, 5], &[0]);
        assert_eq!((one_fast.measured(), one_fast.pair()), (0, Ok([0, 5])));
    }

    #[test]
    fn one_cpu_is_a_reason_not_a_crash() {
        let cpus = arranged(&[3], |cpu| vec![cpu]);
        assert_eq!(cpus.housekeeping(), None);
        assert!(cpus.pair().unwrap_err().to_string().contains("one CPU"));
        let why = Some("the cgroup's cpuset allows only CPU 3 of 0-7".to_owned());
        let cpus = Cpus::arrange(vec![3], &[3], why, |cpu| vec![cpu]).unwrap();
        assert!(cpus.pair().unwrap_err().to_string().contains("cpuset"));
        assert!(Cpus::arrange(Vec::new(), &[], None, |cpu| vec![cpu]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pinning_takes_hold_and_is_undone() {
        let cpus = Cpus::detect().unwrap();
        let before = pin_self(&[cpus.measured()]).unwrap();
        assert_eq!(Cpus::detect().unwrap().allowed(), [cpus.measured()]);
        assert!(Cpus::detect().unwrap().pair().is_err());
        pin_self(&before).unwrap();
        assert_eq!(Cpus::detect().unwrap(), cpus);
        assert!(pin_self(&[999]).unwrap_err().to_string().contains("999"));
    }
}
