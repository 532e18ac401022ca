//! What runs beside a child, and how the child itself is scheduled.

use super::hogs::Hogs;
use super::host::{Host, cause};
use super::spawn::Running;
use super::{scheduling, tree};
use crate::load::{Scheduled, Scheduling};
use std::collections::BTreeSet;

impl Running {
    pub(super) fn hog_ids(&self) -> Vec<i32> {
        self.hogs.as_ref().map(Hogs::ids).unwrap_or_default()
    }

    pub(crate) fn release_hogs(&self) -> Result<(), usize> {
        self.hogs.as_ref().map_or(Ok(()), Hogs::release)
    }

    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        tree::cpu_ns(&Host::real(), self.pid())
    }

    pub(crate) fn hogs_cpu_ns(&self) -> u64 {
        self.hogs.as_ref().map_or(0, Hogs::cpu_ns)
    }

    pub(crate) fn hogs_are_stopped(&self) -> bool {
        self.hogs.as_ref().is_some_and(Hogs::are_stopped)
    }

    pub(crate) fn end_hogs(&self) {
        self.hogs.iter().for_each(Hogs::end);
    }

    pub(crate) fn schedule(&self, scheduling: Scheduling) -> Result<(), String> {
        let tasks = tree::all_tasks(self.pid(), &self.hog_ids());
        tasks.into_iter().try_for_each(|(_, task)| match scheduling::set(task, scheduling) {
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            set => set.map_err(|error| cause(&error)),
        })
    }

    /// A probe may trace what it starts, by any of its threads: that is its own work.
    pub(crate) fn tracer(&self) -> Option<String> {
        let host = Host::real();
        let status = host.read(format!("/proc/{}/status", self.pid())).ok()?;
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim();
        let own = || tree::all_tasks(self.pid(), &[]).iter().any(|(_, task)| task.to_string() == tracer);
        (tracer != "0" && !own()).then(|| host.process(tracer))
    }

    pub(crate) fn tasks(&self) -> BTreeSet<i32> {
        tree::all_tasks(self.pid(), &self.hog_ids()).into_iter().map(|(_, task)| task).collect()
    }

    pub(crate) fn scheduled(&self) -> Option<Scheduled> {
        let tasks = tree::all_tasks(self.pid(), &self.hog_ids());
        let seen = scheduling::read(&Host::real(), tasks.into_iter());
        (!seen.classes.is_empty()).then_some(seen)
    }
}
