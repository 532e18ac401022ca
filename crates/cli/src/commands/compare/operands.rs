//! From what was typed to runs and rows.

use crate::exit::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use switchcost_analysis::{Analysis, Row};
use switchcost_catalogue::grammar::{Pattern, nearest};
use switchcost_catalogue::{Published, published};
use switchcost_model::Run;
use switchcost_report::listed;
use switchcost_store::{BASELINE, Store};

/// An operand whose run is loaded.
pub enum Operand {
    /// Rows of a run.
    Rows {
        /// As typed.
        text: String,
        /// Index into [`Runs::all`].
        run: usize,
        /// Which rows.
        which: Which,
    },
    /// A figure of others.
    Published(Published),
}

/// Rows of a run.
pub enum Which {
    /// All but second halves of A/A pairs.
    All,
    /// Those that this names.
    Pattern(String),
    /// Those of these variants.
    Rows {
        /// Indices of variants.
        rows: Vec<usize>,
        /// They may be several.
        many: bool,
    },
}

/// Loaded runs; each only once, so that two rows of one run are known to be of one run.
pub struct Runs {
    /// In the order of first mention.
    pub all: Vec<Run>,
    store_path: PathBuf,
    store: Option<Store>,
    /// Id of a stored run → its place in `all`.
    stored: BTreeMap<String, usize>,
    default: String,
}

impl Runs {
    /// None loaded yet; labels without a run belong to `default`.
    pub fn new(store_path: PathBuf, default: &str) -> Self {
        Self { all: Vec::new(), store_path, store: None, stored: BTreeMap::new(), default: default.to_owned() }
    }

    /// One run that was just measured.
    pub fn of(run: Run) -> Self {
        Self { all: vec![run], ..Self::new(PathBuf::new(), "") }
    }

    /// Reads an operand and loads its run.
    pub fn operand(&mut self, text: &str) -> Result<Operand, Failure> {
        if let Some(name) = text.strip_prefix("published:") {
            return find_published(name).map(Operand::Published);
        }
        let (source, pattern) = split(text);
        let source = source.map_or_else(|| self.default.clone(), str::to_owned);
        let run = self.load(&source)?;
        let which = pattern.map_or(Which::All, |pattern| Which::Pattern(pattern.to_owned()));
        Ok(Operand::Rows { text: text.to_owned(), run, which })
    }

    /// Index of the run of this id, `latest~N` or file.
    pub fn load(&mut self, source: &str) -> Result<usize, Failure> {
        if is_file(source) {
            return crate::commands::run_file(Path::new(source)).map(|run| self.add(run));
        }
        if self.store.is_none() {
            self.store = Some(Store::open_read_only(&self.store_path).map_err(Failure::usage)?);
        }
        let Some(store) = &self.store else { return Err(Failure::internal("the store was not opened")) };
        let id = store.resolve(source).map_err(Failure::usage)?;
        if let Some(&known) = self.stored.get(&id) {
            return Ok(known);
        }
        let run = store.load(&id).map_err(Failure::usage)?;
        let index = self.add(run);
        self.stored.insert(id, index);
        Ok(index)
    }

    fn add(&mut self, run: Run) -> usize {
        self.all.iter().position(|known| *known == run).unwrap_or_else(|| {
            self.all.push(run);
            self.all.len() - 1
        })
    }
}

fn is_file(text: &str) -> bool {
    text.ends_with(".jsonl") || Path::new(text).is_file()
}

