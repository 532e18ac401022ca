//! An experiment and a placement that only these tests know: a page each, no line of code. They
//! must be offered, measured, judged, kept, compared and shown like the program's own.

use crate::report::{TEMPLATE, data};
use serde_json::json;
use switchcost_e2e::{World, mechanism, probe};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// How late contexts wake: each wake-up has a figure, in a unit that nothing else has.
const LATENESS: &str = r#"
title = "How late a context wakes"
short = "Lateness"
column = "lateness"
clause = "a wake-up"
unit = "wake-up"
distribution = true
contexts = 3
live = "throughout"
turns_per_unit = 1
due = ["turns"]

[quantity]
name = "lateness"
unit = "slots"
scale = [[1000, "kslots"], [1, "slots"]]
greater = "later"
smaller = "earlier"
of_a_unit = "Lateness"
base_unit = "slots"
"#;

const OTHER_CPU: &str = r#"
title = "the other CPU"
choice = "the other CPU alone"
cpus = ["partner"]
"#;

/// The fake probe offers these of `thread/offered`; their pages are the user's own.
fn world(offers: &[&str], pages: &[(&str, &str)]) -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/report.html", TEMPLATE);
    let offered: Vec<String> = offers.iter().map(|offer| format!(", \"offers={offer}\"")).collect();
    let command = format!("\"{FAKE}\"");
    let probe = probe("fake", FAKE, 100).replace(&command, &format!("{command}{}", offered.concat()));
    world.write("libexec/switchcost/probes/fake/probe.toml", &probe);
    let names: Vec<String> = offers.iter().map(|offer| format!("{:?}", offer.split(':').next().unwrap())).collect();
    let page = mechanism("")
        .replace("\"switch\"", &names.join(", "))
        .replace("\"free\"", "\"free\", \"other_cpu\"")
        .replace("kernel_switches = [1.0, 1.0]\n", "");
    world.write("share/switchcost/mechanisms/thread/offered.toml", &page);
    for (path, text) in pages.iter().chain(&[("placements/other_cpu", OTHER_CPU)]) {
        world.write(&format!("data/switchcost/{path}.toml"), text);
    }
    world
}

fn measured(world: &World, words: &str) -> serde_json::Value {
    let said = world.run(&format!("run thread/offered {words} --rounds 6 --budget 600s --format json"));
    assert_eq!(said.status, 0, "{said:?}");
    said.json()["results"][0].clone()
}

/// Holds the words, one after the other, between any blanks.
#[track_caller]
fn tells(text: &str, words: &str) {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(words), "{words:?} is missing in {text}");
}

