//! `compare --at` with the real binary: percentiles of kept runs, read from their raw histograms by
//! another road.

use switchcost_e2e::{Real, Said, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn words(real: &Real, words: &[&str]) -> Said {
    let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    real.run_line(&line.join(" "))
}

/// p99 of each start of a row of a kept run in ns, read from its raw histograms by another road:
/// ten intervals of a thousand lie above.
fn percentiles(file: &str, contexts: u64, share: f64) -> Vec<f64> {
    let text = std::fs::read_to_string(file).unwrap();
    let records: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let variants: Vec<&serde_json::Value> = records.iter().filter(|record| record["t"] == "variant").collect();
    let wanted = |variant: &serde_json::Value| {
        variant["mechanism"] == "fiber/boost"
            && variant["timing"] == "each"
            && variant["contexts"] == contexts
            && variant["parameters"]["reads"] != "bare"
            && variant["label"] == ""
    };
    let starts =
        records.iter().filter(|record| record["t"] == "invocation" && record["disturbances"] == serde_json::json!([]));
    let starts = starts.filter(|start| wanted(variants[start["variant"].as_u64().unwrap() as usize]));
    let mut found: Vec<f64> = starts
        .filter_map(|start| {
            let histogram =
                start["histograms"].as_array().unwrap().iter().find(|part| part["phase"] == "measure").unwrap();
            let number = |key: &str| histogram[key].as_f64().unwrap();
            let per_second = start["hello"]["clock"]["ticks_per_second"].as_f64().unwrap();
            let ns = number("span_clock") / number("span_counter") * 1e9 / per_second;
            let bits = histogram["bits"].as_u64().unwrap() as u32;
            let mut all: Vec<f64> = Vec::new();
            for bucket in histogram["buckets"].as_array().unwrap() {
                let (lower, count) = (bucket[0].as_u64().unwrap(), bucket[1].as_u64().unwrap());
                let mut width = 1;
                while lower >> bits >= 2 * width {
                    width *= 2;
                }
                if lower < 1 << bits {
                    width = 1;
                }
                all.resize(all.len() + count as usize, lower as f64 + (width - 1) as f64 / 2.0);
            }
            let place = (all.len() as f64 * share).ceil() as usize - 1;
            // Of fewer, single ones decide it.
            let carried = all.len() as f64 * (1.0 - share) >= 10.0;
            carried.then(|| (all[place] - number("pair_sum") / number("pair_count")) * ns)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found
}

#[test]
fn a_percentile_is_compared_as_a_median_is() {
    let Some(real) = Real::new(FAKE) else { return };
    let file = repository().join("data/example/answers/timer.jsonl").display().to_string();
    let run = |at: &str| {
        words(
            &real,
            &[
                "compare",
                "--format",
                "json",
                &format!("{file}:fiber/boost contexts=4 each"),
                &format!("{file}:fiber/boost contexts=50 each"),
                "--at",
                at,
            ],
        )
    };
    let mut last = 0.0;
    for (at, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)] {
        let said = run(at).json();
        assert_eq!(said["at"], at);
        for (side, contexts) in [("a", 4), ("b", 50)] {
            let starts = percentiles(&file, contexts, share);
            let expected = f64::midpoint(starts[(starts.len() - 1) / 2], starts[starts.len() / 2]);
            let figure = said["comparisons"][0][side]["median"].as_f64().unwrap();
            assert!((figure / expected - 1.0).abs() < 1e-9, "{at} of {side}: {figure}, by hand {expected}");
        }
        let figure = said["comparisons"][0]["a"]["median"].as_f64().unwrap();
        assert!(figure > last && said["comparisons"][0]["low"].is_number(), "{said}");
        last = figure;
    }
    assert_eq!(run("median").json()["at"], "median");
    let gated = words(
        &real,
        &[
            "compare",
            &format!("{file}:fiber/boost contexts=50 each"),
            &format!("{file}:fiber/boost contexts=4 each"),
            "--at",
            "p50",
            "--gate",
            "5%",
        ],
    );
    assert_eq!(gated.status, 1, "{gated:?}");
    let several = |more: &[&str]| {
        let (a, b) = (format!("{file}:fiber/boost contexts=50 each"), format!("{file}:fiber/boost contexts=4 each"));
        words(&real, &[&["compare", &a, &b, "--at", "p90,median,p99"][..], more].concat())
    };
    let said = several(&["--gate", "5%"]);
    let places = ["is the p90 of", "is the p99 of"].map(|words| said.out.find(words));
    assert!(said.status == 1 && said.out.matches("gate 5 %").count() == 3 && places[0] < places[1], "{said:?}");
    several(&["--format", "json"]).refuses(2, &["--format: json is of one percentile"]);
}

#[test]
fn a_percentile_that_the_starts_do_not_carry_is_refused() {
    let Some(real) = Real::new(FAKE) else { return };
    let file = repository().join("data/example/answers/timer.jsonl").display().to_string();
    let run = |a: &str, b: &str, at: &str| {
        words(&real, &["compare", &format!("{file}:{a}"), &format!("{file}:{b}"), "--at", at])
    };
    let (four, fifty) = ("fiber/boost contexts=4 each", "fiber/boost contexts=50 each");
    run(four, fifty, "p99.9999").refuses(2, &["it has no p99.9999", "10000000 switches per process run"]);
    run("fiber/boost contexts=4", "fiber/boost contexts=50", "p99").refuses(2, &["it has no p99", "--timing each"]);
    run(four, fifty, "p100").refuses(2, &["such as p99 or p99.9"]);
    assert_eq!(real.run(&format!("import {file}")).status, 0);
    real.run("history fiber/boost --at p99.9999 --machine all").refuses(2, &["has a p99.9999", "--timing each"]);
    real.run("compare goroutine thread --at p99")
        .refuses(2, &["--at is of rows that were measured with --timing each"]);
    let trend = words(&real, &["history", "fiber/boost", "--at", "p99", "--machine", "all", "--format", "json"]).json();
    assert_eq!((&trend["at"], trend["trends"].as_array().unwrap().len()), (&"p99".into(), 4));
}
