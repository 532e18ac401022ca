//! Every parameter of every mechanism with every experiment: it is carried out as its rule of
//! evidence asks, or refused with its cure. That every rule asks for something that shows, or why
//! none can, is tested with the rules (`crates/catalogue/tests/rules.rs`).

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_e2e::{Real, shows_nothing};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn list(real: &Real) -> Vec<Value> {
    let listed = real.run("list --format json").json();
    let mechanisms = if listed.is_array() { listed } else { listed["mechanisms"].clone() };
    mechanisms.as_array().cloned().unwrap_or_default()
}

/// Asks for each parameter in the experiments that ignore it, of every mechanism or once per
/// experiment; says how often.
fn refusals(real: &Real, every: bool) -> usize {
    let (mut refused, mut seen) = (0, BTreeSet::new());
    for mechanism in list(real) {
        let id = mechanism["id"].as_str().unwrap();
        for parameter in mechanism["parameters"].as_array().into_iter().flatten() {
            let (name, taken) = (parameter["name"].as_str().unwrap(), words(&parameter["experiments"]));
            assert!(!taken.is_empty(), "{id}: {name}");
            let default = parameter["default"].as_str().unwrap();
            for experiment in words(&mechanism["experiments"]).into_iter().filter(|e| !taken.contains(e)) {
                if !seen.insert(experiment.clone()) && !every {
                    continue;
                }
                let said = real.run(&format!("run {id} --experiment {experiment} --param {name}={default} --rounds 1"));
                let cure = format!("--experiment {}", taken[0]);
                said.refuses(2, &[name, "changes nothing in experiment", &experiment, &cure]);
                refused += 1;
            }
        }
    }
    refused
}

/// The refusal is the host's, from the page.
#[test]
fn a_parameter_is_refused_for_an_experiment_that_ignores_it() {
    let Some(real) = Real::new(FAKE) else { return };
    let refused = refusals(&real, false);
    assert!(refused > 2, "only {refused} experiments ignore a parameter");
}

#[test]
#[ignore = "suite real"]
fn every_parameter_is_refused_for_every_experiment_that_ignores_it() {
    let Some(real) = Real::new(FAKE) else { return };
    let refused = refusals(&real, true);
    assert!(refused > 50, "only {refused} refusals");
}

#[test]
#[ignore = "suite real"]
fn a_pattern_passes_a_parameter_to_those_that_take_it() {
    let Some(real) = Real::new(FAKE) else { return };
    let rows = real.started("thread/*", "--experiment message --param payload=64");
    // Beside each stands the row without it, which bounds it.
    let (with, beside): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row["parameters"]["payload"] == "64");
    assert!(with.len() >= 2 && beside.iter().all(|row| row["parameters"]["payload"] == "8"), "{with:?} {beside:?}");
    for row in with {
        assert_eq!(row["verdict"], "verified", "{row}");
    }
}

/// A value of a parameter that is not the default: all words, and of the integers one twice as
/// large.
fn other_values(parameter: &Value) -> Vec<String> {
    let (values, default) = (parameter["values"].as_str().unwrap(), parameter["default"].as_str().unwrap());
    let Some((min, max)) = values.split_once("..") else {
        return values.split('|').filter(|word| *word != default).map(str::to_owned).collect();
    };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let more = (number(default) * 2).max(1);
    vec![(if more <= number(max) { more } else { number(min) }).to_string()]
}

/// What the rules ask for of a value is in the evidence of a probe that carried it out, or the row
/// says why it cannot be had here.
#[test]
#[ignore = "suite real"]
fn every_value_is_carried_out_or_has_a_reason() {
    let Some(real) = Real::new(FAKE) else { return };
    let mut groups: BTreeMap<[String; 4], Vec<String>> = BTreeMap::new();
    for mechanism in list(&real) {
        for parameter in mechanism["parameters"].as_array().into_iter().flatten() {
            let text = |key: &str| parameter[key].as_str().unwrap().to_owned();
            let has = words(&mechanism["experiments"]);
            // Waiting for a sandbox that does not start takes 20 s; probes/oci/test.sh does.
            for experiment in
                words(&parameter["experiments"]).into_iter().filter(|e| has.contains(e) && text("name") != "platform")
            {
                let values = other_values(parameter).join(",");
                // What an idle CPU does matters to those who wait on another.
                let placement = if text("name") == "idle" { "--placement two_cpus" } else { "" };
                let group = [experiment, text("name"), values, placement.to_owned()];
                groups.entry(group).or_default().push(mechanism["id"].as_str().unwrap().to_owned());
            }
        }
    }
    let mut measured = 0;
    for ([experiment, name, values, placement], ids) in groups {
        let asked = format!("--experiment {experiment} --param {name}={values} {placement}");
        // A CPU that somebody else keeps busy is never idle: then there is no figure, and no
        // accusation.
        let kept_busy = |row: &Value| {
            ["idle", "gap"].contains(&name.as_str()) && row["verdict"] == "unobservable" && shows_nothing(row)
        };
        let carried_out = |row: &Value| {
            row["verdict"] == "verified" || row["verdict"] == "unsupported" && row["reason"] != "" || kept_busy(row)
        };
        let rows = real.started(&ids.join(" "), &asked);
        for row in rows.into_iter().filter(|row| row["parameters"][&name].is_string()) {
            assert!(carried_out(&row), "{asked}: {row}");
            measured += usize::from(row["verdict"] == "verified");
        }
    }
    assert!(measured > 50, "only {measured} values were measured");
}
