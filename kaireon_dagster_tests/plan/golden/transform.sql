-- case: cast fails the load
-- columns: {"a": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "cast", "field": "a", "to": "integer"}]}
-- x: cast a to integer
CREATE TEMP VIEW "x.1" AS
SELECT "src".* REPLACE (flow_read_integer("a") AS "a"), (CASE WHEN (flow_unread_integer("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- x: rows that fail leave
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.1";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer
);

-- case: cast quarantines
-- columns: {"a": "text", "b": "text"}
-- quarantine: on
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "cast", "field": "a", "to": "numeric(10,2)"}, {"type": "cast", "field": "b", "to": "date", "format": "DD/MM/YYYY"}]}
-- x: the row as it comes in
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, {'a': "a", 'b': "b"} AS "_flow_in"
FROM "src";
-- x: cast a to numeric(10,2), b to date
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* REPLACE (flow_read_numeric_10_2("a") AS "a", flow_read_date_4a8d1f7d("b") AS "b"), (CASE WHEN (flow_unread_numeric_10_2("a")) THEN 1 ELSE 0 END | CASE WHEN (flow_unread_date_4a8d1f7d("b")) THEN 2 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "x.1";
-- x: rows that fail leave
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (CASE WHEN (_flow_failed_0 & 3::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.2";
-- x: keep refused rows
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "x.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" numeric(10,2),
  "b" date
);

-- case: cast to null
-- columns: {"a": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "cast", "field": "a", "to": "timestamptz", "onError": "null"}]}
-- x: cast a to timestamp with time zone
CREATE TEMP VIEW "x.1" AS
SELECT "src".* REPLACE (flow_read_timestamp_with_time_zone("a") AS "a"), (CASE WHEN (flow_unread_timestamp_with_time_zone("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" timestamp with time zone
);

-- case: expression
-- columns: {"a": "integer", "b": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "expression", "field": "c", "expression": "a + 1"}]}
-- x: try expression:c
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, TRY({'v': (CASE WHEN "a" IS NULL OR "a" IS NOT NULL THEN ("a" + CAST(1 AS INTEGER)) END)}) AS "_flow_try"
FROM "src";
-- x: mark where expression:c raised
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, (CASE WHEN (_flow_try IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "x.1";
-- x: c = a + 1
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".* EXCLUDE ("_flow_try"), _flow_try.v AS "c"
FROM "x.2";
-- x: rows that fail leave
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer,
  "b" integer,
  "c" integer
);

-- case: expression that may raise
-- columns: {"a": "integer", "b": "integer"}
-- quarantine: on
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "expression", "field": "c", "expression": "a / b"}]}
-- x: the row as it comes in
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, {'a': "a", 'b': "b"} AS "_flow_in"
FROM "src";
-- x: try expression:c
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, TRY({'v': (CASE WHEN "a" IS NULL OR "a" IS NOT NULL THEN (CASE WHEN "b" = 0 AND "a" IS NOT NULL THEN CAST(CAST(CAST('division by zero' AS BOOLEAN) AS VARCHAR) AS INTEGER) ELSE ("a" // "b") END) END)}) AS "_flow_try"
FROM "x.1";
-- x: mark where expression:c raised
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (CASE WHEN (_flow_try IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "x.2";
-- x: c = a / b
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* EXCLUDE ("_flow_try"), _flow_try.v AS "c"
FROM "x.3";
-- x: rows that fail leave
CREATE TEMP VIEW "x.5" AS
SELECT "x.4".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.4";
-- x: keep refused rows
CREATE TEMP VIEW "x.6" AS
SELECT "x.5".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "x.5";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer,
  "b" integer,
  "c" integer
);

-- case: rename and drop
-- columns: {"a": "text", "b": "text", "c": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "rename", "from": "a", "to": "z"}, {"type": "drop", "fields": ["b"]}]}
-- x: rename a to z
CREATE TEMP VIEW "x.1" AS
SELECT "src".* RENAME ("a" AS "z")
FROM "src";
-- x: drop b
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* EXCLUDE ("b")
FROM "x.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("z", '') AS "z", nullif("c", '') AS "c")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "z" text,
  "c" text
);

-- case: add_field
-- columns: {"a": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "add_field", "field": "f", "value": "x"}, {"type": "add_field", "field": "n", "value": 3}, {"type": "add_field", "field": "run", "value": "{{runId}} of {{pipelineId}}"}, {"type": "add_field", "field": "d", "value": "2024-01-31", "dataType": "date"}]}
-- x: add f
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, ('x') AS "f"
FROM "src";
-- x: add n
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, 3::BIGINT AS "n"
FROM "x.1";
-- x: add run
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (getvariable('flow_run_id') || ' of ' || getvariable('flow_pipeline_id')) AS "run"
FROM "x.2";
-- x: add d
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".*, flow_read_date(('2024-01-31')) AS "d"
FROM "x.3";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.4".* REPLACE (nullif("a", '') AS "a", nullif("f", '') AS "f", nullif("run", '') AS "run")
FROM "x.4";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "f" text,
  "n" bigint,
  "run" text,
  "d" date
);

