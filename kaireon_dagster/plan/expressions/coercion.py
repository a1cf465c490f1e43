"""Which types meet, and how a part becomes the type that its place asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kaireon_dagster.plan.casting import CastRefused, cast
from kaireon_dagster.plan.expressions.constants import number_sql, read_constant
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed, derive, raised
from kaireon_dagster.plan.types import DOUBLE, MAX_PRECISION, TEXT, SqlType

_LADDER: Final = ("smallint", "integer", "bigint", "numeric", "real", "double")
_MOMENTS: Final = ("date", "timestamp", "timestamptz")
WHOLE_DIGITS: Final = {"smallint": 5, "integer": 10, "bigint": 19}


def casts_implicitly(source: SqlType, target: str) -> bool:
    """Whether PostgreSQL takes a value of the source where the target is asked for."""
    for ladder in (_LADDER, _MOMENTS):
        if source.name in ladder and target in ladder:
            return ladder.index(source.name) <= ladder.index(target)
    return source.name == target


def settle(part: Typed, type: SqlType) -> Typed:
    """Give an open constant a type; others stay as they are.

    Raises:
        Unfit: if a string constant does not read as the type.
    """
    if part.type is not None:
        return part
    if part.text is None:
        return Typed(f"CAST(NULL AS {type.duckdb})", type)
    return Typed(read_constant(part.text, type), type)


def coerce(part: Typed, type: SqlType) -> Typed:
    """Make a part have exactly a type that it converts to without being asked."""
    part = settle(part, type)
    if part.type == type:
        return part
    if part.number is not None and type.is_numeric:
        return Typed(number_sql(part.number, type), type, number=part.number)
    return replace(explicit_cast(part, type), loose=part.loose)


def explicit_cast(part: Typed, type: SqlType) -> Typed:
    """Cast a part; a value that does not fit raises.

    Raises:
        Unfit: if there is no such cast.
    """
    if part.type is None:
        return settle(part, type)
    try:
        written = cast(part.sql, part.type, type)
    except CastRefused as refused:
        raise Unfit(str(refused)) from refused
    value = _printed(written.value) if type.is_text and part.loose else written.value
    if written.fault is None:
        return derive(f"({value})" if value is not part.sql else value, type, part)
    failure = raised(f"value does not read as {type}", type)
    sql = f"CASE WHEN {written.fault} THEN {failure} ELSE {value} END"
    return derive(f"({sql})", type, part, fails=True)


def common_type(parts: Sequence[Typed], what: str) -> SqlType:
    """The one type of alternatives, such as the results of CASE.

    Raises:
        Unfit: if they do not meet; `what` names the construct.
    """
    known = [part.type for part in parts if part.type is not None]
    if not known:
        return TEXT
    result = known[0]
    for type in known[1:]:
        result = _meet(result, type, what)
    return result


def _meet(left: SqlType, right: SqlType, what: str) -> SqlType:
    if left.is_numeric and right.is_numeric:
        return _meet_numbers(left, right)
    if left.name in _MOMENTS and right.name in _MOMENTS:
        return max(left, right, key=lambda type: _MOMENTS.index(type.name))
    if left.is_text and right.is_text:
        return TEXT
    if left != right:
        raise Unfit(f"{what} mixes {left} and {right}: cast one of them first")
    return left


def _meet_numbers(left: SqlType, right: SqlType) -> SqlType:
    if left == right:
        return left
    if left.is_float or right.is_float:
        return max(left, right, key=lambda type: _LADDER.index(type.name))
    if left.is_integer and right.is_integer:
        return max(left, right, key=lambda type: _LADDER.index(type.name))
    return numeric_of(max(whole_digits(left), whole_digits(right)), max_scale(left, right))


def operator_type(left: SqlType, right: SqlType) -> SqlType:
    """The type in which an operator works on two numbers; floats of two kinds meet in double."""
    if left != right and (left.is_float or right.is_float):
        return DOUBLE
    return _meet_numbers(left, right)


def numeric_of(whole: int, scale: int) -> SqlType:
    """A numeric with room for so many digits before and after the point, as far as there is room.

    Raises:
        Unfit: if the decimals alone are too many.
    """
    if scale > MAX_PRECISION:
        raise Unfit(f"the result has more than {MAX_PRECISION} decimals: round the operands first")
    return SqlType("numeric", max(min(whole + scale, MAX_PRECISION), 1), scale)


def whole_digits(type: SqlType) -> int:
    """Digits before the point of an integer or numeric type."""
    return WHOLE_DIGITS.get(type.name, type.digits - type.decimals)


def scale_of(type: SqlType) -> int:
    """Decimals of an integer or numeric type."""
    return 0 if type.is_integer else type.decimals


def max_scale(left: SqlType, right: SqlType) -> int:
    """The greater count of decimals."""
    return max(scale_of(left), scale_of(right))


def unify(parts: Sequence[Typed], what: str) -> tuple[list[Typed], SqlType, bool]:
    """Coerce alternatives to their common type; tells also whether its decimals are loose."""
    type = common_type(parts, what)
    coerced = [coerce(part, type) for part in parts]
    scales = {
        scale_of(part.type)
        for part in parts
        if part.type and not part.type.is_float and part.type.is_numeric
    }
    return coerced, type, len(scales) > 1 or any(part.loose for part in coerced)


def _printed(text: str) -> str:
    return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
