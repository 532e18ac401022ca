//! `audit` with the real binary, on programs whose switches are known.

use std::process::{Command, Stdio};
use switchcost_e2e::{World, in_time, mechanism, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A store with a row for every price.
fn priced() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --param ticks=500,1000,30000 --rounds 6 --batches 5");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

/// A child that ends with the test.
struct Child(std::process::Child);

impl Child {
    fn start(words: &[&str]) -> Self {
        Self(Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Waits until it has this name and state.
    fn reaches(&self, what: &str) {
        let stat = format!("/proc/{}/stat", self.0.id());
        until(what, || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(what)));
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_switch_of_a_command_is_counted() {
    let world = priced();
    let file = world.path("audit.json");
    let said = world.run_words(&[
        "audit",
        "--format",
        "json",
        "--output",
        file.to_str().unwrap(),
        "--",
        FAKE,
        "switch",
        "400",
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let own: Vec<u64> = said.out.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let (voluntary, involuntary) = (json["voluntary"].as_u64().unwrap(), json["involuntary"].as_u64().unwrap());
    // After it has read its own counters it joins one thread and ends: a handful of switches.
    assert!((own[0]..=own[0] + 8).contains(&voluntary), "{own:?} {json}");
    assert!((own[1]..=own[1] + 8).contains(&involuntary), "{own:?} {json}");
    assert!(own[0] >= 200, "two threads that wake each other 400 times block at least 200 times: {own:?}");
    let kinds = json["kinds"].as_array().unwrap();
    let total: f64 = kinds.iter().map(|kind| kind["switches"].as_f64().unwrap()).sum();
    assert!((total - (voluntary + involuntary) as f64).abs() < 1e-6, "every switch has a kind: {json}");
    let mut shares = Vec::new();
    for kind in kinds {
        let each = kind["cost_ns"].as_f64().unwrap() / kind["switches"].as_f64().unwrap();
        let expected = match kind["kind"].as_str().unwrap() {
            "same_cpu" => 1000.0,
            "preempted" => 500.0,
            _ => 30_000.0,
        };
        shares.push(each / expected);
    }
    // How many switches of which kind there are is the machine's affair; where their prices explain
    // more than the command used, all are cut alike.
    let whole = if json["prices_do_not_fit"] == true { shares[0] } else { 1.0 };
    assert!(whole < 1.0 + 1e-9 && shares.iter().all(|share| (share - whole).abs() < 1e-9), "{shares:?} {json}");
}

/// A shell that waits for a program has hardly a switch of its own.
#[test]
fn what_a_command_waits_for_is_counted_where_asked() {
    let world = priced();
    let script = format!("{FAKE} switch 400 >&2; exit 0");
    let audited = |children: &[&str]| {
        let file = world.path("audit.json");
        let options = ["audit", "--format", "json", "--output", file.to_str().unwrap()];
        let said = world.run_words(&[&options, children, &["--", "sh", "-c", &script]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        let own: Vec<u64> = said.err.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        assert!(own[0] >= 200, "{own:?}");
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let left_out = json["not_covered"].to_string().contains("--children counts them");
        (json["voluntary"].as_u64().unwrap(), own[0], left_out)
    };
    let (counted, by_itself, left_out) = audited(&["--children"]);
    assert!((by_itself..=by_itself + 20).contains(&counted) && !left_out, "{counted} {by_itself} {left_out}");
    let (counted, by_itself, left_out) = audited(&[]);
    assert!(counted <= 20 && left_out, "{counted} {by_itself} {left_out}");
}

#[test]
fn a_sleeper_does_not_matter() {
    let world = priced();
    let sleeper = Child::start(&["sleep", "1000"]);
    sleeper.reaches("(sleep) S");
    let said = world.run_words(&["audit", "--pid", &sleeper.pid(), "--for", "300ms", "--format", "json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let json = said.json();
    assert_eq!((&json["voluntary"], &json["involuntary"], &json["program"]), (&0.into(), &0.into(), &"sleep".into()));
    let text = world.run_words(&["audit", "--pid", &sleeper.pid(), "--for", "300ms"]);
    assert!(text.out.contains("No switch was seen") && text.out.contains("not known; run"), "{text:?}");
}

#[test]
fn an_end_in_the_middle_and_a_failing_command_are_told() {
    let world = priced();
    let said = in_time(|times| {
        let brief = Child::start(&["sleep", &(0.5 * times as f64).to_string()]);
        let said = world.run_words(&["audit", "--pid", &brief.pid(), "--for", "600s"]);
        (!said.err.contains("has ended and only waits")).then_some(said)
    });
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.out.contains("ended before the time was up"), "{said:?}");
    let said = world.run_words(&["audit", "--", "sh", "-c", "exit 7"]);
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.err.contains("ended with status 7") && said.out.is_empty(), "{said:?}");
}

/// A command that does not listen when its time is up is not waited for until it ends by itself.
/// As execvp(3) and shells do; and what no shell could read is refused.
#[test]
fn a_script_that_names_no_interpreter_is_run_by_sh_and_its_status_is_a_number() {
    let world = priced();
    let program = |name: &str, text: &[u8]| {
        let path = world.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let file = world.path("audit.json");
    for (command, status) in [([&*program("script", b"exit $1\n"), "3", ""], 3), (["sh", "-c", "kill -KILL $$"], 137)] {
        let words = ["audit", "--format", "json", "--output", file.to_str().unwrap(), "--"];
        let said = world.run_words(&[&words[..], &command].concat());
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!((said.status, &json["command_exit"]), (4, &status.into()), "{said:?}");
    }
    world.run_words(&["audit", "--", &program("picture", b"\x01\x02\0\0\0")]).refuses(2, &["format"]);
}

#[test]
fn a_stopped_command_is_ended() {
    let world = priced();
    let said = world.run_words(&["audit", "--for", "300ms", "--", "sh", "-c", "kill -STOP $$; sleep 1000"]);
    assert_eq!(said.status, 4, "{said:?}");
    assert!(said.err.contains("was ended by signal 15"), "{said:?}");
}

#[test]
fn an_answer_that_cannot_be_written_is_not_lost() {
    let world = priced();
    // It could be written when the program was started.
    let file = world.path("answer");
    let file = file.to_str().unwrap();
    let said = world.run_words(&["audit", "-o", file, "--", "sh", "-c", &format!("mkdir {file}; sleep 0.2")]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("it is a folder") && said.err.contains("of a CPU"), "{said:?}");
}

#[test]
fn prices_are_measured_first_when_none_are_stored_and_that_is_said() {
    let world = World::new(FAKE);
    let said = world.run_words(&["audit", "--", "true"]);
    assert_eq!(said.status, 0, "{said:?}");
    let first = said.err.lines().next().unwrap();
    assert!(first.contains("measuring first what a switch costs here, about "), "{said:?}");
    assert!(said.err.contains("cost per switch: measured just now"), "{said:?}");
    let again = world.run_words(&["audit", "--", "true"]);
    assert!(!again.err.contains("measuring"), "{again:?}");
    assert!(world.run("history").out.contains("audit"), "{said:?}");
}

/// The switches of `switch` cost microseconds; a price of 1 ms explains far more than the program
/// used.
#[test]
fn no_more_is_claimed_than_the_program_used() {
    let world = World::new(FAKE);
    let prices = std::fs::read_to_string(world.path("share/switchcost/audit.toml")).unwrap();
    let prices = ["1000", "500", "30000"]
        .iter()
        .fold(prices, |text, ticks| text.replace(&format!("\"{ticks}\""), "\"1000000\""));
    world.write("share/switchcost/audit.toml", &prices);
    let file = world.path("audit.out");
    let watch = |format: &str| {
        let words = ["audit", "--format", format, "--output", file.to_str().unwrap(), "--", FAKE, "switch", "400"];
        let said = world.run_words(&words);
        assert_eq!(said.status, 0, "{said:?}");
        std::fs::read_to_string(&file).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&watch("json")).unwrap();
    let used = json["program_cpu_ns"].as_f64().unwrap();
    assert_eq!((&json["prices_do_not_fit"], &json["cost_ns"]["low"]), (&true.into(), &0.0.into()), "{json}");
    assert!(json["cost_ns"]["high"].as_f64().unwrap() <= used, "{json}");
    let sum =
        |key: &str| json[key].as_array().unwrap().iter().map(|part| part["cost_ns"].as_f64().unwrap()).sum::<f64>();
    assert!(sum("kinds") <= used * 1.000_001 && sum("threads") <= used * 1.000_001, "{json}");
    let text = watch("table");
    let first = text.lines().next().unwrap();
    assert!(first.contains(" at most ") && text.contains("costs do not fit"), "{text}");
    assert!(!text.contains("less CPU time"), "{text}");
}

#[test]
fn the_answer_comes_first_and_prices_have_an_age() {
    let world = priced();
    let busy = Child::start(&[FAKE, "switch", "2000000000"]);
    let said = in_time(|times| {
        let said = world.run_words(&["audit", "--pid", &busy.pid(), "--for", &format!("{}ms", 400 * times)]);
        (!said.out.contains("No switch was seen")).then_some(said)
    });
    assert_eq!(said.status, 0, "{said:?}");
    let first = said.out.lines().next().unwrap();
    // Costs with their interval, or a bound: what the switches cost on this machine is not for this
    // test to know.
    assert!(
        first.starts_with("Switching costs ") && first.contains(" of a CPU") && first.contains("switches/s"),
        "{said:?}"
    );
    assert!(first.contains(" – ") || first.contains("at most"), "{said:?}");
    assert!(said.out.contains("cost per switch: measured ") && said.out.lines().count() <= 25, "{said:?}");
}

/// Points of fewer starts than an interval needs do not count, and what counts is bounded by what
/// the program used.
#[test]
fn indirect_cost_is_bounded_and_needs_enough_starts() {
    let parameter = |rest: &str| {
        format!(
            "[parameters.working_set]\nmin = 0\nmax = 1073741824\ndefault = \"0\"\nhelp = \"bytes\"\nexperiments = [\"switch\"]\n{rest}"
        )
    };
    let world = priced();
    let touch = mechanism(&parameter("")).replace("turns = true\nkernel_switches = [1.0, 1.0]", "turns = false");
    let touch = touch.replace("[parameters.ticks]", "control = true\n[parameters.ticks]");
    world.write("share/switchcost/mechanisms/thread/touch.toml", &touch);
    world
        .write("share/switchcost/mechanisms/thread/sized.toml", &mechanism(&parameter("control = \"thread/touch\"\n")));
    let file = world.path("audit.json");
    let watch = || -> serde_json::Value {
        let words = ["audit", "--format", "json", "--output", file.to_str().unwrap(), "--", FAKE, "switch", "400"];
        let said = world.run_words(&words);
        assert_eq!(said.status, 0, "{said:?}");
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()
    };
    assert_eq!(world.run("sweep working-set thread/sized --values 64K,1M --rounds 3 --batches 5").status, 0);
    let json = watch();
    assert_eq!(json["indirect_ns"], serde_json::Value::Null);
    assert!(json["not_covered"].to_string().contains("switchcost sweep working-set thread/honest"), "{json}");
    assert_eq!(world.run("sweep working-set thread/sized --values 64K,1M --rounds 6 --batches 5").status, 0);
    let json = watch();
    // 1 MiB: 4,096 ns each. The touches themselves, 16,384 ns, are not part of it.
    assert_eq!(json["indirect_ns"], serde_json::json!([0.0, 4096.0]), "{json}");
    let number = |path: &str| json.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    let most = number("/program_cpu_ns") - number("/cost_ns/low");
    let expected = ((number("/voluntary") + number("/involuntary")) * 4096.0).min(most) / number("/seconds") / 1e9;
    let share = number("/indirect_share_of_a_cpu/1");
    assert!((share / expected - 1.0).abs() < 1e-6, "{share}, not {expected}: {json}");
}

#[test]
fn bad_input_is_one_sentence() {
    let world = priced();
    world.run("audit").refuses(2, &["--pid"]);
    world.run("audit --pid 4194304").refuses(2, &["4194304", "no such process"]);
    world.run("audit --pid 0").refuses(2, &["--pid"]);
    world.run("audit --pid 1 --for 5").refuses(2, &["--for"]);
    world.run("audit --wakeups").refuses(2, &["--pid"]);
    world.run("audit --wakeups --pid 4194304").refuses(2, &["4194304", "no such process"]);
    world.run("audit -- /nowhere/at/all").refuses(2, &["/nowhere/at/all", "cannot be started"]);
    world.write("plain", "no program");
    let plain = world.path("plain").to_str().unwrap().to_owned();
    world.run_words(&["audit", "--", &plain]).refuses(2, &["cannot be started", "execute permission"]);
    world.run("audit -- /dev/null").refuses(2, &["cannot be started", "not a file"]);
    let unpriced = World::new(FAKE);
    unpriced.run("audit -- nowhere-at-all").refuses(2, &["nowhere-at-all", "cannot be started", "PATH"]);
    assert!(!unpriced.store().exists(), "prices were measured for a program that is not there");
    let kernel = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
    if kernel {
        world.run("audit --pid 2 --for 1s").refuses(2, &["kthreadd", "thread of the kernel"]);
    }
    let ended = Child::start(&["true"]);
    ended.reaches("(true) Z");
    world.run_words(&["audit", "--pid", &ended.pid(), "--for", "1s"]).refuses(2, &["has ended"]);
    // Neither a stored measurement nor a probe.
    let bare = World::new(FAKE);
    std::fs::remove_dir_all(bare.path("libexec/switchcost/probes/fake")).unwrap();
    bare.run("audit -- true").refuses(3, &["no probe"]);
    // Probes, but none that can price a switch.
    let blind = World::new(FAKE);
    let text = std::fs::read_to_string(blind.path("share/switchcost/audit.toml")).unwrap();
    blind.write("share/switchcost/audit.toml", &text.replace("thread/honest", "thread/unsupported"));
    blind.run("audit -- true").refuses(3, &["no measurement", "plug it in"]);
    blind.write("share/switchcost/audit.toml", &text.replace("same_cpu", "somewhere"));
    blind.run("audit -- true").refuses(2, &["audit.toml", "somewhere"]);
    let first = |line: &str| text.replacen("why = ", &format!("{line}\nwhy = "), 1);
    blind.write("share/switchcost/audit.toml", &first("also = [\"thread/nowhere\"]"));
    blind.run("audit -- true").refuses(2, &["audit.toml", "thread/nowhere"]);
    let between = "between = { parameter = \"pages\", values = [\"1\"], alone = \"thread/honest\" }";
    blind.write("share/switchcost/audit.toml", &first(between));
    blind.run("audit -- true").refuses(2, &["audit.toml", "pages"]);
}
