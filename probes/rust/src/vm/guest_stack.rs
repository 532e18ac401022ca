//! vm/guest-stack: contexts on stacks of their own inside one guest pass a token round; the guest
//! leaves once per batch.
//!
//! The switch is that of stack/asm. `where=process` executes the same bytes on the same layout of
//! memory in the probe itself: the difference of the two is what being a guest costs a context
//! switch that the host does not see.

use super::flavour::Flavour;
use super::guest::{batch, record, run_ring_here, Entry, Frame};
use super::machine::{guest_address, Exit, Machine, Stop, DATA, LARGEST, REST};
use super::memory::Memory;
use super::ring_of;
use super::watchdog::Watchdog;
use kit::{disjoint, now, read_counter, stack_offset, Claim, Plan, Refusal, Trace, Turns, Workload};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// Distance of two stacks: an odd number of cache lines, so that many stacks do not share a set of
/// the cache.
const STACK_BYTES: usize = 17 * 64;
/// The stacks lie less than this further up, as the seed says.
const MOST_OFFSET: usize = 4096;

pub fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let contexts = plan.contexts as usize;
    let most = (LARGEST - REST - MOST_OFFSET) / (record::BYTES + STACK_BYTES);
    if contexts > most {
        return Err(Refusal::unsupported(
            "limit_reached",
            format!("a guest has room for {most} stacks; ask for fewer contexts"),
        ));
    }
    let stacks = REST + contexts * record::BYTES + stack_offset(plan, 8 * MOST_OFFSET);
    let memory = Memory::new(stacks + contexts * STACK_BYTES)?;
    let (side, memory, flavour) = if plan.parameter("where") == "process" {
        lay_out(&memory, contexts, stacks, memory.host_address(), Entry::Member.address(None));
        (Side::Process, Arc::new(memory), None)
    } else {
        lay_out(&memory, contexts, stacks, 0, guest_address(Entry::Member));
        let machine = Machine::new(Entry::Batch, ring_of(plan), memory)?;
        let memory = Arc::clone(&machine.memory);
        (Side::Guest(Box::new(machine)), memory, Some(Flavour::find()?))
    };
    let progress = Arc::clone(&memory);
    let watchdog = Watchdog::new(move || progress.word(record_of(0) + record::DUE).load(Relaxed))?;
    let due_begin = vec![0; contexts];
    Ok(Box::new(Ring {
        side,
        memory,
        contexts,
        stacks,
        sequence: 0,
        begin: 0,
        exits: 0,
        due_begin,
        watchdog,
        flavour,
        fault: None,
    }))
}

/// Address of a context's record.
fn record_of(context: usize) -> usize {
    REST + context * record::BYTES
}

/// Records and first frames of a ring whose stacks begin there, for code that sees this memory at
/// `base` and members begin at `entry`.
fn lay_out(memory: &Memory, contexts: usize, stacks: usize, base: usize, entry: usize) {
    let put = |at: usize, value: usize| memory.word(at).store(value as u64, Relaxed);
    for context in 0..contexts {
        let (own, next) = (record_of(context), record_of((context + 1) % contexts));
        // Context 1 has the first turn of a lap, context 0 the last.
        put(own + record::DUE, (context + contexts - 1) % contexts);
        put(own + record::NEXT, base + next);
        put(own + record::LAP, contexts);
        let top = stacks + (context + 1) * STACK_BYTES;
        let frame = Frame {
            r13: contexts as u64,
            rbx: (base + own) as u64,
            rbp: (base + next) as u64,
            entry: entry as u64,
            ..Frame::default()
        };
        let pointer = top - size_of::<Frame>();
        for (i, word) in frame.words().into_iter().enumerate() {
            memory.word(pointer + 8 * i).store(word, Relaxed);
        }
        put(own + record::STACK, base + pointer);
    }
}

enum Side {
    Guest(Box<Machine>),
    Process,
}

struct Ring {
    side: Side,
    memory: Arc<Memory>,
    contexts: usize,
    /// Where the first stack begins in the guest's memory.
    stacks: usize,
    sequence: u64,
    begin: u64,
    exits: u64,
    due_begin: Vec<u64>,
    watchdog: Watchdog,
    flavour: Option<Flavour>,
    fault: Option<Refusal>,
}

impl Ring {
    /// What is due of each context.
    fn due(&self) -> Vec<u64> {
        (0..self.contexts).map(|context| self.memory.word(record_of(context) + record::DUE).load(Relaxed)).collect()
    }

