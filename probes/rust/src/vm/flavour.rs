//! What kind of KVM this is; belongs beside every figure.

use super::guest::Entry;
use super::machine::{Exit, Machine, Ring, Stop, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use kit::{now, Refusal};
use std::fs;
use std::time::Duration;

/// What was found out.
#[derive(Debug, Clone)]
pub struct Flavour {
    /// "vmx", "svm", or neither.
    extension: Option<&'static str>,
    /// This machine is itself a guest.
    nested: bool,
    /// Time of one turn of a loop of two instructions in guest ring 0.
    pub loop_ps: u64,
}

const TURNS: u64 = 20_000;

/// Milliseconds for a thread to end.
const PATIENCE: u32 = 200;

/// A processor needs less than 1 ns for a turn, one that is itself emulated (QEMU) 10; an
/// interpreter in the kernel needs hundreds.
const EMULATED_PS: u64 = 50_000;

impl Flavour {
    /// Reads /proc/cpuinfo and times a loop.
    pub fn find() -> Result<Self, Refusal> {
        let threads_before = threads();
        let flavour = Self::measure();
        // The machine and its watchdog are gone, but a thread leaves /proc only some time after it
        // was waited for (KVM also has one in this process). In the evidence it would look like a
        // context that ended.
        for _ in 0..PATIENCE {
            if threads() <= threads_before {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        flavour
    }

    fn measure() -> Result<Self, Refusal> {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let has = |name: &str| flags.split_whitespace().any(|flag| flag == name);
        let extension = ["vmx", "svm"].into_iter().find(|name| has(name));
        Ok(Self { extension, nested: has("hypervisor"), loop_ps: time_loop()? })
    }

    /// Guest ring 0 is interpreted instruction by instruction.
    pub fn ring_0_emulated(&self) -> bool {
        self.loop_ps > EMULATED_PS
    }

    /// The instruction of a hypercall, where it is safe: an emulator may know it only half, and
    /// never come back.
    pub fn hypercall(&self) -> Result<Entry, Refusal> {
        match self.extension {
            Some("vmx") if !self.ring_0_emulated() => Ok(Entry::Vmcall),
            Some("svm") if !self.ring_0_emulated() => Ok(Entry::Vmmcall),
            _ => {
                let detail =
                    format!("hypercalls are not tried here, because they may hang: {}; use by=pio", self.sentence());
                Err(Refusal::unsupported("unsupported_here", detail))
            }
        }
    }

    /// For a `note`.
    pub fn sentence(&self) -> String {
        let kind = match self.extension {
            Some(name) => format!("KVM on {name}"),
            None => "KVM without vmx or svm (PVM-like)".to_owned(),
        };
        let (ns, tenths) = (self.loop_ps / 1000, self.loop_ps / 100 % 10);
        let speed = if self.ring_0_emulated() { "emulated" } else { "native" };
        let nested = if self.nested { "; this machine is itself a guest" } else { "" };
        format!("{kind}: guest ring 0 is {speed}, {ns}.{tenths} ns for a loop of two instructions{nested}")
    }
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The first entry pays for the guest's first touches. Of the others one that is quick enough
/// settles it, and a slow one may have been interrupted.
fn time_loop() -> Result<u64, Refusal> {
    const TRIES: u32 = 5;
    let mut machine = Machine::new(Entry::Calibrate, Ring::Kernel, Memory::new(SMALLEST)?)?;
    machine.set_registers(|registers| registers.rsi = TURNS)?;
    let watchdog = Watchdog::new(|| 0)?;
    let timed = |machine: &mut Machine| -> Result<u64, Stop> {
        machine.turn(Exit::Port)?;
        let mut least_ps = u64::MAX;
        for _ in 0..TRIES {
            let begin = now();
            machine.turn(Exit::Port)?;
            least_ps = least_ps.min((now() - begin) * 1000 / TURNS);
            if least_ps <= EMULATED_PS {
                break;
            }
        }
        Ok(least_ps)
    };
    watchdog.during(|| machine.watched(timed)).map_err(Stop::refusal)
}
