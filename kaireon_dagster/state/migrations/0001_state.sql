-- Flow's own tables. {schema} and {staging} are filled in as quoted names.
-- Runs keep no foreign key to pipelines: history outlives a document that was removed.

CREATE TABLE {schema}.pipelines (
    id text PRIMARY KEY,
    "tenantId" text NOT NULL,
    name text NOT NULL,
    ir json NOT NULL,
    "irHash" text NOT NULL,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'invalid')),
    "createdAt" timestamptz NOT NULL DEFAULT now(),
    "updatedAt" timestamptz NOT NULL DEFAULT now(),
    "lastRunAt" timestamptz,
    "lastRunStatus" text CHECK (
        "lastRunStatus" IN ('pending', 'running', 'completed', 'failed', 'completed_with_errors')
    ),
    "nextFireAt" timestamptz
);
CREATE INDEX pipelines_next_fire ON {schema}.pipelines ("nextFireAt") WHERE status = 'active';
CREATE INDEX pipelines_tenant ON {schema}.pipelines ("tenantId", id);
COMMENT ON TABLE {schema}.pipelines IS 'Registered documents, one row each, as last deployed';
COMMENT ON COLUMN {schema}.pipelines."lastRunAt" IS 'When a run last started, failed or not';
COMMENT ON COLUMN {schema}.pipelines."nextFireAt" IS 'Earliest time a tick has to look at it';

CREATE TABLE {schema}.pipeline_runs (
    id text PRIMARY KEY,
    "pipelineId" text NOT NULL,
    "tenantId" text NOT NULL,
    status text NOT NULL CHECK (
        status IN ('pending', 'running', 'completed', 'failed', 'completed_with_errors')
    ),
    "startedAt" timestamptz NOT NULL DEFAULT now(),
    "finishedAt" timestamptz,
    "heartbeatAt" timestamptz NOT NULL DEFAULT now(),
    "rowsIn" bigint NOT NULL DEFAULT 0,
    "rowsLoaded" bigint NOT NULL DEFAULT 0,
    "rowsQuarantined" bigint NOT NULL DEFAULT 0,
    metadata jsonb NOT NULL DEFAULT '{{}}'
);
CREATE INDEX pipeline_runs_by_pipeline
    ON {schema}.pipeline_runs ("pipelineId", "startedAt" DESC);
CREATE INDEX pipeline_runs_by_tenant ON {schema}.pipeline_runs ("tenantId", "startedAt" DESC);
CREATE INDEX pipeline_runs_open
    ON {schema}.pipeline_runs ("heartbeatAt") WHERE status IN ('pending', 'running');
COMMENT ON TABLE {schema}.pipeline_runs IS 'One row per run; re-executions share their root''s row';
COMMENT ON COLUMN {schema}.pipeline_runs.id IS 'Id of the root run';
COMMENT ON COLUMN {schema}.pipeline_runs."rowsIn" IS 'Rows read from the sources';
COMMENT ON COLUMN {schema}.pipeline_runs.metadata IS
    'irVersion, irHash, targets, finishedTargets, nodeResults, backup, streamingCheckpoints, error';

CREATE TABLE {schema}.flow_fires (
    "pipelineId" text NOT NULL,
    "scheduledAt" timestamptz NOT NULL,
    "requestedAt" timestamptz NOT NULL DEFAULT now(),
    attempt integer NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    "runId" text,
    "claimedAt" timestamptz,
    PRIMARY KEY ("pipelineId", "scheduledAt")
);
CREATE INDEX flow_fires_unclaimed ON {schema}.flow_fires ("requestedAt") WHERE "runId" IS NULL;
COMMENT ON TABLE {schema}.flow_fires IS 'One row per due time that was acted on; the key decides who acts';

CREATE TABLE {schema}.flow_run_checkpoint (
    "rootRunId" text NOT NULL,
    "pipelineHash" text NOT NULL,
    node text NOT NULL,
    relation jsonb NOT NULL,
    "createdAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY ("rootRunId", "pipelineHash", node)
);
COMMENT ON TABLE {schema}.flow_run_checkpoint IS 'Where the result of a durable step stands; never its rows';