#[test]
fn an_invented_experiment_and_placement_are_like_any_other() {
    let world = world(&["lateness"], &[("experiments/lateness", LATENESS)]);
    let (experiment, placement) = ("lateness", "other_cpu");

    let help = world.run("run --help").out;
    tells(&help, ", lateness [default");
    tells(&help, "other_cpu (the other CPU alone)");

    let row = measured(&world, "--placement other_cpu");
    for (key, value) in [
        ("verdict", json!("verified")),
        ("experiment", json!(experiment)),
        ("placement", json!(placement)),
        ("quantity", json!("lateness")),
        ("unit", json!("wake-up")),
        ("contexts", json!(3)),
        ("median", json!(1000.0)),
        ("mean", json!(1180.0)),
        ("p90", json!(1000.0)),
        ("p99", json!(2000.0)),
        // 3,000 units of a start have three beyond it.
        ("p999", json!(null)),
        ("max", json!(10_000.0)),
    ] {
        assert_eq!(row[key], value, "{key} of {row}");
    }
    // A word after the name is an experiment or a placement, as for any other.
    let said = world.run_words(&["run", "thread/offered free lateness", "--rounds", "1", "--format", "json"]);
    assert_eq!(said.json()["results"][0]["placement"], "free", "{said:?}");

    measured(&world, "--placement other_cpu --param ticks=1000,1500");
    tells(&world.run("show").out, "lateness, the other CPU p50 ±");
    tells(&world.run("show").out, "thread/offered 1.50 kslots 0.00 %");
    let table = world.run("show -v").out;
    tells(&table, "p50 ±");
    tells(&table, "1.50 kslots 0.00 %");

    let compared = world.run_words(&["compare", "thread/offered ticks=1000", "thread/offered ticks=1500"]);
    tells(&compared.out, "1.50 kslots 50 – 50 % 50 % later");
    tells(&world.run("history thread/offered").out, "slots");

    let csv = world.run("export --format csv").out;
    let cells = |line: usize| csv.lines().nth(line).unwrap().split(',').collect::<Vec<_>>();
    for (title, cell) in
        [("experiment", experiment), ("placement", placement), ("quantity", "lateness"), ("unit", "wake-up")]
    {
        let at = cells(0).iter().position(|known| *known == title).unwrap();
        assert_eq!(cells(1)[at], cell, "{title}");
    }
    let page = world.path("p.html");
    assert_eq!(world.run_words(&["report", "latest", "-o", page.to_str().unwrap()]).status, 0);
    let data = data(&world, "p.html");
    let named = |list: &str, name: &str| {
        let found = data[list].as_array().unwrap().iter().find(|known| known["name"] == name);
        found.unwrap_or_else(|| panic!("{list} has no {name}")).clone()
    };
    assert_eq!(named("experiments", experiment)["title"], "How late a context wakes");
    assert_eq!(named("placements", placement)["title"], "the other CPU alone");
    assert_eq!(named("quantities", "lateness")["scale"], json!([[1000.0, "kslots"], [1.0, "slots"]]));
    let run = &data["runs"][0];
    assert_eq!(
        (&run["results"][0]["quantity"], &run["results"][0]["placement"]),
        (&json!("lateness"), &json!(placement))
    );
    // 40 bins a decade: exactly these three values.
    assert_eq!(run["details"][0]["histogram"].as_array().unwrap().len(), 3, "{}", run["details"][0]);

    // What is kept is read again, by a program that has the pages.
    let kept = world.run("export").out;
    world.write("kept.jsonl", &kept);
    let file = world.path("kept.jsonl");
    tells(&world.run_words(&["show", file.to_str().unwrap()]).out, "1.50 kslots");
    let without = World::new(FAKE);
    without
        .run_words(&["show", file.to_str().unwrap()])
        .refuses(2, &["unknown placement `other_cpu`", "one_cpu, two_cpus, free"]);
}

/// As a run of a later version's experiment would: it is kept, named, and costs nothing else.
#[test]
fn a_run_outlives_the_page_of_its_experiment() {
    let world = world(&["lateness"], &[("experiments/lateness", LATENESS)]);
    for _ in 0..2 {
        assert_eq!(world.run("run thread/honest --rounds 6 --budget 600s").status, 0);
    }
    let said = world.run("run thread/offered --rounds 6 --budget 600s --format json");
    let id = said.json()["run"]["id"].as_str().unwrap().to_owned();
    let page = world.path("data/switchcost/experiments/lateness.toml");
    std::fs::remove_file(&page).unwrap();
    let said = world.run(&format!("show {id}"));
    said.refuses(2, &[&id, "of a later version", "unknown experiment `lateness`", "kept as it is"]);
    assert!(!said.err.contains("damaged"), "{said:?}");
    let trend = world.run("history thread/honest");
    assert!(
        trend.status == 0 && trend.out.contains(&format!("Run {id} is of a later version and left out.")),
        "{trend:?}"
    );
    world.write("data/switchcost/experiments/lateness.toml", LATENESS);
    let said = world.run(&format!("show {id}"));
    assert!(said.status == 0 && said.out.contains("slots"), "{said:?}");
}

