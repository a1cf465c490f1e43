"""String constants read as the type of their place, when the expression is compiled.

A constant that does not read is refused at once, rather than raise for each row.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Final

from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import SqlType

RANGES: Final = {
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIME: Final = re.compile(r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,6}))?)?")
_MOMENT: Final = re.compile(
    rf"({_DATE.pattern})(?:[ T]({_TIME.pattern}) ?(Z|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)?)?"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_TRUE: Final = frozenset({"t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"})
_FALSE: Final = frozenset({"f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"})
_BLANKS: Final = " \t\n\v\f\r"


def read_constant(text: str, type: SqlType) -> str:
    """Write a string constant as a value of a type.

    Raises:
        Unfit: if the text does not read as the type.
    """
    if type.is_text:
        return literal(text)
    reader = _READERS.get(type.name)
    value = reader(text.strip(_BLANKS), type) if reader else None
    if value is None:
        raise Unfit(f"the constant {text!r} does not read as {type}")
    return f"CAST({value} AS {type.duckdb})"


def number_sql(value: Decimal, type: SqlType) -> str:
    """Write a number as a constant of a type that holds it, or as the nearest float."""
    number = literal(repr(float(value))) if type.is_float else literal(value)
    return f"CAST({number} AS {type.duckdb})"


def type_of_number(spelling: str) -> SqlType:
    """The type PostgreSQL gives a number constant: the narrowest that holds it.

    Raises:
        Unfit: for more digits than are held exactly.
    """
    value = Decimal(spelling)
    if _WHOLE.fullmatch(spelling):
        for name in ("integer", "bigint"):
            if value <= RANGES[name][1]:
                return SqlType(name)
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    precision = max(len(digits) + max(int(exponent), 0), scale, 1)
    if precision > 38:
        raise Unfit(f"the number {spelling} has more than 38 digits")
    return SqlType("numeric", precision, scale)


def _read_integer(text: str, type: SqlType) -> str | None:
    low, high = RANGES[type.name]
    return literal(int(text)) if _WHOLE.fullmatch(text) and low <= int(text) <= high else None


def _read_numeric(text: str, type: SqlType) -> str | None:
    if not _DECIMAL.fullmatch(text):
        return None
    with localcontext() as context:
        context.prec = 2500
        value = Decimal(text)
        rounded = value.quantize(Decimal(1).scaleb(-type.decimals), ROUND_HALF_UP)
        fits = abs(rounded) < Decimal(10) ** (type.digits - type.decimals)
    exact = type.precision is not None or rounded == value
    return literal(rounded) if fits and exact else None


def _read_double(text: str, type: SqlType) -> str | None:
    if _NOT_FINITE.fullmatch(text):
        return literal(text)
    if not _DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
        return None
    return literal(text) if float(text) or not Decimal(text) else None


def _read_boolean(text: str, type: SqlType) -> str | None:
    word = text.lower()
    return "TRUE" if word in _TRUE else "FALSE" if word in _FALSE else None


def _read_date(text: str, type: SqlType) -> str | None:
    match = _MOMENT.fullmatch(text)
    moment = _datetime(match) if match else None
    return literal(moment.date().isoformat()) if moment else None


def _read_timestamp(text: str, type: SqlType) -> str | None:
    match = _MOMENT.fullmatch(text)
    moment = _datetime(match) if match else None
    if match is None or moment is None:
        return None
    if type.name == "timestamp":
        return literal(moment.isoformat(" "))
    instant = _in_utc(moment, match[10])
    return literal(f"{instant.isoformat(' ')}+00") if instant else None


def _in_utc(moment: datetime.datetime, offset: str | None) -> datetime.datetime | None:
    if offset is None or offset == "Z":
        return moment
    digits = offset[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 15 or minutes > 59:
        return None
    distance = datetime.timedelta(hours=hours, minutes=minutes)
    return moment - distance if offset[0] == "+" else moment + distance


def _datetime(match: re.Match[str]) -> datetime.datetime | None:
    year, month, day = (int(match[group]) for group in (2, 3, 4))
    hour, minute, second = (int(match[group] or 0) for group in (6, 7, 8))
    fraction = int((match[9] or "").ljust(6, "0"))
    try:
        return datetime.datetime(year, month, day, hour, minute, second, fraction)
    except ValueError:
        return None


def _read_time(text: str, type: SqlType) -> str | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = (int(match[group] or 0) for group in (1, 2, 3))
    try:
        return literal(
            datetime.time(hour, minute, second, int((match[4] or "").ljust(6, "0"))).isoformat()
        )
    except ValueError:
        return None


def _read_uuid(text: str, type: SqlType) -> str | None:
    return literal(text.lower()) if _UUID.fullmatch(text) else None


_READERS: Final[dict[str, Callable[[str, SqlType], str | None]]] = {
    "smallint": _read_integer,
    "integer": _read_integer,
    "bigint": _read_integer,
    "numeric": _read_numeric,
    "real": _read_double,
    "double": _read_double,
    "boolean": _read_boolean,
    "date": _read_date,
    "timestamp": _read_timestamp,
    "timestamptz": _read_timestamp,
    "time": _read_time,
    "uuid": _read_uuid,
}
