//! docs/answers.md.in, filled with made-up runs: whatever the data say, the words say it too.

use crate::made::{Data, run};
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_catalogue::Catalogue;
use switchcost_model::Verdict;
use switchcost_report::{Kept, fill};

const TEMPLATE: &str = include_str!("../../../docs/answers.md.in");
/// What a machine would give on which the answers are as the write-ups' readers expect.
fn expected() -> Data {
    let longjmp = "| flags | gcc | clang |\n|---|---|---|\n| `-O2 -U_FORTIFY_SOURCE` | runs | runs |\n\
        | `-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2` | aborts: check | aborts: check |\n\
        | `-O0 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2` | runs | runs |\n| `-O2` and what the compiler adds on its own | runs | runs |\n";
    let mut data = Data { runs: BTreeMap::new(), tools: Some((1.0, 0.99, 1.01)), longjmp: Some(longjmp.into()) };
    for (length, cost) in [(" length=1", 1.0), (" length=10", 3.0), ("", 30.0), (" length=1000", 300.0)] {
        data.put("timer", &format!("control/work{length}"), cost);
        data.put("timer", &format!("control/work{length} each"), cost + 0.5);
        data.put("timer", &format!("control/work{length} reads=bare each"), cost * 1.5);
    }
    data.put("timer", "control/empty-loop", 0.3);
    for (n, cost) in [(4, 28.0), (50, 17.0)] {
        data.put("timer", &format!("fiber/boost contexts={n}"), cost);
        data.put("timer", &format!("fiber/boost contexts={n} each"), cost * 1.3);
        data.put("timer", &format!("fiber/boost contexts={n} reads=bare each"), cost * 1.1);
    }
    for n in [2, 4, 8, 50] {
        let label = if n == 2 { String::new() } else { format!(" contexts={n}") };
        let cost = 15.0 + 50.0 / f64::from(n);
        data.put("fibers", &format!("fiber/boost{label}"), cost);
        data.put("fibers", &format!("fiber/boost{label} fpu_state=differ"), cost);
        data.put("fibers", &format!("stack/fcontext{label}"), 5.0);
    }
    for name in ["thread/futex", "thread/pipe", "process/pipe"] {
        data.put("placement", name, 1_000.0);
        data.put("placement", &format!("{name} two_cpus"), 10_000.0);
        data.put("placement", &format!("{name} free"), 1_000.0);
    }
    data.put("placement", "thread/futex idle=busy two_cpus", 1_500.0);
    for (name, cost) in [("call", 1.0), ("clock", 20.0), ("null-syscall", 100.0), ("cache-line two_cpus", 50.0)] {
        data.put("placement", &format!("control/{name}"), cost);
    }
    data.put("guest", "vm/exit", 1_000.0);
    data.put("guest", "vm/guest-stack", 2.0);
    for name in ["thread/futex", "thread/pipe"] {
        data.put("blind", &format!("{name}@seeing"), 1_000.0);
        data.put("blind", &format!("{name}@blind"), 1_000.0);
        let blind = data.row("blind", &format!("{name}@blind"));
        (blind.kernel, blind.verdict) = (false, Verdict::Unobservable);
    }
    for (n, away) in [(20, 0.1), (200, 0.1), (20_000, 1.0)] {
        data.put("rows", &format!("process/pipe ({n} in a row)"), 1_000.0);
        let free = format!("process/pipe free ({n} in a row)");
        data.put("rows", &free, 1_000.0 + away * 9_000.0);
        data.row("rows", &free).away = Some(away);
    }
    for probe in ["gcc-12", "clang-14"] {
        for (name, cost) in [("fcontext", 5.0), ("sjlj", 10.0), ("ucontext", 220.0)] {
            data.put("pingpang", &format!("stack/{name}@{probe}"), cost);
            data.put("createalot", &format!("stack/{name}@{probe} create"), cost * 5.0);
        }
    }
    for run in ["goroutine-1", "goroutine-2", "goroutine-3", "goroutine"] {
        data.put(run, "fiber/goroutine free", 200.0);
        data.put(run, "fiber/goroutine os_threads=all free", 200.0);
        data.put(run, "fiber/goroutine", 200.0);
    }
    for (name, cost) in
        [("thread/pipe", 1_300.0), ("process/pipe", 1_300.0), ("container/pipe", 1_400.0), ("vm/pair", 12_000.0)]
    {
        data.put("goroutine", name, cost);
    }
    data
}

