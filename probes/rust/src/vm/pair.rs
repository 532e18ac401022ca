//! vm/pair: a ring of machines, each entered by a thread of its own. A unit: the thread that has the token puts it into the
//! next one's slot and wakes it by futex; that one puts it into its guest's memory and enters the guest; the guest advances
//! the token and leaves.
//!
//! A context is a guest together with its thread. Context 0 belongs to the main thread, which reads the clock.

use super::flavour::Flavour;
use super::guest::Entry;
use super::machine::{Exit, Machine, Stop, DATA, SMALLEST};
use super::memory::Memory;
use super::watchdog::Watchdog;
use super::{check_contexts, futex, ring_of};
use kit::{disjoint, now, pin_this_thread, read_counter, Claim, Histogram, Plan, Refusal, Trace, Turns, Workload};
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

// Commands travel as negative tokens.
const RESET: i64 = -1;
const PUBLISH: i64 = -2;
const QUIT: i64 = -3;
/// Says that a context cannot go on; its reason is in the records.
const BROKEN: i64 = -4;

// Modes: what a turn records. Looked up each turn, which is nothing beside an entry.
const PLAIN: u32 = 0;
const EACH: u32 = 1;
const VERIFY: u32 = 2;

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

/// Locked only outside batches and in the modes that record.
#[derive(Default)]
struct Records {
    turns: Turns,
    exits: u64,
    /// Where this process sees the memory of each guest that had a turn.
    memories: Vec<Range<usize>>,
    broken: bool,
    fault: Option<Refusal>,
    histogram: Option<Box<Histogram>>,
    trace: Option<Box<Trace>>,
    trace_begin: i64,
}

struct Shared {
    slots: Vec<Slot>,
    mode: AtomicU32,
    /// Counter as read by the one that had the token last.
    stamp: AtomicU64,
    records: Mutex<Records>,
    watchdog: Watchdog,
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guest and what its thread knows.
struct Context {
    machine: Machine,
    number: usize,
    /// Token that comes next.
    due: i64,
    turns_begin: u64,
    exits: u64,
}

impl Context {
    fn new(machine: Machine, number: usize, contexts: usize) -> Self {
        // Context 1 has the first turn of a lap, context 0 the last.
        let due = ((number + contexts - 1) % contexts) as i64;
        Self { machine, number, due, turns_begin: 0, exits: 0 }
    }

    /// One turn, or a command; what to hand on.
    #[inline(always)]
    fn answer(&mut self, shared: &Shared, token: i64) -> i64 {
        let mode = shared.mode.load(Relaxed);
        if token < 0 || token != self.due || mode != PLAIN {
            return self.special(shared, token, mode);
        }
        self.turn(shared, token)
    }

    #[inline(always)]
    fn turn(&mut self, shared: &Shared, token: i64) -> i64 {
        self.due += shared.slots.len() as i64;
        self.machine.memory.word(DATA).store(token as u64, Relaxed);
        if let Err(stop) = self.machine.watched(|machine| machine.turn(Exit::Port)) {
            shared.records().fault.get_or_insert(stop.refusal());
            return BROKEN;
        }
        self.exits += 1;
        self.machine.memory.word(DATA).load(Relaxed) as i64
    }

    #[cold]
    fn special(&mut self, shared: &Shared, token: i64, mode: u32) -> i64 {
        match token {
            RESET => (self.turns_begin, self.exits) = (self.machine.turns().unwrap_or_default(), 0),
            PUBLISH => {
                let mut records = shared.records();
                // A guest whose registers cannot be read has no turns, which the claim shows.
                let turns = self.machine.turns().unwrap_or_default().saturating_sub(self.turns_begin);
                records.turns.count(turns);
                records.exits += self.exits;
                let memory = &self.machine.memory;
                let begin = memory.host_address();
                records.memories.extend((turns > 0).then(|| begin..begin + memory.bytes()));
            }
            _ if token < 0 => {}
            _ => {
                if token != self.due {
                    shared.records().broken = true;
                }
                return self.recorded_turn(shared, token, mode);
            }
        }
        token
    }

    /// An interval ends when the guest has left: before, the host cannot see it run.
    fn recorded_turn(&mut self, shared: &Shared, token: i64, mode: u32) -> i64 {
        let next = self.turn(shared, token);
        let arrived = read_counter();
        let mut records = shared.records();
        let sequence = (token + 1 - records.trace_begin) as u64;
        match (mode, &mut *records) {
            (EACH, Records { histogram: Some(histogram), .. }) => {
                histogram.arrived(shared.stamp.load(Relaxed), arrived)
            }
            (VERIFY, Records { trace: Some(trace), .. }) => trace.visit(sequence, self.number as u64),
            _ => {}
        }
        drop(records);
        shared.stamp.store(read_counter(), Relaxed);
        next
    }

