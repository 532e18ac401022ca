//! The kernel and the C library.

use super::{Facts, Live};
use crate::os::host::{Host, unknown};
use switchcost_model::is_known;

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub(super) fn gather(host: &Host, live: &Live, facts: &mut Facts) {
    facts.put("kernel.release", host.fact("/proc/sys/kernel/osrelease"));
    facts.put("kernel.version", host.fact("/proc/sys/kernel/version"));
    facts.put("kernel.architecture", std::env::consts::ARCH);
    facts.put("kernel.page_size", live.page_size.to_string());
    facts.put(
        "kernel.hz",
        live.hz.map_or_else(|| unknown("the coarse clock does not tell the tick"), |hz| hz.to_string()),
    );
    facts.put("kernel.preempt", preempt(host));
    facts.put("kernel.preempt_mode", preempt_mode(host));
    facts.put("kernel.hrtick", hrtick(host));
    facts.put("kernel.autogroup", on_off(host, "/proc/sys/kernel/sched_autogroup_enabled"));
    facts.put("kernel.thp", host.chosen("/sys/kernel/mm/transparent_hugepage/enabled"));
    facts.put("kernel.lsm", host.fact("/sys/kernel/security/lsm"));
    facts.put("libc", live.libc.clone());
    facts.put("mitigations", option(host, "mitigations").unwrap_or_else(|| "default".to_owned()));
    let files = host.names(VULNERABILITIES);
    if files.is_empty() {
        facts.put("vulnerability.all", unknown(format!("{VULNERABILITIES} cannot be read")));
    }
    for file in files {
        let text = host.fact(&format!("{VULNERABILITIES}/{file}"));
        facts.put(format!("vulnerability.{file}"), text);
    }
}

/// As compiled, with the boot option if there is one. Everybody may read both.
fn preempt(host: &Host) -> String {
    let version = host.read("/proc/sys/kernel/version").unwrap_or_default();
    let compiled = ["PREEMPT_DYNAMIC", "PREEMPT_RT", "PREEMPT_LAZY", "PREEMPT"]
        .into_iter()
        .find(|word| version.split(' ').any(|part| part == *word || part == "PREEMPT,RT" && *word == "PREEMPT_RT"))
        .unwrap_or("none or voluntary");
    match option(host, "preempt") {
        Some(mode) => format!("{compiled}, booted with preempt={mode}"),
        None => compiled.to_owned(),
    }
}

/// The model in force, which stands in round brackets among those that there are.
fn preempt_mode(host: &Host) -> String {
    let text = host.fact("/sys/kernel/debug/sched/preempt");
    match text.split_once('(').and_then(|(_, rest)| rest.split_once(')')) {
        Some((word, _)) if is_known(&text) => word.to_owned(),
        _ => text,
    }
}

/// Whether slices end by a timer of their own, not by the tick.
fn hrtick(host: &Host) -> String {
    let features = host.read("/sys/kernel/debug/sched/features");
    let on = |features: String| match features.split_ascii_whitespace().find(|word| word.ends_with("HRTICK")) {
        Some("HRTICK") => "on".to_owned(),
        Some(_) => "off".to_owned(),
        None => unknown("the kernel lists no such feature"),
    };
    features.map_or_else(unknown, on)
}

/// An option of the kernel's command line. Only the options asked for are taken: the rest may hold
/// anything.
fn option(host: &Host, name: &str) -> Option<String> {
    let line = host.read("/proc/cmdline").ok()?;
    let value = |word: &str| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
    line.split_ascii_whitespace().filter_map(value).next_back()
}

fn on_off(host: &Host, file: &str) -> String {
    match host.fact(file).as_str() {
        "1" => "on".to_owned(),
        "0" => "off".to_owned(),
        other => other.to_owned(),
    }
}
