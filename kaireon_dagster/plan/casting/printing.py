"""Values printed as text, as PostgreSQL's output functions print them (DateStyle ISO, UTC)."""

from __future__ import annotations

from collections.abc import Callable

from kaireon_dagster.plan.casting.refusals import CastRefused
from kaireon_dagster.plan.types import TEXT, SqlType


def print_text(sql: str, source: SqlType) -> str:
    """Write a value as text.

    A `numeric` without precision is printed without zeros at its end, and jsonb as it stands in
    its source, not in the order and spacing that PostgreSQL gives it.

    Raises:
        CastRefused: for arrays and intervals.
    """
    if source.name in ("array", "interval"):
        raise CastRefused(source, TEXT, "there is no common spelling; take its parts")
    if source.is_float:
        return _print_float(sql, _large_double if source.name == "double" else _large_real)
    if source.name in ("date", "timestamp"):
        return _print_moment(sql, "")
    if source.name == "timestamptz":
        return _print_moment(f"timezone('UTC', {sql})", "+00")
    if source.name == "bytea":
        return f"'\\x' || lower(hex({sql}))"
    text = f"CAST({sql} AS VARCHAR)"
    if source.name == "numeric" and source.precision is None:
        return f"rtrim(rtrim({text}, '0'), '.')"
    return text


def _print_moment(sql: str, offset: str) -> str:
    # DuckDB puts `(BC)` after the date, PostgreSQL `BC` after all.
    text = f"CAST({sql} AS VARCHAR)"
    early = f"replace({text}, ' (BC)', '') || '{offset} BC'"
    shown = f"{text} || '{offset}'" if offset else text
    return f"CASE WHEN contains({text}, '(') THEN {early} ELSE {shown} END"


def _print_float(sql: str, large: Callable[[str, str], tuple[str, str]]) -> str:
    """Shortest digits that read back as the same value.

    DuckDB finds the same digits for most values, but prints whole numbers as `1.0`, and puts the
    first exponent at 1e+16 where PostgreSQL has it at 1e+15, or 1e+06 for real.
    """
    text = f"CAST({sql} AS VARCHAR)"
    is_large, printed = large(sql, text)
    return (
        f"CASE WHEN isnan({sql}) THEN 'NaN' "
        f"WHEN isinf({sql}) THEN CASE WHEN {sql} > 0 THEN 'Infinity' ELSE '-Infinity' END "
        f"WHEN {is_large} THEN {printed} ELSE regexp_replace({text}, '\\.0$', '') END"
    )


def _large_double(sql: str, text: str) -> tuple[str, str]:
    digits = f"rtrim(replace(ltrim({text}, '-'), '.', ''), '0')"
    rest = f"CASE WHEN length({digits}) > 1 THEN '.' || substr({digits}, 2) ELSE '' END"
    sign = f"CASE WHEN {sql} < 0 THEN '-' ELSE '' END"
    return (
        f"abs({sql}) >= 1e15 AND NOT contains({text}, 'e')",
        f"{sign} || left({digits}, 1) || {rest} || 'e+15'",
    )


def _large_real(sql: str, text: str) -> tuple[str, str]:
    # The first count of digits that reads back; DuckDB prints every digit of a whole number.
    printed = [f"printf('%.{digits}e', CAST({sql} AS DOUBLE))" for digits in range(9)]
    arms = " ".join(f"WHEN CAST({shown} AS REAL) = {sql} THEN {shown}" for shown in printed)
    return f"abs({sql}) >= 1e6", f"CASE {arms} END"
