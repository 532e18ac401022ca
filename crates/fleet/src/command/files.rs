//! The run files of a folder, each reduced at once.

use crate::answer::{FleetProblem, Round};
use crate::data::FleetPlan;
use crate::nodes::{NodeRun, Reducer};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use switchcost_catalogue::Catalogue;
use switchcost_machine::{cause, open_file};
use switchcost_model::{decoded, harmless};
use switchcost_session::{Failure, Progress, judged_here, say_left_out};
use switchcost_store::Imported;

/// Longest run file of a node: an honest one has 300 KB. A longer one is not from `fleet plan`, and
/// would hold up the others.
const MAX_NODE_BYTES: u64 = 64 * 1024 * 1024;

/// Runs that lie further apart than this, in days, are not of one round.
const APART_DAYS: i64 = 7;

/// Last bytes that are read of what a node said on standard error.
const MAX_WORDS_BYTES: u64 = 4096;

/// Ending of run files.
const ENDING: &str = "jsonl";

/// What a run file begins with, whatever it is called: launchers name files as they like.
const HEADER: &[u8] = b"{\"t\":\"run\"";

/// Bytes that hold it in any encoding that is known.
const HEADER_READ: usize = 32;

/// Reads a round: every node's newest run, by name, and what is the matter with files.
pub fn round(
    folder: &Path,
    catalogue: &Catalogue,
    plan: &FleetPlan,
    expected: Option<&[String]>,
) -> Result<(Round, Vec<FleetProblem>), Failure> {
    let paths = files(folder)?;
    let (done, reducer) = (AtomicUsize::new(0), Mutex::new(Reducer::new(catalogue, plan)));
    let results: Vec<Mutex<Option<Result<NodeRun, String>>>> = paths.iter().map(|_| Mutex::new(None)).collect();
    let progress = Mutex::new(Progress::drawn());
    progress.lock().iter_mut().for_each(|progress| progress.set_length(paths.len() as u64));
    let work = || {
        loop {
            let next = done.fetch_add(1, Ordering::Relaxed);
            let (Some(path), Some(slot)) = (paths.get(next), results.get(next)) else { return };
            let read = read(path, catalogue).and_then(|run| {
                let mut reducer = reducer.lock().map_err(|_| "another file could not be reduced".to_owned())?;
                Ok(reducer.reduce(run))
            });
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(read);
            }
            if let Ok(mut progress) = progress.lock() {
                progress.say(|| format!("{} of {} files read", next + 1, paths.len()));
                progress.step();
            }
        }
    };
    let others = thread::available_parallelism().map_or(1, usize::from).min(8) - 1;
    thread::scope(|scope| {
        // What a limit does not let be started is not missed: this thread works as well.
        (0..others).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    progress.into_inner().into_iter().for_each(Progress::clear);
    let mut problems = Problems::default();
    problems.silent(folder, &paths);
    let mut nodes: Vec<(String, PathBuf, NodeRun)> = Vec::new();
    for (path, result) in paths.into_iter().zip(results) {
        let result = result.into_inner().ok().flatten().unwrap_or_else(|| Err("it could not be read".to_owned()));
        match (result, ended(folder, &node_name(&path))) {
            (Err(reason), None) => problems.leave_out(&path, reason),
            (Err(reason), Some(end)) => problems.leave_out(&path, format!("{reason}; {end}")),
            (Ok(run), end) => {
                end.into_iter().for_each(|end| problems.tell(&path, false, end));
                nodes.push((node_name(&path), path, run));
            }
        }
    }
    let nodes = problems.other_methods(nodes);
    let nodes = problems.copies(nodes, expected.unwrap_or_default());
    let nodes = problems.twice(nodes);
    problems.far_apart(&nodes);
    problems.other_versions(&nodes);
    let mut round: Round = nodes.into_iter().map(|(name, _, run)| (name, run)).collect();
    round.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((round, problems.0))
}

/// What is wrong with rounds beside one another: a later one is older, or holds runs of an earlier
/// one, which are taken out of that.
pub fn order(folders: &[PathBuf], rounds: &mut [Round]) -> Vec<FleetProblem> {
    let mut problems = Vec::new();
    let mut tell = |folder: &Path, what: String| {
        let file = harmless(&folder.display().to_string());
        problems.push(FleetProblem { file, left_out: false, what });
    };
    for place in (1..rounds.len()).rev() {
        let (earlier, later) = rounds.split_at_mut(place);
        let ids: BTreeSet<&str> = later.iter().flatten().map(|(_, run)| run.run.as_str()).collect();
        let Some((before, folder)) = earlier.last_mut().zip(folders.get(place - 1)) else { continue };
        let middle = |round: &Round| {
            let mut times: Vec<i64> = round.iter().map(|(_, run)| run.started_unix_ns).collect();
            times.sort_unstable();
            times.get(times.len() / 2).copied()
        };
        if middle(before).zip(later.first().and_then(middle)).is_some_and(|(before, after)| before > after) {
            let next = folders.get(place).map_or(String::new(), |next| harmless(&next.display().to_string()));
            tell(folder, format!("it is newer than {next}, which was named after it; name the oldest first"));
        }
        let all = before.len();
        before.retain(|(_, run)| !ids.contains(run.run.as_str()));
        let same = all - before.len();
        if same > 0 {
            let runs = if same == 1 { "1 run of it is".to_owned() } else { format!("{same} runs of it are") };
            tell(folder, format!("{runs} in a later round as well and taken there alone"));
        }
    }
    problems
}

/// Run files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refuse = |error: std::io::Error| {
        let why = cause(&error);
        Failure::usage(format!("{}: cannot be read ({why}); name a folder of run files", folder.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden
            && !path.is_dir()
            && (path.extension().is_some_and(|ending| ending == ENDING)
                || path.to_string_lossy().contains(".jsonl.")
                || begins_as_run(&path))
        {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::usage(format!(
            "{}: it holds no run file (NODE.{ENDING}); let `switchcost fleet plan` write some",
            folder.display()
        )));
    }
    Ok(paths)
}

fn begins_as_run(path: &Path) -> bool {
    let begin = open_file(path).ok().map(BufReader::new);
    let run = |text: &[u8]| text.starts_with(HEADER);
    // In another encoding it is told what is wrong with it.
    let decoded = |bytes: &[u8]| decoded(&bytes[..bytes.len().min(HEADER_READ)]).is_ok_and(|text| run(text.as_bytes()));
    begin.is_some_and(|mut begin| begin.fill_buf().is_ok_and(|bytes| run(bytes) || decoded(bytes)))
}

/// One run, judged by the rules of this version.
fn read(path: &Path, catalogue: &Catalogue) -> Result<switchcost_model::Run, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read ({})", cause(&error));
    let file = open_file(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.len() > MAX_NODE_BYTES {
        return Err(format!("it is longer than {} MB", MAX_NODE_BYTES >> 20));
    }
    let imported = switchcost_store::import_jsonl(&mut BufReader::new(file)).map_err(|error| error.to_string())?;
    let Imported { mut run, left_out } = imported;
    say_left_out(&path.display().to_string(), &run, &left_out);
    judged_here(&mut run, catalogue);
    Ok(run)
}

/// How a launcher says that a node ended, if not well: its status, and the last of what it said on
/// standard error.
fn ended(folder: &Path, node: &str) -> Option<String> {
    let kept = |ending: &str| -> Option<String> {
        let path = folder.join(format!("{node}.{ending}"));
        let mut file = open_file(&path).ok()?;
        let bytes = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(MAX_WORDS_BYTES))).ok()?;
        let mut text = Vec::new();
        file.take(MAX_WORDS_BYTES).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        Some(text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned())
    };
    let how = match kept("status")?.as_str() {
        "0" => return None,
        "" => "its node gave no answer".to_owned(),
        "124" => "its node was late".to_owned(),
        status => format!("its node ended with status {status}"),
    };
    Some(match kept("err").filter(|words| !words.is_empty()) {
        Some(words) => format!("{how}: {words}"),
        None => how,
    })
}

