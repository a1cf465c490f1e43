"""Columns that travel with every row inside a step, and never reach a table.

A row that leaves a pipeline early is not dropped on the spot: it is marked with the exit it takes,
and every later node lets it pass. So one scan of the source yields the rows to load, the rows to
quarantine, and every count, and the three always add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FATE = "_flow_fate"
"""USMALLINT: 0 while the row goes on, else the code of the exit it takes."""
ROW = "_flow_row"
"""VARCHAR: for a quarantined row, the JSON of the row as it entered the node that refused it."""
ORIGINAL = "_flow_original"
"""VARCHAR: the JSON of the row as it entered the target, where the server may still refuse it."""
SEQUENCE = "_flow_seq"
"""BIGINT: the row's place among the rows read, present once an operation may reorder rows."""
FILE = "_flow_file"
"""VARCHAR: the name of the file the row came from, present when a document asks for it."""
ROUTES = "_flow_routes"
"""BIGINT: a bit for each branch route the row takes."""
ENTRY = "_flow_in"
"""STRUCT: the row as it entered the present node."""
ATTEMPT = "_flow_try"
"""STRUCT or NULL: the value of an expression, NULL where it raised."""
BITS = 63
"""Checks held by one `_flow_failed_N` column (UBIGINT)."""

ExitKind = Literal["quarantine", "fail", "filter", "duplicate"]
Severity = Literal["quarantine", "fail", "drop", "warn", "measure"]


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out of the pipeline for a row: where, and what becomes of it."""

    code: int
    node: str
    kind: ExitKind


@dataclass(frozen=True, slots=True)
class Check:
    """One condition looked at for every row; a set bit means that the row does not meet it.

    Attributes:
        bit: position in the `_flow_failed_N` columns.
        node: the node that checks.
        rule: the rule's id in the document, or `cast:amount` and the like for implied ones.
        severity: what a set bit does to the row; `measure` only counts, for dataset validators.
        what: the rule in words, for messages; holds no value of a row.
    """

    bit: int
    node: str
    rule: str
    severity: Severity
    what: str
    field: str = ""

    @property
    def column(self) -> str:
        """The column that holds this bit."""
        return failed_column(self.bit)

    @property
    def mask(self) -> int:
        """This bit's value inside its column."""
        return 1 << (self.bit % BITS)


def failed_column(bit: int) -> str:
    """The name of the column that holds a bit."""
    return f"_flow_failed_{bit // BITS}"
