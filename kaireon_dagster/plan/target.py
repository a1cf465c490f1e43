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
from kaireon_dagster.plan.hidden import ENTRY, ORIGINAL, Check
from kaireon_dagster.plan.names import LINEAGE_COLUMN
from kaireon_dagster.plan.requirements import (
    require_columns,
    require_known,
    require_lineage,
    require_more,
    require_table,
    require_unique,
)
from kaireon_dagster.plan.sqltext import ident, qualified
from kaireon_dagster.plan.types import JSONB, TEXT, SqlType


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is written: its type in the worker, and in the table.

    Attributes:
        type: how the worker holds it.
        postgres_type: the column's type, for messages and definitions.
        read_as: for a type that only the server can read, the type that its text is cast to.
        collation: how values compare, quoted, where that is not as their type has it.
    """

    name: str
    type: SqlType
    postgres_type: str
    read_as: str = ""
    collation: str = ""

    @property
    def by_server(self) -> bool:
        """Whether it travels as text, and the server reads it."""
        return bool(self.read_as)

    @property
    def is_text(self) -> bool:
        """Whether an empty text is a value of it."""
        own = self.read_as.rpartition(".")[2] in ("bpchar", "citext", "name")
        return own or (self.type.is_text and not self.by_server)


@dataclass(frozen=True, slots=True)
class Placement:
    """How a load writes its table.

    Attributes:
        ddl: statements that make the table or add columns, before the first row.
        columns: what is written, in order, without the lineage column.
        lineage: the lineage column is written.
        key: columns of the upsert key; empty for other modes.
        creates: the table does not exist yet.
        notes: what the person who runs this should know.
        guards: triggers of the table that may keep a row out.
        inserts: rows must come by INSERT, since COPY knows no policies for rows.
        splits: the rows live in partitions.
    """

    table: TableName
    mode: str
    ddl: tuple[str, ...]
    columns: tuple[Placed, ...]
    lineage: bool
    key: tuple[str, ...] = ()
    creates: bool = False
    notes: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    inserts: bool = False
    splits: bool = False

    @property
    def needs_staging(self) -> bool:
        """Rows pass through a temporary table on their way in."""
        return bool(self.key) or self.inserts or any(c.by_server for c in self.columns)


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
    require_table(spec, table)
    return _existing(spec, columns, table)


def _created(spec: ir.Target, columns: Columns, *, schema_there: bool) -> Placement:
    if not spec.create_table:
        raise NodeFault(spec.id, f"table {spec.schema_} does not exist, and createTable is false")
    if _keyed(spec):
        require_more(spec, columns.names)
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


def _existing(spec: ir.Target, columns: Columns, table: Table) -> Placement:
    ddl: list[str] = []
    notes: list[str] = []
    placed: list[Placed] = []
    new = tuple(c for c in columns if c.name not in table.types)
    require_known(spec, new, table)
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
    given = tuple(column.name for column in placed)
    require_columns(spec, table, given)
    lineage = _lineage(spec, table, ddl, notes)
    if _keyed(spec):
        require_unique(spec, table)
        require_more(spec, given)
    return Placement(
        spec.table,
        spec.load_mode,
        tuple(ddl),
        tuple(placed),
        lineage,
        _keyed(spec),
        notes=tuple(notes),
        guards=table.guards,
        inserts=table.row_security,
        splits=table.kind == "partitioned table",
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
    read_as = column.read_as if column.type is None else ""
    return Placed(column.name, column.type or TEXT, column.postgres_type, read_as, column.collation)


def _add_column(table: TableName, column: Column) -> str:
    return f"ALTER TABLE {qualified(table)} ADD COLUMN {ident(column.name)} {column.type.postgres}"


def _lineage(spec: ir.Target, table: Table, ddl: list[str], notes: list[str]) -> bool:
    if not spec.lineage:
        return False
    if LINEAGE_COLUMN in table.types:
        require_lineage(spec, table.types[LINEAGE_COLUMN])
        return True
    if "lineage" in spec.model_fields_set:
        ddl.append(_add_column(spec.table, Column(LINEAGE_COLUMN, JSONB)))
        return True
    notes.append(
        f"{spec.schema_} has no column {LINEAGE_COLUMN}, so rows carry no lineage; write "
        '"lineage": true to have it added, or false to silence this'
    )
    return False


def fit(
    node: NodeBuilder, placement: Placement, table: Table | None, *, keep_rows: bool = False
) -> None:
    """Read each column as the table's type; what does not fit is a fault of its row.

    With `keep_rows` each row carries itself as it came, for the case that the server refuses it.
    """
    columns = node.rows.columns
    assign: dict[str, str] = {}
    conditions: dict[Check, str] = {}
    for placed in placement.columns:
        there = table.types.get(placed.name) if table else None
        column = columns.get(placed.name)
        value, faults = _value(node, column, placed, there, placement)
        conditions.update(faults)
        if value != ident(column.name):
            assign[placed.name] = value
        columns = columns.put(Column(placed.name, placed.type, column.origins))
    if keep_rows or (conditions and node.builder.fault == "quarantine"):
        node.enter()
    if assign or conditions:
        node.layer({**assign, **node.marks(conditions)}, columns, comment="fit the table")
        node.note_failed(conditions)
    if keep_rows:
        node.layer({ORIGINAL: f"to_json({ENTRY})::VARCHAR"}, comment="keep each row as it came")


def _value(
    node: NodeBuilder,
    column: Column,
    placed: Placed,
    there: TableColumn | None,
    placement: Placement,
) -> tuple[str, dict[Check, str]]:
    is_key = placed.name in placement.key
    # A trigger may fill what the rows leave NULL, so then the server decides.
    declared = bool(there and there.not_null)
    required = is_key or (declared and not placement.guards)
    cast = node.builder.read(ident(column.name), column.type, placed.type)
    value = _empty_text(cast.value, column, placed, declared and not is_key and placed.is_text)
    faults = {}
    if cast.fault:
        what = f"does not read as {placed.postgres_type}"
        faults[_fault(node, f"type:{placed.name}", what, placed.name)] = cast.fault
    if required:
        null = f"({value}) IS NULL" + (f" AND NOT ({cast.fault})" if cast.fault else "")
        rule = "upsert_key" if is_key else "not_null"
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
