"""Casts against PostgreSQL: text read as each type, and every pair of types."""

from __future__ import annotations

import re
import struct
from decimal import ROUND_HALF_UP, Decimal, localcontext
from itertools import product

import duckdb
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaireon_dagster.plan.casting import CastRefused, cast
from kaireon_dagster.plan.types import TEXT, SqlType
from kaireon_dagster_tests.plan.expressions.engines import RAISED, Engines, read_text

NUMBERS = """
1| 1 |+1|-1|12.0|1e5|0x1F|1_000|1.5|-|+|.|.5|1.|1e-1|0b1|0o7|00012|+ 1|--1|1 2|1E2|12,3|1,234|1e
2147483648|-2147483648|2147483647.4|32768|9223372036854775807|9223372036854775808|true|null
1.005|-1.005|1.004999|9999999999.994|9999999999.995|1e9|1e10|5e-3|1.e2|.e2|.5e1|1e400|1e-400|7e-46
0.0049999999999999999999999999|1.0050000000000000000000000000000001|1_0.5|1e1.5|1d5|٣
123456789e-8|-2907555165693408040.e-100|95.594590e+10|59855472404261354.E-8|044063499029.4148990e3
NaN|nan|Infinity|-Infinity|inf|+inf|infinit|-nan|4.9e-324|2e-324|0e999|1e309|3.4028235e38|1e39
1.4e-45|16777217|0.1|123456789012345678.0123456789|0.12345678901
"""
WORDS = """
t|true|T|TRUE|tr|y|yes|ye|on|o|of|off|n|no|f|fa|2|01| t |10|1.0|00|oN
a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11
{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}|a0eebc999c0b4ef8bb6d6bb9bd380a11
a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11|{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11
a-0eebc999c0b4ef8bb6d6bb9bd380a11|a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11
{}|[1]|{a:1}|[1,]|[nan]|[1, Infinity]|"x"|"\\u0000"|"a\\\\u0000"|"\\ud800"|"\\ud83d\\ude00"|01|1e131072
{"a":"nan,]"}|{"a":1,"a":2}|[[1],[2,]]|// c|tru|'a'|\ufeff{}|\\xDEAD|\\x|\\xDEA|\\xzz
"""
MOMENTS = """
2024-01-31|2024-1-5| 2024-01-31 |2024/01/31|20240131|2024-01-31 10:00|2024-01-31 10:00:00+02
2024-01-31T10:00:00Z|2024-01-31 10|2024-01-31T10|2024-01-31 10:00:00.1234567|2024-01-31 1:2:3
2024-01-31 10:00:00.1234565|2024-01-31 10:00:00.|2024-01-31 24:00:00|2024-01-31 23:59:60
0000-01-01|0001-01-01|10000-01-01|2023-02-29|2024-02-29|1900-02-29|infinity|-infinity|epoch|now
today|01/02/2024|31/01/2024|2024-01-31 10:00:00 +02:00|2024-01-31 10:00:00+0200
2024-01-31 10:00:00-15:59|2024-01-31 10:00:00+16:00|2024-01-31 10:00:00+15:60
2024-01-31 10:00:00 UTC|2024-01-31 10:00:00 Europe/Berlin|2024-01-31t10:00:00z
2024-01-31  10:00:00|2024-13-01|2024-01-32|24-01-31|2024-01-31 10:60:00
2024-01-31 BC|0044-03-15 (BC)|2024-01-31 10:00:00 PM|2024-Jan-31|2024-01-31T10:00:00.5+05:30
2024-01-31Z|2024-01-31 10:00Z|2024-01-31 10:00:00+2|2024-01-31 10:00:00.123+02|2024-031
2024-01-31 100000|20240131T100000|2024-001-31|02024-01-31|2024-01-31 10:0:0|2024-01-31 10:00:00 Z
2024-01-31 10:00:00.9999995|2024-01-31,10:00|1582-10-10|9999-12-31 23:59:59.999999
9999-12-31 23:59:59.9999999|2024-01-31 10:00:00,5|10:00|10:00:00|10:00:00.5|24:00:00|1:2:3|25:00
10:00 PM| 10:00 |10:00:00.1234567|10:00:00.123000000|1969-12-31 23:59:59.5
"""
BLANKS = [
    "\t1",
    "\n1",
    "1\r",
    "\v1",
    "\f1",
    "TrUe\t",
    '"\t"',
    "2024-01-31\t10:00:00",
    " ",
    "1\u00a0",
]
SPELLINGS = (
    sorted(
        {
            text
            for page in (NUMBERS, WORDS, MOMENTS)
            for line in page.split("\n")
            for text in line.split("|")
        }
        - {""}
    )
    + BLANKS
)
TARGETS = [
    *("smallint", "integer", "bigint", "numeric(12,2)", "numeric(38,10)", "numeric", "real"),
    *("double precision", "boolean", "date", "time", "timestamp", "timestamptz", "uuid", "jsonb"),
]
# What PostgreSQL reads and the cast refuses; every other difference is a failure.
STRICTER = {
    "integers": r"[+-]?0[xbo].*|.*_.*",
    "numeric": r"[+-]?0[xbo].*|.*_.*|\s*[+-]?(nan|inf(inity)?)|.*e[+-]?\d{4,}",
    # Without a precision nothing is rounded, and 28 digits are kept before the point.
    "unrounded": r".*\.\d{11,}|.*e[+-]?\d{2,}|\d{29,}.*",
    "float": r"[+-]?0x.*|nan\(.*",
    "moment": r"[+-]?infinity|epoch|now|today|.*BC.*|.*[a-z]{3}.*|.*[AP]M|.*/.*|.*:60|.*24:00.*"
    r"|\d{8}.*|\d{4}-\d{3}|\d{5,}-.*|.*,.*|.*-\d\d[Z]|.*\+\d|\S+\s\d{6}|[\d.:]+\s*[Z+-].*|.*\s\d{6}",
    "time": r".*-.*|10:00:00\.1234567",
    "jsonb": r".*[eE][+-]?\d{5,}",
}
RULES = {
    **dict.fromkeys(("smallint", "integer", "bigint"), ("integers",)),
    **dict.fromkeys(("numeric(12,2)", "numeric(38,10)"), ("numeric",)),
    "numeric": ("numeric", "unrounded"),
    **dict.fromkeys(("real", "double precision"), ("float",)),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), ("moment",)),
    "time": ("moment", "time"),
    "jsonb": ("jsonb",),
}


