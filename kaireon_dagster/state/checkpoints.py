"""Checkpoints: where the result of a durable step stands, so that a re-execution goes on there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import psycopg
from psycopg.types.json import Jsonb

from kaireon_dagster.state.statements import statement


def save(
    connection: psycopg.Connection[Any],
    root_run_id: str,
    pipeline_hash: str,
    node: str,
    relation: Mapping[str, Any],
) -> None:
    """Store a step's relation, in place of an earlier one of the same run, document and node."""
    values = _key(root_run_id, pipeline_hash, node) | {"relation": Jsonb(dict(relation))}
    connection.execute(statement(connection, "checkpoints", "save"), values)


def find(
    connection: psycopg.Connection[Any], root_run_id: str, pipeline_hash: str, node: str
) -> dict[str, Any] | None:
    """Read a step's relation, None if it has not finished, or if the document has changed."""
    query = statement(connection, "checkpoints", "find")
    row = connection.execute(query, _key(root_run_id, pipeline_hash, node)).fetchone()
    return None if row is None else cast("dict[str, Any]", row[0])


def find_run(
    connection: psycopg.Connection[Any], root_run_id: str, pipeline_hash: str
) -> dict[str, dict[str, Any]]:
    """Read the relations of all steps of a run that have finished, by node."""
    query = statement(connection, "checkpoints", "find_run")
    values = {"run": root_run_id, "hash": pipeline_hash}
    return dict(connection.execute(query, values).fetchall())


def find_latest(
    connection: psycopg.Connection[Any], root_run_id: str, node: str
) -> dict[str, Any] | None:
    """Read the relation that a step of a run made last, whichever document it was made for."""
    values = {"run": root_run_id, "node": node}
    row = connection.execute(statement(connection, "checkpoints", "find_latest"), values).fetchone()
    return None if row is None else cast("dict[str, Any]", row[0])


def forget_run(connection: psycopg.Connection[Any], root_run_id: str) -> int:
    """Delete all checkpoints of a run; how many there were."""
    query = statement(connection, "checkpoints", "forget_run")
    return connection.execute(query, {"run": root_run_id}).rowcount


def _key(root_run_id: str, pipeline_hash: str, node: str) -> dict[str, Any]:
    return {"run": root_run_id, "hash": pipeline_hash, "node": node}
