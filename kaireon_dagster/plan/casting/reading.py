"""Text read as a type, with the spellings that PostgreSQL's input functions take.

DuckDB reads more than PostgreSQL does: `12.0`, `1e5` and `0x1F` as integers, `1_000` as any number,
`nan` as JSON. Every reader first tests for the plain spelling, which costs little (for most
types: does the value print as it was written?), and takes a regular expression only to the rest.

Each function gives SQL that is NULL where the text does not read.
"""

from __future__ import annotations

from typing import Final

from kaireon_dagster.plan.casting.patterns import BLANKS, WHITE, matches, padded, rewritten
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import FREE_SCALE, SqlType

_DIGITS_IN_64_BITS: Final = 18
_WHOLE: Final = padded(r"[+-]?\d+")
_PLAIN: Final = padded(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_PLAIN_FREE: Final = padded(rf"[+-]?(?:\d+(?:\.\d{{0,{FREE_SCALE}}}0*)?|\.\d{{1,{FREE_SCALE}}}0*)")
_LONGEST_SHIFT: Final = 999
_SCIENTIFIC: Final = padded(r"([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))[eE]([+-]?\d{1,3})")
"""Groups: sign, whole digits, fraction (one of two), exponent."""

_ZERO: Final = padded(r"[+-]?[0.]+(?:[eE][+-]?\d+)?")
_NOT_FINITE: Final = padded(r"[+-]?(?i:nan|inf|infinity)")
_TRUE: Final = ("tr", "tru", "true", "t", "ye", "yes", "y", "on", "1")
_FALSE: Final = ("fa", "fal", "fals", "false", "f", "n", "no", "of", "off", "0")
_HEX: Final = r"[0-9a-fA-F]"
_GROUPS: Final = rf"{_HEX}{{4}}(?:-?{_HEX}{{4}}){{7}}"
_UUID: Final = rf"{_GROUPS}|\{{{_GROUPS}\}}"
_BYTES: Final = rf"\\x(?:{_HEX}{{2}})*"
_JSON_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_JSON_EMPTY: Final = '""'
# DuckDB takes trailing commas, NaN and Infinity for JSON.
_JSON_WRONG: Final = rf"(?i),{WHITE}*[\]}}]|nan|inf|e[+-]?\d{{5}}"
_JSON_NUL: Final = r"(?:^|[^\\])(?:\\\\)*\\u0000"
_JSON_SUSPECT: Final = rf"{_JSON_WRONG}|\\u0000"


def read_integer(sql: str, target: SqlType) -> str:
    """Digits with a sign, nothing else, within the range of the type."""
    value = _try(sql, target.duckdb)
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} THEN {value} "
        f"WHEN {matches(sql, _WHOLE)} THEN {value} END"
    )


def read_numeric(sql: str, target: SqlType) -> str:
    """Decimal or exponent form, rounded half away from zero to the scale.

    Without a declared precision nothing is rounded: a value that needs more decimals than are
    kept does not read. Exponents have at most three digits.
    """
    value = _try_decimal(sql, target)
    plain, shifted = _PLAIN, _try(_shifted(sql), target.duckdb)
    if target.precision is None:
        plain, shifted = _PLAIN_FREE, _unrounded(_shifted(sql), target.duckdb)
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} THEN {value} "
        f"WHEN {matches(sql, plain)} THEN {value} "
        f"WHEN {matches(sql, _SCIENTIFIC)} THEN {shifted} END"
    )


def _try_decimal(sql: str, target: SqlType) -> str:
    # DuckDB 1.5 needs 200 times as long for a decimal of more than 64 bits as for a smaller one.
    if target.digits <= _DIGITS_IN_64_BITS or target.decimals > _DIGITS_IN_64_BITS:
        return _try(sql, target.duckdb)
    narrow = _try(sql, f"DECIMAL({_DIGITS_IN_64_BITS},{target.decimals})")
    return f"coalesce(CAST({narrow} AS {target.duckdb}), {_try(sql, target.duckdb)})"


