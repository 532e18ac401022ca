//! Watches the machine during an invocation for what may have changed its measurement.

mod change;

pub(crate) use change::{Change, SoFar, disturbances};

use crate::os;
use crate::spawn::Exit;
use std::time::{Duration, Instant};
use switchcost_model::Disturbance;

/// A watch that is running. Two readings of counters, at start and stop; nothing runs in between.
#[derive(Debug)]
pub struct Watch {
    cpus: Vec<u32>,
    began: Instant,
    before: os::watch::Snapshot,
}

impl Watch {
    /// Begins, on the CPUs that the probe may use (all allowed ones for a free placement). Start
    /// the probe after it.
    #[must_use]
    pub fn start(cpus: &[u32]) -> Self {
        Self { cpus: cpus.to_vec(), before: os::watch::Snapshot::take(cpus), began: Instant::now() }
    }

    /// Begins, on all CPUs that this program may use.
    #[must_use]
    pub fn allowed() -> Self {
        Self::start(&os::allowed_cpus().unwrap_or_default())
    }

    /// How long it has been running, and what happened meanwhile.
    pub(crate) fn so_far(&self) -> (Duration, Change) {
        let wall = self.began.elapsed();
        (wall, os::watch::Snapshot::take(&self.cpus).since(&self.before))
    }

    /// Ends, after the probe was reaped, and says what disturbed it.
    #[must_use]
    pub fn stop(self, exit: &Exit) -> Vec<Disturbance> {
        let (wall, change) = self.so_far();
        disturbances(&change, exit.used.map(|used| used.cpu_ns + exit.beside_ns), wall, self.cpus.len())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::spawn::{Child, SpawnRequest};
    use switchcost_model::Capabilities;

    /// Runs a shell's command on these CPUs to its end.
    pub(crate) fn spinner(command: &str, cpus: &[u32]) -> Exit {
        let request = SpawnRequest {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), command.to_owned()],
            environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            cpus: Some(cpus.to_vec()),
            directory: None,
            capabilities: Capabilities::ALL,
            hogs: None,
            timer_slack_ns: None,
            report_fd: 3,
        };
        let child = Child::start(&request).unwrap();
        child.wait();
        child.finish()
    }
}
