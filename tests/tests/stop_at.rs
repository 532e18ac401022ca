//! `run --stop-at`: a row that ends at a late wake-up, by the real probe.

use crate::real::{real, text};
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Beside hogs some wake-up waits longer than 20 µs, whatever else runs.
const SOON: &str = "run thread/timer --experiment wakeup --param hogs=2 --stop-at 20us --rounds 6 --batches 5";

#[test]
fn a_late_wake_up_ends_its_row_and_is_told_again() {
    let Some(real) = real() else { return };
    let said = real.run(SOON);
    let told = "later than 20.0 µs, in ";
    assert!(said.words().contains(told), "{said:?}");
    // Every wake-up that was traced adds up; elsewhere nothing is divided, and the row says why.
    let divided = said.words().contains("waiting for the CPU") && said.words().contains("is back from its call");
    assert!(divided || said.words().contains("are not known: "), "{said:?}");
    let sentence: String = said.words().split_once(told).map(|(_, rest)| rest.chars().take(60).collect()).unwrap();
    for again in ["show", "show --notes", "explain thread/timer", "explain 'thread/timer stop_at=20'"] {
        let said = real.run_line(again);
        assert!(said.status == 0 && said.words().contains(&sentence), "{again}: {sentence}: {said:?}");
    }
    // Its interval did not end it.
    assert!(
        said.words().contains("a row found what it sought") && !said.words().contains("intervals within"),
        "{said:?}"
    );
    // One start was enough, and it is a start of the row like any other.
    let rows = real.run("export latest --format json").json()["results"].clone();
    let row = rows.as_array().unwrap().iter().find(|row| row["parameters"]["stop_at"] == "20").unwrap();
    assert_eq!((row["starts"].as_u64(), text(row, "verdict")), (Some(1), "verified"), "{row}");
}

#[test]
fn a_limit_that_nothing_exceeded_says_so() {
    let Some(real) = real() else { return };
    let said = real.run("run thread/timer --experiment wakeup --stop-at 10s --rounds 2 --batches 5");
    assert!(said.status == 0 && said.words().contains("nothing later than 10.0 s in "), "{said:?}");
    // Without precision to end it, a row goes on until its time is over.
    let said = real.run("run thread/timer --experiment wakeup --stop-at 10s --budget 2s --batches 5");
    assert!(said.words().contains("stopped after 2") || said.words().contains("by --budget 2s"), "{said:?}");
}

#[test]
fn bad_limits_are_one_sentence() {
    let world = World::new(FAKE);
    for (words, word) in [
        ("--stop-at 2", "--stop-at"),
        ("--stop-at 0ms", "--stop-at"),
        ("--stop-at 20s", "--stop-at"),
        ("--stop-at 1ms --param stop_at=5", "leave one of them out"),
    ] {
        world.run(&format!("run honest {words}")).refuses(2, &[word]);
    }
    let Some(real) = real() else { return };
    for experiment in ["", "--experiment switch"] {
        real.run(&format!("run thread/futex {experiment} --stop-at 1ms")).refuses(2, &["--stop-at", "wakeup"]);
    }
    real.run("run stack/asm --stop-at 1ms").refuses(2, &["--stop-at"]);
}
