"""Casts between types that are not text, by PostgreSQL's rules.

Each function gives SQL that is NULL where the value is out of the target's range.
"""

from __future__ import annotations

from kaireon_dagster.plan.casting.reading import read_numeric
from kaireon_dagster.plan.casting.refusals import CastRefused
from kaireon_dagster.plan.types import SqlType

_EXACT_IN_DOUBLE = 15
"""Digits up to which a decimal divided by its power of ten gives the nearest double."""

_MOMENTS = {
    ("date", "timestamp"): "CAST({0} AS TIMESTAMP)",
    ("date", "timestamptz"): "timezone('UTC', CAST({0} AS TIMESTAMP))",
    ("timestamp", "date"): "CAST({0} AS DATE)",
    ("timestamp", "time"): "CAST({0} AS TIME)",
    ("timestamp", "timestamptz"): "timezone('UTC', {0})",
    ("timestamptz", "date"): "CAST(timezone('UTC', {0}) AS DATE)",
    ("timestamptz", "time"): "CAST(timezone('UTC', {0}) AS TIME)",
    ("timestamptz", "timestamp"): "timezone('UTC', {0})",
}


def convert(sql: str, source: SqlType, target: SqlType) -> str:
    """Write a cast between two different types, neither of them text.

    Raises:
        CastRefused: where PostgreSQL has no cast either.
    """
    if source.is_numeric and target.is_numeric:
        return _convert_number(sql, source, target)
    if (source.name, target.name) == ("integer", "boolean"):
        return f"({sql} <> 0)"
    if (source.name, target.name) == ("boolean", "integer"):
        return f"CAST({sql} AS INTEGER)"
    template = _MOMENTS.get((source.name, target.name))
    if template is None:
        raise CastRefused(source, target, "PostgreSQL has no such cast; go through text")
    return template.format(sql)


def is_widening(source: SqlType, target: SqlType) -> bool:
    """Whether every value of the source has a place in the target."""
    if source.is_temporal or "boolean" in (source.name, target.name):
        return True
    if target.is_float:
        return source.name != "double" or target.name == "double"
    whole = {"smallint": 5, "integer": 10, "bigint": 19, "numeric": source.digits - source.decimals}
    if target.name == "numeric":
        room = target.digits - target.decimals
        exact = source.name != "numeric" or source.decimals <= target.decimals
        return not source.is_float and exact and whole[source.name] <= room
    return source.is_integer and whole[source.name] <= whole[target.name]


def _convert_number(sql: str, source: SqlType, target: SqlType) -> str:
    if source.is_float and target.name == "numeric":
        return _decimal_of_float(sql, source, target)
    if source.is_float and target.is_integer and target.name != "bigint":
        # DuckDB 1.5 wraps 2147483647.5 around on its way to INTEGER, not on its way to BIGINT.
        return f"TRY_CAST(TRY_CAST({sql} AS BIGINT) AS {target.duckdb})"
    if source.name == "double" and target.name == "real":
        value = f"TRY_CAST({sql} AS REAL)"
        return f"CASE WHEN {value} = 0 AND {sql} <> 0 THEN NULL ELSE {value} END"
    if source.name == "numeric" and target.is_float:
        return _float_of_decimal(sql, source, target)
    return f"TRY_CAST({sql} AS {target.duckdb})"


def _decimal_of_float(sql: str, source: SqlType, target: SqlType) -> str:
    # PostgreSQL goes through the digits that the type surely holds: 15, or 6 for real.
    digits = 15 if source.name == "double" else 6
    text = f"printf('%.{digits}g', CAST({sql} AS DOUBLE))"
    return read_numeric(text, SqlType("numeric", target.digits, target.decimals))


def _float_of_decimal(sql: str, source: SqlType, target: SqlType) -> str:
    if target.name == "double" and source.digits <= _EXACT_IN_DOUBLE:
        return f"CAST({sql} AS DOUBLE)"
    return f"CAST(CAST({sql} AS VARCHAR) AS {target.duckdb})"
