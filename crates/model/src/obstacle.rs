//! Why the host cannot do for a row what it asks, as data, and the one place that makes a clause of
//! it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is in the way; its clause is what `Display` gives.
///
/// In JSON it is an object whose `kind` names the kind. `cause`: what the system said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "each clause says what its fields are")]
pub enum Obstacle {
    // Of a parameter's value.
    #[error("`{value}` is not one of {}", .known.join(", "))]
    NoSuchWord { value: String, known: Vec<String> },
    #[error("`{value}` is not a whole number from {min} to {max}")]
    OutOfRange { value: String, min: u64, max: u64 },

    // Of classes and hogs.
    #[error("classes of tasks are set, and hogs put beside them, on Linux only")]
    LoadsOnLinux,
    #[error("timers have a resolution of {resolution_ns} ns here, and the period has {period_ns}")]
    TimersTooCoarse { resolution_ns: u64, period_ns: u64 },
    #[error("{hogs} hogs are more than {most}, which this user may have or the host can start; take fewer")]
    TooManyHogs { hogs: u64, most: u64 },
    #[error("{missing} of {hogs} hogs did not start")]
    HogsMissing { missing: u64, hogs: u64 },
    #[error("SCHED_DEADLINE takes only tasks that may run on every CPU; let the scheduler place them (--placement)")]
    DeadlineIsPlaced,
    #[error("class {class} with nice value {nice} is not permitted: it needs CAP_SYS_NICE or a limit (RLIMIT_RTPRIO, RLIMIT_NICE), and in a control group of version 1 also cpu.rt_runtime_us{}", if *handed_on { "; switchcost itself was started with another class or nice value, and hands it on" } else { "" })]
    ClassNotPermitted { class: String, nice: i32, handed_on: bool },
    #[error("class {class} with nice value {nice}: {cause}")]
    ClassRefused { class: String, nice: i32, cause: String },
    #[error("a thread could not try it")]
    NotTried,
    #[error(
        "this kernel gives no slices to tasks of the fair classes, or not of this length: it takes Linux 6.12 or later, and 100 to 100000 µs"
    )]
    NoSlices,

    // Of callgrind.
    #[error("callgrind counts on Linux, for x86-64 and AArch64")]
    NotEmulated,
    #[error("{program} is not installed; apt-get install {program}")]
    NotInstalled { program: String },
    #[error("nobody counted it")]
    NobodyCounted,
    #[error("it did not come to a plan")]
    NoPlan,
    #[error("callgrind wrote no part {part} of {parts}; the kit does not mark its stretches, or the probe ended early")]
    PartMissing { part: u64, parts: u64 },
    #[error("callgrind wrote more than {parts} parts: the probe marks more than its stretches")]
    MoreParts { parts: u64 },
    #[error("callgrind's file has no {what}: it was cut short, or valgrind is too old")]
    PartLacks { what: String },
    #[error("callgrind's file holds `{text}` where a number belongs")]
    PartUnread { text: String },

    // Of counters.
    #[error("counters of the CPU and the kernel are read on Linux only")]
    CountersOnLinux,
    #[error(
        "this machine has no such counter, or its hypervisor gives guests none: count software events (--counters=page-faults), or measure on hardware"
    )]
    NoCounter,
    #[error(
        "kernel.perf_event_paranoid is {paranoid}: run as root or with CAP_PERFMON, or allow it by sysctl kernel.perf_event_paranoid=1"
    )]
    CounterNotPermitted { paranoid: String },
    #[error(
        "a seccomp filter or a security module refuses perf_event_open: allow that call, or CAP_PERFMON in a container"
    )]
    CounterFiltered,
    #[error("perf_event_open is refused: {cause}")]
    CounterRefused { cause: String },
    #[error(
        "others use counters of the CPU, so that it was not counted all the time: end them (perf, sysctl kernel.nmi_watchdog=0), or count fewer (--counters=cycles)"
    )]
    Multiplexed,
    #[error(
        "a start that was to be counted did not come to its end, or had no time: allow more by --budget, or leave --counters out"
    )]
    CountedFell,

    // Of tracepoints.
    #[error("only Linux has such tracepoints")]
    TracesOnLinux,
    #[error("{cpus} CPUs are more than the {most} that are traced")]
    TooManyCpus { cpus: u64, most: u64 },
    #[error("tracefs is not mounted; mount -t tracefs tracefs /sys/kernel/tracing")]
    NoTracefs,
    #[error("{path} cannot be read: {cause}")]
    Unread { path: String, cause: String },
    #[error("events of {event} have another form here")]
    OtherForm { event: String },
    #[error("events of {event} are not permitted ({cause}): it takes root or CAP_PERFMON")]
    EventNotPermitted { event: String, cause: String },
    #[error("tracing is refused: {cause}")]
    TraceRefused { cause: String },
    #[error("the kernel kept {kept} of {happened} events of {event}")]
    EventsLost { event: String, kept: u64, happened: u64 },
}
