"""Run rows: opened by the first step, kept alive by heartbeats, closed once.

A run row's id is the root run's, so a re-execution goes on with its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import psycopg
from psycopg.types.json import Jsonb

from kaireon_dagster.errors import Terminal
from kaireon_dagster.state.statements import statement

Outcome = Literal["completed", "failed", "completed_with_errors"]


class RunUnknown(Terminal):
    """A step reports to a run that was never opened."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id

    def __str__(self) -> str:
        return (
            f"run {self.run_id!r} has no row in pipeline_runs: the step that opens it did not "
            "run, or the row was deleted; start the pipeline anew"
        )


@dataclass(frozen=True, slots=True)
class Run:
    """A row of `pipeline_runs`; times are UTC, counts are rows."""

    id: str
    pipeline_id: str
    tenant_id: str
    status: str
    started_at: datetime
    finished_at: datetime | None
    heartbeat_at: datetime
    rows_in: int
    rows_loaded: int
    rows_quarantined: int
    metadata: Mapping[str, Any]


def open_run(
    connection: psycopg.Connection[Any],
    run_id: str,
    pipeline_id: str,
    tenant_id: str,
    ir_hash: str,
    targets: Sequence[str],
    *,
    execution: str | None = None,
) -> bool:
    """Make sure that the run is running; every step may ask, at the same time too.

    A new run sets its pipeline's `lastRunAt`; a failed run that is resumed runs again, with
    these targets; a run that is running or has completed stays as it is.

    Args:
        connection: whose transaction it joins.
        run_id: id of the root run.
        pipeline_id: whose run it is.
        tenant_id: whose pipeline it is.
        ir_hash: content hash of the document that runs.
        targets: ids of the target nodes that have to finish before the run is complete.
        execution: id of the Dagster run that works on it now. A run is taken up again once by
            each, so a step whose execution has failed already does not open it anew.

    Returns:
        Whether the run is new.
    """
    values = {
        "run": run_id,
        "pipeline": pipeline_id,
        "tenant": tenant_id,
        "hash": ir_hash,
        "targets": Jsonb(list(targets)),
        "execution": execution,
    }
    if _changes(connection, "insert", values):
        connection.execute(statement(connection, "runs", "mark_started"), values)
        return True
    if _changes(connection, "reopen", values):
        connection.execute(statement(connection, "runs", "mark_status"), values)
    return False


def beat(
    connection: psycopg.Connection[Any], run_id: str, *, ahead: timedelta = timedelta()
) -> None:
    """Show that the run is alive; never waits for a lock on its row.

    Args:
        connection: whose transaction it joins.
        run_id: id of the root run.
        ahead: how long nobody will work on it, and it must not be taken for dead.
    """
    connection.execute(statement(connection, "runs", "beat"), {"run": run_id, "ahead": ahead})


def record_node(
    connection: psycopg.Connection[Any], run_id: str, node: str, results: Mapping[str, Any]
) -> None:
    """Keep a node's results, in place of earlier ones, and sum the run's totals over all nodes.

    Args:
        connection: whose transaction it joins; it holds the run row's lock until its end.
        run_id: id of the root run.
        node: id of the node.
        results: `rowsIn rowsOut rowsLoaded rowsQuarantined warnings status` and what else is
            of use. `rowsRead` stands only at nodes that read a source: the run's `rowsIn` is
            the sum of them, `rowsLoaded` and `rowsQuarantined` those of their own name.

    Raises:
        RunUnknown: no such run.
    """
    values = {"run": run_id, "node": node, "results": Jsonb(dict(results))}
    if not _changes(connection, "record_node", values):
        raise RunUnknown(run_id)


def finish_target(connection: psycopg.Connection[Any], run_id: str, node: str) -> bool:
    """Mark a target as done, under the run row's lock.

    To be called last in the load's transaction: the lock is held until it ends.

    Returns:
        Whether all targets of the run are done now. Of targets that finish together exactly
        the last sees it; a target that asks again sees it again, so closing must be idempotent.

    Raises:
        RunUnknown: no such run.
    """
    query = statement(connection, "runs", "finish_target")
    row = connection.execute(query, {"run": run_id, "node": node}).fetchone()
    if row is None:
        raise RunUnknown(run_id)
    return bool(row[0])


def close_run(
    connection: psycopg.Connection[Any],
    run_id: str,
    status: Outcome,
    metadata: Mapping[str, Any] | None = None,
) -> bool:
    """Give an open run its final status; one that is closed already stays as it is.

    Args:
        connection: whose transaction it joins.
        run_id: id of the root run.
        status: how it ended.
        metadata: keys to set in the run's metadata.

    Returns:
        Whether this call closed it.
    """
    values = {"run": run_id, "status": status, "metadata": Jsonb(dict(metadata or {}))}
    closed = _changes(connection, "close", values)
    if closed:
        connection.execute(statement(connection, "runs", "mark_status"), values)
    return closed


def fail_run(connection: psycopg.Connection[Any], run_id: str, error: str) -> bool:
    """Close an open run as failed, with the error's text, which holds no values of rows."""
    return close_run(connection, run_id, "failed", {"error": error})


def get_run(connection: psycopg.Connection[Any], run_id: str) -> Run | None:
    """Read a run row, None if there is none."""
    row = connection.execute(statement(connection, "runs", "find"), {"run": run_id}).fetchone()
    return None if row is None else Run(*row)


def is_live(connection: psycopg.Connection[Any], run_id: str, within: timedelta) -> bool:
    """Whether the run is open and has beaten within this time, by the server's clock."""
    values = {"run": run_id, "within": within}
    row = connection.execute(statement(connection, "runs", "is_live"), values).fetchone()
    return row is not None and bool(row[0])


def lock_dead(connection: psycopg.Connection[Any], run_id: str, within: timedelta) -> bool:
    """Lock the row of a run that is closed, or silent for longer than this; whether it is one."""
    return _changes(connection, "lock_dead", {"run": run_id, "within": within})


def find_loaded(
    connection: psycopg.Connection[Any], pipeline_id: str, within: timedelta
) -> list[str]:
    """Ids of the pipeline's runs that loaded all targets, were not closed, and are silent so long."""
    values = {"pipeline": pipeline_id, "within": within}
    return [
        id for (id,) in connection.execute(statement(connection, "runs", "find_loaded"), values)
    ]


def take_over(connection: psycopg.Connection[Any], run_id: str, by: str, error: str) -> None:
    """Close a run for ever: another run does its work now, and it must not commit any more.

    Args:
        connection: whose transaction it joins; it holds the lock of `lock_dead`.
        run_id: id of the dead run.
        by: id of the run that goes on with its files.
        error: what to say of it.
    """
    values = {"run": run_id, "by": by, "error": error}
    connection.execute(statement(connection, "runs", "take_over"), values)
    connection.execute(statement(connection, "runs", "mark_status"), values)


def _changes(connection: psycopg.Connection[Any], name: str, values: Mapping[str, Any]) -> bool:
    return connection.execute(statement(connection, "runs", name), values).fetchone() is not None
