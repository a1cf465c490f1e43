"""User expressions as layers: a row whose expression raises is marked, not the whole load lost."""

from __future__ import annotations

from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.columns import Column
from kaireon_dagster.plan.expressions import Compiled, compile_expression
from kaireon_dagster.plan.hidden import ATTEMPT, Check
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import BOOLEAN, SqlType


def compile_for(node: NodeBuilder, text: str) -> Compiled:
    """Check an expression against the columns of this point."""
    return compile_expression(text, node.rows.columns.types)


def assign(node: NodeBuilder, name: str, text: str, rule: str) -> None:
    """Compute an expression into a column."""
    compiled = compile_for(node, text)
    origins = node.rows.columns.origins(compiled.columns)
    columns = node.rows.columns.put(Column(name, compiled.type, origins))
    check = attempt(node, compiled, rule, name)
    node.layer(
        {name: f"{ATTEMPT}.v" if check else compiled.sql},
        columns,
        exclude=[ATTEMPT] if check else [],
        comment=f"{name} = {_one_line(text)}",
    )


def condition(node: NodeBuilder, text: str, rule: str, field: str = "") -> tuple[str, bool]:
    """SQL of a boolean expression at this point, and whether it is held in the attempt column."""
    compiled = compile_for(node, text)
    require_boolean(compiled.type, node.node, text)
    if attempt(node, compiled, rule, field):
        return f"{ATTEMPT}.v", True
    return compiled.sql, False


def attempt(node: NodeBuilder, compiled: Compiled, rule: str, field: str) -> Check | None:
    """Evaluate an expression that may raise into the attempt column, and mark rows where it did."""
    if not compiled.can_fail:
        return None
    severity = node.builder.fault
    if severity == "quarantine":
        node.enter()
    check = node.builder.check(
        node.node, rule, severity, "the expression has no value for the row", field
    )
    node.layer({ATTEMPT: f"TRY({{'v': {compiled.sql}}})"}, comment=f"try {rule}")
    node.layer(node.marks({check: f"{ATTEMPT} IS NULL"}), comment=f"mark where {rule} raised")
    node.note_failed([check])
    return check


def require_boolean(type_: SqlType, node: str, text: str) -> None:
    """Refuse a condition that is not true or false."""
    if type_ != BOOLEAN:
        from kaireon_dagster.plan.faults import NotCondition

        raise NotCondition(node, text, type_.postgres)


def _one_line(text: str) -> str:
    return literal(" ".join(text.split()))[1:-1]
