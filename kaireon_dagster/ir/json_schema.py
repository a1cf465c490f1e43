"""The language as a JSON Schema, by which editors complete and check documents."""

from __future__ import annotations

from typing import Any

from kaireon_dagster.ir.pipeline import Pipeline

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema, Draft 2020-12, of a Flow document.

    Every document that parses is valid there. The reverse does not hold: what nodes mean to each
    other, and what stands inside patterns, rules and schedules, is only seen by parsing.
    """
    schema = _clean(Pipeline.model_json_schema(by_alias=True, mode="validation"))
    return {"$schema": DIALECT, **schema, "title": "Flow pipeline"}


def _clean(value: Any) -> Any:
    """Leave out `discriminator`, which is no word of JSON Schema, and titles made from keys."""
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: _clean(item) for name, item in content.items()}
        if key in ("properties", "$defs")
        else _clean(content)
        for key, content in value.items()
        if key not in ("discriminator", "title")
    }
