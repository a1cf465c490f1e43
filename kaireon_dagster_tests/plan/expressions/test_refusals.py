"""What is not part of the language, and where the refusal points."""

from __future__ import annotations

import pickle

import pytest

from kaireon_dagster.plan.expressions import ExpressionRefused, compile_expression
from kaireon_dagster.plan.types import SqlType

COLUMNS = {
    name: SqlType.parse(spelling)
    for name, spelling in {
        "a": "integer",
        "b": "integer",
        "n": "numeric(12,2)",
        "x": "double precision",
        "t": "text",
        "s": "text",
        "d": "date",
        "ts": "timestamp",
        "o": "boolean",
        "j": "jsonb",
        "r": "real",
        "Amount": "numeric(12,2)",
        "ORDER_ID": "integer",
    }.items()
}


def refuse(expression: str) -> ExpressionRefused:
    with pytest.raises(ExpressionRefused) as refused:
        compile_expression(expression, COLUMNS)
    return refused.value


@pytest.mark.parametrize(
    ("expression", "column", "reason"),
    [
        ("(SELECT 1)", 9, "a subquery"),
        ("EXISTS (SELECT 1)", 16, "a subquery"),
        ("a IN (SELECT 1)", 1, "query is not allowed"),
        ("SELECT a", 8, "a statement"),
        ("DROP TABLE x", 12, "not allowed"),
        ("COPY t TO 'x'", 6, "not allowed"),
        ("a; b", 2, "without `;`"),
        ("a -- hidden", 1, "comments"),
        ("a /* hidden */ + 1", 1, "comments"),
        ("$1", 2, "a parameter"),
        (":name", 1, "a parameter"),
        ("? + 1", 1, "a parameter"),
        ("*", 1, "`*`"),
        ("count(*)", 7, "`*`"),
        ("a b", 1, "side by side"),
        ("a AS b", 1, "side by side"),
        ("'a' 'b'", 1, "side by side"),
        ("t.a", 1, "qualified name"),
        ("pg_catalog.upper(t)", 1, "qualified name"),
        ('"upper"(t)', 1, "without quotes"),
        ("(a, b)", 2, "a row of values"),
        ("ARRAY[1, 2]", 7, "not allowed"),
        ("a[1]", 1, "not allowed"),
        ('t COLLATE "C"', 1, "not allowed"),
        ("j ->> 'k'", 1, "not allowed"),
        ("sum(a) OVER ()", 1, "a window function"),
        ("upper(DISTINCT t)", 16, "DISTINCT"),
        ("t SIMILAR TO 'x'", 1, "not allowed"),
        ("a BETWEEN SYMMETRIC 1 AND 2", 1, "symmetric"),
        ("E'a\\n'", 1, "not allowed"),
        ("X'ff'", 1, "not allowed"),
        ("$$a$$", 1, "not allowed"),
        ("a & b", 1, "not allowed"),
        ("", 1, "is empty"),
        ("   ", 1, "is empty"),
        ("a +", 3, "cannot be parsed"),
        ("'open", 1, "not closed"),
        ("(a", 2, "cannot be parsed"),
        ("upper(t => 'x')", 12, "not allowed"),
    ],
)
def test_only_scalar_expressions_are_allowed(expression: str, column: int, reason: str) -> None:
    refused = refuse(expression)
    assert reason in refused.reason
    assert refused.column == column


@pytest.mark.parametrize(
    "name",
    [
        *("now", "random", "clock_timestamp", "gen_random_uuid", "nextval", "timeofday"),
        *("sum", "count", "row_number", "array_agg", "pg_sleep", "pg_read_file", "read_csv"),
        *("getenv", "current_setting", "set_config", "version", "dblink", "lo_import", "query"),
        *("generate_series", "unnest", "error", "if", "try", "reverse", "regexp_matches", "eval"),
    ],
)
def test_other_functions_are_refused(name: str) -> None:
    assert name in refuse(f"{name}(t)").reason


@pytest.mark.parametrize("word", ["current_date", "CURRENT_TIMESTAMP", "localtime"])
def test_the_clock_is_refused(word: str) -> None:
    assert "changes from run to run" in refuse(word).reason


