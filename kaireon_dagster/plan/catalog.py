"""What a plan must know of the database: tables that exist, their columns, keys and dependants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kaireon_dagster.plan.types import SqlType

TableName = tuple[str, str]
"""Schema and name, as they are, unquoted."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table in the database.

    Attributes:
        type: how the worker holds its values; None where only the server can read them (as text).
        postgres_type: the type as `format_type` writes it.
        has_default: it has a default of its own, or is identity or serial.
        always: values cannot be given: `GENERATED ALWAYS`, as identity or stored.
        read_as: the type under domains and without length, which text is cast to where only the
            server can read it: a cast to `character(3)` would cut what the column refuses.
        collation: how its values compare, quoted, where that is not as their type has it.
    """

    name: str
    type: SqlType | None
    postgres_type: str
    not_null: bool = False
    has_default: bool = False
    always: bool = False
    read_as: str = ""
    collation: str = ""


@dataclass(frozen=True, slots=True)
class UniqueIndex:
    """A unique index. `flaw` says why ON CONFLICT cannot use it, when it cannot."""

    name: str
    columns: tuple[str, ...]
    flaw: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is now.

    Attributes:
        referenced_by: tables whose foreign keys point at it.
        inherited_by: tables that inherit from it, partitions not counted.
        guards: triggers that see a row before it goes in, and may change it or keep it out.
        rules: rules that rewrite an INSERT or UPDATE.
        row_security: policies decide which rows this user may write.
    """

    name: TableName
    kind: str
    columns: tuple[TableColumn, ...]
    unique: tuple[UniqueIndex, ...] = ()
    referenced_by: tuple[str, ...] = ()
    inherited_by: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    row_security: bool = False

    @property
    def types(self) -> Mapping[str, TableColumn]:
        """Columns by name."""
        return {column.name: column for column in self.columns}


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tables a step touches, and those of their schemas that exist.

    A name that is missing does not exist in the database.
    """

    tables: Mapping[TableName, Table] = field(default_factory=dict)
    schemas: frozenset[str] = frozenset()

    def get(self, name: TableName) -> Table | None:
        """The table, if it exists."""
        return self.tables.get(name)
