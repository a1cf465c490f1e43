"""Operations that make other rows out of rows: aggregate and summarize."""

from __future__ import annotations

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.casting import cast as cast_sql
from kaireon_dagster.plan.columns import Column, Columns
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.hidden import SEQUENCE
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import BIGINT, DOUBLE, TEXT, SqlType

STRING_AGG_SEPARATOR = ","


def aggregate(node: NodeBuilder, op: ir.Aggregate) -> None:
    """One row per group. Without `groupBy`, one row for all, also when there are none."""
    if any(a.function in ("array_agg", "string_agg") for a in op.aggregations):
        node.sequence()
    node.settle("rows before they are aggregated")
    columns = node.rows.columns
    keys = [columns.get(key) for key in op.group_by]
    made = [_aggregation(node, columns, a) for a in op.aggregations]
    result = Columns((), node.node)
    for column in [*keys, *(column for column, _ in made)]:
        if column.name in result:
            raise NodeFault(node.node, f"aggregate makes column {column.name!r} twice")
        result = result.put(column)
    groups = [ident(key.name) for key in keys]
    items = ", ".join([*groups, *(f"{sql} AS {ident(c.name)}" for c, sql in made)])
    group_by = f"\nGROUP BY {', '.join(groups)}" if groups else ""
    ordered = f"\nORDER BY {', '.join(groups)}" if groups else ""
    node.replace(
        lambda rows: f"SELECT {items}\nFROM {rows}{group_by}{ordered}", result, "aggregate"
    )


def _aggregation(node: NodeBuilder, columns: Columns, spec: ir.Aggregation) -> tuple[Column, str]:
    if spec.field is None:
        return Column(spec.as_, BIGINT), "count(*)"
    column = columns.get(spec.field)
    sql, type_ = _AGGREGATES[spec.function](node.node, column)
    return Column(spec.as_, type_, column.origins), sql


def _count(_node: str, column: Column) -> tuple[str, SqlType]:
    return f"count({ident(column.name)})", BIGINT


def _count_distinct(_node: str, column: Column) -> tuple[str, SqlType]:
    return f"count(DISTINCT {ident(column.name)})", BIGINT


def _sum(node: str, column: Column) -> tuple[str, SqlType]:
    type_ = _require_number(node, column, "sum")
    result = _sum_type(type_)
    return f"sum({ident(column.name)})::{result.duckdb}", result


def _sum_type(type_: SqlType) -> SqlType:
    if type_.name in ("smallint", "integer"):
        return BIGINT
    if type_.name == "bigint":
        return SqlType("numeric", 38, 0)
    return SqlType("numeric", 38, type_.decimals) if type_.name == "numeric" else DOUBLE


def _avg(node: str, column: Column) -> tuple[str, SqlType]:
    _require_number(node, column, "avg")
    return f"avg({ident(column.name)})::DOUBLE", DOUBLE


def _min(_node: str, column: Column) -> tuple[str, SqlType]:
    return f"min({ident(column.name)})", column.type


def _max(_node: str, column: Column) -> tuple[str, SqlType]:
    return f"max({ident(column.name)})", column.type


def _array_agg(_node: str, column: Column) -> tuple[str, SqlType]:
    return f"array_agg({ident(column.name)} ORDER BY {SEQUENCE})", SqlType(
        "array", element=column.type
    )


def _string_agg(_node: str, column: Column) -> tuple[str, SqlType]:
    text = cast_sql(ident(column.name), column.type, TEXT).value
    return f"string_agg({text}, {literal(STRING_AGG_SEPARATOR)} ORDER BY {SEQUENCE})", TEXT


def _require_number(node: str, column: Column, function: str) -> SqlType:
    if not column.type.is_numeric:
        raise NodeFault(
            node,
            f"{function} needs a number, and {column.name!r} is {column.type.postgres}; "
            "add a cast op before it",
        )
    return column.type


_AGGREGATES = {
    "count": _count,
    "count_distinct": _count_distinct,
    "sum": _sum,
    "avg": _avg,
    "min": _min,
    "max": _max,
    "array_agg": _array_agg,
    "string_agg": _string_agg,
}


def summarize(node: NodeBuilder, op: ir.Summarize) -> None:
    """One row per column: `field count nulls distinct min max mean`; mean is of numbers only."""
    node.settle("rows before they are summarized")
    columns = node.rows.columns
    chosen = [columns.get(f) for f in op.fields] if op.fields else list(columns)
    result = Columns(
        (
            Column("field", TEXT),
            Column("count", BIGINT),
            Column("nulls", BIGINT),
            Column("distinct", BIGINT),
            Column("min", TEXT),
            Column("max", TEXT),
            Column("mean", DOUBLE),
        ),
        node.node,
    )
    node.replace(
        lambda rows: "\nUNION ALL\n".join(_summary(column, rows) for column in chosen),
        result,
        "summarize",
    )


def _summary(column: Column, rows: str) -> str:
    name = ident(column.name)
    low, high = (cast_sql(f"{f}({name})", column.type, TEXT).value for f in ("min", "max"))
    mean = f"avg({name})::DOUBLE" if column.type.is_numeric else "NULL::DOUBLE"
    return (
        f'SELECT {literal(column.name)} AS "field", count(*) AS "count", '
        f'count(*) - count({name}) AS "nulls", count(DISTINCT {name}) AS "distinct", '
        f'{low} AS "min", {high} AS "max", {mean} AS "mean" FROM {rows}'
    )