fn node_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(&format!(".{ENDING}")).map_or(name.clone(), str::to_owned)
}

type Answered = (String, PathBuf, NodeRun);

#[derive(Default)]
struct Problems(Vec<FleetProblem>);

impl Problems {
    fn tell(&mut self, path: &Path, left_out: bool, what: String) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        self.0.push(FleetProblem { file: harmless(&file), left_out, what: harmless(&what) });
    }

    fn leave_out(&mut self, path: &Path, what: String) {
        self.tell(path, true, what);
    }

    /// Nodes of which a launcher says how they ended, and that left no run file.
    fn silent(&mut self, folder: &Path, answers: &[PathBuf]) {
        let mut ends: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        ends.retain(|path| path.extension().is_some_and(|ending| ending == "status"));
        ends.sort();
        for path in ends {
            let node = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let own = |answer: &PathBuf| {
                answer.file_stem() == path.file_stem() || node_name(answer).starts_with(&format!("{node}."))
            };
            if !answers.iter().any(own) {
                let end = ended(folder, &node).map_or(String::new(), |end| format!("; {end}"));
                self.leave_out(&path, format!("there is no run file of its node{end}"));
            }
        }
    }

    /// Figures of another version of the method are other figures: the most common one is judged.
    fn other_methods(&mut self, nodes: Vec<Answered>) -> Vec<Answered> {
        let mut methods = BTreeMap::<u32, usize>::new();
        nodes.iter().for_each(|(_, _, run)| *methods.entry(run.method_version).or_default() += 1);
        let common =
            methods.into_iter().max_by_key(|(version, nodes)| (*nodes, *version)).map_or(0, |(version, _)| version);
        let mut kept = Vec::new();
        for (name, path, run) in nodes {
            if run.method_version == common {
                kept.push((name, path, run));
            } else {
                let (version, tool) = (run.method_version, &run.tool_version);
                self.leave_out(&path, format!("it was measured by version {version} of the method (switchcost {tool}), most by version {common}"));
            }
        }
        kept
    }

    /// One run under two names is one run.
    fn copies(&mut self, nodes: Vec<Answered>, expected: &[String]) -> Vec<Answered> {
        let mut known = BTreeMap::<String, String>::new();
        let mut kept = Vec::new();
        let expected: BTreeSet<&String> = expected.iter().collect();
        // A file that bears its host's name, or one that is expected, is the original.
        let (own, others): (Vec<Answered>, Vec<Answered>) =
            nodes.into_iter().partition(|(name, _, run)| named_after(name, run) || expected.contains(name));
        for (name, path, run) in own.into_iter().chain(others) {
            if let Some(first) = known.get(&run.run) {
                self.leave_out(&path, format!("it holds the same run as {first}"));
            } else {
                known.insert(run.run.clone(), path.file_name().unwrap_or_default().to_string_lossy().into_owned());
                kept.push((name, path, run));
            }
        }
        kept
    }

    /// Of a host that answered twice the newest run counts. Where most files name one host, or none
    /// is called by it, that name says nothing: copies of one image are all `localhost`.
    fn twice(&mut self, nodes: Vec<Answered>) -> Vec<Answered> {
        let count = nodes.len();
        let mut hosts = BTreeMap::<String, Vec<usize>>::new();
        for (place, (_, _, run)) in nodes.iter().enumerate() {
            run.host.iter().for_each(|host| hosts.entry(host.clone()).or_default().push(place));
        }
        let mut out = BTreeSet::new();
        for (host, mut places) in hosts.into_iter().filter(|(_, places)| places.len() > 1 && places.len() * 2 <= count)
        {
            if !places.iter().any(|place| named_after(&nodes[*place].0, &nodes[*place].2)) {
                continue;
            }
            places.sort_by_key(|place| {
                (nodes[*place].2.started_unix_ns, named_after(&nodes[*place].0, &nodes[*place].2))
            });
            let newest = places.pop().map(|place| nodes[place].0.clone()).unwrap_or_default();
            for place in places {
                self.leave_out(&nodes[place].1, format!("its host {host} answered twice; {newest} is newer"));
                out.insert(place);
            }
        }
        nodes.into_iter().enumerate().filter(|(place, _)| !out.contains(place)).map(|(_, node)| node).collect()
    }

    /// By one method versions measure the same, as far as is known.
    fn other_versions(&mut self, nodes: &[Answered]) {
        let Some(common) = most_common(nodes.iter().map(|(_, _, run)| &run.tool_version)) else { return };
        for (_, path, run) in nodes.iter().filter(|(_, _, run)| run.tool_version != *common) {
            self.tell(path, false, format!("it was measured by switchcost {}, most by {common}", run.tool_version));
        }
    }

    /// Clocks that are wrong by days do not change what a switch costs; who reads the times should
    /// know.
    fn far_apart(&mut self, nodes: &[Answered]) {
        let mut times: Vec<i64> = nodes.iter().map(|(_, _, run)| run.started_unix_ns).collect();
        times.sort_unstable();
        let Some(middle) = times.get(times.len() / 2) else { return };
        for (_, path, run) in nodes {
            let days = (i128::from(run.started_unix_ns) - i128::from(*middle)) / 86_400_000_000_000;
            if days.abs() > i128::from(APART_DAYS) {
                let side = if days > 0 { "after" } else { "before" };
                self.tell(path, false, format!("by its clock it was measured {} days {side} the others", days.abs()));
            }
        }
    }
}

fn most_common<'n>(all: impl Iterator<Item = &'n String>) -> Option<&'n String> {
    let mut counts = BTreeMap::<&String, usize>::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts.into_iter().max_by_key(|(one, count)| (*count, *one)).map(|(one, _)| one)
}

/// The file bears the name of the host that it comes from, in full or up to the first dot.
fn named_after(name: &str, run: &NodeRun) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    run.host.as_ref().is_some_and(|host| short(host) == short(name))
}
