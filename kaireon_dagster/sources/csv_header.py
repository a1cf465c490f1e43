"""The header of a delimited file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kaireon_dagster.sources.columns import check_names
from kaireon_dagster.sources.csv_grammar import Grammar
from kaireon_dagster.sources.csv_rows import BOM, NUL, Shape
from kaireon_dagster.sources.csv_walk import Located, walk_file
from kaireon_dagster.sources.dialect import Dialect
from kaireon_dagster.sources.faults import HeaderRefused


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of one file.

    Attributes:
        names: column names in file order.
        shape: what every record must look like.
        is_simple: whether it is the first line of the file and that line alone.
    """

    names: tuple[str, ...]
    shape: Shape
    is_simple: bool


def read_header(path: Path, label: str, dialect: Dialect) -> Header | None:
    """Read the columns of a file from its first record that is no blank line.

    A file without header has the columns c1, c2 and so on, as many as its first record has values.
    A delimiter after the last name of a header adds no column.

    Returns:
        The header; None for a file that has none since it holds nothing but blank lines.

    Raises:
        HeaderRefused: when the names cannot be used, naming columns and positions.
    """
    for located in walk_file(path, label, Grammar(dialect)):
        if not located.is_blank:
            return _header(located, label, dialect)
    return None


def _header(located: Located, label: str, dialect: Dialect) -> Header:
    is_simple = located.line == 1 and not (b"\n" in located.raw or b"\r" in located.raw)
    values = located.record.values
    if values is None:
        values = located.raw.split(dialect.delimiter.encode())
    if not dialect.header:
        names = tuple(f"c{place}" for place in range(1, len(values) + 1))
        return Header(names, Shape(dialect, len(names)), is_simple)
    names = _decode(located, values, label)
    last = len(names) - 1
    ends_in_delimiter = last > 0 and not names[last] and last not in located.record.quoted
    if ends_in_delimiter:
        names = names[:-1]
    check_names(label, names)
    return Header(names, Shape(dialect, len(names), ends_in_delimiter), is_simple)


def _decode(located: Located, values: list[bytes], label: str) -> tuple[str, ...]:
    if NUL in located.raw:
        raise HeaderRefused(
            label, ("it holds NUL bytes; if the file is UTF-16, declare formatOptions.encoding",)
        )
    if located.record.is_torn:
        raise HeaderRefused(label, ("a quote in it is not closed, or text follows one",))
    if located.raw.startswith(BOM):
        raise HeaderRefused(label, ("a byte order mark stands before it, not at the file's start",))
    try:
        return tuple(value.decode("utf-8") for value in values)
    except UnicodeDecodeError:
        raise HeaderRefused(
            label, ("it is not valid in the file's encoding; declare formatOptions.encoding",)
        ) from None
