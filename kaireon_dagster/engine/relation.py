"""What travels between steps: where rows are and how to read them, never the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kaireon_dagster.plan.columns import Column, Columns, Origin
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster.sources.claimed import ClaimedFile


@dataclass(frozen=True, slots=True)
class ClaimedFiles:
    """Files that a run took for itself, in the order they are read.

    Attributes:
        superseded: older files that will be archived without being loaded.
        waited_in_vain: no file came, and the document asks for an alert.
    """

    node: str
    files: tuple[ClaimedFile, ...]
    superseded: tuple[ClaimedFile, ...] = ()
    waited_in_vain: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "kind": "files",
            "node": self.node,
            "files": [file.to_json() for file in self.files],
            "superseded": [file.to_json() for file in self.superseded],
            "waitedInVain": self.waited_in_vain,
        }


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table of the staging schema.

    Attributes:
        rows: how many it was given. Unlogged tables are empty after a server crash, so a reader
            that finds another number stages again.
        luggage: hidden columns it has beside its columns.
        source: node id of the source its rows come from first.
    """

    node: str
    schema: str
    table: str
    columns: tuple[Column, ...]
    rows: int
    luggage: tuple[str, ...] = ()
    source: str = ""

    @property
    def visible(self) -> Columns:
        """The columns in order."""
        return Columns(self.columns, self.node)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "kind": "staged",
            "node": self.node,
            "schema": self.schema,
            "table": self.table,
            "columns": [_column_json(column) for column in self.columns],
            "rows": self.rows,
            "luggage": list(self.luggage),
            "source": self.source,
        }


Relation = ClaimedFiles | StagedTable


def relation_from_json(data: Mapping[str, Any]) -> Relation:
    """Back from `to_json`."""
    if data["kind"] == "files":
        return ClaimedFiles(
            data["node"], _files(data["files"]), _files(data["superseded"]), data["waitedInVain"]
        )
    return StagedTable(
        data["node"],
        data["schema"],
        data["table"],
        tuple(_column(column) for column in data["columns"]),
        data["rows"],
        tuple(data["luggage"]),
        data["source"],
    )


def _files(items: list[Mapping[str, Any]]) -> tuple[ClaimedFile, ...]:
    return tuple(ClaimedFile.from_json(item) for item in items)


def _column_json(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type.postgres,
        "origins": sorted([o.relation, o.column] for o in column.origins),
        "untouched": column.untouched,
    }


def _column(data: Mapping[str, Any]) -> Column:
    origins = frozenset(Origin(relation, column) for relation, column in data["origins"])
    return Column(data["name"], SqlType.parse(data["type"]), origins, data["untouched"])
