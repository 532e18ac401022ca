//! Settings of the kernel.

use super::{Answer, Subject, about};

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub(super) fn autogroup(subject: &Subject<'_>) -> Answer {
    match subject.host.number("/proc/sys/kernel/sched_autogroup_enabled") {
        Ok(0) => Answer::fine("sessions are not grouped (sched_autogroup is off)"),
        Ok(_) => Answer::fine(
            "each session is a scheduling group (sched_autogroup is on), and every probe has one of its own",
        ),
        Err(_) => Answer::fine("this kernel does not group sessions"),
    }
}

pub(super) fn mitigations(subject: &Subject<'_>) -> Answer {
    let files = subject.host.names(VULNERABILITIES);
    let with = |start: &str| {
        let says = |file: &&String| subject.host.fact(&format!("{VULNERABILITIES}/{file}")).starts_with(start);
        files.iter().filter(says).map(String::as_str).collect::<Vec<_>>()
    };
    let (active, open) = (with("Mitigation"), with("Vulnerable"));
    if files.is_empty() {
        return Answer::note(
            "the kernel does not list its mitigations",
            "they may double the cost of entering it",
            "make /sys readable",
        );
    }
    if active.is_empty() && open.is_empty() {
        return Answer::fine("this CPU needs no mitigations");
    }
    let listed = |files: &[&str]| if files.is_empty() { "none".to_owned() } else { files.join(", ") };
    Answer::note(
        format!("mitigations active: {}; vulnerable: {}", listed(&active), listed(&open)),
        format!(
            "a system call that does nothing costs {} here, mitigations included",
            about(subject.sizes.system_call_ns)
        ),
        "compare only machines with equal mitigations; they are part of the machine's key",
    )
}
