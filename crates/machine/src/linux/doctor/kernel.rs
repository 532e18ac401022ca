//! Settings of the kernel.

use super::{Subject, time};
use switchcost_model::Severity::{Fine, Note};
use switchcost_model::{Finding, finding};

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub(super) fn autogroup(subject: &Subject<'_>) -> Finding {
    match subject.host.number("/proc/sys/kernel/sched_autogroup_enabled") {
        Ok(0) => finding!(Fine, autogroup.off),
        Ok(_) => finding!(Fine, autogroup.on),
        Err(_) => finding!(Fine, autogroup.none),
    }
}

pub(super) fn mitigations(subject: &Subject<'_>) -> Finding {
    let files = subject.host.names(VULNERABILITIES);
    let with = |start: &str| {
        let says = |file: &&String| subject.host.fact(&format!("{VULNERABILITIES}/{file}")).starts_with(start);
        let listed: Vec<&str> = files.iter().filter(says).map(String::as_str).collect();
        if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
    };
    let (active, vulnerable) = (with("Mitigation"), with("Vulnerable"));
    if files.is_empty() {
        return finding!(Note, mitigations.unlisted);
    }
    if active == "none" && vulnerable == "none" {
        return finding!(Fine, mitigations.none);
    }
    finding!(Note, mitigations.listed, active, vulnerable, call = time(subject.sizes.system_call_ns))
}
