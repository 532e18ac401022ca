//! A probe that misbehaves on request. The name after the slash says how; times are given, not
//! measured.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write, pipe};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Behaviours, as `describe` lists them.
const BEHAVIOURS: &[&str] = include!("behaviours.rs");

/// Rings beyond this are beyond a limit, as on a real machine.
const MOST_CONTEXTS: u64 = 100_000;

/// Working sets beyond this cost more after a switch than without one: the indirect cost.
const CACHE: u64 = 65_536;

/// Keys of the protocol; any other is a parameter.
const KEYS: &[&str] = &[
    "report_fd",
    "protocol",
    "mechanism",
    "experiment",
    "contexts",
    "timing",
    "cpus",
    "batch_units",
    "batch_ns",
    "batches",
    "warmup_batches",
    "verify_units",
    "seed",
];

/// What would clear a screen, name a window, turn the direction of writing and forge a row, escaped
/// as the protocol asks.
const HOSTILE: &str = r"said \u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u0000\u2028end\nFORGED verified";

/// Before the verb, `named=ID EXPERIMENTS PARAMETERS`, as JSON without brackets: a mechanism of
/// that name, which does as `honest`.
const NAMED: &str = "named=";

/// Before the verb, `offers=EXPERIMENT` or `offers=EXPERIMENT:PART`: an experiment of
/// `thread/offered`, as a test invents it.
const OFFERS: &str = "offers=";

/// An experiment that is answered with a histogram, or with counts of the part that is named.
struct Offer {
    experiment: String,
    part: Option<String>,
}

impl Offer {
    fn read(word: String) -> Self {
        let text = &word[OFFERS.len()..];
        let (experiment, part) =
            text.split_once(':').map_or((text, None), |(name, part)| (name, Some(part.to_owned())));
        Self { experiment: experiment.to_owned(), part }
    }

    /// Of 100 units 90 have `base`, 9 twice and 1 ten times as much, or in each batch all of them
    /// `base`.
    fn measurements(&self, phase: &str, seq: u64, units: u64, batches: u64, base: u64, gap: u64) -> String {
        if let Some(part) = &self.part {
            let counts = vec![(base * units).to_string(); batches as usize];
            return format!(
                r#"{{"t":"samples","seq":{seq},"phase":"{phase}","units":{units},"quantity":"{part}","ticks":[{}]}}"#,
                counts.join(",")
            );
        }
        let (all, most) = (units * batches, 10 * base);
        let (tenth, hundredth) = (all / 10, all / 100);
        let buckets = [(base, all - tenth), (2 * base, tenth - hundredth), (most, hundredth)];
        let sum: u64 = buckets.iter().map(|(value, count)| value * count).sum();
        let span = if gap == 0 { 0 } else { sum + all * gap };
        let buckets: Vec<String> = buckets.iter().map(|(value, count)| format!("[{value},{count}]")).collect();
        format!(
            r#"{{"t":"histogram","seq":{seq},"phase":"{phase}","units":{all},"bits":32,"buckets":[{}],"sum":{sum},"min":{base},"max":{most},"pair_sum":0,"pair_count":0,"span_counter":{span},"span_clock":{span}}}"#,
            buckets.join(",")
        )
    }
}

type Plan = BTreeMap<String, String>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let offers: Vec<Offer> =
        std::iter::from_fn(|| arguments.next_if(|word| word.starts_with(OFFERS)).map(Offer::read)).collect();
    let named: Vec<String> = std::iter::from_fn(|| arguments.next_if(|word| word.starts_with(NAMED))).collect();
    let verb = arguments.next().unwrap_or_default();
    if verb == "switch" {
        return hand_over(arguments.next().and_then(|times| times.parse().ok()).unwrap_or(0));
    }
    let plan: Plan = arguments.filter_map(|a| a.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))).collect();
    let fd = plan.get("report_fd").map_or("1", String::as_str);
    // /dev/fd reopens the pipe for writing; no unsafe code is needed to adopt the descriptor.
    let Ok(mut out) = File::options().write(true).open(format!("/dev/fd/{fd}")) else { return ExitCode::from(1) };
    let behaviour = plan.get("mechanism").and_then(|id| id.split_once('/')).map_or("", |(_, name)| name).to_owned();
    if verb == "describe" {
        describe(&offers, &named, &mut out);
        return ExitCode::SUCCESS;
    }
    let offer = plan.get("experiment").and_then(|asked| offers.iter().find(|offer| offer.experiment == *asked));
    run(&behaviour, &plan, offer, &mut out)
}