#[test]
fn a_page_that_cannot_be_used_is_named_and_costs_nothing_else() {
    let world = world(
        &["lateness"],
        &[
            ("experiments/lateness", LATENESS),
            ("experiments/switch", LATENESS),
            ("experiments/speedless", &LATENESS.replace("contexts = 3", "speed = 3")),
            ("experiments/dozing", &LATENESS.replace("contexts = 3", "contexts = 3\nhost = \"nap\"")),
            ("placements/nowhere", "title = \"nowhere\"\nchoice = \"nowhere\"\ncpus = [\"moon\"]\n"),
        ],
    );
    let page = mechanism("").replace("\"switch\"", "\"dozing\"");
    world.write("share/switchcost/mechanisms/thread/dozer.toml", &page);
    measured(&world, "");
    let listed = world.run("list").out;
    for words in [
        "experiments/switch.toml",
        "speedless.toml is not valid: unknown field",
        "dozing.toml is not valid: host: there is no part `nap` of the host; write one of wakeup, count",
        "nowhere.toml is not valid: unknown variant",
    ] {
        tells(&listed, words);
    }
    assert!(!world.run("run --help").out.contains("speedless"));
    // A row of the page that asks for it says why there is none, and the row beside it is measured.
    let said = world.run("run thread/dozer thread/honest --rounds 6 --format json").json();
    let row = |mechanism: &str| said["results"].as_array().unwrap().iter().find(|row| row["mechanism"] == mechanism);
    assert_eq!(row("thread/honest").unwrap()["verdict"], "verified", "{said}");
    assert!(row("thread/dozer").unwrap()["reason"].as_str().unwrap().contains("dozing"), "{said}");
}

/// An experiment of each kind of figures, but for time, which the program has: what the fake offers
/// it as, and its page.
const KINDS: [(&str, &str); 3] = [
    (
        "misses:cache_misses",
        r#"unit = "switch"
own_unit = true
parts = ["cache_misses"]
quantity = { name = "misses", unit = "misses", scale = [[1, "misses"]], of_a_unit = "Misses", base_unit = "misses" }"#,
    ),
    (
        "pace:turns_per_second",
        r#"unit = "start"
parts = ["turns_per_second"]
[quantity]
name = "pace"
unit = "turns/s"
scale = [[1000000, "M turns/s"], [1000, "k turns/s"], [1, "turns/s"]]
greater = "quicker"
smaller = "quieter"
more_is_better = true
of_a_unit = "Rate"
base_unit = "hertz""#,
    ),
    (
        "heap:live_bytes",
        r#"unit = "object"
parts = ["live_bytes"]
quantity = "memory""#,
    ),
];

/// What a figure of 2048 must read like wherever it is written.
struct Kind {
    experiment: &'static str,
    /// In the table, and how a figure of twice as much is said.
    amount: &'static str,
    twice: &'static str,
    /// Quantity, its unit, and the unit that it is of.
    quantity: &'static str,
    measure: &'static str,
    unit: &'static str,
    /// Its metric of Prometheus with the value there.
    metric: &'static str,
}

