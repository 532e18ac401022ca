//! Disk records to rows and back. Every function works inside the transaction of its caller.

use crate::disk::{FORMAT, Hello, InvocationRecord, RunRecord, VariantRecord, tag};
use crate::error::{Fault, json_reason};
use crate::seal::{self, Seal};
use crate::ticks;
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use switchcost_model::{IdError, Machine, Samples};

/// A run's header with its row number and its counts of variants, variants not run, and invocations.
pub struct RunRow {
    pub key: i64,
    pub record: RunRecord,
    pub counts: [u64; 3],
}

/// SQLite has no unsigned numbers: two's complement, as the schema says.
fn signed(value: u64) -> i64 {
    value.cast_signed()
}

fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Unreadable(json_reason(&error)))
}

fn json_or_null<T: Serialize>(value: Option<&T>) -> Result<Option<String>, Fault> {
    value.map(json).transpose()
}

/// The columns of a row, taken one after the other in the order of the SELECT.
///
/// By number, because looking up 22 names for each invocation costs as much as an eighth of loading a run; in order, so
/// that no number is ever written down.
struct Cells<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Cells<'a> {
    fn of(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    fn get<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    fn unsigned(&mut self) -> rusqlite::Result<u64> {
        Ok(self.get::<i64>()?.cast_unsigned())
    }

    fn parse<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        self.parse_or_null()?.ok_or_else(|| self.unreadable("it is null"))
    }

    fn parse_or_null<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        self.next += 1;
        let text = match self.row.get_ref(self.next - 1)? {
            ValueRef::Null => return Ok(None),
            value => value.as_bytes().map_err(|error| self.unreadable(&error.to_string()))?,
        };
        serde_json::from_slice(text).map(Some).map_err(|error| self.unreadable(&json_reason(&error)))
    }

    fn word<T: FromStr<Err = IdError>>(&mut self) -> Result<T, Fault> {
        self.get::<String>()?.parse().map_err(|error: IdError| self.unreadable(&error.0))
    }

    fn ticks(&mut self) -> Result<Vec<i64>, Fault> {
        self.next += 1;
        let blob = self.row.get_ref(self.next - 1)?;
        let bytes = blob.as_blob().map_err(|error| self.unreadable(&error.to_string()))?;
        ticks::decode(bytes)
            .ok_or_else(|| self.unreadable(&format!("{} bytes are not a whole number of ticks", bytes.len())))
    }

    /// What is wrong with the column taken last.
    fn unreadable(&self, reason: &str) -> Fault {
        let name = self.row.as_ref().column_name(self.next - 1).unwrap_or_default();
        Fault::Unreadable(format!("column {name}: {reason}"))
    }
}

