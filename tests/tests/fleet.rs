//! `fleet` with the real binary, on folders of run files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use switchcost_e2e::{World, repository, scaled, sealed, with};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with one run of three rows, of which nodes are made.
fn world() -> (World, String) {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=1000,2000,4000 --rounds 7 --batches 9");
    assert_eq!(said.status, 0, "{said:?}");
    let exported = world.run("export --private-facts").out;
    let (body, _) = exported.trim_end().rsplit_once('\n').unwrap();
    (world, format!("{body}\n"))
}

/// A node's run file: the kept run under another id, its ticks scaled, its facts changed.
fn node(body: &str, name: &str, number: usize, factor: f64, change: impl Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    for line in body.lines() {
        let mut line = line.to_owned();
        if line.starts_with("{\"t\":\"run\"") {
            line = with(&line, "\"id\":\"", &format!("20260101T000000-{number:04x}"));
            line = with(&line, "\"host_name\":\"", name);
            line = change(&line);
        }
        if line.starts_with("{\"t\":\"invocation\"") {
            line = scaled(&line, factor * (1.0 + number as f64 % 7.0 / 1000.0));
        }
        lines.push(line);
    }
    sealed(&(lines.join("\n") + "\n"))
}

fn same(line: &str) -> String {
    line.to_owned()
}

/// A folder of ten equal nodes.
fn ten(world: &World, body: &str, folder: &str) -> PathBuf {
    for number in 0..10 {
        let name = format!("n{number}");
        world.write(&format!("{folder}/{name}.jsonl"), &node(body, &name, number, 1.0, same));
    }
    world.path(folder)
}

#[test]
fn equal_nodes_are_not_accused_and_a_slow_one_is() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    let said = world.run(&format!("fleet judge {}", folder.display()));
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.starts_with("All 10 nodes look alike."), "{said:?}");
    world.write("round/n3.jsonl", &node(&body, "n3", 3, 1.3, same));
    let said = world.run(&format!("fleet judge {} --page {}", folder.display(), world.path("fleet.html").display()));
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.out.starts_with("1 of 10 nodes is unlike the others."), "{said:?}");
    // A suspicion does not take a node out, and what was counted is said with it.
    for words in ["An odd node is a suspicion", "at most 1 of 1,000", "--confirm LAUNCHER", "n3: suspect "] {
        assert!(said.words().contains(words), "{words}: {said:?}");
    }
    assert!(!said.out.contains("scontrol"), "{said:?}");
    let page = fs::read_to_string(world.path("fleet.html")).unwrap();
    assert_eq!(page.matches("<li class=\"fine\"").count(), 9, "{page}");
    assert_eq!(page.matches("<li class=\"odd\"").count(), 1, "{page}");
}

/// Half of the nodes cost more, and nothing else tells them apart: neither half is called odd, and
/// it is said.
#[test]
fn halves_of_a_fleet_are_kinds_and_not_odd_nodes() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    for number in 0..5 {
        let name = format!("n{number}");
        world.write(&format!("round/{name}.jsonl"), &node(&body, &name, number, 1.3, same));
    }
    let said = world.run(&format!("fleet judge {}", folder.display()));
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.out.starts_with("Inconclusive: 10 nodes form clusters"), "{said:?}");
    let words = said.words();
    assert!(words.contains("form clusters, and none is the majority: 5 nodes cheapest"), "{said:?}");
    let document = world.run(&format!("fleet judge {} --format json", folder.display())).json();
    let dear = &document["groups"][0]["kinds"][0]["kinds"][1];
    assert_eq!(dear["nodes"], serde_json::json!(["n0", "n1", "n2", "n3", "n4"]), "{document}");
}

