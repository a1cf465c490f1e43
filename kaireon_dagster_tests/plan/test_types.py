from __future__ import annotations

import pickle
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaireon_dagster.plan.sqltext import SqlTextRefused, ident, literal
from kaireon_dagster.plan.types import NUMERIC, TEXT, SqlType, TypeRefused


@pytest.mark.parametrize(
    ("spelling", "postgres", "held"),
    [
        ("int", "integer", "INTEGER"),
        ("INT4", "integer", "INTEGER"),
        ("int8", "bigint", "BIGINT"),
        ("smallint", "smallint", "SMALLINT"),
        ("decimal( 12 , 2 )", "numeric(12,2)", "DECIMAL(12,2)"),
        ("numeric(5)", "numeric(5,0)", "DECIMAL(5,0)"),
        ("numeric", "numeric", "DECIMAL(38,10)"),
        ("float8", "double precision", "DOUBLE"),
        ("double", "double precision", "DOUBLE"),
        ("Double  Precision", "double precision", "DOUBLE"),
        ("real", "real", "REAL"),
        ("varchar", "text", "VARCHAR"),
        ("character varying(20)", "character varying(20)", "VARCHAR"),
        ("bool", "boolean", "BOOLEAN"),
        ("timestamp with time zone", "timestamp with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("timestamptz", "timestamp with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("timestamp without time zone", "timestamp", "TIMESTAMP"),
        ("json", "jsonb", "JSON"),
        ("bytea", "bytea", "BLOB"),
        ("text[]", "text[]", "VARCHAR[]"),
        ("numeric(10,2)[]", "numeric(10,2)[]", "DECIMAL(10,2)[]"),
    ],
)
def test_types_are_read_and_spelled(spelling: str, postgres: str, held: str) -> None:
    type = SqlType.parse(spelling)
    assert (type.postgres, type.duckdb) == (postgres, held)
    assert SqlType.parse(type.postgres) == type
    duckdb.execute(f"SELECT CAST(NULL AS {type.duckdb})")


@pytest.mark.parametrize(
    "spelling",
    ["", "foo", "numeric(39,2)", "numeric(3,4)", "numeric(0)", "int(4)", "text(4)", "char(3)"],
)
def test_other_types_are_refused(spelling: str) -> None:
    with pytest.raises(TypeRefused) as refused:
        SqlType.parse(spelling)
    assert repr(spelling) in str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_numeric_without_precision_has_ten_decimals_here() -> None:
    assert (NUMERIC.digits, NUMERIC.decimals, NUMERIC.precision) == (38, 10, None)
    assert not TEXT.is_numeric
    assert NUMERIC.is_numeric


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1))
def test_names_survive_quoting(name: str) -> None:
    found = duckdb.execute(f"SELECT {ident(name)} FROM (SELECT 1 AS {ident(name)})").fetchone()
    assert found == (1,)


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**37), 10**37),
        st.floats(allow_nan=False),
        st.decimals(-(10**9), 10**9, places=4),
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    )
)
def test_constants_survive_quoting(value: str | int | float | Decimal | bool | None) -> None:
    found = duckdb.execute(f"SELECT {literal(value)}").fetchone()
    assert found == (value,)


@pytest.mark.parametrize("value", ["a\x00b", Decimal("NaN"), 10**38, Decimal(10) ** 38])
def test_constants_that_sql_cannot_hold_are_refused(value: str | int | Decimal) -> None:
    with pytest.raises(SqlTextRefused):
        literal(value)


@pytest.mark.parametrize("name", ["", "a\x00b"])
def test_names_that_sql_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(SqlTextRefused):
        ident(name)
