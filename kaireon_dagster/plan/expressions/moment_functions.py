"""Functions on dates, times and timestamps. A timestamptz is looked at in UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kaireon_dagster.plan.casting import FormatRefused
from kaireon_dagster.plan.casting.formats import read_moment
from kaireon_dagster.plan.expressions.coercion import coerce, settle
from kaireon_dagster.plan.expressions.functions import Form, Function, constant_text
from kaireon_dagster.plan.expressions.refusals import Unfit, nearest
from kaireon_dagster.plan.expressions.typed import Typed, derive, raised
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import (
    DATE,
    DOUBLE,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
)

_SMALL: Final = SqlType("numeric", 6, 0)
_PARTS: Final = {
    "year": ("year({0})", _SMALL),
    "month": ("month({0})", _SMALL),
    "day": ("day({0})", _SMALL),
    "quarter": ("quarter({0})", _SMALL),
    "week": ("weekofyear({0})", _SMALL),
    "isoyear": ("isoyear({0})", _SMALL),
    "dow": ("dayofweek({0})", _SMALL),
    "isodow": ("isodow({0})", _SMALL),
    "doy": ("dayofyear({0})", _SMALL),
}
_CLOCK_PARTS: Final = {
    "hour": ("hour({0})", _SMALL),
    "minute": ("minute({0})", _SMALL),
    "second": ("microsecond({0}) * 0.000001", SqlType("numeric", 8, 6)),
    "milliseconds": ("microsecond({0}) * 0.001", SqlType("numeric", 8, 3)),
    "microseconds": ("microsecond({0})", SqlType("numeric", 8, 0)),
    "epoch": ("CAST(epoch_us({0}) AS DECIMAL(20,0)) * 0.000001", SqlType("numeric", 20, 6)),
}
_DATE_EPOCH: Final = ("CAST(epoch_us({0}) // 1000000 AS BIGINT)", SqlType("numeric", 14, 0))
_TRUNCATED: Final = (
    "microseconds",
    "milliseconds",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
)
_SHOWN: Final = {
    "YYYY": "%Y",
    "MM": "%m",
    "DD": "%d",
    "DDD": "%j",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%g",
    "US": "%f",
    "AM": "%p",
    "PM": "%p",
    "Mon": "%b",
    "FMMonth": "%B",
    "Dy": "%a",
    "FMDay": "%A",
    "YY": "%y",
}
_SHOWN_WORD: Final = re.compile(
    "|".join(sorted(_SHOWN, key=len, reverse=True)) + r'|"(?P<quoted>[^"\\]*)"|[^A-Za-z"\\]'
)


def extract(field: str, moment: Typed) -> Typed:
    """Write EXTRACT, which is numeric as in PostgreSQL 14 and later.

    Raises:
        Unfit: for a field that the type does not have.
    """
    moment = settle(moment, TIMESTAMPTZ)
    type = moment.known
    known = _parts_of(type)
    part = known.get(field.lower())
    if part is None:
        raise Unfit(
            f"extract has no {field.lower()!r} of {moment.shown}, only {', '.join(known)}",
            nearest(field, known),
        )
    sql, result = part
    value = sql.format(_in_utc(moment))
    return derive(f"CAST({value} AS {result.duckdb})", result, moment)


def at_time_zone(moment: Typed, zone: Typed) -> Typed:
    """Write AT TIME ZONE 'UTC': a timestamp in UTC becomes an instant, and the reverse."""
    if constant_text(zone, "a time zone").upper() != "UTC":
        raise Unfit("AT TIME ZONE takes 'UTC' only: the engines' zone data need not agree")
    moment = settle(moment, TIMESTAMPTZ)
    if moment.known.name not in ("timestamp", "timestamptz", "date"):
        raise Unfit(f"AT TIME ZONE needs a timestamp, not {moment.shown}")
    if moment.known == DATE:
        moment = coerce(moment, TIMESTAMPTZ)
    result = TIMESTAMP if moment.known == TIMESTAMPTZ else TIMESTAMPTZ
    return derive(f"timezone('UTC', {moment.sql})", result, moment)


def _parts_of(type: SqlType) -> dict[str, tuple[str, SqlType]]:
    if type.name == "date":
        return {**_PARTS, "epoch": _DATE_EPOCH}
    if type.name in ("timestamp", "timestamptz"):
        return {**_PARTS, **_CLOCK_PARTS}
    return dict(_CLOCK_PARTS) if type.name == "time" else {}


def _in_utc(moment: Typed) -> str:
    if moment.known == TIMESTAMPTZ:
        return f"timezone('UTC', {moment.sql})"
    return f"CAST({moment.sql} AS TIMESTAMP)" if moment.known == DATE else moment.sql


def _date_part(arguments: Sequence[Typed]) -> Typed:
    return coerce(extract(constant_text(arguments[0], "the field"), arguments[1]), DOUBLE)


def _date_trunc(arguments: Sequence[Typed]) -> Typed:
    field = constant_text(arguments[0], "the field").lower()
    if field not in _TRUNCATED:
        raise Unfit(f"date_trunc takes {', '.join(_TRUNCATED)}", nearest(field, _TRUNCATED))
    moment = arguments[1]
    if moment.type is None or moment.type == DATE:
        moment = coerce(moment, TIMESTAMPTZ)
    if moment.known not in (TIMESTAMP, TIMESTAMPTZ):
        raise Unfit(f"date_trunc needs a timestamp, not {moment.shown}")
    sql = f"CAST(date_trunc({literal(field)}, {_in_utc(moment)}) AS TIMESTAMP)"
    if moment.known == TIMESTAMPTZ:
        sql = f"timezone('UTC', {sql})"
    return derive(sql, moment.known, moment)


def _to_char(arguments: Sequence[Typed]) -> Typed:
    moment = settle(arguments[0], TIMESTAMPTZ)
    if moment.known not in (DATE, TIMESTAMP, TIMESTAMPTZ):
        raise Unfit(f"to_char needs a date or timestamp, not {moment.shown}: cast it to text")
    directives = "".join(_directives(constant_text(arguments[1], "the format")))
    year = f"lpad(CAST(year({_in_utc(moment)}) AS VARCHAR), 4, '0')"
    # strftime writes the year 33 in two digits.
    pieces = re.split("(%Y)", directives)
    written = [
        year if piece == "%Y" else f"strftime({_in_utc(moment)}, {literal(piece)})"
        for piece in pieces
        if piece
    ]
    return derive(f"({' || '.join(written)})", TEXT, moment)


def _directives(format: str) -> list[str]:
    words: list[str] = []
    position = 0
    while position < len(format):
        match = _SHOWN_WORD.match(format, position)
        if match is None:
            raise Unfit(
                f"to_char does not take {format[position : position + 6]!r} in its format, only "
                f"{', '.join(_SHOWN)}, punctuation, and text in double quotes"
            )
        word = match[0] if match["quoted"] is None else match["quoted"]
        words.append(_SHOWN.get(match[0], word.replace("%", "%%")))
        position = match.end()
    return words


def _read_with(target: SqlType, name: str) -> Form:
    """`to_date` and `to_timestamp` with a constant format, read as strictly as a cast is."""

    def build(arguments: Sequence[Typed]) -> Typed:
        if len(arguments) == 1:
            return _from_epoch(arguments[0])
        text = coerce(arguments[0], TEXT)
        try:
            value = read_moment(text.sql, constant_text(arguments[1], "the format"), target)
        except FormatRefused as refused:
            raise Unfit(str(refused)) from refused
        failure = raised(f"value does not read as {target} in this format", target)
        sql = f"(CASE WHEN ({value}) IS NULL AND {text.sql} IS NOT NULL THEN {failure} "
        return derive(f"{sql}ELSE {value} END)", target, text, fails=True)

    return Form(name, 1 if target == TIMESTAMPTZ else 2, 2, build)


def _from_epoch(seconds: Typed) -> Typed:
    number = coerce(seconds, DOUBLE) if seconds.is_open or seconds.known.is_numeric else None
    if number is None:
        raise Unfit(f"to_timestamp needs a number of seconds, not {seconds.shown}")
    micros = f"make_timestamp(CAST(round_even({number.sql} * 1000000, 0) AS BIGINT))"
    return derive(f"timezone('UTC', {micros})", TIMESTAMPTZ, number, fails=True)


_MAKE_DATE: Final = (
    "(CASE WHEN {0} < 1 OR {0} > 9999 THEN "
    + raised("date field value out of range", DATE)
    + " ELSE make_date({0}, {1}, {2}) END)"
)

MOMENT_FUNCTIONS: Final[tuple[Function | Form, ...]] = (
    Function("make_date", ("integer", "integer", "integer"), DATE, _MAKE_DATE, fails=True),
    Form("date_part", 2, 2, _date_part),
    Form("date_trunc", 2, 2, _date_trunc),
    Form("to_char", 2, 2, _to_char),
    _read_with(DATE, "to_date"),
    _read_with(TIMESTAMPTZ, "to_timestamp"),
)
