"""One file of JSON lines in a scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kaireon_dagster.sources.csv_rows import BOM
from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.json_value import BLANKS, Row, read_object
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.unpack import Ready

LONGEST_LINE: Final = 64 << 20


@dataclass(slots=True)
class LinesPart:
    """One file with a JSON object on each line.

    Attributes:
        ready: the file.
        path: where its lines are read.
        is_clean: whether DuckDB's reader can cut it into lines.
        suspects: hashes of the lines that gave no row; other lines may share one.
    """

    ready: Ready
    path: Path
    is_clean: bool
    suspects: set[int] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The file's name for people."""
        return self.ready.file.label

    def judge(self, raw: bytes) -> Row | str:
        """Read one line, and remember it when it gives no row."""
        row = read_object(raw)
        if isinstance(row, str):
            self.suspects.add(hash(raw.strip(BLANKS)))
        return row

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the file, each line judged."""
        for _, raw in read_lines(self.path, self.label):
            row = self.judge(raw)
            if not isinstance(row, str):
                yield row

    def lines(self) -> Iterator[int]:
        """Yield the line of every row that was delivered; after all lines were judged."""
        for line, raw in self.places():
            if self._cause(flatten(raw)) is None:
                yield line

    def rejects(self) -> Iterator[Reject]:
        """Yield the lines that gave no row; after all lines were judged."""
        for line, raw in self.places():
            cause = self._cause(flatten(raw))
            if cause is not None:
                yield Reject(self.ready.file, line, cause, self.ready.original(raw))

    def places(self) -> Iterator[tuple[int, bytes]]:
        """Yield every record as it stands in the file, and the physical line it begins in."""
        yield from read_lines(self.path, self.label)

    def _cause(self, raw: bytes) -> str | None:
        if hash(raw) not in self.suspects and _is_utf8(raw):
            return None
        row = read_object(raw)
        return row if isinstance(row, str) else None


def read_lines(path: Path, label: str) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of all lines that are not blank, without white space around them.

    Raises:
        FileBroken: for a line longer than `LONGEST_LINE`.
    """
    number = 0
    with path.open("rb") as file:
        while raw := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(raw) > LONGEST_LINE:
                raise FileBroken(label, f"a line of more than {LONGEST_LINE >> 20} MiB", number)
            stripped = (raw.removeprefix(BOM) if number == 1 else raw).strip(BLANKS)
            if stripped:
                yield number, stripped


def flatten(raw: bytes) -> bytes:
    """Put a JSON text on one line; line ends in it are white space, since strings have none."""
    return raw.replace(b"\r", b" ").replace(b"\n", b" ")


def _is_utf8(raw: bytes) -> bool:
    if raw.isascii():
        return True
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
