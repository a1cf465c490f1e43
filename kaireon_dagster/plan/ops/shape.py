"""Operations on the set of columns: rename, drop, split, merge."""

from __future__ import annotations

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.casting import cast as cast_sql
from kaireon_dagster.plan.columns import Column
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import TEXT


def rename(node: NodeBuilder, op: ir.Rename) -> None:
    """Give a column another name, in its place."""
    columns = node.rows.columns.rename(op.from_, op.to)
    node.layer({}, columns, rename={op.from_: op.to}, comment=f"rename {op.from_} to {op.to}")


def drop(node: NodeBuilder, op: ir.Drop) -> None:
    """Leave columns out."""
    columns = node.rows.columns.drop(op.fields)
    node.layer({}, columns, exclude=op.fields, comment=f"drop {', '.join(op.fields)}")


def split(node: NodeBuilder, op: ir.Split) -> None:
    """Cut a text at a separator into columns.

    A missing part is NULL; the last column takes all that is left, so that nothing is lost.
    """
    column = node.rows.columns.get(op.field)
    text = cast_sql(ident(op.field), column.type, TEXT).value
    separator = literal(op.separator)
    parts = f"string_split({text}, {separator})"
    assign = {name: f"{parts}[{i + 1}]" for i, name in enumerate(op.into)}
    rest = f"{parts}[{len(op.into)}:]"
    assign[op.into[-1]] = f"CASE WHEN len({rest}) > 0 THEN array_to_string({rest}, {separator}) END"
    columns = node.rows.columns
    for name in op.into:
        columns = columns.put(Column(name, TEXT, column.origins))
    node.layer(assign, columns, comment=f"split {op.field}")


def merge(node: NodeBuilder, op: ir.Merge) -> None:
    """Join the texts of columns with a separator; NULLs are passed over, all NULL gives NULL."""
    columns = node.rows.columns
    texts = [cast_sql(ident(f), columns.get(f).type, TEXT).value for f in op.fields]
    joined = f"nullif(concat_ws({literal(op.separator)}, {', '.join(texts)}), '')"
    into = Column(op.into, TEXT, columns.origins(op.fields))
    node.layer({op.into: joined}, columns.put(into), comment=f"merge into {op.into}")
