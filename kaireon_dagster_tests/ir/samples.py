"""Right documents that together use every kind, op, rule, mode and option of the language."""

from __future__ import annotations

from typing import Any

from kaireon_dagster_tests.ir.documents import pipeline, source, stream, target, through, transform

ORDERS = {
    "kind": "pipeline",
    "version": "1.0",
    "id": "orders-ingest",
    "metadata": {"name": "orders-ingest"},
    "nodes": [
        {
            "id": "src",
            "kind": "source",
            "connector": "local_fs",
            "config": {
                "path": "/data/orders/",
                "pattern": {"type": "glob", "value": "*.csv"},
                "ordering": "lexicographic",
                "waitPolicy": {"maxRetries": 3, "intervalMinutes": 5, "onMissAction": "skip"},
                "atomicity": {
                    "stagingFolder": ".processing/",
                    "successFolder": ".archive/",
                    "failureFolder": ".failed/",
                },
                "format": "csv",
            },
        },
        {
            "id": "v",
            "kind": "validate",
            "input": "src",
            "datasetLevel": {"rowCount": {"min": 1, "onFail": "abort"}},
            "rowLevel": [
                {"id": "amt-positive", "field": "amount", "rule": "gt:0", "onFail": "quarantine"}
            ],
            "quarantine": {"table": "dlq.orders"},
        },
        {
            "id": "tgt",
            "kind": "target",
            "input": "v",
            "schema": "public.ds_orders",
            "loadMode": "append",
        },
    ],
    "errorHandling": {
        "dlq": {"enabled": False},
        "retry": {"maxAttempts": 1, "backoff": "exponential"},
    },
}
ORDERS_WITHOUT_VALIDATE = {
    **ORDERS,
    "nodes": [ORDERS["nodes"][0], {**ORDERS["nodes"][2], "input": "src"}],
}
SCHEDULES: list[dict[str, Any]] = [
    {"kind": "cron", "expression": "0 9 * * 1", "timezone": "UTC"},
    {"kind": "interval", "minutes": 15},
    {"kind": "rrule", "rrule": "FREQ=DAILY;COUNT=10", "timezone": "UTC"},
]
PATTERNS: list[dict[str, Any]] = [
    {"type": "glob", "value": "orders_*.csv"},
    {"type": "regex", "value": "^events_[0-9]{4}\\.json$"},
    {
        "type": "date_template",
        "value": "log_{YYYY-MM-DD}.jsonl",
        "timezone": "America/Los_Angeles",
    },
]


def with_schedule(schedule: dict[str, Any]) -> dict[str, Any]:
    return pipeline(schedule=schedule)


def with_config(**config: Any) -> dict[str, Any]:
    node = source()
    node["config"].update(config)
    return pipeline(node, target())


def with_target(**fields: Any) -> dict[str, Any]:
    return pipeline(source(), target(**fields))


