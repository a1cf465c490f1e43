"""What a step runs in the worker: the statements, and how to read what they yield."""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster.plan.columns import Columns
from kaireon_dagster.plan.hidden import Check, Exit
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident


@dataclass(frozen=True, slots=True)
class Statement:
    """One definition that a step makes in the worker.

    Attributes:
        name: of the view, table or macro.
        sql: the query that defines it; for a macro, the expression over its argument `x`.
        materialized: rows that left before a set operation are read from it, so it is a table.
        comment: what it is for, for readers of the SQL.
    """

    name: str
    sql: str
    materialized: Rows | None = None
    comment: str = ""
    macro: bool = False

    @property
    def create(self) -> str:
        """The statement as it is executed."""
        if self.macro:
            return f"CREATE TEMP MACRO {self.name}(x) AS ({self.sql})"
        kind = "VIEW" if self.materialized is None else "TABLE"
        return f"CREATE TEMP {kind} {ident(self.name)} AS\n{self.sql}"


@dataclass(frozen=True, slots=True)
class Program:
    """A step, compiled for known input columns.

    Attributes:
        statements: in order; tables are filled when they are made.
        result: the rows after the last node; `SELECT` them to have every row that still counts.
        checks: every condition looked at, by bit.
        exits: every way out of the step, by code.
        warnings: what the person who runs this should know.
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
        """All views and tables as one readable text; macros that only read a type are left out."""
        shown = (s for s in self.statements if not s.macro)
        return "\n".join(f"-- {s.comment or s.name}\n{s.create};" for s in shown)
