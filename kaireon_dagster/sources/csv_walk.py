"""Walking a delimited file record by record, with offsets and physical lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from kaireon_dagster.sources.csv_grammar import Grammar, Record, count_line_ends
from kaireon_dagster.sources.csv_rows import BOM
from kaireon_dagster.sources.faults import FileBroken

CHUNK: Final = 1 << 20
"""Bytes read at a time: enough that the cost per record counts, not the cost per read."""

_LINE_ENDS: Final = re.compile(rb"[\r\n]*")

LONGEST_RECORD: Final = 64 << 20
"""Bytes of the longest record, several times of which are held; a longer one is a quote that was never
closed."""


@dataclass(frozen=True, slots=True)
class Located:
    """A record and where it stands.

    Attributes:
        offset: first byte in the file.
        line: physical line in which it begins, from 1.
        raw: its bytes, without line end.
        record: what the grammar makes of it.
    """

    offset: int
    line: int
    raw: bytes
    record: Record

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty."""
        return not self.raw


class Walker:
    """Reads the records of one file in order, holding one of them and a chunk in memory."""

    def __init__(self, file: BinaryIO, label: str, grammar: Grammar) -> None:
        self._file = file
        self._label = label
        self._grammar = grammar
        self._data = b""
        self._place = 0
        self._base = 0
        self._line = 1
        self._is_last = False

    def walk(self) -> Iterator[Located]:
        """Yield all records from the start of the file, a leading byte order mark left out.

        Raises:
            FileBroken: for a record longer than `LONGEST_RECORD`.
        """
        self._fill()
        if self._data.startswith(BOM):
            self._place = len(BOM)
        while (located := self._next()) is not None:
            yield located

    def at(self, offsets: Iterable[int]) -> Iterator[Located]:
        """Yield the records that begin at these offsets, which ascend, or after line ends there.

        DuckDB gives the offset of the blank lines before a record, or of the LF of a CRLF.
        """
        for offset in offsets:
            self._skip_to(offset)
            self._skip_line_ends()
            located = self._next()
            if located is None:
                return
            yield located

    def _next(self) -> Located | None:
        while True:
            if self._place < len(self._data):
                record = self._grammar.read(self._data, self._place, self._is_last)
                if record is not None:
                    return self._pass(record)
            if self._is_last:
                return None
            self._fill()

    def _pass(self, record: Record) -> Located:
        raw = self._data[self._place : record.end]
        located = Located(self._base + self._place, self._line, raw, record)
        self._line += count_line_ends(self._data[self._place : record.next])
        self._place = record.next
        return located

    def _fill(self) -> None:
        left = self._data[self._place :]
        if len(left) > LONGEST_RECORD:
            cause = f"a record of more than {LONGEST_RECORD >> 20} MiB; a quote is not closed"
            raise FileBroken(self._label, cause, self._line)
        # Reading as much again as is left keeps a long record from being scanned too often.
        more = self._file.read(max(CHUNK, len(left)))
        self._base += self._place
        self._place = 0
        self._data = left + more
        self._is_last = not more

    def _skip_to(self, offset: int) -> None:
        while offset >= self._base + len(self._data) and not self._is_last:
            self._count(len(self._data))
            self._fill()
        self._count(offset - self._base)

    def _skip_line_ends(self) -> None:
        while True:
            end = _LINE_ENDS.match(self._data, self._place)
            self._count(self._place if end is None else end.end())
            if self._place < len(self._data) or self._is_last:
                return
            self._fill()

    def _count(self, place: int) -> None:
        # A CR that ends the data is left for the next look: an LF may follow.
        if place == len(self._data) and self._data.endswith(b"\r") and not self._is_last:
            place -= 1
        elif self._data[max(place - 1, 0) : place + 1] == b"\r\n":
            place += 1
        self._line += count_line_ends(self._data[self._place : place])
        self._place = place


def walk_file(path: Path, label: str, grammar: Grammar) -> Iterator[Located]:
    """Yield all records of a file."""
    with path.open("rb") as file:
        yield from Walker(file, label, grammar).walk()


def walk_at(path: Path, label: str, grammar: Grammar, offsets: Iterable[int]) -> Iterator[Located]:
    """Yield the records of a file that begin at these offsets, which ascend."""
    with path.open("rb") as file:
        yield from Walker(file, label, grammar).at(offsets)
