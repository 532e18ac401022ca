//! From what was typed to runs and rows.

use crate::parallel::on_all_cpus;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use switchcost_analysis::{Analysis, FEWEST_STARTS, Row, counted, label};
use switchcost_catalogue::grammar::{Pattern, did_you_mean};
use switchcost_catalogue::{Catalogue, Published, published};
use switchcost_machine::is_descriptor;
use switchcost_model::{Invocation, Run, Variant};
use switchcost_report::listed;
use switchcost_session::{Failure, output, read_run_file, run_file};
use switchcost_store::{BASELINE, Store, StoreError};

/// Before the name of a figure of others.
pub const PUBLISHED: &str = "published:";

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
pub struct Runs<'c> {
    /// In the order of first mention.
    pub all: Vec<Run>,
    store_path: PathBuf,
    store: Option<Store>,
    /// Id of a stored run → its place in `all`.
    stored: BTreeMap<String, usize>,
    catalogue: &'c Catalogue,
}

impl<'c> Runs<'c> {
    /// None loaded yet.
    pub fn new(store_path: PathBuf, catalogue: &'c Catalogue) -> Self {
        Self { all: Vec::new(), store_path, store: None, stored: BTreeMap::new(), catalogue }
    }

    /// Reads operands and loads their runs. Patterns without a run belong to the newest run that
    /// has rows for all of them.
    pub fn operands(&mut self, texts: &[String]) -> Result<Vec<Operand>, Failure> {
        let without: Vec<&str> = texts
            .iter()
            .filter_map(|text| match split(text, self.catalogue) {
                (None, pattern) => pattern,
                _ => None,
            })
            .collect();
        let default = match self.beside(texts, &without)? {
            Some(named) => named,
            None => self.newest_with(&without, true)?,
        };
        texts.iter().map(|text| self.operand(text, &default)).collect()
    }

    /// The run that another operand names, if it has rows for all of these; if it lacks one, says
    /// where that is taken from.
    fn beside(&mut self, texts: &[String], patterns: &[&str]) -> Result<Option<String>, Failure> {
        let catalogue = self.catalogue;
        let mut rows = texts.iter().filter(|text| !text.starts_with(PUBLISHED));
        let named = rows.find_map(|text| split(text, catalogue).0);
        let Some(named) = named.filter(|_| !patterns.is_empty()) else { return Ok(None) };
        let run = self.load(named)?;
        for text in patterns {
            let pattern = catalogue.pattern(text).map_err(Failure::usage)?;
            let fits = |variant| pattern.fits(variant, &label(variant, catalogue, false));
            if !self.all[run].variants.iter().any(fits) {
                let newest = self.newest_with(patterns, true)?;
                output::say(&format!("{named} has no row `{text}`; it is taken from run {newest}"));
                return Ok(Some(newest));
            }
        }
        Ok(Some(named.to_owned()))
    }

