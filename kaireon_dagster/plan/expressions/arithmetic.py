"""The operators `+ - * / % ^` on numbers, dates and timestamps.

Where the engines differ, PostgreSQL's rule is written out: integer division truncates, a zero
divisor raises, a float result that overflows raises. Numeric results carry as many decimals as
PostgreSQL's; a quotient has 16, rounded half away from zero, and a result of more than 38 digits
raises.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kaireon_dagster.plan.expressions.coercion import (
    WHOLE_DIGITS,
    coerce,
    max_scale,
    numeric_of,
    operator_type,
    scale_of,
    settle,
    whole_digits,
)
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed, derive, loosen, raised
from kaireon_dagster.plan.types import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MAX_PRECISION,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
)

QUOTIENT_SCALE: Final = 16
_DIGITS_IN_64_BITS: Final = 18
_DIVISION_BY_ZERO: Final = "division by zero"
_OVERFLOW: Final = "double precision out of range"


def apply_arithmetic(operator: str, left: Typed, right: Typed) -> Typed:
    """Write a binary operator.

    Raises:
        Unfit: if PostgreSQL has no such operator for the types.
    """
    left, right = _settle_pair(left, right)
    for part in (left, right):
        _refuse_real(part)
    if left.known.is_numeric and right.known.is_numeric:
        return _on_numbers(operator, left, right)
    moved = _on_moments(operator, left, right)
    if moved is None:
        raise Unfit(f"there is no {left.shown} {operator} {right.shown}: cast it first")
    return moved


def negate(part: Typed) -> Typed:
    """Write the unary minus."""
    type = part.known if part.type else DOUBLE
    if not type.is_numeric:
        raise Unfit(f"there is no - {part.shown}: cast it first")
    part = settle(part, type)
    _refuse_real(part)
    if part.number is not None:
        return replace(part, sql=f"(-{part.sql})", number=-part.number)
    if type.is_integer:
        return derive(f"(CAST(0 AS {type.duckdb}) - {part.sql})", type, part, fails=True)
    return loosen(derive(f"(-{part.sql})", type, part), part)


def _refuse_real(part: Typed) -> None:
    if part.known.name == "real":
        raise Unfit("there is no arithmetic on real: cast it to double precision first")


def _settle_pair(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    # As in PostgreSQL, an open constant takes the type of the other side.
    if left.is_open and right.is_open:
        raise Unfit("the types of both operands are open: cast one of them first")
    return settle(left, right.known if left.is_open else left.known), settle(
        right, left.known if right.is_open else right.known
    )


def _on_numbers(operator: str, left: Typed, right: Typed) -> Typed:
    type = operator_type(left.known, right.known)
    if operator == "^":
        return power(left, right)
    if type.is_float:
        return _on_floats(operator, coerce(left, type), coerce(right, type), type)
    if type.is_integer:
        return _on_integers(operator, coerce(left, type), coerce(right, type), type)
    result = _on_decimals(operator, _as_decimal(left), _as_decimal(right))
    return loosen(result, left, right)


def _on_integers(operator: str, left: Typed, right: Typed, type: SqlType) -> Typed:
    if operator in "+-*":
        return derive(f"({left.sql} {operator} {right.sql})", type, left, right, fails=True)
    if operator == "/":
        # Only the most negative number divided by -1 has no place in its type.
        sql = f"({left.sql} // {right.sql})"
        return _divided(sql, left, right, type, fails=right.number == -1)
    sql = f"({left.sql} % {right.sql})"
    if right.number in (None, -1):
        # DuckDB 1.5 raises for the most negative number.
        rest = f"CASE WHEN {right.sql} = -1 AND {left.sql} IS NOT NULL THEN 0 ELSE {sql} END"
        sql = f"CAST({rest} AS {type.duckdb})"
    return _divided(sql, left, right, type, fails=False)


def _divided(sql: str, left: Typed, right: Typed, type: SqlType, *, fails: bool) -> Typed:
    if right.number is not None and right.number != 0:
        return derive(sql, type, left, right, fails=fails)
    zero = f"{right.sql} = 0 AND {left.sql} IS NOT NULL"
    sql = f"(CASE WHEN {zero} THEN {raised(_DIVISION_BY_ZERO, type)} ELSE {sql} END)"
    return derive(sql, type, left, right, fails=True)


def _as_decimal(part: Typed) -> Typed:
    if not part.known.is_integer:
        return replace(part, loose=part.loose or part.known.precision is None)
    return coerce(part, SqlType("numeric", WHOLE_DIGITS[part.known.name], 0))


def _on_decimals(operator: str, left: Typed, right: Typed) -> Typed:
    if operator == "/":
        return _quotient(left, right)
    whole = (whole_digits(left.known), whole_digits(right.known))
    scale = max_scale(left.known, right.known)
    if operator == "%":
        type = numeric_of(max(whole), scale)
        pair = coerce(left, type), coerce(right, type)
        return _divided(f"({pair[0].sql} % {pair[1].sql})", *pair, type, fails=False)
    if operator == "*":
        scale = scale_of(left.known) + scale_of(right.known)
        room = sum(whole)
    else:
        room = max(whole) + 1
    type = numeric_of(room, scale)
    sql = f"CAST({_widened(left, right, type)} {operator} {right.sql} AS {type.duckdb})"
    return derive(sql, type, left, right, fails=room + scale > MAX_PRECISION)


def _widened(left: Typed, right: Typed, result: SqlType) -> str:
    # Of two decimals that fit 64 bits DuckDB wants the result to fit as well.
    if result.digits <= _DIGITS_IN_64_BITS or max(left.known.digits, right.known.digits) > (
        _DIGITS_IN_64_BITS
    ):
        return left.sql
    return f"CAST({left.sql} AS DECIMAL({result.digits},{scale_of(left.known)}))"


def _quotient(left: Typed, right: Typed) -> Typed:
    """Divide whole numbers, then what remains; half the divisor rounds the last decimal."""
    scale = max_scale(left.known, right.known)
    dividend, divisor = _unscaled(left, scale), _unscaled(right, scale)
    half = f"CASE WHEN {left.sql} < 0 THEN -1 ELSE 1 END * abs({divisor})"
    rest = f"({dividend} % {divisor}) * {_power_of_ten(QUOTIENT_SCALE)}"
    decimals = f"(2 * {rest} + {half}) // (2 * {divisor})"
    unit = f"CAST(0.{'1'.zfill(QUOTIENT_SCALE)} AS DECIMAL({QUOTIENT_SCALE},{QUOTIENT_SCALE}))"
    fraction = f"CAST({decimals} AS DECIMAL({QUOTIENT_SCALE + 1},0)) * {unit}"
    type = numeric_of(MAX_PRECISION, QUOTIENT_SCALE)
    sql = f"(CAST({dividend} // {divisor} AS {type.duckdb}) + CAST({fraction} AS {type.duckdb}))"
    sql = f"CASE WHEN {left.sql} IS NOT NULL AND {right.sql} IS NOT NULL THEN {sql} END"
    return replace(
        _divided(sql, left, right, type, fails=not _is_roomy(left, right, scale)), loose=True
    )


def _is_roomy(left: Typed, right: Typed, scale: int) -> bool:
    """Whether no step of a division can leave a 128-bit integer or the result's type."""
    if right.number is None:
        return False
    quotient_digits = whole_digits(left.known) - right.number.adjusted()
    return (
        whole_digits(left.known) + scale < MAX_PRECISION
        and right.number.adjusted() + scale + QUOTIENT_SCALE < MAX_PRECISION - 2
        and quotient_digits <= MAX_PRECISION - QUOTIENT_SCALE
    )


