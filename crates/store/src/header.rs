//! A stored run in a list.

use crate::rows::RunRow;
use switchcost_model::{EndedBy, Machine};

/// A stored run without its data.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHeader {
    /// Id of the run.
    pub id: String,
    /// It was not measured into this store.
    pub imported: bool,
    /// Start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// End, ns since 1970 UTC; `None` while unfinished.
    pub ended_unix_ns: Option<i64>,
    /// Why it stopped.
    pub ended_by: EndedBy,
    /// Version of switchcost.
    pub tool_version: String,
    /// Version of the method.
    pub method_version: u32,
    /// The command, as typed.
    pub command: Vec<String>,
    /// The machine, without what `doctor` found.
    pub machine: Machine,
    /// Planned variants.
    pub variants: u64,
    /// Those of them that were not run at all.
    pub not_run: u64,
    /// Invocations stored.
    pub invocations: u64,
}

impl RunHeader {
    /// Of a stored run.
    pub(crate) fn of(row: RunRow) -> Self {
        let (run, imported, [variants, not_run, invocations]) = (row.run, row.key < 0, row.counts);
        Self {
            id: run.id,
            imported,
            started_unix_ns: run.started_unix_ns,
            ended_unix_ns: run.ended_unix_ns,
            ended_by: run.ended_by,
            tool_version: run.tool_version,
            method_version: run.method_version,
            command: run.command,
            machine: Machine { findings: Vec::new(), ..run.machine },
            variants,
            not_run,
            invocations,
        }
    }

    /// The run never said that it ended: it is going on, or its host was killed. What it has is
    /// sound but not all.
    #[must_use]
    pub fn partial(&self) -> bool {
        self.ended_by == EndedBy::Unfinished
    }

    /// Equal for runs on the same hardware with the same software.
    #[must_use]
    pub fn machine_key(&self) -> String {
        self.machine.key()
    }

    /// Equal for runs with the same software and settings.
    #[must_use]
    pub fn software_key(&self) -> String {
        switchcost_model::software_key(&self.machine.stable)
    }

    /// A fact of the machine; `unknown` where the run does not have it.
    #[must_use]
    pub fn fact(&self, name: &str) -> &str {
        self.machine.stable.get(name).map_or("unknown", String::as_str)
    }
}
