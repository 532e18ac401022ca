//! What a switch does beside: looks before a context blocks, calls below it, registers, memory. And
//! experiments of the scheduler: a contended lock, a preemption, turns of computing threads, a task
//! for a pool. By the real probe; on a busy machine a row may be disturbed, not contradicted.

use crate::real::{real, text};
use serde_json::Value;

/// Rows of short starts; None where the native probe is not staged.
fn rows(names: &str, arguments: &str) -> Option<Vec<Value>> {
    Some(real()?.started(names, arguments))
}

fn of<'a>(rows: &'a [Value], name: &str, value: &str) -> &'a Value {
    let found = rows.iter().find(|row| row["parameters"][name] == value);
    found.unwrap_or_else(|| panic!("no row {name}={value}: {rows:?}"))
}

fn verified(row: &Value) {
    assert_eq!(text(row, "verdict"), "verified", "{row}");
}

/// This machine lacks it, and the row says so; or it is verified.
fn verified_or_lacking(row: &Value, says: &[&str]) {
    let lacking = text(row, "verdict") == "unsupported" && says.iter().any(|words| text(row, "reason").contains(words));
    assert!(lacking || text(row, "verdict") == "verified", "{row}");
}

#[test]
fn contexts_look_before_they_block() {
    let Some(rows) = rows("thread/futex process/futex", "--param spin=0,1,200") else { return };
    assert_eq!(rows.iter().filter(|row| row["parameters"]["spin"] == "200").count(), 2);
    // On one CPU nobody answers while a context looks.
    rows.iter().filter(|row| row["parameters"]["spin"].is_string()).for_each(verified);
}

#[test]
fn calls_below_a_switch_are_counted_and_need_room() {
    let Some(rows) = rows("stack/asm stack/ucontext", "--param depth=10,1000 --param frames=held,unwound") else {
        return;
    };
    for row in rows.iter().filter(|row| row["parameters"]["depth"] == "10") {
        verified(row);
    }
    let refused = of(&rows, "depth", "1000");
    assert_eq!(text(refused, "verdict"), "unsupported", "{refused}");
    let stack = text(refused, "reason").split("stack_size=").nth(1).unwrap_or_else(|| panic!("no cure: {refused}"));
    let stack: String = stack.chars().take_while(char::is_ascii_digit).collect();
    let cured =
        self::rows("stack/asm", &format!("--param depth=1000 --param frames=unwound --param stack_size={stack}"));
    verified(of(&cured.unwrap(), "depth", "1000"));
}

#[test]
fn registers_in_use_are_those_that_the_row_names() {
    let Some(rows) = rows("thread/futex", "--param simd=sse,avx,avx512") else { return };
    for kind in ["sse", "avx", "avx512"] {
        verified_or_lacking(of(&rows, "simd", kind), &["no such registers"]);
    }
}

#[test]
fn memory_of_a_process_is_there_and_too_much_is_refused() {
    let Some(rows) = rows("process/futex", "--param resident=16 --param pages=small") else { return };
    verified(of(&rows, "resident", "16"));
    let rows = self::rows("process/futex", "--contexts 1000 --param resident=4096").unwrap();
    let row = of(&rows, "resident", "4096");
    assert!(text(row, "reason").contains("smaller resident"), "{row}");
}

#[test]
fn what_is_measured_one_at_a_time_is_refused_together() {
    let Some(rows) = rows("thread/futex", "--param simd=sse --param spin=5") else { return };
    let row = of(&rows, "spin", "5");
    assert!(text(row, "verdict") == "unsupported" && text(row, "reason").contains("one at a time"), "{row}");
}

#[test]
fn a_lock_that_threads_want_says_who_got_it() {
    for contexts in [1, 4] {
        let asked = format!("--placement one_cpu --contexts {contexts} --param lock=pthread,adaptive,std");
        let Some(rows) = rows("thread/mutex", &asked) else { return };
        for row in &rows {
            // On one CPU a thread may keep the lock through a short start: then nobody wanted it.
            let alone = text(row, "reason").contains("handed_over") && text(row, "verdict") == "unobservable";
            assert!(alone || text(row, "verdict") == "verified", "{row}");
            assert_eq!((text(row, "experiment"), text(row, "unit")), ("contend", "acquisition"), "{row}");
        }
        assert_eq!(rows.len(), 3, "{rows:?}");
    }
}

