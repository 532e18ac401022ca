//! The templates of docs/findings, filled with made-up runs: whatever the data say, the words say it too.

use crate::made::{Data, run};
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_catalogue::Catalogue;
use switchcost_report::{Kept, fill};

const MILLION: &str = include_str!("../../../docs/findings/million.md.in");
const ISOLATION: &str = include_str!("../../../docs/findings/isolation.md.in");
const RING: &str = include_str!("../../../docs/findings/ring.md.in");
const CONDVAR: &str = include_str!("../../../docs/findings/condvar.md.in");

/// A page filled with these rows (run, label, cost), in one line.
fn page(template: &str, rows: &[(&str, &str, f64)]) -> String {
    let mut data = Data { runs: BTreeMap::new(), tools: None, longjmp: None };
    rows.iter().for_each(|(run, label, cost)| data.put(run, label, *cost));
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms"));
    let catalogue: Catalogue = switchcost_catalogue::load(folder, None, &|_| Ok(())).unwrap();
    let runs = data.runs.iter().map(|(name, rows)| (name.clone(), run(name, rows))).collect();
    let page = fill("finding", template, Kept { runs, ..Kept::default() }, &catalogue).unwrap();
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says(page: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(page.contains(word), "lacks `{word}`:\n{page}"));
}

#[test]
fn without_runs_nothing_is_decided() {
    for template in [MILLION, ISOLATION, RING, CONDVAR] {
        let page = page(template, &[]);
        says(&page, &["not decided here", "is not kept here", "**What would falsify it:**"]);
    }
}

#[test]
fn a_million_contexts_follow_their_order_or_do_not() {
    let rows = |scattered: f64| {
        page(
            MILLION,
            &[
                ("million-native", "coroutine/cpp20 contexts=1000000", 8.0),
                ("million-native", "coroutine/cpp20 contexts=1000000 layout=scattered", scattered),
                ("million-native", "coroutine/cpp20 layout=scattered", 2.0),
            ],
        )
    };
    says(&rows(200.0), &["The order decides.", "coroutine/cpp20 25.0", "costs 100 "]);
    says(&rows(8.0), &["matters by less than a quarter for coroutine/cpp20 1.00", "less than ten times"]);
}

#[test]
fn walls_cost_what_the_rows_say() {
    let rows = |process: f64, machine: f64| {
        page(
            ISOLATION,
            &[
                ("isolation", "thread/pipe", 1_000.0),
                ("isolation", "thread/pipe two_cpus", 20_000.0),
                ("isolation", "process/pipe", process),
                ("isolation", "container/pipe", 1_100.0),
                ("isolation", "container/pipe seccomp=on", 1_100.0),
                ("isolation", "vm/pair", machine),
            ],
        )
    };
    says(
        &rows(1_050.0, 9_000.0),
        &[
            "processes against threads cost less than 1.25 times",
            "a virtual machine costs 8.18",
            "Placement can cost more than another machine",
        ],
    );
    let other = rows(3_000.0, 1_500.0);
    says(&other, &["processes against threads cost more than 1.25 times", "costs less than three times a container"]);
}

#[test]
fn ways_to_wait_are_sorted_by_their_cost() {
    let rows = |condvar: f64, far: f64| {
        page(
            RING,
            &[
                ("ring", "thread/futex", 1_000.0),
                ("ring", "thread/futex two_cpus", far),
                ("ring", "thread/semaphore", 1_010.0),
                ("ring", "thread/condvar", condvar),
            ],
        )
    };
    says(
        &rows(2_000.0, 20_000.0),
        &[
            "Within a quarter of a bare futex",
            "sem_post 1.01",
            "More than a quarter above it: pthread_cond_signal",
            "beside the choice of CPU",
        ],
    );
    says(&rows(1_100.0, 900.0), &["shared mutex 1.10", "costs less than `pthread_cond_signal`"]);
}

#[test]
fn the_second_switch_has_its_reason_only_where_it_goes_away() {
    let rows = |batch: f64| {
        page(
            CONDVAR,
            &[
                ("condvar", "thread/condvar", 1_600.0),
                ("condvar", "thread/std-condvar", 800.0),
                ("condvar", "thread/condvar sched=batch", batch),
                ("condvar", "thread/std-condvar sched=batch", 1_000.0),
                ("condvar", "thread/condvar locking=held", 1_400.0),
                ("condvar", "thread/condvar two_cpus", 20_000.0),
                ("condvar", "thread/std-condvar two_cpus", 20_000.0),
            ],
        )
    };
    says(
        &rows(1_000.0),
        &[
            "costs 2.00 ",
            "are not the reason",
            "makes the signal under the mutex cheaper",
            "saves some",
            "the same within 10 %",
        ],
    );
    says(&rows(2_000.0), &["more than the push is paid", "does not make it cheaper"]);
}
