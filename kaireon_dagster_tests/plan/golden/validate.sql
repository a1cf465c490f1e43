-- case: not_null
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "not_null", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ("a" IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: gt 0
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "gt:0", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ((flow_unread_double_precision("a") OR coalesce(NOT (flow_read_double_precision("a") > '0'::DOUBLE), FALSE))) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: gte 0
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "gte:0", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ((flow_unread_double_precision("a") OR coalesce(NOT (flow_read_double_precision("a") >= '0'::DOUBLE), FALSE))) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: lt 9
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "lt:9", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ((flow_unread_double_precision("a") OR coalesce(NOT (flow_read_double_precision("a") < '9'::DOUBLE), FALSE))) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: lte 9
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "lte:9", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ((flow_unread_double_precision("a") OR coalesce(NOT (flow_read_double_precision("a") <= '9'::DOUBLE), FALSE))) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: eq x
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "eq:x", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT ("a" = 'x'), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: ne x
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "ne:x", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT ("a" <> 'x'), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: between 1,3
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "between:1,3", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ((flow_unread_double_precision("a") OR coalesce(NOT (flow_read_double_precision("a") BETWEEN '1'::DOUBLE AND '3'::DOUBLE), FALSE))) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: in a|b
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "in:a|b", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT ("a" IN ('a', 'b')), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: not_in a|b
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "not_in:a|b", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(("a" IN ('a', 'b')), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: regex ^[A-Z]+$
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "regex:^[A-Z]+$", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT regexp_matches("a", '^[A-Z]+$'), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: min_length 1
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "min_length:1", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(length("a") < 1, FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: max_length 3
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "max_length:3", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(length("a") > 3, FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: email
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "email", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT regexp_full_match("a", '[^@\s\x00-\x1f]+@[^@\s.\x00-\x1f]+(\.[^@\s.\x00-\x1f]+)+'), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: url
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "url", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT regexp_full_match("a", '(https?|ftp)://[^\s/?#\x00-\x1f]+([/?#][^\s\x00-\x1f]*)?'), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: uuid
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "uuid", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (flow_unread_uuid("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: integer
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "integer", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (flow_unread_bigint("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: numeric
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "numeric", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (flow_unread_double_precision("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: date
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "date", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (flow_unread_date("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: timestamp
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "timestamp", "onFail": "quarantine"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (flow_unread_timestamp_with_time_zone("a")) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: unique
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "unique", "onFail": "quarantine"}]}
-- v: number the rows
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, row_number() OVER () AS "_flow_seq"
FROM "src";
-- v: row rules
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (("a" IS NOT NULL AND count(*) OVER (PARTITION BY (TRUE), "a") > 1)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "v.1";
-- v: rows that fail leave
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.2";
-- v: keep refused rows
CREATE TEMP VIEW "v.4" AS
SELECT "v.3".*, CASE WHEN _flow_fate = 1 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.3";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.4".* REPLACE (nullif("a", '') AS "a")
FROM "v.4";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: gt of a typed column
-- columns: {"a": "numeric(10,2)"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "r", "field": "a", "rule": "gt:0", "onFail": "drop"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN (coalesce(NOT ("a" > 0), FALSE)) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" numeric(10,2)
);

-- case: every consequence
-- columns: {"a": "text"}
-- node: {"id": "v", "kind": "validate", "input": "src", "rowLevel": [{"id": "quarantine", "field": "a", "rule": "not_null", "onFail": "quarantine"}, {"id": "drop", "field": "a", "rule": "not_null", "onFail": "drop"}, {"id": "warn", "field": "a", "rule": "not_null", "onFail": "warn"}, {"id": "abort", "field": "a", "rule": "not_null", "onFail": "abort"}]}
-- v: row rules
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, (CASE WHEN ("a" IS NULL) THEN 1 ELSE 0 END | CASE WHEN ("a" IS NULL) THEN 2 ELSE 0 END | CASE WHEN ("a" IS NULL) THEN 4 ELSE 0 END | CASE WHEN ("a" IS NULL) THEN 8 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- v: rows that fail leave
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (_flow_failed_0 & 8::UBIGINT) <> 0 THEN 1 WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 2 WHEN (_flow_failed_0 & 2::UBIGINT) <> 0 THEN 3 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "v.1";
-- v: keep refused rows
CREATE TEMP VIEW "v.3" AS
SELECT "v.2".*, CASE WHEN _flow_fate = 2 THEN to_json({'a': "a"})::VARCHAR ELSE NULL END AS "_flow_row"
FROM "v.2";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.3".* REPLACE (nullif("a", '') AS "a")
FROM "v.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text
);

-- case: dataset validators
-- columns: {"a": "text", "d": "date"}
-- node: {"id": "v", "kind": "validate", "input": "src", "datasetLevel": {"rowCount": {"min": 1, "onFail": "abort"}, "nullRate": {"field": "a", "max": 0.1, "onFail": "warn"}, "uniqueness": {"fields": ["a", "d"], "onFail": "warn"}, "freshness": {"field": "d", "maxAgeMinutes": 60, "onFail": "warn"}, "referential": {"field": "a", "references": "public.names.id", "onFail": "abort"}}}
-- v: number the rows
CREATE TEMP VIEW "v.1" AS
SELECT "src".*, row_number() OVER () AS "_flow_seq"
FROM "src";
-- v: measures for the dataset validators
CREATE TEMP VIEW "v.2" AS
SELECT "v.1".*, (CASE WHEN (TRUE) THEN 1 ELSE 0 END | CASE WHEN ("a" IS NULL) THEN 2 ELSE 0 END | CASE WHEN (("a" IS NOT NULL AND "d" IS NOT NULL AND count(*) OVER (PARTITION BY (TRUE), "a", "d") > 1)) THEN 4 ELSE 0 END | CASE WHEN (coalesce(timezone('UTC', CAST("d" AS TIMESTAMP)) >= getvariable('flow_run_started_at')::TIMESTAMPTZ - INTERVAL '3600 seconds', FALSE)) THEN 8 ELSE 0 END | CASE WHEN (("a" IS NOT NULL AND coalesce(NOT (flow_read_integer("a") IN (SELECT "id" FROM "_flow_lookup_names_ff64c1d8f092")), TRUE))) THEN 16 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "v.1";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "v.2".* REPLACE (nullif("a", '') AS "a")
FROM "v.2";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "d" date
);
