"""The content hash: the same for documents that mean the same, and for no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kaireon_dagster.ir import content_hash, parse_document, write_canonical
from kaireon_dagster_tests.ir.documents import (
    change,
    parse,
    pipeline,
    source,
    target,
    through,
    transform,
)
from kaireon_dagster_tests.ir.samples import RIGHT

DOCUMENT = pipeline(source(), target(loadMode="upsert", upsertKey="id"))


def test_is_a_sha256() -> None:
    assert content_hash(parse(pipeline())) == (
        "1e64141a34a5d95205c1078dc1e5319f8feec2cd5248ee2f5fda1d3a34dd2e43"
    )


def test_ignores_key_order_and_white_space() -> None:
    turned = json.dumps(DOCUMENT, sort_keys=True, indent=7)
    assert content_hash(parse_document(turned, source="x")) == content_hash(parse(DOCUMENT))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("tenantId",), "default"),
        (("schedule",), None),
        (("errorHandling",), {"retry": {"maxAttempts": 0, "delaySeconds": 5}, "dlq": {}}),
        (("nodes", 0, "config", "ordering"), "lexicographic"),
        (("nodes", 0, "config", "pattern", "timezone"), "UTC"),
        (("nodes", 1, "upsertKey"), ["id"]),
        (("nodes", 1, "createTable"), True),
        (("nodes", 1, "preHook"), []),
    ],
)
def test_ignores_defaults_that_are_written_out(path: tuple[Any, ...], value: Any) -> None:
    assert content_hash(parse(change(DOCUMENT, path, value))) == content_hash(parse(DOCUMENT))


def test_tells_different_documents_apart() -> None:
    ops: list[dict[str, Any]] = [
        {"type": "map_values", "field": "a", "mapping": {"x": 1}},
        {"type": "map_values", "field": "a", "mapping": {"x": 1}, "default": None},
        {"type": "map_values", "field": "a", "mapping": {"x": 1.5}},
        {"type": "map_values", "field": "a", "mapping": {"x": "1"}},
        {"type": "map_values", "field": "a", "mapping": {"x": True}},
        {"type": "add_field", "field": "a", "value": None},
        {"type": "add_field", "field": "a", "value": False},
        {"type": "add_field", "field": "a", "value": 0},
        {"type": "add_field", "field": "a", "value": {}},
        {"type": "add_field", "field": "a", "value": []},
    ]
    documents = [*RIGHT, *(through(transform(op)) for op in ops)]
    hashes = {content_hash(parse(document)) for document in documents}
    assert len(hashes) == len(documents)


@pytest.mark.parametrize("document", RIGHT)
def test_the_canonical_text_is_the_document(document: dict[str, Any]) -> None:
    parsed = parse(document)
    canonical = write_canonical(parsed)
    again = parse_document(canonical, source="canonical", format="json")
    assert again == parsed
    assert write_canonical(again) == canonical
