-- name: save
INSERT INTO {schema}.flow_run_checkpoint ("rootRunId", "pipelineHash", node, relation)
VALUES (%(run)s, %(hash)s, %(node)s, %(relation)s)
ON CONFLICT ("rootRunId", "pipelineHash", node) DO UPDATE
SET relation = excluded.relation, "createdAt" = now();

-- name: find
SELECT relation FROM {schema}.flow_run_checkpoint
WHERE "rootRunId" = %(run)s AND "pipelineHash" = %(hash)s AND node = %(node)s;

-- name: find_run
SELECT node, relation FROM {schema}.flow_run_checkpoint
WHERE "rootRunId" = %(run)s AND "pipelineHash" = %(hash)s;

-- name: find_latest
SELECT relation FROM {schema}.flow_run_checkpoint
WHERE "rootRunId" = %(run)s AND node = %(node)s
ORDER BY "createdAt" DESC
LIMIT 1;

-- name: forget_run
DELETE FROM {schema}.flow_run_checkpoint WHERE "rootRunId" = %(run)s;
