"""Reads from the database what a plan must know of its tables."""

from __future__ import annotations

from collections.abc import Iterable

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
SELECT a.attname, format_type(a.atttypid, a.atttypmod), format_type(b.typ, b.mod),
       format_type(b.typ, -1), t.typtype, a.attnotnull,
       a.atthasdef OR a.attidentity <> '' OR own.typdefault IS NOT NULL,
       a.attgenerated <> '' OR a.attidentity = 'a',
       CASE WHEN a.attcollation <> own.typcollation
            THEN format('%%I.%%I', n.nspname, c.collname) ELSE '' END
FROM pg_attribute a
JOIN pg_type own ON own.oid = a.atttypid
JOIN base b ON b.attnum = a.attnum
JOIN pg_type t ON t.oid = b.typ AND t.typtype <> 'd'
LEFT JOIN pg_collation c ON c.oid = a.attcollation
LEFT JOIN pg_namespace n ON n.oid = c.collnamespace
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
# Of trigger types the bits are 1 each row, 2 before, 4 insert, 16 update; of rules 2 is update, 3 insert.
_TRAITS = """
SELECT ARRAY(SELECT i.inhrelid::regclass::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = %(oid)s AND NOT c.relispartition ORDER BY 1),
       ARRAY(SELECT DISTINCT t.tgname::text FROM pg_trigger t
             WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
             AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0 AND (t.tgrelid = %(oid)s OR t.tgrelid IN
                (SELECT p.relid FROM pg_partition_tree(%(oid)s::oid::regclass) p)) ORDER BY 1),
       ARRAY(SELECT rulename::text FROM pg_rewrite
             WHERE ev_class = %(oid)s AND ev_type IN ('2', '3') AND ev_enabled <> 'D' ORDER BY 1),
       row_security_active(%(oid)s::oid)
"""
_KINDS = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}


def read_catalog(connection: Connection, tables: Iterable[TableName]) -> Catalog:
    """Look the tables up; those that do not exist are left out."""
    connection.execute("SELECT set_config('quote_all_identifiers', 'off', true)")
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
    traits = connection.execute(_TRAITS, {"oid": oid}).fetchone()
    assert traits is not None, "a query without FROM gives a row"
    *names, row_security = traits
    heirs, guards, rules = map(tuple, names)
    return Table(
        name, _KINDS[kind], columns, unique, children, heirs, guards, rules, bool(row_security)
    )


def _column(
    name: str,
    declared: str,
    base: str,
    read_as: str,
    kind: str,
    not_null: bool,
    default: bool,
    always: bool,
    collation: str,
) -> TableColumn:
    held = _held(base, kind)
    return TableColumn(name, held, declared, not_null, default, always, read_as, collation)


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