#[test]
fn a_count_a_rate_a_size_a_time_and_a_distribution_are_equals() {
    let name = |offer: &str| offer.split(':').next().unwrap().to_owned();
    let common = |name: &str| {
        format!(
            "title = \"All {name}\"\nshort = \"{name}\"\ncolumn = \"{name}\"\nclause = \"its {name}\"\ncontexts = 2\nlive = \"throughout\"\nturns_per_unit = 1\n"
        )
    };
    let mut pages = vec![("experiments/lateness".to_owned(), LATENESS.to_owned())];
    pages.extend(KINDS.iter().map(|(offer, own)| (format!("experiments/{}", name(offer)), common(&name(offer)) + own)));
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let offers: Vec<&str> = KINDS.iter().map(|(offer, _)| *offer).chain(["lateness"]).collect();
    let world = world(&offers, &pages);
    let (time, memory) = ("2.05 µs", "2.00 KiB");
    for kind in [
        Kind {
            experiment: "switch",
            amount: time,
            twice: "2.00 times slower",
            quantity: "time",
            measure: "ns",
            unit: "switch",
            metric: "switchcost_seconds 2.048e-6",
        },
        Kind {
            experiment: "heap",
            amount: memory,
            twice: "2.00 times larger",
            quantity: "memory",
            measure: "B",
            unit: "object",
            metric: "switchcost_bytes 2.048e3",
        },
        Kind {
            experiment: "misses",
            amount: "2,048 misses",
            twice: "2.00 times more",
            quantity: "misses",
            measure: "misses",
            unit: "switch",
            metric: "switchcost_misses 2.048e3",
        },
        Kind {
            experiment: "pace",
            amount: "2.05 k turns/s",
            twice: "2.00 times quicker",
            quantity: "pace",
            measure: "turns/s",
            unit: "start",
            metric: "switchcost_hertz 2.048e3",
        },
        Kind {
            experiment: "lateness",
            amount: "2.05 kslots",
            twice: "2.00 times later",
            quantity: "lateness",
            measure: "slots",
            unit: "wake-up",
            metric: "switchcost_slots 2.048e3",
        },
    ] {
        travels(&world, &kind);
    }
}

fn travels(world: &World, kind: &Kind) {
    let experiment = kind.experiment;
    let row = if experiment == "switch" { "thread/honest" } else { "thread/offered" };
    let said =
        world.run(&format!("run {row} --experiment {experiment} --param ticks=2048,4096 --rounds 8 --budget 600s"));
    assert_eq!(said.status, 0, "{said:?}");
    // The table has a bar or a histogram of each; both ends of the axis are in its own unit.
    tells(&said.out, kind.amount);
    let drawn = said.out.lines().filter(|line| line.contains(['●', '█'])).count();
    assert_eq!(drawn, 2, "bars of {experiment}: {}", said.out);
    tells(&world.run("show -v").out, &format!("per {}", kind.unit));

    let export = |form: &str| world.run(&format!("export --format {form}")).out;
    let json: serde_json::Value = serde_json::from_str(&export("json")).unwrap();
    let own = &json["results"][0];
    assert_eq!(
        (&own["verdict"], &own["quantity"], &own["unit"], &own["median"]),
        (&json!("verified"), &json!(kind.quantity), &json!(kind.unit), &json!(2048.0)),
        "{own}"
    );
    tells(&export("csv"), &format!(",{},{},2048.000000,", kind.quantity, kind.unit));
    tells(&export("md"), &format!("per {}", kind.unit));
    tells(&export("benchstat"), &format!("one_cpu 1 2048.0000 {}/op", kind.measure));
    let prometheus = export("prometheus");
    let (metric, value) = kind.metric.split_once(' ').unwrap();
    let line = prometheus.lines().find(|line| line.starts_with(&format!("{metric}{{"))).unwrap_or_default();
    assert!(line.ends_with(value), "{metric} of {prometheus}");

    let (a, b) = (format!("{row} ticks=2048"), format!("{row} ticks=4096"));
    let compared = |form: &str| world.run_words(&["compare", &a, &b, "--format", form]).out;
    tells(&compared("table"), &format!("is {}", kind.twice));
    tells(&compared("junit"), kind.twice);
    let json: serde_json::Value = serde_json::from_str(&compared("json")).unwrap();
    let verdict = if experiment == "pace" { "faster" } else { "slower" };
    assert_eq!(json["comparisons"][0]["verdict"], verdict, "{json}");

    let page = world.path("p.html");
    assert_eq!(world.run_words(&["report", "latest", "-o", page.to_str().unwrap()]).status, 0);
    let data = data(world, "p.html");
    let known = data["quantities"].as_array().unwrap().iter().find(|known| known["name"] == kind.quantity).unwrap();
    assert_eq!(known["unit"], kind.measure);
    assert_eq!(data["runs"][0]["results"][0]["quantity"], kind.quantity);
}
