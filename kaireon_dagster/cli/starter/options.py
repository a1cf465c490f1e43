"""Format options of a group of files, where they differ from the usual."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kaireon_dagster.cli.starter.files import FileGroup
from kaireon_dagster.cli.starter.heads import (
    CHUNK,
    MARKS,
    guess_delimiter,
    has_no_header,
    is_packed,
)

_LARGEST_DOCUMENT: Final = 1 << 26
"""Bytes of a JSON file that is read whole to see where its records stand."""


def guess_options(group: FileGroup) -> dict[str, Any]:
    """Find delimiter, header, encoding and the place of records; packed files keep the usual."""
    options: dict[str, Any] = {}
    if group.format == "parquet" or is_packed(group.first):
        return options
    if group.format == "csv" and (delimiter := guess_delimiter(group.first)) != ",":
        options["delimiter"] = delimiter
    if group.format in ("csv", "tsv") and has_no_header(group.first, group.format):
        options["header"] = False
    if group.format == "json" and (path := _find_records_path(group.first)):
        options["recordsPath"] = path
    if not all(_is_unicode(path) for path in group.paths):
        options["encoding"] = "windows-1252"
    return options


def _find_records_path(path: Path) -> str | None:
    if path.stat().st_size > _LARGEST_DOCUMENT:
        return None
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    places = list(_lists(data, ())) if isinstance(data, dict) else []
    return _write_path(places[0]) if len(places) == 1 else None


def _lists(data: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield where lists of objects stand, below objects alone."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _lists(value, (*above, key))
    elif isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        yield above


def _write_path(keys: tuple[str, ...]) -> str:
    if all(key and "." not in key and "/" not in key for key in keys):
        return ".".join(keys)
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def _is_unicode(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        data = file.read(CHUNK)
        if data.startswith(MARKS) or b"\x00" in data[:4096]:
            return True
        try:
            while data:
                decoder.decode(data)
                data = file.read(CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
