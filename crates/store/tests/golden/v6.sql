BEGIN TRANSACTION;
CREATE TABLE baseline (
    name        TEXT PRIMARY KEY,
    run         TEXT NOT NULL,                  -- id of the run; no reference, so that a name whose run is gone can say so
    set_unix_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE hello (
    key     INTEGER PRIMARY KEY,
    content TEXT NOT NULL UNIQUE                -- JSON object
) STRICT;
INSERT INTO hello VALUES (1, '{"protocol":1,"probe":"native","version":"0.1.0","runtime":"glibc 2.36","compiler":"gcc 12.2.0","flags":"-O2","clock":{"name":"CLOCK_MONOTONIC","ticks_per_second":1000000000,"read_cost_ticks":20},"counter":"tsc"}');
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
    peak_rss_bytes INTEGER NOT NULL,
    process             TEXT NOT NULL,          -- exited, signalled, deadline, stopped, not_started
    process_code        INTEGER,                -- exit status or signal
    verdict             TEXT NOT NULL,
    reason              TEXT NOT NULL,
    pid                 INTEGER,                -- NULL exactly when hello is
    hello               INTEGER REFERENCES hello (key),
    plan                TEXT,                   -- JSON object
    histograms          TEXT NOT NULL,          -- JSON list
    evidence            TEXT,                   -- JSON object
    notes               TEXT NOT NULL,          -- JSON list
    ending              TEXT,                   -- JSON object: the probe's last message
    fault               TEXT,
    disturbances        TEXT NOT NULL,          -- JSON list
    log                 TEXT NOT NULL, seen TEXT, checksum BLOB,
    UNIQUE (run, position),
    FOREIGN KEY (run, variant) REFERENCES variant (run, position)
) STRICT;
INSERT INTO invocation VALUES (1, 1, 0, 0, 0, 0, 1767323046000000000, 31000000, '[0,1]', 128, 4096, 'exited', 0, 'verified', '', 1000, 1, '{"mechanism":"thread/pipe","experiment":"switch","contexts":2,"timing":"batch","cpus":[0],"batch_units":512,"batches":4,"warmup_batches":1,"parameters":{"payload":"1"}}', '[]', '{"units":2560,"turns":{"total":2560,"min":1280,"max":1280,"contexts":2},"token":2560,"kernel":{"voluntary":2560,"involuntary":3,"tasks":2,"source":"rusage"},"address_spaces":1,"cpus":[0],"migrations":0,"hops":{"count":1000,"in_order":1000,"same_cpu":999},"page_faults":{"minor":7,"major":0},"gc_cycles":null,"counts":{"exits":-9223372036854775808},"why":{"gc_cycles":"there is no collector"}}', '["the kernel is old"]', '{"status":"ok","code":null,"detail":null,"errno":null,"samples":5}', NULL, '[{"kind":"steal","detail":"3 ms of 31 ms"}]', CAST(X'736169642022c3bc220a00e280a8' AS TEXT), NULL, X'90179b617d700784b7680225f87535a0');
INSERT INTO invocation VALUES (2, 1, 1, 1, 0, 1, 1767323046000000001, 31000000, '[0,1]', 128, 4096, 'exited', 0, 'verified', '', 1001, 1, '{"mechanism":"thread/pipe","experiment":"switch","contexts":2,"timing":"batch","cpus":[0],"batch_units":512,"batches":4,"warmup_batches":1,"parameters":{"payload":"1"}}', '[{"phase":"measure","units":3,"bits":7,"buckets":[[10,2],[18446744073709551615,1]],"sum":18446744073709551615,"min":10,"max":18446744073709551615,"pair_sum":60,"pair_count":3,"span_counter":1,"span_clock":2}]', '{"units":2560,"turns":{"total":2560,"min":1280,"max":1280,"contexts":2},"token":2560,"kernel":{"voluntary":2560,"involuntary":3,"tasks":2,"source":"rusage"},"address_spaces":1,"cpus":[0],"migrations":0,"hops":{"count":1000,"in_order":1000,"same_cpu":999},"page_faults":{"minor":7,"major":0},"gc_cycles":null,"counts":{"exits":-9223372036854775808},"why":{"gc_cycles":"there is no collector"}}', '["the kernel is old"]', '{"status":"ok","code":null,"detail":null,"errno":null,"samples":5}', NULL, '[{"kind":"steal","detail":"3 ms of 31 ms"}]', CAST(X'736169642022c3bc220a00e280a8' AS TEXT), NULL, X'6e80ef6cf5eef9eb89ce61b5ebc6ae5b');
INSERT INTO invocation VALUES (3, 1, 2, 0, 1, 2, 1767323046000000002, 31000000, '[0,1]', 128, 4096, 'deadline', NULL, 'broken', 'nothing was said within 8 s', NULL, NULL, NULL, '[]', NULL, '[]', NULL, 'line 3: no JSON', '[]', CAST(X'736169642022c3bc220a00e280a8' AS TEXT), NULL, X'391fb52128ecd568a7c044d417994729');
CREATE TABLE run (
    key             INTEGER PRIMARY KEY,
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
    findings        TEXT NOT NULL, request TEXT, invocations INTEGER, checksum BLOB,              -- JSON list: what doctor found at the start
    CHECK ((ended_by = 'unfinished') = (ended_unix_ns IS NULL))
) STRICT;
INSERT INTO run VALUES (1, '20260102T030405-a1b2', 1767323045000000000, 1767323105000000000, 'precision', -2, '0.1.0', 1, '["switchcost","run","thread/*"]', 20000, 60000, '{"cpu":"Xeon","kernel":"6.8"}', '{"load":"0.10"}', '{"host":"bobs-box"}', '[{"id":"hypervisor","severity":"warning","what":"a hypervisor is below","effect":"exits cost 2 µs","cure":"use bare metal"}]', NULL, 3, X'8b01c48fc13b12c207bfbe8c0f3076e5');
CREATE TABLE samples (
    invocation INTEGER NOT NULL REFERENCES invocation (key) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    phase      TEXT NOT NULL,
    units      INTEGER NOT NULL,
    quantity   TEXT,
    ticks      BLOB NOT NULL, rulers TEXT,
    PRIMARY KEY (invocation, position)
) STRICT;
INSERT INTO samples VALUES (1, 0, 'warmup', 512, NULL, X'e0c8100000000000', NULL);
INSERT INTO samples VALUES (1, 1, 'measure', 512, NULL, X'0000000000000000ffffffffffffffff0000000000000000ffffffffffffff7f', NULL);
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
    not_run    TEXT,                            -- why it was not run at all
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
INSERT INTO variant VALUES (1, 0, 'thread/pipe', 'gcc-12', 'switch', 2, 'one_cpu', 'batch', '{"payload":"1"}', 'a', NULL);
INSERT INTO variant VALUES (1, 1, 'stack/asm', 'gcc-12', 'switch', 2, 'one_cpu', 'batch', '{"payload":"1"}', 'a', NULL);
INSERT INTO variant VALUES (1, 2, 'vm/pair', 'rust', 'switch', 2, 'one_cpu', 'batch', '{"payload":"1"}', 'a', 'there is no /dev/kvm');
CREATE INDEX run_by_start ON run (started_unix_ns, id);
COMMIT;
