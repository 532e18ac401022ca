//! Text of others on its way to people: nothing that a probe, a run file or an argument says acts
//! on a terminal.

use switchcost_e2e::{Said, World, mechanism, probe};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Neither stream holds what acts on a terminal, or a line that others began.
#[track_caller]
fn harmless(said: &Said, what: &str) {
    for text in [&said.out, &said.err] {
        let acts = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(|c| acts(*c)), None, "{what}: {said:?}");
        // Where text is wrapped, its further lines are further in than ours.
        let forged = |line: &str| !line.starts_with("    ") && line.trim_start().starts_with("FORGED");
        assert!(!text.lines().any(forged), "{what}: {said:?}");
    }
}

#[test]
fn a_hostile_probe_cannot_reach_the_terminal() {
    let world = World::new(FAKE);
    for (name, words) in [("hostile", "FORGED"), ("hostile-end", "the probe failed: said")] {
        let said = world.run(&format!("run thread/{name} --rounds 1 --notes"));
        harmless(&said, name);
        assert!(said.out.contains(words), "{said:?}");
        for command in [
            "show",
            "show --notes",
            "export --private-facts --format md",
            "export --private-facts --format csv",
            "export -o - --format benchstat",
            "history",
        ] {
            harmless(&world.run(command), command);
        }
        // JSON is as it was said: whoever reads it sees what there was.
        let json = world.run("export --private-facts --format json").json().to_string();
        assert!(json.contains("\\u001b[2J") && json.contains('\u{202e}'), "{json}");
    }
}

#[test]
fn a_hostile_run_file_cannot_reach_the_terminal() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest thread/liar --rounds 6").status, 5);
    let file = world.forged("hostile", |body| {
        // Above ASCII the file holds the characters themselves.
        let hostile = "x\\u001b[2J\\u001b]0;t\\u0007\u{9b}31m\u{202e}\\nFORGED";
        let mut out = String::new();
        for line in body.lines() {
            let mut line = line.to_owned();
            let texts: &[&str] = match &line {
                line if line.starts_with("{\"t\":\"run\"") => &["cpu.model_name", "kernel.release"],
                line if line.starts_with("{\"t\":\"variant\"") => &["probe", "ticks", "label"],
                _ => &["log"],
            };
            for key in texts {
                let (before, after) = line.split_once(&format!("\"{key}\":\"")).unwrap();
                let (_, after) = after.split_once('"').unwrap();
                line = format!("{before}\"{key}\":\"{hostile}\"{after}");
            }
            if let Some((before, after)) = line.split_once("\"reason\":") {
                let (_, after) = after.split_once(",\"pid\"").unwrap();
                line = format!(r#"{before}"reason":{{"code":"unsupported","detail":"{hostile}"}},"pid"{after}"#);
            }
            line = line.replace("\"notes\":[]", &format!("\"notes\":[\"{hostile}\"]"));
            line = line.replace("\"command\":[", &format!("\"command\":[\"switchcost\",\"{hostile}\","));
            out.push_str(&(line + "\n"));
        }
        let (before, after) = out.split_once("\"id\":\"").unwrap();
        format!("{before}\"id\":\"hostile-run\"{}", after.split_once('"').unwrap().1)
    });
    let said = world.run(&format!("import {file}"));
    assert_eq!(said.status, 0, "{said:?}");
    harmless(&said, "import");
    let _ = world.run("run thread/honest --rounds 6");
    for command in [
        "show hostile-run",
        "show hostile-run --notes",
        "export hostile-run --format md",
        "export hostile-run --format csv",
        "export hostile-run -o - --format benchstat",
        "export hostile-run -o - --format table",
        "history",
        "history thread/honest --machine all",
        "compare hostile-run latest --force",
        "compare hostile-run latest --force --format md",
        "compare hostile-run:thread/honest hostile-run:thread/liar",
        "list",
        "baseline set base hostile-run",
        "baseline list",
    ] {
        harmless(&world.run(command), command);
    }
    assert!(
        world.run("show hostile-run").out.contains("kernel x\u{fffd}[2J"),
        "the reader sees that something was there"
    );
}

