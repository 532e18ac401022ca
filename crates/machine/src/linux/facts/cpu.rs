//! The CPU, its topology and caches, and the hypervisor.

use super::{Facts, joined};
use crate::list;
use crate::os::cpus::{fast_cpus_on, speeds};
use crate::os::host::{Host, unknown};
use std::collections::BTreeMap;

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn gather(host: &Host, facts: &mut Facts) {
    identity(host, facts);
    topology(host, facts);
    caches(host, facts);
    facts.put("cpu.translated", translated(host).unwrap_or_else(|| "none".to_owned()));
    facts.put("hypervisor", hypervisor(host));
    facts.put("hypervisor.product", product(host));
}

/// x86 and Arm name the same things differently in `/proc/cpuinfo`.
fn identity(host: &Host, facts: &mut Facts) {
    let info = host.cpuinfo();
    for (fact, names) in [
        ("cpu.vendor", ["vendor_id", "CPU implementer"]),
        ("cpu.family", ["cpu family", "CPU architecture"]),
        ("cpu.model", ["model", "CPU part"]),
        ("cpu.model_name", ["model name", "Model"]),
        ("cpu.stepping", ["stepping", "CPU revision"]),
        ("cpu.microcode", ["microcode", "microcode"]),
    ] {
        let value = names.iter().find_map(|name| info.get(*name)).filter(|value| !value.is_empty());
        let below = translated(host).filter(|_| fact == "cpu.model_name");
        let missing = || below.map(|below| format!("{below} processor, translated"));
        let missing = || missing().unwrap_or_else(|| unknown(format!("/proc/cpuinfo has no line `{}`", names[0])));
        facts.put(fact, value.cloned().unwrap_or_else(missing));
    }
}

/// Sign in /proc/cpuinfo, and the architecture whose kernel writes it.
const SIGNS: [(&str, &str); 6] = [
    ("CPU implementer", "aarch64"),
    ("flags", "x86_64"),
    ("isa", "riscv64"),
    ("facilities", "s390x"),
    ("revision", "powerpc64"),
    ("CPU Family", "loongarch64"),
];

/// Processors that only a translator shows.
const TRANSLATORS: [&str; 5] = ["VirtualApple", "Rosetta", "FEX", "Box64", "ExaGear"];

/// Of a program that is translated while it runs, as by Rosetta, FEX or qemu-user: the processor
/// below. None: it runs as it was built, as far as can be seen.
pub(crate) fn translated(host: &Host) -> Option<String> {
    let info = host.cpuinfo();
    let name = info.get("model name").map_or("", String::as_str);
    if let Some(translator) = TRANSLATORS.iter().find(|translator| name.contains(*translator)) {
        return Some((*translator).to_owned());
    }
    let below = SIGNS.into_iter().find(|(sign, _)| info.contains_key(*sign)).map(|(_, architecture)| architecture)?;
    let own = match std::env::consts::ARCH {
        "x86" => "x86_64",
        "arm" => "aarch64",
        own => own,
    };
    (SIGNS.iter().any(|(_, known)| *known == own) && below != own).then(|| below.to_owned())
}

fn topology(host: &Host, facts: &mut Facts) {
    let online = host.online();
    let unlisted = || unknown(format!("{CPUS}/online cannot be read"));
    facts.put("cpu.logical", if online.is_empty() { unlisted() } else { online.len().to_string() });
    let missing = |file: &str| unknown(format!("{CPUS}/cpu*/{file} cannot be read"));
    let cores = host.each_cpu("topology/thread_siblings_list");
    let count = |texts: &[String], file: &str| {
        if texts.is_empty() { missing(file) } else { texts.len().to_string() }
    };
    facts.put("cpu.cores", count(&cores, "topology/thread_siblings_list"));
    let widest = cores.iter().filter_map(|core| list::parse(core)).map(|core| core.len()).max();
    facts.put(
        "cpu.threads_per_core",
        widest.map_or_else(|| missing("topology/thread_siblings_list"), |n| n.to_string()),
    );
    facts.put("cpu.sockets", count(&host.each_cpu("topology/physical_package_id"), "topology/physical_package_id"));
    let control = host.fact(&format!("{CPUS}/smt/control"));
    let active = host.read(format!("{CPUS}/smt/active")).map(|active| if active == "1" { "on" } else { "off" });
    facts.put("cpu.smt", active.map_or(control.clone(), |active| format!("{active} (control: {control})")));
    for (fact, file) in [
        ("topology.cores", "topology/thread_siblings_list"),
        ("topology.last_caches", &last_cache(host)),
        ("topology.sockets", "topology/core_siblings_list"), // package_cpus_list is its newer name; kernels have both.
    ] {
        let groups = host.each_cpu(file);
        facts.put(fact, if groups.is_empty() { missing(file) } else { groups.join(" ") });
    }
    facts.put("cpu.capacities", joined(&host.each_cpu("cpu_capacity"), "no CPU says its capacity"));
    let (source, speeds) = speeds(host);
    let mut speeds: Vec<u64> = speeds.into_iter().map(|(_, speed)| speed).collect();
    speeds.sort_unstable();
    speeds.dedup();
    let speeds: Vec<String> = speeds.iter().rev().map(u64::to_string).collect();
    let speeds = (!speeds.is_empty()).then(|| format!("{source} {}", speeds.join(", ")));
    facts.put("cpu.speeds", speeds.unwrap_or_else(|| unknown("nothing tells the speed of a CPU")));
}