/// Row number and word of the end of the run with this id.
pub fn find_run(connection: &Connection, id: &str) -> Result<Option<(i64, String)>, Fault> {
    let mut statement = connection.prepare_cached("SELECT key, ended_by FROM run WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Ids of all runs, newest first.
pub fn ids(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM run NOT INDEXED ORDER BY started_unix_ns DESC, id DESC")?;
    let ids = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// Writes the header and the variants; the row number.
pub fn insert_header(connection: &Connection, run: &RunRecord, variants: &[VariantRecord]) -> Result<i64, Fault> {
    connection.execute(
        "INSERT INTO run (id, started_unix_ns, ended_unix_ns, ended_by, seed, tool_version, method_version, command,
                          precision_ppm, budget_ms, stable, drifting, personal, findings, request)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            run.id,
            run.started_unix_ns,
            run.ended_unix_ns,
            run.ended_by.as_str(),
            signed(run.seed),
            run.tool_version,
            run.method_version,
            json(&run.command)?,
            signed(run.precision_ppm),
            signed(run.budget_ms),
            json(&run.machine.stable)?,
            json(&run.machine.drifting)?,
            json(&run.machine.personal)?,
            json(&run.machine.findings)?,
            json_or_null(run.request.as_ref())?,
        ],
    )?;
    let key = connection.last_insert_rowid();
    let mut statement = connection.prepare_cached("INSERT INTO variant VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)")?;
    for variant in variants {
        statement.execute(params![
            key,
            signed(variant.index),
            variant.mechanism.as_str(),
            variant.probe,
            variant.experiment.as_str(),
            signed(variant.contexts),
            variant.placement.to_string(),
            variant.timing.as_str(),
            json(&variant.parameters)?,
            variant.label,
            variant.not_run,
        ])?;
    }
    seal::seal_run(connection, key)?;
    Ok(key)
}

/// Changes a run's row by an UPDATE. A checksum is made anew only of what the old one fits.
fn update_run(connection: &Connection, key: i64, sql: &str, values: &[&dyn ToSql]) -> Result<(), Fault> {
    seal::check_run(connection, key)?;
    connection.execute(sql, values)?;
    seal::seal_run(connection, key)
}

/// Notes how many invocations a run has that ended.
pub fn count_invocations(connection: &Connection, key: i64) -> Result<(), Fault> {
    let sql = "UPDATE run SET invocations = (SELECT count(*) FROM invocation WHERE run = ?1) WHERE key = ?1";
    update_run(connection, key, sql, &[&key])
}

/// Marks the end of a run.
pub fn update_end(connection: &Connection, key: i64, ended_by: &str, ended_unix_ns: i64) -> Result<(), Fault> {
    let sql = "UPDATE run SET ended_by = ?2, ended_unix_ns = ?3 WHERE key = ?1";
    update_run(connection, key, sql, &[&key, &ended_by, &ended_unix_ns])?;
    count_invocations(connection, key)
}

/// Marks a run as going on again.
pub fn update_reopened(connection: &Connection, key: i64, ended_by: &str, budget_ms: u64) -> Result<(), Fault> {
    let sql = "UPDATE run SET ended_by = ?2, ended_unix_ns = NULL, budget_ms = ?3, invocations = NULL WHERE key = ?1";
    update_run(connection, key, sql, &[&key, &ended_by, &signed(budget_ms)])
}

/// Sequence number of a run's last invocation.
pub fn last_sequence(connection: &Connection, run: i64) -> Result<Option<u64>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT sequence FROM invocation WHERE run = ?1 ORDER BY position DESC LIMIT 1")?;
    Ok(statement.query_row([run], |row| row.get::<_, i64>(0)).optional()?.map(i64::cast_unsigned))
}

/// How many variants a run has.
pub fn count_variants(connection: &Connection, run: i64) -> Result<usize, Fault> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM variant WHERE run = ?1")?;
    Ok(statement.query_row([run], |row| row.get::<_, isize>(0))?.unsigned_abs())
}

/// Writes an invocation behind those that are there.
pub fn insert_invocation(connection: &Connection, run: i64, record: &InvocationRecord) -> Result<(), Fault> {
    let hello = record.hello.as_ref().map(|hello| hello_key(connection, hello)).transpose()?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO invocation (run, position, variant, round, sequence, started_unix_ns, wall_ns, cpus,
                                 environment_padding, peak_rss_bytes, process, process_code, verdict, reason, pid, hello, plan,
                                 histograms, evidence, seen, notes, ending, fault, disturbances, log)
         VALUES (?1, (SELECT coalesce(max(position) + 1, 0) FROM invocation WHERE run = ?1),
                 ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)",
    )?;
    statement.execute(params![
        run,
        signed(record.variant),
        signed(record.round),
        signed(record.sequence),
        record.started_unix_ns,
        signed(record.wall_ns),
        json(&record.cpus)?,
        signed(record.environment_padding),
        signed(record.peak_rss_bytes),
        record.process,
        record.process_code,
        record.verdict.as_str(),
        record.reason,
        record.pid.map(signed),
        hello,
        json_or_null(record.plan.as_ref())?,
        json(&record.histograms)?,
        json_or_null(record.evidence.as_ref())?,
        json_or_null(record.seen.as_ref())?,
        json(&record.notes)?,
        json_or_null(record.end.as_ref())?,
        record.fault,
        json(&record.disturbances)?,
        record.log,
    ])?;
    let key = connection.last_insert_rowid();
    insert_samples(connection, key, &record.samples)?;
    seal_invocation(connection, key)
}

