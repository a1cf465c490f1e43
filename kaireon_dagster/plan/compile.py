"""Compiles a step for known input columns: nodes become views, ending in the rows to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from kaireon_dagster import ir
from kaireon_dagster.errors import NotYetRunnable
from kaireon_dagster.plan import routing, target, validate, variables
from kaireon_dagster.plan.builder import Builder, NodeBuilder
from kaireon_dagster.plan.catalog import Catalog, TableName
from kaireon_dagster.plan.hidden import Severity
from kaireon_dagster.plan.ops.lookup import Lookup, lookup_of
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.steps import Plan, Step, consumers, staged_name
from kaireon_dagster.plan.target import Placement
from kaireon_dagster.plan.transform import transform

Leaves = Mapping[str, Rows]
"""For each input step's name, the rows as the worker finds them."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A step's program, and for a load how its table is written."""

    program: Program
    placement: Placement | None = None


def compile_step(
    plan: Plan, step: Step, leaves: Leaves, catalog: Catalog, *, keep_rows: bool = False
) -> Compiled:
    """Compile a stage or load step.

    Args:
        plan: the pipeline.
        step: one of its steps.
        leaves: what the step reads.
        catalog: the tables that it touches.
        keep_rows: rows to load carry themselves as they came to the target.

    Raises:
        ColumnFault, NodeFault, ExpressionRefused: the document does not fit these columns.
        NotYetRunnable: a node of the step has no execution yet.
    """
    return _StepCompiler(plan, step, leaves, catalog, keep_rows).compile()


class _StepCompiler:
    def __init__(
        self, plan: Plan, step: Step, leaves: Leaves, catalog: Catalog, keep_rows: bool
    ) -> None:
        self.plan, self.step, self.leaves, self.catalog = plan, step, leaves, catalog
        self.keep_rows = keep_rows
        fault: Severity = "quarantine" if plan.pipeline.error_handling.dlq.enabled else "fail"
        self.builder = Builder(fault)
        self.readers = consumers(plan.pipeline)
        self.done: dict[str, Rows] = {}

    def compile(self) -> Compiled:
        for node_id in self.step.nodes[:-1]:
            self.done[node_id] = self._rows(self.plan.pipeline.node(node_id))
        node = self.plan.pipeline.node(self.step.node)
        if node.kind == "target":
            return self._load(node)
        return Compiled(self.builder.program(self._rows(node)))

    def _load(self, spec: ir.Target) -> Compiled:
        builder = self._enter(spec)
        placement = target.place(spec, builder.rows.columns, self.catalog)
        self.builder.warnings.extend(placement.notes)
        table = self.catalog.get(spec.table)
        target.fit(builder, placement, table, keep_rows=self.keep_rows)
        return Compiled(self.builder.program(builder.finish()), placement)

    def _rows(self, node: ir.AnyNode) -> Rows:
        if node.kind == "source":
            return replace(self.leaves[node.id], source=node.id)
        if node.kind == "join":
            left, right = (self._read(node.id, reference) for reference in node.inputs)
            return routing.join(self.builder, node, left, right)
        builder = self._enter(node)
        _NODES.get(node.kind, _refuse)(self, builder, node)
        return builder.finish()

    def _enter(self, node: ir.AnyNode) -> NodeBuilder:
        return NodeBuilder(self.builder, node.id, self._read(node.id, node.inputs[0]))

    def _read(self, reader: str, reference: str) -> Rows:
        upstream_id, route = ir.split_reference(reference)
        upstream = self.plan.pipeline.node(upstream_id)
        staged = self._staged(upstream)
        rows = staged or self.done[upstream_id]
        if route is None or not rows.routes:
            return rows
        builder = NodeBuilder(self.builder, f"{reader}.{route}", rows)
        routing.follow(builder, cast("ir.Branch", upstream), route, counted=staged is None)
        return builder.finish()

    def _staged(self, node: ir.AnyNode) -> Rows | None:
        name = staged_name(node.id) if node.kind == "source" else node.id
        return self.leaves.get(name) if name in self.step.inputs else None

    def transform(self, builder: NodeBuilder, node: ir.AnyNode) -> None:
        transform(builder, cast("ir.Transform", node), self.catalog)

    def validate(self, builder: NodeBuilder, node: ir.AnyNode) -> None:
        validate.validate(builder, cast("ir.Validate", node), self.catalog)

    def branch(self, builder: NodeBuilder, node: ir.AnyNode) -> None:
        read = frozenset(route for _, route in self.readers[node.id] if route)
        routing.branch(builder, cast("ir.Branch", node), read)


def _refuse(compiler: _StepCompiler, _builder: NodeBuilder, node: ir.AnyNode) -> None:
    raise NotYetRunnable(compiler.plan.pipeline.id, node.id, f"a node of kind {node.kind!r}")


_NODES: Mapping[str, Callable[[_StepCompiler, NodeBuilder, ir.AnyNode], None]] = {
    "transform": _StepCompiler.transform,
    "validate": _StepCompiler.validate,
    "branch": _StepCompiler.branch,
}


def is_runnable(node: ir.AnyNode) -> bool:
    """Whether this release has an execution for a node of this kind."""
    return node.kind in _NODES or node.kind in ("source", "join", "target")


def lookups(plan: Plan, step: Step) -> tuple[Lookup, ...]:
    """Tables of PostgreSQL that a step needs in the worker, each once."""
    found: dict[str, Lookup] = {}
    for node in (plan.pipeline.node(node_id) for node_id in step.nodes):
        for lookup in _lookups_of(node):
            found.setdefault(lookup.view, lookup)
    return tuple(found.values())


def _lookups_of(node: ir.AnyNode) -> Iterator[Lookup]:
    if node.kind == "transform":
        for op in node.ops:
            if op.type == "lookup_join":
                yield lookup_of(node.id, op)
    if node.kind == "validate":
        for rule in node.dataset_rules:
            if isinstance(rule, ir.Referential):
                yield validate.referenced(node.id, rule)


def tables(plan: Plan, step: Step) -> tuple[TableName, ...]:
    """Tables that must be in the catalog before a step is compiled."""
    node = plan.pipeline.node(step.node)
    own = (node.table,) if node.kind == "target" else ()
    return tuple(dict.fromkeys([*own, *(lookup.table for lookup in lookups(plan, step))]))


def asks_for_file(pipeline: ir.Pipeline) -> bool:
    """Whether any node wants to know the file a row came from."""
    ops = (op for node in pipeline.nodes if node.kind == "transform" for op in node.ops)
    return any(op.type == "add_field" and variables.asks_for_file(op.value) for op in ops)
