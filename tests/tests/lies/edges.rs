//! Where each bound of the judge lies: for each constant a recorded row, changed until it is judged
//! otherwise. A constant that moves no such edge is needed by none.

use super::list::string;
use super::recorded::edits::{Known, Quote};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use switchcost_analysis::{Constants, judge_again_by, verdict_of};
use switchcost_catalogue::Catalogue;
use switchcost_e2e::{repository, sealed};
use switchcost_model::{Disturbance, Invocation, Judgement, Reason, Run, Variant, Verdict};

/// Constants that no edge needs, at most.
const MOST_UNNEEDED: usize = 6;

/// A version that is later than this one.
const LATER: &str = "99.0.0";

/// Halvings between the two ends of an edge.
const HALVINGS: usize = 14;

/// Share of the way between the two ends by which a constant must move the edge.
const LEAST_MOVE: f64 = 2e-4;

/// `protocol/edges.toml`, read.
pub(super) struct Edges {
    /// Recorded runs by name, and the arguments of `switchcost run` that make them.
    runs: BTreeMap<String, Vec<String>>,
    edges: Vec<Edge>,
    /// Constants that no edge needs, each with a reason.
    unneeded: BTreeSet<String>,
}

/// The head of the table.
pub(super) const HEAD: &str = "\nWhere each bound lies: how far a recorded row is changed until it is judged otherwise (edges.toml), by ours, and by half and one and a half of a constant";

/// A way to change the starts of a row, by an amount.
struct Edge {
    constants: Vec<String>,
    run: String,
    /// The row that is judged.
    row: String,
    what: String,
    /// `$x` is the amount.
    edits: Vec<String>,
    /// The row that is edited, if it is another one.
    of: Option<String>,
    /// The amount is the number of starts that are edited; the first ones are.
    counted: bool,
    /// The amount is the number of starts that are left of this row.
    kept: Option<String>,
    /// The amount goes from the first to the second; None: there is none.
    ends: Option<(f64, f64)>,
}

impl Edges {
    pub(super) fn read() -> Self {
        let text = std::fs::read_to_string(repository().join("protocol/edges.toml")).unwrap();
        let mut list: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("protocol/edges.toml: {error}"));
        let (changes, runs) = (list["change"].take(), list["run"].take());
        let texts = |value: &Value| {
            let words = value.as_array().into_iter().flatten();
            words.map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let edge = |edge: &Value| {
            let whole = texts(&edge["edits"]).into_iter().flat_map(|edit| match edit.strip_prefix('@') {
                Some(name) => texts(&changes[name]),
                None => vec![edit],
            });
            let (run, row) = edge["row"].as_str().unwrap().split_once(": ").unwrap();
            let number = |key: &str| edge[key].as_f64().or_else(|| edge[key].as_i64().map(|whole| whole as f64));
            Edge {
                constants: edge["constant"].as_str().unwrap().split(' ').map(str::to_owned).collect(),
                run: run.to_owned(),
                row: row.to_owned(),
                what: string(edge, "what"),
                edits: whole.collect(),
                of: edge["of"].as_str().map(str::to_owned),
                counted: edge["counted"] == true,
                kept: edge["kept"].as_str().map(str::to_owned),
                ends: number("from").zip(number("to")),
            }
        };
        let unneeded = list["unneeded"].as_object().unwrap().iter();
        Self {
            runs: runs.as_object().unwrap().iter().map(|(name, words)| (name.clone(), texts(words))).collect(),
            edges: list["edge"].as_array().unwrap().iter().map(edge).collect(),
            unneeded: unneeded
                .map(|(name, why)| {
                    assert!(why.as_str().unwrap().len() > 20, "{name} has no reason");
                    name.clone()
                })
                .collect(),
        }
    }
}

impl Edges {
    /// All runs, read.
    pub(super) fn recorded(&self) -> BTreeMap<&str, Recorded> {
        self.runs.keys().map(|name| (name.as_str(), Recorded::read(name))).collect()
    }
}

fn path(name: &str) -> PathBuf {
    repository().join("protocol/recorded/runs").join(format!("{name}.jsonl"))
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> =
        LazyLock::new(|| switchcost_catalogue::load(&repository().join("mechanisms"), &[], &|_| Ok(())).unwrap());
    &CATALOGUE
}

