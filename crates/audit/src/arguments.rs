//! `audit`.

use clap::{ArgGroup, Parser};
use std::path::PathBuf;
use std::time::Duration;
use switchcost_machine::program::Service;
use switchcost_session::arguments::{ListFormat, Measuring, StoreOption, parse_budget};
use switchcost_session::output::file_parser;

/// What context switches cost a running program
///
/// Counts the voluntary and involuntary switches of each thread from /proc, without tracing,
/// and multiplies them by their cost on this machine, stored within the last week or measured
/// now. If the command fails, or the process ends before the time is up, `audit` names its
/// status and ends with 4.
///
///   switchcost audit --pid $(pgrep -o redis-server) --for 10s
///   switchcost audit --children -- make -j2
///   switchcost audit --unit nginx.service --for 1m
///   switchcost audit --wakeups --pid $(pgrep -o redis-server)
#[derive(Parser, Debug)]
#[command(name = "audit", verbatim_doc_comment, group(ArgGroup::new("watched").required(true).args(["pid", "cgroup", "unit", "container", "command"])))]
pub struct Audit {
    /// Process to watch
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pub pid: Option<u32>,
    /// Watch a control group: its folder, or its name as in /proc/PID/cgroup
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Watch a unit of systemd, such as nginx.service
    #[arg(long, value_name = "NAME")]
    pub unit: Option<String>,
    /// Watch a container of Docker, Podman or containerd: name or id
    #[arg(long, value_name = "NAME")]
    pub container: Option<String>,
    /// How long to watch; a command is then asked to end, and killed 10 s later [default: 10s; a
    /// command: until it ends; --watch: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_budget)]
    pub time: Option<Duration>,
    /// One line per thread, not only the most expensive ones
    #[arg(long)]
    pub threads: bool,
    /// With the rows that each kind of switch was measured by, and what looking cost
    #[arg(short, long)]
    pub verbose: bool,
    /// Include the processes it starts
    #[arg(long)]
    pub children: bool,
    /// Instead: how long its threads wait for a CPU after they were woken, and for whom; traced,
    /// which takes root or CAP_PERFMON and a mounted tracefs
    #[arg(long, conflicts_with_all = ["command", "cgroup", "unit", "container", "children", "watch", "threads", "seed", "resume", "wait"])]
    pub wakeups: bool,
    /// Show it again and again: each time what happened since the time before, at the end all
    #[arg(long)]
    pub watch: bool,
    /// How each command measures
    #[command(flatten)]
    pub how: Measuring,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// File to write the answer to [default: standard output; of a command: standard error, since
    /// standard output is the command's]
    #[arg(short, long, value_name = "FILE", value_parser = file_parser())]
    pub output: Option<PathBuf>,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
    /// Command to start and to watch from its first moment
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl Audit {
    /// The service to watch, if one is named.
    #[must_use]
    pub fn service(&self) -> Option<Service> {
        let cgroup = self.cgroup.clone().map(Service::Cgroup);
        let unit = || self.unit.clone().map(Service::Unit);
        cgroup.or_else(unit).or_else(|| self.container.clone().map(Service::Container))
    }
}
