//! The edges of what can be asked, generated from the catalogue: no honest row is accused or broken
//! there, and on a quiet machine none is slow to answer. What no page allows is refused before
//! anything is started or stored.

use std::collections::{BTreeMap, BTreeSet};
use switchcost_e2e::{Real, World, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Bounds of looks, of sets and of tables lie here.
const CONTEXTS: &[u64] = &[1, 2, 3, 32, 33, 34, 63, 64, 65, 66, 100, 250, 1000];

/// How long one start may take on a quiet machine, ns. One of many contexts may take longer where
/// the runtime itself needs long for each, so that the start does not grow faster than they do.
const MOST_NS: u64 = 60_000_000_000;
const MANY: u64 = 100;

/// Short batches, and long ones: what is rare happens in these, and what is counted adds up.
const PLANS: [&str; 4] = [
    "--batches 1 --batch-time 100us",
    "--batches 3 --batch-time 1us",
    "--batches 1 --batch-time 20ms",
    "--batches 3 --batch-time 500ms",
];

/// What edges found when they were first tried.
const FOUND: &[&str] = &[
    "thread/java-platform footprint contexts=1",
    "stack/fcontext footprint contexts=1",
    "stack/sjlj footprint contexts=1",
    "container/pipe contexts=64",
    "container/pipe contexts=65",
    "container/sandbox-pipe contexts=33",
    "vm/pair contexts=1000",
    "control/touch working_set=256M",
];

#[test]
fn what_no_page_allows_is_a_usage_error_and_stores_nothing() {
    let world = World::new(FAKE);
    let refused = |arguments: &str, words: &[&str]| {
        world.run(&format!("run {arguments} --rounds 1")).refuses(2, words);
        let runs =
            |store: rusqlite::Connection| store.query_row("SELECT count(*) FROM run", [], |row| row.get(0)).unwrap();
        let stored: i64 =
            if world.store().exists() { runs(rusqlite::Connection::open(world.store()).unwrap()) } else { 0 };
        assert_eq!(stored, 0, "{arguments}");
    };
    refused("thread/honest --contexts 1", &["at least 2 contexts"]);
    // Contexts that live for a unit run where they are made.
    let page = mechanism("").replace("[\"switch\"]\n[param", "[\"switch\", \"create\"]\n[param");
    world.write("share/switchcost/mechanisms/thread/made.toml", &page);
    refused("thread/made --placement two_cpus --experiment create", &["thread/made; it has one_cpu, free"]);
    refused(
        "thread/honest --placement two_cpus --experiment footprint",
        &["thread/honest has no experiment footprint"],
    );
}

/// One start of a row.
struct Start {
    /// The row without its contexts.
    what: String,
    contexts: u64,
    verdict: String,
    reason: String,
    ns: u64,
}

impl Start {
    fn is_accused(&self) -> bool {
        ["contradicted", "broken"].contains(&self.verdict.as_str())
    }

    /// Whether it took longer than it may beside these starts of the same plan.
    fn is_slow(&self, beside: &[Start]) -> bool {
        let of_many = beside.iter().find(|start| start.what == self.what && start.contexts == MANY);
        // Half as much again for a shared machine: 1,000 workers of Node.js took 11 and 12 times as
        // long as 100 (AMD EPYC, 2026-12-01).
        let as_they_grow = |many: &Start| many.ns * self.contexts / MANY * 3 / 2;
        let longer = of_many.filter(|_| self.contexts > MANY).map_or(0, as_they_grow);
        self.ns > MOST_NS.max(longer)
    }

    fn row(&self) -> String {
        format!("{} contexts={}", self.what, self.contexts)
    }
}

/// Each start of these patterns.
fn starts(real: &Real, patterns: &[String], plan: &str) -> Vec<Start> {
    let line = format!("run {} --rounds 1 {plan} --budget 600s --format json", patterns.join(" "));
    let said = real.run_line(&line);
    if said.status == 2 {
        // One that no page allows refuses all: the others are asked for alone.
        let alone = patterns.iter().filter(|_| patterns.len() > 1);
        return alone.flat_map(|pattern| starts(real, std::slice::from_ref(pattern), plan)).collect();
    }
    let run = said.json()["run"]["id"].as_str().unwrap_or("latest").to_owned();
    let exported = real.run(&format!("export {run}")).out;
    let (mut names, mut found) = (BTreeMap::new(), Vec::new());
    for line in exported.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        match line["t"].as_str() {
            Some("variant") => {
                let what = ["mechanism", "experiment", "placement", "parameters"].map(|key| line[key].to_string());
                names.insert(line["index"].as_u64(), (what.join(" "), line["contexts"].as_u64().unwrap()));
            }
            Some("invocation") => {
                let (what, contexts) = names[&line["variant"].as_u64()].clone();
                let verdict = line["verdict"].as_str().unwrap().to_owned();
                let (reason, ns) = (line["reason"].to_string(), line["wall_ns"].as_u64().unwrap());
                found.push(Start { what, contexts, verdict, reason, ns });
            }
            _ => {}
        }
    }
    found
}

