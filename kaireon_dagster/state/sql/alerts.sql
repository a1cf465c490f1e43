-- name: insert
INSERT INTO {schema}.system_health_alerts
    ("tenantId", "userId", severity, source, title, message, link, metadata, pinned)
VALUES (
    %(tenant)s, %(user)s, %(severity)s, %(source)s, %(title)s, %(message)s, %(link)s,
    %(metadata)s, %(pinned)s
)
RETURNING id;