@pytest.mark.parametrize("word", ["session_user", "current_user", "user"])
def test_words_of_the_session_are_no_columns(word: str) -> None:
    assert "no column" in refuse(word).reason


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("t > a", "mixes text and integer: cast one of them first"),
        ("t > 5", "mixes text and integer"),
        ("t + 1", "no text + integer: cast it first"),
        ("t = d", "mixes text and date"),
        ("d > ts::text", "mixes date and text"),
        ("o = 1", "mixes boolean and integer"),
        ("coalesce(t, 1)", "coalesce mixes text and integer"),
        ("CASE WHEN o THEN t ELSE a END", "CASE mixes text and integer"),
        ("CASE WHEN a THEN 1 END", "WHEN needs a boolean, not integer"),
        ("a AND o", "AND needs a boolean"),
        ("NOT t", "NOT needs a boolean"),
        ("a IS TRUE", "IS needs a boolean"),
        ("a || b", "cast one side to text"),
        ("upper(a)", "there is no upper(integer), only upper(text)"),
        ("left(t, n)", "there is no left(text, numeric(12,2))"),
        ("sqrt(n)", "cast it to double precision first"),
        ("n ^ 2", "cast to double precision first"),
        ("x % 2", "cast both sides to numeric"),
        ("r + 1", "no arithmetic on real"),
        ("abs(r)", "there is no abs(real)"),
        ("round(x, 2)", "cast to numeric first"),
        ("round(n, a)", "whole-number constant"),
        ("d - 1.5", "no date - numeric(2,1)"),
        ("ts - ts", "no timestamp - timestamp"),
        ("d = '2024-02-30'", "does not read as date"),
        ("a = 'x'", "does not read as integer"),
        ("a > '99999999999'", "does not read as integer"),
        ("o = 'maybe'", "does not read as boolean"),
        ("a::date", "cannot be cast to date"),
        ("t::varchar(3)", "no cast to varchar(3)"),
        ("t::regclass", "no cast to regclass"),
        ("t::numeric(50,2)", "precision must be between"),
        ("concat(o)", "does not take booleans"),
        ("j = j", "does not compare jsonb"),
        ("extract(hour FROM d)", "extract has no 'hour' of date"),
        ("date_trunc('fortnight', ts)", "date_trunc takes"),
        ("date_trunc(t, ts)", "must be a string constant"),
        ("to_char(ts, 'YYYY-QQ')", "to_char does not take"),
        ("to_date(t, 'DD/MM')", "must tell year, month and day"),
        ("ts AT TIME ZONE 'Europe/Berlin'", "takes 'UTC' only"),
        ("interval '1 day ago' + d", "is not understood"),
        ("interval 'P1D' + d", "is not understood"),
        ("interval '1.5 days' + d", "only seconds"),
        ("interval '1 fortnight' + d", "no unit 'fortnight'"),
        ("t LIKE s", "must be a string constant"),
        ("t LIKE 'a\\'", "must not end with its escape character"),
        ("t LIKE 'a' ESCAPE 'xy'", "one character"),
        ("t ~ s", "must be a string constant"),
        ("a = b = 1", "put parentheses"),
        ("a = NOT o", "put parentheses"),
        ("t ~ 'x' || 'y'", "put parentheses"),
        ("substring(t)", "only substring(text, integer)"),
        ("nullif(a)", "takes 2 to 2 arguments"),
        ("'a' + 'b'", "types of both operands are open"),
        ("12345678901234567890123456789012345678901", "more than 38 digits"),
        ("n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n", "round"),
    ],
)
def test_types_are_checked_before_a_row_is_read(expression: str, reason: str) -> None:
    assert reason in refuse(expression).reason


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?i)a", "a\\b", "\\1", "(a)\\1", "(?=a)", "(?!a)", "\\y", "\\m", "a**", "*a", "a{300}"),
        *("a{3,2}", "[a", "(a", "a)", "a|", "(|a)", "()", "[[.a.]]", "[[:foo:]]", "[z-a]", "\\"),
        *(
            "***=a",
            "[\\d-z]",
            "\\A",
            "\\x41",
            "\\u0041",
            "a{",
            "(a{9}){9}",
            "a" * 501,
            "^*",
            "a{,3}",
        ),
    ],
)
def test_regexes_that_need_not_mean_the_same_are_refused(pattern: str) -> None:
    assert refuse(f"t ~ '{pattern}'").column == 1


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        ("a|b", "x"),
        ("(a)", "x"),
        ("a*b*", "x"),
        ("a+?", "x"),
        ("x*", "-"),
        ("^", "-"),
        ("a", "\\1"),
    ],
)
def test_replacements_that_need_not_be_the_same_are_refused(pattern: str, replacement: str) -> None:
    refuse(f"regexp_replace(t, '{pattern}', '{replacement}')")


