//! `check-probe`: does a probe, or one transcript of it, keep to PROTOCOL.md?

use clap::Parser;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_machine::cause;
use switchcost_machine::cpus::Cpus;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::number::counted;
use switchcost_model::{Judgement, MechanismId, Verdict};
use switchcost_runner::{
    Breach, Conformance, TranscriptFault, TranscriptKind, Uncheckable, check_probe, check_transcript,
};
use switchcost_session::arguments::parse_word;
use switchcost_session::{Action, Exit, Failure, Installation, Progress, output};

/// Check a probe, or one transcript of it, against PROTOCOL.md
///
/// Starts the probe with every plan of protocol/plans.toml and names each broken rule with its
/// section, the arguments, the line and the end of the log. Ends with 6 if a rule is broken, with 3
/// if nothing could run here.
#[derive(Parser, Debug)]
#[command(name = "check-probe")]
pub struct CheckProbe {
    /// Folder with a probe.toml
    #[arg(value_name = "FOLDER", required_unless_present = "transcript")]
    pub folder: Option<PathBuf>,
    /// Read what a probe reported from this file, as a run would, and start nothing; - for standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    pub transcript: Option<PathBuf>,
    /// Only these mechanisms, such as coroutine/lua [default: all that the probe describes]; a
    /// transcript is judged by the page of one
    #[arg(long = "mechanism", value_name = "ID,...", value_delimiter = ',', value_parser = parse_word::<MechanismId>)]
    pub mechanisms: Vec<MechanismId>,
}

/// Starts that broke one rule are often many, for one cause: so many of them are shown.
const SHOWN: usize = 3;

/// Lines of a log that are shown.
const LOG_LINES: usize = 5;

/// Longest text of a probe that is shown of one line, characters.
const LONGEST: usize = 300;

impl Action for CheckProbe {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        match (&self.folder, &self.transcript) {
            (Some(folder), _) => probe(folder, &self.mechanisms),
            (None, Some(file)) => transcript(file, &self.mechanisms),
            (None, None) => Err(Failure::internal("neither a probe nor a transcript")), // clap asks for one.
        }
    }
}

/// Starts a probe by the table of plans.
fn probe(folder: &Path, mechanisms: &[MechanismId]) -> Result<Exit, Failure> {
    let folder = dunce::canonicalize(folder)
        .map_err(|error| Failure::usage(format!("{}: cannot be read ({})", folder.display(), cause(&error))))?;
    let installation = Installation::find()?;
    let mut info = installation.probe_of(&folder).map_err(Failure::usage)?;
    let catalogue = installation.catalogue_with(&[&folder])?;
    info.capabilities = catalogue.capabilities(&info.source);
    let cpus = Cpus::detect().map_err(Failure::usage)?;
    let interrupt = Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
    let progress = RefCell::new(Progress::lines());
    let starting = |starts: usize, next: &str| {
        progress.borrow_mut().say(|| format!("{} so far; next: {}", counted(starts, "start"), harmless(next)));
    };
    let check = switchcost_runner::CheckProbe {
        info: &info,
        mechanisms,
        catalogue: &catalogue,
        cpus: &cpus,
        interrupt: Some(&interrupt),
        starting: &starting,
    };
    let found = check_probe(&check).map_err(|reason| match reason {
        Uncheckable::NotStarted(..) => Failure::nothing(harmless(&reason.to_string())),
        Uncheckable::NotDescribed { .. } => Failure::usage(harmless(&reason.to_string())),
    })?;
    output::print(&text(&found))?;
    Ok(match &found {
        _ if !found.broken.is_empty() => Exit::BrokenRule,
        _ if found.interrupted => Exit::Partial,
        _ if found.checked.is_empty() => Exit::Nothing,
        _ => Exit::Fine,
    })
}

