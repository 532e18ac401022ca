//! Every lie, told by a real probe that runs. Times of the machine decide nothing here; that a
//! probe is slow is not a lie.

use super::list::{List, string};
use super::recorded;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use switchcost_e2e::{repository, shows_nothing};
use tempfile::TempDir;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");
const LIAR: &str = env!("CARGO_BIN_EXE_switchcost-liar");

/// The probe that has the control which bounds others from below.
const BOUNDS: &str = "gcc";

/// So many must be told even where runtimes are missing and others use the CPU.
const LEAST_TOLD: usize = 100;

/// How the reason of a start begins that was honestly told and did another thing than its row
/// names.
const OTHER_WAY: &str = "other than the row names";

/// Enough for all that is counted.
const SHORT: &str = "--batches 10 --batch-time 1ms";

/// Long enough for the host's bounds on time to bite.
const LONG: &str = "--batches 60 --batch-time 2ms";
const LONG_NS: f64 = 120e6;

/// Of the time between plan and samples a probe on its own CPU uses all; on a busy machine less, or
/// the host is late to see the plan and the samples come at once. Then a lie about times may be the
/// truth.
const LEAST_SHARE: f64 = 0.85;

/// Times that a start is recorded at most.
const RECORD_ATTEMPTS: usize = 20;

/// Times that a base is measured, or a lie told, at most.
const ATTEMPTS: usize = 5;

/// A verdict, its reason, CPU and wall time that the host saw after the plan, ns, and the share of
/// its life in which the probe had a CPU.
#[derive(Debug, Clone, Default)]
struct Ruling {
    verdict: String,
    reason: String,
    used: f64,
    lasted: f64,
    had_cpu: f64,
    row: Value,
}

impl Ruling {
    /// It is what the list says of the lie.
    fn is_that_of(&self, lie: &Value) -> bool {
        let says = lie["says"].as_str().unwrap_or_default();
        self.verdict == string(lie, "verdict") && says.split('|').any(|words| self.reason.contains(words))
    }

    /// The machine was so busy with something else that a lie which this contradicts may be the
    /// truth: a probe that waits lives as long as it says.
    fn excuses(&self, lie: &Value) -> bool {
        self.verdict == "verified"
            && match lie["says"].as_str() {
                // Where the host may contradict by its bounds on time alone, since the row's own
                // floor is near.
                None if lie["long"] != true => false,
                None | Some("CPU time") => self.used < LEAST_SHARE * self.lasted.max(LONG_NS),
                Some("by the probe's clock") => self.had_cpu < LEAST_SHARE,
                _ => false,
            }
    }
}

impl From<&Value> for Ruling {
    fn from(row: &Value) -> Self {
        let host = &row["seen_by"]["host"];
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        let used = number(&host["cpu_ns"]) - number(&host["tree"]["cpu_ns"]);
        let lasted = number(&host["last_samples_ns"]) - number(&host["plan_ns"]);
        let reason = row["reason"].as_str().unwrap_or_default().to_owned();
        let had_cpu = number(&host["cpu_ns"]) / number(&host["last_samples_ns"]).max(1.0);
        Self { verdict: string(row, "verdict"), reason, used, lasted, had_cpu, row: row.clone() }
    }
}

/// Folder of a staged probe; that of a compiler has its version in its name.
fn staged(switchcost: &Path, probe: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(switchcost.ancestors().nth(2)?.join("libexec/switchcost/probes")).ok()?;
    let names = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let named = |name: &String| name == probe || name.strip_prefix(probe).is_some_and(|rest| rest.starts_with('-'));
    Some(switchcost.ancestors().nth(2)?.join("libexec/switchcost/probes").join(names.filter(named).min()?))
}

/// An installation of one probe, quoted by the liar.
struct World {
    probe: String,
    folder: TempDir,
    switchcost: PathBuf,
}

impl World {
    /// None where that probe is not staged.
    fn new(probe: &str) -> Option<Self> {
        let switchcost = PathBuf::from(FAKE).with_file_name("switchcost");
        let staged = staged(&switchcost, probe)?;
        let text = std::fs::read_to_string(staged.join("probe.toml")).ok()?;
        let mut page: toml::Table = toml::from_str(&text).unwrap();
        let mut command = vec![toml::Value::from(LIAR), staged.to_str()?.into()];
        command.extend(page["command"].as_array()?.iter().cloned());
        command.push("--".into());
        page.insert("command".into(), command.into());
        let names = page.entry("environment").or_insert_with(|| toml::Value::Array(Vec::new()));
        names.as_array_mut()?.extend(["LIES", "RECORD"].map(Into::into));
        let folder = tempfile::tempdir().unwrap();
        let (probes, share) = (folder.path().join("libexec/switchcost/probes"), folder.path().join("share/switchcost"));
        std::fs::create_dir_all(probes.join(probe)).unwrap();
        std::fs::create_dir_all(&share).unwrap();
        std::fs::create_dir(folder.path().join("record")).unwrap();
        std::fs::write(probes.join(probe).join("probe.toml"), page.to_string()).unwrap();
        // What does not switch is measured by a probe that nobody misquotes.
        if probe != BOUNDS {
            symlink(self::staged(&switchcost, BOUNDS)?, probes.join(BOUNDS)).unwrap();
        }
        symlink(repository().join("mechanisms"), share.join("mechanisms")).unwrap();
        Some(Self { probe: page["id"].as_str()?.to_owned(), folder, switchcost })
    }

