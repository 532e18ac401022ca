//! vm/pair: a ring of machines, each entered by a thread of its own. A unit: the thread that has
//! the token puts it into the next one's slot and wakes it by futex; that one puts it into its
//! guest's memory and enters the guest; the guest advances the token and leaves.
//!
//! A context is a guest together with its thread. Context 0 belongs to the main thread, which reads
//! the clock.

use super::flavour::Flavour;
use super::guest::Entry;
use super::machine::{Exit, Machine, Stop, DATA, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use super::{futex, ring_of};
use kit::{now, pin_this_thread, Claim, Context, Contexts, PassToken, Plan, Refusal, Turns, Workload};
use kit::{BROKEN, PUBLISH, RESET};
use std::mem::take;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Where a context gets the token. A cache line each.
#[derive(Default)]
#[repr(align(64))]
struct Slot {
    full: AtomicU32,
    token: AtomicI64,
}

impl Slot {
    fn put(&self, token: i64) {
        self.token.store(token, Relaxed);
        self.full.store(1, Release);
        futex::wake(&self.full);
    }

    /// None: the watchdog says that nothing will come.
    fn take(&self, watchdog: &Watchdog) -> Option<i64> {
        while self.full.load(Acquire) == 0 {
            if watchdog.fired() {
                return None;
            }
            futex::wait(&self.full, 0);
        }
        self.full.store(0, Relaxed);
        Some(self.token.load(Relaxed))
    }
}

/// What contexts tell; not locked in batches.
#[derive(Default)]
struct Records {
    /// As the guests' registers count them.
    turns: Turns,
    exits: u64,
    fault: Option<Refusal>,
}

struct Shared {
    slots: Vec<Slot>,
    records: Mutex<Records>,
    watchdog: Watchdog,
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guest and what its thread knows.
struct Member {
    context: Context<()>,
    machine: Machine,
    turns_begin: u64,
    exits: u64,
}

impl Member {
    /// A guest that has left once: its count of turns relies on that it stands outside.
    fn new(plan: &Plan, contexts: &Contexts, shared: &Shared, number: u64) -> Result<Self, Refusal> {
        let mut machine = Machine::new(Entry::Token, ring_of(plan), Memory::new(SMALLEST)?)?;
        shared.watchdog.during(|| machine.watched(|machine| machine.turn(Exit::Port))).map_err(Stop::refusal)?;
        Ok(Self { context: contexts.context(number), machine, turns_begin: 0, exits: 0 })
    }

    /// One turn, or a command; what to hand on.
    #[inline(always)]
    fn answer(&mut self, shared: &Shared, token: i64) -> i64 {
        if token < 0 {
            return self.command(shared, token);
        }
        self.machine.memory.word(DATA).store(token as u64, Relaxed);
        if let Err(stop) = self.machine.watched(|machine| machine.turn(Exit::Port)) {
            shared.records().fault.get_or_insert(stop.refusal());
            return BROKEN;
        }
        self.exits += 1;
        // An interval ends when the guest has left: before, the host cannot see it run.
        self.context.turn(token);
        self.machine.memory.word(DATA).load(Relaxed) as i64
    }

    #[cold]
    fn command(&mut self, shared: &Shared, command: i64) -> i64 {
        // A guest whose registers cannot be read has no turns, which the claim shows.
        let turns = self.machine.turns().unwrap_or_default();
        let since = turns.saturating_sub(self.turns_begin);
        match command {
            RESET => (self.turns_begin, self.exits) = (turns, 0),
            PUBLISH => {
                let mut records = shared.records();
                records.turns.count(since);
                records.exits += self.exits;
            }
            _ => {}
        }
        // Where this process sees the memory of a guest that had a turn.
        let memory = &self.machine.memory;
        let begin = memory.host_address();
        self.context.special(command, |_| (since > 0).then(|| begin..begin + memory.bytes()))
    }
}

/// A thread's life, which ends with the process.
fn live(mut member: Member, shared: &Shared, number: usize) {
    let next = (number + 1) % shared.slots.len();
    while let Some(token) = shared.slots[number].take(&shared.watchdog) {
        let answer = member.answer(shared, token);
        shared.slots[next].put(answer);
    }
}

fn start(plan: &Plan, member: Member, shared: &Arc<Shared>, number: u64) -> Result<(), Refusal> {
    let (shared, cpu) = (Arc::clone(shared), plan.cpu_of(number));
    let life = move || {
        shared.watchdog.enrol();
        if let Some(Err(refusal)) = cpu.map(pin_this_thread) {
            shared.records().fault.get_or_insert(refusal);
        }
        live(member, &shared, number as usize);
    };
    let thread = Builder::new().stack_size(128 << 10).spawn(life);
    thread.map(drop).map_err(|error| super::limit("no thread for a machine", &error))
}

pub fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let contexts = Contexts::new(plan)?;
    let flavour = Flavour::find()?;
    let progress = Arc::new(AtomicU64::new(0));
    let of_watchdog = Arc::clone(&progress);
    let shared = Arc::new(Shared {
        slots: (0..contexts.number).map(|_| Slot::default()).collect(),
        records: Mutex::default(),
        watchdog: Watchdog::new(move || of_watchdog.load(Relaxed))?,
    });
    let own = Member::new(plan, &contexts, &shared, 0)?;
    for number in 1..contexts.number {
        start(plan, Member::new(plan, &contexts, &shared, number)?, &shared, number)?;
    }
    if let Some(cpu) = plan.cpu_of(0) {
        pin_this_thread(cpu)?;
    }
    let mut machines = Machines { own, shared, progress, flavour };
    // When it is back, every thread is on its CPU.
    machines.pass(RESET, 1);
    machines.fault().map_or_else(|| Ok(contexts.ring(machines)), Err)
}

struct Machines {
    own: Member,
    shared: Arc<Shared>,
    progress: Arc<AtomicU64>,
    flavour: Flavour,
}

impl PassToken for Machines {
    const DISTINCT: &'static str = "guest_memories";

    fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
        if self.fault().is_some() {
            return (BROKEN, 0);
        }
        let Self { own, shared, progress, .. } = self;
        own.context.depart();
        let begin = now();
        shared.watchdog.during(|| {
            for _ in 0..laps {
                shared.slots[1].put(token);
                let back = shared.slots[0].take(&shared.watchdog).unwrap_or(BROKEN);
                token = own.answer(shared, back);
                if token == BROKEN {
                    return;
                }
                progress.store(token as u64, Relaxed);
            }
        });
        (token, now() - begin)
    }

    fn complete(&mut self, claim: &mut Claim) {
        let mut records = self.shared.records();
        let (turns, exits) = (take(&mut records.turns), take(&mut records.exits));
        super::without_address_spaces(claim);
        claim.counts.insert("guest_exits", exits as i64);
        claim.counts.insert("guest_turns", turns.total as i64);
        claim.counts.insert("guest_loop_ps", self.flavour.loop_ps as i64);
        claim.turns = Some(turns);
    }

    fn fault(&self) -> Option<Refusal> {
        let fault = self.shared.records().fault.clone();
        fault.or_else(|| self.shared.watchdog.fired().then(|| Stop::Stuck.refusal()))
    }

    fn notes(&self) -> Vec<String> {
        vec![self.flavour.sentence()]
    }
}
