"""The grammar of one record of a delimited file.

It is the grammar of DuckDB's strict reader, so that a file reads the same whichever of the two
readers gets it. A value in quotes ends at its closing quote; spaces may stand between that and the
delimiter, and one space before the opening quote. After such spaces another quote opens the value
again, the spaces being part of it. Quotes inside an unquoted value belong to it. Anything else
after a closing quote is a fault, and so is a quote that never closes. Records end in LF, CRLF or
CR, whichever comes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.sources.dialect import Dialect

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_SPACES: Final = re.compile(rb" *")
_LONG: Final = 3 << 20
"""More data than this is held for a record whose quote may never be closed: too much for one pattern,
which would look for the end from every place."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it stands in the bytes.

    Attributes:
        end: where its bytes end, without line end.
        next: where the next record begins.
        values: its values, quotes and escapes removed; None for a record without a quote, whose
            bytes need only be cut at the delimiters.
        quoted: positions of the values that were quoted.
        is_torn: whether a quote is not closed, or something follows its closing quote.
    """

    end: int
    next: int
    values: list[bytes] | None = None
    quoted: frozenset[int] = frozenset()
    is_torn: bool = False


class Grammar:
    """Cuts bytes into records, and records into values."""

    def __init__(self, dialect: Dialect) -> None:
        self._delimiter = dialect.delimiter.encode()
        self._quote = dialect.quote.encode()
        self._escape = dialect.escape.encode()
        self._lead = b"" if self._delimiter == b" " else b" ?"
        self._opening = re.compile(self._lead + re.escape(self._quote))
        self._body = _quoted_body(self._quote, self._escape, self._lead)
        self._escaped = re.compile(re.escape(self._escape) + rb"(.?)", re.DOTALL)
        self._unquoted = re.compile(_all_but(self._delimiter, b"\r", b"\n"), re.DOTALL)
        self._value = self._whole_value()

    def read(self, data: bytes, start: int, is_last: bool) -> Record | None:
        """Read the record that begins at `start`.

        Args:
            data: bytes of the file.
            start: where the record begins; less than the length of the data.
            is_last: whether the file ends where the data ends.

        Returns:
            The record; None when more data is needed to know where it ends.
        """
        end = _LINE_END.search(data, start)
        if end is None and not is_last:
            return None
        stop = len(data) if end is None else end.start()
        if self._quote and data.find(self._quote, start, stop) >= 0:
            return self._read_quoted(data, start, is_last)
        after = _after_line_end(data, stop, is_last)
        if after is None:
            return None
        return Record(stop, after)

    def _whole_value(self) -> re.Pattern[bytes]:
        """Match a value without fault and what ends it, so that most records need nothing else."""
        opening, gap = self._opening.pattern, self._lead and b" *"
        return re.compile(
            b"(?:%s%s%s|(?!%s)(%s))(%s|\r\n|\n|\r|\\Z)"
            % (
                opening,
                self._body.pattern,
                gap,
                opening,
                self._unquoted.pattern,
                re.escape(self._delimiter),
            ),
            re.DOTALL,
        )

    def _read_quoted(self, data: bytes, start: int, is_last: bool) -> Record | None:
        if len(data) - start > _LONG:
            return self._read_torn(data, start, is_last)
        values: list[bytes] = []
        quoted: list[int] = []
        place = start
        while (value := self._value.match(data, place)) is not None:
            body = value[1]
            if body is None:
                values.append(value[2])
            else:
                quoted.append(len(values))
                values.append(self._unescape(body))
            place, mark = value.end(), value[3]
            if mark == self._delimiter:
                continue
            if place == len(data) and not is_last and mark in (b"", b"\r"):
                return None
            return Record(value.start(3), place, values, frozenset(quoted))
        return self._read_torn(data, start, is_last)

    def _unescape(self, body: bytes) -> bytes:
        return self._escaped.sub(rb"\1", body) if self._escape in body else body

    def _read_torn(self, data: bytes, start: int, is_last: bool) -> Record | None:
        values: list[bytes] = []
        quoted: list[int] = []
        is_torn = False
        place = start
        while True:
            opening = self._opening.match(data, place)
            if opening is None:
                rest = self._unquoted.match(data, place)
                assert rest is not None
                values.append(rest[0])
                place = rest.end()
            else:
                quoted.append(len(values))
                value, place, is_closed = self._read_value(data, opening.end())
                values.append(value)
                is_torn = is_torn or not is_closed
            if place == len(data) and not is_last:
                return None
            if not data.startswith(self._delimiter, place):
                break
            place += len(self._delimiter)
        after = _after_line_end(data, place, is_last)
        if after is None:
            return None
        return Record(place, after, values, frozenset(quoted), is_torn)

    def _read_value(self, data: bytes, start: int) -> tuple[bytes, int, bool]:
        """Read a value in quotes: what it is, where it ends, and whether it is whole."""
        # Where no quote follows, the pattern would look through all that does, place by place.
        has_more = data.find(self._quote, start) >= 0
        body = self._body.match(data, start) if has_more else None
        if body is None:
            return data[start:], len(data), False
        place = body.end()
        if self._lead:
            place = _end_of(_SPACES, data, place)
        value = self._unescape(body[1])
        garbage = _end_of(self._unquoted, data, place)
        return value, garbage, garbage == place


def count_line_ends(data: bytes) -> int:
    """Count LF, CRLF and lone CR, each once."""
    returns = data.count(b"\r")
    if returns == 0:
        return data.count(b"\n")
    return returns + data.count(b"\n") - data.count(b"\r\n")


def _quoted_body(quote: bytes, escape: bytes, lead: bytes) -> re.Pattern[bytes]:
    """Match what stands after an opening quote, up to and with the closing one.

    The look-ahead keeps a doubled quote from being taken apart when no closing quote follows.
    """
    mark = re.escape(quote)
    if quote != escape:
        inside, doubled = _all_but(quote, escape), re.escape(escape) + b"."
        return re.compile(b"(%s(?:%s%s)*)%s" % (inside, doubled, inside, mark), re.DOTALL)
    gap = lead and b" *"
    inside, doubled = _all_but(quote), mark + gap + mark
    return re.compile(
        b"(%s(?:%s%s)*)%s(?!%s%s)" % (inside, doubled, inside, mark, gap, mark), re.DOTALL
    )


def _all_but(*marks: bytes) -> bytes:
    """Match any bytes up to the first of the marks."""
    if all(len(mark) == 1 for mark in marks):
        return b"[^%s]*" % b"".join(re.escape(mark) for mark in marks)
    return b"(?:(?!%s).)*" % b"|".join(re.escape(mark) for mark in marks)


def _end_of(pattern: re.Pattern[bytes], data: bytes, place: int) -> int:
    found = pattern.match(data, place)
    return place if found is None else found.end()


def _after_line_end(data: bytes, place: int, is_last: bool) -> int | None:
    """Where the next record begins; None when that depends on the byte after the data."""
    end = _LINE_END.match(data, place)
    if end is None:
        return place
    if end[0] == b"\r" and end.end() == len(data) and not is_last:
        return None
    return end.end()
