//! Run files: one run as JSON Lines.
//!
//! ```text
//! {"t":"run","format":1, …}              header with the machine
//! {"t":"variant","index":0, …}           every planned variant, in order
//! {"t":"invocation","variant":0, …}      every invocation, in order, with raw ticks
//! {"t":"end","lines":N,"sha256":"…"}     number of the lines before this one, and the SHA-256 of all their bytes
//! ```
//!
//! Every line ends with a line feed. The same run always gives the same bytes: fields have a fixed
//! order, objects are sorted by name, there is no white space, and nothing depends on where or when
//! the file is written. Import accepts that form and no other, so that exporting again gives the
//! imported file byte by byte: each line read is written again and compared, which also refuses a
//! repeated name, an absent field, or a record given as a list. Three liberties: a line whose `t`
//! begins with `x_` is skipped (and not exported again), lines may end as on Windows, and a file of
//! a later version may have fields that this one does not know: they are left out and named.

use crate::disk::{FORMAT, InvocationRecord, RunRecord, VariantRecord, tag};
use crate::error::{RunFileError, json_reason};
use crate::limits::{self, MAX_FILE_BYTES, MAX_LINE_BYTES};
use crate::rules;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};
use switchcost_model::{Invocation, Run, Variant, harmless};

/// Writes a run as a run file.
///
/// # Errors
/// When the run breaks a rule or a limit, so that it could not be imported again, or writing fails.
pub fn export_jsonl(run: &Run, output: &mut dyn Write) -> Result<(), RunFileError> {
    rules::check(run).and_then(|()| limits::run(run)).map_err(|reason| RunFileError::Rule { reason })?;
    let mut exporter = Exporter { output, tally: Tally::default() };
    exporter.record(&RunRecord { t: tag::RUN.into(), format: FORMAT, run })?;
    for (index, variant) in run.variants.iter().enumerate() {
        let not_run = run.not_run.get(&index).cloned();
        exporter.record(&VariantRecord { t: tag::VARIANT.into(), index: index as u64, variant, not_run })?;
    }
    for invocation in &run.invocations {
        exporter.record(&InvocationRecord::from(invocation))?;
    }
    let end = exporter.tally.end_line();
    exporter.output.write_all(&end).and_then(|()| exporter.output.flush()).map_err(RunFileError::Write)
}

/// A run that was read from a file.
#[derive(Debug)]
pub struct Imported {
    /// The run.
    pub run: Run,
    /// Fields of a later version that this one does not know, as `seen.new_count`; they were left
    /// out.
    pub left_out: BTreeSet<String>,
}

/// Reads a run file, all of it or nothing.
///
/// # Errors
/// When the file is not exactly as [`export_jsonl`] writes it, but for the liberties that the head
/// of this module names.
pub fn import_jsonl(input: &mut dyn BufRead) -> Result<Imported, RunFileError> {
    let mut importer = Importer { input, line: Vec::new(), tally: Tally::default(), left_out: BTreeSet::new() };
    let mut run = importer.header()?;
    let later = is_later(&run.tool_version);
    let mut extensions = 0;
    loop {
        let number = importer.next()?;
        if importer.line.last() != Some(&b'\n') {
            return Err(RunFileError::Truncated { line: number, invocations: run.invocations.len() });
        }
        match &*importer.tag()? {
            tag::VARIANT => add_variant(&mut run, importer.record(|_| later)?).map_err(|reason| at(number, &reason))?,
            tag::INVOCATION => {
                add_invocation(&mut run, importer.record(|_| later)?).map_err(|reason| at(number, &reason))?
            }
            tag::END => {
                importer.end()?;
                return Ok(Imported { run, left_out: importer.left_out });
            }
            extension if extension.starts_with("x_") => {
                let counted = limits::count("lines of extensions", extensions, limits::MAX_EXTENSIONS);
                counted.map_err(|reason| at(number, &reason))?;
                extensions += 1;
            }
            tag::RUN => return Err(at(number, "a file holds one run, and this is the header of another")),
            other => return Err(at(number, &format!("`{}` is not a known kind of line", harmless(other)))),
        }
        importer.tally.add(&importer.line);
    }
}

