"""The IO manager that is the checkpoint store: where the result of each durable step stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from kaireon_dagster.errors import FlowError
from kaireon_dagster.orchestration.errors import NotARelation
from kaireon_dagster.orchestration.flow_run import find_run_id
from kaireon_dagster.orchestration.resources import FlowDatabase
from kaireon_dagster.state import checkpoints, wrapped

if TYPE_CHECKING:
    from kaireon_dagster.engine.relation import Relation
    from kaireon_dagster.orchestration.blueprint import Blueprint
    from kaireon_dagster.plan.steps import Step

PIPELINE: Final = "flow/pipeline"
JOB: Final = "flow/job"
HASH: Final = "flow/hash"
STEP: Final = "flow/step"


def output_facts(blueprint: Blueprint, step: Step) -> dict[str, str]:
    """What the store must know of a step's output, as the output's metadata."""
    return {
        PIPELINE: blueprint.pipeline.id,
        JOB: blueprint.job,
        HASH: blueprint.hash,
        STEP: step.name,
    }


class FlowCheckpointStore(dg.ConfigurableIOManager):
    """Keeps relations in PostgreSQL, by root run, content hash of the document, and step.

    A relation says where rows are: claimed files, or a staged table. The step that makes one stores
    it in its own transaction, so nothing is left to write here. A re-executed run finds the
    relations of its root run, on any machine; under a document that has changed it finds none.
    """

    database: FlowDatabase

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """See that nothing but a relation travels between steps."""
        from kaireon_dagster.engine.relation import ClaimedFiles, StagedTable

        if not isinstance(obj, (ClaimedFiles, StagedTable)):
            raise NotARelation(context.step_key, type(obj).__name__)

    def load_input(self, context: dg.InputContext) -> Relation | None:
        """Find the relation of the step upstream; None when this run has none for the document.

        None too when the database does not answer: the step that asks meets that fault itself,
        where it is tried again.
        """
        from kaireon_dagster.engine.relation import relation_from_json

        assert context.upstream_output is not None, "a relation is some step's output"
        facts = context.upstream_output.definition_metadata
        run = context.step_context.dagster_run
        try:
            with self.database.open().connect() as connection, wrapped("read the checkpoint store"):
                run_id = find_run_id(connection, context.instance, run, facts[PIPELINE], facts[JOB])
                data = checkpoints.find(connection, run_id, facts[HASH], facts[STEP])
        except FlowError:
            return None
        return None if data is None else relation_from_json(data)
