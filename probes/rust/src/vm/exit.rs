//! vm/exit: a guest leaves for the host and is entered again, by one thread. A unit is the round
//! trip: guest → host → guest.

use super::creation::Creation;
use super::flavour::Flavour;
use super::guest::Entry;
use super::machine::{Exit, Machine, Ring, Stop, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use super::{kvm, ring_of};
use kit::{now, read_counter, Claim, Histogram, Plan, Population, Refusal, Trace, Turns, Units, Workload};
use kvm_bindings::KVM_CAP_EXIT_HYPERCALL;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

pub fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let ring = ring_of(plan);
    if plan.contexts != 2 {
        let detail = "an exit has two sides, the guest and the host: contexts=2; rings of machines are vm/pair";
        return Err(Refusal::refused("bad_value", detail));
    }
    let flavour = Flavour::find()?;
    let (entry, exit) = way_out(plan.parameter("by"), ring, &flavour)?;
    Exits::new(entry, exit, ring, flavour).map(|exits| Box::new(exits) as Box<dyn Workload>)
}

pub fn create(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    Creation::new(ring_of(plan)).map(Units::boxed)
}

pub fn hold(plan: &Plan) -> Result<Box<dyn Population>, Refusal> {
    Creation::new(ring_of(plan)).map(|creation| Box::new(creation) as Box<dyn Population>)
}

fn way_out(by: &str, ring: Ring, flavour: &Flavour) -> Result<(Entry, Exit), Refusal> {
    if ring == Ring::User && matches!(by, "hlt" | "hypercall") {
        let detail = format!("by={by} needs ring=0: in ring 3 a guest may not do it");
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    Ok(match by {
        "hlt" => (Entry::Hlt, Exit::Halt),
        "mmio" => (Entry::Mmio, Exit::Memory),
        "hypercall" => {
            let entry = flavour.hypercall()?;
            if kvm()?.check_extension_raw(u64::from(KVM_CAP_EXIT_HYPERCALL)) == 0 {
                let detail = "this kernel's KVM answers hypercalls itself (KVM_CAP_EXIT_HYPERCALL is missing); use Linux 5.14 or later, or by=pio";
                return Err(Refusal::unsupported("unsupported_here", detail));
            }
            (entry, Exit::Hypercall)
        }
        _ => (Entry::Pio, Exit::Port),
    })
}

struct Exits {
    machine: Machine,
    exit: Exit,
    /// Counted by this side; the watchdog reads it.
    exits: Arc<AtomicU64>,
    exits_begin: u64,
    /// The guest's own count at the reset.
    turns_begin: u64,
    watchdog: Watchdog,
    flavour: Flavour,
    fault: Option<Refusal>,
}

impl Exits {
    fn new(entry: Entry, exit: Exit, ring: Ring, flavour: Flavour) -> Result<Self, Refusal> {
        let machine = Machine::new(entry, ring, Memory::new(SMALLEST)?)?;
        let exits = Arc::new(AtomicU64::new(0));
        let progress = Arc::clone(&exits);
        let watchdog = Watchdog::new(move || progress.load(Relaxed))?;
        let mut new = Self { machine, exit, exits, exits_begin: 0, turns_begin: 0, watchdog, flavour, fault: None };
        // From here on the guest stands outside, which its count of turns relies on.
        new.leave(1, |_| ());
        new.fault.clone().map_or(Ok(new), Err)
    }

    /// Exits, with something to do after each.
    #[inline(always)]
    fn leave(&mut self, units: u64, mut after: impl FnMut(u64)) -> u64 {
        if self.fault.is_some() {
            return 0;
        }
        let Self { machine, exit, exits, watchdog, .. } = self;
        let begin_exits = exits.load(Relaxed);
        let outcome = watchdog.during(|| {
            machine.watched(|machine| {
                let begin = now();
                for unit in 1..=units {
                    machine.turn(*exit)?;
                    exits.store(begin_exits + unit, Relaxed);
                    after(unit);
                }
                Ok(now() - begin)
            })
        });
        outcome.unwrap_or_else(|stop: Stop| {
            self.fault = Some(stop.refusal());
            0
        })
    }

    fn guest_turns(&mut self) -> u64 {
        self.machine.turns().unwrap_or_else(|stop| {
            self.fault.get_or_insert(stop.refusal());
            0
        })
    }
}

impl Workload for Exits {
    fn run(&mut self, units: u64) -> u64 {
        self.leave(units, |_| ())
    }

    fn run_each(&mut self, units: u64, mut histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let mut left = read_counter();
        let ticks = self.leave(units, |_| {
            histogram.arrive(left);
            left = read_counter();
        });
        (ticks, histogram)
    }

    fn reset(&mut self) {
        self.exits_begin = self.exits.load(Relaxed);
        self.turns_begin = self.guest_turns();
    }

    fn claim(&mut self) -> Claim {
        let turns = self.guest_turns() - self.turns_begin;
        let exits = self.exits.load(Relaxed) - self.exits_begin;
        let mut claim = Claim::new(Turns::default(), turns, false);
        // One side of two: reported as turns it would look like a ring of one.
        claim.turns = None;
        claim.why.insert(
            "turns",
            "a unit is a round trip of guest and host; guest_turns of the counts is the guest's own count",
        );
        super::without_address_spaces(&mut claim);
        claim.counts.insert("guest_exits", exits as i64);
        claim.counts.insert("guest_turns", turns as i64);
        claim.counts.insert("guest_loop_ps", self.flavour.loop_ps as i64);
        claim
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        trace.visit(0, 0);
        self.leave(units, |unit| trace.visit(unit, 0));
        Some(trace)
    }

    fn fault(&self) -> Option<Refusal> {
        self.fault.clone()
    }

    fn notes(&self) -> Vec<String> {
        vec![self.flavour.sentence()]
    }
}