def _unscaled(part: Typed, scale: int) -> str:
    """The value times ten to the scale, which is a whole number."""
    own = scale_of(part.known)
    lift = f" * {_power_of_ten(scale - own)}" if scale > own else ""
    if part.known.digits + own < MAX_PRECISION:
        factor = f"CAST(1{'0' * own} AS DECIMAL({own + 1},0))"
        return f"(CAST({part.sql} * {factor} AS HUGEINT){lift})"
    return f"(CAST(replace(CAST({part.sql} AS VARCHAR), '.', '') AS HUGEINT){lift})"


def _power_of_ten(exponent: int) -> str:
    return f"CAST(1{'0' * exponent} AS HUGEINT)"


def _on_floats(operator: str, left: Typed, right: Typed, type: SqlType) -> Typed:
    if operator == "%":
        raise Unfit("there is no % for double precision: cast both sides to numeric first")
    if operator == "/":
        return _float_quotient(left, right, type)
    sql = f"({left.unchecked or left.sql} {operator} {right.unchecked or right.sql})"
    leaves = (left.leaves or (left.sql,)) + (right.leaves or (right.sql,))
    checked = derive(check_finite(sql, leaves, type), type, left, right, fails=True)
    return replace(checked, unchecked=sql, leaves=leaves)


def _float_quotient(left: Typed, right: Typed, type: SqlType) -> Typed:
    sql = f"({left.sql} / {right.sql})"
    checked = check_finite(sql, (left.sql, right.sql), type)
    zero = f"{right.sql} = 0 AND NOT isnan({left.sql})"
    tiny = f"{sql} = 0 AND {left.sql} <> 0 AND isfinite({right.sql})"
    sql = (
        f"(CASE WHEN {zero} THEN {raised(_DIVISION_BY_ZERO, type)} "
        f"WHEN {tiny} THEN {raised(_OVERFLOW, type)} ELSE {checked} END)"
    )
    return derive(sql, type, left, right, fails=True)