def _shifted(sql: str) -> str:
    # DuckDB loses digits when it applies an exponent to a decimal, so the point is moved in text.
    sign, whole, fraction, power = (
        rewritten(sql, _SCIENTIFIC, group) for group in (r"\1", r"\2", r"\3\4", r"\5")
    )
    digits = (
        f"repeat('0', {_LONGEST_SHIFT}) || {whole} || {fraction} || repeat('0', {_LONGEST_SHIFT})"
    )
    point = f"{_LONGEST_SHIFT} + length({whole}) + CAST({power} AS INTEGER)"
    return f"{sign} || left({digits}, {point}) || '.' || substr({digits}, {point} + 1)"


def _unrounded(plain: str, duckdb: str) -> str:
    return f"CASE WHEN {matches(plain, _PLAIN_FREE)} THEN {_try(plain, duckdb)} END"


def read_float(sql: str, target: SqlType) -> str:
    """Decimal or exponent form, `NaN`, `Infinity` and `inf`; too large and too small are faults."""
    value = _try(sql, target.duckdb)
    return (
        f"CASE WHEN contains({sql}, '_') THEN NULL "
        f"WHEN isfinite({value}) AND {value} <> 0 THEN {value} "
        f"WHEN {value} = 0 AND {matches(sql, _ZERO)} THEN {value} "
        f"WHEN {matches(sql, _NOT_FINITE)} THEN {value} END"
    )


def read_boolean(sql: str, target: SqlType) -> str:
    """`true`, `yes`, `on`, `1` and their opposites, in any case, and what is left of them."""
    value = _try(sql, target.duckdb)
    word = f"lower(trim({sql}, {literal(BLANKS)}))"
    return (
        f"CASE WHEN {value} IS NOT NULL THEN {value} "
        f"WHEN {word} IN ({_words(_TRUE)}) THEN TRUE "
        f"WHEN {word} IN ({_words(_FALSE)}) THEN FALSE END"
    )


def read_uuid(sql: str, target: SqlType) -> str:
    """Hex digits in any case, a hyphen allowed after every four, braces allowed around."""
    value = _try(sql, target.duckdb)
    return (
        f"CASE WHEN CAST({value} AS VARCHAR) = {sql} THEN {value} "
        f"WHEN {matches(sql, _UUID)} THEN {value} END"
    )


def read_jsonb(sql: str, target: SqlType) -> str:
    r"""Standard JSON, less what jsonb cannot hold: `\u0000`, and exponents of five digits."""
    bare = f"regexp_replace({sql}, {literal(_JSON_STRING)}, {literal(_JSON_EMPTY)}, 'g')"
    return (
        f"CASE WHEN regexp_matches({sql}, {literal(_JSON_SUSPECT)}) "
        f"AND (regexp_matches({bare}, {literal(_JSON_WRONG)}) "
        f"OR regexp_matches({sql}, {literal(_JSON_NUL)})) THEN NULL "
        f"ELSE {_try(sql, target.duckdb)} END"
    )


def read_bytea(sql: str, target: SqlType) -> str:
    r"""The hex form, `\x` and two digits for each byte."""
    return f"CASE WHEN {matches(sql, _BYTES)} THEN unhex(substr({sql}, 3)) END"


def read_text(sql: str, target: SqlType) -> str:
    """Text of at most the given length; blanks beyond it are cut off, as PostgreSQL does."""
    limit = target.precision
    return (
        f"CASE WHEN length({sql}) <= {limit} THEN {sql} "
        f"WHEN length(rtrim({sql}, ' ')) <= {limit} THEN left({sql}, {limit}) END"
    )


def read_grouped(sql: str, thousands: str, point: str, target: SqlType) -> str:
    """A number with declared separators: thousands in groups of three, or not grouped at all."""
    group = f"[{thousands}]" if thousands else ""
    grouped = rf"\d{{1,3}}(?:{group}\d{{3}})+|" if thousands else ""
    pattern = padded(rf"[+-]?(?:{grouped}\d+)(?:[{point}]\d+)?")
    plain = f"replace({sql}, {literal(thousands)}, '')" if thousands else sql
    plain = f"replace({plain}, {literal(point)}, '.')"
    read = read_integer if target.is_integer else read_numeric
    return f"CASE WHEN {matches(sql, pattern)} THEN {read(plain, target)} END"


def _try(sql: str, duckdb: str) -> str:
    return f"TRY_CAST({sql} AS {duckdb})"


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(literal(word) for word in words)