    /// Measures these mechanisms while these lies are told; verdicts by mechanism.
    fn rulings(&self, mechanisms: &BTreeSet<String>, arguments: &str, lies: &[&Value]) -> BTreeMap<String, Ruling> {
        let lies: Vec<Value> = lies.iter().map(|lie| with_defaults(lie)).collect();
        let mut command = Command::new(&self.switchcost);
        command.arg("run").args(mechanisms).args([
            "--rounds",
            "1",
            "--budget",
            "60s",
            "--format",
            "json",
            "--probe",
            &self.probe,
        ]);
        let long = lies.is_empty() || lies.iter().any(|lie| lie["long"] == true);
        let length = if arguments.contains("--batches") { "" } else { [SHORT, LONG][usize::from(long)] };
        command.args(arguments.split_whitespace()).args(length.split_whitespace());
        command
            .env("SWITCHCOST_LIBEXEC", self.folder.path().join("libexec/switchcost"))
            .env("XDG_DATA_HOME", self.folder.path())
            .env("LIES", json!(&lies).to_string())
            .env("RECORD", self.folder.path().join("record"))
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        // Beside a row may stand the one without a parameter, which bounds it.
        let asked: Vec<_> = arguments.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let is_asked =
            |row: &&Value| asked.iter().all(|(name, value)| row["parameters"].get(name).is_none_or(|is| is == value));
        let rows = said["results"].as_array().unwrap().iter().filter(is_asked);
        rows.map(|row| (string(row, "mechanism"), row.into())).collect()
    }
}

/// The same lie; a mechanism that is asked instead gets the defaults of its parameters.
fn with_defaults(lie: &Value) -> Value {
    let mut lie = lie.clone();
    let Some(words) = lie["instead"].as_array_mut() else { return lie };
    let Some(other) = words.iter().find_map(|word| word.as_str()?.strip_prefix("mechanism=")) else { return lie };
    let read = |name: &str| -> toml::Table {
        let path = repository().join("mechanisms").join(format!("{name}.toml"));
        std::fs::read_to_string(path).unwrap().parse().unwrap()
    };
    let (page, common) = (read(other), read("parameters"));
    let own = page.get("parameters").and_then(toml::Value::as_table).into_iter().flatten();
    let named = page.get("common").and_then(toml::Value::as_array).into_iter().flatten();
    let of_all = named.filter_map(|name| common.get_key_value(name.as_str()?));
    let default =
        |(name, parameter): (&String, &toml::Value)| format!("{name}?={}", parameter["default"].as_str().unwrap());
    let defaults: Vec<Value> = own.chain(of_all).map(|parameter| default(parameter).into()).collect();
    words.extend(defaults);
    lie
}

/// Lies in heaps that can be told in one start of switchcost: by the same probe, measured alike, of
/// different mechanisms.
fn heaps<'a>(list: &'a List, able: &BTreeSet<String>) -> Vec<((String, String), Vec<&'a Value>)> {
    let mut heaps: Vec<((String, String), Vec<&Value>)> = Vec::new();
    for lie in list.lies.iter().filter(|lie| able.contains(&string(lie, "base"))) {
        let group = list.group(&string(lie, "base"));
        let fits = |heap: &&mut ((String, String), Vec<&Value>)| {
            let apart = |other: &&Value| other["mechanism"] != lie["mechanism"] && other["long"] == lie["long"];
            heap.0 == group && heap.1.iter().all(apart)
        };
        match heaps.iter_mut().find(fits) {
            Some(heap) => heap.1.push(lie),
            None => heaps.push((group, vec![lie])),
        }
    }
    heaps
}

/// The lies of a heap, each with its ruling. A lie whose start shows nothing is told again.
fn told_again<'l>(world: &World, arguments: &str, lies: Vec<&'l Value>) -> Vec<(&'l Value, Ruling)> {
    let mut told: Vec<(&Value, Ruling)> = lies.into_iter().map(|lie| (lie, Ruling::default())).collect();
    let mut again: Vec<usize> = (0..told.len()).collect();
    for _ in 0..ATTEMPTS {
        let lies: Vec<&Value> = again.iter().map(|&at| told[at].0).collect();
        let rulings = world.rulings(&lies.iter().map(|lie| string(lie, "mechanism")).collect(), arguments, &lies);
        for &at in &again {
            told[at].1 = rulings.get(&string(told[at].0, "mechanism")).cloned().unwrap_or_default();
        }
        again.retain(|&at| {
            let (lie, ruling) = &told[at];
            ruling.excuses(lie) || shows_nothing(&ruling.row) && !ruling.is_that_of(lie)
        });
        if again.is_empty() {
            break;
        }
    }
    told
}

