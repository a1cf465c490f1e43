"""The measured document: rename two, cast three, an expression, a hash, a filter, three rules."""

from __future__ import annotations

import json
from pathlib import Path

from kaireon_dagster import ir

_OPS = [
    {"type": "rename", "from": "Order Id", "to": "id"},
    {"type": "rename", "from": "Customer", "to": "customer"},
    {"type": "cast", "field": "id", "to": "bigint"},
    {"type": "cast", "field": "amount", "to": "numeric(12,2)"},
    {"type": "cast", "field": "ordered_at", "to": "timestamp"},
    {"type": "expression", "field": "total", "expression": "round(amount * 1.19, 2)"},
    {"type": "hash", "field": "email", "algorithm": "sha256", "into": "email_hash"},
    {"type": "filter", "condition": "status <> 'cancelled'"},
]
_RULES = [
    {"id": "amount-positive", "field": "amount", "rule": "gt:0", "onFail": "quarantine"},
    {"id": "email-shape", "field": "email", "rule": "email", "onFail": "quarantine"},
    {"id": "known-country", "field": "country", "rule": "in:DE|PE|NO|US", "onFail": "quarantine"},
]


def document(folder: Path, name: str, table: str, mode: str, *, lineage: bool) -> ir.Pipeline:
    """The document for one file, read in place."""
    target: dict[str, object] = {
        "id": "orders",
        "kind": "target",
        "input": "checked",
        "schema": table,
        "loadMode": mode,
        "lineage": lineage,
    }
    if mode == "upsert":
        target["upsertKey"] = "id"
    config = {"path": str(folder), "pattern": {"type": "glob", "value": name}, "format": "csv"}
    body = {
        "kind": "pipeline",
        "version": "1.0",
        "id": f"bench-{mode}",
        "metadata": {"name": "bench"},
        "errorHandling": {"dlq": {"enabled": True}},
        "nodes": [
            {"id": "files", "kind": "source", "connector": "local_fs", "config": config},
            {"id": "clean", "kind": "transform", "input": "files", "ops": _OPS},
            {"id": "checked", "kind": "validate", "input": "clean", "rowLevel": _RULES},
            target,
        ],
    }
    return ir.parse_document(json.dumps(body), source="bench.json", format="json")


def small_document(folder: Path) -> str:
    """A document of one source and one target, as JSON."""
    config = {"path": str(folder), "pattern": {"type": "glob", "value": "*.csv"}, "format": "csv"}
    body = {
        "kind": "pipeline",
        "version": "1.0",
        "id": "small",
        "metadata": {"name": "small"},
        "nodes": [
            {"id": "files", "kind": "source", "connector": "local_fs", "config": config},
            {
                "id": "rows",
                "kind": "target",
                "input": "files",
                "schema": "public.bench_small",
                "loadMode": "truncate",
            },
        ],
    }
    return json.dumps(body)
