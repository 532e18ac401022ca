//! Windows, and wine.

#[path = "../other/counters.rs"]
pub(crate) mod counters;
mod cpus;
pub(crate) mod interrupt;
#[path = "../other/program.rs"]
pub(crate) mod program;
pub(crate) mod spawn;
mod sys;
#[path = "../trace/none.rs"]
pub(crate) mod trace;
#[path = "../other/watch.rs"]
pub(crate) mod watch;
#[path = "../other/without.rs"]
mod without;

pub(crate) use cpus::{
    Claim, allowed_cpus, claim, core_siblings, fast_cpus, isolated_cpus, online_cpus, pin_thread, restriction,
};
pub(crate) use without::{
    forget_inherited, hand_over, inherits_usual, load_refusal, locks, root_may_run, root_may_start,
};

use crate::watch::SoFar;
use switchcost_model::Severity::Warning;
use switchcost_model::{Finding, Machine, finding};

/// See [`crate::RUNTIME_FOLDERS`].
pub(crate) const RUNTIME_FOLDERS: &[&str] = &[];

/// See [`crate::data_home`].
pub(crate) const DATA_HOME: &[&str] = &["XDG_DATA_HOME", "LOCALAPPDATA"];

/// See [`crate::config_home`].
pub(crate) const CONFIG_HOME: &[&str] = &["XDG_CONFIG_HOME", "APPDATA"];

/// See [`crate::cache_home`].
pub(crate) const CACHE_HOME: &[&str] = &["XDG_CACHE_HOME", "LOCALAPPDATA"];

/// Why no program is watched.
const UNWATCHED: &str = "audit counts switches in /proc, which Windows does not have; use Linux";

/// See [`crate::only_owner_writes`]. The rights of a profile's folders are the system's.
pub(crate) fn only_owner_writes(_: &std::path::Path) -> Result<(), String> {
    Ok(())
}

/// See the crate.
pub(crate) fn fingerprint() -> Machine {
    let mut machine = crate::cause::unknown_machine("not looked for on Windows");
    let mut put = |name: &str, value: String| machine.stable.insert(name.to_owned(), value);
    let version = format!("Windows {}", sys::version());
    put("kernel.release", sys::wine_version().map_or(version.clone(), |wine| format!("wine {wine} as {version}")));
    put("kernel.page_size", sys::page_size().to_string());
    put("cpu.logical", online_cpus().len().to_string());
    put("cpu.cores", sys::cores().len().to_string());
    processor(&mut put);
    let name = std::env::var("COMPUTERNAME").unwrap_or_else(|_| switchcost_model::unknown("COMPUTERNAME is not set"));
    machine.personal.insert("host_name".to_owned(), name);
    machine
}

#[cfg(target_arch = "x86_64")]
fn processor(put: &mut impl FnMut(&str, String) -> Option<String>) {
    let cpuid = raw_cpuid::CpuId::new();
    if let Some(vendor) = cpuid.get_vendor_info() {
        put("cpu.vendor", vendor.as_str().to_owned());
    }
    if let Some(brand) = cpuid.get_processor_brand_string() {
        put("cpu.model_name", brand.as_str().trim().to_owned());
    }
    if let Some(features) = cpuid.get_feature_info() {
        put("cpu.family", features.family_id().to_string());
        put("cpu.model", features.model_id().to_string());
        put("cpu.stepping", features.stepping_id().to_string());
    }
    let hypervisor = cpuid.get_hypervisor_info().map(|info| format!("{:?}", info.identify()));
    put("hypervisor", hypervisor.unwrap_or_else(|| "none".to_owned()));
}

#[cfg(not(target_arch = "x86_64"))]
fn processor(_put: &mut impl FnMut(&str, String) -> Option<String>) {}

/// See the crate: what cannot be seen here is told row by row.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all systems")]
pub(crate) fn can_observe() -> Result<(), String> {
    Ok(())
}

/// See the crate.
pub(crate) fn look_again(_: &mut Machine) {}

/// See the crate.
pub(crate) fn doctor(_: SoFar<'_>, _: &Machine, _: Option<f64>) -> Vec<Finding> {
    let wine = sys::wine_version().map(|version| finding!(Warning, wine.below, version));
    let restricted = allowed_cpus().ok().and_then(|allowed| cpus::restricted(&allowed, &online_cpus()));
    [Some(finding!(Warning, system.windows)), wine, restricted].into_iter().flatten().collect()
}

/// See [`crate::surroundings`].
pub(crate) fn may_execute_what_it_wrote() -> bool {
    true
}
