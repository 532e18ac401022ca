//! `--counters`: events beside the time. Software events are counted wherever the kernel lets this
//! user; those of the CPU by answers that were recorded.

use crate::real::{real, text};
use serde_json::{Value, json};
use switchcost_e2e::{Said, World, probe, untested};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Becomes a program to which the kernel refuses one call as filters of containers do.
const FILTERED: &str = r#"
import ctypes, os, platform, struct, sys
number = {"x86_64": 298, "aarch64": 241, "riscv64": 241}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code)))
call = ctypes.CDLL(None, use_errno=True)
if call.prctl(38, 1, 0, 0, 0) or call.prctl(22, 2, program): sys.exit("no filter can be set here")
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn rows(said: &Said) -> Vec<Value> {
    said.json()["results"].as_array().cloned().unwrap_or_else(|| panic!("{said:?}"))
}

/// Software events are counted here; else it says why not.
fn counted(row: &Value) -> bool {
    let refused = row["counters"].as_object().unwrap().values().find(|of| of["refused"].is_object());
    refused.inspect(|why| untested(&why.to_string())).is_none()
}

#[test]
fn a_switch_of_threads_has_one_switch_of_the_kernel_and_its_time() {
    let Some(real) = real() else { return };
    let rows = real.rows("thread/futex control/empty-loop --counters=task-clock,context-switches --rounds 6");
    let row =
        |mechanism: &str| rows.iter().find(|row| row["mechanism"] == mechanism).unwrap_or_else(|| panic!("{rows:?}"));
    let (thread, empty) = (row("thread/futex"), row("control/empty-loop"));
    if !counted(thread) {
        return;
    }
    let of = |row: &Value, event: &str| row["counters"][event]["of"].as_f64().unwrap_or(0.0);
    assert!((0.98..1.1).contains(&of(thread, "context-switches")), "{thread}");
    assert!(of(empty, "context-switches") < 0.001, "{empty}");
    // All of the batches and nothing else: start-up alone is as long as all of them. On a busy
    // machine a start has modes.
    for row in [thread, empty] {
        let starts = row["start_medians"].as_array().unwrap().iter().filter_map(|start| start[1].as_f64());
        let times = of(row, "task-clock") / starts.min_by(f64::total_cmp).unwrap();
        assert!((0.5..4.0).contains(&times), "{times}: {row}");
    }
}

#[test]
fn what_is_counted_is_in_no_figure_and_a_plan_without_it_is_as_before() {
    let world = World::new(FAKE);
    let with = world.run("run thread/honest --rounds 6 --seed 1 --counters=page-faults --format json");
    let without = world.run("run thread/honest --rounds 6 --seed 1 --format json");
    let (with, without) = (rows(&with).remove(0), rows(&without).remove(0));
    assert_eq!(with["start_medians"], without["start_medians"]);
    assert_eq!(with["start_medians"].as_array().unwrap().len(), 6);
    assert!(without.get("counters").is_none(), "{without}");
    let exported = world.run("export --format jsonl").out;
    assert!(
        !exported.contains("\"counters\":[") && !exported.contains("\"counters\":{\"units"),
        "an option that was not given is not written"
    );
    counted(&with);
    for (words, why) in [
        ("--counters --timing each", "--counters counts batches whose time is measured"),
        ("--counters --experiment count", "leave --timing each out, and that --experiment"),
        ("--counters=cycle", "expected one of cycles, instructions"),
        ("--counters=", "expected one of cycles, instructions"),
    ] {
        world.run(&format!("run thread/honest {words}")).refuses(2, &[why]);
    }
}