fn faults(real: &Real, patterns: &[String], plan: &str) -> Vec<String> {
    let found = starts(real, patterns, plan);
    let wrong = found.iter().filter(|start| start.is_accused() || start.is_slow(&found));
    let said = |start: &Start| {
        format!("{} {plan}: {} after {} ms: {}", start.row(), start.verdict, start.ns / 1_000_000, start.reason)
    };
    wrong.map(said).collect()
}

/// Rows that are accused in each of three tries. A rule that accuses an honest row at an edge does
/// so each time; a start that other programs starved may fail once.
fn accused_each_time(real: &Real, patterns: &[String], plan: &str) -> BTreeSet<String> {
    let accused = |starts: Vec<Start>| -> BTreeSet<String> {
        let accused = |start: &Start| {
            println!("{} {plan}: {}: {}", start.row(), start.verdict, start.reason);
            start.is_accused()
        };
        starts.iter().filter(|start| accused(start)).map(Start::row).collect()
    };
    let mut found = accused(starts(real, patterns, plan));
    for _ in 1..3 {
        if !found.is_empty() {
            found = &found & &accused(starts(real, patterns, plan));
        }
    }
    found
}

#[test]
fn a_start_is_slow_beyond_its_limit_or_beyond_the_growth_of_its_contexts() {
    let start = |what: &str, contexts, seconds: u64| {
        let (verdict, reason) = ("verified".to_owned(), String::new());
        Start { what: what.to_owned(), contexts, verdict, reason, ns: seconds * 1_000_000_000 }
    };
    let slow = |beside: &[Start], contexts, seconds| start("a", contexts, seconds).is_slow(beside);
    assert_eq!([slow(&[], 1000, 60), slow(&[], 1000, 61)], [false, true]);
    let beside = [start("a", 100, 6), start("b", 100, 50), start("a", 66, 50)];
    assert_eq!([slow(&beside, 1000, 90), slow(&beside, 1000, 91)], [false, true]);
    assert_eq!([slow(&beside, 100, 60), slow(&beside, 100, 61), slow(&beside, 250, 61)], [false, true, true]);
}

#[test]
fn edges_that_accused_somebody_accuse_nobody() {
    let Some(real) = Real::new(FAKE) else { return };
    let found: Vec<String> = FOUND.iter().map(|pattern| format!("'{pattern}'")).collect();
    assert_eq!(accused_each_time(&real, &found, "--batches 2 --batch-time 100us"), BTreeSet::new());
    let stack = ["vm/guest-stack".to_owned()];
    assert_eq!(accused_each_time(&real, &stack, "--batches 5 --batch-time 1us"), BTreeSet::new());
    let long = ["thread/io-uring-sqpoll", "process/fork", "'process/fork by=fork-exec'"].map(str::to_owned);
    assert_eq!(accused_each_time(&real, &long, "--batches 3 --batch-time 500ms"), BTreeSet::new());
}

#[test]
#[ignore = "suite edges"]
fn no_edge_of_the_catalogue_accuses_anybody() {
    let Some(real) = Real::new(FAKE) else { return };
    // A part of the catalogue, for who has not an hour at once.
    let part = std::env::var("SWITCHCOST_EDGES").unwrap_or_else(|_| "*".to_owned());
    let list = real.run(&format!("list {part} --format json")).json();
    let mut found = Vec::new();
    for mechanism in list["mechanisms"].as_array().unwrap() {
        let id = mechanism["id"].as_str().unwrap();
        if !mechanism["probes"].as_array().unwrap().iter().any(|probe| probe["available"] == true) {
            continue;
        }
        let words = |key: &str| -> Vec<&str> {
            mechanism[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        for experiment in words("experiments") {
            let mut rows: Vec<String> = CONTEXTS.iter().map(|contexts| format!("contexts={contexts}")).collect();
            rows.extend(words("placements").into_iter().map(str::to_owned));
            for parameter in mechanism["parameters"].as_array().unwrap() {
                let takes = parameter["experiments"].as_array().unwrap();
                if !takes.is_empty() && !takes.iter().any(|taken| taken == experiment) {
                    continue;
                }
                let (name, values) = (parameter["name"].as_str().unwrap(), parameter["values"].as_str().unwrap());
                let ends = match values.split_once("..") {
                    Some((least, most)) => vec![least, most],
                    None => values.split('|').collect(),
                };
                rows.extend(ends.into_iter().map(|value| format!("{name}={value}")));
            }
            let before = found.len();
            for rows in rows.chunks(16) {
                let patterns: Vec<String> = rows.iter().map(|row| format!("'{id} {experiment} {row}'")).collect();
                found.extend(faults(&real, &patterns, "--batches 2 --batch-time 100us"));
            }
            let plain = [format!("'{id} {experiment}'")];
            for plan in PLANS {
                found.extend(faults(&real, &plain, plan));
            }
            println!("{id} {experiment}: {} rows, {} faults", rows.len() + PLANS.len(), found.len() - before);
            found[before..].iter().for_each(|fault| println!("    {fault}"));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
