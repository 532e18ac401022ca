-- Version 2: names of runs to be compared with.

CREATE TABLE baseline (
    name        TEXT PRIMARY KEY,
    run         TEXT NOT NULL,                  -- id of the run; no reference, so that a name whose run is gone can say so
    set_unix_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