    /// A thread's life.
    fn live(mut self, shared: &Shared) {
        let next = (self.number + 1) % shared.slots.len();
        while let Some(token) = shared.slots[self.number].take(&shared.watchdog) {
            if token == QUIT {
                return;
            }
            let answer = self.answer(shared, token);
            shared.slots[next].put(answer);
        }
    }
}

struct Ring {
    own: Context,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    progress: Arc<AtomicU64>,
    flavour: Flavour,
    sequence: i64,
    begin: i64,
}

pub fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    check_contexts(plan)?;
    let flavour = Flavour::find()?;
    let contexts = plan.contexts as usize;
    let progress = Arc::new(AtomicU64::new(0));
    let of_watchdog = Arc::clone(&progress);
    let shared = Arc::new(Shared {
        slots: (0..contexts).map(|_| Slot::default()).collect(),
        mode: AtomicU32::new(PLAIN),
        stamp: AtomicU64::new(0),
        records: Mutex::default(),
        watchdog: Watchdog::new(move || of_watchdog.load(Relaxed)),
    });
    let own = new_context(plan, &shared, 0)?;
    let mut ring = Ring { own, shared, threads: Vec::new(), progress, flavour, sequence: 0, begin: 0 };
    for number in 1..contexts {
        ring.start(plan, number)?;
    }
    if let Some(cpu) = plan.cpu_of(0) {
        pin_this_thread(cpu)?;
    }
    ring.command(RESET);
    ring.fault().map_or(Ok(Box::new(ring)), Err)
}

/// A guest that has left once: its count of turns relies on that it stands outside.
fn new_context(plan: &Plan, shared: &Shared, number: usize) -> Result<Context, Refusal> {
    let mut machine = Machine::new(Entry::Token, ring_of(plan), Memory::new(SMALLEST)?)?;
    shared.watchdog.during(|| machine.watched(|machine| machine.turn(Exit::Port))).map_err(Stop::refusal)?;
    Ok(Context::new(machine, number, plan.contexts as usize))
}

impl Ring {
    fn start(&mut self, plan: &Plan, number: usize) -> Result<(), Refusal> {
        let context = new_context(plan, &self.shared, number)?;
        let shared = Arc::clone(&self.shared);
        let cpu = plan.cpu_of(number as u64);
        let life = move || {
            shared.watchdog.enrol();
            if let Some(Err(refusal)) = cpu.map(pin_this_thread) {
                shared.records().fault.get_or_insert(refusal);
            }
            context.live(&shared);
        };
        let thread = Builder::new().stack_size(128 << 10).spawn(life);
        self.threads.push(thread.map_err(|error| super::limit("no thread for a machine", &error))?);
        Ok(())
    }

    fn pass(&mut self, laps: u64) -> u64 {
        if self.fault().is_some() {
            return 0;
        }
        let Self { own, shared, progress, sequence, .. } = self;
        let begin = now();
        shared.watchdog.during(|| {
            for _ in 0..laps {
                shared.slots[1].put(*sequence);
                let Some(token) = shared.slots[0].take(&shared.watchdog) else { return };
                *sequence = own.answer(shared, token);
                if *sequence < 0 {
                    return;
                }
                progress.store(*sequence as u64, Relaxed);
            }
        });
        now() - begin
    }

    /// Sends a command round.
    fn command(&mut self, command: i64) {
        if self.fault().is_some() {
            return;
        }
        let Self { own, shared, .. } = self;
        shared.watchdog.during(|| {
            shared.slots[1].put(command);
            if let Some(command) = shared.slots[0].take(&shared.watchdog) {
                own.answer(shared, command);
            }
        });
    }

    fn enter(&self, mode: u32) {
        self.shared.mode.store(mode, Relaxed);
    }
}

impl Workload for Ring {
    fn lap(&self) -> u64 {
        self.shared.slots.len() as u64
    }

    fn run(&mut self, units: u64) -> u64 {
        self.enter(PLAIN);
        self.pass(units / self.lap())
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        self.enter(EACH);
        self.shared.records().histogram = Some(histogram);
        self.shared.stamp.store(read_counter(), Relaxed);
        let ticks = self.pass(units / self.lap());
        let histogram = self.shared.records().histogram.take();
        (ticks, histogram.unwrap_or_else(Histogram::new))
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.command(RESET);
    }

    fn claim(&mut self) -> Claim {
        {
            let mut records = self.shared.records();
            (records.turns, records.exits, records.memories) = (Turns::default(), 0, Vec::new());
        }
        self.command(PUBLISH);
        let mut records = self.shared.records();
        let token = self.sequence.saturating_sub(self.begin) as u64;
        let mut claim = Claim::new(records.turns.clone(), token, records.broken);
        super::without_address_spaces(&mut claim);
        claim.counts.insert("guest_exits", records.exits as i64);
        // The turns are those that the guests' registers count.
        claim.counts.insert("guest_turns", records.turns.total as i64);
        claim.counts.insert("guest_memories", disjoint(std::mem::take(&mut records.memories)));
        claim.counts.insert("guest_loop_ps", self.flavour.loop_ps as i64);
        claim
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        self.enter(VERIFY);
        trace.visit(0, 0);
        {
            let mut records = self.shared.records();
            (records.trace, records.trace_begin) = (Some(trace), self.sequence);
        }
        self.pass(units / self.lap());
        self.shared.records().trace.take()
    }

    fn fault(&self) -> Option<Refusal> {
        let fault = self.shared.records().fault.clone();
        fault.or_else(|| self.shared.watchdog.fired().then(|| Stop::Stuck.refusal()))
    }

    fn notes(&self) -> Vec<String> {
        vec![self.flavour.sentence()]
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The main thread's slot has no thread; after the watchdog one may hang for ever, and is left to the process's end.
        self.shared.slots[1..].iter().for_each(|slot| slot.put(QUIT));
        if !self.shared.watchdog.fired() {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}