-- case: hash
-- columns: {"a": "text", "n": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "hash", "field": "a", "algorithm": "sha256"}, {"type": "hash", "field": "n", "algorithm": "sha512", "into": "h", "saltEnv": "SALT"}]}
-- x: hash a (sha256)
CREATE TEMP VIEW "x.1" AS
SELECT "src".* REPLACE (sha256("a") AS "a")
FROM "src";
-- x: hash n (sha512)
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, flow_sha512(getvariable('flow_salt_salt') || CAST("n" AS VARCHAR)) AS "h"
FROM "x.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("a", '') AS "a", nullif("h", '') AS "h")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "n" integer,
  "h" text
);

-- case: mask_pii
-- columns: {"a": "text", "b": "text", "c": "text", "d": "text", "e": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "mask_pii", "field": "a", "strategy": "full"}, {"type": "mask_pii", "field": "b", "strategy": "partial", "keepLast": 2}, {"type": "mask_pii", "field": "c", "strategy": "email"}, {"type": "mask_pii", "field": "d", "strategy": "phone"}, {"type": "mask_pii", "field": "e", "strategy": "hash"}]}
-- x: mask a (full)
CREATE TEMP VIEW "x.1" AS
SELECT "src".* REPLACE (CASE WHEN "a" IS NOT NULL THEN '****' END AS "a")
FROM "src";
-- x: mask b (partial)
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* REPLACE (CASE WHEN length("b") <= 2 THEN repeat('*', length("b")) ELSE repeat('*', greatest(length("b") - 2, 0)) || right("b", 2) END AS "b")
FROM "x.1";
-- x: mask c (email)
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".* REPLACE (CASE WHEN strpos("c", '@') > 1 THEN left("c", 1) || '***' || substr("c", strpos("c", '@')) WHEN "c" IS NOT NULL THEN '****' END AS "c")
FROM "x.2";
-- x: mask d (phone)
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* REPLACE (CASE WHEN length(regexp_replace("d", '[^0-9]', '', 'g')) <= 4 THEN repeat('*', length(regexp_replace("d", '[^0-9]', '', 'g'))) ELSE repeat('*', greatest(length(regexp_replace("d", '[^0-9]', '', 'g')) - 4, 0)) || right(regexp_replace("d", '[^0-9]', '', 'g'), 4) END AS "d")
FROM "x.3";
-- x: mask e (hash)
CREATE TEMP VIEW "x.5" AS
SELECT "x.4".* REPLACE (sha256("e") AS "e")
FROM "x.4";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.5".* REPLACE (nullif("a", '') AS "a", nullif("b", '') AS "b", nullif("c", '') AS "c", nullif("d", '') AS "d", nullif("e", '') AS "e")
FROM "x.5";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "b" text,
  "c" text,
  "d" text,
  "e" text
);

-- case: map_values
-- columns: {"a": "text", "b": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "map_values", "field": "a", "mapping": {"N": "new", "X": null}}, {"type": "map_values", "field": "b", "mapping": {"1": "one"}, "default": "other"}]}
-- x: map a
CREATE TEMP VIEW "x.1" AS
SELECT "src".* REPLACE (CASE "a" WHEN 'N' THEN 'new' WHEN 'X' THEN NULL ELSE "a" END AS "a")
FROM "src";
-- x: map b
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* REPLACE (CASE CAST("b" AS VARCHAR) WHEN '1' THEN 'one' ELSE 'other' END AS "b")
FROM "x.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("a", '') AS "a", nullif("b", '') AS "b")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "b" text
);

