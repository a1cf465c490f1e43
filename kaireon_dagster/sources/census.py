"""One quick look over the bytes of a delimited file, to choose its reader.

DuckDB's reader lets NUL bytes and stray byte order marks through, stops at mixed line ends, and
loses rows when a quote stays open for longer than its buffers. The look finds every file in which
one of these may happen; such files are read record by record instead. It costs a few operations
per block, none per line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kaireon_dagster.sources.csv_rows import BOM, NUL
from kaireon_dagster.sources.dialect import Dialect

BLOCK: Final = 1 << 20
"""Bytes looked at together: few enough for a processor's cache. A quote that is closed in the next
block is open for less than twice this, and DuckDB's line limit is well above that."""


@dataclass(slots=True)
class Census:
    """What was seen in the bytes so far.

    Attributes:
        nuls: whether there is a NUL byte.
        boms: whether there is a byte order mark after the start.
        returns: number of CR.
        feeds: number of LF.
        pairs: number of CRLF.
        long_line: whether there is a block without line end.
        open_quote: whether a quote may stay open over a whole block, or to the end.
    """

    nuls: bool = False
    boms: bool = False
    returns: int = 0
    feeds: int = 0
    pairs: int = 0
    long_line: bool = False
    open_quote: bool = False

    @property
    def has_mixed_line_ends(self) -> bool:
        """Whether line ends differ, or line ends of another kind stand inside quotes."""
        return self.returns > 0 and not (
            self.feeds == 0 or self.returns == self.feeds == self.pairs
        )

    @property
    def is_clean(self) -> bool:
        """Whether DuckDB's reader reads the file right."""
        found = self.nuls or self.boms or self.long_line or self.open_quote
        return not found and not self.has_mixed_line_ends


def take_census(path: Path, dialect: Dialect) -> Census:
    """Look over a file of any size in constant memory; ends early once the file is not clean."""
    census = Census()
    quotes = _QuoteWatch(dialect)
    before = b""
    # One buffer that stays in the processor's cache, not a new one per block.
    buffer = bytearray(BLOCK)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            block = buffer if size == BLOCK else buffer[:size]
            _look(census, block, before)
            census.open_quote = quotes.is_open_over(block) or census.open_quote
            if census.nuls or census.boms or census.open_quote:
                return census
            before = bytes(block[-2:])
    census.open_quote = quotes.is_open_at_end()
    return census


def _look(census: Census, block: bytearray, before: bytes) -> None:
    start = len(BOM) if not before and block.startswith(BOM) else 0
    census.nuls = NUL in block
    # One byte is searched for many times faster than three, and this one is rare.
    has_lead = BOM[:1] in block or BOM[:1] in before
    census.boms = has_lead and (block.find(BOM, start) >= 0 or BOM in before + block[:2])
    # Line ends are only counted while it can matter: in a file without CR nothing compares.
    if census.returns or b"\r" in block:
        census.returns += block.count(b"\r")
        census.feeds += block.count(b"\n")
        census.pairs += block.count(b"\r\n") + (before[-1:] == b"\r" and block[:1] == b"\n")
    elif b"\n" in block:
        census.feeds = max(census.feeds, 1)
    elif len(block) == BLOCK:
        census.long_line = True


class _QuoteWatch:
    """Finds blocks over which a quote may stay open.

    Only an odd number of quotes in a row opens or closes a value; doubled ones leave it as it is,
    inside and outside. What the last odd run did is told by the byte before it: where a value may
    begin, it may have opened one; elsewhere it closed one or was part of one. That errs on the
    safe side without reading all that came before.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._quote = dialect.quote.encode()
        self._delimiter = dialect.delimiter.encode()
        self._runs = re.compile(b"(?:%s)+" % re.escape(self._quote))
        self._last = b""
        self._may_be_open: bool | None = False
        self._cut = b""

    def is_open_over(self, block: bytearray) -> bool:
        """Whether a quote may be open before this block and not closed in it."""
        if not self._quote or self._note(self._join(block)):
            return False
        return self._judge() and len(block) == BLOCK

    def is_open_at_end(self) -> bool:
        """Whether a quote may be open where the file ends."""
        self._note(self._cut)
        return self._judge()

    def _note(self, text: bytes | bytearray) -> bool:
        """Remember a text with an odd run; whether it has one."""
        has_odd_run = bool(self._quote) and self._has_odd_run(text)
        if has_odd_run:
            # Judged when it matters, which in most files is once.
            self._last, self._may_be_open = bytes(text), None
        return has_odd_run

    def _judge(self) -> bool:
        if self._may_be_open is None:
            self._may_be_open = self._opens_at_last(self._last)
        return self._may_be_open

    def _join(self, block: bytearray) -> bytes | bytearray:
        """Put a run of quotes that a block's edge cuts, and the byte before it, into the next."""
        text = self._cut + block if self._cut else block
        if not text.endswith(self._quote):
            self._cut = b""
            return text
        rest = text.rstrip(self._quote)
        has_delimiter = rest.endswith(self._delimiter)
        before = self._delimiter if has_delimiter else bytes(rest[-1:])
        self._cut = before + self._quote * (len(text) - len(rest))
        return rest

    def _has_odd_run(self, text: bytes | bytearray) -> bool:
        place = text.find(self._quote)
        if place < 0:
            return False
        is_single = text[place + 1 : place + 2] != self._quote
        return is_single or self._quote in text.replace(self._quote * 2, b"")

    def _opens_at_last(self, text: bytes) -> bool:
        """Whether the last odd run stands where a value may begin."""
        last = None
        for run in self._runs.finditer(text):
            if (run.end() - run.start()) % 2:
                last = run.start()
        starts = (b"\r", b"\n", b" ", self._delimiter)
        return last is not None and (last == 0 or text[:last].endswith(starts))
