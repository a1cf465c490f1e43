-- name: find
SELECT "columnName", "columnType", value FROM {schema}.pipeline_watermarks
WHERE "pipelineId" = %(pipeline)s AND node = %(node)s;

-- name: save
INSERT INTO {schema}.pipeline_watermarks
    ("pipelineId", node, "columnName", "columnType", value, "runId")
VALUES (%(pipeline)s, %(node)s, %(column)s, %(type)s, %(value)s, %(run)s)
ON CONFLICT ("pipelineId", node) DO UPDATE
SET "columnName" = excluded."columnName",
    "columnType" = excluded."columnType",
    value = excluded.value,
    "runId" = excluded."runId",
    "updatedAt" = now();