FUNCTIONS = ["sum", "avg", "min", "max", "count_distinct", "array_agg", "string_agg"]
OPS: list[dict[str, Any]] = [
    {"type": "cast", "field": "a", "to": "numeric(12,2)", "format": "YYYY", "onError": "null"},
    {"type": "expression", "field": "total", "expression": "price * quantity"},
    {"type": "rename", "from": "A name of more than sixty-three bytes: " + "ä" * 20, "to": "b"},
    {"type": "drop", "fields": ["b"]},
    {"type": "add_field", "field": "run", "value": "{{runId}}/{{ fileName }}", "dataType": "text"},
    {"type": "add_field", "field": "j", "value": {"a": [1, None, {"b": True}]}},
    {"type": "hash", "field": "a", "algorithm": "sha256", "into": "h", "saltEnv": "SALT"},
    {"type": "mask_pii", "field": "a", "strategy": "partial", "keepLast": 4},
    {"type": "map_values", "field": "a", "mapping": {"x": 1, "y": None}, "default": None},
    {"type": "split", "field": "a", "separator": ",", "into": ["x", "y"]},
    {"type": "merge", "fields": ["x", "y"], "into": "z", "separator": ""},
    {"type": "filter", "condition": "a > 0"},
    {"type": "deduplicate", "keys": ["a"], "orderBy": "b", "keep": "last"},
    {
        "type": "aggregate",
        "groupBy": ["a"],
        "aggregations": [
            {"function": "count", "as": "n"},
            *({"function": function, "field": "b", "as": function} for function in (FUNCTIONS)),
        ],
    },
    {
        "type": "lookup_join",
        "table": "public.airlines",
        "on": [{"field": "carrier", "column": "carrier"}],
        "fields": [{"column": "name", "as": "airline"}],
        "joinType": "inner",
    },
    {"type": "summarize"},
    {"type": "summarize", "fields": ["a"]},
    {"type": "vector_embed", "field": "a", "into": "b", "model": "m"},
    {"type": "geo_resolve", "field": "a", "into": "b"},
    {"type": "sentiment_score", "field": "a", "into": "b"},
    {"type": "language_detect", "field": "a", "into": "b"},
]
RULES = [
    "not_null",
    "gt:0",
    "gte:-1.5e3",
    "lt:2026-01-01",
    "lte:2026-01-01T00:00:00Z",
    "eq:x",
    "ne:a:b",
    "between:1,10",
    "between:2026-01-01, 2026-12-31",
    "in:a|b|c",
    "not_in:a|",
    "regex:^[A-Z]{2}(?P<n>\\d+)$",
    "min_length:0",
    "max_length:3",
    "email",
    "url",
    "uuid",
    "integer",
    "numeric",
    "date",
    "timestamp",
    "unique",
]
EVERY_RULE = through(
    {
        "id": "v",
        "kind": "validate",
        "rowLevel": [
            {"id": f"r{index}", "field": "a", "rule": rule, "onFail": on_fail}
            for index, rule in enumerate(RULES)
            for on_fail in ["quarantine", "drop", "warn", "abort"][index % 4 : index % 4 + 1]
        ],
        "datasetLevel": {
            "rowCount": [{"min": 1, "onFail": "abort"}, {"max": 9, "onFail": "warn"}],
            "nullRate": {"field": "a", "max": 0.5, "onFail": "warn"},
            "uniqueness": {"fields": ["a", "b"], "onFail": "abort"},
            "freshness": {"field": "a", "maxAgeMinutes": 90, "onFail": "warn"},
            "referential": {"field": "a", "references": "public.t.id", "onFail": "abort"},
        },
    }
)
HOOKS: list[dict[str, Any]] = [
    {"type": "sql", "statement": "ANALYZE public.orders"},
    {"type": "refresh", "view": "public.totals"},
    {"type": "webhook", "url": "https://example.org/hook", "headersEnv": {"X-Key": "HOOK_KEY"}},
    {"type": "webhook", "url": "http://example.org/", "method": "PUT"},
    {"type": "custom_function", "name": "notify", "args": {"a": [1]}},
]
EVERY_FORMAT = [
    with_config(format=name)
    for name in ["csv", "tsv", "json", "jsonl", "parquet", "avro", "orc", "xml"]
]
EVERY_MODE = [
    with_target(loadMode="append", onNewColumns="add", createTable=False, lineage=False),
    with_target(
        loadMode="truncate",
        allowEmptySource=True,
        backupBeforeLoad={"enabled": True, "retainCount": 1, "onError": "warn"},
    ),
    with_target(loadMode="upsert", upsertKey="id"),
    with_target(loadMode="upsert", upsertKey=["id", "Line No"], preHook=HOOKS, postHook=HOOKS[0]),
    with_target(
        loadMode="blue_green",
        backupBeforeLoad={},
        expectedRowCountDelta={"minPct": -20, "maxPct": 12.5, "windowRuns": 60},
    ),
    with_target(loadMode="incremental_watermark", watermarkColumn="updated_at", lagMinutes=5),
    with_target(loadMode="cdc_mirror", upsertKey=["id"], opColumn="op", sequenceColumn="lsn"),
]
FAN_OUT = pipeline(
    source(),
    source(id="other"),
    {
        "id": "b",
        "kind": "branch",
        "input": "src",
        "routes": [{"name": "eu", "when": "region = 'EU'"}],
        "otherwise": "rest",
        "mode": "all",
    },
    {
        "id": "j",
        "kind": "join",
        "inputs": ["b.eu", "other"],
        "type": "left",
        "on": [{"left": "id", "right": "id"}],
        "suffix": "_r",
    },
    {
        "id": "e",
        "kind": "enrich",
        "input": "j",
        "provider": "http",
        "config": {"url": "https://example.org/{id}", "tokenEnv": "API_TOKEN", "batch": [1, {}]},
        "outputField": "answer",
        "onError": "null",
        "description": "asks",
        "checkpoint": True,
    },
    {"id": "a", "kind": "archive", "input": "e", "folder": ".eu/{YYYY}/{MM}"},
    target(id="tgt", input="a"),
    target(id="rest", input="b.rest", schema="public.Rest of it"),
)
STREAMS = [
    pipeline(stream(), target()),
    pipeline(
        stream(
            connector="kinesis",
            config={
                "connection": "c",
                "format": "avro",
                "startFrom": {"timestamp": "2026-03-01T00:00:00Z"},
                "maxBatchRecords": 10,
                "maxBatchSeconds": 5,
                "keyField": "k",
                "includeHeaders": True,
            },
        ),
        target(),
    ),
    pipeline(stream(connector="pulsar"), target(loadMode="cdc_mirror", upsertKey="k")),
]
RIGHT: list[dict[str, Any]] = [
    ORDERS,
    ORDERS_WITHOUT_VALIDATE,
    *(with_schedule(schedule) for schedule in SCHEDULES),
    with_schedule({"kind": "interval", "minutes": 1440, "catchUp": {"all": 5}}),
    with_schedule({"kind": "cron", "expression": "0 6 L * *", "catchUp": "none"}),
    *(with_config(pattern=pattern) for pattern in PATTERNS),
    with_config(
        ordering="latest_by_mtime",
        waitPolicy={"maxRetries": 6, "intervalMinutes": 10, "onMissAction": "alert"},
        atomicity={
            "stagingFolder": ".processing/",
            "successFolder": ".archive/{YYYY-MM-DD}/",
            "failureFolder": ".failed/",
        },
        maxFiles=3,
        connection="warehouse",
    ),
    with_config(
        format="tsv",
        formatOptions={
            "delimiter": "\t",
            "quote": "",
            "escape": "\\",
            "header": False,
            "encoding": "latin-1",
            "nullValues": ["", "NA"],
            "compression": "gzip",
        },
    ),
    with_config(format="json", formatOptions={"recordsPath": "data.items"}),
    with_config(format="xml", formatOptions={"rowTag": "row"}),
    *EVERY_FORMAT,
    through(transform(*OPS)),
    EVERY_RULE,
    *EVERY_MODE,
    FAN_OUT,
    pipeline(
        tenantId="acme",
        metadata={"name": "n", "owner": "o@example.org", "tags": ["a", "b"], "description": "d"},
        trigger={
            "file_arrival": {
                "deadline": {"windowMinutes": 60, "onMiss": "alert"},
                "source": "src",
                "minFileAgeSeconds": 30,
            }
        },
        errorHandling={
            "retry": {
                "maxAttempts": 20,
                "backoff": "linear",
                "delaySeconds": 0.5,
                "maxDelaySeconds": 10,
            },
            "dlq": {"enabled": True, "destination": "dlq.x", "maxPct": 2.5, "maxRows": 0},
            "onFailure": "continue",
        },
    ),
]
