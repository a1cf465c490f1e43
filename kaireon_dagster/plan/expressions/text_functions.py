"""Functions on text.

Characters are code points, as in PostgreSQL. Blanks in `trim` are spaces only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kaireon_dagster.plan.expressions.coercion import coerce, explicit_cast
from kaireon_dagster.plan.expressions.functions import Form, Function, constant_text
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.regexes import check_regex, check_replaceable
from kaireon_dagster.plan.expressions.typed import Typed, derive, raised
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import BOOLEAN, INTEGER, TEXT

LONGEST_FILL: Final = 10_000
"""Characters up to which a text is filled or repeated; a row that asks for more raises."""

_TOO_LONG: Final = raised(f"more than {LONGEST_FILL} characters", TEXT)
_NEGATIVE: Final = raised("negative substring length not allowed", TEXT)
_ZERO_FIELD: Final = raised("field position must not be zero", TEXT)
# DuckDB has a capital for ß, PostgreSQL has none; U+FDD0, which is no character, holds its place.
_UPPER: Final = (
    "(CASE WHEN contains({0}, 'ß') "
    "THEN replace(upper(replace({0}, 'ß', chr(64976))), chr(64976), 'ß') ELSE upper({0}) END)"
)
_FROM_ONE: Final = "CASE WHEN {1} < 1 THEN 1 ELSE {1} END"
_UP_TO_LENGTH: Final = (
    "CASE WHEN {1} >= 1 THEN {2} WHEN CAST({1} AS BIGINT) + {2} > 1 "
    "THEN CAST({1} AS BIGINT) + {2} - 1 WHEN {2} IS NOT NULL THEN 0 END"
)
_SUBSTRING: Final = f"substr({{0}}, {_FROM_ONE})"
_SUBSTRING_FOR: Final = (
    f"(CASE WHEN {{2}} < 0 AND {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN {_NEGATIVE} "
    f"ELSE substr({{0}}, {_FROM_ONE}, {_UP_TO_LENGTH}) END)"
)
_WIDTH: Final = "CASE WHEN {1} < 0 THEN 0 ELSE {1} END"
_REPEAT: Final = (
    f"(CASE WHEN {{1}} > {LONGEST_FILL} AND {{0}} IS NOT NULL THEN {_TOO_LONG} "
    f"ELSE repeat({{0}}, {_WIDTH}) END)"
)
_SPLIT_PART: Final = (
    f"(CASE WHEN {{2}} = 0 AND {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN {_ZERO_FIELD} "
    "WHEN {1} = '' THEN CASE WHEN {2} IN (1, -1) THEN {0} WHEN {2} IS NOT NULL "
    "AND {0} IS NOT NULL THEN '' END ELSE split_part({0}, {1}, {2}) END)"
)


def _pad(name: str) -> str:
    return (
        f"(CASE WHEN {{1}} > {LONGEST_FILL} AND {{0}} IS NOT NULL AND {{2}} IS NOT NULL "
        f"THEN {_TOO_LONG} WHEN {{2}} = '' THEN left({{0}}, {_WIDTH}) "
        f"ELSE {name}({{0}}, {_WIDTH}, {{2}}) END)"
    )


def concatenate(left: Typed, right: Typed) -> Typed:
    """Write `||`; one side must be text, the other is cast to it."""
    if not any(part.is_open or part.known.is_text for part in (left, right)):
        raise Unfit(f"there is no {left.shown} || {right.shown}: cast one side to text first")
    sides = [explicit_cast(part, TEXT) for part in (left, right)]
    return derive(f"({sides[0].sql} || {sides[1].sql})", TEXT, *sides)


def like(part: Typed, pattern: Typed, escape: str, folds: bool) -> Typed:
    """Write LIKE or ILIKE with a constant pattern.

    Raises:
        Unfit: also for a pattern that ends in its escape character, which DuckDB lets TRY not catch.
    """
    if len(escape) != 1:
        raise Unfit("ESCAPE must be one character")
    spelling = constant_text(pattern, "a LIKE pattern")
    if (len(spelling) - len(spelling.rstrip(escape))) % 2 == 1:
        raise Unfit("a LIKE pattern must not end with its escape character")
    side = coerce(part, TEXT)
    word = "ILIKE" if folds else "LIKE"
    sql = f"({side.sql} {word} {literal(spelling)} ESCAPE {literal(escape)})"
    return derive(sql, BOOLEAN, side)


def match_regex(part: Typed, pattern: Typed, folds: bool) -> Typed:
    """Write `~` or `~*` with a constant pattern."""
    regex = check_regex(constant_text(pattern, "a regular expression"))
    side = coerce(part, TEXT)
    options = "is" if folds else "s"
    return derive(f"regexp_matches({side.sql}, {literal(regex)}, '{options}')", BOOLEAN, side)


def _as_text(part: Typed) -> Typed:
    if part.type == BOOLEAN:
        raise Unfit("concat does not take booleans: cast it to text first")
    return explicit_cast(part, TEXT)


def _concat(arguments: Sequence[Typed]) -> Typed:
    texts = [_as_text(part) for part in arguments]
    return derive(f"concat({', '.join(text.sql for text in texts)})", TEXT, *texts)


def _concat_ws(arguments: Sequence[Typed]) -> Typed:
    separator = coerce(arguments[0], TEXT)
    texts = [separator, *(_as_text(part) for part in arguments[1:])]
    return derive(f"concat_ws({', '.join(text.sql for text in texts)})", TEXT, *texts)


def _regexp_replace(arguments: Sequence[Typed]) -> Typed:
    side = coerce(arguments[0], TEXT)
    pattern = check_replaceable(constant_text(arguments[1], "a regular expression"))
    replacement = constant_text(arguments[2], "the replacement")
    flags = constant_text(arguments[3], "the flags") if len(arguments) > 3 else ""
    if "\\" in replacement:
        raise Unfit("the replacement may not contain a backslash")
    if set(flags) - {"g", "i"}:
        raise Unfit("the flags may be g and i")
    given = f"{literal(pattern)}, {literal(replacement)}, {literal('s' + flags)}"
    return derive(f"regexp_replace({side.sql}, {given})", TEXT, side)


_ONE: Final = ("text",)
_TWO: Final = ("text", "text")
_NUMBERED: Final = ("text", "integer")

TEXT_FUNCTIONS: Final[tuple[Function | Form, ...]] = (
    Function("length", _ONE, INTEGER, "CAST(length({0}) AS INTEGER)"),
    Function("char_length", _ONE, INTEGER, "CAST(length({0}) AS INTEGER)"),
    Function("character_length", _ONE, INTEGER, "CAST(length({0}) AS INTEGER)"),
    Function("octet_length", _ONE, INTEGER, "CAST(strlen({0}) AS INTEGER)"),
    Function("upper", _ONE, TEXT, _UPPER),
    Function("lower", _ONE, TEXT, "lower({0})"),
    Function("btrim", _ONE, TEXT, "trim({0}, ' ')"),
    Function("btrim", _TWO, TEXT, "trim({0}, {1})"),
    Function("ltrim", _ONE, TEXT, "ltrim({0}, ' ')"),
    Function("ltrim", _TWO, TEXT, "ltrim({0}, {1})"),
    Function("rtrim", _ONE, TEXT, "rtrim({0}, ' ')"),
    Function("rtrim", _TWO, TEXT, "rtrim({0}, {1})"),
    Function("substring", _NUMBERED, TEXT, _SUBSTRING),
    Function("substring", (*_NUMBERED, "integer"), TEXT, _SUBSTRING_FOR, fails=True),
    Function("substr", _NUMBERED, TEXT, _SUBSTRING),
    Function("substr", (*_NUMBERED, "integer"), TEXT, _SUBSTRING_FOR, fails=True),
    Function("left", _NUMBERED, TEXT, "left({0}, {1})"),
    Function("right", _NUMBERED, TEXT, "right({0}, {1})"),
    Function("lpad", _NUMBERED, TEXT, _pad("lpad").replace("{2}", "' '"), fails=True),
    Function("lpad", (*_NUMBERED, "text"), TEXT, _pad("lpad"), fails=True),
    Function("rpad", _NUMBERED, TEXT, _pad("rpad").replace("{2}", "' '"), fails=True),
    Function("rpad", (*_NUMBERED, "text"), TEXT, _pad("rpad"), fails=True),
    Function("repeat", _NUMBERED, TEXT, _REPEAT, fails=True),
    Function("replace", ("text", "text", "text"), TEXT, "replace({0}, {1}, {2})"),
    Function("translate", ("text", "text", "text"), TEXT, "translate({0}, {1}, {2})"),
    Function("split_part", (*_TWO, "integer"), TEXT, _SPLIT_PART, fails=True),
    Function("strpos", _TWO, INTEGER, "CAST(strpos({0}, {1}) AS INTEGER)"),
    Function("starts_with", _TWO, BOOLEAN, "starts_with({0}, {1})"),
    Function("ascii", _ONE, INTEGER, "CAST(ascii({0}) AS INTEGER)"),
    Function("md5", _ONE, TEXT, "md5({0})"),
    Form("concat", 1, None, _concat),
    Form("concat_ws", 2, None, _concat_ws),
    Form("regexp_replace", 3, 4, _regexp_replace),
)
