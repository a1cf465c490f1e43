-- name: insert
INSERT INTO {schema}.pipeline_runs (id, "pipelineId", "tenantId", status, metadata)
VALUES (
    %(run)s, %(pipeline)s, %(tenant)s, 'running',
    jsonb_build_object(
        'irVersion', %(hash)s::text,
        'targets', %(targets)s::jsonb,
        'finishedTargets', '[]'::jsonb,
        'nodeResults', '{{}}'::jsonb
    ) || jsonb_strip_nulls(jsonb_build_object('dagsterRunId', %(execution)s::text))
)
ON CONFLICT (id) DO NOTHING
RETURNING true;

-- name: reopen
-- A run that failed, or waits, goes on; its error is of the past. A run whose executions are named
-- is reopened once for each, so that a step of an execution that has failed does not revive it.
UPDATE {schema}.pipeline_runs
SET status = 'running',
    "finishedAt" = NULL,
    "heartbeatAt" = clock_timestamp(),
    metadata = (metadata - 'error')
        || jsonb_build_object('irVersion', %(hash)s::text, 'targets', %(targets)s::jsonb)
        || jsonb_strip_nulls(jsonb_build_object('dagsterRunId', %(execution)s::text))
WHERE id = %(run)s
    AND CASE
        WHEN %(execution)s::text IS NULL THEN status IN ('failed', 'pending')
        ELSE status IN ('failed', 'pending', 'running')
            AND metadata ->> 'dagsterRunId' IS DISTINCT FROM %(execution)s::text
    END
RETURNING true;

-- name: mark_started
-- now() is the start of this transaction: exactly the run's "startedAt".
UPDATE {schema}.pipelines
SET "lastRunAt" = greatest("lastRunAt", now()), "lastRunStatus" = 'running'
WHERE id = %(pipeline)s;

-- name: mark_status
-- Only the latest run speaks for its pipeline.
UPDATE {schema}.pipelines
SET "lastRunStatus" = run.status
FROM {schema}.pipeline_runs AS run
WHERE run.id = %(run)s
    AND pipelines.id = run."pipelineId"
    AND (pipelines."lastRunAt" IS NULL OR pipelines."lastRunAt" <= run."startedAt");

-- name: beat
-- A row that somebody has locked belongs to a run that is alive: no reason to wait for it.
UPDATE {schema}.pipeline_runs
SET "heartbeatAt" = clock_timestamp() + %(ahead)s::interval
WHERE id = (
    SELECT id FROM {schema}.pipeline_runs
    WHERE id = %(run)s AND status IN ('pending', 'running')
    FOR NO KEY UPDATE SKIP LOCKED
);

-- name: close
UPDATE {schema}.pipeline_runs
SET status = %(status)s,
    "finishedAt" = clock_timestamp(),
    metadata = metadata || %(metadata)s::jsonb
WHERE id = %(run)s AND status IN ('pending', 'running')
RETURNING true;

-- name: finish_target
-- Of two loads that end together the second waits here, and then sees the first.
UPDATE {schema}.pipeline_runs
SET metadata = jsonb_set(
        metadata,
        '{{finishedTargets}}',
        (metadata -> 'finishedTargets') - %(node)s::text || to_jsonb(%(node)s::text)
    ),
    "heartbeatAt" = clock_timestamp()
WHERE id = %(run)s
RETURNING (metadata -> 'finishedTargets') @> (metadata -> 'targets');

-- name: record_node
WITH locked AS (
    SELECT id, jsonb_set(metadata, ARRAY['nodeResults', %(node)s], %(results)s::jsonb) AS metadata
    FROM {schema}.pipeline_runs
    WHERE id = %(run)s
    FOR NO KEY UPDATE
)
UPDATE {schema}.pipeline_runs AS run
SET metadata = locked.metadata,
    "rowsIn" = total.read,
    "rowsLoaded" = total.loaded,
    "rowsQuarantined" = total.quarantined,
    "heartbeatAt" = clock_timestamp()
FROM locked, LATERAL (
    SELECT coalesce(sum((node.value ->> 'rowsRead')::bigint), 0) AS read,
        coalesce(sum((node.value ->> 'rowsLoaded')::bigint), 0) AS loaded,
        coalesce(sum((node.value ->> 'rowsQuarantined')::bigint), 0) AS quarantined
    FROM jsonb_each(locked.metadata -> 'nodeResults') AS node
) AS total
WHERE run.id = locked.id
RETURNING true;

-- name: lock_dead
-- A row that somebody has locked belongs to a run that is alive.
SELECT true FROM {schema}.pipeline_runs
WHERE id = %(run)s
    AND (
        status NOT IN ('pending', 'running')
        OR "heartbeatAt" <= clock_timestamp() - %(within)s::interval
    )
FOR NO KEY UPDATE SKIP LOCKED;

-- name: find_loaded
SELECT id FROM {schema}.pipeline_runs
WHERE "pipelineId" = %(pipeline)s
    AND status IN ('pending', 'running')
    AND "heartbeatAt" <= clock_timestamp() - %(within)s::interval
    AND (metadata -> 'finishedTargets') @> (metadata -> 'targets')
    AND metadata -> 'finishedTargets' <> '[]'
ORDER BY "startedAt";

-- name: take_over
UPDATE {schema}.pipeline_runs
SET status = 'failed',
    "finishedAt" = clock_timestamp(),
    "rowsIn" = 0,
    "rowsQuarantined" = 0,
    metadata = metadata || jsonb_build_object('takenOverBy', %(by)s::text, 'error', %(error)s::text)
WHERE id = %(run)s;

-- name: find
SELECT id, "pipelineId", "tenantId", status, "startedAt", "finishedAt", "heartbeatAt",
    "rowsIn", "rowsLoaded", "rowsQuarantined", metadata
FROM {schema}.pipeline_runs
WHERE id = %(run)s;

-- name: is_live
SELECT status IN ('pending', 'running')
    AND "heartbeatAt" > clock_timestamp() - %(within)s::interval
FROM {schema}.pipeline_runs
WHERE id = %(run)s;
