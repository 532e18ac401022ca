//! Experiment count: callgrind counts what the real probe executes.

use crate::real::{real, text};
use serde_json::json;
use switchcost_e2e::{Real, sealed};

/// None if valgrind or the probes are missing; it prints what is.
fn counting() -> Option<Real> {
    let real = real()?;
    let listed = real.run("run stack/asm --experiment count --rounds 1 --format json");
    let rows = listed.json()["results"].as_array().cloned().unwrap_or_default();
    let refused = rows.first().is_none_or(|row| row["reason_code"] == "count_refused");
    if refused {
        eprintln!("nothing is counted here: {}", rows.first().map_or("no row", |row| text(row, "reason")));
    }
    (!refused).then_some(real)
}

/// The run in this file under another name, with one instruction more per unit in `swapcontext`.
/// Fields must stay in their order.
fn grown(lines: &str, id: &str) -> String {
    let body: String =
        lines.lines().filter(|line| !line.starts_with("{\"t\":\"end\"")).map(|line| line.to_owned() + "\n").collect();
    let body = body.replacen(id, "20260101T000000-0001", 1);
    // A batch has 48,000 units, and functions are of a third.
    let more = raised(&body, "\"quantity\":\"instructions\",\"ticks\":[", 48_000);
    sealed(&raised(&more, "\"swapcontext\":", 16_000))
}

/// The same with one system call more per unit.
fn called(lines: &str, id: &str) -> String {
    let body: String =
        lines.lines().filter(|line| !line.starts_with("{\"t\":\"end\"")).map(|line| line.to_owned() + "\n").collect();
    let body = body.replacen(id, "20260101T000000-0002", 1);
    let more = raised(&body, "\"quantity\":\"system_calls\",\"ticks\":[", 48_000);
    sealed(&raised(&more, "\"callers\":{\"swapcontext\":", 16_000))
}

/// The numbers that follow these words, each so much larger.
fn raised(text: &str, words: &str, by: i64) -> String {
    let mut parts = text.split(words);
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ',' || c == ',' && !words.ends_with('[')).unwrap();
        let numbers = part[..end].split(',').filter_map(|number| number.parse::<i64>().ok());
        out += words;
        out += &numbers.map(|number| (number + by).to_string()).collect::<Vec<_>>().join(",");
        out += &part[end..];
    }
    out
}

#[test]
fn a_count_is_exact_and_one_instruction_more_fails_the_gate() {
    let Some(real) = counting() else { return };
    let rows = real.rows("stack/ucontext control/empty-loop --experiment count --rounds 6 --budget 600s");
    let row = |mechanism: &str| rows.iter().find(|row| row["mechanism"] == mechanism).unwrap();
    for row in &rows {
        assert_eq!(text(row, "verdict"), "verified", "{row}");
        assert!(row["low"] == row["median"] && row["high"] == row["median"], "{row}");
    }
    let (switch, empty) = (row("stack/ucontext"), row("control/empty-loop"));
    // The C library's function alone is some forty instructions, and the loop is an addition, a
    // subtraction and a jump at most.
    assert!(switch["median"].as_f64() > Some(30.0) && empty["median"].as_f64() < Some(6.0), "{switch} {empty}");
    assert_eq!((&switch["parts"]["system_calls"], &empty["parts"]["system_calls"]), (&json!(1.0), &json!(0.0)));
    assert!(real.run("show latest").out.contains("exact, 6 of 6"));

    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let kept = file("kept.jsonl");
    assert_eq!(real.run(&format!("export --format jsonl -o {kept}")).status, 0);
    let equal = real.run(&format!("compare {kept} latest --gate 0%"));
    assert!(equal.status == 0 && equal.out.contains("2 the same"), "{equal:?}");
    let other = file("grown.jsonl");
    std::fs::write(&other, grown(&std::fs::read_to_string(&kept).unwrap(), text(&rows[0], "run"))).unwrap();
    let failed = real.run(&format!("compare {kept} {other} --gate 0%"));
    assert!(failed.status == 1 && failed.out.contains("swapcontext"), "{failed:?}");
    assert!(failed.out.contains("(+1.00)"), "{failed:?}");
    // One system call more is named by the function that makes it, and does not pass by per cent.
    let calls = file("calls.jsonl");
    std::fs::write(&calls, called(&std::fs::read_to_string(&kept).unwrap(), text(&rows[0], "run"))).unwrap();
    let failed = real.run(&format!("compare {kept} {calls} --gate 0% --format json"));
    let exceeded = failed.json()["gate"]["exceeded"].as_array().unwrap().clone();
    assert!(failed.status == 1 && exceeded.len() == 2, "{failed:?}");
    let switch = exceeded.iter().find(|one| text(one, "label").contains("ucontext")).unwrap();
    assert_eq!((&switch["count"], &switch["a"], &switch["b"]), (&json!("system_calls"), &json!(1.0), &json!(2.0)));
    assert_eq!(switch["by"], json!([{"function": "swapcontext", "a": 1.0, "b": 2.0}]));
    let words = real.run(&format!("compare {kept} {calls} --gate 50%")).words();
    assert!(words.contains("system calls per unit 2 (swapcontext +1.00), 1 in the reference"), "{words}");
    let gated = |most: &str| real.run(&format!("compare {kept} latest --gate 0% --most {most}"));
    let failed = gated("system_calls=0");
    assert!(failed.status == 1 && failed.words().contains("system calls per unit 1, at most 0 allowed"), "{failed:?}");
    assert_eq!(gated("system_calls=1,instructions=10000").status, 0);
    gated("pages=1").refuses(2, &["--most pages: no row of B has such a count", "instructions", "system_calls"]);
    gated("system_calls").refuses(2, &["--most", "system_calls=0"]);
    real.run(&format!("compare {kept} latest --most system_calls=1")).refuses(2, &["--gate"]);
    // An exact figure needs no second start.
    let once = real.run("run control/empty-loop --experiment count --rounds 1 --budget 600s");
    assert!(once.status == 0 && !once.out.contains("Too few process runs"), "{once:?}");
}

#[test]
fn without_valgrind_and_for_threads_there_is_a_reason_before_anything_starts() {
    let Some(real) = real() else { return };
    let said = real.command("run stack/asm --experiment count").env("PATH", "/nothing").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("valgrind is not installed; apt-get install valgrind"), "{said}");
    let threads = real.run("run thread/pipe --experiment count");
    threads.refuses(2, &["thread/pipe has no experiment count", "share one thread"]);
}
