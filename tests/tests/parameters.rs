//! Every parameter of every mechanism with every experiment: it is taken, or refused with its cure. That what is taken shows in the evidence, or why
//! it cannot, is tested with the rules (`crates/catalogue/tests/rules.rs`).

use serde_json::Value;
use switchcost_e2e::Real;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn list(real: &Real) -> Vec<Value> {
    let listed = real.run("list --format json").json();
    let mechanisms = if listed.is_array() { listed } else { listed["mechanisms"].clone() };
    mechanisms.as_array().cloned().unwrap_or_default()
}

#[test]
fn a_parameter_is_refused_for_an_experiment_that_ignores_it() {
    let Some(real) = Real::new(FAKE) else { return };
    let mut refused = 0;
    for mechanism in list(&real) {
        let id = mechanism["id"].as_str().unwrap();
        for parameter in mechanism["parameters"].as_array().into_iter().flatten() {
            let (name, taken) = (parameter["name"].as_str().unwrap(), words(&parameter["experiments"]));
            assert!(!taken.is_empty(), "{id}: {name}");
            let default = parameter["default"].as_str().unwrap();
            for experiment in words(&mechanism["experiments"]).into_iter().filter(|e| !taken.contains(e)) {
                let said = real.run(&format!("run {id} --experiment {experiment} --param {name}={default} --rounds 1"));
                let cure = format!("--experiment {}", taken[0]);
                said.refuses(2, &[name, "changes nothing in experiment", &experiment, &cure]);
                refused += 1;
            }
        }
    }
    assert!(refused > 50, "only {refused} refusals");
}

#[test]
fn a_pattern_passes_a_parameter_to_those_that_take_it() {
    let Some(real) = Real::new(FAKE) else { return };
    let tiny = "--rounds 1 --batches 3 --batch-time 100us --budget 60s";
    let rows = real.rows(&format!("thread/* --experiment message --param payload=64 {tiny}"));
    assert!(rows.len() >= 2, "{rows:?}");
    for row in rows {
        assert_eq!((&row["parameters"]["payload"], &row["verdict"]), (&"64".into(), &"verified".into()), "{row}");
    }
}
