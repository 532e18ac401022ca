//! Strict readers of transcripts.

use crate::wire::at_most;
use crate::{PROTOCOL_VERSION, wire};
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchcost_model::{Broken, Described, End, EndStatus, Fault, Hello, Phase, Transcript};

/// Longest line a probe may write.
pub const MAX_LINE_BYTES: usize = 65_536;

/// Most bytes of one transcript; a probe that floods is stopped here. A million samples are about
/// 10 MB.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Most messages of one transcript: a million samples are 250.
const MAX_MESSAGES: u64 = 100_000;

/// Most mechanisms of one probe: fifty times ours.
const MAX_MECHANISMS: u64 = 2000;

/// Most notes of one transcript: they are for people.
const MAX_NOTES: u64 = 100;

/// Bytes of a line that are shown where it is not JSON: mostly it is a runtime's warning.
const SHOWN: usize = 60;

/// Splits bytes into checked JSON objects; shared by both readers.
#[derive(Debug, Default)]
struct Lines {
    pending: Vec<u8>,
    count: u64,
    bytes: u64,
}

impl Lines {
    /// Takes more bytes; [`Lines::next`] gives the lines in them.
    fn add(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next complete line, however the bytes came.
    fn next(&mut self) -> Option<Result<(u64, String, Value), Fault>> {
        let line: Vec<u8> = match self.pending.iter().position(|&byte| byte == b'\n') {
            Some(end) => self.pending.drain(..=end).collect(),
            None if self.pending.len() <= MAX_LINE_BYTES => return None,
            None => std::mem::take(&mut self.pending),
        };
        self.count += 1;
        self.bytes += line.len() as u64;
        let read = self.within_limits(line.len()).and_then(|()| parse(&line));
        Some(match read {
            Ok((kind, value)) => Ok((self.count, kind, value)),
            Err(broken) => Err(Fault { line: self.count, broken }),
        })
    }

    fn within_limits(&self, length: usize) -> Result<(), Broken> {
        at_most("bytes in all", self.bytes, MAX_BYTES)?;
        at_most("messages", self.count, MAX_MESSAGES)?;
        if length > MAX_LINE_BYTES { Err(Broken::TooLong { most: MAX_LINE_BYTES as u64 }) } else { Ok(()) }
    }
}

fn parse(line: &[u8]) -> Result<(String, Value), Broken> {
    if !line.is_ascii() {
        return Err(Broken::NotAscii);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let shown: String = line.iter().take(SHOWN).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
        Broken::NotJson { text: shown.trim_end_matches("\\n").to_owned(), cause: error.to_string() }
    })?;
    let kind = value.get("t").and_then(Value::as_str).ok_or(Broken::NoKind)?.to_owned();
    Ok((kind, value))
}

fn decode<T: DeserializeOwned>(kind: &str, value: Value) -> Result<T, Broken> {
    serde_json::from_value(value).map_err(|error| Broken::Unread { message: kind.into(), cause: error.to_string() })
}

/// The part of a message that the model knows, if it keeps its rules.
fn checked<T: DeserializeOwned>(kind: &str, value: Value, check: fn(&T) -> Result<(), Broken>) -> Result<T, Broken> {
    let part = decode(kind, value)?;
    check(&part).map(|()| part)
}

fn early(message: &str, first: &str) -> Broken {
    Broken::Early { message: message.into(), first: first.into() }
}

fn second(message: &str) -> Broken {
    Broken::Second { message: message.into() }
}

fn decode_hello(value: Value) -> Result<Hello, Broken> {
    let hello: wire::Hello = decode("hello", value)?;
    if hello.protocol != PROTOCOL_VERSION {
        return Err(Broken::OtherProtocol { spoken: hello.protocol, known: PROTOCOL_VERSION });
    }
    hello.into_model()
}

/// Reads the answer to `run`.
#[derive(Debug, Default)]
pub struct RunReader {
    lines: Lines,
    transcript: Transcript,
    next_seq: u64,
    sent: u64,
    measuring: bool,
}

