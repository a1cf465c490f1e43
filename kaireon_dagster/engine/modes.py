"""The load modes: how rows become part of a table, each inside the load's one transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping

import psycopg
import pyarrow as pa

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import SourceEmpty, TableBusy
from kaireon_dagster.engine.inserting import Load, Written, insert, merge, stage
from kaireon_dagster.engine.scope import Scope, Settings
from kaireon_dagster.engine.sifting import sift
from kaireon_dagster.engine.writing import copy_rows, peek
from kaireon_dagster.plan.catalog import Table
from kaireon_dagster.plan.sqltext import qualified
from kaireon_dagster.state.database import Connection


def write(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Write the rows by the target's load mode."""
    return _MODES[load.spec.load_mode](load, batches)


def runnable(mode: str) -> bool:
    """Whether this release can run a load mode."""
    return mode in _MODES


def append(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Add the rows to what is there."""
    if load.spool is not None:
        return sift(load, stage(load, batches), load.spool)
    put = _through_staging if load.placement.needs_staging else _straight
    loaded = put(load, batches)
    return Written(loaded, inserted=loaded)


def truncate(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Put the rows in place of all that is there; an empty source changes nothing unless allowed."""
    any_row, batches = peek(batches)
    allowed = load.spec.allow_empty_source
    if not any_row and not allowed:
        raise SourceEmpty(load.spec.id, load.spec.schema_)
    if not load.placement.creates:
        lock_table(load.connection, load.table, load.scope.settings)
        load.connection.execute(f"TRUNCATE {load.table}".encode())
    written = append(load, batches)
    if written.refused and not written.loaded and not allowed:
        raise SourceEmpty(load.spec.id, load.spec.schema_)
    return written


def empty(connection: Connection, scope: Scope, spec: ir.Target, table: Table | None) -> None:
    """Truncate a target for a source that delivered nothing, where the document allows it."""
    if not spec.allow_empty_source:
        raise SourceEmpty(spec.id, spec.schema_)
    if table is not None:
        lock_table(connection, qualified(spec.table), scope.settings)
        connection.execute(f"TRUNCATE {qualified(spec.table)}".encode())


def upsert(load: Load, batches: Iterator[pa.RecordBatch]) -> Written:
    """Insert new keys and update known ones, in key order; of equal keys the last row wins."""
    staging = stage(load, batches)
    if load.spool is not None:
        return sift(load, staging, load.spool)
    row = load.connection.execute(merge(load, staging.table).encode()).fetchone()
    assert row is not None, "an aggregate gives a row"
    keys, rows, inserted = map(int, row)
    return Written(rows, inserted, rows - inserted, staging.rows - keys)


_MODES: Mapping[str, Callable[[Load, Iterator[pa.RecordBatch]], Written]] = {
    "append": append,
    "truncate": truncate,
    "upsert": upsert,
}


def _straight(load: Load, batches: Iterator[pa.RecordBatch]) -> int:
    return copy_rows(load.connection, load.table, load.shape, batches)


def _through_staging(load: Load, batches: Iterator[pa.RecordBatch]) -> int:
    staging = stage(load, batches)
    return load.connection.execute(insert(load, f"{staging.table} s").encode()).rowcount


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
