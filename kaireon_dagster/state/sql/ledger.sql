-- name: find
SELECT "runId", node, "pipelineId", "pipelineHash", "targetTable", counts, detail, "loadedAt"
FROM {schema}.flow_loads
WHERE "runId" = %(run)s AND node = %(node)s;

-- name: find_run
SELECT "runId", node, "pipelineId", "pipelineHash", "targetTable", counts, detail, "loadedAt"
FROM {schema}.flow_loads
WHERE "runId" = %(run)s;

-- name: forget_run
DELETE FROM {schema}.flow_loads WHERE "runId" = %(run)s;

-- name: record
INSERT INTO {schema}.flow_loads
    ("runId", node, "pipelineId", "pipelineHash", "targetTable", counts, detail)
VALUES (%(run)s, %(node)s, %(pipeline)s, %(hash)s, %(table)s, %(counts)s, %(detail)s)
ON CONFLICT ("runId", node) DO NOTHING
RETURNING true;
