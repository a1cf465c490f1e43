"""Text to plain data: JSON or YAML, with everything refused that would silently change.

Keys written twice, NaN and Infinity, NUL and lone surrogates (PostgreSQL holds neither) are
reported with their path, all at once; a syntax error is reported with line and column.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Literal

from kaireon_dagster.errors import Problem
from kaireon_dagster.ir.objects import RepeatedKeys, build_object
from kaireon_dagster.ir.paths import write_path
from kaireon_dagster.ir.spelling import quote

Format = Literal["json", "yaml"]

# Flow documents are about eight levels deep; recursion further on must stay far from its limit.
DEEPEST = 64
# YAML aliases can unfold a few lines into billions of values.
_MOST_VALUES = 200_000


class Unreadable(ValueError):
    """Text that is not JSON or YAML at all; the message says where."""


def read_data(text: str, format: Format) -> Any:
    """Read a document into dicts, lists, strings, numbers, booleans and None.

    Raises:
        Unreadable: the text is no such document; the message has line and column.
    """
    text = text.removeprefix("\ufeff")
    try:
        return _read_json(text) if format == "json" else _read_yaml(text)
    except RecursionError:
        raise Unreadable(f"nested deeper than {DEEPEST} levels") from None


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=build_object)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"not JSON: {position}: {error.msg}") from None
    except ValueError:
        # Python refuses to read integers of more than 4,300 digits.
        raise Unreadable("not JSON: a number has too many digits") from None


def _read_yaml(text: str) -> Any:
    from kaireon_dagster.ir.yaml_reader import read_yaml

    try:
        return read_yaml(text)
    except ValueError as error:
        raise Unreadable(f"not YAML: {error}") from None


def find_data_problems(data: Any) -> Iterator[Problem]:
    """Yield what no document may hold, wherever it stands.

    Raises:
        Unreadable: so deep or so large that nothing should look at it further.
    """
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        path, value = waiting.pop()
        if isinstance(value, (dict, list)):
            if len(path) >= DEEPEST:
                raise Unreadable(f"nested deeper than {DEEPEST} levels")
            items = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(((*path, key), item) for key, item in reversed(list(items)))
        for message in _find_value_faults(value):
            yield Problem(write_path(path), message)
    raise Unreadable(f"more than {_MOST_VALUES:,} values; a document holds no data")


def _find_value_faults(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _find_text_faults(value)
    elif isinstance(value, float) and not math.isfinite(value):
        yield "NaN and Infinity are not JSON numbers"
    elif isinstance(value, dict):
        for key in value:
            yield from _find_text_faults(key)
        if isinstance(value, RepeatedKeys):
            for key in value.repeated:
                yield f"key {quote(key)} is written twice"
            for key in value.unquoted:
                yield f"key {quote(key)} is not a string; put it in quotes"


def _find_text_faults(text: str) -> Iterator[str]:
    if "\x00" in text:
        yield "text cannot contain NUL"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        yield "text contains half of a surrogate pair, which is no character"
