//! Runs for tests: one by hand with every field filled, and arbitrary ones.

mod arbitrary;
mod odd;

pub use arbitrary::arbitrary_run;

use std::collections::BTreeMap;
use switchcost_model::*;
use switchcost_store::{RunFileError, export_jsonl, import_jsonl};

pub fn map<V>(pairs: impl IntoIterator<Item = (&'static str, V)>) -> BTreeMap<String, V> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub fn text_map<const N: usize>(pairs: [(&'static str, &str); N]) -> BTreeMap<String, String> {
    map(pairs.map(|(name, value)| (name, value.to_owned())))
}

pub fn export(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    export_jsonl(run, &mut bytes).unwrap();
    bytes
}

pub fn import(bytes: &[u8]) -> Result<Run, RunFileError> {
    import_jsonl(&mut &*bytes).map(|imported| imported.run)
}

/// A small whole run with every field filled.
pub fn full_run() -> Run {
    let mut run = header("20260102T030405-a1b2");
    run.ended_unix_ns = Some(1_767_323_105_000_000_000);
    run.ended_by = EndedBy::Precision;
    run.invocations = vec![invocation(0, 0), histogram_invocation(1), dead_invocation(2)];
    run
}

/// A run that has just begun, with two variants that run and one that does not.
pub fn header(id: &str) -> Run {
    Run {
        id: id.to_owned(),
        started_unix_ns: 1_767_323_045_000_000_000,
        ended_unix_ns: None,
        seed: u64::MAX - 1,
        ended_by: EndedBy::Unfinished,
        tool_version: "0.1.0".to_owned(),
        method_version: 1,
        command: vec!["switchcost".to_owned(), "run".to_owned(), "thread/*".to_owned()],
        request: Request::default(),
        precision_ppm: 20_000,
        budget_ms: 60_000,
        machine: Machine {
            stable: text_map([("cpu", "Xeon"), ("kernel", "6.8")]),
            drifting: text_map([("load", "0.10")]),
            personal: text_map([("host", "bobs-box")]),
            findings: vec![finding!(Severity::Warning, clock_source.slow, source = "hpet", read = "2.00 µs")],
        },
        variants: vec![variant("thread/pipe", "gcc-12"), variant("stack/asm", "gcc-12"), variant("vm/pair", "rust")],
        not_run: BTreeMap::from([(2, Reason::Unsupported { detail: "there is no /dev/kvm".to_owned() })]),
        invocations: Vec::new(),
    }
}

fn variant(mechanism: &str, probe: &str) -> Variant {
    Variant {
        mechanism: mechanism.parse().unwrap(),
        probe: probe.to_owned(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement: Placement::usual(),
        timing: Timing::Batch,
        parameters: text_map([("payload", "1")]),
        label: "a".to_owned(),
    }
}

/// The invocation with this sequence number; different numbers give different content.
pub fn invocation(variant: usize, sequence: u64) -> Invocation {
    let tick = sequence as i64;
    Invocation {
        variant,
        round: sequence / 2,
        sequence,
        started_unix_ns: 1_767_323_046_000_000_000 + tick,
        wall_ns: 31_000_000,
        cpus: vec![0, 1],
        environment_padding: 128,
        peak_rss_bytes: 4096,
        process: ProcessEnd::Exited(0),
        transcript: Transcript {
            hello: Some(hello(1000 + sequence)),
            plan: Some(plan()),
            samples: vec![
                Samples {
                    phase: Phase::Warmup,
                    units: 512,
                    ticks: vec![1_100_000 + tick],
                    quantity: None,
                    rulers: BTreeMap::new(),
                },
                Samples {
                    phase: Phase::Measure,
                    units: 512,
                    ticks: vec![tick, -1, 0, i64::MAX],
                    quantity: None,
                    rulers: BTreeMap::new(),
                },
            ],
            histograms: Vec::new(),
            evidence: Some(evidence()),
            notes: vec!["the kernel is old".to_owned()],
            end: Some(End { status: EndStatus::Ok, code: None, detail: None, errno: None, samples: 5 }),
            fault: None,
        },
        seen: None,
        judgement: Judgement::VERIFIED,
        disturbances: vec![Disturbance::Steal { ns: 3_000_000, of_ns: 31_000_000 }],
        log: "said \"ü\"\n\u{0}\u{2028}".to_owned(),
    }
}

fn hello(pid: u64) -> Hello {
    Hello {
        protocol: 1,
        probe: "native".to_owned(),
        version: "0.1.0".to_owned(),
        runtime: "glibc 2.36".to_owned(),
        compiler: Some("gcc 12.2.0".to_owned()),
        flags: Some("-O2".to_owned()),
        pid,
        clock: Clock { name: "CLOCK_MONOTONIC".to_owned(), ticks_per_second: 1_000_000_000, read_cost_ticks: 20 },
        counter: Some("tsc".to_owned()),
        chain_cycles: None,
    }
}

fn plan() -> PlanEcho {
    PlanEcho {
        mechanism: "thread/pipe".parse().unwrap(),
        experiment: Experiment::usual(),
        contexts: 2,
        timing: Timing::Batch,
        cpus: vec![0],
        batch_units: 512,
        batches: 4,
        warmup_batches: 1,
        parameters: text_map([("payload", "1")]),
    }
}

fn evidence() -> Evidence {
    Evidence {
        units: 2560,
        turns: Some(Turns { total: 2560, min: 1280, max: 1280, contexts: 2 }),
        token: Some(2560),
        kernel: Some(KernelSwitches { voluntary: 2560, involuntary: 3, tasks: 2, source: "rusage".to_owned() }),
        address_spaces: Some(1),
        cpus: Some(vec![0]),
        migrations: Some(0),
        hops: Some(Hops { count: 1000, in_order: 1000, same_cpu: 999, same_thread: None, timed: false }),
        page_faults: Some(PageFaults { minor: 7, major: 0 }),
        gc_cycles: None,
        counts: map([("exits", i64::MIN)]),
        why: text_map([("gc_cycles", "there is no collector")]),
    }
}

fn histogram_invocation(sequence: u64) -> Invocation {
    let mut invocation = invocation(1, sequence);
    invocation.transcript.samples.clear();
    invocation.transcript.histograms = vec![Histogram {
        phase: Phase::Measure,
        units: 3,
        bits: 7,
        buckets: vec![(10, 2), (u64::MAX, 1)],
        sum: u64::MAX,
        min: 10,
        max: u64::MAX,
        pair_sum: 60,
        pair_count: 3,
        span_counter: 1,
        span_clock: 2,
    }];
    invocation
}

fn dead_invocation(sequence: u64) -> Invocation {
    let mut invocation = invocation(0, sequence);
    invocation.process = ProcessEnd::Deadline;
    invocation.transcript =
        Transcript { fault: Some(Fault { line: 3, broken: Broken::NoKind }), ..Transcript::default() };
    invocation.judgement = Judgement::new(Verdict::Broken, Reason::NoAnswer { limit_ms: 8000 });
    invocation.disturbances.clear();
    invocation
}
