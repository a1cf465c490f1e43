-- name: list_columns
SELECT array_agg(attribute.attname::text)
FROM pg_catalog.pg_attribute AS attribute
JOIN pg_catalog.pg_class AS class ON class.oid = attribute.attrelid
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE namespace.nspname = %(schema)s
    AND class.relname = %(table)s
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped;

-- name: has_schema
SELECT true FROM pg_catalog.pg_namespace WHERE nspname = %(schema)s;

-- name: lock_schema
SELECT pg_advisory_xact_lock(hashtextextended('flow dlq ' || %(schema)s, 0));

-- name: create_table
CREATE TABLE {table} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "pipelineId" text NOT NULL,
    "runId" text NOT NULL,
    "nodeId" text NOT NULL,
    "ruleId" text NOT NULL,
    row jsonb NOT NULL,
    "createdAt" timestamptz NOT NULL DEFAULT now()
);

-- name: create_index
CREATE INDEX ON {table} ("pipelineId", "runId");

-- name: comment
COMMENT ON TABLE {table} IS 'Rows that Flow pipelines could not load, as they came';
