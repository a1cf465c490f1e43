"""Reads from the database what a plan must know of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from kaireon_dagster.plan.catalog import Catalog, Table, TableColumn, TableName, UniqueIndex
from kaireon_dagster.plan.types import SqlType, TypeRefused
from kaireon_dagster.state.database import Connection

_RELATION = """
SELECT c.oid, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname = ANY(%s)"
_COLUMNS = """
WITH RECURSIVE base (attnum, typ, mod) AS (
    SELECT attnum, atttypid, atttypmod FROM pg_attribute
    WHERE attrelid = %(oid)s AND attnum > 0 AND NOT attisdropped
  UNION ALL
    SELECT b.attnum, t.typbasetype, t.typtypmod
    FROM base b JOIN pg_type t ON t.oid = b.typ WHERE t.typtype = 'd'
)
SELECT a.attname, format_type(a.atttypid, a.atttypmod), format_type(b.typ, b.mod), t.typtype,
       a.attnotnull, a.atthasdef OR a.attidentity <> '', a.attgenerated <> '' OR a.attidentity = 'a'
FROM pg_attribute a
JOIN base b ON b.attnum = a.attnum
JOIN pg_type t ON t.oid = b.typ AND t.typtype <> 'd'
WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_UNIQUE = """
SELECT i.indexrelid::regclass::text, i.indpred IS NOT NULL, i.indexprs IS NOT NULL, i.indisvalid,
       i.indimmediate,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (num, pos)
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num
             WHERE k.pos <= i.indnkeyatts ORDER BY k.pos)
FROM pg_index i WHERE i.indrelid = %s AND i.indisunique ORDER BY 1
"""
_CHILDREN = """
SELECT DISTINCT conrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND confrelid = %s AND conrelid <> confrelid ORDER BY 1
"""
_KINDS: dict[str, Literal["table", "partitioned table", "view", "other"]] = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "view",
}
_TEXT_LIKE = ("json", "xml", "citext", "name", "character", '"char"')
"""Types whose binary form is their text; the server checks what they hold."""


def read_catalog(connection: Connection, tables: Iterable[TableName]) -> Catalog:
    """Look the tables up; those that do not exist are left out."""
    found = {name: _table(connection, name) for name in tables}
    rows = connection.execute(_SCHEMAS, ([schema for schema, _ in found],))
    schemas = frozenset(name for (name,) in rows)
    return Catalog({name: table for name, table in found.items() if table is not None}, schemas)


def _table(connection: Connection, name: TableName) -> Table | None:
    row = connection.execute(_RELATION, name).fetchone()
    if row is None:
        return None
    oid, kind = row
    columns = tuple(_column(*c) for c in connection.execute(_COLUMNS, {"oid": oid}))
    unique = tuple(_index(*i) for i in connection.execute(_UNIQUE, (oid,)))
    children = tuple(child for (child,) in connection.execute(_CHILDREN, (oid,)))
    return Table(name, _KINDS.get(kind, "other"), columns, unique, children)


def _column(
    name: str, declared: str, base: str, kind: str, not_null: bool, default: bool, always: bool
) -> TableColumn:
    return TableColumn(name, _held(base, kind), declared, not_null, default, always)


def _held(base: str, kind: str) -> SqlType | None:
    if kind == "e":
        return None
    try:
        type_ = SqlType.parse(base)
    except TypeRefused:
        return None
    # Neither has a form in the worker that is exact: a free numeric has no scale, json keeps its text.
    inexact = (type_.name == "numeric" and type_.precision is None) or base.startswith("json")
    exact = type_ if base == "jsonb" or not inexact else None
    return None if type_.name in ("interval", "array", "bytea") else exact


def _index(
    name: str, partial: bool, expression: bool, valid: bool, immediate: bool, columns: list[str]
) -> UniqueIndex:
    flaws = (
        (partial, "it is partial (it has a WHERE clause)"),
        (expression, "it is on an expression"),
        (not valid, "it is not valid"),
        (not immediate, "it is deferrable"),
    )
    flaw = next((text for present, text in flaws if present), None)
    return UniqueIndex(name, tuple(columns), flaw)