/// `switch TIMES`: no probe at all, but a program with a known number of switches, for `audit`. Two
/// threads wake each other so often; then it prints the voluntary and the involuntary switches that
/// the kernel counted of both.
fn hand_over(times: u64) -> ExitCode {
    let (to, from_main) = std::sync::mpsc::sync_channel::<()>(0);
    let (back, from_partner) = std::sync::mpsc::sync_channel::<()>(0);
    let partner = std::thread::spawn(move || {
        for () in from_main {
            if back.send(()).is_err() {
                break;
            }
        }
    });
    for _ in 0..times / 2 {
        let _ = to.send(());
        let _ = from_partner.recv();
    }
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let both = tasks.map(|task| switches_of(&task.path())).fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    println!("{} {}", both[0], both[1]);
    drop(to);
    let _ = partner.join();
    ExitCode::SUCCESS
}

/// Voluntary and involuntary switches of the task with this folder in /proc; 0 where that is not
/// told.
fn switches_of(task: &std::path::Path) -> [u64; 2] {
    let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
    let value = |name| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0);
    ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].map(value)
}

fn say(out: &mut File, line: &str) {
    // A host that has hung up is the host's affair.
    let _ = writeln!(out, "{line}");
}

fn hello(out: &mut File) {
    let pid = std::process::id();
    say(
        out,
        &format!(
            r#"{{"t":"hello","protocol":1,"probe":"fake","version":"1","runtime":"none","compiler":null,"flags":null,"pid":{pid},"clock":{{"name":"simulated","ticks_per_second":1000000000,"read_cost_ticks":0}}}}"#
        ),
    );
}

