//! What can go wrong, each as one sentence that names the file or the run, the reason and the cure.

use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use switchcost_model::harmless;

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither base folder is known.
    #[error(
        "there is no place for the store, because neither XDG_DATA_HOME nor HOME is an absolute path; set one of them"
    )]
    NoPlace,
    /// No file there, and it was to be read only.
    #[error("there is no store at `{}`; measure something first, or name the right file", path.display())]
    Missing {
        /// The store.
        path: PathBuf,
    },
    /// The file or its folder cannot be opened.
    #[error("the store `{}` cannot be opened: {reason}; correct the path or its permissions", path.display())]
    CannotOpen {
        /// The store.
        path: PathBuf,
        /// Said by the system.
        reason: String,
    },
    /// The file or its folder is write-protected.
    #[error("the store `{}` cannot be written: {reason}; allow writing there or choose another place", path.display())]
    NotWritable {
        /// The store.
        path: PathBuf,
        /// Said by the system.
        reason: String,
    },
    /// The file is something else.
    #[error("`{}` is not an SQLite file, so it is not a store; name another file (a run file is read by import)", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// An SQLite file of another program.
    #[error(
        "`{}` is an SQLite file of another program (application id {application_id}) and is left alone; name another file",
        path.display()
    )]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// Its application id; 0 if it has none.
        application_id: i32,
    },
    /// Written by a later switchcost.
    #[error(
        "the store `{}` has schema {found} but this switchcost reads schema {known}; use the newer switchcost for it",
        path.display()
    )]
    NewerSchema {
        /// The store.
        path: PathBuf,
        /// Version in the file.
        found: i64,
        /// Version that this crate reads.
        known: i64,
    },
    /// Written by an earlier switchcost.
    #[error(
        "the store `{}` has schema {found} but this switchcost reads schema {known}; move it away, write each run of it \
         to a file with the switchcost that made it (`switchcost export RUN --store OLD -o FILE`), and read that here \
         (`switchcost import FILE`)",
        path.display()
    )]
    OlderSchema {
        /// The store.
        path: PathBuf,
        /// Version in the file.
        found: i64,
        /// Version that this crate reads.
        known: i64,
    },
    /// The content makes no sense.
    #[error(
        "the store `{}` is damaged ({detail}); move it away and import the runs again from a backup or from run files",
        path.display()
    )]
    Corrupt {
        /// The store.
        path: PathBuf,
        /// First finding of SQLite's check, or the record that cannot be read.
        detail: String,
    },
    /// What a run says is whole, and this version does not know a word of it.
    #[error(
        "run {id} in the store `{}` is of a later version, or of a page of yours that is gone ({detail}); it is kept as it is: \
         read it with the switchcost that measured it, or put the page back",
        path.display()
    )]
    Later {
        /// The store.
        path: PathBuf,
        /// The run.
        id: String,
        /// The column, and the word.
        detail: String,
    },
    /// No room.
    #[error("there is no room left for the store `{}`; free some space on its disk and run again", path.display())]
    DiskFull {
        /// The store.
        path: PathBuf,
    },
    /// Somebody else is writing all the time.
    #[error("the store `{}` is locked by another process; wait until that is done and try again", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// Anything else SQLite or the system says.
    #[error("the store `{}` failed: {reason}; check the disk and the session's limits (ulimit -a), and try again", path.display())]
    Failed {
        /// The store.
        path: PathBuf,
        /// Said by SQLite.
        reason: String,
    },
    /// There is nothing to choose from.
    #[error("the store `{}` holds no runs yet; measure something first, or import a run file", path.display())]
    Empty {
        /// The store.
        path: PathBuf,
    },
    /// Nothing is called so.
    #[error("no run in `{}` is called `{selector}`; {hint}", path.display())]
    UnknownRun {
        /// The store.
        path: PathBuf,
        /// What was asked for.
        selector: String,
        /// The nearest run, or the range of what can be asked.
        hint: String,
    },
    /// Several are called so.
    #[error("`{selector}` fits {count} runs in `{}`, the newest being `{newest}`; type more of the id", path.display())]
    Ambiguous {
        /// The store.
        path: PathBuf,
        /// What was asked for.
        selector: String,
        /// How many runs it fits.
        count: usize,
        /// The newest of them.
        newest: String,
    },
    /// The id is taken.
    #[error("a different run called `{id}` is already in `{}` and stays as it is; import into another store", path.display())]
    Conflict {
        /// The store.
        path: PathBuf,
        /// Id of both runs.
        id: String,
    },
    /// Another file stands in its place since a run began, which holds a part of that run.
    #[error(
        "the store `{}` was replaced by another while the run `{id}` went on, and that one holds only a part of it; leave the store in its place, and measure again",
        path.display()
    )]
    Replaced {
        /// The store.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// Not a name.
    #[error("`{name}` is not a name of a baseline; take 1 to 64 letters, digits, hyphens, underscores and dots")]
    BaselineName {
        /// As typed.
        name: String,
    },
    /// The name belongs to another run.
    #[error("the baseline `{name}` in `{}` is already run {run}; say --replace to give the name to another", path.display())]
    BaselineTaken {
        /// The store.
        path: PathBuf,
        /// The name.
        name: String,
        /// Id of the run it names.
        run: String,
    },
    /// No such name.
    #[error("no baseline is called `{name}` in `{}`; {hint}", path.display())]
    UnknownBaseline {
        /// The store.
        path: PathBuf,
        /// As typed.
        name: String,
        /// What there is instead.
        hint: String,
    },
    /// The run that it names is not there any more.
    #[error(
        "the baseline `{name}` names run {run}, which is gone from `{}`; import that run again, or set the name anew with --replace",
        path.display()
    )]
    BaselineGone {
        /// The store.
        path: PathBuf,
        /// The name.
        name: String,
        /// Id of the run that was named.
        run: String,
    },
    /// Something is to be added to a run that has ended.
    #[error("the run `{id}` in `{}` has ended, and an ended run is never changed; begin a new one", path.display())]
    Ended {
        /// The store.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// A run that may be going on is to go.
    #[error(
        "run `{id}` is unfinished and another process has `{}` open, which may be measuring it; wait until that is done",
        path.display()
    )]
    InUse {
        /// The store.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// Somebody else adds to the same run.
    #[error("another process is adding to the run `{id}` in `{}`; wait until it is done", path.display())]
    Overtaken {
        /// The store.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// The records do not hang together: a fault of the caller or of an imported file.
    #[error("the run `{id}` cannot be stored: {reason}; this is a fault of the program that made the run")]
    Rule {
        /// The run.
        id: String,
        /// Which rule it breaks.
        reason: String,
    },
}

impl StoreError {
    /// What was read of one run of many: None if that is of a later version, which costs that run
    /// alone.
    ///
    /// # Errors
    /// Any other.
    pub fn unless_later<T>(read: Result<T, Self>) -> Result<Option<T>, Self> {
        match read {
            Err(Self::Later { .. }) => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Why a run file could not be read or written. The caller, who knows the file's name, puts it in
/// front.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// Reading failed.
    #[error("cannot be read: {0}; check the file and its disk")]
    Read(io::Error),
    /// Writing failed.
    #[error("cannot be written: {0}; check the place and the room on its disk")]
    Write(io::Error),
    /// Not a run file at all.
    #[error("is not a run file: {reason}; give one by `export`")]
    Foreign {
        /// What it is instead, or what is missing.
        reason: String,
    },
    /// Perhaps one, in the form of another system.
    #[error("{what}")]
    Encoded {
        /// What it is, and how to write it.
        what: &'static str,
    },
    /// Written by a later switchcost.
    #[error("is a run file of format {found} but this switchcost knows up to {known}; use the newer switchcost for it")]
    NewerFormat {
        /// Format of the file.
        found: u64,
        /// Latest format known here.
        known: u64,
    },
    /// The rest is missing.
    #[error(
        "is incomplete: it breaks off at line {line}, after {invocations} whole invocations and before the `end` line; copy the file again"
    )]
    Truncated {
        /// Line at which it breaks off, from 1.
        line: u64,
        /// Invocations read until there.
        invocations: usize,
    },
    /// A line is not as it must be.
    #[error("line {line} cannot be understood: {reason}; export the run again")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A limit is exceeded.
    #[error("line {line} goes beyond the limit of {limit} bytes for a {what}; such a file is not made by export")]
    TooLarge {
        /// Number of the line, from 1.
        line: u64,
        /// The limit.
        limit: u64,
        /// `line` or `file`.
        what: &'static str,
    },
    /// The `end` line contradicts the lines before it.
    #[error("was changed after it was exported: {reason}; copy it again without converting line ends or characters")]
    Changed {
        /// Which check failed.
        reason: String,
    },
    /// The records do not hang together.
    #[error("holds a run that does not hang together: {reason}; export the run again")]
    Rule {
        /// Which rule it breaks.
        reason: String,
    },
}

/// Why a record has no meaning, as a clause without the place.
#[derive(Debug)]
pub struct Unreadable(pub String);

/// What goes wrong inside a transaction, before the store puts its path to it.
#[derive(Debug)]
pub enum Fault {
    /// SQLite refused.
    Sql(rusqlite::Error),
    /// A stored record has no meaning.
    Unreadable(String),
    /// A run whose checksum fits has a word that this version does not know: its id, and which.
    Later(String, String),
    /// Already a sentence.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Unreadable> for Fault {
    fn from(error: Unreadable) -> Self {
        Self::Unreadable(error.0)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// The sentence for an error of SQLite.
pub fn explain(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    let reason = harmless(&error.to_string());
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::NotADatabase => StoreError::NotADatabase { path },
            ErrorCode::DatabaseCorrupt => StoreError::Corrupt { path, detail: reason },
            ErrorCode::DiskFull => StoreError::DiskFull { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { path },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::NotWritable { path, reason },
            ErrorCode::CannotOpen => {
                // SQLite does not say why. Of a file that is there, the system does.
                let refused = std::fs::OpenOptions::new().append(true).open(&path).err();
                let refused = refused.filter(|error| error.kind() != std::io::ErrorKind::NotFound);
                let reason = match refused {
                    // EMFILE and ENFILE.
                    Some(error) if matches!(error.raw_os_error(), Some(23 | 24)) => {
                        let reason = "too many files are open".to_owned();
                        return StoreError::Failed { path, reason };
                    }
                    _ if path.is_dir() => "it is a folder".to_owned(),
                    Some(error) => error.to_string(),
                    None => reason,
                };
                StoreError::CannotOpen { path, reason }
            }
            _ => StoreError::Failed { path, reason },
        },
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => StoreError::Corrupt { path, detail: reason },
        _ => StoreError::Failed { path, reason },
    }
}

/// What is wrong with a piece of JSON, without serde_json's line number, which is always 1 here.
pub fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    harmless(&format!("{text} (column {})", error.column()))
}