/// Writes the checksum of an invocation.
pub fn seal_invocation(connection: &Connection, key: i64) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(&format!("{INVOCATION} WHERE invocation.key = ?1"))?;
    let mut rows = statement.query([key])?;
    let mut seal = Seal::default();
    if let Some(row) = rows.next()? {
        seal.add(row, SEALED_FROM)?;
    }
    let mut samples = connection.prepare_cached(SAMPLES)?;
    let mut rows = samples.query([key])?;
    while let Some(row) = rows.next()? {
        seal.add(row, 0)?;
    }
    let mut update = connection.prepare_cached("UPDATE invocation SET checksum = ?2 WHERE key = ?1")?;
    update.execute(params![key, seal.finish()])?;
    Ok(())
}

fn insert_samples(connection: &Connection, invocation: i64, all: &[Samples]) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached("INSERT INTO samples VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for (position, samples) in all.iter().enumerate() {
        statement.execute(params![
            invocation,
            position as i64,
            samples.phase.as_str(),
            signed(samples.units),
            samples.quantity,
            ticks::encode(&samples.ticks),
            json_or_null((!samples.rulers.is_empty()).then_some(&samples.rulers))?,
        ])?;
    }
    Ok(())
}

/// Row number of this introduction, written if it is new.
fn hello_key(connection: &Connection, hello: &Hello) -> Result<i64, Fault> {
    let content = json(hello)?;
    let mut find = connection.prepare_cached("SELECT key FROM hello WHERE content = ?1")?;
    if let Some(key) = find.query_row([&content], |row| row.get(0)).optional()? {
        return Ok(key);
    }
    connection.prepare_cached("INSERT INTO hello (content) VALUES (?1)")?.execute([&content])?;
    Ok(connection.last_insert_rowid())
}

/// Headers of all runs, newest first; or of the run with this id only. Not by an index: its copy of the time has no checksum.
pub fn headers(connection: &Connection, id: Option<&str>) -> Result<Vec<RunRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, started_unix_ns, ended_unix_ns, ended_by, seed, tool_version, method_version, command,
                precision_ppm, budget_ms, stable, drifting, personal, findings, request,
                (SELECT count(*) FROM variant WHERE run = run.key) AS variants,
                (SELECT count(not_run) FROM variant WHERE run = run.key) AS not_run,
                (SELECT count(*) FROM invocation WHERE run = run.key) AS invocations, key
         FROM run NOT INDEXED WHERE ?1 IS NULL OR id = ?1 ORDER BY started_unix_ns DESC, id DESC",
    )?;
    let mut rows = statement.query([id])?;
    let mut headers = Vec::new();
    while let Some(row) = rows.next()? {
        headers.push(header(row)?);
    }
    Ok(headers)
}

fn header(row: &Row<'_>) -> Result<RunRow, Fault> {
    let mut cells = Cells::of(row);
    let record = RunRecord {
        t: tag::RUN.into(),
        format: FORMAT,
        id: cells.get()?,
        started_unix_ns: cells.get()?,
        ended_unix_ns: cells.get()?,
        ended_by: cells.word()?,
        seed: cells.unsigned()?,
        tool_version: cells.get()?,
        method_version: cells.get()?,
        command: cells.parse()?,
        precision_ppm: cells.unsigned()?,
        budget_ms: cells.unsigned()?,
        machine: Machine {
            stable: cells.parse()?,
            drifting: cells.parse()?,
            personal: cells.parse()?,
            findings: cells.parse()?,
        },
        request: cells.parse_or_null()?,
    };
    let counts = [cells.unsigned()?, cells.unsigned()?, cells.unsigned()?];
    Ok(RunRow { key: cells.get()?, record, counts })
}

/// Variants of a run in order.
pub fn variants(connection: &Connection, run: i64) -> Result<Vec<VariantRecord>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT position, mechanism, probe, experiment, contexts, placement, timing, parameters, label, not_run
         FROM variant WHERE run = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([run])?;
    let mut variants = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row);
        variants.push(VariantRecord {
            t: tag::VARIANT.into(),
            index: cells.unsigned()?,
            mechanism: cells.word()?,
            probe: cells.get()?,
            experiment: cells.word()?,
            contexts: cells.unsigned()?,
            placement: cells.word()?,
            timing: cells.word()?,
            parameters: cells.parse()?,
            label: cells.get()?,
            not_run: cells.get()?,
        });
    }
    Ok(variants)
}

