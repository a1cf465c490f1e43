"""Dates and instants as documents write them: ISO 8601, the same on every Python."""

from __future__ import annotations

import re
from datetime import date, datetime

_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,6})?(Z|[+-]\d{2}(?::?\d{2})?)?"
)


def read_date(text: str) -> date | None:
    """Read `2026-03-01`; None when it is no date."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_timestamp(text: str) -> datetime | None:
    """Read `2026-03-01T06:00:00.5Z` or with a space or an offset; None when it is no instant."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None or (match[4] and not match[3]):
        return None
    # Python 3.10 takes neither `Z`, short offsets nor fractions of other than 3 or 6 digits.
    fraction = f".{match[4][1:]:0<6}" if match[4] else ""
    plain = f"{match[1]}T{match[2]}{match[3] or ':00'}{fraction}{_offset(match[5])}"
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def _offset(text: str | None) -> str:
    if text is None:
        return ""
    digits = "+0000" if text == "Z" else f"{text.replace(':', ''):0<5}"
    return f"{digits[:3]}:{digits[3:]}"
