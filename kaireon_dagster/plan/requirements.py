"""What a table must be for a load into it; what is not so is refused before a row moves."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kaireon_dagster import ir
from kaireon_dagster.plan.catalog import Table, TableColumn
from kaireon_dagster.plan.columns import Column
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.sqltext import ident, qualified


def require_table(spec: ir.Target, table: Table) -> None:
    """Refuse what is no table, what rules rewrite, and what truncate would empty with it."""
    if table.kind not in ("table", "partitioned table"):
        raise NodeFault(spec.id, f"{spec.schema_} is a {table.kind}; a target must be a table")
    if table.rules:
        raise NodeFault(
            spec.id,
            f"{spec.schema_} has rules on INSERT or UPDATE ({', '.join(table.rules)}), which COPY "
            "passes by; write them as triggers",
        )
    if spec.load_mode == "truncate":
        _require_alone(spec, table)


def _require_alone(spec: ir.Target, table: Table) -> None:
    if table.referenced_by:
        raise NodeFault(
            spec.id,
            f"{spec.schema_} cannot be truncated: foreign keys of {', '.join(table.referenced_by)} "
            "point at it; use loadMode upsert, or drop the constraint",
        )
    if table.inherited_by:
        raise NodeFault(
            spec.id,
            f"{spec.schema_} cannot be truncated: {', '.join(table.inherited_by)} inherit from it, "
            "and would lose their rows too; use loadMode upsert, or end the inheritance",
        )


def require_known(spec: ir.Target, new: Collection[Column], table: Table) -> None:
    """Refuse columns that the table does not have, unless the document says what to do."""
    if new and spec.on_new_columns == "error":
        names = ", ".join(repr(c.name) for c in new)
        raise NodeFault(
            spec.id,
            f"{spec.schema_} has no column {names} (it has {', '.join(table.types)}); rename or drop "
            "in a transform, or set onNewColumns to add or ignore",
        )


def require_columns(spec: ir.Target, table: Table, given: Collection[str]) -> None:
    """Refuse rows without a column that can be written, or without one that the table needs."""
    if not given:
        raise NodeFault(
            spec.id,
            f"{spec.schema_} has no column that the rows could be written to "
            f"(it has {', '.join(table.types) or 'none at all'})",
        )
    missing = [
        c.name
        for c in table.columns
        if c.not_null and not c.has_default and not c.always and c.name not in given
    ]
    # A trigger may fill them.
    if missing and not table.guards:
        names = ", ".join(repr(name) for name in missing)
        raise NodeFault(
            spec.id,
            f"{spec.schema_} needs {names} (NOT NULL without a default), and the rows do not have it",
        )


def require_more(spec: ir.Target, given: Iterable[str]) -> None:
    """Refuse a key that leaves no column to update."""
    if set(given) <= set(spec.upsert_key):
        raise NodeFault(
            spec.id,
            f"upsertKey ({', '.join(spec.upsert_key)}) covers every column, so there is nothing to "
            "update; use loadMode append, or a smaller key",
        )


def require_lineage(spec: ir.Target, column: TableColumn) -> None:
    """Refuse a column of the lineage column's name that cannot hold its cells."""
    if column.postgres_type != "jsonb" or column.always:
        raise NodeFault(
            spec.id,
            f"column {column.name!r} of {spec.schema_} is {column.postgres_type}, and lineage is "
            'written as jsonb; change the column, or write "lineage": false',
        )


def require_unique(spec: ir.Target, table: Table) -> None:
    """Refuse a key without an index that ON CONFLICT can use, saying why those at hand do not serve."""
    key = set(spec.upsert_key)
    exact = [index for index in table.unique if set(index.columns) == key]
    if any(index.flaw is None for index in exact):
        return
    flawed = (index for index in table.unique if index.flaw)
    near = [index for index in flawed if not index.columns or key & set(index.columns)]
    why = "".join(f"; {index.name} does not serve: {index.flaw}" for index in near)
    raise NodeFault(
        spec.id,
        f"upsert needs a unique constraint or index on exactly ({', '.join(spec.upsert_key)}) of "
        f"{spec.schema_}, and there is none{why}. To make one: CREATE UNIQUE INDEX ON "
        f"{qualified(spec.table)} ({', '.join(map(ident, spec.upsert_key))})",
    )
