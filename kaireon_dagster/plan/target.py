"""Fits rows to a target table: what is made or added, what each column is read as, what is refused.

Everything that can be known before a row moves is decided here, and refused here.
"""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.catalog import Catalog, Table, TableColumn, TableName
from kaireon_dagster.plan.columns import Column, Columns
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.hidden import Check
from kaireon_dagster.plan.names import LINEAGE_COLUMN
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import JSONB, TEXT, SqlType


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is written: its type in the worker, and in the table.

    `by_server` marks a type that only the server can read: it travels as text.
    """

    name: str
    type: SqlType
    postgres_type: str
    by_server: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """How a load writes its table.

    Attributes:
        ddl: statements that make the table or add columns, before the first row.
        columns: what is written, in order, without the lineage column.
        lineage: the lineage column is written.
        key: columns of the upsert key; empty for other modes.
        creates: the table does not exist yet.
    """

    table: TableName
    mode: str
    ddl: tuple[str, ...]
    columns: tuple[Placed, ...]
    lineage: bool
    key: tuple[str, ...] = ()
    creates: bool = False
    notes: tuple[str, ...] = ()

    @property
    def needs_staging(self) -> bool:
        """Rows pass through a temporary table on their way in."""
        return bool(self.key) or any(column.by_server for column in self.columns)


def place(spec: ir.Target, columns: Columns, catalog: Catalog) -> Placement:
    """Decide how these columns go into the target; `NodeFault` where they cannot."""
    columns = columns.at(spec.id)
    for key in spec.upsert_key:
        columns.get(key)
    if LINEAGE_COLUMN in columns:
        raise NodeFault(
            spec.id, f"column {LINEAGE_COLUMN!r} is written by the load itself; drop it first"
        )
    table = catalog.get(spec.table)
    if table is None:
        return _created(spec, columns, schema_there=spec.table[0] in catalog.schemas)
    _require_table(spec, table)
    return _existing(spec, columns, table)


def _created(spec: ir.Target, columns: Columns, *, schema_there: bool) -> Placement:
    if not spec.create_table:
        raise NodeFault(spec.id, f"table {spec.schema_} does not exist, and createTable is false")
    placed = tuple(Placed(c.name, c.type, c.type.postgres) for c in columns)
    lines = [f"  {ident(p.name)} {p.postgres_type}" for p in placed]
    if spec.lineage:
        lines.append(f"  {ident(LINEAGE_COLUMN)} jsonb")
    if _keyed(spec):
        lines.append(f"  PRIMARY KEY ({', '.join(ident(key) for key in spec.upsert_key)})")
    schema = () if schema_there else (f"CREATE SCHEMA IF NOT EXISTS {ident(spec.table[0])}",)
    body = ",\n".join(lines)
    create = f"CREATE TABLE {qualified(spec.table)} (\n{body}\n)"
    return Placement(
        spec.table, spec.load_mode, (*schema, create), placed, spec.lineage, _keyed(spec), True
    )


def _keyed(spec: ir.Target) -> tuple[str, ...]:
    return spec.upsert_key if spec.load_mode in ("upsert", "cdc_mirror") else ()


def _require_table(spec: ir.Target, table: Table) -> None:
    if table.kind not in ("table", "partitioned table"):
        raise NodeFault(spec.id, f"{spec.schema_} is a {table.kind}; a target must be a table")
    if spec.load_mode == "truncate" and table.referenced_by:
        raise NodeFault(
            spec.id,
            f"{spec.schema_} cannot be truncated: foreign keys of {', '.join(table.referenced_by)} "
            "point at it; use loadMode upsert, or drop the constraint",
        )


def _existing(spec: ir.Target, columns: Columns, table: Table) -> Placement:
    ddl: list[str] = []
    notes: list[str] = []
    placed: list[Placed] = []
    new = tuple(c for c in columns if c.name not in table.types)
    _require_known(spec, new, table)
    for column in columns:
        there = table.types.get(column.name)
        if there is not None and there.always:
            notes.append(_ignored_always(spec, column))
        elif there is not None:
            placed.append(_placed(there))
        elif spec.on_new_columns == "add":
            ddl.append(_add_column(spec.table, column))
            placed.append(Placed(column.name, column.type, column.type.postgres))
        else:
            notes.append(
                f"column {column.name!r} is not in {spec.schema_} and is ignored, as asked"
            )
    _require_all(spec, table, placed)
    lineage = _lineage(spec, table, ddl, notes)
    if _keyed(spec):
        _require_unique(spec, table)
    return Placement(
        spec.table,
        spec.load_mode,
        tuple(ddl),
        tuple(placed),
        lineage,
        _keyed(spec),
        notes=tuple(notes),
    )


def _require_known(spec: ir.Target, new: tuple[Column, ...], table: Table) -> None:
    if new and spec.on_new_columns == "error":
        names = ", ".join(repr(c.name) for c in new)
        raise NodeFault(
            spec.id,
            f"{spec.schema_} has no column {names} (it has {', '.join(table.types)}); rename or drop "
            "in a transform, or set onNewColumns to add or ignore",
        )


def _ignored_always(spec: ir.Target, column: Column) -> str:
    if column.name in spec.upsert_key:
        raise NodeFault(
            spec.id,
            f"upsertKey column {column.name!r} is GENERATED ALWAYS in {spec.schema_}, so its values "
            "cannot be given; use another unique key",
        )
    return (
        f"column {column.name!r} is GENERATED ALWAYS in {spec.schema_}; its values are not written"
    )


def _placed(column: TableColumn) -> Placed:
    by_server = column.type is None
    return Placed(column.name, column.type or TEXT, column.postgres_type, by_server)


def _add_column(table: TableName, column: Column) -> str:
    return f"ALTER TABLE {qualified(table)} ADD COLUMN {ident(column.name)} {column.type.postgres}"


def _require_all(spec: ir.Target, table: Table, placed: list[Placed]) -> None:
    given = {column.name for column in placed}
    missing = [
        c.name
        for c in table.columns
        if c.not_null and not c.has_default and not c.always and c.name not in given
    ]
    if missing:
        names = ", ".join(repr(name) for name in missing)
        raise NodeFault(
            spec.id,
            f"{spec.schema_} needs {names} (NOT NULL without a default), and the rows do not have it",
        )


def _lineage(spec: ir.Target, table: Table, ddl: list[str], notes: list[str]) -> bool:
    if not spec.lineage:
        return False
    if LINEAGE_COLUMN in table.types:
        return True
    if "lineage" in spec.model_fields_set:
        ddl.append(_add_column(spec.table, Column(LINEAGE_COLUMN, JSONB)))
        return True
    notes.append(
        f"{spec.schema_} has no column {LINEAGE_COLUMN}, so rows carry no lineage; write "
        '"lineage": true to have it added, or false to silence this'
    )
    return False


def _require_unique(spec: ir.Target, table: Table) -> None:
    key = sorted(spec.upsert_key)
    exact = [index for index in table.unique if sorted(index.columns) == key]
    if any(index.flaw is None for index in exact):
        return
    near = [
        index for index in table.unique if index.flaw and set(index.columns) & set(key)
    ] or exact
    why = "".join(f"; {index.name} does not serve: {index.flaw}" for index in near)
    raise NodeFault(
        spec.id,
        f"upsert needs a unique constraint or index on exactly ({', '.join(spec.upsert_key)}) of "
        f"{spec.schema_}, and there is none{why}",
    )


def fit(node: NodeBuilder, placement: Placement, table: Table | None) -> None:
    """Read each column as the table's type; what does not fit is a fault of its row."""
    columns = node.rows.columns
    assign: dict[str, str] = {}
    conditions: dict[Check, str] = {}
    for placed in placement.columns:
        there = table.types.get(placed.name) if table else None
        column = columns.get(placed.name)
        value, faults = _value(node, column, placed, there, placement.key)
        conditions.update(faults)
        if value != ident(column.name):
            assign[placed.name] = value
        columns = columns.put(Column(placed.name, placed.type, column.origins))
    if conditions and node.builder.fault == "quarantine":
        node.enter()
    if assign or conditions:
        node.layer({**assign, **node.marks(conditions)}, columns, comment="fit the table")
        node.note_failed(conditions)


