//! The store: runs in one SQLite file.

mod busy;
mod files;
mod forgetting;
mod reading;

use crate::baseline::{self, Baseline};
use crate::disk::InvocationRecord;
use crate::error::{Fault, StoreError, explain};
use crate::header::RunHeader;
use crate::shareable::strip_personal;
use crate::{rows, rules, schema, seal, selector};
use busy::{BUSY_TIMEOUT, is_busy, switch_to_log, until_free};
use files::{
    create_private_folders, folder_error, has_log, identity, immutable_uri, make_private, must_be_a_file, plain,
};
use reading::{intact, read_run, vanished};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;
use switchcost_model::{EndedBy, Invocation, Run, Variant, harmless};

/// Pages in the write-ahead log (64 MiB) before SQLite moves them into the file and syncs, amidst a
/// run. SQLite's 1000 would do so every few hundred invocations and take 10 ms to 25 ms (measured);
/// an ordinary run waits for its end.
const LOG_PAGES: i64 = 16_384;

/// Name of the store in errors when it is in memory.
const IN_MEMORY: &str = ":memory:";

/// Runs in one SQLite file.
///
/// Durability: write-ahead log with `synchronous=NORMAL`. A commit hands the invocation to the
/// kernel, so killing the process loses at most the invocation under way. `FULL` would add an fsync
/// to each commit; that protects against power loss only, costs up to tens of ms, and makes the
/// disk work while the next invocation is measured. [`Store::finish_run`] does sync, so a run that
/// has ended survives power loss too.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Device and inode of the file, by which it differs from one that may stand there later.
    file: Option<(u64, u64)>,
}

/// What became of a run that was to be inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// It is stored now.
    Inserted,
    /// The same run, equal in every detail, was already there.
    AlreadyThere,
}

