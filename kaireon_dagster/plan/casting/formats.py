"""The `format` of a cast: how dates, times and numbers are written in one column.

Dates and times take PostgreSQL's template words (`DD/MM/YYYY HH24:MI:SS`) or strftime directives
(`%d/%m/%Y`). Numbers take an example with both separators (`1.234,56`). A value that is not
written that way is a fault; nothing is guessed per value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.plan.casting.patterns import BLANKS, matches, padded
from kaireon_dagster.plan.casting.refusals import FormatRefused
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import SqlType

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of a format: what it stands for, its strptime directive, and what may stand there.

    `loose` is the pattern where no digit follows at once, so that the width may vary.
    """

    part: str
    directive: str
    pattern: str
    loose: str = ""


_YEAR: Final = _Field("year", "%Y", r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})")
_SHORT_YEAR: Final = _Field("year", "%y", r"\d\d")
_MONTH: Final = _Field("month", "%m", r"\d\d", r"\d{1,2}")
_MONTH_NAME: Final = _Field("month", "%B", f"(?i:{'|'.join(_MONTHS)})")
_MONTH_SHORT: Final = _Field("month", "%b", f"(?i:{'|'.join(name[:3] for name in _MONTHS)})")
_DAY: Final = _Field("day", "%d", r"\d\d", r"\d{1,2}")
_DAY_OF_YEAR: Final = _Field("day of year", "%j", r"\d\d\d")
_WEEKDAY: Final = _Field("weekday", "%A", f"(?i:{'|'.join(_DAYS)})")
_WEEKDAY_SHORT: Final = _Field("weekday", "%a", f"(?i:{'|'.join(name[:3] for name in _DAYS)})")
_HOUR: Final = _Field("hour", "%H", r"(?:[01]\d|2[0-3])", r"(?:[01]?\d|2[0-3])")
_HOUR_12: Final = _Field("hour of twelve", "%I", r"(?:0[1-9]|1[0-2])", r"(?:0?[1-9]|1[0-2])")
_HALF: Final = _Field("half of day", "%p", r"(?i:am|pm)")
_MINUTE: Final = _Field("minute", "%M", r"[0-5]\d", r"[0-5]?\d")
_SECOND: Final = _Field("second", "%S", r"[0-5]\d", r"[0-5]?\d")
_MILLISECOND: Final = _Field("fraction", "%g", r"\d{1,3}")
_MICROSECOND: Final = _Field("fraction", "%f", r"\d{1,6}")
_OFFSET: Final = _Field("offset", "%z", r"(?:[Zz]|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)")

_TEMPLATE: Final = {
    "YYYY": _YEAR,
    "YY": _SHORT_YEAR,
    "MONTH": _MONTH_NAME,
    "MON": _MONTH_SHORT,
    "MM": _MONTH,
    "MI": _MINUTE,
    "MS": _MILLISECOND,
    "DDD": _DAY_OF_YEAR,
    "DD": _DAY,
    "DAY": _WEEKDAY,
    "DY": _WEEKDAY_SHORT,
    "HH24": _HOUR,
    "HH12": _HOUR_12,
    "HH": _HOUR,
    "SS": _SECOND,
    "US": _MICROSECOND,
    "AM": _HALF,
    "PM": _HALF,
    "TZH:TZM": _OFFSET,
    "TZHTZM": _OFFSET,
    "TZH": _OFFSET,
    "OF": _OFFSET,
}
_STRFTIME: Final = {
    field.directive: field for field in (*_TEMPLATE.values(), _MICROSECOND, _MILLISECOND)
}
_TEMPLATE_WORD: Final = re.compile(
    f'{"|".join(_TEMPLATE)}|T(?=HH)|"(?P<quoted>[^"]*)"|[^A-Za-z"]', re.IGNORECASE
)
_HALVES: Final = re.compile("[AP]M", re.IGNORECASE)
_STRFTIME_WORD: Final = re.compile(r"%-?[A-Za-z]|%%|[^%]")
_GROUP: Final = 3
_NUMBER: Final = re.compile(
    r"[+-]?[09#\d]+(?:(?P<thousands>[.,' _])[09#\d]{3})*(?P<point>[.,])(?P<decimals>[09#\d]+)"
)


@dataclass(frozen=True, slots=True)
class MomentFormat:
    """A format of dates or times.

    Attributes:
        spelling: the format as the document gives it.
        directives: the same for DuckDB's `strptime`.
        pattern: what the whole of a value must match; strptime alone takes more.
        parts: what the format tells, such as `year` and `hour`.
    """

    spelling: str
    directives: str
    pattern: str
    parts: frozenset[str]

    @property
    def is_template(self) -> bool:
        """Whether it is written in template words and not in strftime directives."""
        return "%" not in self.spelling


