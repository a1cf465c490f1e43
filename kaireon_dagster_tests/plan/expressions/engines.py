"""The same rows in PostgreSQL and DuckDB, and the same expression run over both.

Values are exchanged as text. An expression is one query over all rows; if PostgreSQL raises for
one of them, a function on the server tries them one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext

import duckdb
import psycopg

from kaireon_dagster.plan.casting import cast
from kaireon_dagster.plan.expressions import compile_expression
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import TEXT, SqlType

RAISED = "(raised)"
COLLATION = ' COLLATE "C"'

_ATTEMPT = """
CREATE OR REPLACE FUNCTION attempt(statement text, count int) RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE result text;
BEGIN
    FOR number IN 1..count LOOP
        BEGIN
            EXECUTE statement USING number INTO result;
        EXCEPTION WHEN OTHERS THEN
            result := '(raised)';
        END;
        RETURN NEXT result;
    END LOOP;
END
$$
"""


@dataclass
class Engines:
    """Two connections, and the rows that expressions are tried on."""

    postgres: psycopg.Connection[tuple[object, ...]]
    duck: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    types: dict[str, SqlType] = field(default_factory=dict)
    rows: list[tuple[str | None, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.postgres.execute(_ATTEMPT)
        self.duck.execute("SET TimeZone = 'America/New_York'")
        self.duck.execute("SET threads = 1")

    def fill(self, types: Mapping[str, str], rows: Sequence[tuple[str | None, ...]]) -> None:
        """Make both tables hold the rows, given as text, in columns of the types."""
        self.types = {name: SqlType.parse(spelling) for name, spelling in types.items()}
        self.rows = list(rows)
        names = ", ".join(ident(name) for name in types)
        raw = ", ".join(f"{ident(name)} VARCHAR" for name in types)
        marks = ", ".join("?" for _ in types)
        self.duck.execute(f"CREATE OR REPLACE TABLE raw (i INTEGER, {raw})")
        numbered = [(number, *row) for number, row in enumerate(self.rows, 1)]
        self.duck.executemany(f"INSERT INTO raw VALUES (?, {marks})", numbered)
        read = ", ".join(
            f"{cast(ident(name), TEXT, type).value} AS {ident(name)}"
            for name, type in self.types.items()
        )
        self.duck.execute(f"CREATE OR REPLACE TABLE data AS SELECT i, {read} FROM raw ORDER BY i")
        columns = ", ".join(
            f"{ident(name)} {type.postgres}{COLLATION if type.is_text else ''}"
            for name, type in self.types.items()
        )
        self.postgres.execute("DROP TABLE IF EXISTS data")
        self.postgres.execute(f"CREATE TABLE data (i int, {columns})")
        with self.postgres.cursor().copy(f"COPY data (i, {names}) FROM STDIN") as copy:
            for row in numbered:
                copy.write_row(row)

    def in_postgres(self, expression: str) -> list[str | None]:
        """PostgreSQL's value of the expression for each row, as text, or RAISED."""
        try:
            with self.postgres.transaction():
                found = self.postgres.execute(
                    f"SELECT ({expression})::text FROM data ORDER BY i"
                ).fetchall()
        except psycopg.Error:
            statement = f"SELECT ({expression})::text FROM data WHERE i = $1"
            found = self.postgres.execute(
                "SELECT * FROM attempt(%s, %s)", [statement, len(self.rows)]
            ).fetchall()
        return [value if value is None else str(value) for (value,) in found]

    def in_duckdb(self, expression: str) -> list[str | None]:
        """The compiled expression's value for each row, as text, or RAISED."""
        compiled = compile_expression(expression, self.types)
        shown = cast("v", compiled.type, TEXT).value
        value, raised = compiled.sql, "FALSE"
        if compiled.can_fail:
            value, raised = "s.v", "s IS NULL"
            source = f"SELECT i, TRY({{'v': {compiled.sql}}}) AS s FROM data"
        else:
            source = "SELECT * FROM data"
        found = self.duck.execute(
            f"SELECT CASE WHEN raised THEN '{RAISED}' ELSE {shown} END FROM "
            f"(SELECT i, {raised} AS raised, {value} AS v FROM ({source})) ORDER BY i"
        ).fetchall()
        return [row[0] for row in found]

    def differences(
        self, expression: str, *, quotient: bool = False
    ) -> list[tuple[tuple[str | None, ...], str | None, str | None]]:
        """Rows for which the engines differ: the row, PostgreSQL's value, DuckDB's.

        Numbers are compared by value, since a numeric may be shown with fewer zeros.
        """
        compiled = compile_expression(expression, self.types)
        pairs = zip(
            self.rows, self.in_postgres(expression), self.in_duckdb(expression), strict=True
        )
        return [
            (row, expected, found)
            for row, expected, found in pairs
            if not same(expected, found, compiled.type, quotient=quotient)
        ]


def same(expected: str | None, found: str | None, type: SqlType, *, quotient: bool = False) -> bool:
    """Whether two values of a type, as text, are the same value.

    A quotient is the same if it agrees to 16 decimals, or to those that PostgreSQL computes.
    """
    if expected == found:
        return True
    if expected is None or found is None or RAISED in (expected, found):
        return False
    if type.is_float:
        # Of two shortest spellings of a large double the engines may take different ones.
        return float(expected) == float(found) != 0
    if type.name != "numeric":
        return False
    theirs, ours = Decimal(expected), Decimal(found)
    if not quotient:
        return theirs == ours
    scale = min(-int(theirs.as_tuple().exponent), 16)
    unit = Decimal(1).scaleb(-scale)
    with localcontext() as context:
        context.prec = 100
        return theirs.quantize(unit, ROUND_HALF_UP) == ours.quantize(unit, ROUND_HALF_UP)


def read_text(text: str | None, target: str, format: str | None = None) -> str | None:
    """The value that a text reads as, printed; `fault` for a fault."""
    type = SqlType.parse(target)
    written = cast("x", TEXT, type, format)
    row = duckdb.execute(
        f"SELECT {written.fault}, {cast('v', type, TEXT).value} "
        f"FROM (SELECT x, {written.value} AS v FROM (SELECT CAST($1 AS VARCHAR) AS x))",
        [text],
    ).fetchone()
    assert row is not None
    fault, value = row
    assert fault is not None
    return "fault" if fault else value
