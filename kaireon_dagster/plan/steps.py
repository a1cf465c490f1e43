"""Cuts a pipeline into steps: one for every place where something becomes durable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kaireon_dagster import ir

StepKind = Literal["claim", "stage", "load"]
Checkpoints = Literal["where_needed", "every_node"]


@dataclass(frozen=True, slots=True)
class Step:
    """One durable step.

    Attributes:
        name: unique in the pipeline; the node's id, or `<source>__staged` where a source is also staged.
        node: id of the node it ends in.
        kind: `claim` takes files, `stage` writes an unlogged table, `load` writes a target.
        inputs: names of the steps whose results it reads.
        nodes: ids of the nodes worked on in it, in order.
    """

    name: str
    node: str
    kind: StepKind
    inputs: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A pipeline and its steps in an order in which they can run."""

    pipeline: ir.Pipeline
    steps: tuple[Step, ...]

    def step(self, name: str) -> Step:
        """The step of that name."""
        return next(step for step in self.steps if step.name == name)

    @property
    def loads(self) -> tuple[Step, ...]:
        """The steps that write targets."""
        return tuple(step for step in self.steps if step.kind == "load")

    def upstream_targets(self) -> tuple[str, ...]:
        """Ids of the target nodes."""
        return tuple(step.node for step in self.loads)


def plan_pipeline(pipeline: ir.Pipeline, *, checkpoints: Checkpoints = "where_needed") -> Plan:
    """Cut a pipeline into steps.

    A node is staged when several nodes read it, when its document says `checkpoint: true`, or under
    `checkpoints="every_node"`; all others are views inside the step that reads them.
    """
    readers = consumers(pipeline)
    staged = {n.id for n in pipeline.nodes if _is_staged(n, readers, checkpoints)}
    return Plan(pipeline, tuple(_steps(pipeline, staged)))


def consumers(pipeline: ir.Pipeline) -> Mapping[str, tuple[tuple[str, str | None], ...]]:
    """For each node, who reads it and by which route."""
    found: dict[str, list[tuple[str, str | None]]] = {node.id: [] for node in pipeline.nodes}
    for node in pipeline.nodes:
        for reference in node.inputs:
            upstream, route = ir.split_reference(reference)
            found[upstream].append((node.id, route))
    return {key: tuple(value) for key, value in found.items()}


def _is_staged(
    node: ir.AnyNode,
    readers: Mapping[str, tuple[tuple[str, str | None], ...]],
    checkpoints: Checkpoints,
) -> bool:
    if node.kind == "target":
        return False
    several = len(readers[node.id]) > 1
    every = checkpoints == "every_node" and node.kind != "source"
    return several or node.checkpoint or every


def _steps(pipeline: ir.Pipeline, staged: set[str]) -> Iterator[Step]:
    for node in ordered(pipeline):
        if node.kind == "source":
            yield Step(node.id, node.id, "claim", (), (node.id,))
        if node.id in staged and node.kind == "source":
            yield Step(staged_name(node.id), node.id, "stage", (node.id,), (node.id,))
        elif node.id in staged or node.kind == "target":
            nodes, inputs = _fused(pipeline, node, staged)
            kind: StepKind = "load" if node.kind == "target" else "stage"
            yield Step(node.id, node.id, kind, inputs, nodes)


def staged_name(source: str) -> str:
    """Name of the step that stages a source."""
    return f"{source}__staged"


def _fused(
    pipeline: ir.Pipeline, end: ir.AnyNode, staged: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    fused, inputs = {end.id}, set()
    waiting = [end]
    while waiting:
        for reference in waiting.pop().inputs:
            upstream = pipeline.node(ir.split_reference(reference)[0])
            if upstream.id in staged:
                inputs.add(staged_name(upstream.id) if upstream.kind == "source" else upstream.id)
            else:
                fused.add(upstream.id)
                waiting.append(upstream)
    nodes = tuple(node for node in ordered(pipeline) if node.id in fused)
    claimed = (node.id for node in nodes if node.kind == "source")
    return tuple(node.id for node in nodes), (*claimed, *sorted(inputs))


def ordered(pipeline: ir.Pipeline) -> tuple[ir.AnyNode, ...]:
    """Nodes so that each stands after all that it reads, document order otherwise."""
    placed: dict[str, ir.AnyNode] = {}
    waiting = list(reversed(pipeline.nodes))
    while waiting:
        node = waiting[-1]
        missing = [up for up in _upstream(node) if up not in placed]
        if missing:
            waiting.extend(pipeline.node(up) for up in reversed(missing))
        else:
            placed.setdefault(waiting.pop().id, node)
    return tuple(placed.values())


def _upstream(node: ir.AnyNode) -> Iterator[str]:
    for reference in node.inputs:
        yield ir.split_reference(reference)[0]