fn describe(offers: &[Offer], named: &[String], out: &mut File) {
    hello(out);
    let described = |id: &str, experiments: &str, parameters: &str| {
        format!(
            r#"{{"t":"mechanism","id":"{id}","experiments":[{experiments}],"timings":["batch"],"parameters":[{parameters}],"available":true}}"#
        )
    };
    let mechanism = |name: &str, experiments: &str| {
        described(
            &format!("thread/{name}"),
            experiments,
            r#""ticks","working_set","payload","pause","sched","gap","slept""#,
        )
    };
    for words in named {
        let mut words = words[NAMED.len()..].split(' ');
        let mut word = || words.next().unwrap_or_default();
        say(out, &described(word(), word(), word()));
    }
    if !offers.is_empty() {
        let experiments: Vec<String> = offers.iter().map(|offer| format!(r#""{}""#, offer.experiment)).collect();
        say(out, &mechanism("offered", &experiments.join(",")));
    }
    for behaviour in BEHAVIOURS {
        let experiments = if *behaviour == "sized" { r#""switch","message""# } else { r#""switch""# };
        say(out, &mechanism(behaviour, experiments));
    }
    say(
        out,
        r#"{"t":"mechanism","id":"thread/absent","experiments":["switch"],"timings":["batch"],"parameters":[],"available":false,"code":"missing_library","reason":"Built without libabsent.","install":"libabsent-dev"}"#,
    );
    say(out, r#"{"t":"end","status":"ok","samples":0}"#);
}

fn number(plan: &Plan, key: &str) -> u64 {
    plan.get(key).and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn run(behaviour: &str, plan: &Plan, offer: Option<&Offer>, out: &mut File) -> ExitCode {
    match behaviour {
        "hang" => forever(),
        "hang-family" => {
            family("trap '' TERM HUP INT; while :; do sleep 1000; done");
            forever()
        }
        "escape" => {
            // A grandchild leaves the process group and keeps the report descriptor.
            family("exec setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done'");
            forever()
        }
        "crash" => {
            hello(out);
            eprintln!("about to fall over");
            std::process::abort();
        }
        "garbage" => say(out, "OpenJDK 64-Bit Server VM warning: this is not JSON"),
        "flood" => {
            hello(out);
            loop {
                say(out, &format!(r#"{{"t":"note","text":"{}"}}"#, "x".repeat(60_000)));
            }
        }
        "shouts" => println!(r#"{{"t":"hello","protocol":1}}"#),
        "empty-detail" | "odd-code" => {
            hello(out);
            let (code, detail) =
                if behaviour == "odd-code" { ("because", "it is so") } else { ("missing_device", " ") };
            say(
                out,
                &format!(r#"{{"t":"end","status":"unsupported","code":"{code}","detail":"{detail}","samples":0}}"#),
            );
        }
        "hostile-end" => {
            hello(out);
            say(
                out,
                &format!(
                    r#"{{"t":"end","status":"failed","code":"self_check_failed","detail":"{HOSTILE}","samples":0}}"#
                ),
            );
            return ExitCode::from(1);
        }
        "mute" => return ExitCode::SUCCESS,
        "unsupported" | "refused" | "failed" => {
            hello(out);
            let detail = "There is no such device here; plug it in.";
            say(
                out,
                &format!(
                    r#"{{"t":"end","status":"{behaviour}","code":"missing_device","detail":"{detail}","samples":0}}"#
                ),
            );
            return ExitCode::from(u8::from(behaviour != "unsupported"));
        }
        "sized" if number(plan, "contexts") > MOST_CONTEXTS => {
            hello(out);
            let detail = format!("Only {MOST_CONTEXTS} contexts fit here.");
            say(
                out,
                &format!(
                    r#"{{"t":"end","status":"unsupported","code":"limit_reached","detail":"{detail}","samples":0}}"#
                ),
            );
        }
        _ => measure(behaviour, plan, offer, out),
    }
    if behaviour == "linger" {
        forever();
    }
    if behaviour == "exit-one" { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(3600));
    }
}

fn family(script: &str) {
    let _ = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn();
}

/// ns per switch of batch `i`.
fn cost(behaviour: &str, plan: &Plan, i: u64) -> u64 {
    let base = plan.get("ticks").and_then(|ticks| ticks.parse().ok()).unwrap_or(1000);
    match behaviour {
        "impossible" => 0,
        "warm-up" if i < 8 => base * 3,
        // Differs from start to start by far more than any precision that a test asks for.
        // A cost for each thing that a sweep may vary, so that every point is known exactly.
        "sized" => {
            let working_set = number(plan, "working_set");
            let indirect = if working_set > CACHE { working_set / 256 } else { 0 };
            base + number(plan, "contexts") + working_set / 64 + indirect + number(plan, "payload")
        }
        "touch" => number(plan, "working_set") / 64,
        "offered" => base + number(plan, "gap"),
        "spread" => base + number(plan, "seed") % 1000,
        _ => base,
    }
}

/// Units of a batch, where the plan leaves them to the probe. The kernel makes a switch for each,
/// so that few of them keep the tests short.
const UNITS: u64 = 40;

/// From the plan to the samples at least, once the host has read it: it looks meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// How long the host may take to read the plan.
const READING: Duration = Duration::from_secs(2);

/// Most switches that are made for a claim.
const MOST_SWITCHES: u64 = 100_000;

/// The host counts the kernel's switches itself: as many as will be claimed must have happened, of
/// the kind that will be claimed. Pipes, because who reads an empty one blocks; a channel of the
/// library spins first where there is a second CPU.
fn switch_really(behaviour: &str, units: u64) {
    if matches!(behaviour, "blind" | "liar") {
        return;
    }
    let count = (units + 30).min(MOST_SWITCHES);
    let own = || switches_of("/proc/thread-self".as_ref())[0];
    let (Ok((mut from_main, mut to)), Ok((mut from_partner, mut back))) = (pipe(), pipe()) else { return };
    let yields = if behaviour == "preempts" { units } else { 0 };
    let partner = std::thread::spawn(move || {
        let mut byte = [0];
        while from_main.read_exact(&mut byte).is_ok() && back.write_all(&byte).is_ok() {}
        (0..yields).for_each(|_| std::thread::yield_now());
        own()
    });
    let mut byte = [0];
    for _ in 0..count {
        if to.write_all(&byte).is_err() || from_partner.read_exact(&mut byte).is_err() {
            break;
        }
    }
    drop(to);
    (0..yields).for_each(|_| std::thread::yield_now());
    // On a busy machine both threads may be pushed aside in one round, in which nobody blocks.
    (own() + partner.join().unwrap_or(0)..count).for_each(|_| sleep(Duration::from_micros(50)));
}

/// Between its units an offered experiment sleeps for `gap` µs each, but only for `slept` percent
/// of that; by `slept=0` it spins on two CPUs.
fn wait_between(units: u64, plan: &Plan, claimed: Duration) {
    let gaps = Duration::from_micros(number(plan, "gap") * units);
    let spins = number(plan, "slept") == 0;
    let until = Instant::now() + gaps + 2 * claimed;
    let spin = move || while spins && Instant::now() < until {};
    if gaps.is_zero() {
        return;
    }
    let other = std::thread::spawn(spin);
    spin();
    let _ = other.join();
    if !spins {
        sleep(gaps * number(plan, "slept") as u32 / 100 + 2 * claimed);
    }
}

fn measure(behaviour: &str, plan: &Plan, offer: Option<&Offer>, out: &mut File) {
    hello(out);
    if behaviour == "noise" {
        println!("a runtime's banner on standard output");
        eprintln!("a warning on standard error");
    }
    if behaviour == "spin" {
        let end = Instant::now() + Duration::from_millis(50);
        while Instant::now() < end {}
    }
    sleep(Duration::from_millis(number(plan, "pause")));
    let units = Some(number(plan, "batch_units")).filter(|&asked| asked > 0).unwrap_or(UNITS);
    let all = number(plan, "warmup_batches") + number(plan, "batches");
    switch_really(behaviour, units * all);
    let claimed = Duration::from_nanos((0..all).map(|i| cost(behaviour, plan, i) * units).sum());
    let contexts = if behaviour == "other-plan" { 7 } else { number(plan, "contexts") };
    let (warmup, batches) = (number(plan, "warmup_batches"), number(plan, "batches"));
    let text = |key: &str| plan.get(key).cloned().unwrap_or_default();
    let own = plan.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let parameters: Vec<String> = own.map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
    say(
        out,
        &format!(
            r#"{{"t":"plan","mechanism":"{}","experiment":"{}","contexts":{contexts},"timing":"batch","cpus":[{}],"batch_units":{units},"batches":{batches},"warmup_batches":{warmup},"parameters":{{{}}}}}"#,
            text("mechanism"),
            text("experiment"),
            text("cpus"),
            parameters.join(",")
        ),
    );
    if behaviour == "cut" {
        let _ = write!(out, r#"{{"t":"samples","seq":0,"#);
        return;
    }
    if behaviour == "hostile" {
        say(out, &format!(r#"{{"t":"note","text":"{HOSTILE}"}}"#));
    }
    // The host knows how long this has lived: what is claimed must pass. It also looks meanwhile:
    // beside six tests and a browser it came later than 20 ms to half of the starts of a row.
    if offer.is_none() {
        let until = Instant::now() + READING;
        while Instant::now() < until && rustix::io::ioctl_fionread(&*out).is_ok_and(|unread| unread > 0) {
            sleep(Duration::from_millis(1));
        }
        sleep(claimed.max(LOOK));
    }
    wait_between(units * all, plan, claimed);
    let batch = |phase: &str, seq: u64, from: u64, count: u64| {
        if let Some(offer) = offer {
            return offer.measurements(
                phase,
                seq,
                units,
                count,
                cost(behaviour, plan, from),
                1000 * number(plan, "gap"),
            );
        }
        let ticks: Vec<String> = (from..from + count).map(|i| (cost(behaviour, plan, i) * units).to_string()).collect();
        format!(r#"{{"t":"samples","seq":{seq},"phase":"{phase}","units":{units},"ticks":[{}]}}"#, ticks.join(","))
    };
    say(out, &batch("warmup", 0, 0, warmup));
    say(out, &batch("measure", 1, 0, batches));
    if behaviour == "short" {
        return;
    }
    say(out, &evidence(behaviour, plan, units * (warmup + batches), contexts));
    let each = if offer.is_some_and(|offer| offer.part.is_none()) { units } else { 1 };
    say(out, &format!(r#"{{"t":"end","status":"ok","samples":{}}}"#, (warmup + batches) * each));
}

fn evidence(behaviour: &str, plan: &Plan, units: u64, contexts: u64) -> String {
    let kernel = match behaviour {
        "blind" => "null".to_owned(),
        "liar" => r#"{"voluntary":1,"involuntary":1,"tasks":2,"source":"script"}"#.to_owned(),
        "preempts" => format!(
            r#"{{"voluntary":{},"involuntary":{},"tasks":2,"source":"script"}}"#,
            units * 3 / 5,
            units - units * 3 / 5
        ),
        _ => format!(r#"{{"voluntary":{units},"involuntary":0,"tasks":2,"source":"script"}}"#),
    };
    // A message makes two switches per unit, there and back.
    let hops = if plan.get("experiment").is_some_and(|experiment| experiment == "message") { 2 * units } else { units };
    let turns = match behaviour {
        "no-turns" => "null".to_owned(),
        "few-turns" => r#"{"total":3,"min":1,"max":2,"contexts":2}"#.to_owned(),
        _ => format!(
            r#"{{"total":{hops},"min":{},"max":{},"contexts":{contexts}}}"#,
            hops / contexts.max(1),
            hops.div_ceil(contexts.max(1))
        ),
    };
    let placed = plan.get("cpus").map_or("", String::as_str);
    let same_cpu = if placed.contains(',') { 0 } else { units };
    let cpus = if behaviour == "wrong-cpu" { "999".to_owned() } else { plan.get("cpus").cloned().unwrap_or_default() };
    format!(
        r#"{{"t":"evidence","units":{units},"turns":{turns},"token":{hops},"kernel":{kernel},"address_spaces":1,"cpus":[{cpus}],"hops":{{"count":{units},"in_order":{units},"same_cpu":{same_cpu},"timed":true}},"why":{{"kernel":"counters are blind here"}}}}"#
    )
}
