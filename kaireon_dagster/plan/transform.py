"""The transform node: its operations, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kaireon_dagster import ir
from kaireon_dagster.errors import NotYetRunnable
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.ops import groups, selection, shape, values
from kaireon_dagster.plan.ops.lookup import lookup_join

_OPERATIONS: Mapping[str, Callable[[NodeBuilder, Any], None]] = {
    "expression": values.expression,
    "rename": shape.rename,
    "drop": shape.drop,
    "add_field": values.add_field,
    "hash": values.hash_field,
    "mask_pii": values.mask_pii,
    "map_values": values.map_values,
    "split": shape.split,
    "merge": shape.merge,
    "filter": selection.keep_where,
    "deduplicate": selection.deduplicate,
    "aggregate": groups.aggregate,
    "summarize": groups.summarize,
}


def transform(node: NodeBuilder, spec: ir.Transform, catalog: Catalog) -> None:
    """Add the layers of every operation; casts that follow each other share one."""
    for group in _groups(spec.ops):
        op = group[0]
        if isinstance(op, ir.Cast):
            values.cast(node, [cast for cast in group if isinstance(cast, ir.Cast)])
        elif op.type == "lookup_join":
            lookup_join(node, op, catalog)
        elif op.type in _OPERATIONS:
            _OPERATIONS[op.type](node, op)
        else:
            raise NotYetRunnable("", node.node, f"op {op.type!r}")


def is_runnable(op: ir.Op) -> bool:
    """Whether this release has an execution for an operation."""
    return op.type in ("cast", "lookup_join") or op.type in _OPERATIONS


def _groups(ops: Sequence[ir.Op]) -> Iterator[list[ir.Op]]:
    group: list[ir.Op] = []
    for op in ops:
        fields = {earlier.field for earlier in group if isinstance(earlier, ir.Cast)}
        if group and not (fields and isinstance(op, ir.Cast) and op.field not in fields):
            yield group
            group = []
        group.append(op)
    if group:
        yield group
