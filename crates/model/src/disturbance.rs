//! What disturbed a start, as data, and the one place that makes a sentence of it.

use serde::{Deserialize, Serialize};

/// Something from outside that may have changed a measurement; its sentence is what `Display`
/// gives.
///
/// In JSON it is an object whose `kind` names the kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each sentence says what its fields are")]
pub enum Disturbance {
    /// `of_ns`: CPU time that the measured CPUs had.
    #[error("the hypervisor took {}", share(*ns, *of_ns))]
    Steal { ns: u64, of_ns: u64 },
    #[error("other processes used {}", share(*ns, *of_ns))]
    ForeignCpu { ns: u64, of_ns: u64 },
    #[error("{0}")]
    Throttled(Throttle),
    /// `before`, `after`: what the file held, kHz or the name of a governor.
    #[error("{file} of CPU {cpu} changed from {before} to {after}")]
    Frequency { file: String, cpu: u32, before: String, after: String },
    #[error("{by} traced the probe")]
    Traced { by: String },
    #[error("{more} kernel switches more than the mechanism makes in {units} units")]
    ForeignSwitches { more: u64, units: u64 },
}

/// What stopped or slowed a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each sentence says what its fields are")]
pub enum Throttle {
    #[error("the cgroup's CPU quota stopped its processes {times} times, {:.0} ms in all", *ns as f64 / 1e6)]
    Quota { times: u64, ns: u64 },
    #[error("heat: {file} of CPU {cpu} rose by {times}")]
    Heat { file: String, cpu: u32, times: u64 },
}

fn share(ns: u64, of_ns: u64) -> String {
    let (ns, of_ns) = (ns as f64, of_ns.max(1) as f64);
    format!("{:.0} ms, {:.1} % of the CPU time there was", ns / 1e6, ns / of_ns * 100.0)
}

impl Disturbance {
    /// Steal and foreign CPU time count from this on, ns, whatever the length of the invocation:
    /// `/proc/stat` counts in steps of 10 ms, and the difference of two readings may be a step too
    /// high, so one step proves nothing and two do.
    pub const FLOOR_NS: f64 = 20e6;

    /// From this share on, of the CPU time that the measured CPUs had (their number × wall time). A
    /// disturbance of 5 % moves a mean by as much; a median of batches stands it, but not much
    /// more.
    pub const SHARE: f64 = 0.05;

    /// Time of others from which on it is a disturbance, ns, where the measured CPUs had so many
    /// ns.
    #[must_use]
    pub const fn least_ns(of_ns: f64, floor_ns: f64) -> f64 {
        (of_ns * Self::SHARE).max(floor_ns)
    }

    /// The word that names the kind.
    #[must_use]
    pub fn kind(&self) -> String {
        let data = serde_json::to_value(self).unwrap_or_default();
        data["kind"].as_str().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs hold stays readable for ever, so each form stands here as it is written.
    #[test]
    fn each_has_its_form_its_kind_and_its_sentence() {
        for (form, said) in [
            (
                r#"{"kind":"steal","ns":24000000,"of_ns":400000000}"#,
                "steal: the hypervisor took 24 ms, 6.0 % of the CPU time there was",
            ),
            (
                r#"{"kind":"foreign_cpu","ns":24000000,"of_ns":0}"#,
                "foreign_cpu: other processes used 24 ms, 2400000000.0 % of the CPU time there was",
            ),
            (
                r#"{"kind":"throttled","code":"quota","times":2,"ns":50000000}"#,
                "throttled: the cgroup's CPU quota stopped its processes 2 times, 50 ms in all",
            ),
            (
                r#"{"kind":"throttled","code":"heat","file":"core_throttle_count","cpu":1,"times":3}"#,
                "throttled: heat: core_throttle_count of CPU 1 rose by 3",
            ),
            (
                r#"{"kind":"frequency","file":"scaling_max_freq","cpu":1,"before":"9","after":"8"}"#,
                "frequency: scaling_max_freq of CPU 1 changed from 9 to 8",
            ),
            (
                r#"{"kind":"foreign_switches","more":60,"units":4000}"#,
                "foreign_switches: 60 kernel switches more than the mechanism makes in 4000 units",
            ),
            (r#"{"kind":"traced","by":"strace"}"#, "traced: strace traced the probe"),
        ] {
            let read: Disturbance = serde_json::from_str(form).unwrap();
            assert_eq!(format!("{}: {read}", read.kind()), said);
            assert_eq!(serde_json::to_string(&read).unwrap(), form);
        }
        assert!(serde_json::from_str::<Disturbance>(r#"{"kind":"steal","detail":"3 ms"}"#).is_err());
    }
}
