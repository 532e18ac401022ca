use super::LIST;
use kit::{Histogram, Trace};

#[test]
fn list_is_sorted_and_described() {
    assert!(LIST.windows(2).all(|pair| pair[0].id < pair[1].id));
    for mechanism in LIST {
        let path = format!("{}/../../mechanisms/{}.toml", env!("CARGO_MANIFEST_DIR"), mechanism.id);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        for parameter in mechanism.parameters {
            assert!(text.contains(&format!("[parameters.{}]", parameter.name)), "{path}: {}", parameter.name);
        }
    }
}

/// Every experiment of every mechanism, in each way of timing: no unit does nothing, a thousand give a claim of a thousand.
#[test]
fn claims_are_what_was_asked() {
    for mechanism in LIST.iter().filter(|mechanism| !mechanism.id.starts_with("vm/")) {
        for experiment in mechanism.experiments {
            for contexts in [2, 5] {
                check(&format!("mechanism={} experiment={experiment} contexts={contexts}", mechanism.id));
            }
        }
    }
    check("mechanism=fiber/tokio contexts=3 flavor=multi_thread");
    check("mechanism=fiber/tokio experiment=create flavor=multi_thread");
    check("mechanism=stack/corosensei experiment=create stack=reused");
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
    if let Some(turns) = &claim.turns {
        assert_eq!((turns.total, turns.min), (3 * units, turns.max), "{text}: {claim:?}");
    }
    let trace = workload.verify(units, Trace::new(units));
    assert_eq!(trace.is_some(), plan.experiment == "switch", "{text}");
    if let Some(trace) = trace {
        assert!(trace.in_order(workload.lap()), "{text}: {trace:?}");
    }
}