/// The whole page, after `alter` has had its way with the data.
fn page(alter: impl FnOnce(&mut Data)) -> String {
    let mut data = expected();
    alter(&mut data);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms"));
    let catalogue: Catalogue = switchcost_catalogue::load(folder, None, &|_| Ok(())).unwrap();
    let runs = data.runs.iter().map(|(name, rows)| (name.clone(), run(name, rows))).collect();
    let tools = data.tools.map(|(ratio, low, high)| {
        let measured = serde_json::json!({ "printed": 2.0, "theirs_ns": 1_000.0, "ours_ns": 1_000.0, "ratio": ratio, "interval": [low, high], "rounds": 6 });
        let tool = serde_json::json!({ "id": "some-tool", "unit": "µs per round trip", "ours": "process/pipe", "measured": measured, "missing": null, "reason": "it differs" });
        ("crosscheck".to_owned(), serde_json::json!({ "format": 1, "rows": [tool] }).to_string())
    });
    let texts = data.longjmp.map(|text| ("longjmp".to_owned(), text));
    let kept = Kept { runs, texts: texts.into_iter().collect(), documents: tools.into_iter().collect() };
    fill("answers", TEMPLATE, kept, &catalogue).unwrap()
}

/// What is said under a question, from the answer on, in one line.
fn answer(page: &str, question: char) -> String {
    let section = page.split("\n## (").find(|section| section.starts_with(question)).unwrap();
    let said = &section[section.find("**Answer.**").unwrap()..];
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says(question: char, alter: impl FnOnce(&mut Data), words: &[&str]) {
    let said = answer(&page(alter), question);
    for word in words {
        assert!(said.contains(word), "({question}) lacks `{word}`:\n{said}");
    }
}

#[test]
fn a_page_of_complete_runs_lacks_nothing() {
    let page = page(|_| {});
    for word in ["has no row `", "is not kept", "is not known", "is unobservable"] {
        assert!(!page.contains(word), "`{word}` in:\n{page}");
    }
    assert_eq!(page.matches("why not |\n").count(), 9);
    assert_eq!(page.matches("**What would falsify it:**").count(), 9);
}

#[test]
fn without_any_run_nothing_is_decided() {
    let page = page(|data| *data = Data { runs: BTreeMap::new(), tools: None, longjmp: None });
    for question in 'a'..='i' {
        let said = answer(&page, question);
        let beginning: String = said.chars().take(90).collect();
        let open = ["ot decided here", "not decided", "Cannot tell"].iter().any(|word| beginning.contains(word));
        assert!(open, "({question}) is answered without data:\n{said}");
    }
}

#[test]
fn a_reading() {
    says(
        'a',
        |_| {},
        &[
            "No: with bare reads",
            "chains of 1, 10, 100, 1000",
            "the write-up's bare reads came nearer",
            "fences do not cure it",
        ],
    );
    let right = |data: &mut Data| {
        for length in [" length=1", " length=10", "", " length=1000"] {
            let truth = data.row("timer", &format!("control/work{length}")).clone();
            *data.row("timer", &format!("control/work{length} reads=bare each")) = truth;
        }
    };
    says('a', right, &["Yes, as far as this goes"]);
    let fenced = |data: &mut Data| {
        for n in [4, 50] {
            let truth = data.row("timer", &format!("fiber/boost contexts={n}")).clone();
            *data.row("timer", &format!("fiber/boost contexts={n} each")) = truth;
        }
    };
    says('a', fenced, &["fences bring the figure nearer"]);
    let noisy = |data: &mut Data| {
        for length in [" length=1", " length=10", "", " length=1000"] {
            let row = data.row("timer", &format!("control/work{length} reads=bare each"));
            (row.cost, row.scatter) = (row.cost / 1.5, 0.2);
        }
    };
    says('a', noisy, &["Not decided here", "the interval allows both answers"]);
    says('a', |data| drop(data.runs.remove("timer")), &["Not decided here", "the run `timer` is not kept here"]);
}

#[test]
fn b_fibers() {
    says(
        'b',
        |_| {},
        &["Something is paid once per lap", "It is Boost's, not our harness's", "excluded: with a differing MXCSR"],
    );
    let flat = |data: &mut Data| data.runs.get_mut("fibers").unwrap().values_mut().for_each(|row| row.cost = 20.0);
    says('b', flat, &["Here they do not"]);
    says(
        'b',
        |data| data.row("fibers", "fiber/boost contexts=8").cost = 40.0,
        &["but not as something paid once per lap"],
    );
    let harness = |data: &mut Data| data.row("fibers", "stack/fcontext").cost = 30.0;
    says('b', harness, &["Our harness pays a quarter of that or more itself"]);
    let no_control = |data: &mut Data| data.remove("fibers", "stack/fcontext");
    says('b', no_control, &["Whether it is Boost's or our harness's is not decided here"]);
    says(
        'b',
        |data| data.row("fibers", "fiber/boost contexts=4 fpu_state=differ").cost = 90.0,
        &["not excluded: a differing MXCSR"],
    );
}

#[test]
fn c_placement() {
    says(
        'c',
        |_| {},
        &[
            "*In this virtual machine:* placement.",
            "Going idle and being woken is",
            "not placement, for its guests had one CPU",
        ],
    );
    let equal = |data: &mut Data| {
        for name in ["thread/futex", "thread/pipe", "process/pipe"] {
            data.row("placement", &format!("{name} two_cpus")).cost = 1_000.0;
        }
    };
    says('c', equal, &["*In this virtual machine:* not placement."]);
    says(
        'c',
        |data| data.row("placement", "thread/pipe two_cpus").cost = 1_000.0,
        &["placement with some of the three"],
    );
    says(
        'c',
        |data| data.row("placement", "thread/futex idle=busy two_cpus").cost = 9_900.0,
        &["Nor is going idle the most of it"],
    );
    let lied = |data: &mut Data| data.row("placement", "thread/futex two_cpus").verdict = Verdict::Contradicted;
    says('c', lied, &["not decided here whether placement is the reason", "its evidence contradicts its claim"]);
    let unseen = |data: &mut Data| data.row("placement", "thread/futex two_cpus").verdict = Verdict::Unobservable;
    says('c', unseen, &["Not all that the evidence needs could be seen of thread/futex two_cpus"]);
}

#[test]
fn d_blind_counters() {
    says('d', |_| {}, &["By itself, nothing about switches", "it was WSL 1"]);
    says(
        'd',
        |data| data.row("blind", "thread/futex@blind").cost = 2_000.0,
        &["thread/futex: slower", "They do not all cost the same"],
    );
    let broken = |data: &mut Data| {
        data.row("blind", "thread/futex@blind").turns = false;
        data.row("blind", "thread/pipe@blind").turns = false;
    };
    says('d', broken, &["Here it would tell something"]);
    says(
        'd',
        |data| data.row("blind", "thread/pipe@blind").kernel = true,
        &["a blind row still saw the kernel's counters"],
    );
    says('d', |data| drop(data.runs.remove("blind")), &["Not decided here: the blind rows are missing"]);
}

#[test]
fn e_one_cpu_or_two() {
    says(
        'e',
        |_| {},
        &[
            "*Here*, left to the scheduler, both occur",
            "*In the write-up:* not decided",
            "Intel i7-4771",
            "It matters:",
        ],
    );
    let apart = |data: &mut Data| {
        for n in [20, 200, 20_000] {
            let row = data.row("rows", &format!("process/pipe free ({n} in a row)"));
            (row.cost, row.away) = (10_000.0, Some(1.0));
        }
    };
    says('e', apart, &["each row kept to one way"]);
    // The share of another ring was once printed beside a cost that it could not have: 10 % of the switches, 26 times the cost.
    says(
        'e',
        |data| data.row("rows", "process/pipe free (20000 in a row)").away = Some(0.1),
        &["not decided. In free-placed rows of 20000", "the evidence is wrong"],
    );
    let unseen = |data: &mut Data| {
        for n in [20, 200, 20_000] {
            data.row("rows", &format!("process/pipe free ({n} in a row)")).away = None;
        }
    };
    says('e', unseen, &["*Here:* not decided", "was not recorded"]);
}

#[test]
fn f_length() {
    says(
        'f',
        |_| {},
        &[
            "*On one CPU:* hardly.",
            "*Left to the scheduler:* yes, and longer rows cost more",
            "What differs there is placement",
        ],
    );
    says(
        'f',
        |data| data.row("rows", "process/pipe (20 in a row)").cost = 1_500.0,
        &["*On one CPU:* yes. A switch in a row of 20 costs 1.50"],
    );
    let noisy = |data: &mut Data| data.row("rows", "process/pipe (20 in a row)").scatter = 0.2;
    says('f', noisy, &["*On one CPU:* not decided here (the interval allows both answers)"]);
    says(
        'f',
        |data| data.remove("rows", "process/pipe (200 in a row)"),
        &["*On one CPU:* not decided here (the run `rows` has no row"],
    );
}

#[test]
fn g_other_tools() {
    says('g', |_| {}, &["Agree within 5 % with ours: some-tool"]);
    says('g', |data| data.tools = Some((1.5, 1.4, 1.6)), &["Differ by more than that: some-tool (it differs)"]);
    says('g', |data| data.tools = Some((1.0, 0.9, 1.1)), &["Not decided here: some-tool"]);
    says('g', |data| data.tools = None, &["no comparison is kept"]);
}

#[test]
fn h_crash_fcontext_compilers() {
    says(
        'h',
        |_| {},
        &[
            "a check of the C library, not a fault",
            "six of the eight: not decided here",
            "*fcontext* is the cheapest of the three",
            "*Compilers:* alike.",
        ],
    );
    let harmless =
        |data: &mut Data| data.longjmp = data.longjmp.as_ref().map(|text| text.replace("aborts: check", "runs"));
    says('h', harmless, &["not reproduced here"]);
    let always = |data: &mut Data| data.longjmp = data.longjmp.as_ref().map(|text| text.replace("runs", "aborts"));
    says('h', always, &["not the flag `_FORTIFY_SOURCE` alone"]);
    says(
        'h',
        |data| data.row("pingpang", "stack/sjlj@gcc-12").cost = 4.0,
        &["is not the cheapest of the three", "stack/sjlj by gcc-12: 0.80"],
    );
    says(
        'h',
        |data| data.row("pingpang", "stack/ucontext@gcc-12").cost = 300.0,
        &["*Compilers:* not alike with every mechanism"],
    );
}

#[test]
fn i_goroutines() {
    says(
        'i',
        |_| {},
        &[
            "There is no difference that matters",
            "fewer than 1 % of the switches changed the thread",
            "1.08",
            "less than twice",
        ],
    );
    let all = "fiber/goroutine os_threads=all free";
    let dear = |data: &mut Data, runs: &[&str]| runs.iter().for_each(|run| data.row(run, all).cost = 300.0);
    says(
        'i',
        |data| dear(data, &["goroutine-1", "goroutine-2", "goroutine-3"]),
        &["In all three runs one thread is faster"],
    );
    says('i', |data| dear(data, &["goroutine-1"]), &["Cannot tell: the three runs do not agree"]);
    let both_ways = |data: &mut Data| {
        dear(data, &["goroutine-1"]);
        data.row("goroutine-2", all).cost = 100.0;
    };
    says('i', both_ways, &["the verdict changes its sign"]);
    let placed = |data: &mut Data| {
        dear(data, &["goroutine-1", "goroutine-2", "goroutine-3"]);
        data.row("goroutine-2", "fiber/goroutine").cost = 250.0;
    };
    says(
        'i',
        placed,
        &[
            "Cannot tell: in all three runs one thread is faster, but the choice of a CPU alone",
            "not excluded: on a fixed CPU",
        ],
    );
    let unquiet = |data: &mut Data| {
        for run in ["goroutine-1", "goroutine-2", "goroutine-3"] {
            data.row(run, all).scatter = 0.2;
            data.row(run, "fiber/goroutine free").scatter = 0.2;
        }
    };
    says('i', unquiet, &["Cannot tell: none of the three runs decides it", "equal rows of this run differ by"]);
    let moved = |data: &mut Data| {
        ["goroutine-1", "goroutine-2", "goroutine-3"].iter().for_each(|run| data.row(run, all).away = Some(0.5))
    };
    says('i', moved, &["1 % or more of the switches did change the thread"]);
    says('i', |data| data.row("goroutine", "container/pipe").cost = 9_000.0, &["more than twice"]);
}
