"""Documents for the tests: right ones, and the ways to spoil them."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.ir import Pipeline, parse_document

JsonPath = tuple["str | int", ...]
GONE = object()


def source(**fields: Any) -> dict[str, Any]:
    config = {"path": "/data", "pattern": {"type": "glob", "value": "*.csv"}, "format": "csv"}
    return {"id": "src", "kind": "source", "connector": "local_fs", "config": config, **fields}


def stream(**fields: Any) -> dict[str, Any]:
    config = {"connection": "broker", "topic": "t", "format": "json", "startFrom": "earliest"}
    return {"id": "src", "kind": "source", "connector": "kafka", "config": config, **fields}


def target(**fields: Any) -> dict[str, Any]:
    return {
        "id": "tgt",
        "kind": "target",
        "input": "src",
        "schema": "public.orders",
        "loadMode": "append",
        **fields,
    }


def pipeline(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "kind": "pipeline",
        "version": "1.0",
        "id": "orders",
        "metadata": {"name": "Orders"},
        "nodes": list(nodes) or [source(), target()],
        **fields,
    }


def through(*middle: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A pipeline in which each node reads the one before it."""
    nodes = [source(), *middle, target()]
    for before, node in pairwise(nodes):
        node.setdefault("input", before["id"])
    nodes[-1]["input"] = nodes[-2]["id"]
    return pipeline(*nodes, **fields)


def transform(*ops: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "t", "kind": "transform", "ops": list(ops), **fields}


def change(document: dict[str, Any], path: JsonPath, value: Any) -> dict[str, Any]:
    """Copy a document with one value set, or removed when the value is GONE."""
    changed = copy.deepcopy(document)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def parse(document: Any, **options: Any) -> Pipeline:
    return parse_document(json.dumps(document), source="doc.json", format="json", **options)


def problems(document: Any, **options: Any) -> list[str]:
    with pytest.raises(DocumentInvalid) as caught:
        parse(document, **options)
    return [str(problem) for problem in caught.value.problems]


@dataclass(frozen=True)
class Wrong:
    """A document with exactly one problem.

    Attributes:
        document: the document.
        problem: the whole message.
        seen_by_schema: whether the JSON Schema refuses it as well.
    """

    document: Any
    problem: str
    seen_by_schema: bool = False

    @property
    def name(self) -> str:
        return self.problem[:60]


def wrong_cases(cases: list[Wrong]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])
