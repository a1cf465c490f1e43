"""Brings tables of PostgreSQL into the worker as Arrow, by binary COPY through ADBC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import duckdb
import pyarrow as pa
from psycopg.conninfo import make_conninfo

from kaireon_dagster.engine.errors import LookupNotFinite, LookupNotUnique, LookupTooLarge
from kaireon_dagster.engine.relation import StagedTable
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.errors import Terminal, Transient
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.ops.lookup import Lookup, held_type
from kaireon_dagster.plan.sqltext import ident, qualified
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster.state.database import Database
from kaireon_dagster.state.errors import classify_state, name_state

_NATIVE = (
    "integer",
    "bigint",
    "smallint",
    "boolean",
    "double",
    "real",
    "date",
    "timestamp",
    "timestamptz",
    "text",
)
"""Types that ADBC brings in the worker's own form; the others come as their text."""
_REPEATED_SHOWN = 3
_SESSION = {
    "DateStyle": "'ISO, MDY'",
    "TimeZone": "'UTC'",
    "IntervalStyle": "'postgres'",
    "bytea_output": "'hex'",
    "extra_float_digits": "1",
    # A fresh table is read in the order it was written only without this.
    "synchronize_seqscans": "off",
}
"""What the text of values must not depend on."""
LIFT_LIMITS = """
DO $$ BEGIN
    PERFORM pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings WHERE name IN
        ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout');
END $$
"""
"""Lifts the server's time limits for a transaction. A COPY, or the pause in front of it, lasts as long as
the worker needs for the rows, so such a limit says nothing of the server; tried again it would only strike
again. How long the server may wait for a lock stays as it is."""


class FetchInterrupted(Transient):
    """A table that could not be read to its end."""

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.table = table

    def __str__(self) -> str:
        return f"reading {self.table} was interrupted; it may pass: try again"


class FetchRefused(Terminal):
    """A table that may not be read."""

    def __init__(self, table: str, condition: str) -> None:
        super().__init__(table, condition)
        self.table, self.condition = table, condition

    def __str__(self) -> str:
        return f"reading {self.table} was refused: {self.condition}; see its rights and its columns"


@contextmanager
def fetch(database: Database, query: str, what: str) -> Iterator[pa.RecordBatchReader]:
    """Run a query; its rows come as a stream of Arrow batches.

    Raises:
        FetchInterrupted: the connection was lost, or the server broke off while rows were read.
        FetchRefused: the server does not allow the query.
    """
    faults: list[Exception] = []
    try:
        with (
            adbc_driver_postgresql.dbapi.connect(make_conninfo(**database.settings)) as connection,
            connection.cursor() as cursor,
        ):
            for name, value in _SESSION.items():
                cursor.execute(f"SET LOCAL {name} = {value}")
            cursor.execute(LIFT_LIMITS)
            cursor.execute(query)
            yield _noting(cursor.fetch_record_batch(), faults)
    except adbc_driver_manager.Error as error:
        raise _explain(error, what) from None
    except Exception:
        # What failed inside the reader comes back as an error of whoever read from it.
        if faults:
            raise FetchInterrupted(what) from None
        raise


def _noting(reader: pa.RecordBatchReader, faults: list[Exception]) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except Exception as error:
            faults.append(error)
            raise

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _explain(error: adbc_driver_manager.Error, what: str) -> FetchInterrupted | FetchRefused:
    if error.sqlstate and classify_state(error.sqlstate) is not Transient:
        return FetchRefused(what, name_state(error.sqlstate))
    return FetchInterrupted(what)


def select(columns: Sequence[tuple[str, SqlType]]) -> str:
    """The select list for PostgreSQL."""
    return ", ".join(
        ident(name) if type_.name in _NATIVE else f"{ident(name)}::pg_catalog.text AS {ident(name)}"
        for name, type_ in columns
    )


def restore(columns: Sequence[tuple[str, SqlType]]) -> str:
    """The select list for DuckDB that gives fetched columns their types back."""
    return ", ".join(
        ident(name) if type_.name in _NATIVE else f"{_read(name, type_)} AS {ident(name)}"
        for name, type_ in columns
    )


