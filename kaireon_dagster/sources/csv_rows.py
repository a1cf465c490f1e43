"""What a record of a delimited file is worth: a row, or the cause why it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kaireon_dagster.sources.csv_grammar import Record
from kaireon_dagster.sources.dialect import Dialect

BOM: Final = b"\xef\xbb\xbf"
NUL: Final = b"\x00"

TORN: Final = "a quote is not closed, or text follows a closing quote"
STRAY_BOM: Final = "a byte order mark in the middle of the file"
HAS_NUL: Final = "a NUL byte, which PostgreSQL cannot hold"
WRONG_BYTES: Final = "bytes that are not valid in the file's encoding"


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns that the records of a file must have.

    Attributes:
        dialect: how the file is written.
        width: number of columns.
        ends_in_delimiter: whether the header has a delimiter after its last name, and rows may.
    """

    dialect: Dialect
    width: int
    ends_in_delimiter: bool = False

    def is_blank(self, record: Record, start: int) -> bool:
        """Whether a record is a blank line, which is passed over.

        In a file of one column a blank line is a row whose value is empty, as programs write it
        that do not quote.
        """
        return record.end == start and self.width != 1

    def read(self, raw: bytes, record: Record) -> list[str | None] | str:
        """Make a row of a record: its values, or the cause why there is none.

        Unquoted NULL markers become None; what was quoted is never NULL. Surplus values are
        passed over when they are NULL markers.
        """
        cause = _find_damage(raw, record)
        if cause is not None:
            return cause
        try:
            values = self._decode(raw, record)
        except UnicodeDecodeError:
            return WRONG_BYTES
        if len(values) != self.width and not self._has_empty_surplus(values, record):
            return _wrong_width(self.width, len(values))
        return self._without_nulls(values, record)

    def _decode(self, raw: bytes, record: Record) -> list[str]:
        if record.values is None:
            return raw.decode("utf-8").split(self.dialect.delimiter)
        return [value.decode("utf-8") for value in record.values]

    def _has_empty_surplus(self, values: list[str], record: Record) -> bool:
        surplus = range(self.width, len(values))
        nulls = self.dialect.nulls | {""} if self.ends_in_delimiter else self.dialect.nulls
        return len(values) > self.width and all(
            place not in record.quoted and values[place] in nulls for place in surplus
        )

    def _without_nulls(self, values: list[str], record: Record) -> list[str | None]:
        nulls = self.dialect.nulls
        if record.values is None:
            row = [None if value in nulls else value for value in values]
        else:
            row = [
                None if value in nulls and place not in record.quoted else value
                for place, value in enumerate(values)
            ]
        return row[: self.width] if len(row) > self.width else row


def _find_damage(raw: bytes, record: Record) -> str | None:
    if NUL in raw:
        return HAS_NUL if raw.strip(NUL) else f"padding of {len(raw)} NUL bytes"
    if raw.startswith(BOM):
        return STRAY_BOM
    return TORN if record.is_torn else None


def _wrong_width(width: int, found: int) -> str:
    values = "1 value" if found == 1 else f"{found} values"
    columns = "1 column" if width == 1 else f"{width} columns"
    return f"{values} where the file has {columns}"
