use super::LIST;
use kit::{Histogram, Trace};

#[test]
fn list_is_sorted_and_described() {
    assert!(LIST.windows(2).all(|pair| pair[0].id < pair[1].id));
    for mechanism in LIST {
        let path = format!("{}/../../mechanisms/{}.toml", env!("CARGO_MANIFEST_DIR"), mechanism.id);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        for parameter in mechanism.parameters {
            let own = text.contains(&format!("[parameters.{}]", parameter.name));
            let list = text.lines().find(|line| line.starts_with("common = ")).unwrap_or_default();
            let common = list.contains(&format!("\"{}\"", parameter.name));
            assert!(own || common, "{path}: {}", parameter.name);
        }
    }
}

/// Every experiment of every mechanism, in each way of timing: no unit does nothing, a thousand give a claim of a thousand.
#[test]
fn claims_are_what_was_asked() {
    for mechanism in LIST.iter().filter(|mechanism| !mechanism.id.starts_with("vm/")) {
        for experiment in mechanism.experiments {
            for contexts in [2, 5].into_iter().filter(|_| *experiment != "footprint") {
                check(&format!("mechanism={} experiment={experiment} contexts={contexts}", mechanism.id));
            }
        }
    }
    check("mechanism=fiber/tokio contexts=3 flavor=multi_thread");
    check("mechanism=fiber/tokio experiment=create flavor=multi_thread");
    check("mechanism=stack/corosensei experiment=create stack=reused");
    check("mechanism=stack/corosensei contexts=1000 stack_size=16384");
}

#[test]
fn working_sets_are_touched_once_a_turn() {
    let with_sets =
        LIST.iter().filter(|mechanism| mechanism.parameters.iter().any(|p| p.name == kit::WORKING_SET.name));
    for mechanism in with_sets {
        for contexts in [2, 5] {
            for bytes in [1, 64, 100, 4096, 100_000] {
                check(&format!("mechanism={} contexts={contexts} working_set={bytes}", mechanism.id));
            }
        }
    }
    check("mechanism=fiber/tokio contexts=3 flavor=multi_thread working_set=4096");
    let words = ["mechanism=coroutine/rust-async", "contexts=1000000", "working_set=1073741824"].map(str::to_owned);
    let (plan, mechanism) = kit::parse(&words, LIST).unwrap();
    let refusal = (mechanism.set_up)(&plan).err().unwrap();
    assert!(!refusal.is_fault() && refusal.to_string().contains("a smaller working_set"), "{refusal}");
}

/// Of experiment footprint: as many contexts as were asked are made and have run, again and again.
#[test]
fn populations_are_what_was_asked() {
    for mechanism in LIST {
        assert_eq!(mechanism.hold.is_some(), mechanism.experiments.contains(&"footprint"), "{}", mechanism.id);
        let Some(hold) = mechanism.hold.filter(|_| (mechanism.unavailable)().is_none()) else { continue };
        let words = [format!("mechanism={}", mechanism.id), "experiment=footprint".to_owned()];
        let mut population = hold(&kit::parse(&words, LIST).unwrap().0).unwrap();
        for contexts in [1, 7] {
            population.populate(contexts).unwrap();
            let turns = population.claim().turns.unwrap();
            assert_eq!((turns.total, turns.contexts, turns.max), (contexts, contexts, 1), "{}", mechanism.id);
            population.depopulate();
        }
    }
}

/// Machines are slow, so the plans are tiny; where there is no KVM, every mechanism must say why and what to do.
#[test]
fn machines_do_what_was_asked_or_say_why_not() {
    let of_machines = || LIST.iter().filter(|mechanism| mechanism.id.starts_with("vm/"));
    if let Some(refusal) = crate::vm::unavailable() {
        assert!(of_machines().all(|mechanism| (mechanism.unavailable)().as_ref() == Some(&refusal)));
        assert!(!refusal.is_fault() && refusal.to_string().len() > 40, "{refusal}");
        eprintln!("no virtual machines here: {refusal}");
        return;
    }
    for plan in [
        "mechanism=vm/exit",
        "mechanism=vm/exit by=hlt",
        "mechanism=vm/exit by=mmio",
        "mechanism=vm/exit ring=3",
        "mechanism=vm/exit experiment=create",
        "mechanism=vm/guest-stack",
        "mechanism=vm/guest-stack contexts=5",
        "mechanism=vm/guest-stack ring=0",
        "mechanism=vm/guest-stack where=process contexts=5",
        "mechanism=vm/pair",
        "mechanism=vm/pair contexts=5",
        "mechanism=vm/pair ring=3",
    ] {
        check(plan);
    }
}

fn check(text: &str) {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let (plan, mechanism) = kit::parse(&words, LIST).unwrap();
    let mut workload = (mechanism.set_up)(&plan).unwrap();
    let laps = if mechanism.id.starts_with("vm/") { 10 } else { 100 };
    let units = workload.lap() * laps;
    workload.run(units);
    workload.reset();
    workload.run(0);
    let claim = workload.claim();
    assert_eq!((claim.turns.map_or(0, |turns| turns.total), claim.token), (0, Some(0)), "{text}");
    workload.run(units);
    if kit::COUNTER_NAME.is_some() && mechanism.timings.contains(&"each") {
        workload.run_each(units, Histogram::new());
    } else {
        workload.run(units);
    }
    workload.run(units);
    let claim = workload.claim();
    assert_eq!((claim.token, claim.broken, workload.fault()), (Some(3 * units), false, None), "{text}: {claim:?}");
    let lines = plan.number(kit::WORKING_SET.name).div_ceil(64);
    let touches = (lines > 0).then_some((3 * units * lines) as i64);
    assert_eq!(claim.counts.get("touches").copied(), touches, "{text}: {claim:?}");
    if let Some(turns) = &claim.turns {
        assert_eq!((turns.total, turns.min), (3 * units, turns.max), "{text}: {claim:?}");
    }
    let ring = plan.experiment == "switch" && !mechanism.id.starts_with("control/");
    if let Some(name) = published(mechanism.id).filter(|_| ring) {
        assert_eq!(claim.counts.get(name), Some(&(workload.lap() as i64)), "{text}: {claim:?}");
    }
    let trace = workload.verify(units, Trace::new(units));
    assert_eq!(trace.is_some(), ring, "{text}");
    if let Some(trace) = trace {
        assert!(trace.in_order(workload.lap()), "{text}: {trace:?}");
    }
}

/// What the contexts of a ring show of themselves, each something of its own.
fn published(mechanism: &str) -> Option<&'static str> {
    match mechanism {
        "coroutine/rust-async" | "fiber/tokio" => Some("distinct_frames"),
        "stack/corosensei" | "vm/guest-stack" => Some("distinct_stacks"),
        "vm/pair" => Some("guest_memories"),
        _ => None,
    }
}
