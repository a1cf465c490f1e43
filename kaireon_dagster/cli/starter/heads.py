"""The beginning of a file of delimited text: its delimiter, and whether it has a header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

PACKED: Final = (".gz", ".zst", ".bz2")
MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CHUNK: Final = 1 << 20

_DELIMITERS: Final = (",", ";", "\t", "|")
_HEAD: Final = 1 << 16
_RECORDS: Final = 50
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)")
_MOMENT: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d\d\S*)?")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def is_packed(path: Path) -> bool:
    """Whether the bytes of the file are not yet its text."""
    return path.suffix.lower() in PACKED


def read_first_line(path: Path) -> bytes:
    """The first line without its end, or as much of it as a look needs."""
    with path.open("rb") as file:
        return file.readline(CHUNK).strip(b"\r\n")


def guess_delimiter(path: Path) -> str:
    """The character that stands most often in the first line, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", read_first_line(path).decode("latin-1"))
    return max(_DELIMITERS, key=bare.count) if any(d in bare for d in _DELIMITERS) else ","


def has_no_header(path: Path, format_: str) -> bool:
    """Whether the first line looks like a row: numbers and dates above more of their kind.

    A header of years above numbers is taken for a header.
    """
    if is_packed(path):
        return False
    delimiter = "\t" if format_ == "tsv" else guess_delimiter(path)
    first, *rows = _read_records(path, delimiter) or [[]]
    rows = [row for row in rows if len(row) == len(first)]
    kinds = [_kind_of(row[place] for row in rows) for place in range(len(first))] if rows else []
    typed = [cell for cell, kind in zip(first, kinds, strict=False) if kind]
    alike = [cell for cell, kind in zip(first, kinds, strict=False) if kind and _kind(cell) == kind]
    return bool(typed) and alike == typed and not all(_YEAR.fullmatch(cell) for cell in alike)


def _read_records(path: Path, delimiter: str) -> list[list[str]]:
    with path.open("rb") as file:
        data = file.read(_HEAD)
    wide = data.startswith(MARKS[1:])
    text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    # Only whole lines: the last one may be cut.
    lines = text if len(data) < _HEAD else text[: text.rfind("\n") + 1]
    try:
        reader = csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter)
        return [row for row in islice(reader, _RECORDS) if row]
    except csv.Error:
        return []


def _kind_of(cells: Iterable[str]) -> str:
    kinds = {_kind(cell) for cell in cells if cell}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(cell: str) -> str:
    if _NUMBER.fullmatch(cell.strip()):
        return "number"
    return "moment" if _MOMENT.fullmatch(cell.strip()) else ""