/// Reads a transcript as a run would.
fn transcript(file: &Path, mechanisms: &[MechanismId]) -> Result<Exit, Failure> {
    let name = harmless(&file.display().to_string());
    let named = |reason: &dyn std::fmt::Display| format!("{name}: {reason}");
    if mechanisms.len() > 1 {
        return Err(Failure::usage("--mechanism: a transcript is of one mechanism; name that"));
    }
    let unreadable = |error: std::io::Error| Failure::usage(named(&format!("cannot be read ({})", cause(&error))));
    let mut source: Box<dyn BufRead> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(switchcost_session::named(file)?)
    };
    if let Some(what) = switchcost_model::foreign(source.fill_buf().map_err(unreadable)?) {
        return Err(Failure::usage(named(&what)));
    }
    let catalogue = mechanisms.first().map(|_| Installation::find()?.catalogue()).transpose()?;
    let (sentence, exit) = match check_transcript(&mut source, mechanisms.first().zip(catalogue.as_ref())) {
        Ok(TranscriptKind::List(count)) => {
            (format!("conforms: an answer to `describe` with {count} mechanisms"), Exit::Fine)
        }
        Ok(TranscriptKind::Run(status)) => {
            (format!("conforms: an answer to `run` that ends with {status}"), Exit::Fine)
        }
        Ok(TranscriptKind::Judged(Judgement { verdict, reason })) => {
            let reason = reason.map(|reason| format!(": {}", harmless(&reason.to_string()))).unwrap_or_default();
            (format!("conforms, and is {verdict}{reason}"), of_verdict(verdict))
        }
        Err(fault @ (TranscriptFault::Broken(_) | TranscriptFault::Unfinished)) => {
            (named(&harmless(&fault.to_string())), Exit::BrokenRule)
        }
        Err(fault) => return Err(Failure::usage(named(&fault))),
    };
    output::print(&format!("{sentence}\n"))?;
    Ok(exit)
}

fn of_verdict(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Contradicted => Exit::Contradicted,
        Verdict::Broken => Exit::BrokenRule,
        _ => Exit::Fine,
    }
}

/// The answer first, then what it rests on.
fn text(found: &Conformance) -> String {
    let mechanisms = found.checked.len();
    let extent = format!(
        "{} checked for {} by {}",
        counted(found.rules, "rule"),
        counted(mechanisms, "mechanism"),
        counted(found.starts, "start")
    );
    let mut by_rule: BTreeMap<(u64, &str), Vec<&Breach>> = BTreeMap::new();
    for breach in &found.broken {
        by_rule.entry((breach.section, &breach.words)).or_default().push(breach);
    }
    let rules = |count| counted(count, "rule");
    let mut text = match by_rule.len() {
        _ if found.interrupted => format!("stopped: {extent} until then, {} broken\n", rules(by_rule.len())),
        0 if mechanisms == 0 => {
            format!("nothing could be carried out here; what can be checked without conforms: {extent}\n")
        }
        0 => format!("conforms: {extent}\n"),
        count => format!("breaks {} of PROTOCOL.md: {extent}\n", rules(count)),
    };
    for ((section, words), breaches) in by_rule {
        text.push_str(&format!("\nsection {section}: \"{words}\"\n"));
        breaches.iter().take(SHOWN).for_each(|breach| describe(&mut text, breach));
        if breaches.len() > SHOWN {
            text.push_str(&format!("  and {}\n", counted(breaches.len() - SHOWN, "more start")));
        }
    }
    for (title, lines) in
        [("not checked", &found.unchecked), ("remarks", &found.remarks), ("seen by the host", &found.seen)]
    {
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}:\n"));
            lines.iter().for_each(|line| text.push_str(&format!("  {}\n", harmless(line))));
        }
    }
    text
}

fn describe(text: &mut String, breach: &Breach) {
    text.push_str(&format!("  {}: {}\n", harmless(&breach.plan), harmless(&breach.what)));
    text.push_str(&format!("    arguments: {}\n", harmless(&breach.arguments)));
    if let Some((number, line)) = &breach.line {
        text.push_str(&format!("    line {number}: {}\n", harmless(line)));
    }
    let log: Vec<&str> = breach.log.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in &log[log.len().saturating_sub(LOG_LINES)..] {
        text.push_str(&format!("    log: {}\n", harmless(line)));
    }
}

/// Text of a probe on its way to a terminal: nothing but characters that show, and not without end.
fn harmless(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .flat_map(|c| if c.is_ascii_graphic() || c == ' ' || c == '−' { vec![c] } else { c.escape_default().collect() })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
