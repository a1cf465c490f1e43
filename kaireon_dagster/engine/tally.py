"""Counts what became of each row, batch by batch, and lets only the alive ones through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from kaireon_dagster.plan.hidden import FATE, ROW, SEQUENCE, Check
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows


class Tally:
    """The books of one step.

    Attributes:
        seen: rows that came by, dead or alive, by where they were counted.
        fates: exit code to rows.
        failed: check bit to rows.
        first: check bit to the ordinal (from 0) of the first row that failed it, if known.
    """

    def __init__(self, program: Program) -> None:
        self._checks = program.checks
        self.seen = 0
        self.alive = 0
        self.fates: Counter[int] = Counter()
        self.failed: Counter[int] = Counter()
        self.first: dict[int, int | None] = {}

    def add(
        self, batch: pa.RecordBatch, rows: Rows, place: int
    ) -> tuple[pa.RecordBatch, pa.RecordBatch | None]:
        """Count a batch, whose first row has the given place; split it into alive and dead rows."""
        self.seen += batch.num_rows
        self._count_checks(batch, rows, place)
        if not rows.fated:
            self.alive += batch.num_rows
            return batch, None
        fate = batch.column(FATE)
        dead = pc.not_equal(fate, 0)
        if not pc.any(dead).as_py():
            self.alive += batch.num_rows
            return batch, None
        self._count_fates(fate)
        alive = batch.filter(pc.invert(dead))
        self.alive += alive.num_rows
        return alive, batch.filter(dead)

    def _count_fates(self, fate: pa.Array) -> None:
        for item in pc.value_counts(fate).to_pylist():
            if item["values"]:
                self.fates[item["values"]] += item["counts"]

    def _count_checks(self, batch: pa.RecordBatch, rows: Rows, place: int) -> None:
        for column in rows.failed:
            bits = batch.column(column)
            if pc.max(bits).as_py():
                checks = [check for check in self._checks if check.column == column]
                self._count_bits(bits, checks, batch, rows, place)

    def _count_bits(
        self, bits: pa.Array, checks: Iterable[Check], batch: pa.RecordBatch, rows: Rows, place: int
    ) -> None:
        for check in checks:
            hits = pc.not_equal(pc.bit_wise_and(bits, pa.scalar(check.mask, pa.uint64())), 0)
            count = pc.sum(hits).as_py() or 0
            if count:
                self.failed[check.bit] += count
                if check.bit not in self.first and check.severity != "measure":
                    self.first[check.bit] = _ordinal(hits, batch, rows, place)


def _ordinal(hits: pa.Array, batch: pa.RecordBatch, rows: Rows, place: int) -> int | None:
    index = pc.index(hits, True).as_py()
    if rows.sequence:
        return int(batch.column(SEQUENCE)[index].as_py()) - 1
    return None if rows.scrambled else place + int(index)


def refused_rows(dead: pa.RecordBatch, rows: Rows) -> Iterable[tuple[int, int, str]]:
    """Of dead rows, the quarantined ones: fate, failed bits as one number, JSON of the row."""
    if not rows.quarantined:
        return
    kept = dead.filter(pc.is_valid(dead.column(ROW)))
    columns = [kept.column(name).to_pylist() for name in rows.failed]
    for index, (fate, row) in enumerate(
        zip(kept.column(FATE).to_pylist(), kept.column(ROW).to_pylist(), strict=True)
    ):
        bits = 0
        for position, name in enumerate(rows.failed):
            bits |= columns[position][index] << (63 * int(name.rsplit("_", 1)[1]))
        yield fate, bits, row
