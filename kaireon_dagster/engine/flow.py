"""Runs a compiled step in the worker: every row comes by once, is counted, and goes its way."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import duckdb
import pyarrow as pa

from kaireon_dagster.engine.errors import BudgetExceeded, RowsRefused, RowsUnreadable
from kaireon_dagster.engine.inputs import Inputs
from kaireon_dagster.engine.outcome import Counts, RuleResult
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.spool import Spool
from kaireon_dagster.engine.tally import Tally
from kaireon_dagster.plan.hidden import FATE, SEQUENCE, Check
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.sources import Reject

_REASONS = 5
"""Reasons that an error names, the most frequent first."""
_KINDS = {"quarantine": "quarantined", "filter": "filtered", "duplicate": "deduplicated"}


@dataclass(slots=True)
class Flow:
    """One step's rows.

    Attributes:
        tally: the rows of the last stretch, and all checks.
        read: rows that files gave; complete once the rows came by.
        rejected: rows that could not be read.
        passed: rows that reached the end.
        held: set operations were done, so rows read and rows that passed are not of one kind.
    """

    scope: Scope
    program: Program
    connection: duckdb.DuckDBPyConnection
    inputs: Inputs
    spool: Spool
    tally: Tally
    read: int = 0
    rejected: int = 0
    passed: int = 0
    held: bool = False

    @property
    def seen(self) -> int:
        """Rows that files have given so far: all that is known where the step fails on its way."""
        streamed = self.tally.seen if self.inputs.scans and not self.held else 0
        return max(self.read, streamed)

    def prepare(self) -> None:
        """Make the views; fill and count the tables that set operations stand on."""
        for statement, sql in self.program.made():
            self.connection.execute(sql)
            if statement.materialized is not None:
                self.held = True
                self._count_held(statement.materialized)

    def batches(
        self, items: Sequence[str], *, in_order: bool
    ) -> Generator[pa.RecordBatch, None, None]:
        """The rows that go on, in batches of the selected items.

        Raises:
            RowsRefused: a row came by that the document forbids.
        """
        rows = self.program.result
        extra = (SEQUENCE,) if rows.sequence and ident(SEQUENCE) not in items else ()
        order = f" ORDER BY {SEQUENCE}" if in_order and rows.scrambled and rows.sequence else ""
        selected = ", ".join([*items, *rows.marks, *extra]) or "1"
        query = f"SELECT {selected} FROM {self.program.relation(rows.view)}{order}"
        for batch in self._stream(query, rows, len(items)):
            self.passed += batch.num_rows
            yield batch
        if not self.held:
            self.read = self.tally.seen if self.inputs.scans else 0

    def finish(self) -> None:
        """Take what could not be read to quarantine, or fail; then hold the books to their limits."""
        for node, scan in self.inputs.scans.items():
            rejects = scan.rejects()
            if not self.scope.pipeline.error_handling.dlq.enabled:
                _refuse_unreadable(rejects)
                continue
            for reject in rejects:
                self.rejected += 1
                self.spool.add_reject(node, reject)
        self.read += self.rejected
        self._keep_budget()

    def counts(self) -> Counts:
        """Rows by their end, all but what the target will say."""
        totals = dict.fromkeys(_KINDS.values(), 0)
        for code, rows in self.tally.fates.items():
            totals[_KINDS[self.program.exit(code).kind]] += rows
        return Counts(read=self.read, rejected=self.rejected, **totals)

    def warnings(self) -> tuple[str, ...]:
        """What to say of the rows that came by, beside what the program says already."""
        unrouted = {
            exit_.node: self.tally.fates[exit_.code]
            for exit_ in self.program.exits
            if exit_.kind == "filter" and self._is_branch(exit_.node)
        }
        dropped = (
            f"branch {node!r}: {rows} rows took no route that a node reads; they were dropped"
            for node, rows in unrouted.items()
            if rows
        )
        return (*self.program.warnings, *dropped)

    def _is_branch(self, node: str) -> bool:
        return any(n.id == node and n.kind == "branch" for n in self.scope.pipeline.nodes)

    def rules(self, documented: frozenset[tuple[str, str]]) -> tuple[RuleResult, ...]:
        """How the rules that stand in the document fared."""
        return tuple(
            RuleResult(
                c.node,
                c.rule,
                c.severity,
                self.tally.failed[c.bit],
                not self.tally.failed[c.bit],
                c.what,
            )
            for c in self.program.checks
            if (c.node, c.rule) in documented
        )

    def _count_held(self, rows: Rows) -> None:
        before = self.tally.seen
        extra = (SEQUENCE,) if rows.sequence else ()
        selected = ", ".join([*rows.marks, *extra]) or "1"
        for _ in self._stream(f"SELECT {selected} FROM {ident(rows.view)}", rows, 0):
            pass
        self.read += self.tally.seen - before if rows.delivered else 0

    def _stream(self, query: str, rows: Rows, width: int) -> Iterator[pa.RecordBatch]:
        place = 0
        relation = self.connection.sql(query)
        with relation.to_arrow_reader(self.scope.settings.batch_rows) as reader:
            for batch in reader:
                alive, dead = self.tally.add(batch, rows, place)
                place += batch.num_rows
                if dead is not None:
                    self._refuse(dead)
                    self.spool.add(dead, rows)
                if alive.num_rows:
                    yield alive.select(list(range(width)))

    def _refuse(self, dead: pa.RecordBatch) -> None:
        codes = set(dead.column(FATE).unique().to_pylist())
        for exit_ in self.program.exits:
            if exit_.kind == "fail" and exit_.code in codes:
                failed = (
                    c for c in self.program.checks if c.node == exit_.node and c.severity == "fail"
                )
                check = next(c for c in failed if self.tally.failed[c.bit])
                count = self.tally.failed[check.bit]
                raise RowsRefused(
                    check.node, check.rule, check.field, check.what, count, self._place(check)
                )

    def _place(self, check: Check) -> str:
        ordinal = self.tally.first.get(check.bit)
        if ordinal is None or len(self.inputs.scans) != 1 or len(self.inputs.leaves) != 1:
            return ""
        (scan,) = self.inputs.scans.values()
        file, line = scan.locate(ordinal)
        return f"{file.label}:{line}"

    def _keep_budget(self) -> None:
        dlq = self.scope.pipeline.error_handling.dlq
        bad = sum(self.spool.rows.values())
        total = max(self.read, 1)
        if dlq.max_rows is not None and bad > dlq.max_rows:
            raise BudgetExceeded(bad, self.read, f"maxRows {dlq.max_rows}", self._why_bad())
        if dlq.max_pct is not None and bad * 100 > dlq.max_pct * total:
            raise BudgetExceeded(bad, self.read, f"maxPct {dlq.max_pct}", self._why_bad())

    def _why_bad(self) -> str:
        counts = {
            f"{c.node}/{c.rule}": self.tally.failed[c.bit]
            for c in self.program.checks
            if c.severity == "quarantine"
        }
        reasons = {**counts, "not readable": self.rejected}
        named = sorted(((rows, name) for name, rows in reasons.items() if rows), reverse=True)
        return ", ".join(f"{name} {rows}" for rows, name in named[:_REASONS])


def _refuse_unreadable(rejects: Iterator[Reject]) -> None:
    first = next(rejects, None)
    if first is not None:
        more = sum(1 for _ in islice(rejects, RowsUnreadable.COUNTED))
        raise RowsUnreadable(first.file.label, first.line, first.cause, more)
