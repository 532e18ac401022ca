//! Starts a real probe and passes on what it says, changed as the variable LIES tells.
//!
//! `switchcost-liar FOLDER PROGRAM [ARGUMENT...] -- WHAT-THE-HOST-ADDS...`: LIES is a JSON list of
//! lies. The one whose `mechanism` is asked for is told; without one the probe is quoted
//! faithfully. Beside `edits` (see `edits.rs`) a lie may have
//!
//! - `instead`: what the probe is asked instead, `key=value`, `key?=value` where the plan has no
//!   such key, `key/divisor` or `-key`, without parameters that the other mechanism does not have;
//!   its `plan` is told to be the one that the host asked for,
//! - `through`: a program with arguments that starts the probe, `{other}` standing for a CPU that
//!   the host did not plan, as in `instead`,
//! - `helpers`: programs that idle beside it; `idle_threads`: threads of the liar that do,
//! - `decoy`: kernel switches per unit that two threads of the liar make when all is over, so that
//!   the kernel has counted as many as are told,
//! - `hold`: a kind of message that is kept back until the next one comes,
//! - `stale`: the evidence is that of an earlier start of one batch,
//! - `exit`: the exit status.
//!
//! If the variable RECORD names a folder, the liar keeps what it is about to edit there, in a file
//! that has its process id as its name: the words of the plan in one line, then the messages.
//! `tests/tests/lies/recorded.rs` judges them again.

mod edits;

use edits::{Known, Quote};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// Keys of every plan; the others are parameters.
const OF_ALL: &str = "report_fd protocol batch_units batch_ns verify_units seed mechanism experiment timing contexts batches warmup_batches cpus";

fn is_parameter(key: &str) -> bool {
    OF_ALL.split(' ').all(|of_all| of_all != key)
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "the liar itself failed: {failure}");
            ExitCode::from(1)
        }
    }
}

/// What was asked, and how the real probe is started.
struct Asked {
    folder: String,
    command: Vec<String>,
    verb: String,
    plan: BTreeMap<String, String>,
}