CREATE TABLE {schema}.flow_loads (
    "runId" text NOT NULL,
    node text NOT NULL,
    "pipelineId" text NOT NULL,
    "pipelineHash" text NOT NULL,
    "targetTable" text NOT NULL,
    counts jsonb NOT NULL,
    detail jsonb NOT NULL DEFAULT '{{}}',
    "loadedAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY ("runId", node)
);
CREATE INDEX flow_loads_by_pipeline
    ON {schema}.flow_loads ("pipelineId", node, "loadedAt" DESC);
COMMENT ON TABLE {schema}.flow_loads IS
    'The ledger: a row commits together with the rows it counts, so a load happens once';

CREATE TABLE {schema}.pipeline_watermarks (
    "pipelineId" text NOT NULL,
    node text NOT NULL,
    "columnName" text NOT NULL,
    "columnType" text NOT NULL,
    value text NOT NULL,
    "runId" text NOT NULL,
    "updatedAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY ("pipelineId", node)
);
COMMENT ON TABLE {schema}.pipeline_watermarks IS 'Highest value loaded; commits with the rows';
COMMENT ON COLUMN {schema}.pipeline_watermarks.value IS
    'As text of the column''s type, exact: infinity and every digit stay';

CREATE TABLE {schema}.flow_backups (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "pipelineId" text NOT NULL,
    node text NOT NULL,
    "runId" text NOT NULL,
    "targetTable" text NOT NULL,
    "backupTable" text NOT NULL UNIQUE,
    "rowCount" bigint NOT NULL CHECK ("rowCount" >= 0),
    "createdAt" timestamptz NOT NULL DEFAULT now(),
    "restoredAt" timestamptz
);
CREATE INDEX flow_backups_by_target ON {schema}.flow_backups ("targetTable", "createdAt" DESC);
COMMENT ON TABLE {schema}.flow_backups IS 'Copies of target tables taken before a load';

CREATE TABLE {schema}.flow_stream_offsets (
    "pipelineId" text NOT NULL,
    node text NOT NULL,
    topic text NOT NULL,
    partition text NOT NULL,
    "nextOffset" text NOT NULL,
    "batchId" text NOT NULL,
    "updatedAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY ("pipelineId", node, topic, partition)
);
COMMENT ON TABLE {schema}.flow_stream_offsets IS
    'Where the next batch starts; commits with the rows of the last. Offsets are text: brokers differ';

CREATE TABLE {schema}.deadline_misses (
    "pipelineId" text NOT NULL,
    anchor timestamptz NOT NULL,
    "windowMinutes" integer NOT NULL CHECK ("windowMinutes" >= 1),
    node text NOT NULL,
    action text NOT NULL CHECK (action IN ('alert', 'fail', 'skip')),
    "createdAt" timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY ("pipelineId", anchor, "windowMinutes")
);
COMMENT ON TABLE {schema}.deadline_misses IS 'Files that did not come in time; one row per window';

CREATE TABLE {schema}.system_health_alerts (
    id text PRIMARY KEY DEFAULT gen_random_uuid()::text,
    "tenantId" text NOT NULL,
    "userId" text,
    severity text NOT NULL CHECK (severity IN ('info', 'success', 'warning', 'error', 'critical')),
    source text NOT NULL,
    title text NOT NULL,
    message text NOT NULL,
    link text,
    metadata jsonb NOT NULL DEFAULT '{{}}',
    pinned boolean NOT NULL DEFAULT false,
    "createdAt" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX system_health_alerts_latest
    ON {schema}.system_health_alerts ("tenantId", "createdAt" DESC, id DESC);
COMMENT ON TABLE {schema}.system_health_alerts IS 'What people should know about';

COMMENT ON SCHEMA {staging} IS 'Results of durable steps between runs; safe to empty when nothing runs';
