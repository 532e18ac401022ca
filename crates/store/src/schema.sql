-- The store. Once this is released, a change of it is a new VERSION in schema.rs.
--
-- Conventions
--   * Whole numbers that are unsigned 64 bit in the model are stored in two's complement: a value above 2^63-1 shows as
--     negative (add 2^64). Only seeds get there in practice.
--   * Columns that say JSON hold one JSON value in the form of disk.rs, integers only.
--   * samples.ticks: signed 64 bit, little endian, 8 bytes each, nothing else; length / 8 is their number.
--   * Checksums are those of seal.rs. A row gets its own in the transaction that writes it.

CREATE TABLE run (
    key             INTEGER PRIMARY KEY,        -- its amount is the order of insertion; negative: imported
    id              TEXT NOT NULL UNIQUE,       -- YYYYMMDDTHHMMSS-xxxx
    started_unix_ns INTEGER NOT NULL,
    ended_unix_ns   INTEGER,                    -- NULL exactly while ended_by is 'unfinished'
    ended_by        TEXT NOT NULL,
    seed            INTEGER NOT NULL,
    tool_version    TEXT NOT NULL,
    method_version  INTEGER NOT NULL,
    command         TEXT NOT NULL,              -- JSON list of words
    precision_ppm   INTEGER NOT NULL,
    budget_ms       INTEGER NOT NULL,
    stable          TEXT NOT NULL,              -- JSON object: facts that make the machine key
    drifting        TEXT NOT NULL,              -- JSON object: facts that change by the minute
    personal        TEXT NOT NULL,              -- JSON object: left out of shareable exports
    findings        TEXT NOT NULL,              -- JSON list: what doctor found at the start
    request         TEXT NOT NULL,              -- JSON object: what was asked; a sweep is gone on with by it
    invocations     INTEGER,                    -- how many there were at its end; NULL while it goes on
    checksum        BLOB,                       -- of this row and of its variants
    CHECK ((ended_by = 'unfinished') = (ended_unix_ns IS NULL))
) STRICT;

CREATE TABLE variant (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    position   INTEGER NOT NULL,                -- index that invocations refer to
    mechanism  TEXT NOT NULL,
    probe      TEXT NOT NULL,
    experiment TEXT NOT NULL,
    contexts   INTEGER NOT NULL,
    placement  TEXT NOT NULL,
    timing     TEXT NOT NULL,
    parameters TEXT NOT NULL,                   -- JSON object
    label      TEXT NOT NULL,
    not_run    TEXT,                            -- JSON object: why it was not run at all
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

-- What probes say of themselves: the same for every invocation of one probe, except the process id.
CREATE TABLE hello (
    key     INTEGER PRIMARY KEY,
    content TEXT NOT NULL UNIQUE                -- JSON object
) STRICT;

CREATE TABLE invocation (
    key                 INTEGER PRIMARY KEY,
    run                 INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    position            INTEGER NOT NULL,       -- index in the run's list
    variant             INTEGER NOT NULL,
    round               INTEGER NOT NULL,
    sequence            INTEGER NOT NULL,
    started_unix_ns     INTEGER NOT NULL,
    wall_ns             INTEGER NOT NULL,
    cpus                TEXT NOT NULL,          -- JSON list
    environment_padding INTEGER NOT NULL,
    peak_rss_bytes      INTEGER NOT NULL,
    process             TEXT NOT NULL,          -- exited, signalled, deadline, stopped, not_started, unknown
    process_code        INTEGER,                -- exit status or signal
    verdict             TEXT NOT NULL,
    reason              TEXT,                   -- JSON object: why; NULL for verified
    pid                 INTEGER,                -- NULL exactly when hello is
    hello               INTEGER REFERENCES hello (key),
    plan                TEXT,                   -- JSON object
    histograms          TEXT NOT NULL,          -- JSON list
    evidence            TEXT,                   -- JSON object
    notes               TEXT NOT NULL,          -- JSON list
    ending              TEXT,                   -- JSON object: the probe's last message
    fault               TEXT,
    disturbances        TEXT NOT NULL,          -- JSON list
    log                 TEXT NOT NULL,
    seen                TEXT,                   -- JSON object: what the host saw by itself; NULL where it did not look
    checksum            BLOB,                   -- of this row, of the probe's introduction and of the samples
    UNIQUE (run, position),
    FOREIGN KEY (run, variant) REFERENCES variant (run, position)
) STRICT;

CREATE TABLE samples (
    invocation INTEGER NOT NULL REFERENCES invocation (key) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    phase      TEXT NOT NULL,
    units      INTEGER NOT NULL,
    quantity   TEXT,
    ticks      BLOB NOT NULL,
    rulers     TEXT,                            -- JSON object: name of a ruler -> list of clock ticks beside each batch
    PRIMARY KEY (invocation, position)
) STRICT;

-- Names of runs to be compared with.
CREATE TABLE baseline (
    name        TEXT PRIMARY KEY,
    run         TEXT NOT NULL,                  -- id of the run; no reference, so that a name whose run is gone can say so
    set_unix_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
