"""The end of a run: files archived, staging dropped, run row closed. Every part can be repeated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import cast

from psycopg import sql

from kaireon_dagster import ir
from kaireon_dagster.engine import relations
from kaireon_dagster.engine.relation import ClaimedFiles, Relation, StagedTable
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.sources import archive_files
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.faults import FolderUnusable
from kaireon_dagster.state import alerts, runs
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.errors import wrapped


class LeftInStaging(Terminal):
    """Files that were loaded and could not be archived."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause

    def __str__(self) -> str:
        return (
            f"{self.cause}. All targets of the run are loaded, so do not deliver its files again: mend "
            "the folder and re-execute the run, which then only archives them"
        )


def close_if_last(connection: Connection, scope: Scope, step: Step) -> bool:
    """Close the run if this load was its last target; whether it did."""
    last = runs.finish_target(connection, scope.run_id, step.name)
    if last:
        try:
            finish(connection, scope, relations.find_all(connection, scope))
        except FolderUnusable as error:
            raise LeftInStaging(str(error)) from None
    connection.commit()
    return last


def finish(connection: Connection, scope: Scope, results: Mapping[str, Relation]) -> None:
    """Close a run whose targets are all loaded, with the results of its steps."""
    _archive(scope, results.values())
    drop_staged(connection, results.values())
    run = runs.get_run(connection, scope.run_id)
    bad = run is not None and run.rows_quarantined > 0
    runs.close_run(connection, scope.run_id, "completed_with_errors" if bad else "completed")


def fail_run(scope: Scope, error: str) -> None:
    """Close a run that has finally failed: its files go to failureFolder, its row says why."""
    with wrapped("close the failed run"), scope.database.connect() as connection:
        fail(connection, scope, error)


def fail(connection: Connection, scope: Scope, error: str) -> None:
    """As `fail_run`, in the caller's transaction."""
    if runs.fail_run(connection, scope.run_id, error):
        if not _is_loaded(connection, scope):
            _set_aside(connection, scope)
        if scope.pipeline.error_handling.on_failure == "alert":
            _alert(connection, scope, error)


def _is_loaded(connection: Connection, scope: Scope) -> bool:
    """Whether all targets are loaded: such files must not look as if they could be delivered again."""
    run = runs.get_run(connection, scope.run_id)
    return run is not None and set(run.metadata["targets"]) <= set(run.metadata["finishedTargets"])


def drop_staged(connection: Connection, results: Iterable[Relation]) -> None:
    """Drop the staged tables among the results of a run."""
    for relation in results:
        if isinstance(relation, StagedTable) and relation.columns:
            name = sql.Identifier(relation.schema, relation.table)
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))


def _archive(scope: Scope, results: Iterable[Relation]) -> None:
    for relation in results:
        if isinstance(relation, ClaimedFiles):
            source = cast("ir.Source", scope.pipeline.node(relation.node))
            archive_files(source, relation.files, "success", scope.started_at)
            archive_files(source, relation.superseded, "superseded", scope.started_at)


def _set_aside(connection: Connection, scope: Scope) -> None:
    """Move the files of a failed run, and remember where: a re-execution reads them there."""
    for step, relation in relations.find_all(connection, scope).items():
        if isinstance(relation, ClaimedFiles):
            source = cast("ir.Source", scope.pipeline.node(relation.node))
            moved = replace(relation, files=tuple(_moved(scope, source, relation.files)))
            relations.save(connection, scope, step, moved)
            archive_files(source, relation.superseded, "superseded", scope.started_at)


def _moved(scope: Scope, source: ir.Source, files: Iterable[ClaimedFile]) -> Iterable[ClaimedFile]:
    for file in files:
        # Staging has a folder of the run's name; a file outside it failed before, and is set aside.
        staged = scope.run_id in PurePath(file.path).parts
        places = archive_files(source, (file,), "failure", scope.started_at) if staged else ()
        yield replace(file, path=places[0]) if places else file


def _alert(connection: Connection, scope: Scope, error: str) -> None:
    alerts.raise_alert(
        connection,
        scope.pipeline.tenant_id,
        "error",
        "Pipeline run failed",
        error,
        link="/data/flow-runs",
        metadata={"pipelineId": scope.pipeline.id, "runId": scope.run_id},
    )