/// Who answered in an earlier round and does not now is named without a list; rounds in the wrong
/// order, and one run in two of them, are told.
#[test]
fn rounds_are_held_against_one_another() {
    let (world, body) = world();
    let [first, second] = ["first", "second"].map(|round| {
        let times = if round == "first" { "1767225600000000000" } else { "1767312000000000000" };
        for number in 0..10 {
            let name = format!("n{number}");
            let id = number + if round == "first" { 0 } else { 100 };
            world.write(&format!("{round}/{name}.jsonl"), &node(&body, &name, id, 1.0, |line| started(line, times)));
        }
        world.path(round).display().to_string()
    });
    let said = world.run(&format!("fleet judge {first} {second}"));
    assert!(said.status == 0 && !said.out.contains("newer than"), "{said:?}");
    let said = world.run(&format!("fleet judge {second} {first}"));
    assert!(said.out.contains("newer than") && said.words().contains("name the oldest first"), "{said:?}");
    let said = world.run(&format!("fleet judge {first} {first}"));
    assert!(said.out.contains("10 runs of it are in a later round as well"), "{said:?}");
    for number in 0..10 {
        let name = format!("n{number}");
        let dear = node(&body, &name, 200 + number, 1.2, |line| started(line, "1767312000000000000"));
        world.write(&format!("second/{name}.jsonl"), &dear);
    }
    // What all did makes nobody odd, and is told.
    let said = world.run(&format!("fleet judge {first} {second}"));
    assert!(said.status == 0 && said.out.contains("since the earlier rounds, most nodes: "), "{said:?}");
    let since = &world.run(&format!("fleet judge {first} {second} --format json")).json()["groups"][0]["since"][0];
    assert!((since["ratio"].as_f64().unwrap() - 1.2).abs() < 0.01, "{since}");
    fs::remove_file(world.path("second/n4.jsonl")).unwrap();
    let said = world.run(&format!("fleet judge {first} {second}"));
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.out.contains("1 node did not answer: `n4`"), "{said:?}");
}

/// Without its rows a node is not judged, and must not pass for one that is like the others.
#[test]
fn rows_that_are_not_judged_are_told() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    // Batches that lasted longer than their probe ran.
    world.write("round/n3.jsonl", &node(&body, "n3", 3, 1e6, same));
    let said = world.run(&format!("fleet judge {}", folder.display()));
    assert!(said.status == 4 && said.out.starts_with("All 9 nodes look alike."), "{said:?}");
    assert!(said.out.contains("is not judged on 1 node, without a usable figure: `n3` (contradicted"), "{said:?}");
    let document = world.run(&format!("fleet judge {} --format json", folder.display())).json();
    let lacking = |node: &&serde_json::Value| !node["unusable"].as_array().unwrap().is_empty();
    let names: Vec<_> =
        document["nodes"].as_array().unwrap().iter().filter(lacking).map(|node| &node["node"]).collect();
    assert_eq!(names, ["n3"]);
}

/// A node did not pass a row that its run never had.
#[test]
fn rows_that_a_run_does_not_have_are_told() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    let of = |line: &str, number: usize| {
        ["index", "variant"].iter().any(|key| line.contains(&format!("\"{key}\":{number},")))
    };
    let kept = body.lines().filter(|line| !of(line, 2)).map(|line| match of(line, 3) {
        true => line.replacen("\"index\":3,", "\"index\":2,", 1).replacen("\"variant\":3,", "\"variant\":2,", 1),
        false => line.to_owned(),
    });
    let short: String = kept.map(|line| line + "\n").collect();
    assert!(short.len() < body.len());
    world.write("round/n3.jsonl", &node(&short, "n3", 3, 1.0, same));
    let said = world.run(&format!("fleet judge {}", folder.display()));
    assert!(
        said.status == 0 && said.words().contains("without a usable figure: `n3` (its run has no such row"),
        "{said:?}"
    );
}

