"""Runs that died: what one had loaded is finished, and what it had only begun is taken over."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import psycopg
from psycopg import sql

from kaireon_dagster import ir
from kaireon_dagster.engine import relations
from kaireon_dagster.engine.closing import drop_staged, fail, finish
from kaireon_dagster.engine.outcome import Outcome
from kaireon_dagster.engine.relation import Relation
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.state import checkpoints, ledger, runs
from kaireon_dagster.state.database import Connection

HEARTBEAT_LIMIT = timedelta(minutes=15)
"""A run that has not shown itself for this long is taken for dead."""
_LOCK_WAIT = "2s"


def finish_loaded(connection: Connection, scope: Scope) -> None:
    """Finish the document's runs that had loaded all their targets and died; commits."""
    for run_id in runs.find_loaded(connection, scope.pipeline.id, HEARTBEAT_LIMIT):
        settle(connection, scope, run_id)


def settle(connection: Connection, scope: Scope, run_id: str) -> bool:
    """Settle a run whose files are still in staging, if it is dead; commits.

    A run that had loaded all its targets is finished: loading its files again would double them.
    One that had loaded some of them is closed as failed, for its own re-execution. One that had
    loaded nothing gives its files away, and can never commit any more, should it still be alive.

    Args:
        connection: in no transaction that must not be committed.
        scope: the run that looks for files.
        run_id: the other run.

    Returns:
        Whether this run may take the files of the other.
    """
    run = runs.get_run(connection, run_id)
    if run is None:
        return True
    if run.pipeline_id != scope.pipeline.id or not runs.lock_dead(
        connection, run_id, HEARTBEAT_LIMIT
    ):
        return False
    run = runs.get_run(connection, run_id)
    assert run is not None, "its row is locked"
    try:
        connection.execute("SELECT set_config('lock_timeout', %s, true)", (_LOCK_WAIT,))
        is_free = _end(connection, scope, run)
        connection.commit()
    except psycopg.errors.LockNotAvailable:
        connection.rollback()
        scope.log(f"run {run_id} is silent, but its connection still holds what it works on")
        return False
    return is_free


def _end(connection: Connection, scope: Scope, run: runs.Run) -> bool:
    """End a dead run, whose row is locked."""
    dead = replace(scope, run_id=run.id, started_at=run.started_at)
    done, targets = set(run.metadata["finishedTargets"]), set(run.metadata["targets"])
    if done and done >= targets:
        scope.log(f"run {run.id} had loaded its targets and died; it is closed")
        finish(connection, dead, _results(connection, run))
        return False
    if done:
        missing = ", ".join(sorted(targets - done))
        fail(connection, dead, f"the run died before it loaded {missing}; re-execute it")
        return False
    scope.log(f"run {run.id} had loaded nothing and died; its files are taken over")
    _take_over(connection, scope, run)
    return True


def _results(connection: Connection, run: runs.Run) -> dict[str, Relation]:
    return relations.find_run(connection, run.id, run.metadata["irVersion"])


def _take_over(connection: Connection, scope: Scope, run: runs.Run) -> None:
    runs.take_over(connection, run.id, scope.run_id, f"taken for dead; see run {scope.run_id}")
    drop_staged(connection, _results(connection, run).values())
    for row in ledger.find_run(connection, run.id):
        for table in Outcome.from_json(row.detail).quarantine:
            _take_back(connection, run, table)
    ledger.forget_run(connection, run.id)
    checkpoints.forget_run(connection, run.id)


def _take_back(connection: Connection, run: runs.Run, table: str) -> None:
    """Delete the rows that a dead run has refused; whoever loads its files refuses them again."""
    name = sql.Identifier(*ir.split_table(table))
    there = connection.execute("SELECT to_regclass(%s)", (name.as_string(connection),)).fetchone()
    if there and there[0] is not None:
        delete = sql.SQL('DELETE FROM {} WHERE "pipelineId" = %s AND "runId" = %s').format(name)
        connection.execute(delete, (run.pipeline_id, run.id))
