"""Text read as dates, times and timestamps: ISO 8601 and PostgreSQL's output, nothing ambiguous.

Stricter than PostgreSQL, whose reading depends on its settings: the year comes first, in four
digits, from 0001 to 9999; no words (`now`, `infinity`, `BC`, zone names), no hour 24, no second
60. As in PostgreSQL, a date drops a time of day, and a timestamp without zone drops an offset. A
timestamptz without an offset is in UTC.
"""

from __future__ import annotations

from typing import Final

from kaireon_dagster.plan.casting.patterns import WHITE, matches, padded, rewritten
from kaireon_dagster.plan.types import SqlType

_YEAR: Final = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})"
_DATE: Final = rf"{_YEAR}-\d{{1,2}}-\d{{1,2}}"
_MINUTES: Final = r"(?:[01]?\d|2[0-3]):[0-5]?\d"
_SECONDS: Final = r":[0-5]?\d"
_OFFSET: Final = r"[+-](?:0\d|1[0-5])(?::?[0-5]\d)?"
_CLOCK: Final = rf"({_MINUTES})(?:({_SECONDS})(?:\.(\d*))?)?"
# Rounding could carry a time into the next day, so it may have only zeros past the microseconds.
_TIME: Final = padded(rf"({_MINUTES})(?:({_SECONDS})(?:\.(\d{{0,6}})0*)?)?")
_MOMENT: Final = padded(
    rf"({_DATE})(?:(?:{WHITE}+|[Tt]){_CLOCK}(?:{WHITE}*(?:[Zz]|({_OFFSET})))?)?"
)
"""Groups: date, hours and minutes, seconds, fraction, offset other than Z."""

_ISO: Final = rf"{_YEAR}-\d\d-\d\d[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{{1,6}})?"
_ISO_OFFSET: Final = rf"{_ISO}(?:Z|{_OFFSET})"
_ISO_ANY: Final = rf"{_ISO_OFFSET}?"

_DATES: Final = "BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
_TIMESTAMPS: Final = (
    "BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
)


def read_date(sql: str, target: SqlType) -> str:
    """The date of a date or timestamp; the time of day must read, and is dropped."""
    value = f"TRY_CAST({sql} AS DATE)"
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} AND {value} {_DATES} THEN {value} "
        f"WHEN {matches(sql, _MOMENT)} THEN TRY_CAST({_group(sql, _MOMENT, 1)} AS DATE) END"
    )


def read_timestamp(sql: str, target: SqlType) -> str:
    """The wall clock of a timestamp, to the microsecond; an offset is dropped."""
    value = f"TRY_CAST({sql} AS TIMESTAMP)"
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} AND {value} {_TIMESTAMPS} THEN {value} "
        f"WHEN {matches(sql, _ISO_ANY)} THEN {value} "
        f"WHEN {matches(sql, _MOMENT)} "
        f"THEN TRY_CAST({_wall_clock(sql)} AS TIMESTAMP) + {_microseconds(sql)} END"
    )


def read_timestamptz(sql: str, target: SqlType) -> str:
    """The instant of a timestamp; without an offset it is in UTC."""
    clock = f"TRY_CAST({sql} AS TIMESTAMP)"
    offset = f"coalesce(nullif({_group(sql, _MOMENT, 5)}, ''), 'Z')"
    instant = f"TRY_CAST({_wall_clock(sql)} || {offset} AS TIMESTAMP WITH TIME ZONE)"
    return (
        f"CASE WHEN CAST({clock} AS VARCHAR) = {sql} AND {clock} {_TIMESTAMPS} "
        f"THEN timezone('UTC', {clock}) "
        f"WHEN {matches(sql, _ISO_OFFSET)} THEN TRY_CAST({sql} AS TIMESTAMP WITH TIME ZONE) "
        f"WHEN {matches(sql, _MOMENT)} THEN {instant} + {_microseconds(sql)} END"
    )


def read_time(sql: str, target: SqlType) -> str:
    """Hours, minutes, and seconds to the microsecond; no offset."""
    value = f"TRY_CAST({sql} AS TIME)"
    clock = (
        f"{_group(sql, _TIME, 1)} || {_seconds(sql, _TIME, 2)} || '.' || {_group(sql, _TIME, 3)}"
    )
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} AND {value} < TIME '24:00:00' THEN {value} "
        f"WHEN {matches(sql, _TIME)} THEN TRY_CAST({clock} AS TIME) END"
    )


def _wall_clock(sql: str) -> str:
    clock = f"coalesce(nullif({_group(sql, _MOMENT, 2)}, ''), '00:00')"
    return f"{_group(sql, _MOMENT, 1)} || ' ' || {clock} || {_seconds(sql, _MOMENT, 3)}"


def _seconds(sql: str, pattern: str, group: int) -> str:
    return f"coalesce(nullif({_group(sql, pattern, group)}, ''), ':00')"


def _microseconds(sql: str) -> str:
    # PostgreSQL rounds a fraction to microseconds through a double, half to even.
    fraction = f"TRY_CAST('0.' || {_group(sql, _MOMENT, 4)} AS DOUBLE)"
    return f"to_microseconds(CAST({fraction} * 1000000 AS BIGINT))"


def _group(sql: str, pattern: str, group: int) -> str:
    return rewritten(sql, pattern, f"\\{group}")