/// Machines made of one image may all be called `localhost`; a host that is called as its file, and
/// answered twice, is one node.
#[test]
fn two_hosts_of_one_name_are_two_nodes() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    for number in [3, 4] {
        world.write(&format!("round/n{number}.jsonl"), &node(&body, "localhost", number, 1.0, same));
    }
    let judge = || world.run(&format!("fleet judge {} --format json", folder.display())).json();
    let document = judge();
    assert_eq!((document["nodes"].as_array().unwrap().len(), &document["problems"]), (10, &serde_json::json!([])));
    world.write("round/n4.jsonl", &node(&body, "n3", 4, 1.0, same));
    world.write("round/n3.jsonl", &node(&body, "n3", 3, 1.0, same));
    assert_eq!(judge()["nodes"].as_array().unwrap().len(), 9);
}

#[test]
fn the_json_of_a_fleet_fits_its_schema() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    world.write("round/n3.jsonl", &node(&body, "n3", 3, 1.3, |line| with(line, "\"kernel.release\":\"", "5.0")));
    let schema = fs::read_to_string(repository().join("docs/fleet.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let judge = |more: &str| world.run(&format!("fleet judge {} --format json {more}", folder.display())).json();
    let once = judge("--expect n0,n3,n99");
    // The same nodes on another day.
    for number in 0..10 {
        let (name, factor, kernel) = (format!("n{number}"), if number == 3 { 1.3 } else { 1.0 }, number == 3);
        let change = |line: &str| {
            let line = if kernel { with(line, "\"kernel.release\":\"", "5.0") } else { line.to_owned() };
            with(&line, "\"id\":\"", &format!("20260102T000000-{number:04x}"))
        };
        world.write(&format!("later/{name}.jsonl"), &node(&body, &name, number, factor, change));
    }
    let rounds = judge(&world.path("later").display().to_string());
    for document in [&once, &rounds] {
        jsonschema::validate(&schema, document).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(once["missing"], serde_json::json!(["n99"]));
    assert_eq!(once["nodes"][0]["node"], "n3");
    assert_eq!(once["nodes"][0]["suspect"], "kernel");
    assert_eq!(once["nodes"][0]["facts"][0]["name"], "kernel.release");
    assert_eq!(rounds["nodes"][0]["history"], "always");
    // A schema that accepts everything would pass too.
    let mut wrong = once;
    wrong["nodes"][0]["odd"] = "yes".into();
    assert!(jsonschema::validate(&schema, &wrong).is_err());
}

#[test]
fn who_did_not_answer_is_named_and_few_nodes_get_no_verdict() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    world.write("nodes.txt", "n0 host-a # first\nn1 host-a\nn77\n");
    let said = world.run(&format!("fleet judge {} --expect {}", folder.display(), world.path("nodes.txt").display()));
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.out.contains("1 node did not answer: `n77`"), "{said:?}");
    // A copy under another name is not the node, also where no host name tells.
    world.write("round/n1.jsonl", &node(&body, "unknown", 1, 1.0, same));
    fs::copy(folder.join("n1.jsonl"), folder.join("a-copy.jsonl")).unwrap();
    let said = world.run(&format!("fleet judge {} --expect {}", folder.display(), world.path("nodes.txt").display()));
    assert!(said.out.contains("1 node did not answer: `n77`"), "{said:?}");
    fs::remove_file(folder.join("a-copy.jsonl")).unwrap();
    for number in 5..10 {
        fs::remove_file(folder.join(format!("n{number}.jsonl"))).unwrap();
    }
    let said = world.run(&format!("fleet judge {}", folder.display()));
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.out.starts_with("Inconclusive: 5 nodes answered"), "{said:?}");
}

#[test]
fn a_node_that_left_only_how_it_ended_is_told() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    for (file, text) in [("n3.status", "0"), ("n77.status", "137"), ("n77.err", "Killed"), ("n78.status", "0")] {
        world.write(&format!("round/{file}"), &format!("{text}\n"));
    }
    let said = world.run(&format!("fleet judge {} --format json", folder.display()));
    let told = serde_json::json!([
        {
            "file": "n77.status",
            "left_out": true,
            "what": "there is no run file of its node; its node ended with status 137: Killed",
        },
        { "file": "n78.status", "left_out": true, "what": "there is no run file of its node" },
    ]);
    assert_eq!((said.status, &said.json()["problems"]), (4, &told), "{said:?}");
}

