"""Watermarks: the highest value that a target has loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from kaireon_dagster.state.statements import statement


@dataclass(frozen=True, slots=True)
class Watermark:
    """A mark.

    Attributes:
        column: the watermark column.
        type: its PostgreSQL type.
        value: the value as PostgreSQL writes it: exact, and `infinity` can be kept.
    """

    column: str
    type: str
    value: str


def find(connection: psycopg.Connection[Any], pipeline_id: str, node: str) -> Watermark | None:
    """Read a target's mark, None before its first load."""
    query = statement(connection, "watermarks", "find")
    row = connection.execute(query, {"pipeline": pipeline_id, "node": node}).fetchone()
    return None if row is None else Watermark(*row)


def save(
    connection: psycopg.Connection[Any],
    pipeline_id: str,
    node: str,
    run_id: str,
    mark: Watermark,
) -> None:
    """Set a target's mark, in the transaction that loads the rows up to it."""
    values = {
        "pipeline": pipeline_id,
        "node": node,
        "run": run_id,
        "column": mark.column,
        "type": mark.type,
        "value": mark.value,
    }
    connection.execute(statement(connection, "watermarks", "save"), values)