/// A recorded run, line by line.
pub(super) struct Recorded {
    lines: Vec<Value>,
    run: Run,
}

impl Recorded {
    fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(path(name))
            .unwrap_or_else(|error| panic!("{name} is not recorded ({error}); `scripts/record-lies` does it"));
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        let mut lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // Of a later version a line may be written in another order.
        lines[0]["tool_version"] = LATER.into();
        let run = read(&lines);
        Self { lines, run }
    }

    /// The row that a name means: its mechanism, then its placement, contexts and parameters as far
    /// as they tell it from others.
    fn row(&self, name: &str) -> u64 {
        let mut words = name.split(' ');
        let mechanism = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let is = |row: &&Variant| {
            row.mechanism.as_str() == mechanism
                && row.label.is_empty()
                && words.iter().all(|word| match word.split_once('=') {
                    Some(("contexts", value)) => row.contexts.to_string() == value,
                    Some((key, value)) => row.parameters.get(key).is_some_and(|has| has == value),
                    None => [row.placement.to_string(), row.experiment.to_string(), row.timing.to_string()]
                        .contains(&(*word).to_owned()),
                })
        };
        let started: BTreeSet<usize> = self.run.invocations.iter().map(|start| start.variant).collect();
        let found: Vec<usize> = started.into_iter().filter(|row| is(&&self.run.variants[*row])).collect();
        let [row] = found.as_slice() else { panic!("{name} means {} rows", found.len()) };
        *row as u64
    }

    /// Only what an edge rests on: its rows, others of their mechanism, and the controls.
    fn for_edge(&self, edge: &Edge) -> Self {
        let rows = [Some(&edge.row), edge.of.as_ref(), edge.kept.as_ref()];
        let named: BTreeSet<&str> = rows.into_iter().flatten().filter_map(|row| row.split(' ').next()).collect();
        let wanted = |line: &&Value| {
            let variant = line["variant"].as_u64().map(|variant| &self.run.variants[variant as usize]);
            let rests = |row: &Variant| {
                named.contains(row.mechanism.as_str()) || row.mechanism.as_str().starts_with("control/")
            };
            line["t"] != "invocation" || variant.is_some_and(rests)
        };
        Self { lines: self.lines.iter().filter(wanted).cloned().collect(), run: self.run.clone() }
    }

    /// What the judge says by these constants of a row that was changed so.
    fn judged(&self, edge: &Edge, amount: f64, constants: &Constants) -> Outcome {
        let (row, of) = (self.row(&edge.row), self.row(edge.of.as_ref().unwrap_or(&edge.row)));
        let (mut edited, mut kept) = (0.0, 0.0);
        let kept_row = edge.kept.as_ref().map(|name| self.row(name));
        let edits: Vec<String> = edge.edits.iter().map(|edit| edit.replace("$x", &amount.to_string())).collect();
        let mut lines = Vec::new();
        for line in &self.lines {
            let mut line = line.clone();
            if line["t"] == "invocation" {
                let variant = line["variant"].as_u64().unwrap();
                if Some(variant) == kept_row {
                    kept += 1.0;
                    if kept > amount {
                        continue;
                    }
                }
                if variant == of && (!edge.counted || edited + 1.0 <= amount) {
                    edited += 1.0;
                    change(&mut line, &edits).unwrap_or_else(|fault| panic!("{}: {fault}", edge.what));
                }
            }
            lines.push(line);
        }
        // Places follow each other in a file.
        let starts = lines.iter_mut().filter(|line| line["t"] == "invocation");
        starts.enumerate().for_each(|(place, start)| start["sequence"] = place.into());
        let mut run = read(&lines);
        judge_again_by(constants, &mut run, &catalogue().mechanisms);
        outcome(&run, row as usize, constants)
    }
}

/// Verdict and reason of a row, and whether others disturbed it.
#[derive(PartialEq, Clone)]
struct Outcome {
    judgement: Judgement,
    disturbed: bool,
}

impl Outcome {
    /// The same, but for the figures in the reason.
    fn like(&self, other: &Self) -> bool {
        self.judgement.verdict == other.judgement.verdict
            && self.code() == other.code()
            && self.disturbed == other.disturbed
    }

