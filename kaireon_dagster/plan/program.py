"""What a step runs in the worker: the statements, and how to read what they yield."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kaireon_dagster.plan.columns import Columns
from kaireon_dagster.plan.hidden import Check, Exit
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident


@dataclass(frozen=True, slots=True)
class Statement:
    """One definition of a step.

    Attributes:
        name: of the view, table or macro.
        kind: a `layer` is a view that only the next one reads; it is never made in the worker, but
            stands inside what reads it, since binding every view of a long chain costs its square.
        head: the query up to its FROM; all of it where there is no `source`.
        source: the view it reads.
        tail: the query behind its source.
        materialized: rows that left before a set operation are read from it, so it is a table.
        comment: what it is for, for readers of the SQL.
    """

    name: str
    kind: Literal["layer", "view", "table", "macro"]
    head: str
    source: str | None = None
    tail: str = ""
    materialized: Rows | None = None
    comment: str = ""

    def query(self, source: str | None = None) -> str:
        """The defining query, over the source's name or what stands in its place."""
        if self.source is None:
            return self.head
        return f"{self.head}\nFROM {source or ident(self.source)}{self.tail}"

    def create(self, source: str | None = None) -> str:
        """The statement that makes it."""
        if self.kind == "macro":
            return f"CREATE TEMP MACRO {self.name}(x) AS ({self.head})"
        kind = "TABLE" if self.kind == "table" else "VIEW"
        return f"CREATE TEMP {kind} {ident(self.name)} AS\n{self.query(source)}"


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

    def made(self) -> Iterator[tuple[Statement, str]]:
        """What is made in the worker, in order, with the SQL that makes it."""
        for statement in self.statements:
            if statement.kind != "layer":
                yield statement, statement.create(self._source(statement))

    def relation(self, name: str) -> str:
        """A view or table as a FROM item: its name, or for a layer all that it stands for."""
        chain: list[Statement] = []
        layers = {s.name: s for s in self.statements if s.kind == "layer"}
        while name in layers:
            chain.append(layers[name])
            name = layers[name].source or ""
        item = ident(name)
        for layer in reversed(chain):
            item = f"({layer.query(item)}) AS {ident(layer.name)}"
        return item

    def _source(self, statement: Statement) -> str | None:
        return None if statement.source is None else self.relation(statement.source)

    def sql(self) -> str:
        """All views and tables as one readable text; macros that only read a type are left out."""
        shown = (s for s in self.statements if s.kind != "macro")
        return "\n".join(f"-- {s.comment or s.name}\n{s.create()};" for s in shown)