/// File that lists the CPUs which share the last-level cache, below a CPU's folder.
fn last_cache(host: &Host) -> String {
    let dir = format!("{CPUS}/cpu{}/cache", typical(host));
    let level = |index: &String| host.number(&format!("{dir}/{index}/level")).unwrap_or(0);
    let last = host.names(&dir).into_iter().filter(|name| name.starts_with("index")).max_by_key(level);
    format!("cache/{}/shared_cpu_list", last.unwrap_or_default())
}

/// The CPU whose caches and idle states are the machine's facts: one of the kind that is measured,
/// whatever the affinity.
pub(crate) fn typical(host: &Host) -> u32 {
    fast_cpus_on(host, &host.online()).first().copied().unwrap_or(0)
}

/// Sizes as seen by a CPU of the fastest kind, with the number of CPUs that share each.
fn caches(host: &Host, facts: &mut Facts) {
    let dir = format!("{CPUS}/cpu{}/cache", typical(host));
    let mut sizes = BTreeMap::new();
    for index in host.names(&dir).iter().filter(|name| name.starts_with("index")) {
        let read = |file: &str| host.read(format!("{dir}/{index}/{file}"));
        let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else { continue };
        let sharers = read("shared_cpu_list").ok().and_then(|text| list::parse(&text)).map_or(1, |cpus| cpus.len());
        let kind = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        sizes.insert(
            format!("cache.l{level}{kind}"),
            format!("{size}, {sharers} CPU{}", if sharers == 1 { "" } else { "s" }),
        );
    }
    for wanted in ["cache.l1d", "cache.l1i", "cache.l2", "cache.l3"] {
        sizes.entry(wanted.to_owned()).or_insert_with(|| unknown(format!("{dir} does not list it")));
    }
    for (name, size) in sizes {
        facts.put(name, size);
    }
}

/// What virtualises this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Virtual {
    /// Nothing that can be seen.
    No,
    /// A hypervisor.
    Yes,
    /// Windows Subsystem for Linux 1: no Linux kernel at all.
    Wsl1,
    /// Windows Subsystem for Linux 2: a Linux kernel under Hyper-V.
    Wsl2,
}

/// Is there a hypervisor?
pub(crate) fn virtualisation(host: &Host) -> Virtual {
    let release = host.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_lowercase().contains("microsoft") {
        // WSL 1 says `4.4.0-19041-Microsoft`, WSL 2 `5.15.90.1-microsoft-standard-WSL2`.
        let two = release.contains("WSL2") || release.contains("microsoft-standard");
        return if two { Virtual::Wsl2 } else { Virtual::Wsl1 };
    }
    if host.cpuinfo().get("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
        || host.exists("/sys/hypervisor/type")
        || host.exists("/proc/device-tree/hypervisor")
        || product_names_a_hypervisor(&product(host))
    {
        return Virtual::Yes;
    }
    Virtual::No
}

/// Name of the hypervisor, or `none`.
pub(crate) fn hypervisor(host: &Host) -> String {
    match virtualisation(host) {
        Virtual::No => return "none".to_owned(),
        Virtual::Wsl1 => return "WSL 1".to_owned(),
        Virtual::Wsl2 => return "WSL 2 (Hyper-V)".to_owned(),
        Virtual::Yes => {}
    }
    if let Some([_, ebx, ecx, edx]) = host.cpuid(0x4000_0000) {
        let bytes: Vec<u8> = [ebx, ecx, edx].iter().flat_map(|register| register.to_le_bytes()).collect();
        let signature = String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned();
        return match signature.as_str() {
            "KVMKVMKVM" | "Linux KVM Hv" => "KVM".to_owned(),
            "VMwareVMware" => "VMware".to_owned(),
            "Microsoft Hv" => "Hyper-V".to_owned(),
            "XenVMMXenVMM" => "Xen".to_owned(),
            "VBoxVBoxVBox" => "VirtualBox".to_owned(),
            "TCGTCGTCGTCG" => "QEMU without acceleration (TCG)".to_owned(),
            "bhyve bhyve" => "bhyve".to_owned(),
            "ACRNACRNACRN" => "ACRN".to_owned(),
            "prl hyperv" | "lrpepyh  vr" => "Parallels".to_owned(),
            other if !other.is_empty() && other.bytes().all(|b| b.is_ascii_graphic() || b == b' ') => other.to_owned(),
            _ => "a hypervisor without a name".to_owned(),
        };
    }
    if let Ok(kind) = host.read("/sys/hypervisor/type") {
        return if kind == "xen" { "Xen".to_owned() } else { kind };
    }
    match product(host) {
        text if product_names_a_hypervisor(&text) => text,
        _ => "a hypervisor without a name".to_owned(),
    }
}

fn product_names_a_hypervisor(product: &str) -> bool {
    const NAMES: [&str; 8] =
        ["QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Amazon EC2", "Google Compute", "Virtual Machine"];
    !product.contains(".metal") && NAMES.iter().any(|name| product.contains(name))
}

/// What the firmware calls the machine.
fn product(host: &Host) -> String {
    let file = |name: &str| host.read(format!("/sys/class/dmi/id/{name}")).ok();
    let texts: Vec<String> = ["sys_vendor", "product_name"].into_iter().filter_map(file).collect();
    joined(&texts, "/sys/class/dmi/id does not say")
}