fn add_variant(run: &mut Run, record: VariantRecord<Variant>) -> Result<(), String> {
    limits::count("variants", run.variants.len(), limits::MAX_VARIANTS)?;
    limits::variant(&record.variant)?;
    let expected = run.variants.len() as u64;
    if record.index != expected {
        return Err(format!("variant {} stands where {expected} is due", record.index));
    }
    if !run.invocations.is_empty() {
        return Err("a variant stands behind an invocation".to_owned());
    }
    if let Some(reason) = record.not_run {
        run.not_run.insert(run.variants.len(), reason);
    }
    run.variants.push(record.variant);
    Ok(())
}

fn add_invocation(run: &mut Run, record: InvocationRecord) -> Result<(), String> {
    limits::count("invocations", run.invocations.len(), limits::MAX_INVOCATIONS)?;
    let invocation = Invocation::try_from(record).map_err(|unreadable| harmless(&unreadable.0))?;
    rules::check_invocation(&invocation, run.variants.len())?;
    run.invocations.push(invocation);
    Ok(())
}

/// A version of switchcost is later than this one: as numbers, part by part.
fn is_later(version: &str) -> bool {
    let parts = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
    parts(version) > parts(env!("CARGO_PKG_VERSION"))
}

/// What was read is what is kept, but for fields that are not kept, which are noted by their path,
/// and for absent ones, which are kept as null.
fn is_kept(read: &Value, kept: &Value, path: &str, left_out: &mut BTreeSet<String>) -> bool {
    match (read, kept) {
        (Value::Object(read), Value::Object(kept)) => {
            let absent = kept.iter().all(|(name, value)| value.is_null() || read.contains_key(name));
            absent
                && read.iter().all(|(name, value)| {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    match kept.get(name) {
                        Some(kept) => is_kept(value, kept, &path, left_out),
                        None => {
                            left_out.insert(harmless(&path));
                            true
                        }
                    }
                })
        }
        (Value::Array(read), Value::Array(kept)) => {
            read.len() == kept.len() && read.iter().zip(kept).all(|(read, kept)| is_kept(read, kept, path, left_out))
        }
        (read, kept) => read == kept,
    }
}

fn at(line: u64, reason: &str) -> RunFileError {
    RunFileError::Line { line, reason: reason.to_owned() }
}

/// Lines gone by, and their checksum.
#[derive(Default)]
struct Tally {
    lines: u64,
    bytes: u64,
    hash: Sha256,
}

impl Tally {
    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        self.bytes += line.len() as u64;
        self.hash.update(line);
    }

    /// Refuses a line beyond the limits.
    fn check_limits(&self, line: &[u8]) -> Result<(), RunFileError> {
        let length = line.len() as u64;
        if length > MAX_LINE_BYTES {
            return Err(RunFileError::TooLarge { line: self.lines + 1, limit: MAX_LINE_BYTES, what: "line" });
        }
        if self.bytes + length > MAX_FILE_BYTES {
            return Err(RunFileError::TooLarge { line: self.lines + 1, limit: MAX_FILE_BYTES, what: "file" });
        }
        Ok(())
    }

    fn checksum(&self) -> String {
        self.hash.clone().finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing into a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The one last line that fits.
    fn end_line(&self) -> Vec<u8> {
        format!("{{\"t\":\"end\",\"lines\":{},\"sha256\":\"{}\"}}\n", self.lines, self.checksum()).into_bytes()
    }
}

struct Exporter<'a> {
    output: &'a mut dyn Write,
    tally: Tally,
}

impl Exporter<'_> {
    fn record<T: Serialize>(&mut self, record: &T) -> Result<(), RunFileError> {
        let mut line = serde_json::to_vec(record).map_err(|error| RunFileError::Write(error.into()))?;
        line.push(b'\n');
        self.tally.check_limits(&line)?;
        self.tally.add(&line);
        self.output.write_all(&line).map_err(RunFileError::Write)
    }
}

/// How a start is written.
const INVOCATION: &[u8] = b"{\"t\":\"invocation\",";

/// What is read of any line to see which it is.
#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
    #[serde(default)]
    format: Option<u64>,
}

#[derive(Deserialize)]
struct EndRecord {
    lines: u64,
}

struct Importer<'a> {
    input: &'a mut dyn BufRead,
    /// The current line with its line feed, if it has one.
    line: Vec<u8>,
    /// Of the lines before the current one.
    tally: Tally,
    /// Fields that this version does not know.
    left_out: BTreeSet<String>,
}