def read_moment(sql: str, format: str, target: SqlType) -> str:
    """Write the reading of a text as a date, time or timestamp in the given format.

    Raises:
        FormatRefused: for a format that is not understood, or does not tell the whole value.
    """
    moment = parse_moment_format(format)
    _refuse_incomplete(moment, target)
    text = f"trim({sql}, {literal(BLANKS)})"
    if "offset" in moment.parts:
        text = f"regexp_replace({text}, '[Zz]$', '+00')"
    value = f"try_strptime({text}, {literal(moment.directives)})"
    if target.name == "timestamptz" and "offset" not in moment.parts:
        value = f"timezone('UTC', {value})"
    elif target.name in ("date", "time"):
        value = f"CAST({value} AS {target.duckdb})"
    return f"CASE WHEN {matches(sql, padded(moment.pattern))} THEN {value} END"


def parse_moment_format(format: str) -> MomentFormat:
    """Read a format of dates or times, in template words or strftime directives.

    Raises:
        FormatRefused: names the first character that is not understood.
    """
    words = list(_strftime_words(format) if "%" in format else _template_words(format))
    fields = [word for word in words if isinstance(word, _Field)]
    parts = [field.part for field in fields]
    if len(parts) != len(set(parts)):
        raise FormatRefused(format, "tells a part of the date or time twice")
    return MomentFormat(
        format,
        "".join(_directive(word) for word in words),
        "".join(_pattern(word, words[index + 1 :]) for index, word in enumerate(words)),
        frozenset(parts),
    )


def parse_number_format(format: str) -> tuple[str, str]:
    """Read the separators of an example such as `1.234,56`: thousands (or none) and decimal.

    Raises:
        FormatRefused: for an example that does not show its decimal separator, or is not a number.
    """
    match = _NUMBER.fullmatch(format.strip())
    thousands = match["thousands"] if match else None
    unclear = match is not None and thousands is None and len(match["decimals"]) == _GROUP
    if match is None or unclear or thousands == match["point"]:
        raise FormatRefused(
            format, "is not an example of a number with its separators, such as 1.234,56 or 1234,56"
        )
    return thousands or "", match["point"]


def _template_words(format: str) -> Iterator[_Field | str]:
    position = 0
    # `HH` beside AM or PM counts to twelve, as it always does in PostgreSQL.
    known = {**_TEMPLATE, "HH": _HOUR_12} if _HALVES.search(format) else _TEMPLATE
    while position < len(format):
        match = _TEMPLATE_WORD.match(format, position)
        if match is None:
            raise FormatRefused(format, _not_understood(format, position, ", ".join(_TEMPLATE)))
        quoted = match["quoted"]
        yield known.get(match[0].upper(), match[0]) if quoted is None else quoted
        position = match.end()


def _strftime_words(format: str) -> Iterator[_Field | str]:
    position = 0
    while position < len(format):
        match = _STRFTIME_WORD.match(format, position)
        word = match[0].replace("-", "") if match and match[0][0] == "%" else match and match[0]
        if match is None or word is None or (word[0] == "%" and word not in (*_STRFTIME, "%%")):
            raise FormatRefused(format, _not_understood(format, position, ", ".join(_STRFTIME)))
        yield "%" if word == "%%" else _STRFTIME.get(word, word)
        position = match.end()


def _not_understood(format: str, position: int, allowed: str) -> str:
    return (
        f"not understood at {format[position : position + 8]!r} (character {position + 1}); "
        f"allowed are {allowed}, other letters in double quotes"
    )


def _directive(word: _Field | str) -> str:
    return word.directive if isinstance(word, _Field) else word.replace("%", "%%")


def _pattern(word: _Field | str, rest: list[_Field | str]) -> str:
    if isinstance(word, str):
        return re.escape(word)
    after = rest[0] if rest else ""
    starts_digit = isinstance(after, _Field) or after[:1].isdigit()
    return word.pattern if starts_digit or not word.loose else word.loose


def _refuse_incomplete(moment: MomentFormat, target: SqlType) -> None:
    parts = moment.parts
    if target.name != "time" and not parts >= {"year", "month", "day"}:
        if not parts >= {"year", "day of year"}:
            raise FormatRefused(moment.spelling, "must tell year, month and day")
    elif target.name == "time" and not parts & {"hour", "hour of twelve"}:
        raise FormatRefused(moment.spelling, "must tell the hour")
    if ("hour of twelve" in parts) != ("half of day" in parts):
        raise FormatRefused(moment.spelling, "HH12 needs AM, and AM needs HH12")
    if "offset" in parts and target.name != "timestamptz":
        raise FormatRefused(moment.spelling, "tells an offset: cast to timestamptz")
