"""One document as Dagster will see it: names, keys, steps and guards, worked out once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.guards import Guard
from kaireon_dagster.orchestration.keys import Keys, TableName
from kaireon_dagster.plan.steps import Plan, Step

RELATION = "relation"
"""Name of the one output of a claim or stage step."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A document, and what its parts are called.

    Attributes:
        path: the document's file.
        plan: the document and its steps.
        hash: its content hash.
        keys: asset keys, agreed with the documents beside it.
        job: name of its job, and of its asset group.
        graph: name of its graph.
        ops: op definition names by step name.
        aliases: op names inside the graph by step name.
        guards: rules by target node.
        lookups: tables of the database that it reads and waits for.
    """

    path: Path
    plan: Plan
    hash: str
    keys: Keys
    job: str
    graph: str
    ops: Mapping[str, str]
    aliases: Mapping[str, str]
    guards: Mapping[str, tuple[Guard, ...]]
    lookups: tuple[TableName, ...]

    @property
    def pipeline(self) -> ir.Pipeline:
        """The document."""
        return self.plan.pipeline

    def key(self, target: ir.Target) -> dg.AssetKey:
        """Asset key of a target."""
        return self.keys.target(self.pipeline, target)

    def source_key(self, node: str) -> dg.AssetKey:
        """Asset key of a source's files."""
        return self.keys.source(self.pipeline, node)

    @property
    def source_nodes(self) -> tuple[ir.Source | ir.StreamSource, ...]:
        """All sources, of files and of messages."""
        return (*self.pipeline.sources, *self.pipeline.streams)

    @property
    def quarantines(self) -> tuple[TableName, ...]:
        """Tables that refused rows may go to."""
        return tuple(dict.fromkeys(_quarantines(self.pipeline)))

    def upstream(self, step: Step) -> tuple[Step, ...]:
        """All steps that a step stands on, in the order of the plan."""
        found: set[str] = set()
        waiting = list(step.inputs)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.plan.step(name).inputs)
        return tuple(step for step in self.plan.steps if step.name in found)

    def reached(self, source: str) -> tuple[ir.Target, ...]:
        """The targets that a source's rows can reach."""
        return tuple(
            target
            for target in self.pipeline.targets
            if source in {step.name for step in self.upstream(self.plan.step(target.id))}
        )

    def restricted(self, targets: tuple[ir.Target, ...]) -> Plan:
        """The plan of these targets alone."""
        if len(targets) == len(self.pipeline.targets):
            return self.plan
        loads = [self.plan.step(target.id) for target in targets]
        needed = {step.name for load in loads for step in (load, *self.upstream(load))}
        return Plan(self.pipeline, tuple(s for s in self.plan.steps if s.name in needed))


def _quarantines(pipeline: ir.Pipeline) -> Iterator[TableName]:
    if pipeline.error_handling.dlq.enabled:
        yield pipeline.dlq_table
    for node in pipeline.nodes:
        if isinstance(node, ir.Validate) and any(r.on_fail == "quarantine" for r in node.row_level):
            yield node.quarantine.relation if node.quarantine else pipeline.dlq_table