#[test]
fn echoed_arguments_and_data_files_are_harmless() {
    let world = World::new(FAKE);
    for arguments in [
        &["run", "\x1b[2J\u{202e}"][..],
        &["run", "--\x1b[2J"],
        &["show", "\u{9b}31m\nFORGED"],
        &["import", "\x1b[2J\nFORGED.jsonl"],
        &["run", "thread/honest", "--probe", "\x1b[2J"],
        &["compare", "\x1b[2J", "x"],
    ] {
        let said = world.run_words(arguments);
        assert_eq!(said.status, 2, "{said:?}");
        harmless(&said, "arguments");
    }
    world.write("share/switchcost/mechanisms/thread/odd.toml", &mechanism("").replace("A fake", "A \\u001b[2J fake"));
    let said = world.run("list");
    harmless(&said, "list");
    world.write("\x1b[2J", "no transcript\n");
    let said = world.run_words(&["check-probe", "--transcript", world.path("\x1b[2J").to_str().unwrap()]);
    assert_eq!(said.status, 6, "{said:?}");
    harmless(&said, "check-probe --transcript");
}

#[test]
fn files_beyond_a_limit_are_refused_at_once() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 1").status, 0);
    let many = |line: &str, count: usize| (line.to_owned() + "\n").repeat(count);
    let before_invocations = |body: &str, lines: &str| {
        let at = body.find("{\"t\":\"invocation\"").unwrap();
        format!("{}{lines}{}", &body[..at], &body[at..])
    };
    let invocation =
        |body: &str| body.lines().find(|line| line.starts_with("{\"t\":\"invocation\"")).unwrap().to_owned();
    let parameters: String = (0..1000).map(|i| format!("\"a{i:04}\":\"1\",")).collect();
    let files = [
        (
            world.forged("x", |body| before_invocations(body, &many("{\"t\":\"x_a\"}", 1_000_000))),
            "more than 10000 lines of extensions",
        ),
        (
            world.forged("text", |body| {
                body.replacen("\"log\":\"", &format!("\"log\":\"{}", "y".repeat(40_000_000)), 1)
            }),
            "a text longer than 65536",
        ),
        (
            world.forged("wide", |body| {
                body.replacen("\"parameters\":{\"", &format!("\"parameters\":{{{parameters}\""), 1)
            }),
            "1001 parameters",
        ),
        (
            world.forged("lines", |body| format!("{body}{}", many(&invocation(body), 100_000))),
            "more than 50000 invocations",
        ),
    ];
    for (file, words) in files {
        // Memory is bounded by the system: what takes more ends otherwise than by a sentence.
        let said = world.run_wrapped(&["sh", "-c", "ulimit -v 600000; exec \"$@\"", "sh"], &["import", &file]);
        said.refuses(2, &[words]);
    }
}

/// A page of the user's own.
fn page(world: &World, id: &str, text: &str) {
    world.write(&format!("data/switchcost/mechanisms/{id}.toml"), text);
}

