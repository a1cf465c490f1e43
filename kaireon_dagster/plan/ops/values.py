"""Operations that compute one column: cast, expression, add_field, hash, mask_pii, map_values."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kaireon_dagster import ir
from kaireon_dagster.plan import computed, variables
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.casting import cast as cast_sql
from kaireon_dagster.plan.columns import Column
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.hidden import Check, Severity
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import BIGINT, BOOLEAN, DOUBLE, JSONB, TEXT, SqlType


def cast(node: NodeBuilder, ops: Sequence[ir.Cast]) -> None:
    """Read columns, each another, as other types; what does not read is a fault of its row.

    One layer does for all of them: a document with a cast for each of many columns stays quick.
    """
    columns = node.rows.columns
    values: dict[str, str] = {}
    faults: dict[Check, str] = {}
    for op in ops:
        column, target = columns.get(op.field), SqlType.parse(op.to)
        written = node.builder.read(ident(op.field), column.type, target, op.format)
        columns = columns.put(Column(op.field, target, column.origins))
        values[op.field] = written.value
        if written.fault:
            faults[_check(node, op, target)] = written.fault
    if any(check.severity == "quarantine" for check in faults):
        node.enter()
    told = ", ".join(f"{op.field} to {SqlType.parse(op.to).postgres}" for op in ops)
    node.layer({**node.marks(faults), **values}, columns, comment=f"cast {told}")
    node.note_failed(faults)


def _check(node: NodeBuilder, op: ir.Cast, target: SqlType) -> Check:
    what = f"does not read as {target.postgres}"
    return node.builder.check(node.node, f"cast:{op.field}", _severity(node, op), what, op.field)


def _severity(node: NodeBuilder, op: ir.Cast) -> Severity:
    chosen: dict[str, Severity] = {"fail": "fail", "null": "warn", "quarantine": "quarantine"}
    return node.builder.fault if op.on_error is None else chosen[op.on_error]


def expression(node: NodeBuilder, op: ir.Expression) -> None:
    """Compute a column from an expression."""
    computed.assign(node, op.field, op.expression, f"expression:{op.field}")


def add_field(node: NodeBuilder, op: ir.AddField) -> None:
    """Add a constant, or a value of the run."""
    sql, type_ = _constant(op.value, node.rows.file)
    if op.data_type is not None:
        target = SqlType.parse(op.data_type)
        written = node.builder.read(sql, type_, target)
        sql, type_ = written.value, target
    node.layer(
        {op.field: sql}, node.rows.columns.put(Column(op.field, type_)), comment=f"add {op.field}"
    )


def _constant(value: object, has_file: bool) -> tuple[str, SqlType]:
    if isinstance(value, bool):
        return literal(value), BOOLEAN
    if isinstance(value, int):
        return f"{literal(value)}::BIGINT", BIGINT
    if isinstance(value, float):
        return literal(value), DOUBLE
    if isinstance(value, str):
        return variables.fill(value, has_file=has_file), TEXT
    if value is None:
        return "NULL::VARCHAR", TEXT
    return f"{literal(json.dumps(value, default=_plain))}::JSON", JSONB


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "keys") else list(value)  # type: ignore[call-overload]


def hash_field(node: NodeBuilder, op: ir.Hash) -> None:
    """Replace a column by the hex digest of its text, or write the digest beside it."""
    column = node.rows.columns.get(op.field)
    text = _text(column)
    if op.salt_env:
        text = f"{variables.read(variables.salt(op.salt_env))} || {text}"
    into = op.into or op.field
    columns = node.rows.columns.put(Column(into, TEXT, column.origins))
    node.layer(
        {into: digest(op.algorithm, text)}, columns, comment=f"hash {op.field} ({op.algorithm})"
    )


def digest(algorithm: str, text: str) -> str:
    """SQL of a hex digest; `flow_sha512` is a function of the worker's session."""
    return f"{'flow_sha512' if algorithm == 'sha512' else algorithm}({text})"


def mask_pii(node: NodeBuilder, op: ir.MaskPii) -> None:
    """Hide personal data, keeping only what the strategy says."""
    column = node.rows.columns.get(op.field)
    masked = masks(op.strategy, _text(column), op.keep_last)
    columns = node.rows.columns.put(Column(op.field, TEXT, column.origins))
    node.layer({op.field: masked}, columns, comment=f"mask {op.field} ({op.strategy})")


def masks(strategy: str, text: str, keep_last: int | None) -> str:
    """SQL of a mask. NULL stays NULL; `full` hides the length too.

    `partial` and `phone` keep the last `keepLast` characters or digits (default 4); `email` keeps
    the first character and the domain, and hides all of a text that is no address.
    """
    keep = 4 if keep_last is None else keep_last
    if strategy == "full":
        return f"CASE WHEN {text} IS NOT NULL THEN '****' END"
    if strategy == "hash":
        return digest("sha256", text)
    if strategy == "email":
        local, domain = f"left({text}, 1)", f"substr({text}, strpos({text}, '@'))"
        masked = f"WHEN strpos({text}, '@') > 1 THEN {local} || '***' || {domain}"
        return f"CASE {masked} WHEN {text} IS NOT NULL THEN '****' END"
    if strategy == "phone":
        return masks("partial", f"regexp_replace({text}, '[^0-9]', '', 'g')", keep)
    hidden = f"repeat('*', greatest(length({text}) - {keep}, 0))"
    shown = f"right({text}, {keep})" if keep else "''"
    short = f"WHEN length({text}) <= {keep} THEN repeat('*', length({text}))"
    return f"CASE {short} ELSE {hidden} || {shown} END"


def map_values(node: NodeBuilder, op: ir.MapValues) -> None:
    """Replace values by the mapping; without a default, unmapped values stay."""
    column = node.rows.columns.get(op.field)
    text = _text(column)
    arms = " ".join(f"WHEN {literal(old)} THEN {_mapped(new)}" for old, new in op.mapping.items())
    rest = _mapped(op.default) if "default" in op.model_fields_set else text
    columns = node.rows.columns.put(Column(op.field, TEXT, column.origins))
    node.layer(
        {op.field: f"CASE {text} {arms} ELSE {rest} END"}, columns, comment=f"map {op.field}"
    )


def _mapped(value: object) -> str:
    if isinstance(value, (dict, list, tuple)):
        raise NodeFault("map_values", "a mapped value must be text, a number, true, false or null")
    if isinstance(value, bool):
        return literal("true" if value else "false")
    return "NULL" if value is None else literal(str(value))


def _text(column: Column) -> str:
    return cast_sql(ident(column.name), column.type, TEXT).value
