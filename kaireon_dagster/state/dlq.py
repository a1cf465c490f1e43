"""DLQ tables: rows that could not be loaded, as they came, with the rule they failed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from kaireon_dagster.errors import Terminal
from kaireon_dagster.state.statements import statement

COLUMNS = ("pipelineId", "runId", "nodeId", "ruleId", "row")
Create = Callable[[psycopg.Connection[Any], str], None]
LOST_RACE = (
    psycopg.errors.DuplicateSchema,
    psycopg.errors.DuplicateTable,
    psycopg.errors.DuplicateObject,
    psycopg.errors.UniqueViolation,
)


class DlqTableUnfit(Terminal):
    """A table of the DLQ's name that has not the DLQ's columns."""

    def __init__(self, table: str, missing: tuple[str, ...]) -> None:
        super().__init__(table, missing)
        self.table = table
        self.missing = missing

    def __str__(self) -> str:
        return (
            f"table {self.table!r} cannot be a DLQ: it lacks {', '.join(self.missing)}; name "
            "another table in errorHandling.dlq.destination or quarantine.table, or add to it "
            "text columns and a jsonb column of these names"
        )


@dataclass(frozen=True, slots=True)
class DlqRow:
    """A row for quarantine.

    Attributes:
        pipeline_id: id of the document.
        run_id: id of the root run.
        node_id: the node that refused it.
        rule_id: the first rule it failed; `parse` where it could not be read.
        row: the row as JSON text that jsonb can hold, such as `quarantine.encode_row` makes.
    """

    pipeline_id: str
    run_id: str
    node_id: str
    rule_id: str
    row: str


def ensure_table(connection: psycopg.Connection[Any], table: str) -> None:
    """Make a DLQ table unless it is there; safe when many processes ask at once.

    Where the table is there, nothing is locked. Else a lock by the schema's name is held until
    the transaction ends: call it in a short transaction, before the load's.

    Args:
        connection: whose transaction it joins.
        table: `schema.table`.

    Raises:
        DlqTableUnfit: a table of that name has other columns.
    """
    missing = _list_missing(connection, table)
    if missing is None:
        connection.execute(statement(connection, "dlq", "lock_schema"), _split(table))
        _keep_first(connection, _create_schema, table)
        _keep_first(connection, _create_table, table)
        missing = _list_missing(connection, table)
    if missing:
        raise DlqTableUnfit(table, missing)


def store(connection: psycopg.Connection[Any], table: str, rows: Iterable[DlqRow]) -> int:
    """Copy rows into a DLQ table, in the caller's transaction.

    Args:
        connection: whose transaction it joins.
        table: `schema.table`, made by `ensure_table`.
        rows: taken one by one; they need not fit into memory.

    Returns:
        How many rows there were.
    """
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    query = sql.SQL("COPY {} ({}) FROM STDIN").format(_identify(table), columns)
    count = 0
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        for row in rows:
            copy.write_row((row.pipeline_id, row.run_id, row.node_id, row.rule_id, row.row))
            count += 1
    return count


def _list_missing(connection: psycopg.Connection[Any], table: str) -> tuple[str, ...] | None:
    query = statement(connection, "dlq", "list_columns")
    row = connection.execute(query, _split(table)).fetchone()
    if row is None or row[0] is None:
        return None
    return tuple(name for name in COLUMNS if name not in row[0])


def _keep_first(connection: psycopg.Connection[Any], create: Create, table: str) -> None:
    # Others may make schemas and tables without our lock; theirs are as good.
    with contextlib.suppress(*LOST_RACE), connection.transaction():
        create(connection, table)


def _create_schema(connection: psycopg.Connection[Any], table: str) -> None:
    # IF NOT EXISTS asks for the right to create even where the schema exists.
    names = _split(table)
    if connection.execute(statement(connection, "dlq", "has_schema"), names).fetchone() is None:
        create = sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(names["schema"]))
        connection.execute(create)


def _create_table(connection: psycopg.Connection[Any], table: str) -> None:
    if _list_missing(connection, table) is None:
        for name in ("create_table", "create_index", "comment"):
            connection.execute(statement(connection, "dlq", name, table=_identify(table)))


def _split(table: str) -> dict[str, str]:
    schema, name = table.split(".", 1)
    return {"schema": schema, "table": name}


def _identify(table: str) -> sql.Identifier:
    return sql.Identifier(*_split(table).values())