#[test]
fn a_preemption_has_a_price_or_the_row_says_what_it_lacks() {
    let Some(rows) = rows("thread/preempted", "--param every=2000") else { return };
    let row = of(&rows, "every", "2000");
    verified_or_lacking(row, &["SCHED_FIFO was refused", "others had the CPU so long"]);
    let rows = self::rows("thread/preempted", "--param every=500 --param data=4194304").unwrap();
    let often = of(&rows, "every", "500");
    // Where the caches are fast, one pass fits between two.
    verified_or_lacking(often, &["add --param every=", "others had the CPU so long"]);
}

#[test]
fn computing_threads_take_turns_and_all_their_work_is_there() {
    let Some(rows) = rows("thread/rotated", "--contexts 2,4") else { return };
    for row in &rows {
        verified_or_lacking(row, &["did not take turns"]);
        assert_eq!((text(row, "experiment"), text(row, "unit")), ("rotate", "turn"), "{row}");
    }
}

#[test]
fn a_task_gets_into_a_pool_from_outside_and_from_within() {
    let executors = "executor/condvar-queue executor/asio executor/tokio-spawn executor/go";
    let Some(rows) = rows(executors, "--param from=outside,within") else { return };
    for row in rows.iter().filter(|row| text(row, "verdict") != "unavailable") {
        verified(row);
        assert_eq!((text(row, "experiment"), text(row, "unit")), ("submit", "task"), "{row}");
    }
    let rows = self::rows("executor/condvar-queue", "--contexts 64 --param workers=4").unwrap();
    verified(of(&rows, "workers", "4"));
}

#[test]
fn how_long_spinning_pays_is_told_from_a_stored_sweep() {
    let Some(real) = real().filter(|_| std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1)) else {
        return;
    };
    let explained = || real.run("explain thread/futex --rounds 1 --budget 120s").words();
    let before = explained();
    assert!(before.contains("switchcost sweep spin thread/futex --placement one_cpu,two_cpus"), "{before}");
    let sweep = "sweep spin thread/futex --placement one_cpu,two_cpus --values 0,1000 --rounds 1 --batches 10";
    let said = real.run(sweep);
    assert!(said.words().contains("spin"), "{said:?}");
    let after = explained();
    assert!(after.contains("spinning up to ") && after.contains("if the partner answers within"), "{after}");
    // A mechanism that cannot look says nothing of it.
    let other = real.run("explain thread/pipe --rounds 1 --budget 120s").words();
    assert!(!other.contains("spinning"), "{other}");
}

#[test]
fn locks_of_other_runtimes_are_contended_too() {
    for (name, asked) in [("thread/rust-mutex", "--param lock=parking_lot,std"), ("fiber/go-lock", "")] {
        let Some(rows) = rows(name, &format!("--placement free --contexts 4 {asked}")) else { return };
        for row in rows.iter().filter(|row| text(row, "verdict") != "unavailable") {
            let alone = text(row, "reason").contains("handed_over") && text(row, "verdict") == "unobservable";
            assert!(alone || text(row, "verdict") == "verified", "{row}");
        }
    }
}

#[test]
fn calls_below_the_switches_of_runtimes_are_counted() {
    let runtimes = "fiber/goroutine fiber/java-virtual fiber/tokio fiber/boost fiber/asyncio fiber/js-await \
                    coroutine/rust-async coroutine/python-generator coroutine/js-generator";
    let Some(rows) = rows(runtimes, "--param depth=20 --param frames=held,unwound") else { return };
    for row in rows.iter().filter(|row| row["parameters"]["depth"] == "20") {
        assert!(["verified", "unavailable"].contains(&text(row, "verdict")), "{row}");
    }
    let Some(rows) = self::rows("fiber/goroutine", "--experiment create --param depth=100") else { return };
    verified(of(&rows, "depth", "100"));
}

#[test]
fn a_server_has_the_load_that_its_row_names() {
    let Some(real) = real() else { return };
    let rows = real.rows("thread/server --param load=20 --param until=finished,begun --rounds 1 --batches 10");
    for row in rows.iter().filter(|row| row["parameters"]["load"] == "20") {
        verified_or_lacking(row, &["overloaded", "not known", "they do not sleep"]);
        assert_eq!((text(row, "experiment"), text(row, "unit")), ("serve", "request"), "{row}");
    }
}