    fn code(&self) -> Option<String> {
        let mut reason = self.judgement.reason.as_ref()?;
        while let Reason::InSomeStarts { reason: inner, .. } | Reason::OtherWay { instead: inner } = reason {
            reason = inner;
        }
        Some(reason.code())
    }

    fn words(&self) -> String {
        let verdict = self.judgement.verdict.to_string();
        let disturbed = if self.disturbed { ", disturbed" } else { "" };
        self.code().map_or(verdict.clone(), |code| format!("{verdict} {code}")) + disturbed
    }
}

fn outcome(run: &Run, row: usize, constants: &Constants) -> Outcome {
    let starts: Vec<&Invocation> = run.invocations.iter().filter(|start| start.variant == row).collect();
    let foreign =
        |start: &&Invocation| start.disturbances.iter().any(|one| matches!(one, Disturbance::ForeignSwitches { .. }));
    let disturbed = starts.iter().any(foreign);
    Outcome { judgement: verdict_of(constants, run, row, &starts), disturbed }
}

fn read(lines: &[Value]) -> Run {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let imported = switchcost_store::import_jsonl(&mut sealed(&body).as_bytes());
    imported.unwrap_or_else(|fault| panic!("{fault}")).run
}

/// Edits what a start said and what the host saw of it.
fn change(start: &mut Value, edits: &[String]) -> Result<(), String> {
    let plan: BTreeMap<String, String> = start["plan"].as_object().into_iter().flatten().map(own).collect();
    let mut quote = Quote::new(edits, Known::of(&plan))?;
    let parts = [
        ("hello", "hello"),
        ("plan", "plan"),
        ("samples", "samples"),
        ("histograms", "histogram"),
        ("evidence", "evidence"),
        ("seen", "seen"),
    ];
    for (field, kind) in parts {
        let mut changed = |message: &mut Value| {
            message["t"] = kind.into();
            let times = quote.change(message)?;
            message.as_object_mut().unwrap().remove("t");
            Ok::<_, String>(times)
        };
        if let Some(messages) = start[field].as_array_mut() {
            messages.iter_mut().try_for_each(|message| changed(message).map(drop))?;
        } else if start[field].is_object() && changed(&mut start[field])? == 0 {
            start[field] = Value::Null;
        }
    }
    quote.finish()
}

