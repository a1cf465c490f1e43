"""What the nodes of a syntax tree are in words, and which types their casts name."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.types import SqlType, TypeRefused

_TYPES: Final = {
    exp.DType.SMALLINT: "smallint",
    exp.DType.INT: "integer",
    exp.DType.BIGINT: "bigint",
    exp.DType.DECIMAL: "numeric",
    exp.DType.FLOAT: "real",
    exp.DType.DOUBLE: "double precision",
    exp.DType.TEXT: "text",
    exp.DType.VARCHAR: "text",
    exp.DType.BOOLEAN: "boolean",
    exp.DType.DATE: "date",
    exp.DType.TIME: "time",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPTZ: "timestamptz",
    exp.DType.UUID: "uuid",
    exp.DType.JSONB: "jsonb",
    exp.DType.VARBINARY: "bytea",
}
_DESCRIPTIONS: Final[dict[type[exp.Expression], str]] = {
    exp.Subquery: "a subquery",
    exp.Select: "a statement",
    exp.Exists: "a subquery",
    exp.Star: "`*`",
    exp.Parameter: "a parameter",
    exp.Placeholder: "a parameter",
    exp.Window: "a window function",
    exp.Alias: "an alias, or two expressions side by side,",
    exp.Column: "a qualified name",
    exp.Dot: "a qualified name",
    exp.Tuple: "a row of values",
    exp.Concat: "two constants side by side",
    exp.Anonymous: "a function call",
    exp.Between: "BETWEEN",
    exp.Distinct: "DISTINCT",
    exp.Command: "a statement",
}


def cast_target(node: exp.Expression) -> SqlType:
    """The type that a cast names.

    Raises:
        Unfit: for a type that expressions do not cast to.
    """
    spelling = _TYPES.get(node.this)
    sizes = ", ".join(str(size.this) for size in node.expressions)
    if spelling is None or (sizes and spelling != "numeric"):
        raise Unfit(f"there is no cast to {node.sql(dialect='postgres').lower()} here")
    try:
        return SqlType.parse(f"{spelling}({sizes})" if sizes else spelling)
    except TypeRefused as refused:
        raise Unfit(str(refused)) from refused


def describe(node: exp.Expression) -> str:
    """A node in the words of a message."""
    return _DESCRIPTIONS.get(type(node), f"this ({type(node).__name__.lower()})")
