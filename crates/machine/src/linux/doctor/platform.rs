//! What the machine is.

use super::{Answer, Subject, about_us};
use crate::os::facts::{self, Virtual};

pub(super) fn hypervisor(subject: &Subject<'_>) -> Answer {
    match facts::virtualisation(subject.host) {
        Virtual::No => Answer::fine("no hypervisor is to be seen"),
        _ => Answer::note(
            format!("this is a virtual machine: {}", facts::hypervisor(subject.host)),
            format!(
                "waking an idle CPU and timer interrupts go through the hypervisor (a switch between two CPUs costs {} here, on one CPU {}), \
                 and it may take the CPU away at any time",
                about_us(subject.sizes.hop_apart_us),
                about_us(subject.sizes.hop_same_us),
            ),
            "compare with numbers of the same kind of machine only; for absolute values use bare metal",
        ),
    }
}

pub(super) fn wsl(subject: &Subject<'_>) -> Answer {
    match facts::virtualisation(subject.host) {
        Virtual::Wsl1 => Answer::warning(
            "this is WSL 1, which imitates Linux on the Windows kernel",
            "the kernel's counts of switches read 0, so that no kernel switch can be shown to have happened, and the costs are those of Windows",
            "use WSL 2 (`wsl --set-version`) or Linux itself",
        ),
        Virtual::Wsl2 => Answer::warning(
            "this is WSL 2: Linux in a virtual machine whose CPUs Windows schedules and clocks",
            format!(
                "neither frequency nor the load of Windows is visible from here; the longest interruption of a spinning thread was {}",
                about_us(subject.sizes.longest_gap_us)
            ),
            "set Windows to its best-performance plan, close other programs, and compare only with WSL 2 on the same machine",
        ),
        Virtual::No | Virtual::Yes => Answer::fine("this is not WSL"),
    }
}

pub(super) fn container(subject: &Subject<'_>) -> Answer {
    match facts::container(subject.host).as_str() {
        "none seen" => Answer::fine("not in a container"),
        name => Answer::note(
            format!("this process runs in a container ({name})"),
            "its seccomp filter and control groups add to every system call and switch (tens to hundreds of ns), and neighbours may be invisible",
            "measure outside the container for the machine's own costs",
        ),
    }
}