impl Importer<'_> {
    /// Reads the next line, which is empty at the end of the file, and gives its number.
    fn next(&mut self) -> Result<u64, RunFileError> {
        self.line.clear();
        let mut limited = Read::take(&mut *self.input, MAX_LINE_BYTES + 1);
        limited.read_until(b'\n', &mut self.line).map_err(RunFileError::Read)?;
        if self.line.ends_with(b"\r\n") {
            self.line.remove(self.line.len() - 2);
        }
        self.tally.check_limits(&self.line)?;
        let number = self.tally.lines + 1;
        limits::texts(&self.line).map_err(|reason| at(number, &reason))?;
        Ok(number)
    }

    fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RunFileError> {
        serde_json::from_slice(&self.line).map_err(|error| at(self.tally.lines + 1, &json_reason(&error)))
    }

    /// What the current line is. Nearly all are starts, which is seen at their beginning; the rest
    /// of such a line is read once.
    fn tag(&self) -> Result<Cow<'_, str>, RunFileError> {
        if self.line.starts_with(INVOCATION) {
            return Ok(tag::INVOCATION.into());
        }
        self.parse().map(|tag: Tag<'_>| tag.t)
    }

    /// The current line as a record, if it is written in the one form of that record; if it is
    /// `later`, it may have more fields.
    fn record<T: Serialize + DeserializeOwned>(&mut self, later: impl Fn(&T) -> bool) -> Result<T, RunFileError> {
        let record: T = self.parse()?;
        let again = serde_json::to_vec(&record).map_err(|error| RunFileError::Read(error.into()))?;
        if self.line.strip_suffix(b"\n") != Some(&again) {
            if later(&record) && self.is_kept_in(&again)? {
                return Ok(record);
            }
            let first = self.line.iter().zip(&again).take_while(|(read, written)| read == written).count() + 1;
            let reason = format!("from byte {first} on it is not written the way export writes it");
            return Err(at(self.tally.lines + 1, &reason));
        }
        Ok(record)
    }

    /// All that this version knows of the current line is in the record; what it does not know is
    /// noted.
    fn is_kept_in(&mut self, again: &[u8]) -> Result<bool, RunFileError> {
        let (read, kept): (Value, Value) = (self.parse()?, serde_json::from_slice(again).unwrap_or_default());
        Ok(is_kept(&read, &kept, "", &mut self.left_out))
    }

    /// The first line, which also says whether this is a run file at all.
    fn header(&mut self) -> Result<Run, RunFileError> {
        let foreign = |reason: &str| RunFileError::Foreign { reason: reason.to_owned() };
        let begin = self.input.fill_buf().map_err(RunFileError::Read)?;
        if let Some(what) = switchcost_model::foreign(begin) {
            return Err(RunFileError::Encoded { what });
        }
        let number = self.next()?;
        if self.line.is_empty() {
            return Err(foreign("it is empty"));
        }
        if self.line.starts_with(b"SQLite format 3\0") {
            return Err(foreign("it is an SQLite file, perhaps a store"));
        }
        if self.line.last() != Some(&b'\n') && self.line.starts_with(b"{\"t\":\"run\"") {
            return Err(RunFileError::Truncated { line: number, invocations: 0 });
        }
        let tag: Tag<'_> =
            serde_json::from_slice(&self.line).map_err(|_| foreign("its first line is not the header of a run"))?;
        match (&*tag.t, tag.format) {
            (tag::RUN, Some(FORMAT)) => {}
            (tag::RUN, Some(found)) if found > FORMAT => {
                return Err(RunFileError::NewerFormat { found, known: FORMAT });
            }
            (tag::RUN, _) => return Err(at(number, "the header names no known format")),
            _ => return Err(foreign("its first line is not the header of a run")),
        }
        let run = self.record(|record: &RunRecord<Run>| is_later(&record.run.tool_version))?.run;
        rules::check(&run).map_err(|reason| at(number, &reason))?;
        self.tally.add(&self.line);
        Ok(run)
    }

    /// The last line, which must be the one that fits, byte by byte, with nothing behind it.
    fn end(&mut self) -> Result<(), RunFileError> {
        if self.line != self.tally.end_line() {
            let changed = |reason| Err(RunFileError::Changed { reason });
            let end: EndRecord = self.parse()?;
            if end.lines != self.tally.lines {
                return changed(format!(
                    "its last line counts {} lines, but {} are there",
                    end.lines, self.tally.lines
                ));
            }
            return changed("its content does not fit the checksum in its last line".to_owned());
        }
        let rest = self.input.fill_buf().map_err(RunFileError::Read)?;
        if !rest.is_empty() {
            return Err(at(self.tally.lines + 2, "something follows the `end` line"));
        }
        Ok(())
    }
}
