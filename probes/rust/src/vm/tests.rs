use super::guest::{code, Entry};
use super::machine::{Exit, Machine, Ring, Stop, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use std::io;

/// A guest that never leaves, in both rings: the watchdog brings it out.
#[test]
fn stuck_guests_are_brought_out() {
    if let Some(refusal) = super::unavailable() {
        eprintln!("no virtual machines here: {refusal}");
        return;
    }
    for ring in [Ring::Kernel, Ring::User] {
        let mut machine = Machine::new(Entry::Spin, ring, Memory::new(SMALLEST).unwrap()).unwrap();
        let watchdog = Watchdog::new(|| 0).unwrap();
        let stop = watchdog.during(|| machine.watched(|machine| machine.turn(Exit::Port)));
        assert_eq!((stop, watchdog.fired()), (Err(Stop::Stuck), true), "{ring:?}");
    }
}

/// A guest that also does something else than expected is an answer. HLT in ring 3 faults, and
/// nothing handles faults.
#[test]
fn lost_guests_are_reported() {
    if super::unavailable().is_some() {
        return;
    }
    let mut machine = Machine::new(Entry::Hlt, Ring::User, Memory::new(SMALLEST).unwrap()).unwrap();
    let stop = machine.turn(Exit::Halt);
    assert!(matches!(&stop, Err(Stop::Unexpected(_))), "{stop:?}");
}

/// On PVM-like hypervisors this hypercall never came back; nothing may hang for that. Not part of
/// every run, because what it does to the hypervisor is not known.
#[test]
#[ignore = "may hang a hypervisor that emulates ring 0"]
fn hypercalls_end_one_way_or_the_other() {
    let mut machine = Machine::new(Entry::Vmcall, Ring::Kernel, Memory::new(SMALLEST).unwrap()).unwrap();
    let watchdog = Watchdog::new(|| 0).unwrap();
    eprintln!("{:?}", watchdog.during(|| machine.watched(|machine| machine.turn(Exit::Hypercall))));
}

#[test]
fn code_fits_its_page() {
    assert!(code().len() < 4096);
}

#[test]
fn reasons_come_with_a_cure() {
    let of = |errno| super::device::cannot_open(io::Error::from_raw_os_error(errno)).to_string();
    assert!(of(libc::ENOENT).contains("modprobe") && of(libc::EACCES).contains("group kvm"));
    assert!(super::limit("x", &io::Error::from_raw_os_error(libc::EMFILE)).to_string().contains("ulimit -n"));
}
