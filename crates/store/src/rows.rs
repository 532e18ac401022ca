//! Disk records to rows and back. Every function works inside the transaction of its caller.

use crate::cells::{Cells, Query, insert, json, json_or_null, signed, unreadable};
use crate::disk::{InvocationRecord, tag};
use crate::error::Fault;
use crate::seal::{self, Seal, VARIANTS};
use crate::ticks;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use std::collections::BTreeMap;
use switchcost_model::{Hello, Machine, Run, Samples, Variant};

/// A run without its variants and invocations, with its row number, its counts of variants,
/// variants not run, and invocations.
pub struct RunRow {
    pub key: i64,
    pub run: Run,
    pub counts: [u64; 3],
}

/// Row number and word of the end of the run with this id.
pub fn find_run(connection: &Connection, id: &str) -> Result<Option<(i64, String)>, Fault> {
    let mut statement = connection.prepare_cached("SELECT key, ended_by FROM run WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| Ok((row.get("key")?, row.get("ended_by")?))).optional()?)
}

/// Ids of all runs, newest first, and how many of them were measured here: those come before the
/// imported ones.
pub fn ids(connection: &Connection) -> Result<(Vec<String>, usize), Fault> {
    let mut measured = 0;
    let ids = Query::new(connection, &format!("SELECT key, id FROM run {NEWEST_FIRST}"))?.rows([], |row| {
        measured += usize::from(row.get::<i64>("key")? > 0);
        row.get("id")
    })?;
    Ok((ids, measured))
}

/// By insertion: the clock may have been wrong when a run began. What was measured here has
/// positive keys and comes first, imports have negative ones.
const NEWEST_FIRST: &str = "ORDER BY key < 0, abs(key) DESC";

/// Writes the header and the variants of a run measured here, or of an imported one; the row
/// number.
pub fn insert_header(connection: &Connection, run: &Run, imported: bool) -> Result<i64, Fault> {
    let next = "SELECT coalesce(max(abs(key)), 0) + 1 FROM run";
    let next: i64 = connection.query_row(next, [], |row| row.get(0))?;
    let key = insert(
        connection,
        "run",
        &[
            ("key", &if imported { -next } else { next }),
            ("id", &run.id),
            ("started_unix_ns", &run.started_unix_ns),
            ("ended_unix_ns", &run.ended_unix_ns),
            ("ended_by", &run.ended_by.as_str()),
            ("seed", &signed(run.seed)),
            ("tool_version", &run.tool_version),
            ("method_version", &run.method_version),
            ("command", &json(&run.command)?),
            ("request", &json(&run.request)?),
            ("precision_ppm", &signed(run.precision_ppm)),
            ("budget_ms", &signed(run.budget_ms)),
            ("stable", &json(&run.machine.stable)?),
            ("drifting", &json(&run.machine.drifting)?),
            ("personal", &json(&run.machine.personal)?),
            ("findings", &json(&run.machine.findings)?),
        ],
    )?;
    for (index, variant) in run.variants.iter().enumerate() {
        insert(
            connection,
            "variant",
            &[
                ("run", &key),
                ("position", &(index as i64)),
                ("mechanism", &variant.mechanism.as_str()),
                ("probe", &variant.probe),
                ("experiment", &variant.experiment.as_str()),
                ("contexts", &signed(variant.contexts)),
                ("placement", &variant.placement.to_string()),
                ("timing", &variant.timing.as_str()),
                ("parameters", &json(&variant.parameters)?),
                ("label", &variant.label),
                ("not_run", &json_or_null(run.not_run.get(&index))?),
            ],
        )?;
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
pub fn update_end(connection: &Connection, key: i64, run: &Run, ended_unix_ns: i64) -> Result<(), Fault> {
    let sql = "UPDATE run SET ended_by = ?2, ended_unix_ns = ?3, drifting = ?4, findings = ?5 WHERE key = ?1";
    let [drifting, findings] = [json(&run.machine.drifting)?, json(&run.machine.findings)?];
    update_run(connection, key, sql, &[&key, &run.ended_by.as_str(), &ended_unix_ns, &drifting, &findings])?;
    count_invocations(connection, key)
}

/// Marks a run as going on again.
pub fn update_reopened(connection: &Connection, key: i64, ended_by: &str, budget_ms: u64) -> Result<(), Fault> {
    let sql = "UPDATE run SET ended_by = ?2, ended_unix_ns = NULL, budget_ms = ?3, invocations = NULL WHERE key = ?1";
    update_run(connection, key, sql, &[&key, &ended_by, &signed(budget_ms)])
}

/// Sequence number of a run's last invocation, and its place.
pub fn last_invocation(connection: &Connection, run: i64) -> Result<Option<(u64, i64)>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT sequence, position FROM invocation WHERE run = ?1 ORDER BY position DESC LIMIT 1")?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>("sequence")?.cast_unsigned(), row.get("position")?));
    Ok(statement.query_row([run], read).optional()?)
}

/// How many variants a run has.
pub fn count_variants(connection: &Connection, run: i64) -> Result<usize, Fault> {
    let mut statement = connection.prepare_cached("SELECT count(*) AS variants FROM variant WHERE run = ?1")?;
    Ok(statement.query_row([run], |row| row.get::<_, isize>("variants"))?.unsigned_abs())
}

/// Writes an invocation behind those that are there.
pub fn insert_invocation(connection: &Connection, run: i64, record: &InvocationRecord) -> Result<(), Fault> {
    let hello = record.hello.as_ref().map(|hello| hello_key(connection, hello)).transpose()?;
    let position = last_invocation(connection, run)?.map_or(0, |(_, last)| last + 1);
    let key = insert(
        connection,
        "invocation",
        &[
            ("run", &run),
            ("position", &position),
            ("variant", &signed(record.variant)),
            ("round", &signed(record.round)),
            ("sequence", &signed(record.sequence)),
            ("started_unix_ns", &record.started_unix_ns),
            ("wall_ns", &signed(record.wall_ns)),
            ("cpus", &json(&record.cpus)?),
            ("environment_padding", &signed(record.environment_padding)),
            ("peak_rss_bytes", &signed(record.peak_rss_bytes)),
            ("process", &record.process),
            ("process_code", &record.process_code),
            ("verdict", &record.verdict.as_str()),
            ("reason", &json_or_null(record.reason.as_ref())?),
            ("pid", &record.pid.map(signed)),
            ("hello", &hello),
            ("plan", &json_or_null(record.plan.as_ref())?),
            ("histograms", &json(&record.histograms)?),
            ("evidence", &json_or_null(record.evidence.as_ref())?),
            ("seen", &json_or_null(record.seen.as_ref())?),
            ("notes", &json(&record.notes)?),
            ("ending", &json_or_null(record.end.as_ref())?),
            ("fault", &json_or_null(record.fault.as_ref())?),
            ("disturbances", &json(&record.disturbances)?),
            ("log", &record.log),
        ],
    )?;
    insert_samples(connection, key, &record.samples)?;
    seal_invocation(connection, key)
}

/// Writes the checksum of an invocation.
pub fn seal_invocation(connection: &Connection, key: i64) -> Result<(), Fault> {
    let mut seal = Seal::default();
    Query::new(connection, &format!("{INVOCATION} WHERE invocation.key = ?1"))?
        .rows([key], |row| seal.add(row, SEALED))?;
    Query::new(connection, SAMPLES)?.rows([key], |row| seal.add(row, SEALED_OF_SAMPLES))?;
    let mut update = connection.prepare_cached("UPDATE invocation SET checksum = ?2 WHERE key = ?1")?;
    update.execute(params![key, seal.finish()])?;
    Ok(())
}

fn insert_samples(connection: &Connection, invocation: i64, all: &[Samples]) -> Result<(), Fault> {
    for (position, samples) in (0_i64..).zip(all) {
        insert(
            connection,
            "samples",
            &[
                ("invocation", &invocation),
                ("position", &position),
                ("phase", &samples.phase.as_str()),
                ("units", &signed(samples.units)),
                ("quantity", &samples.quantity),
                ("ticks", &ticks::encode(&samples.ticks)),
                ("rulers", &json_or_null((!samples.rulers.is_empty()).then_some(&samples.rulers))?),
            ],
        )?;
    }
    Ok(())
}

/// Row number of this introduction, written if it is new.
fn hello_key(connection: &Connection, hello: &Hello) -> Result<i64, Fault> {
    let content = json(hello)?;
    let mut find = connection.prepare_cached("SELECT key FROM hello WHERE content = ?1")?;
    match find.query_row([&content], |row| row.get("key")).optional()? {
        Some(key) => Ok(key),
        None => insert(connection, "hello", &[("content", &content)]),
    }
}

/// Headers of all runs, in the order of [`ids`]; or of the run with this id only.
pub fn headers(connection: &Connection, id: Option<&str>) -> Result<Vec<RunRow>, Fault> {
    let sql = format!(
        "SELECT *, (SELECT count(*) FROM variant WHERE run = run.key) AS count_of_variants,
                      (SELECT count(not_run) FROM variant WHERE run = run.key) AS count_of_not_run,
                      (SELECT count(*) FROM invocation WHERE run = run.key) AS count_of_invocations
               FROM run WHERE ?1 IS NULL OR id = ?1 {NEWEST_FIRST}"
    );
    Query::new(connection, &sql)?.rows([id], |row| {
        let [variants, not_run, invocations] = ["count_of_variants", "count_of_not_run", "count_of_invocations"];
        let counts = [row.unsigned(variants)?, row.unsigned(not_run)?, row.unsigned(invocations)?];
        Ok(RunRow { key: row.get("key")?, run: header(row)?, counts })
    })
}

/// Facts of a machine.
pub type Facts = BTreeMap<String, String>;

/// Stable facts of each machine that runs were measured on, and the highest number that this
/// drifting fact has in them.
pub fn highest(connection: &Connection, fact: &str) -> Result<Vec<(Facts, f64)>, Fault> {
    let sql = "SELECT stable, max(CAST(json_extract(drifting, ?1) AS REAL)) AS highest FROM run WHERE key > 0
               GROUP BY stable HAVING highest > 0";
    let highest = |row: &Cells<'_>| Ok((row.parse("stable")?, row.get("highest")?));
    Query::new(connection, sql)?.rows([format!("$.\"{fact}\"")], highest)
}

fn header(row: &Cells<'_>) -> Result<Run, Fault> {
    Ok(Run {
        id: row.get("id")?,
        started_unix_ns: row.get("started_unix_ns")?,
        ended_unix_ns: row.get("ended_unix_ns")?,
        ended_by: row.word("ended_by")?,
        seed: row.unsigned("seed")?,
        tool_version: row.get("tool_version")?,
        method_version: row.get("method_version")?,
        command: row.parse("command")?,
        request: row.parse("request")?,
        precision_ppm: row.unsigned("precision_ppm")?,
        budget_ms: row.unsigned("budget_ms")?,
        machine: Machine {
            stable: row.parse("stable")?,
            drifting: row.parse("drifting")?,
            personal: row.parse("personal")?,
            findings: row.parse("findings")?,
        },
        variants: Vec::new(),
        not_run: BTreeMap::new(),
        invocations: Vec::new(),
    })
}

/// Puts its variants to a run, in order.
pub fn read_variants(connection: &Connection, key: i64, run: &mut Run) -> Result<(), Fault> {
    Query::new(connection, VARIANTS)?.rows([key], |row| {
        if let Some(reason) = row.parse_or_null("not_run")? {
            run.not_run.insert(run.variants.len(), reason);
        }
        run.variants.push(Variant {
            mechanism: row.word("mechanism")?,
            probe: row.get("probe")?,
            experiment: row.word("experiment")?,
            contexts: row.unsigned("contexts")?,
            placement: row.word("placement")?,
            timing: row.word("timing")?,
            parameters: row.parse("parameters")?,
            label: row.get("label")?,
        });
        Ok(())
    })?;
    Ok(())
}

/// Invocations, each with what its probe said of itself.
const INVOCATION: &str = "SELECT invocation.*, content FROM invocation LEFT JOIN hello ON hello.key = invocation.hello";

/// Columns of [`INVOCATION`] in the order of its checksum; new ones are appended.
#[rustfmt::skip]
const SEALED: &[&str] = &[
    "variant", "round", "sequence", "started_unix_ns", "wall_ns", "cpus", "environment_padding", "peak_rss_bytes", "process", "process_code", "verdict",
    "reason", "pid", "content", "plan", "histograms", "evidence", "seen", "notes", "ending", "fault", "disturbances", "log", "run", "position",
];

/// Samples of an invocation.
const SAMPLES: &str = "SELECT * FROM samples WHERE invocation = ?1 ORDER BY position";

/// Their columns in the order of its checksum; new ones are appended.
const SEALED_OF_SAMPLES: &[&str] = &["phase", "units", "quantity", "ticks", "rulers"];

/// Calls `work` for every invocation of the wanted variants of a run, in order.
pub fn invocations(
    connection: &Connection,
    run: i64,
    wanted: &[bool],
    mut work: impl FnMut(InvocationRecord) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut position, mut samples, mut seal) = (0, Query::new(connection, SAMPLES)?, Seal::default());
    Query::new(connection, &format!("{INVOCATION} WHERE run = ?1 ORDER BY position"))?.rows([run], |row| {
        let at = |fault| match fault {
            Fault::Unreadable(reason) => Fault::Unreadable(format!("invocation {position}: {reason}")),
            other => other,
        };
        // A variant that there is not is refused by the rules, in words.
        let variant = row.get::<i64>("variant").ok().and_then(|index| usize::try_from(index).ok());
        if variant.and_then(|index| wanted.get(index)).is_none_or(|wanted| *wanted) {
            invocation(&mut samples, &mut seal, row).and_then(&mut work).map_err(at)?;
        }
        position += 1;
        Ok(())
    })?;
    Ok(())
}

fn invocation(query: &mut Query<'_>, seal: &mut Seal, row: &Cells<'_>) -> Result<InvocationRecord, Fault> {
    seal.add(row, SEALED)?;
    let samples = samples(query, row.get("key")?, seal)?;
    if row.get::<Option<Vec<u8>>>("checksum")? != Some(seal.finish()) {
        return Err(Fault::Unreadable("it is not as it was stored".to_owned()));
    }
    Ok(InvocationRecord {
        t: tag::INVOCATION.into(),
        variant: row.unsigned("variant")?,
        round: row.unsigned("round")?,
        sequence: row.unsigned("sequence")?,
        started_unix_ns: row.get("started_unix_ns")?,
        wall_ns: row.unsigned("wall_ns")?,
        cpus: row.parse("cpus")?,
        environment_padding: row.unsigned("environment_padding")?,
        peak_rss_bytes: row.unsigned("peak_rss_bytes")?,
        process: row.get("process")?,
        process_code: row.get("process_code")?,
        verdict: row.word("verdict")?,
        reason: row.parse_or_null("reason")?,
        pid: row.get::<Option<i64>>("pid")?.map(i64::cast_unsigned),
        hello: row.parse_or_null("content")?,
        plan: row.parse_or_null("plan")?,
        samples,
        histograms: row.parse("histograms")?,
        evidence: row.parse_or_null("evidence")?,
        seen: row.parse_or_null("seen")?,
        notes: row.parse("notes")?,
        end: row.parse_or_null("ending")?,
        fault: row.parse_or_null("fault")?,
        disturbances: row.parse("disturbances")?,
        log: row.get("log")?,
    })
}

fn samples(query: &mut Query<'_>, invocation: i64, seal: &mut Seal) -> Result<Vec<Samples>, Fault> {
    query.rows([invocation], |row| {
        seal.add(row, SEALED_OF_SAMPLES)?;
        let bytes = row.value("ticks")?.as_blob().map_err(|error| unreadable("ticks", &error.to_string()))?;
        let partial = || unreadable("ticks", &format!("{} bytes are not a whole number of ticks", bytes.len()));
        Ok(Samples {
            phase: row.word("phase")?,
            units: row.unsigned("units")?,
            quantity: row.get("quantity")?,
            ticks: ticks::decode(bytes).ok_or_else(partial)?,
            rulers: row.parse_or_null("rulers")?.unwrap_or_default(),
        })
    })
}