#[test]
fn probes_and_pages_of_the_user_s_own_are_found() {
    let world = World::new(FAKE);
    // Another source: somebody else's word for what the mechanism is.
    let own = |id: &str, priority: i64| probe(id, FAKE, priority).replace("source = \"fake\"", "source = \"mine\"");
    world.write("data/switchcost/probes/mine/probe.toml", &own("mine", 1000));
    world.write("data/switchcost/mechanisms/families.toml", "[[family]]\nid = \"odd\"\ntitle = \"Odd ones\"\n");
    page(&world, "odd/honest", &mechanism("").replace("\"fake\"", "\"mine\""));
    let said = world.run("list -v");
    assert!(said.out.contains("Odd ones") && said.out.contains("odd/honest"), "{said:?}");
    let row =
        |arguments: &str| world.run(&format!("run {arguments} --rounds 6 --format json")).json()["results"][0].clone();
    assert_eq!(row("thread/honest")["label"], "thread/honest", "priority does not make it ours");
    assert_eq!(row("thread/honest")["probe"], "fake");
    assert_eq!(row("thread/honest --probe mine")["label"], "thread/honest@mine");
    for command in ["show", "export --format md"] {
        let said = world.run(command);
        assert!(said.out.contains("thread/honest@mine"), "{said:?}");
    }
    // What has the same id as one of the installation loses, and is named with both paths.
    world.write("data/switchcost/probes/twin/probe.toml", &own("fake", 1));
    page(&world, "thread/honest", &mechanism(""));
    let said = world.run("list");
    let words = said.words();
    for part in
        ["probes/twin/probe.toml is not valid: id fake is taken by the probe in", "libexec/switchcost/probes/fake"]
    {
        assert!(words.contains(part), "{said:?}");
    }
    assert!(words.contains("there is another page of thread/honest"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn what_is_broken_costs_its_own_rows_only() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new(FAKE);
    let folder = |name: &str| {
        let path = world.path(&format!("data/switchcost/{name}"));
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let good = probe("good", FAKE, 1);
    let write = |name: &str, text: &str| world.write(&format!("data/switchcost/probes/{name}/probe.toml"), text);
    write("escape", &good.replace("\"good\"", "\"../../../pwn\""));
    write("capital", &good.replace("\"good\"", "\"Good\""));
    write("slow", &good.replace("start_timeout_ms = 60000", "start_timeout_ms = 9999999999"));
    write("odd", "id = 3");
    write("large", &format!("{good}#{}", "x".repeat(2_000_000)));
    write("defaults", &good.replace("\"good\"", "\"defaults\"").replace("priority = 1\n", ""));
    write("open", &good.replace("\"good\"", "\"open\""));
    std::fs::set_permissions(folder("probes/open"), std::fs::Permissions::from_mode(0o777)).unwrap();
    symlink("/dev/zero", folder("probes/zero").join("probe.toml")).unwrap();
    symlink("/nowhere", folder("probes").join("dangling")).unwrap();
    let pipe = folder("mechanisms/thread").join("pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("me@host.1", folder("mechanisms/thread").join(".#lock.toml")).unwrap();
    symlink("/dev/zero", folder("mechanisms/thread").join("zero.toml")).unwrap();
    // Root may read it, it passes for a regular file, and lets its reader wait.
    symlink("/proc/kmsg", folder("mechanisms/thread").join("log.toml")).unwrap();
    let named = |name: &str| {
        mechanism(&format!(
            "[parameters.{name}]\nvalues = [\"a\"]\ndefault = \"a\"\nhelp = \"h\"\nexperiments = [\"switch\"]\n"
        ))
    };
    page(&world, "thread/reserved", &named("contexts"));
    page(&world, "thread/value", &named("x").replace("\"a\"", "\"a b=c\""));
    page(&world, "thread/Bad Name", &mechanism(""));
    page(&world, "nowhere/x", &mechanism(""));
    let said = world.run_wrapped(&["timeout", "-s", "KILL", "60"], &["list", "-v"]);
    assert_eq!(said.status, 0, "{said:?}");
    let words = said.words();
    for part in [
        "escape/probe.toml is not valid: id `../../../pwn`",
        "capital/probe.toml is not valid: id `Good`",
        "start_timeout_ms is not from 1 to 60000",
        "odd/probe.toml is not valid",
        "large/probe.toml is not valid: it is longer than 1048576 bytes",
        "probes/open can be written by others",
        "zero/probe.toml can be written by others",
        "probes/dangling",
        "thread/pipe.toml is not valid: it is not a regular file",
        "thread/log.toml is not valid",
        "thread/zero.toml can be written by others",
        "parameter contexts: `run` has a key of that name",
        "value `a b=c` has a character",
        "Bad Name.toml is not valid",
        "mechanisms/nowhere is of no known family",
    ] {
        assert!(words.contains(part), "{part:?} is missing in {said:?}");
    }
    assert!(!words.contains("lock.toml"), "{said:?}");
    let honest = said.out.lines().find(|line| line.contains("thread/honest")).unwrap();
    assert!(honest.contains("fake") && honest.contains("defaults"), "{honest}");
    let said = world.run("run thread/honest --rounds 6");
    assert_eq!(said.status, 0, "{said:?}");
}

#[test]
fn what_has_no_page_or_no_probe_is_said() {
    let world = World::new(FAKE);
    std::fs::remove_file(world.path("share/switchcost/mechanisms/thread/noise.toml")).unwrap();
    world.write("share/switchcost/mechanisms/thread/nobody.toml", &mechanism(""));
    let said = world.run("list thread/nobody");
    assert!(said.out.contains("the probe fake is here and does not describe thread/nobody"), "{said:?}");
    let said = world.run("list");
    assert!(said.out.contains("the probe fake describes thread/noise, which has no page"), "{said:?}");
    world.run("run thread/noise").refuses(2, &["no mechanism matches `thread/noise`", "`switchcost list`"]);
    let said = world.run("run thread/nobody");
    assert!(said.out.contains("the probe fake does not describe it"), "{said:?}");
    world.write("share/switchcost/mechanisms/thread/unbuilt.toml", &mechanism("").replace("[\"fake\"]", "[\"oci\"]"));
    let named = "id = \"named\"\ntitle = \"Named\"\nsource = \"named\"\ncommand = [\"./probe\"]\nstart_timeout_ms = 1000\n[install]\ndebian = \"gcc\"\n";
    world.write("libexec/switchcost/probes/named/probe.toml", named);
    world.write("share/switchcost/mechanisms/thread/named.toml", &mechanism("").replace("[\"fake\"]", "[\"named\"]"));
    for command in ["list", "run"] {
        let said = world.run(&format!("{command} thread/named"));
        assert!(said.words().contains("does not exist") && said.words().contains("`make build`"), "{said:?}");
        let said = world.run(&format!("{command} thread/unbuilt"));
        assert!(said.words().contains("no probe of source oci is installed; run `make build`"), "{said:?}");
    }
}

/// Text as other systems write it is read, or named with the way to write it, by whatever reads it.
#[test]
fn text_of_other_systems_is_read_or_named() {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 6 --batches 2").status, 0);
    let run = world.run("export").out;
    let wide = |text: &str| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let marked = |text: &str| format!("\u{feff}{text}").into_bytes();
    let put = |name: &str, bytes: &[u8]| {
        std::fs::create_dir_all(world.path(name).parent().unwrap()).unwrap();
        std::fs::write(world.path(name), bytes).unwrap();
        world.path(name).display().to_string()
    };
    for (name, bytes, word) in [
        ("wide.jsonl", wide(&run), "UTF-16"),
        ("powershell.jsonl", wide(&run.replace('\n', "\r\n")), "UTF-16"),
        ("marked.jsonl", marked(&run), "byte-order mark"),
        ("packed.jsonl", vec![0x1f, 0x8b, 8, 0, 1, 2, 3], "gunzip"),
    ] {
        let file = put(name, &bytes);
        for command in ["import", "export", "check --baseline", "check-probe --transcript"] {
            let said = world.run(&format!("{command} {file}"));
            // A transcript has CRLF or not, and a page of nothing is a folder's matter.
            // What `check` says has 80 characters: the file, and the cure where it fits.
            let word = if command.starts_with("check --") { name } else { word };
            assert!(said.status != 0 && (said.err.clone() + &said.out).contains(word), "{command} {name}: {said:?}");
        }
        put(&format!("nodes/{name}"), &bytes);
    }
    // Lines that end as on Windows are read.
    let file = put("dos.jsonl", &run.replace('\n', "\r\n").into_bytes());
    assert_eq!(world.run(&format!("export {file}")).out, run);
    put("nodes/other", &wide(&run));
    put("nodes/n9.jsonl.gz", &[0x1f, 0x8b, 8, 0]);
    let judged = world.run_words(&["fleet", "judge", world.path("nodes").to_str().unwrap(), "--format", "json"]).json();
    let problems: Vec<String> =
        judged["problems"].as_array().unwrap().iter().map(|p| format!("{} {}", p["file"], p["what"])).collect();
    let told = |name: &str, word: &str| problems.iter().any(|problem| problem.contains(name) && problem.contains(word));
    assert!(told("wide.jsonl", "UTF-16") && told("other", "UTF-16") && told("n9.jsonl.gz", "gunzip"), "{problems:?}");
    // Lists and pages are short, and read as they are.
    let list = "n1 h1\r\nn2 h2 # comment\r\n";
    let plan = |file: &str| world.run_words(&["fleet", "plan", "--launcher", "srun", "--nodes", file, "--into", "x"]);
    let expected = plan(&put("plain.txt", list.as_bytes())).out;
    assert!(expected.contains("\nn1\n"), "{expected}");
    assert_eq!(plan(&put("wide.txt", &wide(list))).out, expected);
    assert_eq!(plan(&put("marked.txt", &marked(list))).out, expected);
    plan(&put("latin.txt", b"n\xe91\n")).refuses(2, &["latin.txt", "UTF-8", "iconv"]);
    let page = std::fs::read_to_string(world.path("share/switchcost/mechanisms/thread/honest.toml")).unwrap();
    let names = || world.run("list thread/honest --format json").json()["mechanisms"].as_array().unwrap().len();
    for bytes in [wide(&page.replace('\n', "\r\n")), marked(&page)] {
        put("share/switchcost/mechanisms/thread/honest.toml", &bytes);
        assert_eq!(names(), 1);
    }
    put("share/switchcost/mechanisms/thread/honest.toml", &[0x1f, 0x8b, 8, 0]);
    let said = world.run("list");
    assert!(format!("{said:?}").contains("unpack it with gunzip"), "{said:?}");
}
