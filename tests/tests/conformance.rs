//! PROTOCOL.md, asked of every staged probe and of some that break it: `check-probe`.

use super::runtimes::quickest_of_kits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use switchcost_e2e::{Real, Said, World, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Of each staged probe one mechanism per family that runs here; a probe that has none is named.
fn staged(real: &Real) -> BTreeMap<String, Vec<String>> {
    let mut chosen: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut silent: BTreeMap<String, String> = BTreeMap::new();
    for mechanism in real.run("list --format json").json()["mechanisms"].as_array().unwrap() {
        let id = mechanism["id"].as_str().unwrap();
        for probe in mechanism["probes"].as_array().unwrap() {
            let name = probe["id"].as_str().unwrap().to_owned();
            if probe["available"] == true {
                let family = id.split('/').next().unwrap().to_owned();
                chosen.entry(name).or_default().entry(family).or_insert_with(|| id.to_owned());
            } else {
                silent.insert(name, probe["reason"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    for (name, reason) in silent.iter().filter(|(name, _)| !chosen.contains_key(*name)) {
        eprintln!("{name} is not tested here: {reason}");
    }
    chosen.into_iter().map(|(probe, families)| (probe, families.into_values().collect())).collect()
}

/// A probe, and the mechanisms that it is asked for.
type Asked = (String, Vec<String>);

/// Starts two probes at a time.
fn conform(real: &Real, asked: Vec<Asked>) {
    let probes = PathBuf::from(FAKE).ancestors().nth(2).unwrap().join("libexec/switchcost/probes");
    let queue = Mutex::new(asked);
    let wrong = Mutex::new(String::new());
    let work = || {
        while let Some((probe, mechanisms)) = { queue.lock().unwrap().pop() } {
            let only =
                if mechanisms.is_empty() { String::new() } else { format!("--mechanism {}", mechanisms.join(",")) };
            let said = real.run(&format!("check-probe {} {only}", probes.join(&probe).display()));
            // A runtime may be here and refuse to work; what can be asked of its probe then is
            // asked.
            let nothing = said.status == 3 && said.out.starts_with("nothing could be carried out here");
            if !nothing && (said.status != 0 || !said.out.starts_with("conforms: ")) {
                wrong
                    .lock()
                    .unwrap()
                    .push_str(&format!("\n== {probe}: status {}\n{}{}", said.status, said.out, said.err));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong}");
}

fn no_probes() -> Option<Real> {
    let real = Real::new(FAKE);
    if real.is_none() {
        eprintln!("no probes are staged (run `make build`): none is checked here");
    }
    real
}

/// The kits speak for all of their mechanisms: what they read and say is one code. Suite
/// `conformance` asks all families of all builds.
#[test]
fn a_mechanism_of_each_kit_conforms() {
    let Some(real) = no_probes() else { return };
    let listed = real.run("list --format json").json();
    let first = |(kit, id): (String, String)| {
        let mechanism = listed["mechanisms"].as_array().unwrap().iter().find(|mechanism| mechanism["id"] == *id)?;
        // Several kits may carry it out. The native one has many builds.
        let of_kit = |probe: &&serde_json::Value| kit == "native" || probe["id"] == *kit;
        let mut probes = mechanism["probes"].as_array().unwrap().iter().filter(of_kit);
        let probe = probes.find(|probe| probe["available"] == true);
        if probe.is_none() {
            switchcost_e2e::untested(&format!("{id} cannot run here: {}", mechanism["probes"]));
        }
        Some((probe?["id"].as_str()?.to_owned(), vec![id]))
    };
    let kits = quickest_of_kits().into_iter().chain([("native".to_owned(), "thread/pipe".to_owned())]);
    let asked: Vec<Asked> = kits.filter_map(first).collect();
    assert!(!asked.is_empty(), "no staged probe has a mechanism that runs here");
    conform(&real, asked);
}

#[test]
#[ignore = "suite conformance"]
fn every_staged_probe_conforms() {
    let Some(real) = no_probes() else { return };
    let staged = staged(&real);
    assert!(!staged.is_empty(), "no staged probe has a mechanism that runs here");
    conform(&real, staged.into_iter().collect());
}

/// A probe out of a script that gets the host's words as `$1`, `$2`, ….
fn scripted(world: &World, script: &str) -> Said {
    world.write(
        "mine/probe.toml",
        "id = \"mine\"\ntitle = \"Mine\"\nsource = \"mine\"\npriority = 1\ncommand = [\"sh\", \"probe.sh\"]\nstart_timeout_ms = 5000\n",
    );
    world.write("mine/probe.sh", script);
    world.run(&format!("check-probe {}", world.path("mine").display()))
}

/// Says what it pleases, whatever it is asked.
const CARELESS: &str = r#"
fd=1
for word; do case $word in report_fd=*) fd=${word#*=} ;; contexts=*) n=${word#*=} ;; esac; done
exec 4>>/dev/fd/$fd
echo '{"t":"hello","protocol":1,"probe":"mine","version":"1","runtime":"sh","pid":1,"clock":{"name":"none","ticks_per_second":1000000000,"read_cost_ticks":0}}' >&4
if [ "$1" = describe ]; then
    echo '{"t":"mechanism","id":"thread/mine","experiments":["switch"],"timings":["batch"],"parameters":[],"available":true}' >&4
    echo '{"t":"end","status":"ok","samples":0}' >&4
    exit
fi
echo "{\"t\":\"plan\",\"mechanism\":\"thread/mine\",\"experiment\":\"switch\",\"contexts\":${n:-2},\"timing\":\"batch\",\"cpus\":[],\"batch_units\":5,\"batches\":3,\"warmup_batches\":0}" >&4
echo '{"t":"note","text":"\u001b[31mhalf way"}' >&4
echo '{"t":"samples","seq":0,"phase":"measure","units":5,"ticks":[100000000000,2,3]}' >&4
echo '{"t":"evidence","units":15,"turn":{"total":15,"min":7,"max":8,"contexts":2}}' >&4
echo '{"t":"end","status":"ok","samples":3}' >&4
printf 'done \033[31m\n'
# The first start leaves a process behind, for which the host waits a while.
[ -e left ] || { : >left; sleep 3 & }
exit 3
"#;

#[test]
fn a_careless_probe_is_told_what_it_breaks() {
    let said = scripted(&World::new(FAKE), CARELESS);
    assert_eq!(said.status, 6, "{said:?}");
    assert!(said.out.starts_with("breaks "), "{}", said.out);
    for (section, words) in [
        (1, "An unknown key, a repeated key"),
        (1, "batches of phase `warmup`"),
        (1, "k is rounded up to whole laps"),
        (1, "prints nothing there"),
        (1, "keeps them in that group"),
        (2, "It must equal the arguments of `run`."),
        (2, "the probe writes nothing"),
        (2, "is null although it could be expected"),
        (2, "Exit status: 0 for `ok`"),
    ] {
        let found =
            said.out.lines().any(|line| line.starts_with(&format!("section {section}: ")) && line.contains(words));
        assert!(found, "section {section}, {words:?} is not among\n{}", said.out);
    }
    for part in [
        "`turns`: the contexts' turns cannot be seen here",
        "nobody reads the field evidence.turn (did you mean `turns`?)",
        "samples came ",
        "processes that outlived it and were killed: 1",
        "thread/mine is described and has no page",
        "arguments: run report_fd=",
        "line 2: {\"t\":\"plan\"",
        "log: done \\u{1b}[31m",
        "nobody/nothing",
    ] {
        assert!(said.out.contains(part), "{part:?} is not in\n{}", said.out);
    }
    assert!(!said.out.contains('\u{1b}'), "{}", said.out);
}

#[test]
fn each_mistake_is_one_rule() {
    let world = world_of_awk();
    let conforming = conforming_script();
    let said = scripted(&world, &conforming);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.starts_with("conforms: "), "{}", said.out);
    for (from, to, words) in [
        ("*\" $key \"*) stop", "*\" never \"*) stop", "a repeated key"),
        ("*) stop refused bad_value \"$key is missing\"", "*) batches=3", "a missing one is"),
        ("units=$batch_units good=0", "units=$batch_units good=0 batches=9", "It must equal the arguments of `run`."),
        ("[!=]*=*) ;; *) stop refused unknown_key", "[!=]*=*) ;; *) stop refused bad_value", "a repeated key"),
        (
            "*[!A-Za-z0-9._,/+-]*) stop refused bad_value",
            "*[!A-Za-z0-9._,/+-]*) stop refused typing_error",
            "One JSON object per line",
        ),
        ("    [ \"$1\" = unsupported ]\n    exit\n", "    exit 0\n", "Exit status: 0 for"),
        ("samples='", "echo done; samples='", "prints nothing there"),
        ("\\\"cpus\\\":[$(cut -d' ' -f39 /proc/$$/stat)]", "\\\"cpu\\\":[0]", "although it could be expected"),
        ("fd=${word#*=} ;; esac", "fd=3 ;; esac", "descriptor for the messages"),
    ] {
        assert!(conforming.contains(from), "{from:?} is not in the recipe");
        let said = scripted(&world, &conforming.replacen(from, to, 1));
        assert_eq!(said.status, 6, "{to}: {said:?}");
        let sections: Vec<&str> = said.out.lines().filter(|line| line.starts_with("section ")).collect();
        assert!(sections.iter().any(|line| line.contains(words)), "{to}: {sections:?}");
    }
}

/// The recipe of contrib/recipes.md.
fn conforming_script() -> String {
    block("```sh probes/awk/probe.sh\n")
}

/// A world with that recipe's page.
fn world_of_awk() -> World {
    let world = World::new(FAKE);
    let page = block("```toml mechanisms/control/awk-loop.toml\n").replace("floor = [\"control/empty-loop\"]\n", "");
    world.write("share/switchcost/mechanisms/control/awk-loop.toml", &page);
    world
}

/// A block of contrib/recipes.md that begins so.
fn block(begin: &str) -> String {
    let page = std::fs::read_to_string(repository().join("contrib/recipes.md")).unwrap();
    page.split(begin).nth(1).unwrap().split("\n```").next().unwrap().to_owned() + "\n"
}

/// Each further start would break the same rule, and may take as long as its deadline.
#[test]
fn a_probe_that_answers_nonsense_is_not_asked_everything() {
    let conforming = conforming_script();
    let opened = "exec 4>>\"/dev/fd/$fd\"\n";
    assert!(conforming.contains(opened));
    let nonsense = format!("{opened}[ \"$command\" = describe ] || {{ say nonsense; exit 0; }}\n");
    let said = scripted(&world_of_awk(), &conforming.replacen(opened, &nonsense, 1));
    assert_eq!(said.status, 6, "{said:?}");
    assert!(said.out.contains("5 starts in a row came to no end"), "{}", said.out);
    let starts: usize = said.out.split(" starts").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(starts <= 15, "{}", said.out); // Of 36.
}

#[test]
fn a_probe_that_lingers_is_told_as_that() {
    let lingering = conforming_script() + "sleep 30\n";
    let said = scripted(&world_of_awk(), &lingering);
    assert_eq!(said.status, 6, "{said:?}");
    assert!(
        said.out.contains("After `end` the process ends within 5 s") && said.out.contains("was still there"),
        "{}",
        said.out
    );
}

#[test]
fn what_cannot_be_checked_is_one_sentence() {
    let world = World::new(FAKE);
    let folder = world.path("libexec/switchcost/probes/fake").display().to_string();
    world
        .run(&format!("check-probe {folder} --mechanism thread/honset"))
        .refuses(2, &["thread/honset", "thread/honest"]);
    world.run("check-probe no-such-folder").refuses(2, &["no-such-folder"]);
    world.run(&format!("check-probe {}", world.path("share").display())).refuses(2, &["probe.toml"]);
    world.write(
        "gone/probe.toml",
        "id = \"gone\"\ntitle = \"G\"\nsource = \"gone\"\npriority = 1\ncommand = [\"./probe\"]\nstart_timeout_ms = 5000\n",
    );
    world
        .run(&format!("check-probe {}", world.path("gone").display()))
        .refuses(3, &["cannot be started", "does not exist"]);
}

#[test]
fn transcripts_are_read_as_in_a_run() {
    let world = World::new(FAKE);
    let reasons = std::fs::read_to_string(repository().join("protocol/bad/reasons.toml")).unwrap();
    let mut seen = BTreeSet::new();
    for folder in ["good", "bad"] {
        for entry in std::fs::read_dir(repository().join("protocol").join(folder)).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let said = world.run(&format!("check-probe --transcript {}", path.display()));
            let expected = if folder == "good" { 0 } else { 6 };
            assert_eq!((said.status, said.out.lines().count()), (expected, 1), "{}: {said:?}", path.display());
            seen.insert(said.out.starts_with("conforms"));
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(folder == "good" || reasons.contains(&name), "{name}");
        }
    }
    assert_eq!(seen.len(), 2);
    let fraction = repository().join("protocol/bad/fraction.jsonl").display().to_string();
    assert!(world.run(&format!("check-probe --transcript {fraction}")).out.contains("line "), "the line is not named");
    world.run("check-probe --transcript no-such-file").refuses(2, &["no-such-file"]);
    let good = repository().join("protocol/good/thread-pipe.jsonl").display().to_string();
    let judged = world.run(&format!("check-probe --transcript {good} --mechanism thread/honest"));
    assert!(judged.out.contains("broken: the probe carried out another plan: mechanism is thread/pipe"), "{judged:?}");
    world.run(&format!("check-probe --transcript {good} --mechanism thread/none")).refuses(2, &["thread/none"]);
}
