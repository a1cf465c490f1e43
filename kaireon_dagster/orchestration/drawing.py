"""Draws blueprints of documents that stand side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kaireon_dagster import ir
from kaireon_dagster.orchestration.blueprint import Blueprint
from kaireon_dagster.orchestration.guards import guards_of
from kaireon_dagster.orchestration.keys import Keys, TableName
from kaireon_dagster.orchestration.names import Wish, give_names, legal_name
from kaireon_dagster.orchestration.reading import lookups_of
from kaireon_dagster.plan.steps import Checkpoints, Plan, plan_pipeline

_JOB, _GRAPH, _OP = "job", "graph", "op"


def draw(
    documents: Iterable[ir.LoadedDocument], *, checkpoints: Checkpoints = "where_needed"
) -> tuple[Blueprint, ...]:
    """Draw the blueprints of all documents, with names and keys that do not clash.

    Args:
        documents: the documents of one code location.
        checkpoints: which nodes become durable steps, as in `plan_pipeline`.
    """
    documents = tuple(documents)
    keys = Keys.of(document.pipeline for document in documents)
    plans = [plan_pipeline(document.pipeline, checkpoints=checkpoints) for document in documents]
    names = _name_all(plans)
    lookups = lookups_of((document.pipeline for document in documents), keys)
    return tuple(
        _draw(document, plan, keys, names, lookups[document.pipeline.id])
        for document, plan in zip(documents, plans, strict=True)
    )


def _name_all(plans: Sequence[Plan]) -> dict[Wish, str]:
    # Jobs, graphs and ops share one namespace in a code location. Jobs are what people type.
    jobs: dict[Wish, str] = {
        (_JOB, plan.pipeline.id): legal_name(plan.pipeline.id) for plan in plans
    }
    named = give_names(jobs)
    inner: dict[Wish, str] = {}
    for plan in plans:
        pipeline = plan.pipeline.id
        inner[(_GRAPH, pipeline)] = f"flow__{legal_name(pipeline)}"
        for step in plan.steps:
            inner[(_OP, pipeline, step.name)] = f"{legal_name(pipeline)}__{legal_name(step.name)}"
    return named | give_names(inner, frozenset(named.values()))


def _draw(
    document: ir.LoadedDocument,
    plan: Plan,
    keys: Keys,
    names: dict[Wish, str],
    lookups: tuple[TableName, ...],
) -> Blueprint:
    pipeline = document.pipeline
    steps: dict[Wish, str] = {(step.name,): legal_name(step.name) for step in plan.steps}
    return Blueprint(
        path=document.path,
        plan=plan,
        hash=ir.content_hash(pipeline),
        keys=keys,
        job=names[(_JOB, pipeline.id)],
        graph=names[(_GRAPH, pipeline.id)],
        ops={step.name: names[(_OP, pipeline.id, step.name)] for step in plan.steps},
        aliases={wish[0]: name for wish, name in give_names(steps).items()},
        guards={target.id: guards_of(pipeline, target) for target in pipeline.targets},
        lookups=lookups,
    )