impl Store {
    /// Opens the store for reading and writing; makes it, and its folders, if there is none.
    ///
    /// # Errors
    /// When the file cannot be opened or written, is not a store of ours, or is of another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            create_private_folders(parent).map_err(|error| folder_error(path, parent, &error))?;
        }
        must_be_a_file(path)?;
        make_private(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(plain(path), flags).map_err(|error| explain(path, &error))?;
        let mut store = Self { connection, path: path.to_path_buf(), file: identity(path) };
        store.set_up().map_err(|fault| store.explain(fault))?;
        Ok(store)
    }

    /// Opens an existing store for reading; nothing in it is changed.
    ///
    /// # Errors
    /// When there is none, it cannot be read, is not a store of ours, or is of another version.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Err(StoreError::Missing { path: path.to_path_buf() }),
            Err(error) => {
                return Err(StoreError::CannotOpen { path: path.to_path_buf(), reason: error.kind().to_string() });
            }
        }
        must_be_a_file(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(plain(path), flags).map_err(|error| explain(path, &error))?;
        let mut store = Self { connection, path: path.to_path_buf(), file: identity(path) };
        let is_made = match store.set_up_read_only() {
            // Readers of a write-ahead log need a writable folder, unless nobody can write.
            Err(Fault::Sql(error)) if is_refusal(&error) && !has_log(path) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                store.connection =
                    Connection::open_with_flags(immutable_uri(path), flags).map_err(|error| explain(path, &error))?;
                store.set_up_read_only()
            }
            other => other,
        }
        .map_err(|fault| store.explain(fault))?;
        if !is_made {
            // Another process is about to make it, or was killed when it was.
            return Err(StoreError::Empty { path: store.path });
        }
        Ok(store)
    }

    /// A store that is gone when it is dropped.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(IN_MEMORY);
        let connection = Connection::open_in_memory().map_err(|error| explain(&path, &error))?;
        let mut store = Self { connection, path, file: None };
        store.set_up().map_err(|fault| store.explain(fault))?;
        Ok(store)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file was removed or replaced since it was opened: what is written goes nowhere.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.file.is_some() && identity(&self.path) != self.file
    }

    /// How long a write waits for another process that is writing; at first 5 s.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), StoreError> {
        self.connection.busy_timeout(patience).map_err(|error| explain(&self.path, &error))
    }

    /// Stores a new run's header, machine and variants, as unfinished whatever it says.
    ///
    /// # Errors
    /// When the id is taken, the run already holds invocations or breaks a rule, or writing fails.
    pub fn begin_run(&mut self, run: &Run) -> Result<(), StoreError> {
        let mut rule = rules::check(run);
        if !run.invocations.is_empty() {
            rule = Err("it begins but already holds invocations".to_owned());
        }
        rule.map_err(|reason| StoreError::Rule { id: run.id.clone(), reason })?;
        let begun = Run { ended_by: EndedBy::Unfinished, ended_unix_ns: None, ..run.clone() };
        let path = self.path.clone();
        self.write(|transaction| {
            if rows::find_run(transaction, &run.id)?.is_some() {
                return Err(StoreError::Conflict { path, id: run.id.clone() }.into());
            }
            rows::insert_header(transaction, &begun, false).map(drop)
        })
    }

    /// Stores one invocation of an unfinished run, in one transaction.
    ///
    /// # Errors
    /// When the run is not there, has ended, lacks the variant, is in use, or writing fails.
    pub fn add_invocation(&mut self, run_id: &str, invocation: &Invocation) -> Result<(), StoreError> {
        let record = InvocationRecord::from(invocation);
        let path = self.path.clone();
        self.write(|transaction| {
            let key = unfinished(transaction, &path, run_id)?;
            rules::check_invocation(invocation, rows::count_variants(transaction, key)?)
                .map_err(|reason| StoreError::Rule { id: run_id.to_owned(), reason })?;
            if rows::last_invocation(transaction, key)?.is_some_and(|(last, _)| last >= invocation.sequence) {
                return Err(StoreError::Overtaken { path, id: run_id.to_owned() }.into());
            }
            rows::insert_invocation(transaction, key, &record)
        })
    }

    /// Marks the end of a run, with what was seen of its machine, and syncs the store to the disk.
    ///
    /// # Errors
    /// When there is no such run, it has ended, does not say how and when, or writing fails.
    pub fn finish_run(&mut self, run: &Run) -> Result<(), StoreError> {
        let Some(ended_unix_ns) = run.ended_unix_ns.filter(|_| run.ended_by != EndedBy::Unfinished) else {
            let reason = "`unfinished` is not a way to end".to_owned();
            return Err(StoreError::Rule { id: run.id.clone(), reason });
        };
        let path = self.path.clone();
        self.write(|transaction| {
            let key = unfinished(transaction, &path, &run.id)?;
            rows::update_end(transaction, key, run, ended_unix_ns)
        })?;
        // Passive: does not wait for readers; the log itself is synced in any case.
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        checkpoint.map_err(|error| self.explain(error.into()))
    }

    /// Opens a run again, so that it can be gone on with; what it holds stays. `budget_ms` is its
    /// budget from now on, all sessions together.
    ///
    /// # Errors
    /// When there is no such run, it came to its planned end, or writing fails.
    pub fn reopen_run(&mut self, run_id: &str, budget_ms: u64) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.write(|transaction| match rows::find_run(transaction, run_id)? {
            Some((key, ended_by)) if ended_by.parse::<EndedBy>().is_ok_and(EndedBy::resumable) => {
                rows::update_reopened(transaction, key, EndedBy::Unfinished.as_str(), budget_ms)
            }
            Some(_) => Err(StoreError::Ended { path, id: run_id.to_owned() }.into()),
            None => Err(unknown_run(path, run_id).into()),
        })
    }

    /// Stores a whole run from elsewhere, in one transaction.
    ///
    /// # Errors
    /// When another run has this id, the run breaks a rule, or writing fails.
    pub fn insert_run(&mut self, run: &Run) -> Result<Insertion, StoreError> {
        rules::check(run).map_err(|reason| StoreError::Rule { id: harmless(&run.id), reason })?;
        let path = self.path.clone();
        self.write(|transaction| {
            if let Some((key, _)) = rows::find_run(transaction, &run.id)? {
                let mut there = read_run(transaction, key, &run.id, &|_| true)?;
                if there == *run {
                    return Ok(Insertion::AlreadyThere);
                }
                // It may have been exported from here.
                strip_personal(&mut there);
                if there == *run {
                    return Ok(Insertion::AlreadyThere);
                }
                return Err(StoreError::Conflict { path, id: run.id.clone() }.into());
            }
            let key = rows::insert_header(transaction, run, true)?;
            for invocation in &run.invocations {
                rows::insert_invocation(transaction, key, &invocation.into())?;
            }
            if run.ended_unix_ns.is_some() {
                rows::count_invocations(transaction, key)?;
            }
            Ok(Insertion::Inserted)
        })
    }

    /// Removes these runs, all or none, and with them what nothing else refers to. Names stay, and
    /// say that their run is gone.
    ///
    /// # Errors
    /// When one is not there, is unfinished and the store is open elsewhere, or writing fails.
    pub fn forget(&mut self, ids: &[String]) -> Result<(), StoreError> {
        let is_open = |id: &&String| {
            let found = rows::find_run(&self.connection, id);
            found.is_ok_and(|found| found.is_some_and(|(_, ended_by)| ended_by == EndedBy::Unfinished.as_str()))
        };
        if let Some(id) = ids.iter().find(is_open) {
            let in_use = || StoreError::InUse { path: self.path.clone(), id: id.clone() };
            match until_free(|| forgetting::leave_log(&self.connection)) {
                Err(error) if is_busy(&error) => return Err(in_use()),
                left => {
                    left.and_then(|()| switch_to_log(&self.connection)).map_err(|error| self.explain(error.into()))?
                }
            }
        }
        let path = self.path.clone();
        self.write(|transaction| {
            for id in ids {
                if !forgetting::remove(transaction, id)? {
                    return Err(unknown_run(path, id).into());
                }
            }
            forgetting::remove_unused(transaction)
        })
    }

    /// Gives the room of removed runs back to the disk.
    ///
    /// # Errors
    /// When there is no room for a second file meanwhile, another process writes, or writing fails.
    pub fn give_back(&mut self) -> Result<(), StoreError> {
        forgetting::give_back(&self.connection).map_err(|error| explain(&self.path, &error))
    }

    /// Headers of all runs, newest first, those that were measured here before the imported ones.
    ///
    /// # Errors
    /// When reading fails.
    pub fn list(&self) -> Result<Vec<RunHeader>, StoreError> {
        self.read(|connection| {
            let headers = rows::headers(connection, None)?;
            headers.iter().try_for_each(|row| intact(connection, row))?;
            Ok(headers.into_iter().map(RunHeader::of).collect())
        })
    }

    /// The highest number that a drifting fact has in the runs that were measured into this store
    /// on hardware of this key; None: none has one.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn highest(&self, fact: &str, hardware_key: &str) -> Result<Option<f64>, StoreError> {
        let of = |connection: &Connection| rows::highest(connection, fact);
        let machines =
            self.read(of)?.into_iter().filter(|(stable, _)| switchcost_model::hardware_key(stable) == hardware_key);
        Ok(machines.map(|(_, highest)| highest).max_by(f64::total_cmp))
    }

    /// The id of the run that `selector` names: a whole id, a beginning that fits one run only,
    /// `latest`, or `latest~N` (N before the latest), or `baseline:NAME`. Unfinished runs count, as
    /// they are in the list; imported ones are never the latest.
    ///
    /// # Errors
    /// When there are no runs, none is called so, or several are.
    pub fn resolve(&self, selector: &str) -> Result<String, StoreError> {
        self.read(|connection| self.id(connection, selector))
    }

    /// The run that `selector` names, with all its data, as of one moment.
    ///
    /// # Errors
    /// As [`Store::resolve`]; or when the data cannot be read.
    pub fn load(&self, selector: &str) -> Result<Run, StoreError> {
        self.load_if(selector, &|_| true)
    }

    /// The same if it has a variant for which `wanted` is true; else without its invocations, whose
    /// ticks are not even read. A figure rests on what the other rows of its run know of the
    /// machine, so that a run is read whole or not at all.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_if(&self, selector: &str, wanted: &dyn Fn(&Variant) -> bool) -> Result<Run, StoreError> {
        self.read(|connection| {
            let id = self.id(connection, selector)?;
            let (key, _) = rows::find_run(connection, &id)?.ok_or_else(|| vanished(&id))?;
            let without = read_run(connection, key, &id, &|_| false)?;
            if without.variants.iter().any(wanted) { read_run(connection, key, &id, &|_| true) } else { Ok(without) }
        })
    }

    /// Checksum of all that is stored of the run with this id.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn checksum(&self, id: &str) -> Result<Vec<u8>, StoreError> {
        self.read(|connection| {
            let (key, _) = rows::find_run(connection, id)?.ok_or_else(|| vanished(id))?;
            seal::of_whole(connection, key)
        })
    }

    /// Gives the name to the run that `selector` names; returns the run's id.
    ///
    /// # Errors
    /// When it is not a name, is taken and not replaced, has no run, or writing fails.
    pub fn set_baseline(
        &mut self,
        name: &str,
        selector: &str,
        replace: bool,
        now_unix_ns: i64,
    ) -> Result<String, StoreError> {
        baseline::check_name(name)?;
        let run = self.resolve(selector)?;
        let named = Baseline { name: name.to_owned(), run, set_unix_ns: now_unix_ns, gone: false };
        let path = self.path.clone();
        self.write(|transaction| baseline::set(transaction, &path, &named, replace))?;
        Ok(named.run)
    }

    /// Takes the name away; the run stays.
    ///
    /// # Errors
    /// When there is no such baseline, or writing fails.
    pub fn remove_baseline(&mut self, name: &str) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.write(|transaction| baseline::remove(transaction, &path, name))
    }

    /// All baselines by name.
    ///
    /// # Errors
    /// When reading fails.
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        self.read(baseline::all)
    }

    fn id(&self, connection: &Connection, selector: &str) -> Result<String, Fault> {
        if let Some(id) = baseline::resolve(connection, &self.path, selector)? {
            return Ok(id);
        }
        if selector::steps_back(selector).is_some() {
            // Which is the latest is said by all of them.
            rows::headers(connection, None)?.iter().try_for_each(|row| intact(connection, row))?;
        }
        let (ids, measured) = rows::ids(connection)?;
        Ok(selector::resolve(&self.path, &ids, measured, selector)?.to_owned())
    }

    /// SQLite's own check of the file.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with its first finding.
    pub fn check(&self) -> Result<(), StoreError> {
        let found: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|error| explain(&self.path, &error))?;
        if found == "ok" {
            return Ok(());
        }
        Err(StoreError::Corrupt { path: self.path.clone(), detail: harmless(&found) })
    }

    fn set_up(&mut self) -> Result<(), Fault> {
        usual(&self.connection)?;
        let is_made = schema::is_made(&self.connection, &self.path)?;
        if self.connection.is_readonly("main")? {
            let reason = "the file is write-protected".to_owned();
            return Err(StoreError::NotWritable { path: self.path.clone(), reason }.into());
        }
        switch_to_log(&self.connection)?;
        self.connection
            .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")?;
        self.connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        if is_made { Ok(()) } else { schema::make(&mut self.connection, &self.path) }
    }

    fn set_up_read_only(&self) -> Result<bool, Fault> {
        usual(&self.connection)?;
        self.connection.execute_batch("PRAGMA trusted_schema = OFF")?;
        schema::is_made(&self.connection, &self.path)
    }

    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let outcome = in_transaction(&mut self.connection, work);
        outcome.map_err(|fault| self.explain(fault))
    }

    /// One transaction, so that a run which is being written is read as of one moment.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let outcome = self.connection.unchecked_transaction().map_err(Fault::from).and_then(|t| work(&t));
        outcome.map_err(|fault| self.explain(fault))
    }

    /// Puts the path to a fault; of wrong content SQLite says what is wrong.
    fn explain(&self, fault: Fault) -> StoreError {
        let error = match fault {
            Fault::Refused(error) => return error,
            Fault::Later(id, detail) => return StoreError::Later { path: self.path.clone(), id, detail },
            Fault::Unreadable(detail) => StoreError::Corrupt { path: self.path.clone(), detail },
            Fault::Sql(error) => explain(&self.path, &error),
        };
        match error {
            StoreError::Corrupt { .. } => match self.check() {
                Err(found @ StoreError::Corrupt { .. }) => found,
                _ => error,
            },
            error => error,
        }
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

fn is_refusal(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied))
}

/// What holds for every connection. Plans are not to depend on the values bound, else each row of
/// samples is prepared anew.
fn usual(connection: &Connection) -> Result<(), Fault> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection.busy_timeout(BUSY_TIMEOUT)?)
}

/// Row number of a run that can still be added to.
fn unfinished(connection: &Connection, path: &Path, id: &str) -> Result<i64, Fault> {
    let path = path.to_path_buf();
    match rows::find_run(connection, id)? {
        Some((key, ended_by)) if ended_by == EndedBy::Unfinished.as_str() => Ok(key),
        Some(_) => Err(StoreError::Ended { path, id: id.to_owned() }.into()),
        None => Err(unknown_run(path, id).into()),
    }
}

fn unknown_run(path: PathBuf, id: &str) -> StoreError {
    let hint = "it must be begun before it can be added to".to_owned();
    StoreError::UnknownRun { path, selector: harmless(id), hint }
}

#[cfg(test)]
mod tests;