#[test]
fn what_a_file_is_not_costs_only_itself() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    let whole = node(&body, "bad", 70, 1.0, same);
    world.write("round/truncated.jsonl", &whole[..whole.len() / 2]);
    world.write("round/empty.jsonl", "");
    world.write("round/newer.jsonl", &whole.replace("\"format\":1", "\"format\":999"));
    world.write("round/hostile.jsonl", "{\"t\":\"run\",\"format\":1,\"id\":\"\u{1b}]0;x\u{7}\"}\n");
    world.write("round/n0-copy.jsonl", &node(&body, "n0", 0, 1.0, same));
    world.write("round/n1-again.jsonl", &node(&body, "n1", 71, 9.0, |line| started(line, "1000000000000000000")));
    world.write("round/late.jsonl", &node(&body, "late", 72, 1.0, |line| started(line, "1000000000000000000")));
    world.write("round/tool.jsonl", &node(&body, "tool", 74, 1.0, |line| with(line, "\"tool_version\":\"", "0.0.1")));
    world.write(
        "round/old.jsonl",
        &node(&body, "old", 73, 1.0, |line| line.replace("\"method_version\":", "\"method_version\":9")),
    );
    world.write("round/notes.txt", "not a run file\n");
    let made = Command::new("mkfifo").arg(folder.join("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    let said = world.run(&format!("fleet judge {} --format json", folder.display()));
    assert_eq!(said.status, 4, "{said:?}");
    let document = said.json();
    let problems: Vec<String> = document["problems"].as_array().unwrap().iter().map(|one| format!("{one}")).collect();
    for (file, word) in [
        ("truncated.jsonl", "breaks off"),
        ("empty.jsonl", "empty"),
        ("newer.jsonl", "format"),
        ("hostile.jsonl", ""),
        ("n0-copy.jsonl", "same run as n0.jsonl"),
        ("n1-again.jsonl", "answered twice"),
        ("late.jsonl", "days before"),
        ("old.jsonl", "version"),
        ("tool.jsonl", "measured by switchcost 0.0.1, most by"),
        ("pipe.jsonl", "not a regular file"),
    ] {
        let told = problems.iter().find(|one| one.contains(file)).unwrap_or_else(|| panic!("{file}: {problems:?}"));
        assert!(told.contains(word) && !told.contains('\u{1b}'), "{told}");
    }
    assert_eq!(problems.len(), 10, "{problems:?}");
    assert_eq!(document["nodes"].as_array().unwrap().len(), 12, "{document}");
}

/// The header with this start.
fn started(line: &str, ns: &str) -> String {
    let key = "\"started_unix_ns\":";
    let at = line.find(key).unwrap() + key.len();
    let end = at + line[at..].find(',').unwrap();
    let end_key = "\"ended_unix_ns\":";
    let line = format!("{}{ns}{}", &line[..at], &line[end..]);
    let at = line.find(end_key).unwrap() + end_key.len();
    let end = at + line[at..].find(',').unwrap();
    format!("{}{ns}{}", &line[..at], &line[end..])
}

#[test]
fn bad_arguments_are_one_sentence() {
    let (world, _) = world();
    world.write("empty/readme", "");
    world.run(&format!("fleet judge {}", world.path("empty").display())).refuses(2, &["holds no run file"]);
    world.run("fleet judge nowhere").refuses(2, &["nowhere", "cannot be read"]);
    for (nodes, word) in [("a;reboot", "not a name"), ("n1,n1", "twice"), ("-x", "not a name"), ("", "not a name")] {
        let said =
            world.run_words(&["fleet", "plan", "--launcher", "srun", &format!("--nodes={nodes}"), "--into", "x"]);
        said.refuses(2, &["--nodes", word]);
    }
    world.run("fleet plan --launcher slurm --nodes a --into x").refuses(2, &["--launcher"]);
    let plan = ["fleet", "plan", "--launcher", "srun", "--nodes", "a"];
    for (odd, flag) in [
        (&["--into", "a\nb"][..], "--into"),
        (&["--into", "\u{1b}[2J"], "--into"),
        (&["--into", "a", "--program", "\u{1b}[2J"], "--program"),
        (&["--into", "a", "--image", "\u{202e}"], "--image"),
        (&["--into", "a", "--", "echo", "\u{1b}[2J"], "COMMAND"),
    ] {
        world.run_words(&[&plan[..], odd].concat()).refuses(2, &[flag, "control character"]);
    }
}

/// Each launcher's script is one that the shell reads, names every node and ends with the status of
/// what it started.
#[test]
fn plans_are_scripts_that_name_every_node() {
    let (world, _) = world();
    world.write("nodes.txt", "n1 host-a\nn2 host-a\nn3\n");
    for launcher in ["srun", "clush", "parallel", "ansible", "ray", "k8s"] {
        let nodes = world.path("nodes.txt");
        let said = world.run_words(&[
            "fleet",
            "plan",
            "--launcher",
            launcher,
            "--nodes",
            nodes.to_str().unwrap(),
            "--into",
            "/shared/a b",
        ]);
        assert_eq!(said.status, 0, "{said:?}");
        assert!(said.out.contains("2 waves") && said.out.ends_with("exit $failed\n"), "{said:?}");
        for word in ["n1", "n2", "n3", "--budget 8s", "/shared/a b"] {
            assert!(said.out.contains(word), "{launcher}: {word} is missing in {}", said.out);
        }
        let script = world.path(launcher);
        fs::write(&script, &said.out).unwrap();
        let read = Command::new("sh").arg("-n").arg(&script).output().unwrap();
        assert!(read.status.success() && read.stderr.is_empty(), "{launcher}: {read:?}");
    }
}

/// `--go` and `--confirm` with the real shell and stand-ins for the launchers, which start on this
/// machine what they are told to start on nodes.
#[test]
fn a_plan_that_runs_fills_the_folder_and_confirms() {
    let (world, body) = world();
    // `srun … --nodelist=NODE … COMMAND…`; n3 does not answer, and n2 and n5 cannot be measured at
    // once.
    let srun = "#!/bin/sh\nfor word; do case $word in --nodelist=*) list=${word#*=};; --*) ;; *) break;; esac; shift; done\n\
                case $list in n3) exit 1;; n2|n5) mkdir \"$0.host\" || exit; sleep 0.2; rmdir \"$0.host\";; esac\n\
                SLURMD_NODENAME=$list NODE=$list \"$@\"\n";
    world.write("bin/srun", srun);
    // The node's switchcost: gives the file that was made for it.
    world.write("bin/switchcost", "#!/bin/sh\ncat \"$(dirname \"$0\")/../second/$NODE.jsonl\"\n");
    for tool in ["srun", "switchcost"] {
        let made = Command::new("chmod").arg("755").arg(world.path(&format!("bin/{tool}"))).status().unwrap();
        assert!(made.success());
    }
    ten(&world, &body, "second");
    world.write("second/n5.jsonl", &node(&body, "n5", 105, 1.3, same));
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let first = world.path("first");
    let go = |arguments: &[&str]| {
        let output = world.command(arguments).env("PATH", &path).output().unwrap();
        switchcost_e2e::Said::from(output)
    };
    let into = first.to_str().unwrap();
    world.write("nodes.txt", "n0\nn1\nn2 host-a\nn3\nn4\nn5 host-a\nn6\nn7\nn8\nn9\n");
    let nodes = world.path("nodes.txt");
    let nodes = nodes.to_str().unwrap();
    go(&["fleet", "plan", "--launcher", "srun", "--nodes", nodes, "--into", into, "--go"]).refuses(4, &["--expect"]);
    let size = |number: usize| fs::metadata(first.join(format!("n{number}.jsonl"))).unwrap().len();
    assert!((0..10).all(|number| (size(number) == 0) == (number == 3)), "n3 alone has no run file");
    // n2 was slow once, n5 is slow again.
    world.write("first/n2.jsonl", &node(&body, "n2", 102, 1.3, same));
    let said = go(&["fleet", "judge", into, "--expect", nodes, "--format", "json"]).json();
    let odd: Vec<&str> = said["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["odd"] == true)
        .map(|node| node["node"].as_str().unwrap())
        .collect();
    assert_eq!((odd, &said["drain"]), (vec!["n2", "n5"], &serde_json::json!([])), "{said}");
    let said = go(&["fleet", "judge", into, "--expect", nodes, "--confirm", "srun", "--format", "json"]);
    assert_eq!(said.status, 1, "{said:?}");
    let document = said.json();
    assert_eq!(document["drain"], serde_json::json!(["n5"]), "{document}");
    assert_eq!(document["missing"], serde_json::json!(["n3"]));
    let told = document["problems"].as_array().unwrap().iter().find(|one| one["file"] == "n3.jsonl").unwrap();
    assert!(told["left_out"] == true && told["what"].as_str().unwrap().contains("gave no answer"), "{told}");
    let measured = document["nodes"].as_array().unwrap().iter().filter(|node| !node["confirmed"].is_null());
    assert_eq!(measured.count(), 4, "{document}");
    let said = go(&["fleet", "judge", into, "--expect", nodes, "--confirm", "srun"]);
    assert!(said.out.contains("scontrol update nodename=n5 state=drain"), "{said:?}");
    assert!(said.out.contains("not named: `n2`"), "{said:?}");
}

/// A submission to the gallery is judged again on arrival.
#[test]
fn the_gallery_takes_shareable_runs_only() {
    let (world, _) = world();
    let file = |name: &str| world.path(name).to_str().unwrap().to_owned();
    assert_eq!(world.run(&format!("export -o {}", file("good.jsonl"))).status, 0);
    assert_eq!(world.run(&format!("export --private-facts -o {}", file("private.jsonl"))).status, 0);
    let whole = fs::read_to_string(file("good.jsonl")).unwrap();
    world.write("broken.jsonl", &whole[..whole.len() / 2]);
    assert_eq!(world.run("run thread/liar --rounds 6").status, 5);
    assert_eq!(world.run(&format!("export -o {}", file("liar.jsonl"))).status, 0);
    let arrive = |name: &str| {
        let program = world.command(&[]).get_program().to_owned();
        let output = Command::new(repository().join("contrib/gallery/arrive"))
            .args(["--into", &file("kept"), &file(name)])
            .env("SWITCHCOST", program)
            .env("SWITCHCOST_LIBEXEC", file("libexec/switchcost"))
            .output()
            .unwrap();
        switchcost_e2e::Said::from(output)
    };
    let good = arrive("good.jsonl");
    assert!(good.status == 0 && good.out.starts_with("accepted: "), "{good:?}");
    arrive("private.jsonl").refuses(1, &["refused: ", "whose it is"]);
    arrive("broken.jsonl").refuses(1, &["refused: "]);
    arrive("liar.jsonl").refuses(1, &["refused: ", "contradicts"]);
    assert_eq!(fs::read_dir(file("kept")).unwrap().count(), 1);
}

/// Root may read /proc/kmsg, which passes for a regular file and lets its reader wait.
#[test]
fn what_would_be_waited_for_is_left_out() {
    let (world, body) = world();
    let folder = ten(&world, &body, "round");
    std::os::unix::fs::symlink("/proc/kmsg", folder.join("log.jsonl")).unwrap();
    std::os::unix::fs::symlink("/proc/kmsg", folder.join("n3.status")).unwrap();
    let judge = ["fleet", "judge", folder.to_str().unwrap(), "--expect", "/proc/kmsg"];
    for (words, status) in [(&judge[..], 2), (&judge[..3], 4)] {
        let said = world.run_wrapped(&["timeout", "-s", "KILL", "60"], words);
        assert_eq!(said.status, status, "{said:?}");
    }
}