impl RunReader {
    /// Takes bytes as they arrive. After a fault, or after `end`, reading is over.
    ///
    /// # Errors
    /// The first broken rule; it is also kept in the transcript.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.lines.add(bytes);
        while let Some(read) = self.lines.next() {
            let taken = read
                .and_then(|(line, kind, value)| self.message(&kind, value).map_err(|broken| Fault { line, broken }));
            taken.inspect_err(|fault| self.transcript.fault = Some(fault.clone()))?;
        }
        Ok(())
    }

    /// True after `end`.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.transcript.end.is_some()
    }

    /// True from the first message on.
    #[must_use]
    pub fn started(&self) -> bool {
        self.transcript.hello.is_some()
    }

    /// What was read so far.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Messages with samples or histograms so far.
    #[must_use]
    pub fn measurements(&self) -> u64 {
        self.next_seq
    }

    /// What was read, complete or not.
    #[must_use]
    pub fn into_transcript(mut self) -> Transcript {
        if !self.lines.pending.is_empty() && self.transcript.fault.is_none() {
            self.transcript.fault = Some(Fault { line: self.lines.count + 1, broken: Broken::CutShort });
        }
        self.transcript
    }

    fn message(&mut self, kind: &str, value: Value) -> Result<(), Broken> {
        if self.ended() {
            return Err(Broken::AfterEnd);
        }
        if kind != "hello" && self.transcript.hello.is_none() {
            return Err(early(kind, "hello"));
        }
        match kind {
            "hello" if self.transcript.hello.is_some() => return Err(second(kind)),
            "hello" => self.transcript.hello = Some(decode_hello(value)?),
            "plan" if self.transcript.plan.is_some() => return Err(second(kind)),
            "plan" => self.transcript.plan = Some(checked(kind, value, wire::check_plan)?),
            "samples" => self.samples(value)?,
            "histogram" => self.histogram(value)?,
            "evidence" if self.transcript.evidence.is_some() => return Err(second(kind)),
            "evidence" => self.transcript.evidence = Some(decode(kind, value)?),
            "note" => {
                at_most("notes", self.transcript.notes.len() as u64 + 1, MAX_NOTES)?;
                self.transcript.notes.push(decode::<wire::Note>(kind, value)?.text);
            }
            "end" => self.end(checked(kind, value, wire::check_end)?)?,
            _ if kind.starts_with("x_") => {}
            _ => return Err(Broken::UnknownMessage { message: kind.into() }),
        }
        Ok(())
    }

    fn sequence(&mut self, kind: &str, message: &Value) -> Result<(), Broken> {
        let seq = message["seq"].as_u64().ok_or_else(|| Broken::NoSeq { message: kind.into() })?;
        if self.transcript.plan.is_none() {
            return Err(early(kind, "plan"));
        }
        if self.transcript.evidence.is_some() {
            return Err(Broken::Late { message: kind.into(), last: "evidence".into() });
        }
        if seq != self.next_seq {
            return Err(Broken::OtherSeq { seq, next: self.next_seq });
        }
        self.next_seq += 1;
        Ok(())
    }

    fn phase(&mut self, phase: Phase) -> Result<(), Broken> {
        if phase == Phase::Warmup && self.measuring {
            return Err(Broken::LateWarmup);
        }
        self.measuring = phase == Phase::Measure;
        Ok(())
    }

    fn samples(&mut self, message: Value) -> Result<(), Broken> {
        self.sequence("samples", &message)?;
        let samples = checked("samples", message, wire::check_samples)?;
        self.phase(samples.phase)?;
        self.sent += samples.ticks.len() as u64;
        self.transcript.samples.push(samples);
        Ok(())
    }

    /// Parts of one phase's histogram are joined; totals must agree between the parts.
    fn histogram(&mut self, message: Value) -> Result<(), Broken> {
        self.sequence("histogram", &message)?;
        let part = checked("histogram", message, wire::check_histogram)?;
        self.phase(part.phase)?;
        match self.transcript.histograms.last_mut().filter(|whole| whole.phase == part.phase) {
            Some(whole) => {
                if (whole.units, whole.sum, whole.bits) != (part.units, part.sum, part.bits) {
                    return Err(Broken::PartsDiffer);
                }
                // Each part is in order by itself.
                let joint = whole.buckets.len().saturating_sub(1);
                whole.buckets.extend(part.buckets);
                if !whole.buckets.iter().skip(joint).is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(Broken::PartsOverlap);
                }
            }
            None => {
                self.sent = self.sent.saturating_add(part.units);
                self.transcript.histograms.push(part);
            }
        }
        Ok(())
    }

    fn end(&mut self, end: End) -> Result<(), Broken> {
        if end.status == EndStatus::Ok {
            if self.transcript.evidence.is_none() {
                return Err(Broken::NoEvidence);
            }
            if end.samples != self.sent {
                return Err(Broken::SamplesDiffer { counted: end.samples, arrived: self.sent });
            }
            for histogram in &self.transcript.histograms {
                let counted = histogram.buckets.iter().try_fold(0_u64, |sum, &(_, count)| sum.checked_add(count));
                if counted != Some(histogram.units) {
                    return Err(Broken::BucketsCannotAdd);
                }
            }
        }
        self.transcript.end = Some(end);
        Ok(())
    }
}

/// Reads the answer to `describe`.
#[derive(Debug, Default)]
pub struct DescribeReader {
    lines: Lines,
    hello: Option<Hello>,
    mechanisms: Vec<Described>,
    ended: bool,
}

impl DescribeReader {
    /// Takes bytes as they arrive.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.lines.add(bytes);
        while let Some(read) = self.lines.next() {
            let (line, kind, value) = read?;
            self.message(&kind, value).map_err(|broken| Fault { line, broken })?;
        }
        Ok(())
    }

    /// True after `end`.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Introduction and list.
    ///
    /// # Errors
    /// The answer is not complete.
    pub fn finish(self) -> Result<(Hello, Vec<Described>), Fault> {
        match self.hello {
            Some(hello) if self.ended => Ok((hello, self.mechanisms)),
            _ => Err(Fault { line: self.lines.count, broken: Broken::NoEnd }),
        }
    }

    fn message(&mut self, kind: &str, value: Value) -> Result<(), Broken> {
        if self.ended {
            return Err(Broken::AfterEnd);
        }
        if kind != "hello" && self.hello.is_none() {
            return Err(early(kind, "hello"));
        }
        match kind {
            "hello" if self.hello.is_some() => return Err(second(kind)),
            "hello" => self.hello = Some(decode_hello(value)?),
            "mechanism" => {
                let described = decode::<wire::Mechanism>(kind, value)?.into_model()?;
                at_most("mechanisms", self.mechanisms.len() as u64 + 1, MAX_MECHANISMS)?;
                if self.mechanisms.iter().any(|known| known.id == described.id) {
                    return Err(Broken::DescribedTwice { mechanism: described.id });
                }
                self.mechanisms.push(described);
            }
            "note" => drop(decode::<wire::Note>(kind, value)?),
            "end" => {
                let end = checked(kind, value, wire::check_end)?;
                if end.status != EndStatus::Ok {
                    return Err(Broken::Refused { detail: end.detail.unwrap_or_default() });
                }
                self.ended = true;
            }
            _ if kind.starts_with("x_") => {}
            _ => return Err(Broken::UnknownMessage { message: kind.into() }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
