-- name: request
INSERT INTO {schema}.flow_fires ("pipelineId", "scheduledAt")
VALUES (%(pipeline)s, %(scheduled)s)
ON CONFLICT ("pipelineId", "scheduledAt") DO NOTHING
RETURNING true;

-- name: claim
-- The first run to come has it; the same run may come again.
UPDATE {schema}.flow_fires
SET "runId" = %(run)s, "claimedAt" = coalesce("claimedAt", now())
WHERE "pipelineId" = %(pipeline)s AND "scheduledAt" = %(scheduled)s
    AND ("runId" IS NULL OR "runId" = %(run)s)
RETURNING true;
