"""Rows on their way to quarantine, kept on disk until the load's own COPY has ended."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from kaireon_dagster.engine.tally import refused_rows
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.sources import Reject
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.dlq import DlqRow, store
from kaireon_dagster.state.quarantine import RULES, encode_row

PARSE = "parse"
_UNSTORABLE = ("\\u0000", "\\ud", "nan", "NaN", "inf", "Inf")
"""Traces of what jsonb cannot hold; a row with none of them goes as it is."""


class Spool:
    """Collects refused rows by quarantine table, and writes them in one transaction.

    Attributes:
        rows: rows collected, by table.
    """

    def __init__(
        self,
        program: Program,
        tables: Mapping[str, str],
        pipeline: str,
        run: str,
        folder: Path | None,
    ) -> None:
        self._checks = [
            check for check in program.checks if check.severity in ("quarantine", "fail")
        ]
        self._program = program
        self._tables = tables
        self._owner = (pipeline, run)
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder)  # noqa: SIM115
        self.rows: Counter[str] = Counter()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, dead: pa.RecordBatch, rows: Rows) -> None:
        """Take the quarantined rows of a batch."""
        for fate, bits, row in refused_rows(dead, rows):
            node = self._program.exit(fate).node
            rules = [
                check.rule for check in self._checks if bits >> check.bit & 1 and check.node == node
            ]
            self._write(node, rules[0] if rules else "", _with_rules(row, rules))

    def add_reject(self, node: str, reject: Reject) -> None:
        """Take a row that could not be read: its bytes, its place and the cause."""
        row = {
            "_raw": reject.raw,
            "_file": reject.file.label,
            "_line": reject.line,
            "_cause": reject.cause,
        }
        self._write(node, PARSE, encode_row(row))

    def add_refused(self, node: str, rules: Sequence[str], row: str) -> None:
        """Take a row that the server refused, as JSON."""
        self._write(node, rules[0], _with_rules(row, rules))

    def store(self, connection: Connection) -> int:
        """Copy all into their tables, in the caller's transaction; how many there were."""
        return sum(store(connection, table, self._read(table)) for table in self.rows)

    def _write(self, node: str, rule: str, row: str) -> None:
        table = self._tables[node]
        self.rows[table] += 1
        self._file.write(json.dumps([table, node, rule, row]) + "\n")

    def _read(self, table: str) -> Iterator[DlqRow]:
        self._file.seek(0)
        for line in self._file:
            name, node, rule, row = json.loads(line)
            if name == table:
                yield DlqRow(*self._owner, node, rule, row)


def _with_rules(row: str, rules: Sequence[str]) -> str:
    if any(word in row for word in _UNSTORABLE):
        return encode_row(json.loads(row, parse_float=Decimal), rules)
    if len(rules) < 2:
        return row
    return f'{row[:-1]}{"," if len(row) > 2 else ""}"{RULES}":{json.dumps(list(rules))}}}'