/// Counts of a CPU as perf gives them, put into a run in the place of software events: words of the
/// table, layers of JSON.
#[test]
fn counters_of_a_cpu_are_told_per_unit_by_mode() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 6 --counters=page-faults").status, 0);
    let counters = r#""counters":{"starts":[{"units":1100,"counts":{"branch-misses:k":50000,"cycles:k":5000000,"cycles:u":2300000}},{"units":100,"counts":{"branch-misses:k":49000,"cycles:k":3000000,"cycles:u":1000000}}],"refused":{"cache-misses:k":{"kind":"multiplexed"},"cache-misses:u":{"kind":"multiplexed"},"instructions:k":{"kind":"counter_not_permitted","paranoid":"2"}}}"#;
    let forged = world.forged("counted", |export| {
        let from = export.find("\"counters\":{\"starts\"").unwrap();
        let mut depth = 0;
        let ends = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == '}' && depth == 0
        };
        let to = from + export[from..].find(ends).unwrap() + 1;
        format!("{}{counters}{}", &export[..from], &export[to..])
    });
    let said = world.run(&format!("show {forged}"));
    let words = said.words();
    assert!(words.contains("counted per unit cycles:u cycles:k branch-misses:k"), "{said:?}");
    assert!(words.contains("thread/honest 1,300 2,000 < 4.90"), "{words}");
    assert!(words.contains("not counted (cache-misses:k, cache-misses:u): others use counters of the CPU"), "{words}");
    assert!(words.contains("not counted (instructions:k): kernel.perf_event_paranoid is 2"), "{words}");
    let json = world.run(&format!("export {forged} --format json"));
    let counters = rows(&json).remove(0)["counters"].clone();
    assert_eq!(counters["cycles:u"], json!({"of": 1300.0}));
    assert!((4.8..5.0).contains(&counters["branch-misses:k"]["below"].as_f64().unwrap()), "{counters}");
    assert_eq!(counters["instructions:k"], json!({"refused": {"kind": "counter_not_permitted", "paranoid": "2"}}));
}

#[test]
fn what_is_not_counted_is_one_sentence_with_its_cure() {
    let world = World::new(FAKE);
    let words = ["run", "thread/honest", "thread/noise", "--rounds", "6", "--counters"];
    let said = world.run_wrapped(&["python3", "-c", FILTERED], &words);
    if said.err.contains("no filter can be set") {
        return untested("no filter can be set here");
    }
    let once = |said: &Said, sentence: &str| {
        let words = said.words();
        assert!(said.status == 0 && words.matches("not counted").count() == 1, "{said:?}");
        assert!(words.contains(&format!("instructions:u): {sentence}")) && words.contains("cache-misses:k"), "{words}");
        assert!(!said.out.contains("counted per unit"), "{said:?}");
    };
    once(&said, "a seccomp filter or a security module refuses perf_event_open: allow that call");
    // As it is here: a machine with counters gives some of them, and one without says so.
    let said = world.run(&words.join(" "));
    if !said.out.contains("counted per unit") {
        assert_eq!(said.words().matches("not counted").count(), 1, "{said:?}");
    }
}

/// A probe that falls in the start whose batches are short, which no figure is of.
#[test]
fn a_probe_that_dies_while_it_is_counted_costs_its_counts() {
    let world = World::new(FAKE);
    let falls = format!("case \"$*\" in *batch_units=16*) exit 7;; esac\nexec \"{FAKE}\" \"$@\"\n");
    world.write("libexec/switchcost/probes/fake/probe.sh", &falls);
    world.write("libexec/switchcost/probes/fake/probe.toml", &probe("fake", "sh\", \"probe.sh", 100));
    let said = world.run("run thread/honest --rounds 6 --counters=page-faults --format json");
    let row = rows(&said).remove(0);
    assert_eq!((said.status, text(&row, "verdict")), (0, "verified"), "{said:?}");
    let why = &row["counters"]["page-faults"]["refused"]["kind"];
    if why != "counted_fell" {
        return untested("page faults are not counted here");
    }
    assert!(world.run("show").words().contains("did not come to its end"), "{said:?}");
    assert!(world.leftovers().is_empty());
}
