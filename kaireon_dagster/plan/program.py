"""What a step runs in the worker: the statements, and how to read what they yield."""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster.plan.columns import Columns
from kaireon_dagster.plan.hidden import Check, Exit
from kaireon_dagster.plan.rows import Rows


@dataclass(frozen=True, slots=True)
class Statement:
    """One `CREATE TEMP VIEW` or `CREATE TEMP TABLE`.

    Attributes:
        name: of the view or table.
        sql: the query that defines it.
        materialized: rows that left before a set operation are read from it, so it is a table.
    """

    name: str
    sql: str
    materialized: Rows | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A step, compiled for known input columns.

    Attributes:
        statements: in order; tables are filled when they are made.
        result: the rows after the last node; `SELECT` them to have every row that still counts.
        checks: every condition looked at, by bit.
        exits: every way out of the step, by code.
        warnings: what the person who runs this should know.
        lookups: tables of PostgreSQL to be at hand under these names.
    """

    statements: tuple[Statement, ...]
    result: Rows
    checks: tuple[Check, ...]
    exits: tuple[Exit, ...]
    warnings: tuple[str, ...] = ()

    @property
    def columns(self) -> Columns:
        """Visible columns of the result."""
        return self.result.columns

    def exit(self, code: int) -> Exit:
        """The exit of a fate code."""
        return self.exits[code - 1]

    def sql(self) -> str:
        """All statements as one readable text."""
        return "\n".join(f"-- {s.comment or s.name}\n{_create(s)};" for s in self.statements)


def create(statement: Statement) -> str:
    """The statement as it is executed."""
    return _create(statement)


def _create(statement: Statement) -> str:
    from kaireon_dagster.plan.sqltext import ident

    kind = "VIEW" if statement.materialized is None else "TABLE"
    return f"CREATE TEMP {kind} {ident(statement.name)} AS\n{statement.sql}"
