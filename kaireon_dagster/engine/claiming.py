"""The claim step: a source's files are taken by this run, and remembered, before a byte is read."""

from __future__ import annotations

from typing import cast

from kaireon_dagster import ir
from kaireon_dagster.engine import relations
from kaireon_dagster.engine.abandoned import finish_loaded, settle
from kaireon_dagster.engine.relation import ClaimedFiles
from kaireon_dagster.engine.running import is_complete, open_run, require_open
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.sources import claim_files
from kaireon_dagster.state import alerts, runs
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.errors import wrapped


def claim_source(scope: Scope, step: Step, *, attempt: int = 0) -> ClaimedFiles:
    """Take the files of a source for this run; the same files again when it is repeated.

    A run that has completed takes no more.

    Args:
        scope: the run.
        step: a claim step.
        attempt: how often this run has looked before and found nothing.

    Raises:
        FilesNotThere: no file yet, and the wait policy says to look again later.
        DeadlineMissed: no file at the last look, and the document says to fail.
    """
    source = cast("ir.Source", scope.pipeline.node(step.node))
    with wrapped(f"claim {step.node}"), scope.database.connect() as connection:
        open_run(connection, scope)
        if is_complete(connection, scope):
            return _remembered(connection, scope, step)
        relation = _claim(connection, scope, source, attempt)
        relations.save(connection, scope, step.name, relation)
        if relation.waited_in_vain:
            _alert(connection, scope, source)
    return relation


def _remembered(connection: Connection, scope: Scope, step: Step) -> ClaimedFiles:
    relation = relations.find(connection, scope, step.name)
    return relation if isinstance(relation, ClaimedFiles) else ClaimedFiles(step.node, ())


def _claim(connection: Connection, scope: Scope, source: ir.Source, attempt: int) -> ClaimedFiles:
    finish_loaded(connection, scope)
    require_open(runs.get_run(connection, scope.run_id), scope, source.id)
    claim = claim_files(
        source,
        run_id=scope.run_id,
        now=scope.started_at,
        attempt=attempt,
        is_over=lambda run_id: settle(connection, scope, run_id),
        min_age_seconds=_min_age(scope.pipeline),
    )
    return ClaimedFiles(source.id, claim.files, claim.superseded, claim.alert)


def _min_age(pipeline: ir.Pipeline) -> float:
    trigger = pipeline.trigger
    return float(trigger.file_arrival.min_file_age_seconds) if trigger else 0.0


def _alert(connection: Connection, scope: Scope, source: ir.Source) -> None:
    pattern = source.config.pattern.value
    alerts.raise_alert(
        connection,
        scope.pipeline.tenant_id,
        "warning",
        "Pipeline source had no files",
        f'Source node "{source.id}" matched 0 files for pattern "{pattern}".',
        link="/data/flow-runs",
        metadata={"pipelineId": scope.pipeline.id, "runId": scope.run_id, "nodeId": source.id},
    )