impl Asked {
    fn read() -> Result<Self, Failure> {
        let mut arguments = std::env::args().skip(1);
        let folder = arguments.next().ok_or("no folder")?;
        let command = arguments.by_ref().take_while(|argument| argument != "--").collect();
        let verb = arguments.next().ok_or("no verb")?;
        let plan = arguments.filter_map(|a| a.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))).collect();
        Ok(Self { folder, command, verb, plan })
    }

    fn key(&self, name: &str) -> &str {
        self.plan.get(name).map_or("", String::as_str)
    }

    /// The file that keeps the messages.
    fn record(&self) -> Result<Option<File>, Failure> {
        let Some(folder) = std::env::var_os("RECORD").filter(|folder| !folder.is_empty() && self.verb == "run") else {
            return Ok(None);
        };
        let mut file = File::create(Path::new(&folder).join(std::process::id().to_string()))?;
        let words: Vec<String> = self.plan.iter().map(|(key, value)| format!("{key}={value}")).collect();
        writeln!(file, "{}", words.join(" "))?;
        Ok(Some(file))
    }

    /// The lie that is to be told of this plan; an empty one if none is.
    fn lie(&self) -> Result<Value, Failure> {
        let lies = std::env::var("LIES").unwrap_or_else(|_| "[]".into());
        let lies: Vec<Value> = serde_json::from_str(&lies)?;
        let mine = lies.into_iter().find(|lie| self.verb == "run" && lie["mechanism"] == self.key("mechanism"));
        Ok(mine.unwrap_or(Value::Null))
    }

    fn program(&self) -> Vec<String> {
        let word = |word: &String| match word.strip_prefix("./") {
            Some(file) => Path::new(&self.folder).join(file).to_string_lossy().into_owned(),
            None => word.clone(),
        };
        self.command.iter().map(word).collect()
    }

    /// What the real probe says that a mechanism has.
    fn parameters(&self, mechanism: &str) -> Result<Vec<String>, Failure> {
        let words = self.program();
        let described = Command::new(&words[0]).args(&words[1..]).arg("describe").current_dir(&self.folder).output()?;
        let lines = String::from_utf8(described.stdout)?;
        let known = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let found = known.into_iter().find(|line| line["id"] == mechanism).ok_or("the probe has no such mechanism")?;
        Ok(texts(&found["parameters"]))
    }

    /// Starts the real probe, which reports on its standard output.
    fn start(&self, lie: &Value) -> Result<Child, Failure> {
        let mut plan = self.plan.clone();
        plan.insert("report_fd".into(), "1".into());
        for word in texts(&lie["instead"]) {
            match (word.strip_prefix('-'), word.split_once('='), word.split_once('/')) {
                (Some(key), ..) => drop(plan.remove(key)),
                (None, Some((key, value)), _) => match key.strip_suffix('?') {
                    Some(key) => drop(plan.entry(key.into()).or_insert_with(|| value.into())),
                    None => drop(plan.insert(key.into(), value.into())),
                },
                (None, None, Some((key, by))) => {
                    let part = self.key(key).parse::<u64>()? / by.parse::<u64>()?;
                    plan.insert(key.into(), part.to_string());
                }
                _ => return Err(format!("`instead` has {word:?}").into()),
            }
        }
        let other = if self.key("cpus") == "0" { "1" } else { "0" };
        plan.values_mut().for_each(|value| *value = value.replace("{other}", other));
        let mut words = texts(&lie["through"]);
        words.iter_mut().for_each(|word| *word = word.replace("{other}", other));
        words.extend(self.program());
        if let Some(other) = plan.get("mechanism").filter(|other| **other != *self.key("mechanism")) {
            let parameters = self.parameters(other)?;
            plan.retain(|key, _| !is_parameter(key) || parameters.contains(key));
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(&self.verb).args(plan.iter().map(|(key, value)| format!("{key}={value}")));
        command
            .current_dir(&self.folder)
            .env_remove("LIES")
            .env_remove("RECORD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Ok(command.spawn()?)
    }

    /// The plan as the host asked for it, whatever the probe carried out.
    fn forge_plan(&self, plan: &mut Value) {
        for key in ["mechanism", "experiment", "timing"] {
            plan[key] = self.key(key).into();
        }
        for key in ["contexts", "batches", "warmup_batches"] {
            plan[key] = self.key(key).parse::<u64>().unwrap_or_default().into();
        }
        plan["cpus"] = Known::of(&self.plan).cpus.into();
        let parameters = self.plan.iter().filter(|(key, _)| is_parameter(key));
        plan["parameters"] = parameters.map(|(key, value)| (key.clone(), Value::from(value.clone()))).collect();
    }
}

fn run() -> Result<u8, Failure> {
    let asked = Asked::read()?;
    let lie = asked.lie()?;
    // /dev/fd reopens the pipe for writing; no unsafe code is needed to adopt the descriptor.
    let fd = if asked.plan.contains_key("report_fd") { asked.key("report_fd") } else { "1" };
    let mut out = File::options().write(true).open(format!("/dev/fd/{fd}"))?;
    let earlier = serde_json::json!({"instead": ["batches=1"]});
    let stale = if lie["stale"] == true { Some(evidence_of(asked.start(&earlier)?)?) } else { None };
    let helpers = Helpers::start(&lie)?;
    let mut child = asked.start(&lie)?;
    let told = tell(&asked, &lie, &mut child, stale, &mut out);
    let status = child.wait()?;
    drop(helpers);
    told?;
    let status = u8::try_from(status.code().unwrap_or(1)).unwrap_or(1);
    Ok(lie["exit"].as_u64().and_then(|status| u8::try_from(status).ok()).unwrap_or(status))
}

/// Passes on what the probe says, edited.
fn tell(asked: &Asked, lie: &Value, child: &mut Child, stale: Option<Value>, out: &mut File) -> Result<(), Failure> {
    let mut quote = Quote::new(&texts(&lie["edits"]), Known::of(&asked.plan))?;
    let mut record = asked.record()?;
    let mut held = String::new();
    for line in BufReader::new(child.stdout.take().ok_or("no pipe")?).lines() {
        let line = line?;
        let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
        let kind = message["t"].as_str().unwrap_or_default().to_owned();
        if kind == "plan" && lie["instead"].is_array() {
            asked.forge_plan(&mut message);
        }
        if let (Some(stale), "evidence") = (&stale, kind.as_str()) {
            message = stale.clone();
        }
        if let Some(record) = &mut record {
            writeln!(record, "{message}")?;
        }
        let times = quote.change(&mut message)?;
        if let (Some(each), "evidence") = (lie["decoy"].as_f64(), kind.as_str()) {
            hand_over((quote.known.units as f64 * each) as u64)?;
        }
        let text = if lie.is_null() { line } else { message.to_string() };
        (0..times).for_each(|_| held.push_str(&format!("{text}\n")));
        if lie["hold"].as_str() != Some(&kind) {
            out.write_all(held.as_bytes())?;
            held.clear();
        }
    }
    Ok(quote.finish()?)
}

/// The evidence of a whole start.
fn evidence_of(mut child: Child) -> Result<Value, Failure> {
    let mut evidence = None;
    for line in BufReader::new(child.stdout.take().ok_or("no pipe")?).lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        evidence = if message["t"] == "evidence" { Some(message) } else { evidence };
    }
    child.wait()?;
    Ok(evidence.ok_or("the earlier start had no evidence")?)
}

/// Rounds of two threads between two looks at the kernel's count.
const ROUNDS: usize = 500;

/// Two threads let each other run until the kernel has counted so many voluntary switches. Who
/// reads an empty pipe blocks; a channel of the library spins first.
fn hand_over(times: u64) -> Result<(), Failure> {
    let (mut from_main, mut to) = std::io::pipe()?;
    let (mut from_partner, mut back) = std::io::pipe()?;
    let partner = std::thread::spawn(move || {
        let mut byte = [0];
        while from_main.read_exact(&mut byte).is_ok() && back.write_all(&byte).is_ok() {}
    });
    let mut byte = [0];
    let enough = voluntary()? + times;
    while voluntary()? < enough {
        for _ in 0..ROUNDS {
            to.write_all(&byte)?;
            from_partner.read_exact(&mut byte)?;
        }
    }
    drop(to);
    partner.join().map_err(|_| "the partner failed")?;
    Ok(())
}

/// Voluntary switches of this process's threads.
fn voluntary() -> Result<u64, Failure> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let status = std::fs::read_to_string(task?.path().join("status"))?;
        let value = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok());
        sum += value.unwrap_or(0);
    }
    Ok(sum)
}

/// Programs that idle beside the probe; ended with this.
struct Helpers(Vec<Child>);

impl Helpers {
    fn start(lie: &Value) -> Result<Self, Failure> {
        for _ in 0..lie["idle_threads"].as_u64().unwrap_or(0) {
            std::thread::spawn(|| {
                loop {
                    std::thread::park();
                }
            });
        }
        let mut all = Self(Vec::new());
        for text in texts(&lie["helpers"]) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
            all.0.push(command.spawn()?);
        }
        Ok(all)
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        for helper in &mut self.0 {
            let _ = helper.kill();
            let _ = helper.wait();
        }
    }
}

/// A list of texts, or of the words of one text.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => value.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect(),
    }
}
