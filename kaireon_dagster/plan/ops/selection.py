"""Operations that let rows go: filter and deduplicate."""

from __future__ import annotations

from kaireon_dagster import ir
from kaireon_dagster.plan import computed, hidden
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.sqltext import ident


def keep_where(node: NodeBuilder, op: ir.Filter) -> None:
    """Keep the rows for which the condition is true; the others are counted as filtered."""
    sql, attempted = computed.condition(node, op.condition, "filter")
    node.decide()
    node.send("filter", f"({sql}) IS NOT TRUE", f"keep {' '.join(op.condition.split())}")
    if attempted:
        node.layer({}, exclude=[hidden.ATTEMPT], comment="forget the tried condition")


def deduplicate(node: NodeBuilder, op: ir.Deduplicate) -> None:
    """Keep the first or the last row of each key, by a column or by arrival.

    NULL keys are equal to each other. Rows whose `orderBy` is NULL lose against all others.
    """
    columns = node.rows.columns
    keys = [ident(columns.get(key).name) for key in op.keys]
    node.decide()
    node.sequence()
    direction = "ASC" if op.keep == "first" else "DESC"
    by = [f"{ident(columns.get(op.order_by).name)} {direction} NULLS LAST"] if op.order_by else []
    order = ", ".join([*by, f"{hidden.SEQUENCE} {direction}"])
    groups = ", ".join([f"({node.rows.alive})", *keys])
    place = f"row_number() OVER (PARTITION BY {groups} ORDER BY {order})"
    node.send("duplicate", f"{place} > 1", f"keep the {op.keep} of each {', '.join(op.keys)}")
    node.scramble()
