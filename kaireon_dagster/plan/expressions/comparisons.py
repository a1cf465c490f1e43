"""Comparisons, IN, BETWEEN, IS, the logical operators, and CASE.

Text is compared byte by byte, which is PostgreSQL's collation C. As in PostgreSQL, NaN equals
itself and is greater than all other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kaireon_dagster.plan.expressions.coercion import coerce, common_type, operator_type, unify
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed, derive
from kaireon_dagster.plan.types import BOOLEAN, SqlType

_UNORDERED = ("jsonb", "array", "interval", "bytea")


def compare(operator: str, left: Typed, right: Typed) -> Typed:
    """Write `= <> < <= > >=` or IS [NOT] DISTINCT FROM.

    Raises:
        Unfit: for types that do not meet, such as text with a number.
    """
    left, right = _meet(left, right, operator)
    return derive(f"({left.sql} {operator} {right.sql})", BOOLEAN, left, right)


def is_in(part: Typed, choices: Sequence[Typed]) -> Typed:
    """Write IN with a list of values."""
    operands, _, _ = unify([part, *choices], "IN")
    _refuse_unordered(operands[0].known, "IN")
    listed = ", ".join(choice.sql for choice in operands[1:])
    return derive(f"({operands[0].sql} IN ({listed}))", BOOLEAN, *operands)


def is_between(part: Typed, low: Typed, high: Typed) -> Typed:
    """Write BETWEEN, which is two comparisons; each finds its own common type."""
    return conjoin("AND", compare(">=", part, low), compare("<=", part, high))


def is_null(part: Typed, negate: bool) -> Typed:
    """Write IS [NOT] NULL, of any type."""
    return derive(f"({part.sql} IS {'NOT ' if negate else ''}NULL)", BOOLEAN, part)


def is_truth(part: Typed, truth: bool) -> Typed:
    """Write IS TRUE or IS FALSE."""
    condition = require_boolean(part, "IS")
    return derive(f"({condition.sql} IS {'TRUE' if truth else 'FALSE'})", BOOLEAN, condition)


def conjoin(operator: str, left: Typed, right: Typed) -> Typed:
    """Write AND or OR; the right side is not asked where the left side decides.

    DuckDB asks both sides for every row, so a right side that may raise is put behind CASE.
    """
    left, right = require_boolean(left, operator), require_boolean(right, operator)
    sql = f"({left.sql} {operator} {right.sql})"
    if right.can_fail:
        decided = f"NOT {left.sql} THEN FALSE" if operator == "AND" else f"{left.sql} THEN TRUE"
        sql = f"(CASE WHEN {decided} ELSE {sql} END)"
    return derive(sql, BOOLEAN, left, right)


def negate(part: Typed) -> Typed:
    """Write NOT."""
    condition = require_boolean(part, "NOT")
    return derive(f"(NOT {condition.sql})", BOOLEAN, condition)


def require_boolean(part: Typed, what: str) -> Typed:
    """Check a condition; an open constant becomes a boolean.

    Raises:
        Unfit: for any other type.
    """
    if part.type is not None and part.type != BOOLEAN:
        raise Unfit(f"{what} needs a boolean, not {part.shown}: write a comparison")
    return coerce(part, BOOLEAN)


def choose(arms: Sequence[tuple[Typed, Typed]], default: Typed) -> Typed:
    """Write CASE with conditions."""
    conditions = [require_boolean(condition, "WHEN") for condition, _ in arms]
    results, type, loose = unify([*(result for _, result in arms), default], "CASE")
    written = " ".join(
        f"WHEN {condition.sql} THEN {result.sql}"
        for condition, result in zip(conditions, results, strict=False)
    )
    sql = f"(CASE {written} ELSE {results[-1].sql} END)"
    return replace(derive(sql, type, *conditions, *results), loose=loose)


def _meet(left: Typed, right: Typed, operator: str) -> tuple[Typed, Typed]:
    if (
        left.type is not None
        and right.type is not None
        and left.type.is_numeric
        and (right.type.is_numeric)
    ):
        type = operator_type(left.type, right.type)
    else:
        type = common_type([left, right], operator)
    _refuse_unordered(type, operator)
    return coerce(left, type), coerce(right, type)


def _refuse_unordered(type: SqlType, operator: str) -> None:
    if type.name in _UNORDERED:
        raise Unfit(f"{operator} does not compare {type} here")
