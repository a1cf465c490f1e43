"""The JSON Schema agrees with the parser, as far as a schema can see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kaireon_dagster.ir import json_schema
from kaireon_dagster_tests.ir import (
    test_ops,
    test_schedule,
    test_shape,
    test_source,
    test_structure,
    test_target,
    test_validate,
)
from kaireon_dagster_tests.ir.documents import Wrong, wrong_cases
from kaireon_dagster_tests.ir.samples import RIGHT, STREAMS

SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
WRONG = [
    case
    for module in (
        test_ops,
        test_schedule,
        test_shape,
        test_source,
        test_structure,
        test_target,
        test_validate,
    )
    for case in module.WRONG
]


def test_is_a_schema_of_its_dialect() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json_schema() == SCHEMA


@pytest.mark.parametrize("document", [*RIGHT, *STREAMS])
def test_accepts_what_parses(document: dict[str, Any]) -> None:
    VALIDATOR.validate(document)


@wrong_cases([case for case in WRONG if case.seen_by_schema])
def test_refuses_what_a_schema_can_see(case: Wrong) -> None:
    assert not VALIDATOR.is_valid(case.document)


@wrong_cases([case for case in WRONG if not case.seen_by_schema])
def test_the_rest_is_beyond_a_schema(case: Wrong) -> None:
    assert VALIDATOR.is_valid(case.document)


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                for name, content in value.items():
                    yield f"{path}/{name}", content
            yield from properties(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from properties(value, f"{path}/{index}")


def test_every_field_and_every_object_is_described() -> None:
    found = dict(properties(SCHEMA))
    assert len(found) > 200
    assert [path for path, field in found.items() if not field.get("description")] == []
    assert [name for name, part in SCHEMA["$defs"].items() if not part.get("description")] == []


def test_keys_are_closed_everywhere() -> None:
    objects = [part for part in SCHEMA["$defs"].values() if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in [SCHEMA, *objects])
