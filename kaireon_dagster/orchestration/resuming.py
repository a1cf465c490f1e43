"""What a re-execution goes on with: results of earlier steps, or these steps done again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from kaireon_dagster import ir
from kaireon_dagster.engine import relations
from kaireon_dagster.engine.claiming import claim_source
from kaireon_dagster.engine.relation import ClaimedFiles, Relation, relation_from_json
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.staging import stage_node
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.sources import ClaimedFile
from kaireon_dagster.state import Connection, checkpoints, ledger, wrapped


def remake(scope: Scope, step: Step) -> Relation:
    """Find the result of a step, or do the step again for the document as it is now."""
    with wrapped("read the checkpoint store"), scope.database.connect() as connection:
        found = relations.find(connection, scope, step.name)
    if found is not None:
        return found
    scope.log(
        f"this run has no result of step {step.name!r} for the document as it is now; "
        "the step is done again"
    )
    if step.kind == "claim":
        return reclaim(scope, step) or claim_source(scope, step)
    inputs = {name: remake(scope, scope.plan.step(name)) for name in step.inputs}
    return stage_node(scope, step, inputs)[0]


def reclaim(scope: Scope, step: Step) -> ClaimedFiles | None:
    """Take the files again that a run had claimed before; None when it shall look for files anew.

    Files that were changed since, in the place where the failed run had put them, are taken as they
    are now. If one is gone, all are looked for anew. Once a target has loaded them nothing may
    change: the others would load other rows.
    """
    with wrapped("find claimed files"), scope.database.connect() as connection:
        data = checkpoints.find_latest(connection, scope.run_id, step.name)
        claimed = None if data is None else relation_from_json(data)
        if not isinstance(claimed, ClaimedFiles):
            return None
        if not _has_loaded(connection, scope):
            fresh = _as_they_are(scope, claimed)
            if fresh is None:
                return None
            claimed = fresh
        relations.save(connection, scope, step.name, claimed)
    return claimed


def _has_loaded(connection: Connection, scope: Scope) -> bool:
    targets = (target.id for target in scope.pipeline.targets)
    return any(ledger.find(connection, scope.run_id, target) is not None for target in targets)


def _as_they_are(scope: Scope, claimed: ClaimedFiles) -> ClaimedFiles | None:
    source = cast("ir.Source", scope.pipeline.node(claimed.node))
    if not claimed.files:
        return None
    if source.connector != "local_fs":
        return claimed
    found = [_look(file) for file in claimed.files]
    files = tuple(file for file in found if file is not None)
    if len(files) < len(claimed.files):
        scope.log(f"files of {source.id!r} are no longer where this run left them; looking anew")
        return None
    if files != claimed.files:
        scope.log(f"files of {source.id!r} have changed since this run claimed them")
    return replace(claimed, files=files)


def _look(file: ClaimedFile) -> ClaimedFile | None:
    try:
        found = Path(file.path).stat()
    except OSError:
        return None
    return replace(file, size=found.st_size, mtime_ns=found.st_mtime_ns)