@pytest.mark.parametrize("target", TARGETS)
def test_text_reads_as_in_postgres(engines: Engines, target: str) -> None:
    type = SqlType.parse(target)
    engines.fill({"x": "text"}, [(text,) for text in (None, *SPELLINGS)])
    # One spelling of JSON, since PostgreSQL writes its values anew.
    shown = "::jsonb::text" if type.name == "jsonb" else "::text"
    expected = engines.in_postgres(f"x::{target}{shown}")
    found = _cast_in_duckdb(engines, type)
    allowed = "|".join(f"(?:{STRICTER[rule]})" for rule in RULES.get(target, ()))
    for text, theirs, ours in zip((None, *SPELLINGS), expected, found, strict=True):
        if type.name == "jsonb" and theirs != RAISED and ours != RAISED:
            continue
        refused = ours == RAISED and theirs is not None
        assert _same(theirs, ours, type) or (
            refused and re.fullmatch(allowed, text or "", re.IGNORECASE)
        ), (
            text,
            theirs,
            ours,
        )


def _cast_in_duckdb(engines: Engines, type: SqlType) -> list[str | None]:
    written = cast("x", TEXT, type)
    shown = cast("v", type, TEXT).value
    rows = engines.duck.execute(
        f"SELECT CASE WHEN f THEN '{RAISED}' ELSE {shown} END "
        f"FROM (SELECT i, {written.value} AS v, {written.fault} AS f FROM data) ORDER BY i"
    )
    return [row[0] for row in rows.fetchall()]


def _same(theirs: str | None, ours: str | None, type: SqlType) -> bool:
    if theirs == ours or theirs is None or ours is None or RAISED in (theirs, ours):
        return theirs == ours
    if type.is_float:
        size = "<f" if type.name == "real" else "<d"
        return struct.pack(size, float(theirs)) == struct.pack(size, float(ours))
    return type.name == "numeric" and Decimal(theirs) == Decimal(ours)


