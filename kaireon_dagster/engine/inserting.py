"""The statements that bring staged rows into a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kaireon_dagster import ir
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.spool import Spool
from kaireon_dagster.engine.writing import Shape, copy_rows
from kaireon_dagster.plan.hidden import ORIGINAL, SEQUENCE
from kaireon_dagster.plan.names import load_table
from kaireon_dagster.plan.sqltext import ident, qualified
from kaireon_dagster.plan.target import Placement
from kaireon_dagster.state.database import Connection


@dataclass(frozen=True, slots=True)
class Written:
    """What a load wrote.

    Attributes:
        loaded: rows that the table took.
        repeated: rows that lost to a later one of their key.
        refused: rows that the server did not take, now among those for quarantine.
    """

    loaded: int
    inserted: int = 0
    updated: int = 0
    repeated: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """A load in its transaction, ready to write.

    Attributes:
        spool: where rows that the server refuses go; None when the first of them ends the load.
    """

    connection: Connection
    scope: Scope
    spec: ir.Target
    placement: Placement
    shape: Shape
    spool: Spool | None = None

    @property
    def table(self) -> str:
        """The target, quoted."""
        return qualified(self.placement.table)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table that are written."""
        return tuple(name for name in self.shape.names if name not in (ORIGINAL, SEQUENCE))

    @property
    def counts(self) -> str:
        """SQL that counts the rows of `written`, and those of them that are new."""
        return f"count(*), count(*) FILTER (WHERE {self._fresh})"

    @property
    def _fresh(self) -> str:
        if not self.placement.key:
            return "TRUE"
        if not self.placement.splits:
            return "fresh"
        # Where rows live in partitions the server does not say which of them are new.
        same = " AND ".join(f"known.{ident(k)} = written.{ident(k)}" for k in self.placement.key)
        return f"NOT EXISTS (SELECT FROM {self.table} known WHERE {same})"


@dataclass(frozen=True, slots=True)
class Staging:
    """A temporary table in front of the target."""

    table: str
    rows: int


def stage(load: Load, batches: Iterator[pa.RecordBatch]) -> Staging:
    """Copy the rows into a temporary table."""
    name = staging_name(load)
    definition = ", ".join(f"{ident(column)} {type_}" for column, type_ in load.shape.definitions)
    load.connection.execute(f"CREATE TEMP TABLE {name} ({definition}) ON COMMIT DROP".encode())
    return Staging(name, copy_rows(load.connection, name, load.shape, batches))


def staging_name(load: Load, *, part: str = "") -> str:
    """Name of a temporary table of this load, quoted."""
    return ident(load_table(load.scope.pipeline.id, load.spec.id + part, load.scope.run_id))


def insert(load: Load, source: str, returning: str = "") -> str:
    """Insert, or update by the key, from a FROM item in which the staged rows are called `s`."""
    columns = ", ".join(ident(name) for name in load.names)
    conflict = ""
    if load.placement.key:
        keys = ", ".join(ident(column) for column in load.placement.key)
        updated = [ident(name) for name in load.names if name not in load.placement.key]
        updates = ", ".join(f"{column} = EXCLUDED.{column}" for column in updated)
        conflict = f" ON CONFLICT ({keys}) DO UPDATE SET {updates}"
    return (
        f"INSERT INTO {load.table} AS t ({columns}) SELECT {_values(load)} FROM {source}"
        f"{conflict}{returning}"
    )


def written(load: Load, source: str) -> str:
    """As `insert`, under the name `written`, for `Load.counts` to count."""
    returning = "1"
    if load.placement.key:
        keys = ", ".join(f"t.{ident(column)}" for column in load.placement.key)
        returning = keys if load.placement.splits else "(t.xmax = 0) AS fresh"
    return f"written AS ({insert(load, source, f' RETURNING {returning}')})"


def merge(load: Load, staging: str) -> str:
    """Upsert the last row of each key; gives the number of keys, rows written, and new ones."""
    keys = ", ".join(compared(load, "s"))
    # The narrow sort picks the last row of each key; rows are then fetched by their place. Keys in
    # order mean that two such loads lock rows in one order, and cannot wait for each other in a circle.
    last = f"SELECT DISTINCT ON ({keys}) ctid AS place FROM {staging} s ORDER BY {keys}, {SEQUENCE} DESC"
    rows = written(load, f"last JOIN {staging} s ON s.ctid = last.place")
    return (
        f"WITH last AS MATERIALIZED ({last}), {rows} "
        f"SELECT (SELECT count(*) FROM last), {load.counts} FROM written"
    )


def compared(load: Load, table: str) -> Sequence[str]:
    """The key as the unique index compares it: 1.0 and 1.00 are one number, and two texts."""
    columns = {column.name: column for column in load.shape.columns}
    found = []
    for name in load.placement.key:
        column, value = columns[name], f"{table}.{ident(name)}"
        typed = f"CAST({value} AS {column.read_as})" if column.by_server else value
        found.append(f"{typed} COLLATE {column.collation}" if column.collation else typed)
    return found


def _values(load: Load) -> str:
    read_as = {c.name: c.read_as for c in load.shape.columns if c.by_server}
    return ", ".join(
        f"CAST(s.{ident(name)} AS {read_as[name]})" if name in read_as else f"s.{ident(name)}"
        for name in load.names
    )