fn own((key, value): (&String, &Value)) -> (String, String) {
    (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// The least amount with which a row is judged otherwise than without, and how; None: it never is.
fn threshold(recorded: &Recorded, edge: &Edge, constants: &Constants) -> Option<(f64, Outcome)> {
    let Some((from, to)) = edge.ends else { return Some((0.0, recorded.judged(edge, 0.0, constants))) };
    let spared = recorded.judged(edge, from, constants);
    let (mut inside, mut outside, mut found) = (from, to, recorded.judged(edge, to, constants));
    if found.like(&spared) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(inside, outside);
        let judged = recorded.judged(edge, middle, constants);
        if judged.like(&spared) {
            inside = middle;
        } else {
            (outside, found) = (middle, judged);
        }
    }
    Some((outside, found))
}

/// The reasons that edges get, by code.
pub(super) fn codes(table: &str) -> BTreeSet<String> {
    let found = table.lines().filter_map(|line| line.split(" → ").nth(1));
    found.flat_map(|words| words.split([' ', ',', ';']).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// One line for each edge; and what is wrong with the list.
pub(super) fn table(edges: &Edges, runs: &BTreeMap<&str, Recorded>) -> (String, Vec<String>) {
    let mut wrong = Vec::new();
    let mut moved: BTreeSet<&str> = BTreeSet::new();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let lines: Vec<(String, Vec<&str>)> = std::thread::scope(|scope| {
        let heaps: Vec<_> = (0..workers)
            .map(|worker| {
                let mine = edges.edges.iter().enumerate().skip(worker).step_by(workers);
                scope
                    .spawn(move || mine.map(|(place, edge)| (place, line(&runs[&*edge.run], edge))).collect::<Vec<_>>())
            })
            .collect();
        let mut all: Vec<_> = heaps.into_iter().flat_map(|heap| heap.join().unwrap()).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, line)| line).collect()
    });
    for (edge, (line, needs)) in edges.edges.iter().zip(&lines) {
        moved.extend(needs);
        if needs.len() < edge.constants.len() {
            wrong.push(format!("not moved by all of its constants: {line}"));
        }
    }
    for (name, _, _) in Constants::TABLE {
        if moved.contains(name) == edges.unneeded.contains(*name) {
            wrong.push(format!("{name}: no edge needs it and no reason is given, or both"));
        }
    }
    if edges.unneeded.len() > MOST_UNNEEDED {
        wrong.push(format!("{} constants are unneeded", edges.unneeded.len()));
    }
    (lines.into_iter().map(|(line, _)| line).collect(), wrong)
}

/// What is said of an edge, and those of its constants that move it.
fn line<'e>(recorded: &Recorded, edge: &'e Edge) -> (String, Vec<&'e str>) {
    let recorded = &recorded.for_edge(edge);
    let ours = threshold(recorded, edge, &Constants::OURS);
    let words = |found: &Option<(f64, Outcome)>| match (found, &edge.ends) {
        (None, _) => "never".to_owned(),
        (Some((at, outcome)), Some(_)) => format!("at {} → {}", short(*at), outcome.words()),
        (Some((_, outcome)), None) => format!("→ {}", outcome.words()),
    };
    let mut text = format!("{} ({}): {}\n", edge.what, edge.row, words(&ours));
    let mut needs = Vec::new();
    for name in &edge.constants {
        let place = Constants::TABLE.iter().find(|(known, _, _)| known == name);
        let (_, _, place) = place.unwrap_or_else(|| panic!("no constant is called {name}"));
        let by = [0.5, 1.5].map(|factor| {
            let mut constants = Constants::OURS;
            *place(&mut constants) *= factor;
            threshold(recorded, edge, &constants)
        });
        let far = |other: &Option<(f64, Outcome)>| match (&ours, other, edge.ends) {
            (Some((at, one)), Some((there, two)), ends) => {
                ends.map_or(!one.like(two), |(from, to)| (at - there).abs() > LEAST_MOVE * (to - from).abs())
            }
            (None, None, _) => false,
            _ => true,
        };
        if by.iter().any(far) {
            needs.push(name.as_str());
        }
        text += &format!("  {name} × 0.5: {}; × 1.5: {}\n", words(&by[0]), words(&by[1]));
    }
    (text, needs)
}

/// Four digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = (3 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

/// Rows of the recorded runs that are not verified by these constants.
pub(super) fn accused(runs: &BTreeMap<&str, Recorded>, constants: &Constants) -> BTreeSet<String> {
    let mut accused = BTreeSet::new();
    for (name, recorded) in runs {
        let mut run = recorded.run.clone();
        judge_again_by(constants, &mut run, &catalogue().mechanisms);
        for row in 0..run.variants.len() {
            let outcome = outcome(&run, row, constants);
            if !matches!(outcome.judgement.verdict, Verdict::Verified | Verdict::Unsupported | Verdict::Unmeasured) {
                accused.insert(format!("{name}:{}", run.variants[row].mechanism));
            }
        }
    }
    accused
}

/// Measures the runs that are missing.
pub(super) fn record(switchcost: &std::path::Path) {
    for (name, words) in Edges::read().runs {
        if path(&name).exists() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.sqlite");
        let run = |arguments: &[&str]| {
            let mut command = Command::new(switchcost);
            command.args(arguments).arg("--store").arg(&store).env("XDG_DATA_HOME", folder.path());
            let output = command.output().unwrap();
            println!("{name}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(&[&["run"], words.as_slice()].concat());
        std::fs::create_dir_all(path(&name).parent().unwrap()).unwrap();
        run(&["export", "latest", "--output", path(&name).to_str().unwrap()]);
    }
}

/// A number by which an edge goes is a number of the list.
#[test]
fn an_edge_that_no_constant_moves_is_told() {
    let edge = json!({ "t": "invocation" });
    assert!(change(&mut edge.clone(), &["evidence.units *= 2".to_owned()]).is_err(), "an edit that finds nothing");
    assert_eq!([short(0.0), short(0.97426), short(1234.56), short(45_123_456.0)], ["0", "0.9743", "1235", "45123456"]);
}