    /// The newest stored run that has a row for each of these, an imported one only if no other
    /// has; `figures`: with starts enough for an interval. Where none has, the newest that has the
    /// rows, or the newest of all.
    pub fn newest_with(&mut self, patterns: &[&str], figures: bool) -> Result<String, Failure> {
        const LATEST: &str = "latest";
        if patterns.is_empty() {
            return Ok(LATEST.to_owned());
        }
        let catalogue = self.catalogue;
        let patterns: Vec<_> =
            patterns.iter().map(|text| catalogue.pattern(text)).collect::<Result<_, _>>().map_err(Failure::usage)?;
        let store = self.open()?;
        let headers = store.list().map_err(Failure::usage)?;
        let newest = headers.first().map_or_else(|| LATEST.to_owned(), |header| header.id.clone());
        let mut without_figures = None;
        for header in headers {
            // Only the names of its rows are needed, none of its starts.
            let Some(run) = StoreError::unless_later(store.load_if(&header.id, &|_| false)).map_err(Failure::usage)?
            else {
                continue;
            };
            let rows: Vec<_> = run.variants.iter().map(|variant| (variant, label(variant, catalogue, false))).collect();
            let named = |pattern: &Pattern<'_>| {
                let fitting = rows.iter().filter(|(variant, label)| !variant.is_twin() && pattern.fits(variant, label));
                let count = fitting.count();
                let exact = rows.iter().any(|(_, label)| pattern.is_label(label));
                exact || count == 1 || count > 1 && pattern.is_many()
            };
            if !patterns.iter().all(named) {
                continue;
            }
            let asked = |variant: &Variant| {
                patterns.iter().any(|pattern| pattern.fits(variant, &label(variant, catalogue, false)))
            };
            let run = store.load_if(&header.id, &asked).map_err(Failure::usage)?;
            let measured = |pattern: &Pattern<'_>| {
                let fits = |variant: &Variant| pattern.fits(variant, &label(variant, catalogue, false));
                (0..run.variants.len()).any(|index| fits(&run.variants[index]) && has_figure(&run, index))
            };
            if !figures || patterns.iter().all(measured) {
                return Ok(header.id);
            }
            without_figures.get_or_insert(header.id);
        }
        Ok(without_figures.unwrap_or(newest))
    }

    fn open(&mut self) -> Result<&Store, Failure> {
        if self.store.is_none() {
            self.store = Some(Store::open_read_only(&self.store_path).map_err(Failure::usage)?);
        }
        self.store.as_ref().ok_or_else(|| Failure::internal("the store was not opened"))
    }

    fn operand(&mut self, text: &str, default: &str) -> Result<Operand, Failure> {
        if let Some(name) = text.strip_prefix(PUBLISHED) {
            return find_published(name).map(Operand::Published);
        }
        let (source, pattern) = split(text, self.catalogue);
        let source = source.unwrap_or(default).to_owned();
        let run = self.load(&source)?;
        let which = pattern.map_or(Which::All, |pattern| Which::Pattern(pattern.to_owned()));
        Ok(Operand::Rows { text: text.to_owned(), run, which })
    }

    /// Index of the run of this id, `latest~N` or file.
    pub fn load(&mut self, source: &str) -> Result<usize, Failure> {
        if is_file(source) {
            return run_file(Path::new(source), self.catalogue).map(|run| self.add(run));
        }
        let id = self.id(source)?;
        if let Some(&known) = self.stored.get(&id) {
            return Ok(known);
        }
        let run = self.open()?.load(&id).map_err(Failure::usage)?;
        Ok(self.add_stored(id, run))
    }

    /// The same of several, which are read on all CPUs.
    pub fn load_all(&mut self, sources: &[&str]) -> Result<Vec<usize>, Failure> {
        let named = |source: &&str| if is_file(source) { Ok(None) } else { self.id(source).map(Some) };
        let ids = sources.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let (path, catalogue) = (self.store_path.clone(), self.catalogue);
        let read = |store: &mut Option<Store>, (source, id): (&&str, &Option<String>)| {
            let Some(id) = id else { return read_run_file(Path::new(source), catalogue) };
            if store.is_none() {
                *store = Some(Store::open_read_only(&path).map_err(Failure::usage)?);
            }
            let store = store.as_ref().ok_or_else(|| Failure::internal("the store was not opened"))?;
            store.load(id).map(|run| (run, Vec::new())).map_err(Failure::usage)
        };
        let work = || sources.par_iter().zip(&ids).map_init(|| None, read).collect::<Result<Vec<_>, _>>();
        let mut places = Vec::new();
        for ((run, lines), id) in on_all_cpus(work)??.into_iter().zip(ids) {
            lines.iter().for_each(|line| output::say(line));
            places.push(match id {
                Some(id) => self.add_stored(id, run),
                None => self.add(run),
            });
        }
        Ok(places)
    }

    /// Of the stored run that is meant.
    fn id(&mut self, source: &str) -> Result<String, Failure> {
        let catalogue = self.catalogue;
        let store = self.open()?;
        store.resolve(source).map_err(|error| {
            let named = ["latest", BASELINE].iter().any(|name| source.starts_with(name));
            if named
                || source.starts_with(|c: char| c.is_ascii_digit())
                || !matches!(error, StoreError::UnknownRun { .. })
            {
                return Failure::usage(error);
            }
            let hint = catalogue.did_you_mean(source);
            Failure::usage(format!("`{source}` is neither a run, a file nor a mechanism{hint}"))
        })
    }

    fn add_stored(&mut self, id: String, run: Run) -> usize {
        let index = self.add(run);
        self.stored.insert(id, index);
        index
    }

    fn add(&mut self, run: Run) -> usize {
        self.all.iter().position(|known| *known == run).unwrap_or_else(|| {
            switchcost_session::say_future([(run.id.as_str(), run.started_unix_ns)]);
            self.all.push(run);
            self.all.len() - 1
        })
    }
}

