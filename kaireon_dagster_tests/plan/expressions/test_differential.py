"""Every operator and function, on PostgreSQL and as compiled for DuckDB: the same value or an error.

Where the compiled expression is stricter, or differs, the rule is listed in `EXCEPTIONS` and in
`docs/reference/expressions.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

import pytest

from kaireon_dagster.plan.expressions import compile_expression
from kaireon_dagster.plan.expressions.checking import _ARITHMETIC, _COMPARISONS, _WRITERS
from kaireon_dagster.plan.expressions.functions import Form, Function
from kaireon_dagster.plan.expressions.parsing import parse
from kaireon_dagster.plan.expressions.registry import REGISTRY
from kaireon_dagster.plan.expressions.text_functions import LONGEST_FILL
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster_tests.plan.expressions.engines import RAISED, Engines
from kaireon_dagster_tests.plan.expressions.groups import GROUPS, Group, Row

Exception_ = Callable[[str, Row, str | None, str | None], bool]


def empty_is_null(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    return "::" in expression and "" in row and (expected, found) == (RAISED, None)


def stricter_dates(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    return "make_date(n" in expression and found == RAISED


def no_special_numerics(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    return "::numeric" in expression and expected in ("NaN", "Infinity") and found == RAISED


def no_wide_numerics(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    if found != RAISED or expected is None or not re.fullmatch(r"-?[0-9.]+", expected):
        return False
    if any(value and not re.fullmatch(r"-?[0-9.]+", value) for value in row):
        return False
    digits = [Decimal(value).adjusted() for value in (*row, expected) if value]
    return sum(sorted(digits)[-2:]) > 15


def long_fill(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    filled = re.match("lpad|rpad|repeat", expression) is not None
    return filled and found == RAISED and int(row[1] or 0) > LONGEST_FILL


def tiny_products(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    tiny = any(value in ("5e-324", "1e-308") for value in row)
    return "*" in expression and tiny and expected == RAISED


def last_digit_of_powers(
    expression: str, row: Row, expected: str | None, found: str | None
) -> bool:
    if RAISED in (expected, found) or not re.search(r"\^|power|exp|ln|log", expression):
        return False
    return math.isclose(float(expected or 0), float(found or 0), rel_tol=1e-15)


def no_hex_digits(expression: str, row: Row, expected: str | None, found: str | None) -> bool:
    return "0x1F" in row and found == RAISED


EXCEPTIONS: list[Exception_] = [
    empty_is_null,
    stricter_dates,
    no_special_numerics,
    no_wide_numerics,
    long_fill,
    tiny_products,
    last_digit_of_powers,
    no_hex_digits,
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_both_engines_agree(engines: Engines, group: Group) -> None:
    engines.fill(group.types, group.rows)
    wrong = [
        (expression, *difference)
        for expression in group.expressions
        for difference in engines.differences(expression, quotient="/" in expression)
        if not any(is_known(expression, *difference) for is_known in EXCEPTIONS)
    ]
    assert wrong == []


SIMPLE_CASE = "abc ABC éàüñ ÉÀÜÑ ß ŸÿŁłĄą αβγΩΣς АБВяю ђ ǆǅ ı İ ﬁ 日本語 😀 x\u0301 ẞ"


@pytest.mark.parametrize("expression", ["upper(t)", "lower(t)", "t ILIKE upper_of_t", "t ~* 'É'"])
def test_case_is_folded_by_simple_mappings(engines: Engines, expression: str) -> None:
    """PostgreSQL folds by the column's collation; here it is as in pg_c_utf8."""
    engines.fill({"t": "text"}, [(letter,) for letter in (None, "", *SIMPLE_CASE)])
    expression = expression.replace("upper_of_t", "'É'")
    found = engines.in_duckdb(expression)
    known = engines.postgres.execute("SELECT 1 FROM pg_collation WHERE collname = 'pg_c_utf8'")
    collation = '"pg_c_utf8"' if known.fetchone() else '"C.utf8"'
    theirs = re.sub(r"\bt\b", f"(t COLLATE {collation})", expression)
    assert found == engines.in_postgres(theirs)


def _compile_all() -> None:
    for group in GROUPS:
        types = {name: SqlType.parse(spelling) for name, spelling in group.types.items()}
        for expression in group.expressions:
            compile_expression(expression, types)


def test_every_signature_of_the_registry_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[tuple[str, tuple[str, ...]]] = set()
    apply = Function.apply

    def record(self: Function, arguments: list[object]) -> object:
        used.add((self.name, self.takes))
        return apply(self, arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Function, "apply", record)
    _compile_all()
    offered = {
        (function.name, function.takes)
        for entries in REGISTRY.values()
        if not isinstance(entries, Form)
        for function in entries
        if function.refused is None
    }
    assert offered - used == {("upper", ("text",)), ("lower", ("text",))}


def test_every_form_of_the_registry_is_compared() -> None:
    text = " ".join(expression for group in GROUPS for expression in group.expressions)
    called = set(re.findall(r"([a-z_0-9]+)\(", text))
    assert {name for name, entry in REGISTRY.items() if isinstance(entry, Form)} - called == set()


def test_every_operator_is_compared() -> None:
    seen = {
        type(node)
        for group in GROUPS
        for expression in group.expressions
        for node in parse(expression).walk()
    }
    assert {*_ARITHMETIC, *_COMPARISONS, *_WRITERS} - seen == set()