/// Bases that can be measured here; each must be verified when it is quoted faithfully.
fn able(list: &List, worlds: &BTreeMap<String, World>, wrong: &mut Vec<String>) -> BTreeSet<String> {
    let mut groups: BTreeMap<(String, String), Vec<&String>> = BTreeMap::new();
    for name in list.bases.keys() {
        groups.entry(list.group(name)).or_default().push(name);
    }
    let mut able = BTreeSet::new();
    for ((probe, arguments), names) in groups {
        let Some(world) = worlds.get(&probe) else { continue };
        let mechanism = |name: &String| string(&list.bases[name], "mechanism");
        let mut rulings: BTreeMap<String, Ruling> = BTreeMap::new();
        for _ in 0..ATTEMPTS {
            let missing =
                |name: &&&String| rulings.get(&mechanism(name)).is_none_or(|ruling| shows_nothing(&ruling.row));
            let again: BTreeSet<String> = names.iter().filter(missing).map(|name| mechanism(name)).collect();
            if again.is_empty() {
                break;
            }
            rulings.extend(world.rulings(&again, &arguments, &[]));
        }
        for name in names {
            match rulings.get(&mechanism(name)) {
                Some(ruling) if ruling.verdict == "verified" => drop(able.insert(name.clone())),
                // Across CPUs a start may do without blocking, and be no base for that time.
                Some(ruling) if ruling.verdict == "unsupported" || ruling.reason.starts_with(OTHER_WAY) => {
                    println!("{name} is not a base here: {}", ruling.reason)
                }
                other => wrong.push(format!("base {name}, quoted faithfully: {other:?}")),
            }
        }
    }
    able
}

/// Makes the recordings that are missing or do not get their verdicts, where that is asked for. A
/// start that a busy machine spoiled is repeated.
#[test]
#[ignore = "scripts/record-lies"]
fn recordings_are_made() {
    if std::env::var_os("SWITCHCOST_RECORD").is_none() {
        return;
    }
    super::edges::record(&PathBuf::from(FAKE).with_file_name("switchcost"));
    let list = List::read();
    let mut wrong = Vec::new();
    for (name, told) in recorded::told(&list) {
        let mut misjudged = recorded::misjudged(&name, &told);
        if misjudged.is_empty() {
            continue;
        }
        let (probe, arguments) = list.group(&told.base);
        let world = World::new(&probe).unwrap_or_else(|| panic!("{probe} is not staged"));
        let mechanism = string(&list.bases[&told.base], "mechanism");
        let own: Vec<&Value> = if name.starts_with("lies/") { told.lies.clone() } else { Vec::new() };
        for _ in 0..RECORD_ATTEMPTS {
            if misjudged.is_empty() {
                break;
            }
            let rulings = world.rulings(&[mechanism.clone()].into(), &arguments, &own);
            let rows: Vec<&Value> = rulings.values().map(|ruling| &ruling.row).collect();
            let pid = rulings[&mechanism].row["seen_by"]["host"]["pid"].to_string();
            if let Ok(messages) = std::fs::read_to_string(world.folder.path().join("record").join(pid)) {
                recorded::keep(&name, &messages, &rulings[&mechanism].row, &rows);
            }
            misjudged = recorded::misjudged(&name, &told);
        }
        println!("{name}: {} misjudged", misjudged.len());
        wrong.extend(misjudged);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "suite lies"]
fn every_planted_lie_gets_its_verdict() {
    let list = List::read();
    let probes: BTreeSet<String> = list.bases.values().map(|base| string(base, "probe")).collect();
    let worlds: BTreeMap<String, World> =
        probes.into_iter().filter_map(|probe| Some((probe.clone(), World::new(&probe)?))).collect();
    let mut wrong = Vec::new();
    let able = able(&list, &worlds, &mut wrong);
    let (mut told, mut caught, mut passed) = (0, 0, 0);
    for ((probe, arguments), lies) in heaps(&list, &able) {
        for (lie, ruling) in told_again(&worlds[&probe], &arguments, lies) {
            let Ruling { verdict, reason, .. } = &ruling;
            if lie["verdict"] == "undetectable" {
                passed += 1;
                println!("undetectable: {} ({verdict} {reason}): {}", string(lie, "id"), string(lie, "because"));
                continue;
            }
            if ruling.excuses(lie) {
                println!("not counted: {}: the machine was busy", string(lie, "id"));
                continue;
            }
            told += 1;
            caught += usize::from(verdict != "verified");
            if !ruling.is_that_of(lie) {
                let (expected, says) = (string(lie, "verdict"), lie["says"].as_str().unwrap_or_default());
                wrong.push(format!("{}: expected {expected} ({says}), got {verdict} {reason}", string(lie, "id")));
            }
        }
    }
    println!("{told} lies told, {caught} caught; {passed} more that no host can detect");
    assert!(told >= LEAST_TOLD, "only {told} lies could be told here");
    assert!(wrong.is_empty(), "{} of the list are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
