//! The user's defaults: values of options, from a file. What stands on the command line comes
//! first.

use crate::exit::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use switchcost_machine::cause;
use switchcost_model::harmless;
use toml::{Table, Value};

/// Options of commands that a file may set.
pub const OPTIONS: [&str; 5] = ["budget", "placement", "contexts", "format", "gate"];

/// The key of the store, which is every command's.
const STORE: &str = "store";

/// What a file says.
#[derive(Debug, Default, Clone)]
pub struct Defaults {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    store: Option<PathBuf>,
    /// Values of options by command and option.
    pub options: BTreeMap<(String, String), Vec<String>>,
}

/// What the file said, and the words by which a run records it.
static IN_FORCE: OnceLock<(Defaults, Vec<String>)> = OnceLock::new();

impl Defaults {
    /// Reads a file that was named, which must be there, or the user's own. A folder that one
    /// enters has no say.
    ///
    /// # Errors
    /// It cannot be read, others may write it, or it has what a file of defaults has not.
    pub fn read(named: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = named.map(Path::to_owned).or_else(own) else { return Ok(Self::default()) };
        let refused = |reason: String| Failure::usage(format!("{}: {reason}", path.display()));
        match path.metadata() {
            // Of a folder of somebody else's, as that of HOME may be, the user has no file.
            Err(_) if named.is_none() => return Ok(Self::default()),
            Ok(there) if named.is_none() && !there.is_file() => return Err(refused("is not a file".to_owned())),
            _ => {}
        }
        let text =
            std::fs::read_to_string(&path).map_err(|error| refused(format!("cannot be read ({})", cause(&error))))?;
        if named.is_none() {
            switchcost_machine::only_owner_writes(&path).map_err(Failure::usage)?;
        }
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(0, |span| text.bytes().take(span.start).filter(|b| *b == b'\n').count()) + 1;
            refused(format!("line {line} is not TOML: {}", harmless(error.message())))
        })?;
        let mut read = Self { file: Some(path.clone()), ..Self::default() };
        for (key, value) in table {
            match value {
                Value::Table(options) => {
                    for (option, value) in options {
                        let kind = format!("[{key}] {option}: it is a text, a number or a list of them");
                        let values = words(&value).ok_or_else(|| refused(kind))?;
                        read.options.insert((key.clone(), option), values);
                    }
                }
                Value::String(store) if key == STORE && Path::new(&store).is_absolute() => {
                    read.store = Some(store.into());
                }
                _ if key == STORE => {
                    return Err(refused("store: it is a whole path, such as \"/data/runs.sqlite\"".into()));
                }
                _ => {
                    let known = "write store, or [COMMAND] and its options below";
                    return Err(refused(format!("there is no `{}`; {known}", harmless(&key))));
                }
            }
        }
        Ok(read)
    }

    /// The store that it names.
    #[must_use]
    pub fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

fn words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(text.split(',').map(|word| word.trim().to_owned()).collect()),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Array(all) => Some(all.iter().map(words).collect::<Option<Vec<_>>>()?.concat()),
        _ => None,
    }
}

/// Where the user's own file is looked for.
#[must_use]
pub fn own() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = switchcost_machine::config_home().or_else(|| home().map(|home| home.join(".config")))?;
    Some(base.join("switchcost/config.toml"))
}

/// From here on these hold; `recorded` are the words that stand for them in the command of a run.
pub fn hold(defaults: Defaults, recorded: Vec<String>) {
    let _ = IN_FORCE.set((defaults, recorded));
}

/// Those that hold.
#[must_use]
pub fn in_force() -> Option<&'static Defaults> {
    IN_FORCE.get().map(|(defaults, _)| defaults)
}

/// The value of this option of the command is of the file, and not of the command line.
#[must_use]
pub fn is_default(option: &str) -> bool {
    let start = format!("--{option}=");
    IN_FORCE.get().is_some_and(|(_, words)| words.iter().any(|word| word.starts_with(&start)))
}

/// Words as typed with what the file said in place of its name, so that they mean the same
/// tomorrow.
pub(crate) fn recorded(mut typed: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--no-config" => {}
            "--config" => drop(typed.next()),
            _ if word.starts_with("--config=") => {}
            // What follows is another program's.
            "--" => words.extend(std::iter::once(word).chain(typed.by_ref())),
            _ => words.push(word),
        }
    }
    let behind = words.len().min(2);
    words.splice(behind..behind, IN_FORCE.get().map_or_else(Vec::new, |(_, words)| words.clone()));
    words
}