def _value(
    node: NodeBuilder,
    column: Column,
    placed: Placed,
    there: TableColumn | None,
    key: tuple[str, ...],
) -> tuple[str, dict[Check, str]]:
    required = bool(there and there.not_null) or placed.name in key
    cast = node.builder.read(ident(column.name), column.type, placed.type)
    value = _empty_text(cast.value, column, placed, required and placed.name not in key)
    faults = {}
    if cast.fault:
        what = f"does not read as {placed.postgres_type}"
        faults[_fault(node, f"type:{placed.name}", what, placed.name)] = cast.fault
    if required:
        null = f"({value}) IS NULL" + (f" AND NOT ({cast.fault})" if cast.fault else "")
        rule = "upsert_key" if placed.name in key else "not_null"
        faults[_fault(node, f"{rule}:{placed.name}", "is NULL, and must not be", placed.name)] = (
            null
        )
    return value, faults


def _fault(node: NodeBuilder, rule: str, what: str, field: str) -> Check:
    return node.builder.check(node.node, rule, node.builder.fault, what, field)


def _empty_text(value: str, column: Column, placed: Placed, required: bool) -> str:
    if not placed.type.is_text:
        return value
    if required:
        return f"coalesce({value}, '')" if column.untouched else value
    return f"nullif({value}, '')" if column.type.is_text else value


def qualified(table: TableName) -> str:
    """Schema and table, quoted."""
    return f"{ident(table[0])}.{ident(table[1])}"
