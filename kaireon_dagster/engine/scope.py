"""Whose work a step does: the run, its plan, and where it may keep things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from kaireon_dagster import ir
from kaireon_dagster.plan.steps import Plan
from kaireon_dagster.state.database import Database

LOOKUP_ROWS = 1_000_000
"""Rows of a lookup table that a worker takes in; more is refused with advice."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the worker.

    Attributes:
        memory_limit: DuckDB's, as it writes sizes; Arrow batches and encoding come on top, and 1 MB for
            each column where rows have more than 200.
        threads: DuckDB's.
        batch_rows: rows of an Arrow batch, between reading and COPY.
        spill_folder: where DuckDB and the quarantine spool write what does not fit in memory.
        lock_wait_seconds: how long one attempt to lock a table waits, so that readers never queue long.
        lock_attempts: attempts before the load gives up.
    """

    memory_limit: str = "256MB"
    threads: int = 2
    batch_rows: int = 8192
    lookup_rows: int = LOOKUP_ROWS
    spill_folder: Path | None = None
    lock_wait_seconds: float = 2.0
    lock_attempts: int = 15


@dataclass(frozen=True, slots=True)
class Scope:
    """One run of one pipeline.

    Attributes:
        run_id: id of the root run; retries and re-executions keep it.
        started_at: when the root run started, in UTC; date patterns and templates use it.
        log: takes one line of progress, without values of rows.
        on_read: told how many rows of files a step has read, when it ends, also where it fails.
        execution: id of the Dagster run at work; a failed run is taken up once by each.
    """

    run_id: str
    plan: Plan
    started_at: datetime
    database: Database
    settings: Settings = field(default_factory=Settings)
    log: Callable[[str], None] = lambda _line: None
    on_read: Callable[[int], None] = lambda _rows: None
    execution: str | None = None

    @property
    def pipeline(self) -> ir.Pipeline:
        """The document."""
        return self.plan.pipeline

    @property
    def pipeline_hash(self) -> str:
        """Content hash of the document: what is remembered under another is not this pipeline's."""
        return ir.content_hash(self.plan.pipeline)
