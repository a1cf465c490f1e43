"""Relations in the checkpoint store: where each durable step's result stands."""

from __future__ import annotations

from kaireon_dagster.engine.relation import Relation, relation_from_json
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.state import checkpoints
from kaireon_dagster.state.database import Connection


def save(connection: Connection, scope: Scope, step: str, relation: Relation) -> None:
    """Remember a step's result, in the caller's transaction."""
    checkpoints.save(connection, scope.run_id, scope.pipeline_hash, step, relation.to_json())


def find(connection: Connection, scope: Scope, step: str) -> Relation | None:
    """A step's result; None if it has not finished, or was made by another version of the document."""
    data = checkpoints.find(connection, scope.run_id, scope.pipeline_hash, step)
    return None if data is None else relation_from_json(data)


def find_all(connection: Connection, scope: Scope) -> dict[str, Relation]:
    """Results of all steps that have finished, by step name."""
    return find_run(connection, scope.run_id, scope.pipeline_hash)


def find_run(connection: Connection, run_id: str, pipeline_hash: str) -> dict[str, Relation]:
    """Results of all steps that a run has finished for one version of its document."""
    found = checkpoints.find_run(connection, run_id, pipeline_hash)
    return {name: relation_from_json(data) for name, data in found.items()}
