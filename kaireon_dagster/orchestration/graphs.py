"""A document as a graph of ops, and the graph as a multi-asset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.blueprint import RELATION, Blueprint
from kaireon_dagster.orchestration.checkpoint_store import output_facts
from kaireon_dagster.orchestration.describing import describe_node, describe_pipeline
from kaireon_dagster.orchestration.facts import target_facts
from kaireon_dagster.orchestration.keys import table_key
from kaireon_dagster.orchestration.labels import owners_of, tags_of
from kaireon_dagster.orchestration.working import compute_of
from kaireon_dagster.plan.steps import Step

RESOURCES: Final = frozenset({"database", "engine", "dlq_store"})
CHECKPOINT_STORE: Final = "checkpoint_store"


def build_asset(blueprint: Blueprint) -> dg.AssetsDefinition:
    """Build the multi-asset of a document: an asset per target, an op per step."""
    outputs = {_output(blueprint, target): target for target in blueprint.pipeline.targets}
    upstream = {_input(key): key for key in _upstream_keys(blueprint)}
    description = describe_pipeline(blueprint.pipeline)
    return dg.AssetsDefinition.from_graph(
        _graph(blueprint, upstream, description),
        keys_by_input_name=upstream,
        keys_by_output_name={name: blueprint.key(target) for name, target in outputs.items()},
        internal_asset_deps={
            name: set(_behind(blueprint, target)) for name, target in outputs.items()
        },
        group_name=blueprint.job,
        descriptions_by_output_name=dict.fromkeys(outputs, description),
        metadata_by_output_name={
            name: target_facts(blueprint, target) for name, target in outputs.items()
        },
        tags_by_output_name=dict.fromkeys(outputs, tags_of(blueprint.pipeline, "postgres")),
        owners_by_output_name=dict.fromkeys(outputs, owners_of(blueprint.pipeline)),
        code_versions_by_output_name=dict.fromkeys(outputs, blueprint.hash[:12]),
        check_specs=[
            guard.spec(blueprint.key(target))
            for target in blueprint.pipeline.targets
            for guard in blueprint.guards[target.id]
        ],
        can_subset=True,
    )


def _graph(
    blueprint: Blueprint, upstream: Mapping[str, dg.AssetKey], description: str
) -> dg.GraphDefinition:
    plan, aliases = blueprint.plan, blueprint.aliases
    ops = {step.name: _op(blueprint, step, upstream) for step in plan.steps}
    dependencies = {
        dg.NodeInvocation(ops[step.name].name, alias=aliases[step.name]): {
            f"input_{place}": dg.DependencyDefinition(aliases[name], RELATION)
            for place, name in enumerate(step.inputs)
        }
        for step in plan.steps
    }
    return dg.GraphDefinition(
        name=blueprint.graph,
        description=description,
        node_defs=list(ops.values()),
        dependencies=dependencies,
        input_mappings=[
            dg.InputMapping(
                graph_input_name=name,
                mapped_node_name=aliases[step.name],
                mapped_node_input_name=name,
            )
            for step in plan.steps
            for name in ops[step.name].input_dict
            if name in upstream
        ],
        output_mappings=[
            dg.OutputMapping(
                graph_output_name=name,
                mapped_node_name=aliases[step.name],
                mapped_node_output_name=name,
            )
            for step in plan.loads
            for name in ops[step.name].output_dict
        ],
    )


def _op(blueprint: Blueprint, step: Step, upstream: Mapping[str, dg.AssetKey]) -> dg.OpDefinition:
    first = [
        name
        for name, key in upstream.items()
        if step.kind == "claim" and key in set(_before(blueprint, step))
    ]
    relations = {f"input_{place}": dg.In() for place in range(len(step.inputs))}
    return dg.OpDefinition(
        name=blueprint.ops[step.name],
        description=describe_node(blueprint.pipeline.node(step.node)),
        compute_fn=compute_of(blueprint, step),
        ins={**relations, **{name: dg.In(dg.Nothing) for name in first}},
        outs=dict(_outs(blueprint, step)),
        required_resource_keys=set(RESOURCES),
        tags={"dagster/kind/postgres": "", f"dagster/kind/{step.kind}": ""},
    )


def _outs(blueprint: Blueprint, step: Step) -> Iterator[tuple[str, dg.Out]]:
    node = blueprint.pipeline.node(step.node)
    if not isinstance(node, ir.Target):
        facts = output_facts(blueprint, step)
        yield RELATION, dg.Out(io_manager_key=CHECKPOINT_STORE, metadata=facts)
        return
    yield _output(blueprint, node), dg.Out(dg.Nothing, is_required=False)
    for guard in blueprint.guards[node.id]:
        name = guard.spec(blueprint.key(node)).get_python_identifier()
        yield name, dg.Out(dg.Nothing, is_required=False)


def _output(blueprint: Blueprint, target: ir.Target) -> str:
    return blueprint.key(target).to_python_identifier()


def _input(key: dg.AssetKey) -> str:
    return f"after__{key.to_python_identifier()}"


def _upstream_keys(blueprint: Blueprint) -> Iterator[dg.AssetKey]:
    for node in blueprint.source_nodes:
        yield blueprint.source_key(node.id)
    yield from map(table_key, blueprint.lookups)


def _before(blueprint: Blueprint, step: Step) -> Iterator[dg.AssetKey]:
    # A run that reads a table starts after it: were only the step that reads it to wait, a fault
    # of the other pipeline would leave this one with files claimed and nobody to load them.
    yield blueprint.source_key(step.node)
    yield from map(table_key, blueprint.lookups)


def _behind(blueprint: Blueprint, target: ir.Target) -> Iterator[dg.AssetKey]:
    load = blueprint.plan.step(target.id)
    for step in blueprint.upstream(load):
        if step.kind == "claim":
            yield blueprint.source_key(step.node)
    yield from map(table_key, blueprint.lookups)
