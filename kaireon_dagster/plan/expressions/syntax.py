"""What is wrong with an expression whatever columns there are: its grammar, names and constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from kaireon_dagster.plan.expressions.checking import KINDS, Checker
from kaireon_dagster.plan.expressions.nodes import cast_target, describe
from kaireon_dagster.plan.expressions.parsing import check_grouping, parse, position
from kaireon_dagster.plan.expressions.refusals import ExpressionRefused, Unfit
from kaireon_dagster.plan.expressions.registry import CLOCK_WORDS, check_call

_WORDS: Final = (exp.Identifier, exp.DataType, exp.Var, exp.DataTypeParam)
"""Parts of a tree that are no values."""


def check_syntax(text: str) -> None:
    """Check an expression as far as no column has to be known.

    What passes may still name a column that is not there, or have a type error.

    Raises:
        ExpressionRefused: with the place of the innermost part that no columns could make right.
    """
    try:
        _Reader(text).check(parse(text))
    except RecursionError as error:
        raise ExpressionRefused(text, 0, "the expression is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str

    def check(self, node: exp.Expression) -> None:
        if not any(isinstance(part, exp.Column) for part in node.walk()):
            Checker(self.text, {}).check(node)
            return
        check_grouping(self.text, node)
        try:
            _check_alone(node)
        except Unfit as unfit:
            raise ExpressionRefused(
                self.text, position(node), unfit.reason, unfit.suggestions
            ) from None
        for part in _parts(node):
            self.check(part)


def _check_alone(node: exp.Expression) -> None:
    if type(node) not in KINDS:
        raise Unfit(f"{describe(node)} is not allowed in an expression")
    if isinstance(node, exp.Column):
        _check_column(node)
    elif isinstance(node, exp.Anonymous) and isinstance(node.this, str):
        check_call(node.this.lower(), len(node.expressions))
    elif isinstance(node, exp.Cast):
        cast_target(node.args["to"])


def _check_column(node: exp.Expression) -> None:
    identifier = node.this
    is_qualified = any(node.args.get(part) for part in ("table", "db", "catalog"))
    if is_qualified or not isinstance(identifier, exp.Identifier):
        raise Unfit(f"{describe(node)} is not allowed in an expression")
    if not identifier.quoted and identifier.name.lower() in CLOCK_WORDS:
        raise Unfit(f"{identifier.name} is not allowed: its value changes from run to run")


def _parts(node: exp.Expression) -> Iterator[exp.Expression]:
    for part in node.iter_expressions():
        if isinstance(part, exp.If):
            yield from _parts(part)
        elif isinstance(part, exp.Expression) and not isinstance(part, _WORDS):
            yield part
