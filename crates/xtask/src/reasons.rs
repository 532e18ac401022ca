//! docs/reasons.md: every reason of a verdict with its code, its sentence, its bound and what to
//! do.

use crate::places::top;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use switchcost_analysis::Constants;
use switchcost_analysis::number::grouped;

/// The page.
pub const PAGE: &str = "docs/reasons.md";

/// Where the sentences stand.
const SOURCE: &str = "crates/model/src/reason.rs";

/// Where groups and bounds do.
const LIST: &str = "data/reasons.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    title: String,
    act: String,
    codes: BTreeMap<String, String>,
}

/// The page: what is written before its first group, and all groups.
pub fn page() -> anyhow::Result<String> {
    let read = |path: &str| fs::read_to_string(top().join(path)).with_context(|| format!("cannot read {path}"));
    let (written, source, list) = (read(PAGE)?, read(SOURCE)?, read(LIST)?);
    if let Some((name, _, _)) = Constants::TABLE.iter().find(|(name, _, _)| !list.contains(&format!("{{{name}}}"))) {
        bail!("{LIST}: no bound names the constant {name}");
    }
    let list: List = toml::from_str(&list).context(LIST)?;
    let mut sentences = sentences(&source);
    let (head, _) = written.split_once("\n## ").with_context(|| format!("{PAGE} has no group"))?;
    let mut page = format!("{}\n", head.trim_end());
    for group in &list.group {
        write!(
            page,
            "\n## {}\n\n{}\n\n| code | what was seen | bound |\n|---|---|---|\n",
            group.title,
            group.act.trim()
        )?;
        for (code, bound) in &group.codes {
            let seen = sentences
                .remove(code)
                .with_context(|| format!("{LIST}: {code} names nothing, or stands there twice"))?;
            writeln!(page, "| `{code}` | {seen} | {} |", with_values(bound)?)?;
        }
    }
    let lacking: BTreeSet<&String> = sentences.keys().collect();
    if !lacking.is_empty() {
        bail!("{LIST} lacks {lacking:?}");
    }
    Ok(page)
}

/// The sentence of each code, what it names in italics.
fn sentences(source: &str) -> BTreeMap<String, String> {
    let mut sentences = BTreeMap::new();
    for part in source.split("#[error(").skip(1) {
        let Some((text, rest)) = part.split_once('"').and_then(|(_, text)| text.split_once('"')) else { continue };
        let kind = rest.lines().map(str::trim).find(|line| line.starts_with(char::is_uppercase)).unwrap_or_default();
        let end = kind.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(kind.len());
        sentences.insert(snake(&kind[..end]), readable(text));
    }
    sentences
}

/// A name in the form of JSON.
fn snake(name: &str) -> String {
    let letters = name.char_indices().map(|(at, letter)| {
        let low = letter.to_ascii_lowercase();
        if at > 0 && letter.is_uppercase() { format!("_{low}") } else { low.to_string() }
    });
    letters.collect()
}

/// `{name:.1}` as *name*; the last words of a log, and a bound, which follows its word, are left
/// out.
fn readable(text: &str) -> String {
    let mut parts = text.split('{');
    let mut readable = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_once('}').unwrap_or((part, ""));
        let name = place.split(':').next().unwrap_or_default();
        match name {
            "words" | "limits" => {}
            "" if (readable.is_empty() || readable.ends_with([' ', '('])) && !rest.starts_with(char::is_alphabetic) => {
                readable.push('…')
            }
            "" => {}
            _ => readable += &format!("*{}*", name.replace('_', " ")),
        }
        readable.push_str(rest);
    }
    readable.replace('|', "\\|")
}

/// A text with the values of the constants that it names.
fn with_values(text: &str) -> anyhow::Result<String> {
    let mut whole = text.to_owned();
    for (name, _, place) in Constants::TABLE {
        let value = *place(&mut Constants::OURS.clone());
        let shown = match value {
            ms if name.ends_with("_ns") && ms >= 1e6 => format!("{} ms", ms / 1e6),
            us if name.ends_with("_ns") && us >= 1e3 => format!("{} µs", us / 1e3),
            ns if name.ends_with("_ns") => format!("{ns} ns"),
            few if few < 10_000.0 => few.to_string(),
            many => grouped(many as i64),
        };
        whole = whole.replace(&format!("{{{name}}}"), &shown);
    }
    if whole.contains('{') {
        bail!("{LIST}: a constant of this bound does not exist: {whole}");
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_read_with_what_it_names() {
        let source = "enum R {\n    #[error(\n        \"it took {took_ms:.1} ms{} ({:.2} each)\",\n        bound(\"; \", most, \"\")\n    )]\n    TooLong {\n        took_ms: f64,\n    },\n    #[error(\"{}\", only())]\n    Odd { fault: String },\n    #[error(\"{fault}{words}\")]\n    Last,\n}\n";
        let sentences = sentences(source);
        assert_eq!(sentences["too_long"], "it took *took ms* ms (… each)");
        assert_eq!([&*sentences["odd"], &*sentences["last"]], ["…", "*fault*"]);
        assert_eq!(with_values("{clock_ns} and {clock_share}").unwrap(), "1 ms and 0.01");
        assert!(with_values("{none}").is_err());
    }
}