/// What is read of an invocation. The columns behind the first [`SEALED_FROM`] make its checksum; new ones are appended.
const INVOCATION: &str = "SELECT invocation.key, checksum,
           variant, round, sequence, started_unix_ns, wall_ns, cpus, environment_padding, peak_rss_bytes, process, process_code, verdict, reason,
           pid, content, plan, histograms, evidence, seen, notes, ending, fault, disturbances, log, run, position
    FROM invocation LEFT JOIN hello ON hello.key = invocation.hello";

/// The same of its samples.
const SAMPLES: &str =
    "SELECT phase, units, quantity, ticks, rulers FROM samples WHERE invocation = ?1 ORDER BY position";

/// Columns of [`INVOCATION`] that are not part of its checksum.
const SEALED_FROM: usize = 2;

/// Calls `each` for every invocation of the wanted variants of a run, in order.
pub fn invocations(
    connection: &Connection,
    run: i64,
    wanted: &[bool],
    mut each: impl FnMut(InvocationRecord) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(&format!("{INVOCATION} WHERE run = ?1 ORDER BY position"))?;
    let mut rows = statement.query([run])?;
    let mut position = 0;
    while let Some(row) = rows.next()? {
        let at = |fault| match fault {
            Fault::Unreadable(reason) => Fault::Unreadable(format!("invocation {position}: {reason}")),
            other => other,
        };
        // A variant that there is not is refused by the rules, in words.
        let variant = row.get::<_, i64>(SEALED_FROM).ok().and_then(|index| usize::try_from(index).ok());
        if variant.and_then(|index| wanted.get(index)).is_none_or(|wanted| *wanted) {
            invocation(connection, row).and_then(&mut each).map_err(at)?;
        }
        position += 1;
    }
    Ok(())
}

fn invocation(connection: &Connection, row: &Row<'_>) -> Result<InvocationRecord, Fault> {
    let mut cells = Cells::of(row);
    let mut seal = Seal::default();
    seal.add(row, SEALED_FROM)?;
    let (key, checksum): (i64, Option<Vec<u8>>) = (cells.get()?, cells.get()?);
    let samples = samples(connection, key, &mut seal)?;
    if checksum != Some(seal.finish()) {
        return Err(Fault::Unreadable("it is not as it was stored".to_owned()));
    }
    Ok(InvocationRecord {
        t: tag::INVOCATION.into(),
        variant: cells.unsigned()?,
        round: cells.unsigned()?,
        sequence: cells.unsigned()?,
        started_unix_ns: cells.get()?,
        wall_ns: cells.unsigned()?,
        cpus: cells.parse()?,
        environment_padding: cells.unsigned()?,
        peak_rss_bytes: cells.unsigned()?,
        process: cells.get()?,
        process_code: cells.get()?,
        verdict: cells.word()?,
        reason: cells.get()?,
        pid: cells.get::<Option<i64>>()?.map(i64::cast_unsigned),
        hello: cells.parse_or_null()?,
        plan: cells.parse_or_null()?,
        samples,
        histograms: cells.parse()?,
        evidence: cells.parse_or_null()?,
        seen: cells.parse_or_null()?,
        notes: cells.parse()?,
        end: cells.parse_or_null()?,
        fault: cells.get()?,
        disturbances: cells.parse()?,
        log: cells.get()?,
    })
}

fn samples(connection: &Connection, invocation: i64, seal: &mut Seal) -> Result<Vec<Samples>, Fault> {
    let mut statement = connection.prepare_cached(SAMPLES)?;
    let mut rows = statement.query([invocation])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        seal.add(row, 0)?;
        let mut cells = Cells::of(row);
        let (phase, units) = (cells.word()?, cells.unsigned()?);
        let (quantity, ticks) = (cells.get()?, cells.ticks()?);
        all.push(Samples { phase, units, quantity, ticks, rulers: cells.parse_or_null()?.unwrap_or_default() });
    }
    Ok(all)
}
