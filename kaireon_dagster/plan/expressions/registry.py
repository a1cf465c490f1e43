"""Every function that an expression may call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kaireon_dagster.plan.expressions.coercion import unify
from kaireon_dagster.plan.expressions.comparisons import compare
from kaireon_dagster.plan.expressions.functions import Form, Function, choose
from kaireon_dagster.plan.expressions.moment_functions import MOMENT_FUNCTIONS
from kaireon_dagster.plan.expressions.number_functions import NUMBER_FUNCTIONS
from kaireon_dagster.plan.expressions.refusals import Unfit, nearest
from kaireon_dagster.plan.expressions.text_functions import TEXT_FUNCTIONS
from kaireon_dagster.plan.expressions.typed import Typed, derive


def call(name: str, arguments: Sequence[Typed]) -> Typed:
    """Write a call of a function by its name in lower case.

    Raises:
        Unfit: if there is no such function here, or not for these arguments.
    """
    entries = _find(name)
    if isinstance(entries, Form):
        _check_count(entries, len(arguments))
        return entries.build(arguments)
    return choose(entries, arguments).apply(arguments)


def check_call(name: str, count: int) -> None:
    """Check that a function may be called, and with so many arguments.

    Raises:
        Unfit: if there is no such function here, or none that takes so many.
    """
    entries = _find(name)
    if isinstance(entries, Form):
        _check_count(entries, count)
    elif all(len(entry.takes) != count for entry in entries):
        known = " or ".join(f"{name}({', '.join(entry.takes)})" for entry in entries)
        raise Unfit(f"there is no {name} of {count} arguments, only {known}")


def _find(name: str) -> Form | tuple[Function, ...]:
    reason = _REASONS.get(name)
    if reason is not None:
        raise Unfit(f"{name} is not allowed: {reason}")
    entries = REGISTRY.get(name)
    if entries is None:
        raise Unfit(f"there is no function {name} here", nearest(name, REGISTRY))
    return entries


def _check_count(form: Form, count: int) -> None:
    if count < form.least or (form.most is not None and count > form.most):
        most = "" if form.most is None else f" to {form.most}"
        raise Unfit(f"{form.name} takes {form.least}{most} arguments, not {count}")


def _alternatives(name: str) -> Form:
    def build(arguments: Sequence[Typed]) -> Typed:
        parts, type, loose = unify(arguments, name)
        sql = f"{name}({', '.join(part.sql for part in parts)})"
        return replace(derive(sql, type, *parts), loose=loose)

    return Form(name, 1, None, build)


def _nullif(arguments: Sequence[Typed]) -> Typed:
    first, second = arguments
    same = compare("=", first, second)
    settled = unify([first], "nullif")[0][0]
    result = derive(f"(CASE WHEN {same.sql} THEN NULL ELSE {settled.sql} END)", settled.known, same)
    return replace(result, loose=settled.loose)


_GENERAL: Final[tuple[Function | Form, ...]] = (
    _alternatives("coalesce"),
    _alternatives("greatest"),
    _alternatives("least"),
    Form("nullif", 2, 2, _nullif),
)


def _by_name(entries: Sequence[Function | Form]) -> dict[str, Form | tuple[Function, ...]]:
    forms: dict[str, Form | tuple[Function, ...]] = {
        entry.name: entry for entry in entries if isinstance(entry, Form)
    }
    signatures: dict[str, list[Function]] = {}
    for entry in entries:
        if isinstance(entry, Function):
            signatures.setdefault(entry.name, []).append(entry)
    return forms | {name: tuple(found) for name, found in signatures.items()}


REGISTRY: Final = _by_name((*TEXT_FUNCTIONS, *NUMBER_FUNCTIONS, *MOMENT_FUNCTIONS, *_GENERAL))
"""Name to its form, or to all its signatures."""

_CLOCK: Final = "its value changes from run to run; add a field with {{runStartedAt}} for the time"
_AGGREGATE: Final = "an expression sees one row; use the op aggregate"
_REASONS: Final = {
    **dict.fromkeys(
        ("now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday"),
        _CLOCK,
    ),
    **dict.fromkeys(("random", "gen_random_uuid", "nextval"), "its value changes from row to row"),
    **dict.fromkeys(("sum", "count", "avg", "min", "max", "string_agg", "array_agg"), _AGGREGATE),
    **dict.fromkeys(("row_number", "rank", "lag", "lead"), "an expression sees one row"),
}
CLOCK_WORDS: Final = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)
"""Functions that PostgreSQL calls without parentheses."""
