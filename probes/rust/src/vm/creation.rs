//! vm/exit, experiments create and footprint: a context is a machine with one processor and 64 KiB,
//! which runs until its first exit.

use super::guest::Entry;
use super::machine::{Exit, Machine, Ring, Stop, DATA, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use kit::{now, Claim, Done, Population, Recorder, Refusal, Series};
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

/// Makes machines.
pub struct Creation {
    ring: Ring,
    alive: Vec<Machine>,
    /// As counted by the guests, each in its memory.
    turns: Arc<AtomicU64>,
    exits: u64,
    watchdog: Watchdog,
    fault: Option<Refusal>,
}

impl Creation {
    pub fn new(ring: Ring) -> Result<Self, Refusal> {
        // Two descriptors a machine; what the administrator allows at most is not exceeded.
        if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
        }
        let turns = Arc::new(AtomicU64::new(0));
        let progress = Arc::clone(&turns);
        let watchdog = Watchdog::new(move || progress.load(Relaxed))?;
        let mut new = Self { ring, alive: Vec::new(), turns, exits: 0, watchdog, fault: None };
        // Asks KVM what does not change from one machine to the next (CPUID).
        drop(new.machine_after_first_exit()?);
        new.reset();
        Ok(new)
    }

    fn machine_after_first_exit(&mut self) -> Result<Machine, Refusal> {
        let mut machine = Machine::new(Entry::Token, self.ring, Memory::new(SMALLEST)?)?;
        machine.watched(|machine| machine.turn(Exit::Port)).map_err(Stop::refusal)?;
        self.exits += 1;
        let turns = machine.memory.word(DATA).load(Relaxed);
        self.turns.store(self.turns.load(Relaxed) + turns, Relaxed);
        Ok(machine)
    }
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, _: u64, units: u64, mut recorder: R) -> Done<R> {
        let begin = now();
        self.watchdog.watch(true);
        for _ in 0..units {
            if self.fault.is_some() {
                break;
            }
            recorder.depart();
            match self.machine_after_first_exit() {
                Ok(machine) => drop(machine),
                Err(refusal) => self.fault = Some(refusal),
            }
            recorder.arrive();
        }
        self.watchdog.watch(false);
        Done { token: self.turns.load(Relaxed), ticks: now() - begin, recorder }
    }

    fn reset(&mut self) {
        self.turns.store(0, Relaxed);
        self.exits = 0;
    }

    fn claim(&self, turns: u64) -> Claim {
        let mut claim = Claim::of_created(turns);
        super::without_address_spaces(&mut claim);
        claim.counts.insert("guest_exits", self.exits as i64);
        claim.counts.insert("guest_turns", turns as i64);
        claim
    }

    fn fault(&self) -> Option<Refusal> {
        self.fault.clone()
    }
}

impl Population for Creation {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        // The list itself is not a machine's memory.
        self.alive.reserve_exact(contexts as usize);
        self.watchdog.watch(true);
        let outcome = (0..contexts).try_for_each(|_| {
            let machine = self.machine_after_first_exit()?;
            self.alive.push(machine);
            Ok(())
        });
        self.watchdog.watch(false);
        outcome
    }

    fn depopulate(&mut self) {
        self.alive.clear();
    }

    fn claim(&mut self) -> Claim {
        let claim = Series::claim(self, self.turns.load(Relaxed));
        self.reset();
        claim
    }

    fn lives_in_kernel(&self) -> bool {
        true
    }
}
