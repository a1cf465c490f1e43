"""The walk over a syntax tree: each node is known, allowed, typed and written, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from kaireon_dagster.plan.expressions import arithmetic, comparisons, text_functions
from kaireon_dagster.plan.expressions.coercion import explicit_cast
from kaireon_dagster.plan.expressions.constants import number_sql, type_of_number
from kaireon_dagster.plan.expressions.intervals import read_interval
from kaireon_dagster.plan.expressions.moment_functions import at_time_zone, extract
from kaireon_dagster.plan.expressions.nodes import cast_target, describe
from kaireon_dagster.plan.expressions.parsing import check_grouping, position
from kaireon_dagster.plan.expressions.refusals import ExpressionRefused, Unfit, nearest
from kaireon_dagster.plan.expressions.registry import CLOCK_WORDS, call
from kaireon_dagster.plan.expressions.typed import NULL_WORD, Typed
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import BOOLEAN, SqlType

_ARITHMETIC: Final[dict[type[exp.Expression], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.Pow: "^",
}
_COMPARISONS: Final[dict[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
_HARMLESS: Final = frozenset({"_type", "safe", "typed"})
"""Arguments of sqlglot nodes that carry no meaning of the text."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks the nodes of one expression.

    Attributes:
        text: the whole expression, for messages.
        names: the columns that exist, with their types.
    """

    text: str
    names: Mapping[str, SqlType]

    def check(self, node: exp.Expression) -> Typed:
        """Write a node and all below it.

        Raises:
            ExpressionRefused: with the place of the innermost node that is not allowed.
        """
        check_grouping(self.text, node)
        try:
            return self._write(node)
        except Unfit as unfit:
            raise ExpressionRefused(
                self.text, position(node), unfit.reason, unfit.suggestions
            ) from None

    def _write(self, node: exp.Expression) -> Typed:
        kind = type(node)
        if kind in _ARITHMETIC:
            left, right = self._operands(node)
            return arithmetic.apply_arithmetic(_ARITHMETIC[kind], left, right)
        if kind in _COMPARISONS:
            left, right = self._operands(node)
            return comparisons.compare(_COMPARISONS[kind], left, right)
        write = _WRITERS.get(kind)
        if write is None:
            raise Unfit(f"{describe(node)} is not allowed in an expression")
        return write(self, node)

    def _operands(self, node: exp.Expression) -> tuple[Typed, Typed]:
        parts = self._args(node, "this", "expression")
        return self.check(parts["this"]), self.check(parts["expression"])

    def _args(self, node: exp.Expression, *allowed: str) -> dict[str, Any]:
        """The arguments of a node; any other that is set would change its meaning unseen."""
        for key, value in node.args.items():
            if value not in (None, False, []) and key not in (*allowed, *_HARMLESS):
                raise Unfit(f"{key.strip('_')} is not allowed in {describe(node)}")
        return {key: node.args.get(key) for key in allowed}

    def _column(self, node: exp.Expression) -> Typed:
        identifier = self._args(node, "this")["this"]
        if not isinstance(identifier, exp.Identifier):
            raise Unfit(f"{describe(node)} is not allowed in an expression")
        name = self._find(identifier)
        return Typed(ident(name), self.names[name], frozenset({name}))

    def _find(self, identifier: exp.Identifier) -> str:
        written = identifier.name
        if identifier.quoted:
            candidates = [written]
        else:
            if written.lower() in CLOCK_WORDS:
                raise Unfit(f"{written} is not allowed: its value changes from run to run")
            candidates = [written.lower(), written]
        for candidate in candidates:
            if candidate in self.names:
                return candidate
        known = ", ".join(self.names) or "none"
        raise Unfit(f"there is no column {written!r}, only {known}", nearest(written, self.names))

    def _constant(self, node: exp.Expression) -> Typed:
        value = str(node.this)
        if node.args.get("is_string"):
            return Typed(literal(value), None, text=value)
        type = type_of_number(value)
        return Typed(number_sql(Decimal(value), type), type, number=Decimal(value))

    def _null(self, node: exp.Expression) -> Typed:
        return Typed(NULL_WORD, None)

    def _boolean(self, node: exp.Expression) -> Typed:
        return Typed("TRUE" if node.this else "FALSE", BOOLEAN)

    def _paren(self, node: exp.Expression) -> Typed:
        return self.check(self._args(node, "this")["this"])

    def _negative(self, node: exp.Expression) -> Typed:
        return arithmetic.negate(self.check(self._args(node, "this")["this"]))

    def _negation(self, node: exp.Expression) -> Typed:
        return comparisons.negate(self.check(self._args(node, "this")["this"]))

    def _conjunction(self, node: exp.Expression) -> Typed:
        left, right = self._operands(node)
        return comparisons.conjoin("AND" if isinstance(node, exp.And) else "OR", left, right)

    def _concatenation(self, node: exp.Expression) -> Typed:
        return text_functions.concatenate(*self._operands(node))

    def _is_test(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expression", "negate")
        part, tested = self.check(args["this"]), args["expression"]
        if isinstance(tested, exp.Null):
            return comparisons.is_null(part, bool(args["negate"]))
        if not isinstance(tested, exp.Boolean):
            raise Unfit("IS takes NULL, TRUE, FALSE or DISTINCT FROM")
        result = comparisons.is_truth(part, bool(tested.this))
        return comparisons.negate(result) if args["negate"] else result

    def _is_in(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expressions")
        if not args["expressions"]:
            raise Unfit("IN needs a list of values")
        choices = [self.check(choice) for choice in args["expressions"]]
        return comparisons.is_in(self.check(args["this"]), choices)

    def _between(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "low", "high")
        low, high = self.check(args["low"]), self.check(args["high"])
        return comparisons.is_between(self.check(args["this"]), low, high)

    def _like(self, node: exp.Expression) -> Typed:
        return self._match_like(node, "\\")

    def _escape(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expression")
        inner, escape = args["this"], self.check(args["expression"])
        if not isinstance(inner, (exp.Like, exp.ILike)) or escape.text is None:
            raise Unfit("ESCAPE belongs to LIKE and takes a string constant")
        return self._match_like(inner, escape.text)

    def _match_like(self, node: exp.Expression, escape: str) -> Typed:
        args = self._args(node, "this", "expression", "negate")
        sides = self.check(args["this"]), self.check(args["expression"])
        result = text_functions.like(*sides, escape, folds=isinstance(node, exp.ILike))
        return comparisons.negate(result) if args["negate"] else result

    def _regex(self, node: exp.Expression) -> Typed:
        folds = isinstance(node, exp.RegexpILike)
        return text_functions.match_regex(*self._operands(node), folds=folds)

    def _case(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "ifs", "default")
        subject = self.check(args["this"]) if args["this"] else None
        arms = [self._arm(arm, subject) for arm in args["ifs"]]
        default = self.check(args["default"]) if args["default"] else Typed(NULL_WORD, None)
        return comparisons.choose(arms, default)

    def _arm(self, arm: exp.Expression, subject: Typed | None) -> tuple[Typed, Typed]:
        args = self._args(arm, "this", "true")
        condition = self.check(args["this"])
        if subject is not None:
            condition = comparisons.compare("=", subject, condition)
        return condition, self.check(args["true"])

    def _cast(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "to")
        part = self.check(args["this"])
        if args["to"].this == exp.DType.INTERVAL and part.text is not None:
            return read_interval(part.text)
        return explicit_cast(part, cast_target(args["to"]))

    def _interval(self, node: exp.Expression) -> Typed:
        return read_interval(str(self._args(node, "this")["this"].this))

    def _at_zone(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "zone")
        return at_time_zone(self.check(args["this"]), self.check(args["zone"]))

    def _extract(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expression")
        return extract(str(args["this"].name), self.check(args["expression"]))

    def _position(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "substr")
        return call("strpos", [self.check(args["this"]), self.check(args["substr"])])

    def _substring(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "start", "length")
        return call("substring", [self.check(part) for part in args.values() if part])

    def _trim(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expression", "position")
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(args["position"]), "btrim")
        parts = [args["this"], args["expression"]] if args["expression"] else [args["this"]]
        return call(name, [self.check(part) for part in parts])

    def _call(self, node: exp.Expression) -> Typed:
        args = self._args(node, "this", "expressions")
        if not isinstance(args["this"], str):
            raise Unfit("a function is written without quotes")
        arguments = [self.check(argument) for argument in args["expressions"] or []]
        return call(args["this"].lower(), arguments)


_WRITERS: Final[dict[type[exp.Expression], Callable[[Checker, exp.Expression], Typed]]] = {
    exp.Column: Checker._column,
    exp.Literal: Checker._constant,
    exp.Null: Checker._null,
    exp.Boolean: Checker._boolean,
    exp.Paren: Checker._paren,
    exp.Neg: Checker._negative,
    exp.Not: Checker._negation,
    exp.And: Checker._conjunction,
    exp.Or: Checker._conjunction,
    exp.DPipe: Checker._concatenation,
    exp.Is: Checker._is_test,
    exp.In: Checker._is_in,
    exp.Between: Checker._between,
    exp.Like: Checker._like,
    exp.ILike: Checker._like,
    exp.Escape: Checker._escape,
    exp.RegexpLike: Checker._regex,
    exp.RegexpILike: Checker._regex,
    exp.Case: Checker._case,
    exp.Cast: Checker._cast,
    exp.Interval: Checker._interval,
    exp.AtTimeZone: Checker._at_zone,
    exp.Extract: Checker._extract,
    exp.StrPosition: Checker._position,
    exp.Substring: Checker._substring,
    exp.Trim: Checker._trim,
    exp.Anonymous: Checker._call,
}
KINDS: Final = frozenset((*_ARITHMETIC, *_COMPARISONS, *_WRITERS))
"""The nodes that an expression may be made of."""
