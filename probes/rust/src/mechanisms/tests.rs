//! What no plan of the host's tests asks (tests/tests/real.rs, parameters.rs and conformance.rs ask
//! the rest of every staged probe): odd sizes, and that a claim covers what ran since the reset and
//! nothing else.

use super::LIST;
use kit::{memory_of, Histogram, Mechanism, Parameter, Plan, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn list_is_sorted() {
    assert!(LIST.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn claims_are_what_was_asked() {
    for ring in ["coroutine/rust-async", "fiber/may", "fiber/monoio", "fiber/smol", "fiber/tokio", "stack/corosensei"] {
        for contexts in [2, 5] {
            for bytes in [0, 1, 100, 100_000] {
                check(&format!("mechanism={ring} contexts={contexts} working_set={bytes}"));
            }
        }
        check(&format!("mechanism={ring} experiment=create"));
    }
    check("mechanism=fiber/tokio contexts=3 flavor=multi_thread working_set=4096");
    check("mechanism=stack/corosensei contexts=1000 stack_size=16384");
    for seed in 0..20 {
        check(&format!("mechanism=stack/corosensei contexts=5 stack_size=4096 seed={seed}"));
        check(&format!("mechanism=stack/corosensei seed={seed}"));
    }
    if crate::vm::unavailable().is_none() {
        check("mechanism=vm/exit experiment=create");
        for seed in 0..5 {
            check(&format!("mechanism=vm/guest-stack ring=3 contexts=5 seed={seed}"));
        }
        check("mechanism=vm/pair contexts=5");
    }
}

#[test]
fn claims_of_threads_are_what_was_asked() {
    for handover in ["park", "channel"] {
        for (contexts, bytes) in [(2, 0), (5, 100)] {
            check(&format!("mechanism=thread/rust-std handover={handover} contexts={contexts} working_set={bytes}"));
        }
    }
    check("mechanism=thread/rust-std experiment=create");
    for lock in ["parking_lot", "std"] {
        check(&format!("mechanism=thread/rust-mutex experiment=contend contexts=5 hold=10 think=10 lock={lock}"));
    }
}

/// Another place in each start, inside a page and a small part of a small stack.
#[test]
fn stack_offsets_are_drawn_from_the_seed() {
    let offset = |seed: u64, more: &str, size: usize| {
        kit::stack_offset(&plan(&format!("mechanism=stack/corosensei seed={seed}{more}")), size)
    };
    let drawn: BTreeSet<usize> = (0..200).map(|seed| offset(seed, "", 1 << 20)).collect();
    assert!(drawn.len() > 50 && drawn.iter().all(|offset| offset % 64 == 0 && *offset < 4096), "{drawn:?}");
    assert!((0..200).all(|seed| offset(seed, "", 4096) < 512));
    assert_eq!((offset(3, " stack_offset=fixed", 1 << 20), offset(3, "", 1 << 20)), (0, offset(3, "", 1 << 20)));
}

/// In a fresh process, as the host starts one.
#[test]
fn heaps_begin_where_the_seed_says_and_else_where_they_always_do() {
    let place = |given: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "mechanisms::tests::tells_a_place", "--ignored", "--nocapture", "--test-threads=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(words(given).as_bytes()).unwrap();
        let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        said.split("offset=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    let places = |more: &str| -> BTreeSet<String> {
        (0..12).map(|seed| place(&format!("mechanism=coroutine/rust-async seed={seed}{more}"))).collect()
    };
    assert!(places("").len() > 5, "drawn: {:?}", places(""));
    assert_eq!(places(" heap_offset=fixed").len(), 1);
}

#[test]
#[ignore = "started by the test above"]
fn tells_a_place() {
    // The words are whole: to fill them in here would leave free memory where the place is looked
    // for.
    let (plan, _) = parse(&std::io::read_to_string(std::io::stdin()).unwrap());
    let _kept = kit::blocks(&plan);
    println!("offset={} ", memory_of(&*Box::new([0_u64; 7])).start % 4096);
}

fn plan(text: &str) -> Plan {
    parse(&words(text)).0
}

fn parse(words: &str) -> (Plan, &'static Mechanism) {
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    kit::parse(&words, LIST).unwrap()
}

/// All words of a plan, of which some are given.
fn words(given: &str) -> String {
    let usual = "protocol=1 experiment=switch contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 \
                 warmup_batches=5 verify_units=1000 seed=0";
    let mechanism = LIST.iter().find(|mechanism| given.contains(&format!("mechanism={}", mechanism.id))).unwrap();
    let number = |name| if name == "stack_size" { "1048576" } else { "0" };
    let parameter = |p: &Parameter| format!("{}={}", p.name, p.words.first().unwrap_or(&number(p.name)));
    let all = usual.split(' ').map(str::to_owned).chain(mechanism.parameters.iter().map(parameter));
    let keys: BTreeMap<_, _> = all
        .chain(given.split(' ').map(str::to_owned))
        .map(|word| (word.split('=').next().unwrap().to_owned(), word))
        .collect();
    keys.into_values().collect::<Vec<_>>().join(" ")
}

#[test]
fn working_sets_beyond_memory_have_a_cure() {
    let (plan, mechanism) = parse(&words("mechanism=coroutine/rust-async contexts=1000000 working_set=1073741824"));
    let refusal = (mechanism.set_up)(&plan).err().unwrap();
    assert!(!refusal.is_fault() && refusal.to_string().contains("a smaller working_set"), "{refusal}");
}

fn check(text: &str) {
    let (plan, mechanism) = parse(&words(text));
    let made = if plan.experiment == "create" { mechanism.create } else { mechanism.set_up };
    let mut workload = made(&plan).unwrap();
    let units = workload.lap() * 10;
    workload.run(units);
    workload.reset();
    workload.run(0);
    let claim = workload.claim();
    assert_eq!((claim.turns.map_or(0, |turns| turns.total), claim.token), (0, Some(0)), "{text}");
    workload.run(units);
    workload.run_each(units, Histogram::new());
    workload.run(units);
    let claim = workload.claim();
    assert_eq!((claim.token, claim.broken, workload.fault()), (Some(3 * units), false, None), "{text}: {claim:?}");
    let lines = plan.number(kit::WORKING_SET.name).div_ceil(64);
    let touches = (lines > 0).then_some((3 * units * lines) as i64);
    assert_eq!(claim.counts.get("touches").copied(), touches, "{text}: {claim:?}");
    let turns = claim.turns.as_ref().unwrap();
    // Whoever gets a lock gets it.
    let least = if plan.experiment == "contend" { turns.min } else { turns.max };
    assert_eq!((turns.total, turns.min), (3 * units, least), "{text}: {claim:?}");
    let trace = workload.verify(units, Trace::new(units));
    assert_eq!(trace.is_some(), plan.experiment == "switch", "{text}");
    assert!(trace.is_none_or(|trace| trace.in_order(workload.lap())), "{text}");
}
