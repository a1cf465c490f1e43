"""Rows on their way through a step: the view that holds them, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kaireon_dagster.plan import hidden
from kaireon_dagster.plan.columns import Columns


@dataclass(frozen=True, slots=True)
class Rows:
    """A view, its visible columns, and which hidden columns it carries.

    Attributes:
        view: name of the view or table.
        columns: visible columns in order.
        fated: it has `_flow_fate`; without it every row is alive.
        failed: the `_flow_failed_N` columns it has.
        quarantined: it has `_flow_row`.
        sequence: it has `_flow_seq`.
        file: it has `_flow_file`.
        routes: it has `_flow_routes`.
        scrambled: the order of rows may differ from the order they were read in.
        source: node id of the source its rows come from first, for the lineage column.
        delivered: its rows are those of files, one by one; after a set operation they are not.
    """

    view: str
    columns: Columns
    fated: bool = False
    failed: tuple[str, ...] = ()
    quarantined: bool = False
    sequence: bool = False
    file: bool = False
    routes: bool = False
    scrambled: bool = False
    source: str = ""
    delivered: bool = False

    @property
    def alive(self) -> str:
        """SQL condition: the row has taken no exit yet."""
        return f"{hidden.FATE} = 0" if self.fated else "TRUE"

    @property
    def marks(self) -> tuple[str, ...]:
        """The hidden columns that say what became of a row."""
        fate = (hidden.FATE,) if self.fated else ()
        row = (hidden.ROW,) if self.quarantined else ()
        return (*fate, *self.failed, *row)

    @property
    def luggage(self) -> tuple[str, ...]:
        """The hidden columns that survive into a durable table."""
        held = (
            (self.sequence, hidden.SEQUENCE),
            (self.file, hidden.FILE),
            (self.routes, hidden.ROUTES),
        )
        return tuple(name for present, name in held if present)

    def unmarked(self, view: str) -> Rows:
        """The alive rows of these, in a new view without marks."""
        return replace(self, view=view, fated=False, failed=(), quarantined=False)
