"""Reads the table of a run by pandas and by DuckDB, as their users would: both must find the same numbers."""

import sys

import duckdb
import pandas

(path,) = sys.argv[1:]
frame = pandas.read_csv(path)
assert frame["median"].dtype == float and frame["starts"].dtype == int, frame.dtypes
rows = duckdb.execute("SELECT label, median, low, starts, verdict FROM read_csv(?)", [path]).fetchall()
assert len(rows) == len(frame)
for row, (_, seen) in zip(rows, frame.iterrows(), strict=True):
    same = pandas.isna(seen["median"]) if row[1] is None else row[1] == seen["median"]
    assert row[0] == seen["label"] and same and row[3] == seen["starts"], (row, seen)
    print(row[0], row[1], row[3], row[4], sep="|")
