"""Functions on numbers.

Roots, logarithms and powers are double precision; PostgreSQL's numeric versions compute more
digits than a double has, and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kaireon_dagster.plan.expressions.arithmetic import apply_arithmetic, check_finite, power
from kaireon_dagster.plan.expressions.coercion import coerce, numeric_of, whole_digits
from kaireon_dagster.plan.expressions.functions import Form, Function, constant_integer, fit
from kaireon_dagster.plan.expressions.functions import choose as choose_function
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed, derive, raised
from kaireon_dagster.plan.types import BIGINT, DOUBLE, INTEGER, MAX_PRECISION, SMALLINT, SqlType

_ADVICE: Final = "cast it to double precision first"


def _same(arguments: Sequence[Typed]) -> SqlType:
    return arguments[0].known


def _whole(arguments: Sequence[Typed]) -> SqlType:
    return numeric_of(whole_digits(arguments[0].known) + 1, 0)


def _on_numeric(name: str) -> Function:
    def write(arguments: Sequence[Typed]) -> str:
        return f"CAST({name}({arguments[0].sql}) AS {_whole(arguments).duckdb})"

    return Function(name, ("numeric",), _whole, write)


def _guarded(name: str, wrong: str, reason: str) -> Function:
    failure = raised(reason, DOUBLE)
    sql = f"(CASE WHEN {wrong} THEN {failure} ELSE {name}({{0}}) END)"
    return Function(name, ("double",), DOUBLE, sql, fails=True)


def _exp(arguments: Sequence[Typed]) -> str:
    operand = arguments[0].sql
    checked = check_finite(f"exp({operand})", (operand,), DOUBLE)
    failure = raised("double precision out of range", DOUBLE)
    return (
        f"(CASE WHEN exp({operand}) = 0 AND isfinite({operand}) THEN {failure} ELSE {checked} END)"
    )


def _round_to(name: str) -> Form:
    """`round` and `trunc` of a numeric to a constant count of decimals."""

    def build(arguments: Sequence[Typed]) -> Typed:
        if len(arguments) == 1:
            return choose_function(_ONE_ARGUMENT[name], arguments).apply(arguments)
        if arguments[0].type is not None and arguments[0].type.is_float:
            raise Unfit(f"there is no {name}(double precision, integer): cast to numeric first")
        decimals = constant_integer(arguments[1], "the count of decimals")
        fitted = fit(arguments[0], "numeric")
        scale = max(decimals, 0)
        whole = whole_digits(fitted.known) + 1
        type = numeric_of(whole, min(scale, max(MAX_PRECISION - whole, fitted.known.decimals)))
        sql = fitted.sql
        if decimals < 0:
            # DuckDB 1.5 gives 0, even for NULL, where all the digits that the type has are rounded.
            room = numeric_of(whole - decimals, fitted.known.decimals)
            sql = f"CAST({sql} AS {room.duckdb})"
        if decimals < fitted.known.decimals:
            sql = f"{name}({sql}, {decimals})"
        return derive(f"CAST({sql} AS {type.duckdb})", type, fitted)

    return Form(name, 1, 2, build)


def _mod(arguments: Sequence[Typed]) -> Typed:
    return apply_arithmetic("%", arguments[0], arguments[1])


def _power(arguments: Sequence[Typed]) -> Typed:
    base, exponent = (part if part.type else coerce(part, DOUBLE) for part in arguments)
    if not (base.known.is_numeric and exponent.known.is_numeric):
        raise Unfit(f"there is no power({base.shown}, {exponent.shown}): cast it first")
    return power(base, exponent)


def _refused(name: str) -> Function:
    return Function(name, ("numeric",), DOUBLE, refused=_ADVICE)


_ROUND: Final = Function("round", ("double",), DOUBLE, "round_even({0}, 0)")
_TRUNC: Final = Function("trunc", ("double",), DOUBLE, "trunc({0})")
_ONE_ARGUMENT: Final = {
    "round": (_ROUND, _on_numeric("round")),
    "trunc": (_TRUNC, _on_numeric("trunc")),
}
_NOT_POSITIVE: Final = "logarithm of a number that is not positive"

NUMBER_FUNCTIONS: Final[tuple[Function | Form, ...]] = (
    Function("abs", ("smallint",), SMALLINT, "abs({0})", fails=True),
    Function("abs", ("integer",), INTEGER, "abs({0})", fails=True),
    Function("abs", ("bigint",), BIGINT, "abs({0})", fails=True),
    Function("abs", ("numeric",), _same, "abs({0})"),
    Function("abs", ("double",), DOUBLE, "abs({0})"),
    _on_numeric("ceil"),
    Function("ceil", ("double",), DOUBLE, "ceil({0})"),
    _on_numeric("ceiling"),
    Function("ceiling", ("double",), DOUBLE, "ceiling({0})"),
    _on_numeric("floor"),
    Function("floor", ("double",), DOUBLE, "floor({0})"),
    _on_numeric("sign"),
    Function("sign", ("double",), DOUBLE, "CAST(sign({0}) AS DOUBLE)"),
    _round_to("round"),
    _round_to("trunc"),
    _guarded("sqrt", "{0} < 0", "square root of a negative number"),
    _refused("sqrt"),
    _guarded("ln", "{0} <= 0", _NOT_POSITIVE),
    _refused("ln"),
    _guarded("log10", "{0} <= 0", _NOT_POSITIVE),
    _refused("log10"),
    Function("log", ("double",), DOUBLE, _guarded("log10", "{0} <= 0", _NOT_POSITIVE).sql, True),
    _refused("log"),
    Function("exp", ("double",), DOUBLE, _exp, fails=True),
    _refused("exp"),
    Form("power", 2, 2, _power),
    Form("mod", 2, 2, _mod),
)
