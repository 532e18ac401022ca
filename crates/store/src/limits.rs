//! The table of limits of run files. A run of ours stays far below each; a file beyond one is
//! refused before it costs time or memory.

use switchcost_model::{Run, Variant};

/// Longest line, line feed included: five million ticks.
pub const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// Longest file.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Longest single text, as it stands in the file (a note, a value of a parameter, a command, a
/// log): a probe's line is no longer.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Most planned variants.
pub const MAX_VARIANTS: usize = 10_000;
/// Most invocations: a thousand starts of each of fifty rows.
pub const MAX_INVOCATIONS: usize = 50_000;
/// Most lines of extensions, which are skipped.
pub const MAX_EXTENSIONS: usize = 10_000;
/// Most parameters of a variant.
pub const MAX_PARAMETERS: usize = 64;

/// Refuses to write what could not be read again.
pub fn run(run: &Run) -> Result<(), String> {
    count("variants", run.variants.len().saturating_sub(1), MAX_VARIANTS)?;
    count("invocations", run.invocations.len().saturating_sub(1), MAX_INVOCATIONS)
}

/// Refuses one more of what there may be `most`.
pub fn count(what: &str, known: usize, most: usize) -> Result<(), String> {
    if known < most { Ok(()) } else { Err(format!("more than {most} {what}")) }
}

/// Refuses a variant whose parameters would cost more than any of ours.
pub fn variant(variant: &Variant) -> Result<(), String> {
    let parameters = variant.parameters.len();
    if parameters <= MAX_PARAMETERS {
        return Ok(());
    }
    Err(format!("a variant with {parameters} parameters; at most {MAX_PARAMETERS} are read"))
}

/// Refuses a line that holds a text longer than any of ours, before it is parsed.
pub fn texts(line: &[u8]) -> Result<(), String> {
    if line.len() <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let mut rest = line;
    while let Some(start) = rest.iter().position(|&byte| byte == b'"') {
        let mut end = start + 1;
        while let Some(byte) = rest.get(end).filter(|&&byte| byte != b'"') {
            end += if *byte == b'\\' { 2 } else { 1 };
        }
        if end - start > MAX_TEXT_BYTES {
            return Err(format!("a text longer than {MAX_TEXT_BYTES} bytes"));
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(())
}
