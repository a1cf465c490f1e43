"""Builds a step's views, one layer at a time, and keeps the books of checks and exits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from kaireon_dagster.plan import hidden
from kaireon_dagster.plan.casting import Cast, cast
from kaireon_dagster.plan.columns import Columns
from kaireon_dagster.plan.hidden import Check, Exit, ExitKind, Severity
from kaireon_dagster.plan.program import Program, Statement
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import SqlType

_EXIT_OF: dict[Severity, ExitKind] = {"fail": "fail", "quarantine": "quarantine", "drop": "filter"}


@dataclass(slots=True)
class Builder:
    """The books of one step. `fault` says what an unreadable value does when the document is silent."""

    fault: Severity = "fail"
    statements: list[Statement] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def check(self, node: str, rule: str, severity: Severity, what: str, field: str = "") -> Check:
        """Open a new check and give it a bit."""
        check = Check(len(self.checks), node, rule, severity, what, field)
        self.checks.append(check)
        return check

    def exit(self, node: str, kind: ExitKind) -> Exit:
        """The exit of that kind at that node, made when it is first needed."""
        for known in self.exits:
            if (known.node, known.kind) == (node, kind):
                return known
        made = Exit(len(self.exits) + 1, node, kind)
        self.exits.append(made)
        return made

    def read(self, sql: str, source: SqlType, target: SqlType, format: str | None = None) -> Cast:
        """A cast whose text readers are macros, so that the SQL of a step stays readable."""
        if not source.is_text or target.is_text:
            return cast(sql, source, target, format)
        inside = cast("x", source, target, format)
        name = _reader_name(target, format)
        self._macro(f"flow_read_{name}", inside.value)
        if inside.fault is None:
            return Cast(f"flow_read_{name}({sql})", None)
        self._macro(f"flow_unread_{name}", inside.fault)
        return Cast(f"flow_read_{name}({sql})", f"flow_unread_{name}({sql})")

    def _macro(self, name: str, body: str) -> None:
        if all(statement.name != name for statement in self.statements):
            self.statements.append(Statement(name, "macro", body))

    def view(self, name: str, query: str, comment: str) -> None:
        """Add a view over tables and views that are made."""
        self.statements.append(Statement(name, "view", query, comment=comment))

    def layer(self, name: str, head: str, source: str, tail: str, comment: str) -> None:
        """Add a layer over one view."""
        self.statements.append(Statement(name, "layer", head, source, tail, comment=comment))

    def settle(self, rows: Rows, comment: str) -> Rows:
        """Hold rows in a table, tell those that left apart, and go on with the alive ones.

        Set operations stand on this: they read their input more than once, or lose its rows.
        """
        held = f"{rows.view}.held"
        visible = [ident(name) for name in rows.columns.names]
        everything = ", ".join([*visible, *rows.luggage, *rows.marks])
        kept_rows = replace(rows, view=held)
        head = f"SELECT {everything}"
        self.statements.append(
            Statement(held, "table", head, rows.view, materialized=kept_rows, comment=comment)
        )
        alive = f"{rows.view}.alive"
        kept = ", ".join([*visible, *rows.luggage])
        self.view(
            alive, f"SELECT {kept}\nFROM {ident(held)}\nWHERE {rows.alive}", "rows that go on"
        )
        return rows.unmarked(alive)

    def program(self, result: Rows) -> Program:
        """Close the books."""
        return Program(
            tuple(self.statements),
            result,
            tuple(self.checks),
            tuple(self.exits),
            tuple(dict.fromkeys(self.warnings)),
        )


class NodeBuilder:
    """Adds the layers of one node to a step."""

    def __init__(self, builder: Builder, node: str, rows: Rows) -> None:
        self.builder = builder
        self.node = node
        self.rows = replace(rows, columns=rows.columns.at(node))
        self._layers = 0
        self._pending: list[Check] = []
        self._entry = False
        self._refusing = False

    def enter(self) -> None:
        """Remember the row as it enters the node, for the quarantine table."""
        if not self._entry:
            self.layer({hidden.ENTRY: _struct(self.rows.columns)}, comment="the row as it comes in")
            self._entry = True

    def layer(
        self,
        assign: Mapping[str, str],
        columns: Columns | None = None,
        *,
        exclude: Iterable[str] = (),
        rename: Mapping[str, str] | None = None,
        tail: str = "",
        comment: str = "",
        **known: object,
    ) -> None:
        """Add one view over the present rows.

        Args:
            assign: column name to SQL; columns that exist are replaced in place.
            columns: visible columns afterwards; unchanged when not given.
            exclude: columns to leave out.
            rename: old to new names.
            tail: SQL after the FROM item (a join).
            comment: what the layer does, for readers of the SQL.
            known: attributes of `Rows` that change.
        """
        view = self._next_view()
        items = ", ".join([self._star(assign, exclude, rename or {}), *self._new(assign)])
        head, note = f"SELECT {items}", f"{self.node}: {comment}"
        self.builder.layer(view, head, self.rows.view, tail, note)
        self.rows = replace(self.rows, view=view, columns=columns or self.rows.columns, **known)  # type: ignore[arg-type]

    def sequence(self) -> None:
        """Number the rows in the order they arrive, before anything may reorder them."""
        if not self.rows.sequence:
            number = {hidden.SEQUENCE: "row_number() OVER ()"}
            self.layer(number, comment="number the rows", sequence=True)

    def marks(self, conditions: Mapping[Check, str]) -> dict[str, str]:
        """Assignments that set the bit of each check where its condition holds and the row is alive."""
        by_column: dict[str, list[str]] = {}
        for check, condition in conditions.items():
            alive = f"{self.rows.alive} AND " if self.rows.fated else ""
            bit = f"CASE WHEN {alive}({condition}) THEN {check.mask} ELSE 0 END"
            by_column.setdefault(check.column, []).append(bit)
            self._pending.append(check)
        return {column: self._bits(column, bits) for column, bits in by_column.items()}

    def _bits(self, column: str, bits: list[str]) -> str:
        new = f"({' | '.join(bits)})::UBIGINT"
        return f"{column} | {new}" if column in self.rows.failed else new

    def mark(self, conditions: Mapping[Check, str], comment: str, **assign: str) -> None:
        """Add a layer that only sets bits."""
        self.layer({**self.marks(conditions), **assign}, comment=comment)
        self.note_failed(conditions)

    def note_failed(self, checks: Iterable[Check]) -> None:
        """The present rows carry the columns of these checks."""
        failed = dict.fromkeys([*self.rows.failed, *(check.column for check in checks)])
        self.rows = replace(self.rows, failed=tuple(failed))

    def send(self, kind: ExitKind, condition: str, comment: str) -> None:
        """Let alive rows take an exit where the condition holds."""
        exit_ = self.builder.exit(self.node, kind)
        alive = f"{self.rows.alive} AND " if self.rows.fated else ""
        fate = f"CASE WHEN {alive}({condition}) THEN {exit_.code} ELSE {self._fate()} END"
        self.layer({hidden.FATE: f"({fate})::USMALLINT"}, comment=comment, fated=True)

    def decide(self) -> None:
        """Let rows whose bits are set take the exit of the gravest of them."""
        arms = list(self._arms())
        self._refusing |= any(check.severity == "quarantine" for check in self._pending)
        self._pending.clear()
        if arms:
            dead = [f"WHEN {hidden.FATE} <> 0 THEN {hidden.FATE}"] if self.rows.fated else []
            fate = f"(CASE {' '.join([*dead, *arms])} ELSE 0 END)::USMALLINT"
            self.layer({hidden.FATE: fate}, comment="rows that fail leave", fated=True)

    def settle(self, comment: str) -> None:
        """Hold the rows in a table before an operation on the set of them, and part with the dead."""
        self.finish()
        self.rows = self.builder.settle(self.rows, f"{self.node}: {comment}")

    def replace(self, query: Callable[[str], str], columns: Columns, comment: str) -> None:
        """Go on with other rows, made by a query over the present ones."""
        view = self._next_view()
        self.builder.view(view, query(ident(self.rows.view)), f"{self.node}: {comment}")
        self.rows = Rows(view, columns, source=self.rows.source)

    def scramble(self) -> None:
        """Note that the order of the rows may have changed."""
        self.rows = replace(self.rows, scrambled=True)

    def finish(self) -> Rows:
        """Decide what is open, keep the refused rows' input, and hand the rows on."""
        self.decide()
        if self._refusing:
            self._keep_refused(self.builder.exit(self.node, "quarantine"))
        elif self._entry:
            self.layer({}, exclude=[hidden.ENTRY], comment="forget the row as it came in")
            self._entry = False
        return self.rows

    def _keep_refused(self, refused: Exit) -> None:
        row = hidden.ENTRY if self._entry else _struct(self.rows.columns)
        earlier = hidden.ROW if self.rows.quarantined else "NULL"
        kept = f"CASE WHEN {hidden.FATE} = {refused.code} THEN to_json({row})::VARCHAR ELSE {earlier} END"
        gone = [hidden.ENTRY] if self._entry else []
        self.layer({hidden.ROW: kept}, exclude=gone, comment="keep refused rows", quarantined=True)
        self._entry = self._refusing = False

    def _arms(self) -> Iterable[str]:
        for severity, kind in _EXIT_OF.items():
            masks: dict[str, int] = {}
            for check in self._pending:
                if check.severity == severity:
                    masks[check.column] = masks.get(check.column, 0) | check.mask
            tests = [f"({column} & {mask}::UBIGINT) <> 0" for column, mask in masks.items()]
            if tests:
                code = self.builder.exit(self.node, kind).code
                yield f"WHEN {' OR '.join(tests)} THEN {code}"

    def _fate(self) -> str:
        return hidden.FATE if self.rows.fated else "0"

    def _next_view(self) -> str:
        taken = {statement.name.lower() for statement in self.builder.statements}
        while True:
            self._layers += 1
            name = f"{self.node}.{self._layers}"
            if name.lower() not in taken:
                return name

    def _star(
        self, assign: Mapping[str, str], exclude: Iterable[str], rename: Mapping[str, str]
    ) -> str:
        replaced = [f"{sql} AS {ident(c)}" for c, sql in assign.items() if self._has(c)]
        parts = [
            ("EXCLUDE", [ident(c) for c in exclude]),
            ("REPLACE", replaced),
            ("RENAME", [f"{ident(old)} AS {ident(new)}" for old, new in rename.items()]),
        ]
        star = f"{ident(self.rows.view)}.*"
        return " ".join([star, *(f"{word} ({', '.join(items)})" for word, items in parts if items)])

    def _new(self, assign: Mapping[str, str]) -> list[str]:
        return [f"{sql} AS {ident(c)}" for c, sql in assign.items() if not self._has(c)]

    def _has(self, column: str) -> bool:
        present = (*self.rows.luggage, *self.rows.marks)
        return column in self.rows.columns or column in present


def _reader_name(target: SqlType, format: str | None) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", target.postgres).strip("_")
    return name if format is None else f"{name}_{hashlib.sha256(format.encode()).hexdigest()[:8]}"


def _struct(columns: Columns) -> str:
    fields = ", ".join(f"{literal(c.name)}: {ident(c.name)}" for c in columns)
    return f"{{{fields}}}"
