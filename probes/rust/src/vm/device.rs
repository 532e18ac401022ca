//! The device that machines are made by, and why it makes none.

use kit::Refusal;
use kvm_ioctls::{Cap, Kvm};
use std::io;
use std::sync::OnceLock;

/// The device, opened once.
pub fn kvm() -> Result<&'static Kvm, Refusal> {
    static KVM: OnceLock<Result<Kvm, Refusal>> = OnceLock::new();
    KVM.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The only version there ever was since Linux 2.6.22.
const API_VERSION: i32 = 12;

fn open() -> Result<Kvm, Refusal> {
    let kvm = Kvm::new().map_err(|error| cannot_open(io::Error::from_raw_os_error(error.errno())))?;
    let version = kvm.get_api_version();
    if version != API_VERSION {
        let detail = format!("/dev/kvm speaks version {version} of its interface, this probe {API_VERSION}");
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    // Without it a signal that comes just before KVM_RUN is lost, and the watchdog with it.
    if !kvm.check_extension(Cap::ImmediateExit) {
        let detail = "this kernel's KVM cannot be interrupted safely (KVM_CAP_IMMEDIATE_EXIT is missing); use Linux 4.12 or later";
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    Ok(kvm)
}

pub fn cannot_open(error: io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => Refusal::unsupported(
            "missing_device",
            "/dev/kvm is missing: load kvm_intel or kvm_amd (modprobe), switch virtualization on in the firmware, in a virtual \
             machine switch nested virtualization on, in a container pass --device /dev/kvm",
        ),
        Some(libc::EACCES | libc::EPERM) => Refusal::unsupported(
            "no_permission",
            "/dev/kvm may not be opened: join the group kvm (sudo usermod -aG kvm $USER) and log in again",
        ),
        _ => Refusal::unsupported("missing_device", format!("/dev/kvm cannot be opened: {error}")),
    }
}

/// A step of making a machine that KVM refused.
pub fn refused(step: &str, error: kvm_ioctls::Error) -> Refusal {
    limit(step, &io::Error::from_raw_os_error(error.errno()))
}

/// The same of an error of the system.
pub fn limit(step: &str, error: &io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => {
            let detail =
                format!("{step}: {error}; a machine needs two descriptors: ask for fewer contexts or raise ulimit -n");
            Refusal::unsupported("limit_reached", detail)
        }
        Some(libc::ENOMEM | libc::EAGAIN) => {
            Refusal::unsupported("limit_reached", format!("{step}: {error}; {}", kit::MORE_ROOM))
        }
        _ => Refusal::failed("set_up_failed", format!("{step}: {error}")),
    }
}
