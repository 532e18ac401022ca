-- Every batch of a run as a row, for data frames: DuckDB makes a Parquet file of a run file and its CSV.
--
--   switchcost export --format jsonl -o run.jsonl
--   switchcost export --format csv -o run.csv
--   duckdb < docs/batches.sql
--
-- Warm-up is included and marked. `value` is ns per unit, or bytes per context where `quantity` names what was counted. Histograms of timing `each`
-- have no batches.
COPY (
    WITH line AS (SELECT json FROM read_ndjson_objects('run.jsonl', maximum_object_size = 67108864)),
    variant AS (
        SELECT
            (json ->> '$.index')::BIGINT AS position, json ->> '$.mechanism' AS mechanism, json ->> '$.probe' AS probe, json ->> '$.experiment' AS experiment,
            json ->> '$.placement' AS placement, json ->> '$.timing' AS timing, (json ->> '$.contexts')::BIGINT AS contexts,
            coalesce(list_aggregate(list_transform(json_keys(json, '$.parameters'), lambda name: name || '=' || (json ->> ('$.parameters.' || name))), 'string_agg', ' '), '') AS parameters,
        FROM line WHERE json ->> '$.t' = 'variant' AND json ->> '$.label' = ''
    ),
    part AS (
        SELECT
            (json ->> '$.variant')::BIGINT AS position, json ->> '$.verdict' AS verdict, (json ->> '$.round')::BIGINT AS round,
            (json ->> '$.sequence')::BIGINT AS invocation, (json ->> '$.started_unix_ns')::BIGINT AS started_unix_ns,
            json_array_length(json, '$.disturbances') > 0 AS disturbed, 1e9 / (json ->> '$.hello.clock.ticks_per_second')::DOUBLE AS ns_per_tick,
            unnest(from_json(json -> '$.samples', '[{"phase": "VARCHAR", "units": "BIGINT", "quantity": "VARCHAR", "ticks": ["BIGINT"]}]')) AS samples,
        FROM line WHERE json ->> '$.t' = 'invocation'
    ),
    batch AS (
        SELECT * EXCLUDE samples, samples.phase AS phase, samples.units AS units, coalesce(samples.quantity, '') AS quantity,
            unnest(samples.ticks) AS ticks, generate_subscripts(samples.ticks, 1) - 1 AS batch,
        FROM part
    )
    SELECT
        row.run, row.label, mechanism, probe, experiment, placement, timing, parameters, row.unit, batch.quantity, phase, batch.verdict, variant.contexts,
        round, invocation, batch, units, ticks, started_unix_ns, batch.disturbed,
        ticks * (CASE WHEN batch.quantity = '' THEN ns_per_tick ELSE 1 END) / units AS value,
    FROM batch
    JOIN variant USING (position)
    JOIN (SELECT * REPLACE (coalesce(parameters, '') AS parameters) FROM read_csv('run.csv', all_varchar = true)) AS row USING (mechanism, probe, experiment, placement, timing, parameters)
    WHERE row.contexts = variant.contexts::VARCHAR
    ORDER BY invocation, batch
) TO 'run.parquet' (FORMAT parquet);
