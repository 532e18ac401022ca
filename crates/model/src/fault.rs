//! Which rule of the protocol an answer broke, as data, and the one place that makes a sentence of
//! it.

use crate::MechanismId;
use serde::{Deserialize, Serialize};

/// A broken rule of the protocol, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line} of the transcript: {broken}")]
pub struct Fault {
    /// Line, from 1.
    pub line: u64,
    /// Which rule.
    pub broken: Broken,
}

/// A rule of the protocol that an answer broke; its clause is what `Display` gives.
///
/// In JSON it is an object whose `kind` names the rule. `cause`: what the parser said; `message`:
/// the message's `t`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "each clause says what its fields are")]
pub enum Broken {
    // Of lines.
    #[error("more than {most} {what}")]
    TooMany { what: String, most: u64 },
    #[error("longer than {most} bytes")]
    TooLong { most: u64 },
    #[error("not ASCII")]
    NotAscii,
    #[error("not JSON ({cause}): `{text}`")]
    NotJson { text: String, cause: String },
    #[error("no text field `t`")]
    NoKind,
    #[error("`{message}` message: {cause}")]
    Unread { message: String, cause: String },
    #[error("unknown message `{message}`")]
    UnknownMessage { message: String },
    #[error("it is cut short")]
    CutShort,

    // Of the order of messages.
    #[error("`{message}` before `{first}`")]
    Early { message: String, first: String },
    #[error("`{message}` after `{last}`")]
    Late { message: String, last: String },
    #[error("a message after `end`")]
    AfterEnd,
    #[error("it stops before `end`")]
    NoEnd,
    #[error("a second `{message}`")]
    Second { message: String },
    #[error("`{message}` message: no whole number `seq`")]
    NoSeq { message: String },
    #[error("seq is {seq} where {next} should follow")]
    OtherSeq { seq: u64, next: u64 },
    #[error("phase warmup after phase measure")]
    LateWarmup,

    // Of what messages say.
    #[error("the probe speaks protocol {spoken}, this host {known}")]
    OtherProtocol { spoken: u64, known: u64 },
    #[error("clock.ticks_per_second is 0")]
    StoppedClock,
    #[error("{mechanism} is described twice")]
    DescribedTwice { mechanism: MechanismId },
    #[error("an unavailable mechanism needs a `{field}`")]
    Unexplained { field: String },
    #[error("end with status {status} needs `code` and `detail`")]
    EndUnexplained { status: String },
    #[error("unknown code `{word}`; expected one of {}", .known.join(", "))]
    UnknownCode { word: String, known: Vec<String> },
    #[error("`{field}` is empty: it must say why")]
    NoWhy { field: String },
    #[error("the probe refused: {detail}")]
    Refused { detail: String },
    #[error("batch_units is 0: the probe did not calibrate")]
    NotCalibrated,
    #[error("units is 0")]
    NoUnits,
    #[error("a batch of negative duration: the clock is not monotonic")]
    NegativeBatch,
    #[error("ruler {ruler} has {ticks} ticks where {batches} batches are")]
    OtherRuler { ruler: String, ticks: u64, batches: u64 },
    #[error("ruler {ruler} took less than nothing")]
    NegativeRuler { ruler: String },
    #[error("buckets are not in ascending order")]
    BucketsMixed,
    #[error("a bucket counts 0")]
    EmptyBucket,
    #[error("bits is above {most}")]
    TooManyBits { most: u64 },
    #[error("parts of one histogram disagree on units, sum or bits")]
    PartsDiffer,
    #[error("parts of one histogram overlap")]
    PartsOverlap,

    // Of what messages say of each other.
    #[error("end ok without `evidence`")]
    NoEvidence,
    #[error("end counts {counted} samples where {arrived} arrived")]
    SamplesDiffer { counted: u64, arrived: u64 },
    #[error("the histogram's buckets do not add up to its units")]
    BucketsCannotAdd,
}