-- case: split and merge
-- columns: {"a": "text", "b": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "split", "field": "a", "separator": "-", "into": ["x1", "x2"]}, {"type": "merge", "fields": ["x1", "b"], "into": "m", "separator": " "}]}
-- x: split a
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, string_split("a", '-')[1] AS "x1", CASE WHEN len(string_split("a", '-')[2:]) > 0 THEN array_to_string(string_split("a", '-')[2:], '-') END AS "x2"
FROM "src";
-- x: merge into m
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, nullif(concat_ws(' ', "x1", CAST("b" AS VARCHAR)), '') AS "m"
FROM "x.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("a", '') AS "a", nullif("x1", '') AS "x1", nullif("x2", '') AS "x2", nullif("m", '') AS "m")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "b" integer,
  "x1" text,
  "x2" text,
  "m" text
);

-- case: filter
-- columns: {"a": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "filter", "condition": "a > 1"}]}
-- x: keep a > 1
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, (CASE WHEN ((("a" > CAST(1 AS INTEGER))) IS NOT TRUE) THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "src";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer
);

-- case: filter after a cast that quarantines
-- columns: {"a": "text"}
-- quarantine: on
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "cast", "field": "a", "to": "integer"}, {"type": "filter", "condition": "a > 1"}]}
-- x: the row as it comes in
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, {'a': "a"} AS "_flow_in"
FROM "src";
-- x: cast a to integer
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* REPLACE (flow_read_integer("a") AS "a"), (CASE WHEN (flow_unread_integer("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "x.1";
-- x: rows that fail leave
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.2";
-- x: keep a > 1
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* REPLACE ((CASE WHEN _flow_fate = 0 AND ((("a" > CAST(1 AS INTEGER))) IS NOT TRUE) THEN 2 ELSE _flow_fate END)::USMALLINT AS "_flow_fate")
FROM "x.3";
-- x: keep refused rows
CREATE TEMP VIEW "x.5" AS
SELECT "x.4".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "x.4";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer
);

-- case: deduplicate
-- columns: {"k": "text", "v": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "deduplicate", "keys": ["k"], "orderBy": "v", "keep": "last"}]}
-- x: number the rows
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, row_number() OVER () AS "_flow_seq"
FROM "src";
-- x: keep the last of each k
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, (CASE WHEN (row_number() OVER (PARTITION BY (TRUE), "k" ORDER BY "v" DESC NULLS LAST, _flow_seq DESC) > 1) THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("k", '') AS "k")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "k" text,
  "v" integer
);

-- case: aggregate
-- columns: {"k": "text", "n": "numeric(5,2)"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "aggregate", "groupBy": ["k"], "aggregations": [{"function": "count", "as": "count"}, {"function": "count_distinct", "field": "n", "as": "count_distinct"}, {"function": "sum", "field": "n", "as": "sum"}, {"function": "avg", "field": "n", "as": "avg"}, {"function": "min", "field": "n", "as": "min"}, {"function": "max", "field": "n", "as": "max"}, {"function": "array_agg", "field": "n", "as": "array_agg"}, {"function": "string_agg", "field": "n", "as": "string_agg"}]}]}
-- x: number the rows
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, row_number() OVER () AS "_flow_seq"
FROM "src";
-- x: rows before they are aggregated
CREATE TEMP TABLE "x.1.held" AS
SELECT "k", "n", _flow_seq
FROM "x.1";
-- rows that go on
CREATE TEMP VIEW "x.1.alive" AS
SELECT "k", "n", _flow_seq
FROM "x.1.held"
WHERE TRUE;
-- x: aggregate
CREATE TEMP VIEW "x.2" AS
SELECT "k", count(*) AS "count", count(DISTINCT "n") AS "count_distinct", sum("n")::DECIMAL(38,2) AS "sum", avg("n")::DOUBLE AS "avg", min("n") AS "min", max("n") AS "max", array_agg("n" ORDER BY _flow_seq) AS "array_agg", string_agg(CAST("n" AS VARCHAR), ',' ORDER BY _flow_seq) AS "string_agg"
FROM "x.1.alive"
GROUP BY "k"
ORDER BY "k";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.2".* REPLACE (nullif("k", '') AS "k", nullif("string_agg", '') AS "string_agg")
FROM "x.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "k" text,
  "count" bigint,
  "count_distinct" bigint,
  "sum" numeric(38,2),
  "avg" double precision,
  "min" numeric(5,2),
  "max" numeric(5,2),
  "array_agg" numeric(5,2)[],
  "string_agg" text
);