/// So many starts of a row count that it has an interval.
pub fn has_figure(run: &Run, variant: usize) -> bool {
    let starts: Vec<&Invocation> = run.invocations.iter().filter(|start| start.variant == variant).collect();
    counted(&starts).0.len() >= FEWEST_STARTS
}

pub fn is_file(text: &str) -> bool {
    // A shell's `<(zcat run.gz)` is none to the system.
    text.ends_with(".jsonl") || is_descriptor(Path::new(text)) || Path::new(text).is_file()
}

/// Without a run before it this names rows: it has a slash or a star, which the id of a run never
/// has, or is what a mechanism is called.
pub fn is_pattern(text: &str, catalogue: &Catalogue) -> bool {
    // A file may be called as a mechanism is: ./thread names that.
    let apart = text.ends_with(".jsonl") || text.contains(':');
    !apart && (is_called(text, catalogue) || !is_file(text) && text.contains(['/', '*', ' ']))
}

/// Some mechanism goes by this name.
pub fn is_called(text: &str, catalogue: &Catalogue) -> bool {
    let known = |pattern: Pattern<'_>| catalogue.mechanisms.iter().any(|known| pattern.names_mechanism(&known.id));
    !text.starts_with(|c: char| c.is_ascii_digit()) && catalogue.pattern(text).is_ok_and(known)
}

/// RUN, RUN:PATTERN, FILE, FILE:PATTERN or PATTERN, where a RUN may be baseline:NAME.
fn split<'t>(text: &'t str, catalogue: &Catalogue) -> (Option<&'t str>, Option<&'t str>) {
    if is_file(text) && !is_pattern(text, catalogue) {
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
        None if is_pattern(text, catalogue) => (None, Some(text)),
        None => (Some(text), None),
    }
}

/// A published figure by its name.
pub fn find_published(name: &str) -> Result<Published, Failure> {
    let all = published();
    if let Some(found) = all.iter().find(|value| value.name == name) {
        return Ok(found.clone());
    }
    let hint = match did_you_mean(name, all.iter().map(|value| value.name.as_str())) {
        none if none.is_empty() => "; `switchcost list published` shows all".to_owned(),
        near => near,
    };
    Err(Failure::usage(format!("no published figure is called `{name}`{hint}")))
}

/// The rows that an operand names.
pub struct Chosen<'l, 'r> {
    /// They may be several: a run, or a pattern with a star.
    pub many: bool,
    /// In the order of the ladder.
    pub rows: Vec<&'l Row<'r>>,
}

/// Chooses among the rows of a run: by label, or by mechanism and further words of the label, in
/// any order.
pub fn choose<'l, 'r>(
    analysis: &'l Analysis<'r>,
    which: &Which,
    catalogue: &Catalogue,
) -> Result<Chosen<'l, 'r>, Failure> {
    let run = &analysis.run.id;
    // The second half of an A/A pair is there for the noise floor; it is compared only if it is
    // named.
    let originals = || analysis.originals();
    let pattern = match which {
        Which::All => return Ok(Chosen { many: true, rows: originals().collect() }),
        Which::Rows { rows, many } => {
            let rows = analysis.ladder().filter(|row| rows.contains(&row.index)).collect();
            return Ok(Chosen { many: *many, rows });
        }
        Which::Pattern(pattern) => pattern,
    };
    let fitting = catalogue.pattern(pattern).map_err(Failure::usage)?;
    if let Some(row) = analysis.ladder().find(|row| fitting.is_label(&row.label)) {
        return Ok(Chosen { many: false, rows: vec![row] });
    }
    let rows: Vec<&Row<'_>> = originals().filter(|row| fitting.fits(row.variant, &row.label)).collect();
    let many = fitting.is_many();
    match rows.len() {
        0 => Err(unknown(&originals().collect::<Vec<_>>(), &fitting, run, catalogue)),
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

fn unknown(rows: &[&Row<'_>], pattern: &Pattern<'_>, run: &str, catalogue: &Catalogue) -> Failure {
    let text = pattern.text();
    if is_called(text, catalogue) {
        return Failure::usage(format!(
            "run {run} has no row `{text}`; --measure measures it now, `switchcost run` for later"
        ));
    }
    let hint = match did_you_mean(text, rows.iter().map(|row| row.label.as_str())) {
        none if none.is_empty() => format!("; it has {}", listed(rows.iter().map(|row| row.label.clone()).collect())),
        near => near,
    };
    Failure::usage(format!("run {run} has no row `{text}`{hint}"))
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
            assert_eq!(split(text, &Catalogue::default()), expected, "{text}");
        }
    }
}
