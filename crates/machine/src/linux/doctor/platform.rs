//! What the machine is.

use super::{Subject, time_us};
use crate::os::facts::{self, Virtual};
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

pub(super) fn hypervisor(subject: &Subject<'_>) -> Finding {
    if let Some(below) = facts::translated(subject.host) {
        return finding!(Warning, hypervisor.translated, below, own = std::env::consts::ARCH);
    }
    if matches!(facts::virtualisation(subject.host), Virtual::No) {
        return finding!(Fine, hypervisor.none);
    }
    let [same, apart] = [subject.sizes.hop_same_us, subject.sizes.hop_apart_us].map(time_us);
    finding!(Note, hypervisor.guest, hypervisor = facts::hypervisor(subject.host), apart, same)
}

pub(super) fn wsl(subject: &Subject<'_>) -> Finding {
    match facts::virtualisation(subject.host) {
        Virtual::Wsl1 => finding!(Warning, wsl.one),
        Virtual::Wsl2 => finding!(Warning, wsl.two, longest = time_us(subject.sizes.longest_gap_us)),
        Virtual::No | Virtual::Yes => finding!(Fine, wsl.none),
    }
}

pub(super) fn container(subject: &Subject<'_>) -> Finding {
    match facts::container(subject.host).as_str() {
        "none seen" => finding!(Fine, container.none),
        container => finding!(Note, container.inside, container),
    }
}
