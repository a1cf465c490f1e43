"""Pydantic's errors in the words of the language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from kaireon_dagster.errors import Problem, quote_allowed
from kaireon_dagster.ir.base import Location
from kaireon_dagster.ir.paths import write_path
from kaireon_dagster.ir.places import (
    Place,
    fields_by_key,
    find_place,
    models_in,
    read_tags,
    words_in,
)
from kaireon_dagster.ir.spelling import describe, quote, unknown

# What the discriminator of a union means, by the key that the union stands under.
_NOUNS = {
    "nodes": "node kind",
    "ops": "op",
    "schedule": "schedule kind",
    "preHook": "hook type",
    "postHook": "hook type",
}
# Objects that are often written as the one word that matters in them.
_SHAPES = {
    "pattern": "{{type: glob, value: {}}}",
    "schedule": "{{kind: cron, expression: {}}}",
    "metadata": "{{name: {}}}",
}
_LONGEST_EXAMPLE = 60
_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def read_problems(
    error: ValidationError, root: type[BaseModel], data: Any
) -> Iterator[tuple[Location, Problem, bool]]:
    """Yield (location, problem, whether it is an unknown key) for each error, in its order."""
    for detail in error.errors(include_url=False):
        if _is_only_its_items(detail):
            continue
        place = find_place(root, detail["loc"], data)
        location, message = _describe(detail, place)
        problem = Problem(write_path(location), message)
        yield location, problem, detail["type"] == "extra_forbidden"


def _is_only_its_items(detail: ErrorDetails) -> bool:
    # A list whose items are wrong also counts as too short: only right items are counted.
    found = detail["input"]
    return detail["type"] == "too_short" and len(found) >= detail["ctx"]["min_length"]


def _describe(detail: ErrorDetails, place: Place) -> tuple[Location, str]:
    kind = detail["type"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _describe_tag(detail, place)
    if kind in _EXPECTED:
        found = detail["input"]
        message = f"expected {_EXPECTED[kind]}, found {describe(found)}"
        return place.location, message + _show_shape(place, found)
    writer = _WRITERS.get(kind)
    return place.location, writer(detail, place) if writer else detail["msg"]


def _describe_tag(detail: ErrorDetails, place: Place) -> tuple[Location, str]:
    key = str(detail.get("ctx", {}).get("discriminator", "kind")).strip("'")
    found = detail["input"]
    if not isinstance(found, dict) and (shape := _show_shape(place, found)):
        return place.location, f"expected an object, found {describe(found)}{shape}"
    location = (*place.location, key)
    allowed = tuple(dict.fromkeys(read_tags(model)[0] for model in place.members))
    if not isinstance(found, dict) or key not in found:
        return location, f"required key is missing; allowed: {quote_allowed(allowed)}"
    if not isinstance(found[key], str):
        return location, f"expected a string, found {describe(found[key])}"
    return location, unknown(_noun(place), found[key], allowed)


def _show_shape(place: Place, found: Any) -> str:
    """Say how to write as an object what the document writes as a word, where that is plain."""
    shape = _SHAPES.get(_last_key(place))
    if shape is None or not isinstance(found, str) or len(found) > _LONGEST_EXAMPLE:
        return ""
    return f"; write {shape.format(json.dumps(found, ensure_ascii=False))}"


def _noun(place: Place) -> str:
    keys = [step for step in place.location if isinstance(step, str)]
    return _NOUNS.get(keys[-1] if keys else "", "kind")


def _write_missing(detail: ErrorDetails, place: Place) -> str:
    words = words_in(place.field.annotation) if place.field else ()
    allowed = f"; allowed: {quote_allowed(words)}" if words else ""
    return f"required key is missing{allowed}"


def _write_unknown_key(detail: ErrorDetails, place: Place) -> str:
    fields = fields_by_key(place.owner) if place.owner else {}
    key = str(place.location[-1])
    if re.fullmatch(r"\d+\)", key):
        return f"unknown key {quote(key)}; put the value before it, with its comma, in quotes"
    # A key of exactly one object beside it is not misspelt, but one level too high.
    homes = [name for name, field in fields.items() if _takes(field, key)]
    if len(homes) == 1:
        return f"unknown key {quote(key)}; it belongs in {homes[0]!r}"
    return unknown("key", key, tuple(fields))


def _takes(field: FieldInfo, key: str) -> bool:
    models = tuple(models_in(field.annotation))
    return len(models) == 1 and key in fields_by_key(models[0])


def _write_literal(detail: ErrorDetails, place: Place) -> str:
    words = words_in(place.field.annotation) if place.field else ()
    found = detail["input"]
    if isinstance(found, str):
        return unknown(str(_last_key(place)), found, words)
    quotes = "; write it in quotes" if str(found) in words else ""
    return f"found {describe(found)}; allowed: {quote_allowed(words)}{quotes}"


def _last_key(place: Place) -> str:
    keys = [step for step in place.location if isinstance(step, str)]
    return keys[-1] if keys else "value"


def _write_bound(phrase: str, key: str) -> Callable[[ErrorDetails, Place], str]:
    def write(detail: ErrorDetails, place: Place) -> str:
        return f"found {describe(detail['input'])}; allowed: {phrase.format(detail['ctx'][key])}"

    return write


def _write_short(detail: ErrorDetails, place: Place) -> str:
    needed = detail["ctx"]["min_length"]
    if needed == 1:
        return "cannot be empty"
    return f"found {detail['ctx']['actual_length']} items; {needed} are needed"


def _write_long(detail: ErrorDetails, place: Place) -> str:
    return f"longer than allowed: at most {detail['ctx']['max_length']}"


def _write_pattern(detail: ErrorDetails, place: Place) -> str:
    return f"found {quote(detail['input'])}; allowed: {detail['ctx']['pattern']}"


_WRITERS: Mapping[str, Callable[[ErrorDetails, Place], str]] = {
    "missing": _write_missing,
    "extra_forbidden": _write_unknown_key,
    "literal_error": _write_literal,
    "greater_than_equal": _write_bound("{:g} or more", "ge"),
    "less_than_equal": _write_bound("{:g} or less", "le"),
    "greater_than": _write_bound("more than {:g}", "gt"),
    "too_short": _write_short,
    "string_too_short": _write_short,
    "too_long": _write_long,
    "string_too_long": _write_long,
    "string_pattern_mismatch": _write_pattern,
}
