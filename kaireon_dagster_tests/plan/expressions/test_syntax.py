"""What is refused before any column is known: nothing that some columns would make right."""

from __future__ import annotations

import pytest

from kaireon_dagster.plan.expressions import ExpressionRefused, check_syntax
from kaireon_dagster_tests.plan.expressions.groups import GROUPS, Group


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_what_is_right_for_its_columns_is_right_without_them(group: Group) -> None:
    for expression in group.expressions:
        check_syntax(expression)


@pytest.mark.parametrize(
    ("expression", "column", "reason"),
    [
        ("a +", 3, "cannot be parsed"),
        ("a; b", 2, "without `;`"),
        ("(SELECT 1)", 9, "a subquery"),
        ("a IN (SELECT b)", 14, "a subquery"),
        ("t.a", 1, "qualified name"),
        ("a ->> 'k'", 1, "not allowed"),
        ("uper(a)", 1, "there is no function uper here"),
        ("a > 1 AND now() > b", 11, "its value changes from run to run"),
        ("b < current_date", 5, "its value changes from run to run"),
        ("sum(a)", 1, "use the op aggregate"),
        ("round(a, 1, 2)", 1, "round takes 1 to 2 arguments, not 3"),
        ("substring(a, 1, 2) || lower()", 23, "there is no lower()"),
        ("upper(a, b)", 1, "there is no upper of 2 arguments, only upper(text)"),
        ("nullif(a)", 1, "takes 2"),
        ("a::money", 1, "there is no cast to money here"),
        ("CASE WHEN a THEN foo(b) END", 18, "there is no function foo here"),
        ("a = lower(1)", 5, "cast the arguments first"),
        ("a IN (1, 'x'::integer)", 10, "x"),
        ("a BETWEEN b AND NOT c", 21, "parentheses"),
    ],
)
def test_what_no_columns_make_right(expression: str, column: int, reason: str) -> None:
    with pytest.raises(ExpressionRefused) as refused:
        check_syntax(expression)
    assert reason in refused.value.reason
    assert refused.value.column == column


def test_suggestions_are_kept() -> None:
    with pytest.raises(ExpressionRefused) as refused:
        check_syntax("uper(a)")
    assert refused.value.suggestions[0] == "upper"


@pytest.mark.parametrize("expression", ["(" * 3000 + "a" + ")" * 3000, "a" + "+a" * 4000])
def test_deep_nesting_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionRefused):
        check_syntax(expression)
