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
    for mechanism in LIST {
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

fn check(text: &str) {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let (plan, mechanism) = kit::parse(&words, LIST).unwrap();
    let mut workload = (mechanism.set_up)(&plan).unwrap();
    let units = workload.lap() * 100;
    workload.run(units);
    workload.reset();
    workload.run(0);
    assert_eq!((workload.claim().turns.total, workload.claim().token), (0, 0), "{text}");
    workload.run(units);
    if kit::COUNTER_NAME.is_some() {
        workload.run_each(units, Histogram::new());
    } else {
        workload.run(units);
    }
    workload.run(units);
    let claim = workload.claim();
    assert_eq!((claim.turns.total, claim.token, claim.broken), (3 * units, 3 * units, false), "{text}: {claim:?}");
    assert_eq!(claim.turns.min, claim.turns.max, "{text}: {claim:?}");
    let trace = workload.verify(units, Trace::new(units));
    assert_eq!(trace.is_some(), plan.experiment == "switch", "{text}");
    if let Some(trace) = trace {
        assert!(trace.in_order(workload.lap()), "{text}: {trace:?}");
    }
}