def check_finite(sql: str, leaves: tuple[str, ...], type: SqlType) -> str:
    """Raise where finite operands gave a float that is not finite."""
    finite = " AND ".join(f"isfinite({leaf})" for leaf in leaves)
    return (
        f"(CASE WHEN isfinite({sql}) THEN {sql} WHEN {finite} "
        f"THEN {raised(_OVERFLOW, type)} ELSE {sql} END)"
    )


def power(left: Typed, right: Typed) -> Typed:
    """Write a power, which is double precision here.

    Raises:
        Unfit: for numeric operands, whose digits PostgreSQL computes in its own way.
    """
    if "numeric" in (left.known.name, right.known.name):
        raise Unfit("powers of numeric are not supported: cast to double precision first")
    base, exponent = coerce(left, DOUBLE), coerce(right, DOUBLE)
    sql = f"power({base.sql}, {exponent.sql})"
    wrong = (
        f"({base.sql} = 0 AND {exponent.sql} < 0) "
        f"OR ({base.sql} < 0 AND {exponent.sql} <> trunc({exponent.sql}))"
    )
    tiny = f"{sql} = 0 AND {base.sql} <> 0 AND isfinite({base.sql}) AND isfinite({exponent.sql})"
    checked = check_finite(sql, (base.sql, exponent.sql), DOUBLE)
    failure = raised("power of these numbers is not defined", DOUBLE)
    sql = (
        f"(CASE WHEN {wrong} THEN {failure} WHEN {tiny} THEN {raised(_OVERFLOW, DOUBLE)} "
        f"ELSE {checked} END)"
    )
    return derive(sql, DOUBLE, base, exponent, fails=True)


def _on_moments(operator: str, left: Typed, right: Typed) -> Typed | None:
    if operator == "+" and right.known.name in ("date", "timestamp", "timestamptz", "time"):
        left, right = right, left
    kinds = (left.known.name, operator, right.known.name)
    if kinds == ("date", "-", "date"):
        return derive(f"CAST({left.sql} - {right.sql} AS INTEGER)", INTEGER, left, right)
    if kinds[0] == "date" and kinds[1] in "+-" and kinds[2] in ("smallint", "integer"):
        sql = f"({left.sql} {operator} CAST({right.sql} AS INTEGER))"
        return derive(sql, DATE, left, right, fails=True)
    if operator in "+-" and right.known == INTERVAL:
        return _shift(operator, left, right)
    return None


def _shift(operator: str, moment: Typed, interval: Typed) -> Typed | None:
    name = moment.known.name
    if name == "timestamptz":
        # In UTC whatever the session's zone, as days and months are counted in it.
        sql = f"timezone('UTC', timezone('UTC', {moment.sql}) {operator} {interval.sql})"
        return derive(sql, TIMESTAMPTZ, moment, interval, fails=True)
    if name in ("date", "timestamp"):
        sql = f"(CAST({moment.sql} AS TIMESTAMP) {operator} {interval.sql})"
        return derive(sql, TIMESTAMP, moment, interval, fails=True)
    if name == "time":
        sql = f"({moment.sql} {operator} {interval.sql})"
        return derive(sql, moment.known, moment, interval)
    return None
