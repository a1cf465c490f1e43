-- name: register
-- The document as last deployed; when it came first and when it last ran are kept.
INSERT INTO {schema}.pipelines (id, "tenantId", name, ir, "irHash")
VALUES (%(id)s, %(tenant)s, %(name)s, %(ir)s, %(hash)s)
ON CONFLICT (id) DO UPDATE
SET "tenantId" = excluded."tenantId",
    name = excluded.name,
    ir = excluded.ir,
    "irHash" = excluded."irHash",
    "updatedAt" = now()
WHERE (pipelines."tenantId", pipelines.name, pipelines."irHash")
    IS DISTINCT FROM (excluded."tenantId", excluded.name, excluded."irHash");