def test_names_fold_as_in_postgres() -> None:
    assert compile_expression("A + B", COLUMNS).columns == {"a", "b"}
    assert compile_expression("Amount", COLUMNS).columns == {"Amount"}
    assert compile_expression('"Amount"', COLUMNS).columns == {"Amount"}
    assert refuse("amount").suggestions == ("Amount",)
    assert refuse('"A"').column == 1


def test_the_nearest_names_are_suggested() -> None:
    assert refuse("ordr_id + 1").suggestions == ("ORDER_ID",)
    assert "length" in refuse("lenght(t)").suggestions
    assert refuse("extract(monht FROM d)").suggestions == ("month",)
    assert "did you mean 'ORDER_ID'?" in str(refuse("ordr_id + 1"))


def test_the_innermost_part_is_pointed_at() -> None:
    refused = refuse("a + 1 > 2 AND upper(nme) = 'X'")
    assert (refused.position, refused.column) == (20, 21)
    assert refused.expression[refused.position :].startswith("nme")


def test_refusals_pickle() -> None:
    refused = refuse("a + nme")
    assert str(pickle.loads(pickle.dumps(refused))) == str(refused)


@pytest.mark.parametrize("expression", ["(" * 3000 + "a" + ")" * 3000, "a" + "+a" * 6000])
def test_huge_expressions_are_refused(expression: str) -> None:
    refuse(expression)


def test_nesting_that_multiplies_is_refused() -> None:
    assert "too complicated" in refuse("/".join(["x"] * 2) + " / (x" * 12 + ")" * 12).reason


def test_names_and_constants_cannot_leave_their_quotes() -> None:
    columns = {'a"; DROP TABLE x; --': SqlType.parse("text")}
    compiled = compile_expression("\"a\"\"; DROP TABLE x; --\" || '''; DROP'", columns)
    assert compiled.sql == "(\"a\"\"; DROP TABLE x; --\" || '''; DROP')"


def test_what_cannot_fail_says_so() -> None:
    for expression in ("n + 1", "n / 3", "upper(t)", "a > b", "coalesce(t, 'x')", "a / 2", "n * n"):
        assert not compile_expression(expression, COLUMNS).can_fail, expression
    for expression in ("a / b", "a + b", "t::integer", "x * x", "n / n", "sqrt(x)", "a / -1"):
        assert compile_expression(expression, COLUMNS).can_fail, expression


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        *(("a", "integer"), ("1", "integer"), ("3000000000", "bigint"), ("1.50", "numeric(3,2)")),
        *(("a + n", "numeric(13,2)"), ("n * n", "numeric(24,4)"), ("a / b", "integer")),
        *(("n / a", "numeric(38,16)"), ("x + n", "double"), ("'x'", "text"), ("NULL", "text")),
        *(("d + 1", "date"), ("d + interval '1 day'", "timestamp"), ("d - d", "integer")),
        *(("round(n, 1)", "numeric(12,1)"), ("ceil(a)", "double"), ("length(t)", "integer")),
        *(("extract(year FROM d)", "numeric(6,0)"), ("date_trunc('day', d)", "timestamptz")),
        *(("coalesce(a, n)", "numeric(12,2)"), ("t::jsonb", "jsonb"), ("a > 1", "boolean")),
    ],
)
def test_types_follow_postgres(expression: str, type: str) -> None:
    assert compile_expression(expression, COLUMNS).type == SqlType.parse(type)