def _read(name: str, type_: SqlType) -> str:
    if type_.name == "bytea":
        return f"unhex(substr({ident(name)}, 3))"
    if type_.element is not None:
        return f"flow_array({ident(name)})::{type_.duckdb}"
    return f"{ident(name)}::{type_.duckdb}"


@contextmanager
def staged_view(
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    relation: StagedTable,
    view: str,
    where: str,
) -> Iterator[None]:
    """A staged table under a name in the worker, readable once, in the order it was written."""
    hidden = [(name, _LUGGAGE[name]) for name in relation.luggage]
    columns = [(c.name, c.type) for c in relation.columns] + hidden
    table = qualified((relation.schema, relation.table))
    query = f"SELECT {select(columns)} FROM {table}{where}"
    with fetch(scope.database, query, table) as reader:
        connection.register(f"{view}.fetched", reader)
        connection.execute(
            f"CREATE TEMP VIEW {ident(view)} AS SELECT {restore(columns)} FROM {ident(f'{view}.fetched')}"
        )
        yield


_LUGGAGE = {
    "_flow_seq": SqlType("bigint"),
    "_flow_file": SqlType("text"),
    "_flow_routes": SqlType("bigint"),
}


def luggage_type(name: str) -> SqlType:
    """Type of a hidden column in a staged table."""
    return _LUGGAGE[name]


def load_lookup(
    connection: duckdb.DuckDBPyConnection, scope: Scope, lookup: Lookup, catalog: Catalog
) -> None:
    """Copy the needed columns of a lookup table into the worker, and see that its key is unique."""
    table = catalog.get(lookup.table)
    if table is None or any(name not in table.types for name in lookup.columns):
        return  # the compiler says which one is missing, and where
    columns = [(name, held_type(table.types[name])) for name in lookup.columns]
    limit = scope.settings.lookup_rows
    query = f"SELECT {select(columns)} FROM {qualified(lookup.table)} LIMIT {limit + 1}"
    with fetch(scope.database, query, ".".join(lookup.table)) as reader:
        connection.register("flow_fetched", reader)
        connection.execute(
            f"CREATE TEMP TABLE {ident(lookup.view)} AS SELECT {restore(columns)} FROM flow_fetched"
        )
        connection.unregister("flow_fetched")
    _require_small(connection, lookup, limit)
    for name, type_ in columns:
        if type_.name in ("date", "timestamp", "timestamptz"):
            _require_finite(connection, lookup, name)
    if lookup.key:
        _require_unique(connection, lookup)


def _require_small(connection: duckdb.DuckDBPyConnection, lookup: Lookup, limit: int) -> None:
    count = connection.execute(f"SELECT count(*) FROM {ident(lookup.view)}").fetchone()
    if count and count[0] > limit:
        raise LookupTooLarge(lookup.node, ".".join(lookup.table), limit)


def _require_finite(connection: duckdb.DuckDBPyConnection, lookup: Lookup, column: str) -> None:
    # ADBC counts from 1970 and not from 2000 as PostgreSQL does; the largest values turn over, and
    # come out earlier than any that PostgreSQL has.
    found = connection.execute(
        f"SELECT 1 FROM {ident(lookup.view)} "
        f"WHERE NOT isfinite({ident(column)}) OR {ident(column)} < DATE '4714-11-24 (BC)' LIMIT 1"
    ).fetchone()
    if found:
        raise LookupNotFinite(lookup.node, ".".join(lookup.table), column)


def _require_unique(connection: duckdb.DuckDBPyConnection, lookup: Lookup) -> None:
    keys = ", ".join(ident(name) for name in lookup.key)
    present = " AND ".join(f"{ident(name)} IS NOT NULL" for name in lookup.key)
    repeated = connection.execute(
        f"SELECT {keys} FROM {ident(lookup.view)} WHERE {present} GROUP BY {keys} "
        f"HAVING count(*) > 1 ORDER BY ALL LIMIT {_REPEATED_SHOWN}"
    ).fetchall()
    if repeated:
        shown = tuple("(" + ", ".join(str(value) for value in row) + ")" for row in repeated)
        raise LookupNotUnique(lookup.node, ".".join(lookup.table), lookup.key, shown)