    /// Contexts whose stack pointer, as the switch saved it last, lies on the stack that was laid
    /// out for it; context 0 runs on the guest's first stack or the probe's own, wherever that is,
    /// but on none of those.
    fn distinct_stacks(&self) -> i64 {
        let base = if matches!(self.side, Side::Process) { self.memory.host_address() } else { 0 };
        let own = |context: usize| {
            let pointer = self.memory.word(record_of(context) + record::STACK).load(Relaxed) as usize;
            let top = base + self.stacks + (context + 1) * STACK_BYTES;
            match context {
                0 => Some(pointer..pointer + 1),
                _ => Some(top - STACK_BYTES..top).filter(|stack| stack.contains(&pointer)),
            }
        };
        disjoint((0..self.contexts).filter_map(own).collect())
    }

    fn pass(&mut self, laps: u64) -> Result<u64, Stop> {
        let Self { side, memory, sequence, exits, watchdog, .. } = self;
        match side {
            Side::Guest(machine) => {
                *exits += 1;
                let ticks = watchdog.during(|| machine.watched(|machine| batch_in_guest(machine, laps, *sequence)))?;
                *sequence = memory.word(DATA + batch::TOKEN).load(Relaxed);
                Ok(ticks)
            }
            Side::Process => {
                let record = memory.host_address() + record_of(0);
                let begin = now();
                // SAFETY: `set_up` laid the ring out for this process, nothing else writes to it,
                // and laps is not 0 (run).
                *sequence = unsafe { run_ring_here(record, laps, *sequence) };
                Ok(now() - begin)
            }
        }
    }
}

/// The guest reads its time stamp counter before and after; the two clocks around the entry tell
/// what a count of it lasts.
fn batch_in_guest(machine: &mut Machine, laps: u64, token: u64) -> Result<u64, Stop> {
    let memory = Arc::clone(&machine.memory);
    let word = |offset: usize| memory.word(DATA + offset);
    word(batch::RECORD).store(record_of(0) as u64, Relaxed);
    word(batch::LAPS).store(laps, Relaxed);
    word(batch::TOKEN).store(token, Relaxed);
    let (clock, counter) = (now(), read_counter());
    machine.turn(Exit::Port)?;
    let (span_counter, span_clock) = (read_counter() - counter, now() - clock);
    let inside = word(batch::END).load(Relaxed).wrapping_sub(word(batch::BEGIN).load(Relaxed));
    if inside > span_counter {
        // The hypervisor scales the guest's counter: then the exit is also in the figure.
        return Ok(span_clock);
    }
    let ticks = u128::from(inside) * u128::from(span_clock) / u128::from(span_counter.max(1));
    Ok(ticks as u64)
}

impl Workload for Ring {
    fn lap(&self) -> u64 {
        self.contexts as u64
    }

    fn run(&mut self, units: u64) -> u64 {
        let laps = units / self.lap();
        if laps == 0 || self.fault.is_some() {
            return 0;
        }
        self.pass(laps).unwrap_or_else(|stop| {
            self.fault = Some(stop.refusal());
            0
        })
    }

    /// Not offered: an interval of two nanoseconds cannot be read with a counter that takes ten.
    fn reset(&mut self) {
        (self.begin, self.exits, self.due_begin) = (self.sequence, 0, self.due());
    }

    fn claim(&mut self) -> Claim {
        let mut turns = Turns::default();
        for (due, begin) in self.due().iter().zip(&self.due_begin) {
            turns.count((due - begin) / self.lap());
        }
        let broken = (0..self.contexts).any(|i| self.memory.word(record_of(i) + record::BROKEN).load(Relaxed) != 0);
        let mut claim = Claim::new(turns, self.sequence - self.begin, broken);
        claim.counts.insert("guest_exits", self.exits as i64);
        claim.counts.insert("distinct_stacks", self.distinct_stacks());
        if let Some(flavour) = &self.flavour {
            claim.counts.insert("guest_loop_ps", flavour.loop_ps as i64);
        }
        claim
    }

    /// Every context compares each token with the one it is due, so order needs no second proof.
    /// The CPU is that of the thread, seen after each lap: a guest cannot know it.
    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        let lap = self.lap();
        trace.visit(0, 0);
        for sequence in 0..units {
            if sequence % lap == 0 {
                self.run(lap);
            }
            trace.visit(sequence + 1, (sequence + 1) % lap);
        }
        let broken = self.claim().broken;
        (!broken).then_some(trace)
    }

    fn fault(&self) -> Option<Refusal> {
        self.fault.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.flavour.iter().map(Flavour::sentence).collect()
    }
}
