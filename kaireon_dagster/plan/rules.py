"""Row rules of `validate`: each gives the SQL condition under which a value violates it.

NULL passes every rule but `not_null`. A text column is read as a number or a date first where the
argument is one; what does not read violates the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.casting import cast as cast_sql
from kaireon_dagster.plan.columns import Column
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import (
    BIGINT,
    DATE,
    DOUBLE,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
)
from kaireon_dagster.plan.types import UUID as UUID_TYPE

EMAIL = r"[^@\s\x00-\x1f]+@[^@\s.\x00-\x1f]+(\.[^@\s.\x00-\x1f]+)+"
URL = r"(https?|ftp)://[^\s/?#\x00-\x1f]+([/?#][^\s\x00-\x1f]*)?"

Violates = Callable[[NodeBuilder, ir.RowRule, Column], str]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}.*")
_SYMBOLS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "=", "ne": "<>"}


@dataclass(frozen=True, slots=True)
class Operand:
    """A column made comparable with an argument: the SQL of its value, and where it does not read."""

    value: str
    unreadable: str | None
    type: SqlType


def violation(node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    """SQL condition: the row violates the rule. Never NULL."""
    return _RULES[rule.name](node, rule, column)


def _compare(node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    argument = rule.arguments[0]
    operand = _operand(node, rule, column, argument)
    holds = f"{operand.value} {_SYMBOLS[rule.name]} {_constant(node, rule, operand.type, argument)}"
    return _unless(holds, operand)


def _between(node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    low, high = rule.arguments
    operand = _operand(node, rule, column, low)
    limits = [_constant(node, rule, operand.type, edge) for edge in (low, high)]
    return _unless(f"{operand.value} BETWEEN {limits[0]} AND {limits[1]}", operand)


def _member(node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    numbers = column.type.is_numeric
    value = ident(column.name) if numbers else _text(column)
    listed = ", ".join(
        _constant(node, rule, column.type, argument) if numbers else literal(argument)
        for argument in rule.arguments
    )
    unless = "NOT " if rule.name == "in" else ""
    return f"coalesce({unless}({value} IN ({listed})), FALSE)"


def _regex(_node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    return f"coalesce(NOT regexp_matches({_text(column)}, {literal(rule.argument or '')}), FALSE)"


def _length(_node: NodeBuilder, rule: ir.RowRule, column: Column) -> str:
    symbol = "<" if rule.name == "min_length" else ">"
    return f"coalesce(length({_text(column)}) {symbol} {int(rule.arguments[0])}, FALSE)"


def _pattern(pattern: str) -> Violates:
    def violates(_node: NodeBuilder, _rule: ir.RowRule, column: Column) -> str:
        return f"coalesce(NOT regexp_full_match({_text(column)}, {literal(pattern)}), FALSE)"

    return violates


def _reads_as(target: SqlType) -> Violates:
    def violates(node: NodeBuilder, _rule: ir.RowRule, column: Column) -> str:
        if column.type == target:
            return "FALSE"
        return node.builder.read(_text(column), TEXT, target).fault or "FALSE"

    return violates


def _not_null(_node: NodeBuilder, _rule: ir.RowRule, column: Column) -> str:
    return f"{ident(column.name)} IS NULL"


def _unique(node: NodeBuilder, _rule: ir.RowRule, column: Column) -> str:
    return repeated([column.name], node.rows.alive)


def repeated(fields: list[str], alive: str) -> str:
    """SQL condition: another alive row has the same values, none of them NULL."""
    names = [ident(name) for name in fields]
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return f"({present} AND count(*) OVER (PARTITION BY ({alive}), {', '.join(names)}) > 1)"


_RULES: Mapping[str, Violates] = {
    "not_null": _not_null,
    **dict.fromkeys(_SYMBOLS, _compare),
    "between": _between,
    "in": _member,
    "not_in": _member,
    "regex": _regex,
    "min_length": _length,
    "max_length": _length,
    "email": _pattern(EMAIL),
    "url": _pattern(URL),
    "uuid": _reads_as(UUID_TYPE),
    "integer": _reads_as(BIGINT),
    "numeric": _reads_as(DOUBLE),
    "date": _reads_as(DATE),
    "timestamp": _reads_as(TIMESTAMPTZ),
    "unique": _unique,
}

reorders = frozenset({"unique"})
"""Rules that look at all rows, after which the order of rows may differ."""


def _operand(node: NodeBuilder, rule: ir.RowRule, column: Column, argument: str) -> Operand:
    if not column.type.is_text:
        return Operand(ident(column.name), None, column.type)
    wanted = _argument_type(argument)
    if wanted.is_text:
        return Operand(ident(column.name), None, wanted)
    read = node.builder.read(ident(column.name), TEXT, wanted)
    return Operand(read.value, read.fault, wanted)


def _argument_type(argument: str) -> SqlType:
    if _NUMBER.fullmatch(argument.strip()):
        return DOUBLE
    if _DATE.fullmatch(argument.strip()):
        return DATE
    return TIMESTAMP if _MOMENT.fullmatch(argument.strip()) else TEXT


def _constant(node: NodeBuilder, rule: ir.RowRule, type_: SqlType, argument: str) -> str:
    if type_.is_text:
        return literal(argument)
    kind = _argument_type(argument)
    fits = kind.is_numeric if type_.is_numeric else (kind.is_temporal or not type_.is_temporal)
    if not fits:
        raise NodeFault(
            node.node,
            f"rule {rule.id!r} compares {type_.postgres} column {rule.field!r} with {argument!r}",
        )
    if type_.is_numeric:
        return _number(type_, argument.strip())
    return f"{literal(argument.strip())}::{type_.duckdb}"


def _number(type_: SqlType, argument: str) -> str:
    exact = "e" not in argument.lower() and not type_.is_float
    return argument if exact else f"{literal(argument)}::DOUBLE"


def _unless(holds: str, operand: Operand) -> str:
    broken = f"coalesce(NOT ({holds}), FALSE)"
    return f"({operand.unreadable} OR {broken})" if operand.unreadable else broken


def _text(column: Column) -> str:
    return cast_sql(ident(column.name), column.type, TEXT).value
