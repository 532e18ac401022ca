//! `report`: the page that the real binary writes. The page itself is tested in a browser by
//! `web/test`.

use switchcost_e2e::{World, page_data, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A template as `web/` gives it, as far as the host cares.
pub const TEMPLATE: &str = "<html><script type=\"application/json\" id=\"data\">\"@switchcost-data@\"</script></html>";

fn world() -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/report.html", TEMPLATE);
    world
}

/// What stands in the page of this name.
pub fn data(world: &World, file: &str) -> serde_json::Value {
    let page = std::fs::read_to_string(world.path(file)).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    page_data(rest.split_once("</script>").unwrap().0)
}

#[test]
fn a_page_holds_the_runs_that_are_named_each_once() {
    let world = world();
    let file = world.path("p.html");
    let file = file.to_str().unwrap();
    for _ in 0..2 {
        assert_eq!(world.run("run thread/honest --rounds 6 --batches 5 --budget 600s").status, 0);
    }
    let example = repository().join("data/example/ladder.jsonl");
    let said = world.run_words(&["report", "latest~1", "latest", "latest", example.to_str().unwrap(), "-o", file]);
    assert_eq!((said.status, said.out.trim()), (0, file), "{said:?}");
    let data = data(&world, "p.html");
    let runs = data["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!(data["made_by"], "switchcost report 'latest~1' latest ladder.jsonl");
    let row = &runs[0]["details"][0];
    let counted = row["starts"].as_array().unwrap().iter().filter(|start| start[3] == 1).count();
    assert_eq!(counted, 6, "{row}");
    assert_eq!(row["expected"]["kernel_switches"], serde_json::json!([1.0, 1.0]));
    let pair = data["tables"].as_array().unwrap().iter().find(|table| table["a"] == 0 && table["b"] == 1).unwrap();
    assert!(pair["comparisons"][0]["ratio"].is_number(), "{pair}");
}

#[test]
fn without_the_template_one_sentence_says_what_to_install() {
    let world = World::new(FAKE);
    world.run("report").refuses(2, &["report.html", "nodejs", "npm", "make build"]);
    world.write("share/switchcost/report.html", "<html></html>");
    let example = repository().join("data/example/ladder.jsonl");
    world.run_words(&["report", example.to_str().unwrap()]).refuses(2, &["no place for the data", "make build"]);
}

#[test]
fn runs_that_do_not_exist_are_named() {
    let world = world();
    world.write("bad.jsonl", "nonsense\n");
    let bad = world.path("bad.jsonl");
    let page = world.path("bad.html");
    world.run_words(&["report", bad.to_str().unwrap(), "-o", page.to_str().unwrap()]).refuses(2, &["bad.jsonl"]);
    assert!(!page.exists());
    world.run("report missing.jsonl").refuses(2, &["missing.jsonl"]);
}

#[test]
fn a_page_is_opened_only_when_asked_and_without_a_desktop_a_sentence_says_where_it_is() {
    let world = world();
    assert_eq!(world.run("run thread/honest --rounds 1 --batches 1 --budget 600s").status, 0);
    let (page, seen) = (world.path("p.html"), world.path("seen"));
    // In the place of the desktop's launcher; what it starts outlives the command.
    world.write("bin/xdg-open", &format!("#!/bin/sh\nsleep 0.3\nprintf %s \"$1\" >{}\n", seen.display()));
    let mut mode = std::fs::metadata(world.path("bin/xdg-open")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(world.path("bin/xdg-open"), mode).unwrap();
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let report = |words: &[&str], display: Option<&str>| {
        let words: Vec<&str> =
            ["report", "-o", page.to_str().unwrap()].into_iter().chain(words.iter().copied()).collect();
        let mut command = world.command(&words);
        command.env("PATH", &path).envs(display.map(|display| ("DISPLAY", display)));
        switchcost_e2e::Said::from(command.output().unwrap())
    };
    assert_eq!(report(&[], Some(":0")).status, 0);
    assert!(!seen.exists(), "nobody asked for it");
    let said = report(&["--open"], None);
    assert_eq!((said.status, said.err.lines().count()), (0, 1), "{said:?}");
    assert!(said.err.contains("no desktop") && said.err.contains(page.to_str().unwrap()), "{said:?}");
    assert!(page.exists() && !seen.exists());
    assert_eq!(report(&["--open"], Some(":0")).status, 0);
    let shown = || std::fs::read_to_string(&seen).is_ok_and(|text| text == page.to_str().unwrap());
    switchcost_e2e::until("the page in a browser", shown);
}

#[test]
fn answers_of_audit_stand_on_a_page_and_other_files_are_refused() {
    let world = world();
    let example = repository().join("data/example/ladder.jsonl");
    let example = example.to_str().unwrap();
    let page = world.path("p.html");
    let page = page.to_str().unwrap();
    let answer = serde_json::json!({"sentence": "p loses 5 %", "kinds": [], "share_of_a_cpu": {"value": 0.05, "low": 0.04, "high": 0.06}});
    world.write("audit.json", &answer.to_string());
    let audit = world.path("audit.json");
    let said = world.run_words(&["report", example, audit.to_str().unwrap(), "-o", page]);
    assert_eq!(said.status, 0, "{said:?}");
    let data = data(&world, "p.html");
    assert_eq!((data["audits"].clone(), data["runs"].as_array().unwrap().len()), (serde_json::json!([answer]), 1));
    assert_eq!(data["made_by"], "switchcost report ladder.jsonl audit.json");
    for (text, reason) in [("{}", "not an answer of `audit`"), ("nonsense", "not JSON")] {
        world.write("other.json", text);
        let other = world.path("other.json");
        world.run_words(&["report", example, other.to_str().unwrap()]).refuses(2, &["other.json", reason, "*.jsonl"]);
    }
}
