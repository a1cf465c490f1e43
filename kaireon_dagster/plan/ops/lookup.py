"""`lookup_join`: columns of a PostgreSQL table beside each row."""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster import ir
from kaireon_dagster.plan import hidden
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.catalog import Catalog, Table, TableColumn, TableName
from kaireon_dagster.plan.columns import Column, Origin
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.names import lookup_view
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import TEXT, SqlType


@dataclass(frozen=True, slots=True)
class Lookup:
    """A table of PostgreSQL that a step needs beside it in the worker.

    Attributes:
        view: the name it is asked for in the worker.
        table: where it is in PostgreSQL.
        columns: the columns needed, no others are fetched.
        key: columns that must be unique together; empty when that does not matter.
    """

    view: str
    node: str
    table: TableName
    columns: tuple[str, ...]
    key: tuple[str, ...]


def lookup_of(node: str, op: ir.LookupJoin) -> Lookup:
    """What an operation needs from the database."""
    table = ir.split_table(op.table)
    key = tuple(pair.column for pair in op.on)
    wanted = dict.fromkeys([*key, *(f.column for f in op.fields)])
    return Lookup(lookup_view(table, tuple(wanted)), node, table, tuple(wanted), key)


def lookup_join(node: NodeBuilder, op: ir.LookupJoin, catalog: Catalog) -> None:
    """Add columns of the lookup row whose key equals the row's; no match gives NULLs or filters."""
    lookup = lookup_of(node.node, op)
    table = _table(node.node, lookup, catalog)
    node.decide()
    node.sequence()
    columns = node.rows.columns
    assign = {}
    for wanted in op.fields:
        origin = frozenset({Origin(".".join(lookup.table), wanted.column)})
        type_ = held_type(table.types[wanted.column])
        columns = columns.put(Column(wanted.as_ or wanted.column, type_, origin))
        assign[wanted.as_ or wanted.column] = f"_flow_lookup.{ident(wanted.column)}"
    matched = " AND ".join(_equal(node, table, pair) for pair in op.on)
    tail = f"\nLEFT JOIN {ident(lookup.view)} AS _flow_lookup ON {matched}"
    found = f"_flow_lookup.{ident(op.on[0].column)} IS NOT NULL"
    extra = {hidden.ATTEMPT: found} if op.join_type == "inner" else {}
    node.layer(
        {**assign, **extra}, columns, tail=tail, comment=f"look up {op.table}", scrambled=True
    )
    if op.join_type == "inner":
        node.send("filter", f"NOT {hidden.ATTEMPT}", f"keep rows found in {op.table}")
        node.layer({}, exclude=[hidden.ATTEMPT], comment="forget whether it was found")


def held_type(column: TableColumn) -> SqlType:
    """How the worker holds a fetched column: types it does not know come as text."""
    return column.type or TEXT


def _table(node: str, lookup: Lookup, catalog: Catalog) -> Table:
    table = catalog.get(lookup.table)
    if table is None:
        raise NodeFault(node, f"lookup table {'.'.join(lookup.table)} does not exist")
    missing = [c for c in lookup.columns if c not in table.types]
    if missing:
        raise NodeFault(node, f"lookup table {'.'.join(lookup.table)} has no column {missing[0]!r}")
    return table


def _equal(node: NodeBuilder, table: Table, pair: ir.LookupKey) -> str:
    column = node.rows.columns.get(pair.field)
    here = f"{ident(node.rows.view)}.{ident(pair.field)}"
    there = f"_flow_lookup.{ident(pair.column)}"
    wanted = held_type(table.types[pair.column])
    if column.type != wanted and column.type.is_text:
        here = node.builder.read(here, column.type, wanted).value
    elif column.type != wanted and wanted.is_text:
        here = node.builder.read(here, column.type, TEXT).value
    return f"{here} = {there}"
