"""A step's place in its run: opened before it, recorded with it, never done twice."""

from __future__ import annotations

from dataclasses import asdict, replace

from kaireon_dagster.engine.errors import RunEnded
from kaireon_dagster.engine.outcome import Outcome
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.state import ledger, runs
from kaireon_dagster.state.database import Connection

_CHANGED = (
    "the document has changed since this run committed the step; it was not done a second time, "
    "start a new run to apply the change"
)


# Files are moved away for good behind this commit, so a crash of the server must not take it back.
_DURABLE = """
SELECT pg_catalog.set_config('synchronous_commit', 'on', true)
WHERE pg_catalog.current_setting('synchronous_commit') = 'off'
"""


class TakenOver(Terminal):
    """A run that was silent for so long that another one does its work."""

    def __init__(self, run_id: str, by: str) -> None:
        super().__init__(run_id, by)
        self.run_id, self.by = run_id, by

    def __str__(self) -> str:
        return (
            f"run {self.run_id} was taken for dead, and run {self.by} loads its files; nothing of this "
            "run was loaded. Look at that run, or start a new one"
        )


def open_run(connection: Connection, scope: Scope) -> None:
    """Make sure that the run has its row; a failed run that is taken up again runs again."""
    pipeline = scope.pipeline
    runs.open_run(
        connection,
        scope.run_id,
        pipeline.id,
        pipeline.tenant_id,
        scope.pipeline_hash,
        scope.plan.upstream_targets(),
        execution=scope.execution,
    )
    connection.commit()


def require_open(run: runs.Run | None, scope: Scope, node: str) -> None:
    """See that a run may go on.

    Raises:
        TakenOver: another run has taken its files.
        RunEnded: it has failed in another step.
    """
    if run is not None and "takenOverBy" in run.metadata:
        raise TakenOver(scope.run_id, run.metadata["takenOverBy"])
    if run is None or run.status == "failed":
        raise RunEnded(scope.run_id, node)


def is_complete(connection: Connection, scope: Scope) -> bool:
    """Whether all of the run has been done: nothing is taken, staged or refused for it any more."""
    run = runs.get_run(connection, scope.run_id)
    return run is not None and run.status in ("completed", "completed_with_errors")


def begin(connection: Connection, scope: Scope, step: Step) -> Outcome | None:
    """Start a step, or give the outcome of the time it already committed.

    Raises:
        RunEnded: the run has failed in another step meanwhile.
    """
    run = runs.get_run(connection, scope.run_id)
    require_open(run, scope, step.name)
    runs.beat(connection, scope.run_id)
    row = ledger.find(connection, scope.run_id, step.name)
    connection.commit()
    if row is None:
        return None
    outcome = replace(Outcome.from_json(row.detail), repeated=True)
    if row.pipeline_hash != scope.pipeline_hash:
        outcome = replace(outcome, warnings=(*outcome.warnings, _CHANGED))
    return outcome


def record(connection: Connection, scope: Scope, outcome: Outcome) -> None:
    """Write the ledger row and the run's node results, in the step's transaction.

    Raises:
        TakenOver: the step was silent for so long that another run does its work; roll back.
    """
    counts = asdict(outcome.counts)
    ledger.record(
        connection,
        scope.run_id,
        outcome.step,
        scope.pipeline.id,
        scope.pipeline_hash,
        outcome.table,
        counts,
        outcome.to_json(),
    )
    connection.execute(_DURABLE)
    runs.record_node(connection, scope.run_id, outcome.step, _node_results(outcome))
    _require_own(connection, scope)
    if outcome.kind == "load":
        runs.finish_target(connection, scope.run_id, outcome.step)


def _require_own(connection: Connection, scope: Scope) -> None:
    """See, behind the run row's lock, that nobody has taken the run for dead meanwhile."""
    run = runs.get_run(connection, scope.run_id)
    if run is not None and "takenOverBy" in run.metadata:
        raise TakenOver(scope.run_id, run.metadata["takenOverBy"])


def _node_results(outcome: Outcome) -> dict[str, object]:
    counts = outcome.counts
    return {
        "rowsIn": counts.read + counts.staged,
        "rowsRead": counts.read,
        "rowsOut": counts.loaded or counts.staged,
        "rowsLoaded": counts.loaded,
        "rowsQuarantined": counts.quarantined + counts.rejected,
        "warnings": list(outcome.warnings),
        "status": "completed_with_errors" if counts.quarantined + counts.rejected else "completed",
        "seconds": outcome.seconds,
    }