VALUES = {
    "double precision": [
        *(
            "0",
            "-0",
            "1",
            "-1.5",
            "2.5",
            "0.1",
            "1e15",
            "1e14",
            "999999999999999.9",
            "1.005",
            "1e22",
        ),
        *(
            "4503599627370497.5",
            "9007199254740993",
            "2147483647.5",
            "-2147483648.5",
            "2147483647.4",
        ),
        *("32767.5", "9223372036854775807", "-9223372036854775808", "1e300", "NaN", "-Infinity"),
        *(
            "1e-5",
            "0.0001",
            "123456.789",
            "5e-324",
            "3.5e38",
            "1e-46",
            "99999.995",
            "9999999999.995",
        ),
    ],
    "real": ["0", "1.5", "2.5", "0.1", "1234567", "16777216", "32767.5", "NaN", "1e20", "1e-7"],
    "numeric(20,6)": [
        *("0", "1.5", "-2.5", "2.5", "99999999999999.999999", "-0.000001", "32767.5"),
        *("2147483647.499999", "2147483647.5", "12345678.9"),
    ],
    "bigint": ["0", "1", "-1", "2147483648", "9223372036854775807", "-9223372036854775808"],
    "integer": ["0", "1", "-1", "2147483647", "-2147483648", "32768"],
    "smallint": ["0", "32767", "-32768"],
    "boolean": ["true", "false"],
    "date": ["2024-01-31", "0001-01-01", "9999-12-31", "1969-12-31"],
    "timestamp": ["2024-01-31 10:00:00", "1969-12-31 23:59:59.5", "9999-12-31 23:59:59.999999"],
    "timestamptz": ["2024-01-31 10:00:00+02", "1969-12-31 23:59:59.5Z"],
    "time": ["10:00:00", "23:59:59.999999", "00:00:00.1"],
    "uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
}


@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in product(VALUES, (*VALUES, "text", "numeric(6,2)")) if pair[0] != pair[1]],
)
def test_types_convert_as_in_postgres(engines: Engines, source: str, target: str) -> None:
    made, wanted = SqlType.parse(source), SqlType.parse(target)
    engines.fill({"x": source}, [(value,) for value in (None, *VALUES[source])])
    try:
        written = cast("x", made, wanted)
    except CastRefused:
        with pytest.raises(psycopg.errors.CannotCoerce):
            engines.postgres.execute(f"SELECT x::{target} FROM data")
        return
    shown = cast("v", wanted, TEXT).value
    rows = engines.duck.execute(
        f"SELECT CASE WHEN f THEN '{RAISED}' ELSE {shown} END FROM (SELECT i, "
        f"{written.value} AS v, {written.fault or 'FALSE'} AS f FROM data) ORDER BY i"
    ).fetchall()
    expected = engines.in_postgres(f"x::{target}")
    for value, theirs, (ours,) in zip((None, *VALUES[source]), expected, rows, strict=True):
        special = ours == RAISED and theirs in ("NaN", "Infinity", "-Infinity")
        assert _same(theirs, ours, wanted) or special, (value, theirs, ours)


@pytest.mark.parametrize("target", [*TARGETS, "bytea"])
def test_empty_text_is_null_and_no_fault(target: str) -> None:
    assert read_text("", target) is None
    assert read_text(None, target) is None
    assert read_text("no such value", target) == "fault"


def test_text_needs_no_reading() -> None:
    assert cast("x", TEXT, TEXT).fault is None
    assert read_text("\\xDEad", "bytea") == "\\xdead"


@pytest.mark.parametrize(
    ("text", "value"),
    [("abc", "abc"), ("", ""), ("abcd", "fault"), ("abc  ", "abc"), ("日本語", "日本語")],
)
def test_limited_text_is_never_cut_off(text: str, value: str) -> None:
    written = cast("x", TEXT, SqlType.parse("varchar(3)"))
    row = duckdb.execute(
        f"SELECT CASE WHEN {written.fault} THEN 'fault' ELSE {written.value} END "
        "FROM (SELECT $1::VARCHAR AS x)",
        [text],
    ).fetchone()
    assert row == (value,)


@given(
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from([(12, 2), (38, 10), (18, 4), (5, 0), (4, 4)]),
)
@settings(max_examples=100, deadline=None)
def test_decimals_are_rounded_half_away_from_zero(text: str, size: tuple[int, int]) -> None:
    precision, scale = size
    with localcontext() as context:
        context.prec = 200
        exact = Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    fits = abs(exact) < Decimal(10) ** (precision - scale)
    found = read_text(text, f"numeric({precision},{scale})")
    assert (Decimal(str(found)) == exact) if fits else (found == "fault")


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=60, deadline=None)
def test_doubles_print_as_theyread_text(value: float) -> None:
    printed = read_text(repr(value), "double precision")
    assert struct.pack("<d", float(str(printed))) == struct.pack("<d", value)
