"""Rows as JSON text that jsonb can hold, whatever is in them, with a way back.

jsonb knows no NUL, no half of a surrogate pair, no bytes and no NaN. Such a value becomes an
object with the key `_encoding`; `restore_value` gives the original back.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

MARK = "_encoding"
RULES = "_rules"
# NUL and surrogates; a surrogate in a Python string is always half a pair.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def encode_row(row: Mapping[str, Any], rules: Sequence[str] = ()) -> str:
    """Write a row for a DLQ table.

    Args:
        row: values by column name.
        rules: ids of all rules it failed; kept as `_rules` when there are several.
    """
    values = {_storable_key(name): storable(value) for name, value in row.items()}
    if len(rules) > 1:
        values[RULES] = list(rules)
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def storable(value: Any) -> Any:
    """Turn a value into what `json.dumps` writes and jsonb holds.

    Bytes that are UTF-8 become text. Text or bytes that jsonb cannot hold become
    `{"_encoding": "base64", "_bytes": …}`; NaN and the infinities stay legible as
    `{"_encoding": "number", "_text": …}`. Decimals, dates, times and uuids become their text.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal):
        return _storable_number(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _storable_bytes(bytes(value))
    if isinstance(value, Mapping):
        return _storable_mapping(value)
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return _storable_text(_write(value))


def restore_value(stored: Any) -> Any:
    """Give back what `storable` was given: text as text, bytes that are no text as bytes."""
    if isinstance(stored, list):
        return [restore_value(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    kind = stored.get(MARK)
    if kind == "base64":
        return _decode(base64.b64decode(stored["_bytes"]))
    if kind == "number":
        return float(stored["_text"])
    if kind == "items":
        return {restore_value(key): restore_value(value) for key, value in stored["_items"]}
    return {key: restore_value(value) for key, value in stored.items()}


def _storable_number(value: float | Decimal) -> Any:
    if math.isnan(value):
        return {MARK: "number", "_text": "NaN"}
    if math.isinf(value):
        return {MARK: "number", "_text": "Infinity" if value > 0 else "-Infinity"}
    return str(value) if isinstance(value, Decimal) else value


def _storable_bytes(value: bytes) -> Any:
    text = _decode(value)
    return _storable_text(text) if isinstance(text, str) else _as_base64(value)


def _storable_text(text: str) -> Any:
    if UNSTORABLE.search(text):
        return _as_base64(text.encode("utf-8", "surrogatepass"))
    return text


def _storable_mapping(value: Mapping[Any, Any]) -> Any:
    # An object with our mark of its own, or with keys that cannot stand, goes as pairs.
    if MARK in value or any(UNSTORABLE.search(str(key)) for key in value):
        return {MARK: "items", "_items": [[storable(key), storable(value[key])] for key in value]}
    return {str(key): storable(item) for key, item in value.items()}


def _storable_key(name: str) -> str:
    # Names of columns have to stay apart and legible; they need no way back.
    return UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", name)


def _as_base64(value: bytes) -> dict[str, str]:
    return {MARK: "base64", "_bytes": base64.b64encode(value).decode("ascii")}


def _decode(value: bytes) -> str | bytes:
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value


def _write(value: Any) -> str:
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return str(value)
