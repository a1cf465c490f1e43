"""One JSON object as a row: strict reading, and values as text."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from kaireon_dagster.sources.csv_rows import BOM, HAS_NUL, NUL, STRAY_BOM, WRONG_BYTES

BLANKS: Final = b" \t\r\n"

DUPLICATE_KEY: Final = "a key that occurs twice"
NOT_AN_OBJECT: Final = "a JSON value that is not an object"
SEVERAL_VALUES: Final = "more than one JSON value on the line"
CUT_OFF: Final = "JSON that is cut off"
NOT_JSON: Final = "not JSON"
NOT_FINITE: Final = "NaN or Infinity, which JSON does not have"
UNSTORABLE: Final = "a NUL or half a surrogate pair, which PostgreSQL cannot hold"
TOO_DEEP: Final = "JSON that is nested too deeply"

DEEPEST: Final = 200
"""Levels of nesting; what PostgreSQL and Python read on any stack."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_UNSTORABLE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_OPEN: Final = re.compile(r'[\[{]|[\]}]|"(?:[^"\\]|\\.)*"', re.DOTALL)

Row = dict[str, "str | None"]


class _Number(str):
    """A number with its digits as written."""

    __slots__ = ()


class _Members(list[tuple[str, Any]]):
    """The members of an object in order, doubled keys too."""

    __slots__ = ()


class _NotFinite(ValueError):
    pass


def read_object(raw: bytes) -> Row | str:
    """Read a line that must hold one JSON object.

    Strings are taken as they are, numbers with their digits as written, booleans as `true` and
    `false`, null as None; objects and arrays as compact JSON text.

    Returns:
        The members of the object, or the cause why it gives no row.
    """
    if NUL in raw:
        return HAS_NUL if raw.strip(NUL) else f"padding of {len(raw)} NUL bytes"
    if raw.startswith(BOM):
        return STRAY_BOM
    try:
        text = raw.decode("utf-8").strip(" \t\r\n")
    except UnicodeDecodeError:
        return WRONG_BYTES
    value = _parse(text)
    if isinstance(value, str):
        return value
    if not isinstance(value, _Members):
        return NOT_AN_OBJECT
    return _row(value, text)


def _parse(text: str) -> Any:
    """Give the parsed value, or the cause as a plain string."""
    if is_too_deep(text):
        return TOO_DEEP
    try:
        value, end = _DECODER.raw_decode(text)
    except _NotFinite:
        return NOT_FINITE
    except json.JSONDecodeError as error:
        return CUT_OFF if _is_cut(error, text) else NOT_JSON
    if end < len(text):
        return _judge_rest(text, end)
    return NOT_AN_OBJECT if isinstance(value, str) else value


def _judge_rest(text: str, end: int) -> str:
    rest = text[end:].lstrip(" \t\r\n")
    return SEVERAL_VALUES if rest[:1] in tuple('{["-0123456789tfn') else NOT_JSON


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    return error.pos >= len(text) or error.msg.startswith("Unterminated string")


def is_too_deep(text: str) -> bool:
    """Whether brackets nest deeper than `DEEPEST`, strings not counted."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for mark in _OPEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
        if depth > DEEPEST:
            return True
    return False


def _row(members: _Members, text: str) -> Row | str:
    row: Row = {}
    for key, value in members:
        if key in row:
            return DUPLICATE_KEY
        row[key] = _text(value)
    if _ESCAPED_UNSTORABLE.search(text) and _is_unstorable(members):
        return UNSTORABLE
    return row


def _is_unstorable(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value or _SURROGATE.search(value) is not None
    if isinstance(value, _Members):
        return any(_is_unstorable(key) or _is_unstorable(item) for key, item in value)
    return isinstance(value, list) and any(map(_is_unstorable, value))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return str(value)
    return _compact(value)


def _compact(value: Any) -> str:
    """Write a value as JSON without white space, numbers and doubled keys as they came."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, _Members):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_compact(item)}" for key, item in value)
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_compact, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _refuse_constant(name: str) -> Any:
    raise _NotFinite(name)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Members,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_refuse_constant,
)
