//! The numbers of the judge's rules, in one table: `protocol/rules.txt` says which lies slip
//! through, and which honest starts are accused, when each is half or one and a half times what it
//! is.

/// Declares the table: each constant with its value, and why it is that.
macro_rules! constants {
    ($($(#[doc = $why:literal])+ $name:ident = $value:literal,)+) => {
        /// The numbers of the rules.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Constants {
            $($(#[doc = $why])+ pub $name: f64,)+
        }

        impl Constants {
            /// Those that starts are judged by.
            pub const OURS: Self = Self { $($name: $value,)+ };

            /// Each with its name, its reason, and where it stands.
            pub const TABLE: &[(&'static str, &'static str, fn(&mut Self) -> &mut f64)] =
                &[$((stringify!($name), concat!($($why),+), |constants| &mut constants.$name),)+];
        }
    };
}

constants! {
    /// Share of a start's time that its tasks waited for CPUs, and that it did not use of them
    /// itself, from which on a missing answer is laid to others.
    crowded = 0.25,
    /// Share by which kernel switches may differ from the rule: counters are read while tasks fall
    /// asleep, and timer interrupts preempt.
    kernel_tolerance = 0.02,
    /// Share of the units: where a rule allows no kernel switch, more than this means that
    /// something else ran in between.
    stray_share = 0.001,
    /// Kernel switches at the edges of the measurement that belong to no unit, beside two per
    /// context.
    edge_switches = 10.0,
    /// Of an event that the rule allows few of, so many at the edges of each batch belong to no
    /// unit: a guest leaves once a batch, and batches of 1 µs have 400 units.
    edge_counts = 2.0,
    /// Tasks of a runtime beside its contexts that may add switches at the edges: collectors,
    /// compilers, timers.
    helper_tasks = 64.0,
    /// Times a second that somebody else may get the CPU in between. It matters for units of
    /// milliseconds (large working sets), of which a single preemption is more than
    /// `kernel_tolerance`; a scheduler's slice is longer than a millisecond.
    preemptions_per_second = 1000.0,
    /// Involuntary switches per unit beyond the rule, at most, that are the work of others on the
    /// same CPU: they disturb the figure and say nothing of the mechanism. A mechanism whose own
    /// switches were hidden among them would have one in every unit.
    foreign_share = 0.5,
    /// Times a second that others on the same CPU push a context aside, at most. A neighbour that
    /// sleeps and wakes did so 5,000 times a second; where a switch takes less than 25 µs, what it
    /// has of its own is more than that.
    pushed_per_second = 20_000.0,
    /// Times that a runtime's helper is pushed aside around the batches, by the contexts or by
    /// others: a compiler works while the counters are read.
    helper_pushed = 8.0,
    /// Share of units in which a context that has a CPU of its own is pushed aside, at most; of two
    /// that share one it is about half.
    pushed_share = 0.25,
    /// ns. No CPU hands anything over in less; a faster claim was optimised away or miscounted.
    /// Half a cycle at 5 GHz.
    implausible_ns = 0.1,
    /// A switch is at least one jump more than the loop that drives it, and a CPU takes one such
    /// jump per cycle: less than so many times the empty loop of the same run is not a switch.
    least_bounds = 1.5,
    /// Share of a control's fastest batch that a unit which does the same among other things takes
    /// at least: caches and predictors may serve it better there.
    least_contained = 0.8,
    /// Share of what a parameter adds that must show beyond the fastest batch of the row without
    /// it.
    addition_seen = 0.5,
    /// What a parameter adds, by the figure of the row without it: less is lost among that row's
    /// modes, and compared with nothing.
    least_addition = 0.3,
    /// Starts of the row without it, at least: of fewer all may be of its slower mode.
    base_starts = 5.0,
    /// Instructions of a unit, at least: one that goes elsewhere, and one that counts.
    least_instructions = 2.0,
    /// ns of CPU time between the two readings that no batch holds: the first wake-up of each
    /// context, the clock of each batch, code that an emulator translates on the way. Beside
    /// batches of a run it is nothing; three of 20 µs took 46 µs more under an emulated processor.
    around_batches_ns = 1e6,
    /// The same for each context: a thousand virtual machines took 75,000 each, on a machine half
    /// as fast 200,000.
    around_context_ns = 400e3,
    /// ns of CPU time of the rulers beside a batch, at most: the kernel's code must be fetched anew
    /// for them.
    rulers_ns = 10e3,
    /// Bytes that an address space of today's processors spans, 2^57: more cannot be memory.
    address_space = 144_115_188_075_855_872.0,
    /// CPU time of the contexts by time of the batches, at least in the best of a row's undisturbed
    /// starts on one CPU: 0.9 to 1.1 in 1,700 starts.
    least_used = 0.5,
    /// The same by CPU, at most, in the best of a row's starts: 0.9 to 1.05 in 300 rows of all
    /// kits, less what is around the batches.
    most_used = 1.1,
    /// Starts from which on they speak together: undisturbed ones of CPU time, those of a counter's
    /// rate, those of a control. Of a starved start even the fastest batch is slow: one took 0.96
    /// ns an iteration where others took 0.24.
    speaking_starts = 3.0,
    /// Share of a row's starts beyond which the host looked at them: a median lies among these,
    /// whatever fewer others claim. In the kept runs one row in 190 has less, with batches of 20
    /// switches.
    seen_share = 0.5,
    /// Different times of batches from which on two starts that agree in all of them are one that
    /// was told twice.
    replayed_values = 8.0,
    /// Share by which the rate of the cycle counter may differ from what the host measured of it
    /// within 10 ms.
    counter_share = 0.02,
    /// Of so many readings at least one is longer than a tick, even where a tick is 100 ns.
    many_readings = 1000.0,
    /// Share of the reading's own cost below which the rest is not told from it: readings at two
    /// places of a loop differ by as much.
    resolution = 0.05,
    /// Share by which two clocks of one machine may differ.
    clock_share = 0.01,
    /// ns by which two clocks of one machine and the reading of a pipe may differ.
    clock_ns = 1e6,
    /// Kernel switches after `plan` for each unit beyond those that the evidence has: below, they
    /// are a runtime's own (collector, compiler).
    hidden_share = 0.5,
    /// The same, however few units there are.
    hidden_switches = 10_000.0,
    /// Of contexts that block, switches of their own accord for each unit, at least. A context that
    /// is preempted by the one it woke finds its token there and spares every second wait.
    least_blocked = 0.25,
    /// Page faults after `plan` that no evidence has: those of leaving, and of a runtime's own
    /// tasks.
    hidden_faults = 50_000.0,
    /// The same for each unit.
    hidden_faults_share = 0.5,
    /// Contexts of the largest ring whose CPU time is compared with its batches: a larger one takes
    /// longer to make, to check and to remove than to measure.
    largest_judged = 1000.0,
    /// ns of CPU time that a runtime uses to verify and to leave, for each ns that it took to
    /// start: Erlang takes a tenth more, and nine tenths where a neighbour comes to its core after
    /// the start.
    leaving = 2.0,
    /// The same at most, unless the installation grants the runtime more (`leaving_ms` of
    /// mechanisms/families.toml): what a probe burns first buys nothing.
    most_leaving_ns = 100e6,
    /// Hops of the longest pass that checks them after the batches, where a lap is not longer.
    longest_pass = 1000.0,
    /// ns of CPU time of the quickest kernel switch. Tasks that had ended before `plan` are counted
    /// in the end, but not at the look; so much of them there may have been.
    quickest_switch_ns = 250.0,
    /// ns of CPU time that a start used after `plan`, for each ns claimed and CPU; above, time is
    /// missing in the claim.
    missing_time = 1.15,
    /// ns of CPU time around the batches, with the tick by which the kernel's count of a running
    /// task may be behind.
    missing_time_ns = 6e6,
    /// How many times as much of a control, which may start a program for each batch, in no batch.
    missing_time_of_controls = 3.0,
    /// ns. A control across CPUs spins: while one of its tasks is pushed aside between batches, the
    /// other burns time that is in none; so long each time, where others queue for the CPU.
    pushed_aside_ns = 15e6,
    /// Not more often than so in a start of a few batches.
    pushed_aside = 10.0,
    /// ns of CPU time of the runtime that takes a container away; the processes that made it had
    /// ended before the look.
    removal_ns = 30e6,
    /// ns of CPU time that a byte of a working set takes around the batches, to make or to release
    /// it: 0.1 on an AMD EPYC, with pages of 4 KiB.
    release_ns = 0.3,
    /// Contexts of a ring that passes the token once more where hops are not those of the batches,
    /// at most; a longer lap takes seconds across CPUs.
    largest_checked = 10_000.0,
    /// Of open-loop rows: intended times that one wake-up serves on average, at most; beyond it the
    /// figure is of the backlog.
    most_a_wake = 10.0,
    /// Share of their time that its tasks use the CPU, at most: they wait.
    waiter_busy = 0.5,
    /// ns of CPU time that a wake-up takes at most, the tasks' own switches and timers with it:
    /// 20,000 on a busy virtual machine. Short periods are full of it.
    wake_ns = 100e3,
    /// Share of its CPUs that the hogs get at least, beside up to fifty equals.
    least_hogged = 0.02,
    /// Share by which the time of all intended times may differ from what went by.
    beat_share = 0.03,
    /// ns by which more may go by between the host's two looks, beside the longest latency: a host
    /// that waits for a CPU itself is late to read the plan or the figures.
    beat_ns = 500e6,
    /// ns by which less may: the plan is sent just before the first time, and may be read late.
    early_ns = 100e6,
    /// Share of a period from which on a latency counts as late in any case: what comes between the
    /// reading of the clock and the next sleep takes the rest at most.
    late_share = 0.5,
    /// It takes at most so many times the CPU time of an average wake-up …
    awake_means = 2.0,
    /// … but this share of a period in any case.
    awake_share = 0.1,
    /// Times without a wake-up that no latency explains, as a share of the chains of such times:
    /// one came while the waiter was awake. Of 285 honest starts one had one
    /// (docs/notebook/wakeup.md).
    chain_share = 0.02,
    /// And so many at the edges of the phases.
    edge_times = 4.0,
    /// Share of the time that the kernel let its tasks wait for a CPU which the latencies must
    /// hold.
    waited_share = 0.5,
    /// Share of the time that the work of requests takes which must be there, in their CPU time and
    /// in each latency: a core whose sibling or hypervisor took its time while the work was set is
    /// faster afterwards. An honest server had 0.87 beside a compiler.
    least_worked = 0.5,
    /// ns of such waiting that are in no latency: before the first intended time and after the
    /// last.
    waited_ns = 50e6,
    /// ns. Batches that together last longer are not over before the host has read `plan`, even on
    /// a busy machine.
    longest_unseen_ns = 20e6,
}
