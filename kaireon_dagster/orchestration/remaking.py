"""Inputs of a step that its run does not have: those of a document that changed since they were made."""

from __future__ import annotations

from kaireon_dagster.engine import relations
from kaireon_dagster.engine.claiming import claim_source
from kaireon_dagster.engine.relation import Relation
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.staging import stage_node
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.state import wrapped


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
        return claim_source(scope, step)
    inputs = {name: remake(scope, scope.plan.step(name)) for name in step.inputs}
    return stage_node(scope, step, inputs)[0]
