"""Awkward rows, and the expressions that are run over them on both engines."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from kaireon_dagster_tests.plan.expressions.values import (
    BIGINTS,
    BOOLEANS,
    COUNTS,
    DATES,
    DOUBLES,
    FREE_NUMERICS,
    INSTANTS,
    INTEGERS,
    NUMERICS,
    REALS,
    SMALLINTS,
    TEXTS,
    TIMES,
    TIMESTAMPS,
    UUIDS,
)

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Group:
    """Columns with their types, all combinations of their values, and expressions over them."""

    name: str
    types: dict[str, str]
    values: tuple[list[str | None], ...]
    expressions: list[str]

    @property
    def rows(self) -> list[Row]:
        return list(itertools.product(*self.values))


COMPARED = [
    *(f"a {operator} b" for operator in ("=", "<>", "<", "<=", ">", ">=")),
    "a IS DISTINCT FROM b",
    "a IS NOT DISTINCT FROM b",
    "coalesce(a, b)",
    "greatest(a, b)",
    "least(a, b)",
    "nullif(a, b)",
    "a IN (b, NULL)",
    "a NOT IN (a, b)",
    "a BETWEEN b AND a",
    "a NOT BETWEEN b AND b",
    "CASE WHEN a > b THEN a ELSE b END",
    "CASE a WHEN b THEN 1 END",
    "a IS NULL AND b IS NOT NULL",
]
NUMBERS = [
    *(f"a {operator} b" for operator in ("+", "-", "*", "/")),
    *("b - a", "b / a", "-a", "a + 1", "a * 2", "a / 2", "a = 1", "a > '1'", "a + 1.5 < b"),
    *("a BETWEEN 0 AND b", "a IN (b, 1)", "+a"),
]
_KINDS = {
    "smallint": SMALLINTS,
    "integer": INTEGERS,
    "bigint": BIGINTS,
    "numeric(12,2)": NUMERICS,
    "numeric": FREE_NUMERICS,
    "double precision": DOUBLES,
}


def _numbers(left: str, right: str) -> Group:
    extra = [] if "double" in left else ["a % b", "mod(a, b)"]
    if "numeric" not in left + right:
        extra += ["a ^ b", "power(a, b)"]
    return Group(
        f"{left} and {right}",
        {"a": left, "b": right},
        (_KINDS[left], _KINDS[right]),
        [*NUMBERS, *COMPARED, *extra],
    )


PAIRS = [
    _numbers(*pair)
    for pair in (
        ("integer", "integer"),
        ("smallint", "integer"),
        ("smallint", "smallint"),
        ("bigint", "integer"),
        ("bigint", "bigint"),
        ("numeric(12,2)", "integer"),
        ("numeric(12,2)", "numeric(12,2)"),
        ("numeric(12,2)", "bigint"),
        ("numeric", "numeric(12,2)"),
        ("double precision", "double precision"),
        ("double precision", "integer"),
        ("double precision", "numeric(12,2)"),
    )
]
_INTERVALS = [
    *("1 day", "1 month", "-1 month", "1 year 2 months 3 days", "36:30", "1 month -1 day"),
    *("90 minutes", "0.5 seconds", "2 weeks", "-1 year 23:59:59.5", "-00:00:01"),
]
_CALENDAR = ["year", "month", "day", "quarter", "week", "isoyear", "dow", "isodow", "doy", "epoch"]
_CLOCK = ["hour", "minute", "second", "milliseconds", "microseconds"]
_TRUNCATED = [
    *("microseconds", "milliseconds", "second", "minute", "hour", "day", "week"),
    *("month", "quarter", "year"),
]


def _moments(fields: list[str], zone: str) -> list[str]:
    return [
        *(f"extract({field} FROM d)" for field in fields),
        *(f"date_part('{field}', d)" for field in fields),
        *(f"d + interval '{interval}'" for interval in _INTERVALS),
        *(f"d - interval '{interval}'" for interval in _INTERVALS),
        *(f"date_trunc('{field}', d)" for field in _TRUNCATED),
        *("d::timestamp", "d::timestamptz", "d::date", "d::text", "d AT TIME ZONE 'UTC'"),
        *("d = '2024-02-29'", "d >= date '1970-01-01'", "d < timestamp '2024-01-01 00:00:01'"),
        "d > timestamptz '2024-01-31 12:00:00+02'",
        "to_char(d, 'YYYY-MM-DD HH24:MI:SS.MS')",
        "to_char(d, 'HH12:MI:SS.US AM \"day\" DDD, Mon Dy FMMonth FMDay YY %')",
        "interval '1 day' + d",
        f"coalesce(d, {zone})",
        "d || ''",
    ]


SINGLES = [
    Group(
        "double precision",
        {"x": "double precision"},
        (DOUBLES,),
        [
            *("abs(x)", "ceil(x)", "floor(x)", "ceiling(x)", "round(x)", "trunc(x)", "sign(x)"),
            *("sqrt(x)", "exp(x)", "ln(x)", "log(x)", "log10(x)", "-x", "x::integer", "x::bigint"),
            *("x::numeric(12,2)", "x::text", "x::real", "x::smallint", "x || 'x'", "x = 'NaN'"),
            *("power(x, 2)", "power(2, x)", "x IS NULL", "x + x - x * x", "x * 2 + 1 > 0"),
        ],
    ),
    Group(
        "numeric",
        {"x": "numeric(12,2)"},
        (NUMERICS,),
        [
            *("abs(x)", "ceil(x)", "floor(x)", "ceiling(x)", "round(x)", "trunc(x)", "sign(x)"),
            *("x::integer", "x::text", "x::bigint", "x::double precision", "mod(x, 0.7)", "x % 1"),
            *(f"round(x, {decimals})" for decimals in (-11, -10, -2, -1, 0, 1, 2, 3, 10)),
            *(f"trunc(x, {decimals})" for decimals in (-11, -2, -1, 0, 1, 2, 3)),
            *("(x * x)::text", "(x + 1.005)::text", "round(x, 1)::text", "round(x, 4)::text"),
            *("(x * 1.10)::numeric(14,2)", "x / 3", "x / 0.07", "1 / x", "x / -7", "(-x)::text"),
            *("x * 1e3", "x + .5", "x::numeric(5,1)", "round(x / 3, 2)", "round(x / 7, 2)::text"),
        ],
    ),
    Group(
        "integer",
        {"x": "integer"},
        (INTEGERS,),
        [
            *(
                "abs(x)",
                "ceil(x)",
                "round(x)",
                "round(x, -1)",
                "round(x, 1)",
                "trunc(x)",
                "sign(x)",
            ),
            *("sqrt(x)", "mod(x, 3)", "x::boolean", "x::smallint", "x::text", "x::real", "x % -1"),
            *("x::double precision", "x::numeric(5,2)", "x IS NULL", "power(x, 2)", "x + '1'"),
            *("x = '7'", "x::numeric(12,2)::text", "-x", "x % 3", "x / 3", "x / -1", "x / 0"),
            *("(x > 1) IS TRUE", "(x > 1) IS NOT FALSE", "(x > 1) IS UNKNOWN", "NOT x > 1"),
            *("x + 3000000000", "x * 1.5", "x || ' pieces'", "x::bigint * x", "x ISNULL"),
            *("x IN (1, 2.5, '7')", "coalesce(x, 1.5)", "coalesce(NULL, x)", "CAST(x AS text)"),
        ],
    ),
    Group(
        "bigint",
        {"x": "bigint"},
        (BIGINTS,),
        [
            *("abs(x)", "round(x)", "x::integer", "x::numeric", "x::double precision", "x::real"),
            *("sign(x)", "round(x, -3)", "x / 7.0", "x * 1.1", "x::numeric(10,0)"),
        ],
    ),
    Group(
        "smallint", {"x": "smallint"}, (SMALLINTS,), ["abs(x)", "-x", "x::text", "x * x", "sqrt(x)"]
    ),
    Group(
        "real",
        {"a": "real", "b": "real"},
        (REALS, REALS),
        [*COMPARED, "a::text", "a::integer", "a::numeric(10,3)", "a::double precision + 1"],
    ),
    Group(
        "date",
        {"d": "date"},
        (DATES,),
        [
            *_moments(_CALENDAR, "date '2024-01-01'"),
            *("d + 1", "d - 1", "1 + d", "d + 40::smallint", "d - date '2000-01-01'"),
        ],
    ),
    Group(
        "timestamp",
        {"d": "timestamp"},
        (TIMESTAMPS,),
        [*_moments([*_CALENDAR, *_CLOCK], "timestamp '2024-01-01'"), "d::time"],
    ),
    Group(
        "timestamptz",
        {"d": "timestamptz"},
        (INSTANTS,),
        [*_moments([*_CALENDAR, *_CLOCK], "'2024-01-01'"), "d::time"],
    ),
    Group(
        "time",
        {"t": "time"},
        (TIMES,),
        [
            *(f"extract({field} FROM t)" for field in (*_CLOCK, "epoch")),
            *(f"t + interval '{interval}'" for interval in _INTERVALS),
            *("t::text", "t < '12:00'", "t - interval '1 hour'"),
        ],
    ),
    Group(
        "uuid",
        {"u": "uuid"},
        (UUIDS,),
        ["u::text", "u = 'ffffffff-ffff-ffff-ffff-ffffffffffff'", "u > u", "u IS NULL", "u || '!'"],
    ),
    Group(
        "seconds",
        {"x": "double precision"},
        ([None, "1706659200.123456", "1.5e9", "-1.5"],),
        ["to_timestamp(x)"],
    ),
    Group(
        "written dates",
        {"t": "text"},
        ([None, "31/01/2024", "01/02/2024", "29/02/2024", "31/12/1999"],),
        ["to_date(t, 'DD/MM/YYYY')", "to_timestamp(t, 'DD/MM/YYYY')"],
    ),
]
_REGEXES = [
    *("a", "^a", "c$", "^$", "[a-c]+", "[^a]", "a.c", "\\d+", "\\s", "^\\s*abc\\s*$", "(a|b)c"),
    *("a{2,3}", "a?b*", "\\W", "[[:alpha:]]", "[[:space:]]", "h.llo", "\\.", "[\\d,]", "x|y"),
    *("(?:ab)+", "[]a]", "[a-]", "é", "😀", "\\S+?", "[[:punct:]]", "[\\s]", "^.{3}$", "\\%"),
]
_LIKES = ["%", "a%", "_", "a_c", "%b%", "a\\%b", "!%", "\\\\", "", "h_llo", "😀_", "%!%%"]
TEXT_GROUPS = [
    Group(
        "text",
        {"t": "text"},
        (TEXTS,),
        [
            *("ascii(t)", "length(t)", "octet_length(t)", "char_length(t)", "character_length(t)"),
            *("md5(t)", "btrim(t)", "ltrim(t)", "rtrim(t)", "trim(t)", "trim(LEADING FROM t)"),
            *("trim(BOTH 'a' FROM t)", "trim(TRAILING FROM t)", "btrim(t, '')", "btrim(t, 'ab ')"),
            *("ltrim(t, 'ab')", "rtrim(t, 'ab\\')", "t || NULL", "coalesce(t, 'z')", "t || 1.50"),
            *(
                "nullif(t, 'a')",
                "t::boolean",
                "t::integer",
                "t::numeric(5,2)",
                "t::date",
                "t::uuid",
            ),
            *(
                "t::double precision",
                "t::numeric",
                "t::timestamp",
                "t::time",
                "t = 'abc'",
                "t > 'a'",
            ),
            *("regexp_replace(t, '[^a-z]', '', 'g')", "regexp_replace(t, 'b', 'X')"),
            *("regexp_replace(t, 'a+', '<>', 'g')", "regexp_replace(t, 'B', 'X', 'gi')"),
            *("regexp_replace(t, '^\\s+', '', 'g')", "regexp_replace(t, ',.*$', '')"),
            *("replace(t, '', 'x')", "translate(t, 'abc', 'x')", "concat(t)", "concat(t, 1, t)"),
            *(f"t ~ '{regex}'" for regex in _REGEXES),
            *("t ~* 'A'", "t !~ 'a'", "t !~* 'ABC'", "t ILIKE 'A%'", "t NOT ILIKE '%B'"),
            *(f"t LIKE '{pattern}'" for pattern in _LIKES),
            *(f"t NOT LIKE '{pattern}' ESCAPE '!'" for pattern in _LIKES if pattern != "!%"),
        ],
    ),
    Group(
        "text and count",
        {"t": "text", "n": "integer"},
        (TEXTS, COUNTS),
        [
            *("left(t, n)", "right(t, n)", "substring(t, n)", "substr(t, n)", "lpad(t, n)"),
            *("rpad(t, n)", "lpad(t, n, 'xy')", "rpad(t, n, 'xy')"),
            *("lpad(t, n, '')", "substring(t FROM n)", "substring(t FOR n)", "t || n"),
            *("concat(t, n)", "concat_ws('-', t, n, t)", "concat_ws(t, n, t, 'z')"),
            *("split_part(t, ',', n)", "split_part(t, 'b', n)", "split_part(t, '', n)"),
        ],
    ),
    Group(
        "repeated",
        {"t": "text", "n": "integer"},
        (TEXTS, [None, "-1", "0", "1", "3", "10000", "10001"]),
        ["repeat(t, n)", "repeat(t, 2)"],
    ),
    Group(
        "text and two counts",
        {"t": "text", "n": "integer", "m": "integer"},
        (TEXTS[:9], COUNTS, COUNTS),
        ["substring(t, n, m)", "substr(t, n, m)", "substring(t FROM n FOR m)"],
    ),
    Group(
        "two texts",
        {"a": "text", "b": "text"},
        (TEXTS, TEXTS),
        [
            *COMPARED,
            *("strpos(a, b)", "position(b IN a)", "starts_with(a, b)", "replace(a, b, '<>')"),
            *("translate(a, b, 'xy')", "translate(a, 'abc', b)", "a || b", "split_part(a, b, 1)"),
            *("split_part(a, b, 2)", "split_part(a, b, -1)", "btrim(a, b)", "concat(a, b)"),
            *("lpad(a, 5, b)", "rpad(a, 5, b)", "concat_ws(b, a, NULL, a)"),
        ],
    ),
    Group(
        "dates and counts",
        {"d": "date", "n": "integer"},
        (DATES, [None, "0", "1", "-1", "12", "13", "29", "30", "-400", "36500"]),
        [
            *("d + n", "d - n", "n + d", "make_date(2024, n, 1)", "make_date(2024, 2, n)"),
            "make_date(n, 2, 29)",
        ],
    ),
    Group("two dates", {"a": "date", "b": "date"}, (DATES, DATES), [*COMPARED, "a - b"]),
    Group(
        "date and timestamp",
        {"a": "date", "b": "timestamp"},
        (DATES, TIMESTAMPS),
        COMPARED,
    ),
    Group(
        "date and timestamptz",
        {"a": "date", "b": "timestamptz"},
        (DATES, INSTANTS),
        COMPARED,
    ),
    Group(
        "booleans",
        {"a": "boolean", "b": "boolean"},
        (BOOLEANS, BOOLEANS),
        [
            *COMPARED,
            *("a AND b", "a OR b", "NOT a", "a IS TRUE", "a IS NOT TRUE", "a IS FALSE"),
            *("a::integer", "a::text", "a || 'x'", "CASE WHEN a THEN 1 WHEN b THEN 2 END"),
            *("a AND TRUE", "a OR NULL", "(a AND b) IS NOT TRUE OR b", "a NOTNULL"),
        ],
    ),
    Group(
        "order of evaluation",
        {"a": "integer", "b": "integer"},
        (INTEGERS, INTEGERS),
        [
            *("b <> 0 AND a / b > 1", "b = 0 OR a / b > 1", "a / b > 1 AND b <> 0"),
            *("CASE WHEN b = 0 THEN 0 ELSE a / b END", "coalesce(b, a / 0)", "a / b + a / b"),
            *("(a + b) * (a + b)", "NOT (b <> 0 AND a / b > 1)", "a * b / (a * b)"),
            *("a IN (1, b / a)", "coalesce(a, 1.5)", "CASE WHEN a > b THEN a ELSE 0.5 END"),
        ],
    ),
]
GROUPS = [*PAIRS, *SINGLES, *TEXT_GROUPS]
