"""The cast of a column from one type to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.plan.casting import moments, reading
from kaireon_dagster.plan.casting.converting import convert, is_widening
from kaireon_dagster.plan.casting.formats import parse_number_format, read_moment
from kaireon_dagster.plan.casting.printing import print_text
from kaireon_dagster.plan.casting.refusals import CastRefused, FormatRefused
from kaireon_dagster.plan.types import TEXT, SqlType

_READERS: Final[dict[str, Callable[[str, SqlType], str]]] = {
    "smallint": reading.read_integer,
    "integer": reading.read_integer,
    "bigint": reading.read_integer,
    "numeric": reading.read_numeric,
    "real": reading.read_float,
    "double": reading.read_float,
    "boolean": reading.read_boolean,
    "date": moments.read_date,
    "time": moments.read_time,
    "timestamp": moments.read_timestamp,
    "timestamptz": moments.read_timestamptz,
    "uuid": reading.read_uuid,
    "jsonb": reading.read_jsonb,
    "bytea": reading.read_bytea,
}


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast in DuckDB SQL.

    Attributes:
        value: the value as the target type; NULL where it does not read.
        fault: a test, never NULL, that is true for values that are there but do not read as the
            target; None for a cast that cannot fail.
    """

    value: str
    fault: str | None


def cast(sql: str, source: SqlType, target: SqlType, format: str | None = None) -> Cast:
    """Write the cast of an expression, with PostgreSQL's meaning and no settings that matter.

    Empty text is NULL for every target but text, and not a fault. `sql` appears in the result
    several times, so it should be a column or something small.

    Args:
        sql: DuckDB SQL of the value.
        source: its type.
        target: the type asked for.
        format: how text spells a date, a time or a number; only for text as source.

    Raises:
        CastRefused: if there is no such cast.
        FormatRefused: if the format is not understood, or has no meaning for this cast.
    """
    if format is not None and not source.is_text:
        raise FormatRefused(format, f"formats read text, and the value is {source} already")
    if source.is_text and not target.is_text:
        return _read(sql, target, format)
    if format is not None:
        raise FormatRefused(format, "has no meaning for text")
    if target.is_text:
        return _print(sql, source, target)
    if source == target:
        return Cast(sql, None)
    value = convert(sql, source, target)
    return Cast(value, None if is_widening(source, target) else _lost(sql, value))


def _read(sql: str, target: SqlType, format: str | None) -> Cast:
    reader = _READERS.get(target.name)
    if reader is None:
        raise CastRefused(TEXT, target, "text does not read as it; keep it as text")
    value = reader(sql, target) if format is None else _read_as(sql, format, target)
    return Cast(value, f"(({value}) IS NULL AND {sql} IS NOT NULL AND {sql} <> '')")


def _read_as(sql: str, format: str, target: SqlType) -> str:
    if target.is_temporal:
        return read_moment(sql, format, target)
    if target.is_integer or target.name == "numeric":
        thousands, point = parse_number_format(format)
        return reading.read_grouped(sql, thousands, point, target)
    raise FormatRefused(format, f"has no meaning for {target}")


def _print(sql: str, source: SqlType, target: SqlType) -> Cast:
    value = sql if source.is_text else print_text(sql, source)
    limit = target.precision
    if limit is None or (
        source.precision is not None and source.is_text and source.precision <= limit
    ):
        return Cast(value, None)
    limited = reading.read_text(value, target)
    return Cast(limited, _lost(sql, limited))


def _lost(sql: str, value: str) -> str:
    return f"(({value}) IS NULL AND {sql} IS NOT NULL)"
