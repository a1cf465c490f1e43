"""One delimited file of a scan."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from kaireon_dagster.sources.csv_grammar import Grammar
from kaireon_dagster.sources.csv_header import Header
from kaireon_dagster.sources.csv_walk import Located, walk_at, walk_file
from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.unpack import Ready

Row = list[str | None]

_SAMPLE: Final = 1000
_MOST_WRONG: Final = 0.05


@dataclass(slots=True)
class CsvPart:
    """One file with its columns.

    Attributes:
        ready: the file.
        header: its columns.
        is_clean: whether DuckDB's reader may have it.
        wrong: offsets of the records that gave no row, ascending.
    """

    ready: Ready
    header: Header
    is_clean: bool
    wrong: array[int] = field(default_factory=lambda: array("q"))

    @property
    def label(self) -> str:
        """The file's name for people."""
        return self.ready.file.label

    def records(self) -> Iterator[tuple[Located, Row | str]]:
        """Yield every record after the header: where it stands, and its row or the cause."""
        shape = self.header.shape
        walked = walk_file(self.ready.path, self.label, Grammar(shape.dialect))
        first = next((located for located in walked if not located.is_blank), None)
        if not shape.dialect.header and first is not None:
            walked = chain([first], walked)
            if shape.width == 1:
                # Blank lines are rows here, those at the start too.
                walked = walk_file(self.ready.path, self.label, Grammar(shape.dialect))
        for located in walked:
            if not located.is_blank or shape.width == 1:
                yield located, shape.read(located.raw, located.record)

    def begins_well(self) -> bool:
        """Whether few of the first records are wrong, as in a file that is what it should be."""
        causes = [isinstance(row, str) for _, row in islice(self.records(), _SAMPLE)]
        return sum(causes) <= _MOST_WRONG * len(causes)

    def lines(self) -> Iterator[int]:
        """Yield the physical line of every record that gives a row."""
        for located, row in self.records():
            if not isinstance(row, str):
                yield located.line

    def rejects(self) -> Iterator[Reject]:
        """Yield the wrong records, read again from the file."""
        shape = self.header.shape
        for located in walk_at(self.ready.path, self.label, Grammar(shape.dialect), self.wrong):
            cause = shape.read(located.raw, located.record)
            if not isinstance(cause, str):
                raise FileBroken(self.label, "the two readers disagree on a record", located.line)
            yield Reject(self.ready.file, located.line, cause, self.ready.original(located.raw))