-- case: aggregate of all rows after a cast that quarantines
-- columns: {"n": "text"}
-- quarantine: on
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "cast", "field": "n", "to": "integer"}, {"type": "aggregate", "groupBy": [], "aggregations": [{"function": "sum", "field": "n", "as": "s"}]}]}
-- x: the row as it comes in
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, {'n': "n"} AS "_flow_in"
FROM "src";
-- x: cast n to integer
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".* REPLACE (flow_read_integer("n") AS "n"), (CASE WHEN (flow_unread_integer("n")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "x.1";
-- x: rows that fail leave
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.2";
-- x: keep refused rows
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "x.3";
-- x: rows before they are aggregated
CREATE TEMP TABLE "x.4.held" AS
SELECT "n", _flow_fate, _flow_failed_0, _flow_row
FROM "x.4";
-- rows that go on
CREATE TEMP VIEW "x.4.alive" AS
SELECT "n"
FROM "x.4.held"
WHERE _flow_fate = 0;
-- x: aggregate
CREATE TEMP VIEW "x.5" AS
SELECT sum("n")::BIGINT AS "s"
FROM "x.4.alive";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "s" bigint
);

-- case: lookup_join
-- columns: {"id": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "lookup_join", "table": "public.names", "on": [{"field": "id", "column": "id"}], "fields": [{"column": "name", "as": "label"}], "joinType": "inner"}]}
-- x: number the rows
CREATE TEMP VIEW "x.1" AS
SELECT "src".*, row_number() OVER () AS "_flow_seq"
FROM "src";
-- x: look up public.names
CREATE TEMP VIEW "x.2" AS
SELECT "x.1".*, _flow_lookup."name" AS "label", _flow_lookup."id" IS NOT NULL AS "_flow_try"
FROM "x.1"
LEFT JOIN "_flow_lookup_names_0b0ff377a78d" AS _flow_lookup ON flow_read_integer("x.1"."id") = _flow_lookup."id";
-- x: keep rows found in public.names
CREATE TEMP VIEW "x.3" AS
SELECT "x.2".*, (CASE WHEN (NOT _flow_try) THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "x.2";
-- x: forget whether it was found
CREATE TEMP VIEW "x.4" AS
SELECT "x.3".* EXCLUDE ("_flow_try")
FROM "x.3";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.4".* REPLACE (nullif("id", '') AS "id", nullif("label", '') AS "label")
FROM "x.4";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "id" text,
  "label" text
);

-- case: summarize
-- columns: {"a": "text", "n": "integer"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "summarize"}]}
-- x: rows before they are summarized
CREATE TEMP TABLE "src.held" AS
SELECT "a", "n"
FROM "src";
-- rows that go on
CREATE TEMP VIEW "src.alive" AS
SELECT "a", "n"
FROM "src.held"
WHERE TRUE;
-- x: summarize
CREATE TEMP VIEW "x.1" AS
SELECT 'a' AS "field", count(*) AS "count", count(*) - count("a") AS "nulls", count(DISTINCT "a") AS "distinct", min("a") AS "min", max("a") AS "max", NULL::DOUBLE AS "mean" FROM "src.alive"
UNION ALL
SELECT 'n' AS "field", count(*) AS "count", count(*) - count("n") AS "nulls", count(DISTINCT "n") AS "distinct", CAST(min("n") AS VARCHAR) AS "min", CAST(max("n") AS VARCHAR) AS "max", avg("n")::DOUBLE AS "mean" FROM "src.alive";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.1".* REPLACE (nullif("field", '') AS "field", nullif("min", '') AS "min", nullif("max", '') AS "max")
FROM "x.1";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "field" text,
  "count" bigint,
  "nulls" bigint,
  "distinct" bigint,
  "min" text,
  "max" text,
  "mean" double precision
);

-- case: hostile names
-- columns: {"id\"; DROP TABLE victim; --": "text"}
-- node: {"id": "x", "kind": "transform", "input": "src", "ops": [{"type": "rename", "from": "id\"; DROP TABLE victim; --", "to": "it's %s {0}"}]}
-- x: rename id"; DROP TABLE victim; -- to it's %s {0}
CREATE TEMP VIEW "x.1" AS
SELECT "src".* RENAME ("id""; DROP TABLE victim; --" AS "it's %s {0}")
FROM "src";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "x.1".* REPLACE (nullif("it's %s {0}", '') AS "it's %s {0}")
FROM "x.1";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "it's %s {0}" text
);
