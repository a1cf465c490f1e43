"""The ledger of loads: a row commits with the rows it counts, so that a load happens once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from kaireon_dagster.errors import Transient
from kaireon_dagster.state.statements import statement


class AlreadyLoaded(Transient):
    """Another process committed the same load meanwhile; trying again finds its ledger row."""

    def __init__(self, run_id: str, node: str) -> None:
        super().__init__(run_id, node)
        self.run_id = run_id
        self.node = node

    def __str__(self) -> str:
        return (
            f"run {self.run_id!r}, target {self.node!r}: the same load was committed by another "
            "process meanwhile; nothing was loaded twice, and a retry takes over its counts"
        )


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A load that committed.

    Attributes:
        run_id: id of the root run.
        node: id of the target node.
        pipeline_id: whose load it was.
        pipeline_hash: content hash of the document that ran.
        table: the target, `schema.table`.
        counts: rows by what became of them: `read`, `loaded`, `quarantined` and so on.
        detail: what else the load wants to know again after a retry.
        loaded_at: when its transaction began, UTC.
    """

    run_id: str
    node: str
    pipeline_id: str
    pipeline_hash: str
    table: str
    counts: Mapping[str, int]
    detail: Mapping[str, Any]
    loaded_at: datetime


def find(connection: psycopg.Connection[Any], run_id: str, node: str) -> LedgerRow | None:
    """Read the ledger row of a load, None if it has not committed."""
    query = statement(connection, "ledger", "find")
    row = connection.execute(query, {"run": run_id, "node": node}).fetchone()
    return None if row is None else LedgerRow(*row)


def find_run(connection: psycopg.Connection[Any], run_id: str) -> list[LedgerRow]:
    """Read all rows of a run, those of staged steps too."""
    query = statement(connection, "ledger", "find_run")
    return [LedgerRow(*row) for row in connection.execute(query, {"run": run_id})]


def forget_run(connection: psycopg.Connection[Any], run_id: str) -> int:
    """Delete all rows of a run, in the transaction that takes back what they count."""
    query = statement(connection, "ledger", "forget_run")
    return connection.execute(query, {"run": run_id}).rowcount


def record(
    connection: psycopg.Connection[Any],
    run_id: str,
    node: str,
    pipeline_id: str,
    pipeline_hash: str,
    table: str,
    counts: Mapping[str, int],
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Write the ledger row of a load in the load's own transaction.

    Two processes with the same load wait here for each other, and only one commits.

    Raises:
        AlreadyLoaded: the other one has committed; roll back.
    """
    values = {
        "run": run_id,
        "node": node,
        "pipeline": pipeline_id,
        "hash": pipeline_hash,
        "table": table,
        "counts": Jsonb(dict(counts)),
        "detail": Jsonb(dict(detail or {})),
    }
    query = statement(connection, "ledger", "record")
    if connection.execute(query, values).fetchone() is None:
        raise AlreadyLoaded(run_id, node)