/// RUN, RUN:PATTERN, FILE, FILE:PATTERN or PATTERN, where a RUN may be baseline:NAME. A pattern has a slash or a star; the id of a run has neither.
fn split(text: &str) -> (Option<&str>, Option<&str>) {
    if is_file(text) {
        return (Some(text), None);
    }
    if let Some(at) = text.rfind(".jsonl:") {
        let (file, pattern) = text.split_at(at + ".jsonl".len());
        return (Some(file), Some(&pattern[1..]));
    }
    if let Some(name) = text.strip_prefix(BASELINE) {
        let end = name.find(':').map_or(text.len(), |at| BASELINE.len() + at);
        return (Some(&text[..end]), text.get(end + 1..));
    }
    match text.split_once(':') {
        Some((run, pattern)) => (Some(run), Some(pattern)),
        None if text.contains(['/', '*', ' ']) => (None, Some(text)),
        None => (Some(text), None),
    }
}

/// A published figure by its name.
pub fn find_published(name: &str) -> Result<Published, Failure> {
    let all = published();
    if let Some(found) = all.iter().find(|value| value.name == name) {
        return Ok(found.clone());
    }
    let hint = match nearest(name, all.iter().map(|value| value.name.as_str())) {
        Some(near) => format!("did you mean `published:{near}`?"),
        None => format!("there are {}", listed(all.iter().map(|value| value.name.clone()).collect())),
    };
    Err(Failure::usage(format!("no published figure is called `{name}`; {hint}")))
}

/// The rows that an operand names.
pub struct Chosen<'l, 'r> {
    /// They may be several: a run, or a pattern with a star.
    pub many: bool,
    /// In the order of the ladder.
    pub rows: Vec<&'l Row<'r>>,
}

/// Chooses among the rows of a run: by label, or by mechanism and further words of the label, in any order.
pub fn choose<'l, 'r>(analysis: &'l Analysis<'r>, which: &Which) -> Result<Chosen<'l, 'r>, Failure> {
    let run = &analysis.run.id;
    // The second half of an A/A pair is there for the noise floor; it is compared only if it is named.
    let originals = || analysis.originals();
    let pattern = match which {
        Which::All => return Ok(Chosen { many: true, rows: originals().collect() }),
        Which::Rows { rows, many } => {
            let rows = analysis.ladder().filter(|row| rows.contains(&row.index)).collect();
            return Ok(Chosen { many: *many, rows });
        }
        Which::Pattern(pattern) => pattern,
    };
    let fitting = Pattern::parse(pattern).map_err(Failure::usage)?;
    if let Some(row) = analysis.ladder().find(|row| row.label == *pattern) {
        return Ok(Chosen { many: false, rows: vec![row] });
    }
    let rows: Vec<&Row<'_>> = originals().filter(|row| fitting.fits(row.variant, &row.label)).collect();
    let many = fitting.is_many();
    match rows.len() {
        0 => Err(unknown(&originals().collect::<Vec<_>>(), pattern, run)),
        1 => Ok(Chosen { many, rows }),
        _ if many => Ok(Chosen { many, rows }),
        _ => {
            let labels = listed(rows.iter().map(|row| row.label.clone()).collect());
            Err(Failure::usage(format!(
                "`{pattern}` fits {} rows of run {run}: {labels}; name one of them",
                rows.len()
            )))
        }
    }
}

fn unknown(rows: &[&Row<'_>], pattern: &str, run: &str) -> Failure {
    let hint = match nearest(pattern, rows.iter().map(|row| row.label.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has {}", listed(rows.iter().map(|row| row.label.clone()).collect())),
    };
    Failure::usage(format!("run {run} has no row `{pattern}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_split_into_run_and_pattern() {
        for (text, expected) in [
            ("latest", (Some("latest"), None)),
            ("latest~1:thread/pipe", (Some("latest~1"), Some("thread/pipe"))),
            ("thread/pipe free", (None, Some("thread/pipe free"))),
            ("*", (None, Some("*"))),
            ("a/b.jsonl", (Some("a/b.jsonl"), None)),
            ("baseline:v1.0", (Some("baseline:v1.0"), None)),
            ("baseline:v1.0:thread/*", (Some("baseline:v1.0"), Some("thread/*"))),
            ("c:/b.jsonl:thread/*", (Some("c:/b.jsonl"), Some("thread/*"))),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }
}
