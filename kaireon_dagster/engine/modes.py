"""The load modes: how rows become part of a table, each inside the load's one transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import psycopg
import pyarrow as pa

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import SourceEmpty, TableBusy
from kaireon_dagster.engine.scope import Scope, Settings
from kaireon_dagster.engine.writing import Shape, copy_rows, peek
from kaireon_dagster.plan.catalog import Table
from kaireon_dagster.plan.hidden import SEQUENCE
from kaireon_dagster.plan.names import load_table
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.target import Placement, qualified
from kaireon_dagster.state.database import Connection


@dataclass(frozen=True, slots=True)
class Written:
    """What a load wrote.

    Attributes:
        loaded: rows that the table took.
        repeated: rows that lost to a later one of their key.
    """

    loaded: int
    inserted: int = 0
    updated: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """A load in its transaction, ready to write."""

    connection: Connection
    scope: Scope
    spec: ir.Target
    placement: Placement
    shape: Shape
    schema: pa.Schema

    @property
    def table(self) -> str:
        """The target, quoted."""
        return qualified(self.placement.table)


def write(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Write the rows by the target's load mode."""
    return _MODES[load.spec.load_mode](load, batches)


def runnable(mode: str) -> bool:
    """Whether this release can run a load mode."""
    return mode in _MODES


def append(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Add the rows to what is there."""
    put = _through_staging if load.placement.needs_staging else _straight
    loaded = put(load, batches)
    return Written(loaded, inserted=loaded)


def truncate(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Put the rows in place of all that is there; an empty source changes nothing unless allowed."""
    any_row, batches = peek(batches)
    if not any_row and not load.spec.allow_empty_source:
        raise SourceEmpty(load.spec.id, load.spec.schema_)
    if not load.placement.creates:
        lock_table(load.connection, load.table, load.scope.settings)
        load.connection.execute(f"TRUNCATE {load.table}".encode())
    return append(load, batches)


def empty(connection: Connection, scope: Scope, spec: ir.Target, table: Table | None) -> None:
    """Truncate a target for a source that delivered nothing, where the document allows it."""
    if not spec.allow_empty_source:
        raise SourceEmpty(spec.id, spec.schema_)
    if table is not None:
        lock_table(connection, qualified(spec.table), scope.settings)
        connection.execute(f"TRUNCATE {qualified(spec.table)}".encode())


def upsert(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Insert new keys and update known ones, in key order; of equal keys the last row wins."""
    staging = _stage(load, batches)
    keys, rows, inserted = _fetch_counts(load.connection, _merge(load, staging.table))
    return Written(rows, inserted, rows - inserted, staging.rows - keys)


_MODES: Mapping[str, Callable[[Load, Iterator[pa.RecordBatch]], Written]] = {
    "append": append,
    "truncate": truncate,
    "upsert": upsert,
}


@dataclass(frozen=True, slots=True)
class _Staging:
    table: str
    rows: int


def _straight(load: Load, batches: Iterator[pa.RecordBatch]) -> int:
    return copy_rows(load.connection, load.table, load.shape, load.schema, batches)


def _through_staging(load: Load, batches: Iterator[pa.RecordBatch]) -> int:
    staging = _stage(load, batches)
    names = ", ".join(ident(name) for name in _names(load))
    query = f"INSERT INTO {load.table} ({names}) SELECT {_casts(load)} FROM {staging.table}"
    return load.connection.execute(query).rowcount


def _stage(load: Load, batches: Iterator[pa.RecordBatch]) -> _Staging:
    name = ident(load_table(load.scope.pipeline.id, load.spec.id, load.scope.run_id))
    columns = [
        f"{ident(c.name)} {'text' if c.by_server else c.postgres_type}" for c in load.shape.columns
    ]
    lineage = [f"{ident(load.shape.names[len(columns)])} jsonb"] if load.shape.lineage else []
    sequence = [f"{SEQUENCE} bigint"] if load.shape.sequence else []
    definition = ", ".join([*columns, *lineage, *sequence])
    load.connection.execute(f"CREATE TEMP TABLE {name} ({definition}) ON COMMIT DROP")
    return _Staging(name, copy_rows(load.connection, name, load.shape, load.schema, batches))


def _merge(load: Load, staging: str) -> str:
    names = _names(load)
    key = [ident(column) for column in load.placement.key]
    keys = ", ".join(key)
    compared = ", ".join(_compared(load, staging, column) for column in load.placement.key)
    updates = [f"{ident(n)} = EXCLUDED.{ident(n)}" for n in names if n not in load.placement.key]
    columns = ", ".join(ident(name) for name in names)
    # Where rows live in partitions the server does not say which of them are new.
    fresh = _absent(load, key) if load.placement.splits else "fresh"
    returned = keys if load.placement.splits else "(xmax = 0) AS fresh"
    # The narrow sort picks the last row of each key; rows are then fetched by their place. Keys in
    # order mean that two such loads lock rows in one order, and cannot wait for each other in a circle.
    return (
        f"WITH last AS MATERIALIZED (SELECT DISTINCT ON ({compared}) ctid AS place FROM {staging} "
        f"ORDER BY {compared}, {SEQUENCE} DESC), "
        f"written AS (INSERT INTO {load.table} AS t ({columns}) "
        f"SELECT {_casts(load, 's.')} FROM last JOIN {staging} s ON s.ctid = last.place "
        f"ON CONFLICT ({keys}) DO UPDATE SET {', '.join(updates)} RETURNING {returned}) "
        f"SELECT (SELECT count(*) FROM last), count(*), count(*) FILTER (WHERE {fresh}) FROM written"
    )


def _absent(load: Load, key: Sequence[str]) -> str:
    same = " AND ".join(f"known.{column} = written.{column}" for column in key)
    return f"NOT EXISTS (SELECT FROM {load.table} known WHERE {same})"


def _compared(load: Load, table: str, name: str) -> str:
    # As the unique index compares: 1.0 and 1.00 are one number, and two texts.
    placed = next(column for column in load.shape.columns if column.name == name)
    value = f"{table}.{ident(name)}"
    typed = f"CAST({value} AS {placed.read_as})" if placed.by_server else value
    return f"{typed} COLLATE {placed.collation}" if placed.collation else typed


def _names(load: Load) -> tuple[str, ...]:
    return tuple(name for name in load.shape.names if name != SEQUENCE)


def _casts(load: Load, prefix: str = "") -> str:
    by_server = {c.name: c.read_as for c in load.shape.columns if c.by_server}
    return ", ".join(
        f"CAST({prefix}{ident(name)} AS {by_server[name]})"
        if name in by_server
        else f"{prefix}{ident(name)}"
        for name in _names(load)
    )


def _fetch_counts(connection: Connection, query: str) -> tuple[int, int, int]:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None, "an aggregate gives a row"
    keys, written, inserted = map(int, row)
    return keys, written, inserted


def lock_table(connection: Connection, table: str, settings: Settings) -> None:
    """Lock a table for a change that nobody may see half done, without making readers queue long.

    Each attempt waits a short time and then lets those behind it pass.

    Raises:
        TableBusy: it was in use at every attempt.
    """
    wait = settings.lock_wait_seconds
    for _ in range(settings.lock_attempts):
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{int(wait * 1000)}ms'")
                connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
                connection.execute("SET LOCAL lock_timeout = 0")
        except psycopg.errors.LockNotAvailable:
            time.sleep(random.uniform(0.1, 0.5))
        else:
            return
    raise TableBusy(table, wait * settings.lock_attempts)
