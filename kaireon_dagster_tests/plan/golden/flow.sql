-- case: branch into two steps
-- columns: {"a": "integer"}
-- node: {"id": "b", "kind": "branch", "input": "src", "routes": [{"name": "big", "when": "a > 10"}], "otherwise": "rest", "mode": "first"}
-- node: {"id": "t1", "kind": "target", "input": "b.big", "schema": "public.t", "loadMode": "append"}
-- node: {"id": "t2", "kind": "target", "input": "b.rest", "schema": "public.t", "loadMode": "append"}
-- b: no route yet
CREATE TEMP VIEW "b.1" AS
SELECT "src".*, 0::BIGINT AS "_flow_routes"
FROM "src";
-- b: route big when a > 10
CREATE TEMP VIEW "b.2" AS
SELECT "b.1".* REPLACE (_flow_routes | CASE WHEN _flow_routes = 0 AND (("a" > CAST(10 AS INTEGER))) THEN 1::BIGINT ELSE 0 END AS "_flow_routes")
FROM "b.1";
-- b: otherwise rest
CREATE TEMP VIEW "b.3" AS
SELECT "b.2".* REPLACE (CASE WHEN _flow_routes = 0 THEN 2::BIGINT ELSE _flow_routes END AS "_flow_routes")
FROM "b.2";
-- b: rows that no node reads
CREATE TEMP VIEW "b.4" AS
SELECT "b.3".*, (CASE WHEN ((_flow_routes & 3) = 0) THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "b.3";

-- case: branch inside a step, all routes, a condition that may raise
-- columns: {"a": "integer"}
-- node: {"id": "b", "kind": "branch", "input": "src", "routes": [{"name": "big", "when": "10 / a > 1"}], "mode": "all"}
-- node: {"id": "tgt", "kind": "target", "input": "b.big", "schema": "public.t", "loadMode": "append"}
-- b: no route yet
CREATE TEMP VIEW "b.1" AS
SELECT "src".*, 0::BIGINT AS "_flow_routes"
FROM "src";
-- b: try route:big
CREATE TEMP VIEW "b.2" AS
SELECT "b.1".*, TRY({'v': (CASE WHEN "a" IS NULL OR "a" IS NOT NULL THEN ((CASE WHEN "a" = 0 AND CAST(10 AS INTEGER) IS NOT NULL THEN CAST(CAST(CAST('division by zero' AS BOOLEAN) AS VARCHAR) AS INTEGER) ELSE (CAST(10 AS INTEGER) // "a") END) > CAST(1 AS INTEGER)) END)}) AS "_flow_try"
FROM "b.1";
-- b: mark where route:big raised
CREATE TEMP VIEW "b.3" AS
SELECT "b.2".*, (CASE WHEN (_flow_try IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "b.2";
-- b: route big when 10 / a > 1
CREATE TEMP VIEW "b.4" AS
SELECT "b.3".* EXCLUDE ("_flow_try") REPLACE (_flow_routes | CASE WHEN (_flow_try.v) THEN 1::BIGINT ELSE 0 END AS "_flow_routes")
FROM "b.3";
-- b: rows that fail leave
CREATE TEMP VIEW "b.5" AS
SELECT "b.4".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "b.4";
-- b: rows that no node reads
CREATE TEMP VIEW "b.6" AS
SELECT "b.5".* REPLACE ((CASE WHEN _flow_fate = 0 AND ((_flow_routes & 1) = 0) THEN 2 ELSE _flow_fate END)::USMALLINT AS "_flow_fate")
FROM "b.5";
-- tgt.big: rows of route big
CREATE TEMP VIEW "tgt.big.1" AS
SELECT "b.6".* REPLACE ((CASE WHEN _flow_fate = 0 AND ((_flow_routes & 1) = 0) THEN 3 ELSE _flow_fate END)::USMALLINT AS "_flow_fate")
FROM "b.6";
-- tgt.big: forget the routes
CREATE TEMP VIEW "tgt.big.2" AS
SELECT "tgt.big.1".* EXCLUDE ("_flow_routes")
FROM "tgt.big.1";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" integer,
  "_kaireon_lineage" jsonb
);

-- case: join
-- columns: {"id": "integer", "v": "text"}
-- node: {"id": "j", "kind": "join", "inputs": ["src", "other"], "type": "left", "on": [{"left": "id", "right": "id"}]}
-- j: left rows before the join
CREATE TEMP TABLE "src.held" AS
SELECT "id", "v"
FROM "src";
-- rows that go on
CREATE TEMP VIEW "src.alive" AS
SELECT "id", "v"
FROM "src.held"
WHERE TRUE;
-- j: right rows before the join
CREATE TEMP TABLE "other.held" AS
SELECT "id", "v"
FROM "other";
-- rows that go on
CREATE TEMP VIEW "other.alive" AS
SELECT "id", "v"
FROM "other.held"
WHERE TRUE;
-- j: left join
CREATE TEMP VIEW "j.joined" AS
SELECT l."id", l."v", r."id" AS "id_right", r."v" AS "v_right"
FROM "src.alive" AS l
LEFT JOIN "other.alive" AS r ON l."id" = r."id";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "j.joined".* REPLACE (nullif("v", '') AS "v", nullif("v_right", '') AS "v_right")
FROM "j.joined";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "id" integer,
  "v" text,
  "id_right" integer,
  "v_right" text
);

-- case: target that is made
-- columns: {"a": "text", "n": "numeric(5,2)"}
-- node: {"id": "tgt", "kind": "target", "input": "src", "schema": "public.t", "loadMode": "append"}
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "src".* REPLACE (nullif("a", '') AS "a")
FROM "src";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "a" text,
  "n" numeric(5,2),
  "_kaireon_lineage" jsonb
);

-- case: target that is made with a key and quarantine
-- columns: {"id": "integer", "v": "text"}
-- quarantine: on
-- node: {"id": "tgt", "kind": "target", "input": "src", "schema": "public.t", "loadMode": "upsert", "upsertKey": "id", "lineage": false}
-- tgt: the row as it comes in
CREATE TEMP VIEW "tgt.1" AS
SELECT "src".*, {'id': "id", 'v': "v"} AS "_flow_in"
FROM "src";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.2" AS
SELECT "tgt.1".* REPLACE (nullif("v", '') AS "v"), (CASE WHEN (("id") IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "tgt.1";
-- tgt: rows that fail leave
CREATE TEMP VIEW "tgt.3" AS
SELECT "tgt.2".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "tgt.2";
-- tgt: keep refused rows
CREATE TEMP VIEW "tgt.4" AS
SELECT "tgt.3".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "tgt.3";
-- in PostgreSQL
CREATE TABLE "public"."t" (
  "id" integer,
  "v" text,
  PRIMARY KEY ("id")
);

-- case: target that is there
-- columns: {"id": "text", "name": "text"}
-- node: {"id": "tgt", "kind": "target", "input": "src", "schema": "public.names", "loadMode": "append", "lineage": false}
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "src".* REPLACE (flow_read_integer("id") AS "id", nullif("name", '') AS "name"), (CASE WHEN (flow_unread_integer("id")) THEN 1 ELSE 0 END | CASE WHEN ((flow_read_integer("id")) IS NULL AND NOT (flow_unread_integer("id"))) THEN 2 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- tgt: rows that fail leave
CREATE TEMP VIEW "tgt.2" AS
SELECT "tgt.1".*, (CASE WHEN (_flow_failed_0 & 3::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "tgt.1";

-- case: target that gets columns
-- columns: {"id": "integer", "name": "text", "extra": "date"}
-- node: {"id": "tgt", "kind": "target", "input": "src", "schema": "public.names", "loadMode": "append", "onNewColumns": "add", "lineage": true}
-- tgt: fit the table
CREATE TEMP VIEW "tgt.1" AS
SELECT "src".* REPLACE (nullif("name", '') AS "name"), (CASE WHEN (("id") IS NULL) THEN 1 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "src";
-- tgt: rows that fail leave
CREATE TEMP VIEW "tgt.2" AS
SELECT "tgt.1".*, (CASE WHEN (_flow_failed_0 & 1::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "tgt.1";
-- in PostgreSQL
ALTER TABLE "public"."names" ADD COLUMN "extra" date;
-- in PostgreSQL
ALTER TABLE "public"."names" ADD COLUMN "_kaireon_lineage" jsonb;

-- case: target that ignores columns, upsert
-- columns: {"id": "text", "name": "text", "extra": "date"}
-- quarantine: on
-- node: {"id": "tgt", "kind": "target", "input": "src", "schema": "public.names", "loadMode": "upsert", "upsertKey": "id", "onNewColumns": "ignore", "lineage": false}
-- tgt: the row as it comes in
CREATE TEMP VIEW "tgt.1" AS
SELECT "src".*, {'id': "id", 'name': "name", 'extra': "extra"} AS "_flow_in"
FROM "src";
-- tgt: fit the table
CREATE TEMP VIEW "tgt.2" AS
SELECT "tgt.1".* REPLACE (flow_read_integer("id") AS "id", nullif("name", '') AS "name"), (CASE WHEN (flow_unread_integer("id")) THEN 1 ELSE 0 END | CASE WHEN ((flow_read_integer("id")) IS NULL AND NOT (flow_unread_integer("id"))) THEN 2 ELSE 0 END)::UBIGINT AS "_flow_failed_0"
FROM "tgt.1";
-- tgt: rows that fail leave
CREATE TEMP VIEW "tgt.3" AS
SELECT "tgt.2".*, (CASE WHEN (_flow_failed_0 & 3::UBIGINT) <> 0 THEN 1 ELSE 0 END)::USMALLINT AS "_flow_fate"
FROM "tgt.2";
-- tgt: keep refused rows
CREATE TEMP VIEW "tgt.4" AS
SELECT "tgt.3".* EXCLUDE ("_flow_in"), CASE WHEN _flow_fate = 1 THEN to_json(_flow_in)::VARCHAR ELSE NULL END AS "_flow_row"
FROM "tgt.3";
