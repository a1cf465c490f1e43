"""One user expression to DuckDB SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kaireon_dagster.plan.expressions.checking import Checker
from kaireon_dagster.plan.expressions.coercion import settle
from kaireon_dagster.plan.expressions.parsing import parse
from kaireon_dagster.plan.expressions.refusals import ExpressionRefused
from kaireon_dagster.plan.expressions.typed import Typed
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import TEXT, SqlType


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression in DuckDB SQL, with the value that PostgreSQL gives for the same row.

    Attributes:
        sql: the expression, complete on its own.
        type: its type.
        columns: the columns it reads.
        can_fail: whether some row may raise, such as a division by zero. The caller then wraps
            it as `TRY({'v': sql})`, which is NULL for just the rows that raise; unwrapped, the
            message of the engine may hold values of the row.
    """

    sql: str
    type: SqlType
    columns: frozenset[str]
    can_fail: bool


def compile_expression(text: str, columns: Mapping[str, SqlType]) -> Compiled:
    """Check a user expression and write it for DuckDB.

    Args:
        text: one scalar expression in the PostgreSQL-flavoured subset.
        columns: the columns that exist at this point, in order.

    Raises:
        ExpressionRefused: if it is not part of the language or has a type error, with its place.
    """
    try:
        part = Checker(text, columns).check(parse(text))
    except RecursionError as error:
        raise ExpressionRefused(text, 0, "the expression is nested too deeply") from error
    part = settle(part, TEXT)
    return Compiled(_anchored(part), part.known, part.columns, part.can_fail)


def _anchored(part: Typed) -> str:
    """Keep DuckDB from computing what may raise outside of the TRY that the caller puts around it.

    DuckDB 1.5 moves subexpressions that occur twice below the whole projection, but none out of a
    CASE, which is therefore put around all of it.
    """
    if not part.can_fail or not part.columns:
        return part.sql
    column = ident(min(part.columns))
    return f"(CASE WHEN {column} IS NULL OR {column} IS NOT NULL THEN {part.sql} END)"
