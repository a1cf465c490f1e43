"""Fires: the unique row decides who acts on a due time, not a lock."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import psycopg

from kaireon_dagster.state.statements import statement


def request(connection: psycopg.Connection[Any], pipeline_id: str, scheduled_at: datetime) -> bool:
    """Ask for the run of a due time; whether this call is the one that asks."""
    values = {"pipeline": pipeline_id, "scheduled": scheduled_at}
    query = statement(connection, "fires", "request")
    return connection.execute(query, values).fetchone() is not None


def claim(
    connection: psycopg.Connection[Any], pipeline_id: str, scheduled_at: datetime, run_id: str
) -> bool:
    """Take a requested fire for a run; whether it is this run's, also when asked again."""
    values = {"pipeline": pipeline_id, "scheduled": scheduled_at, "run": run_id}
    query = statement(connection, "fires", "claim")
    return connection.execute(query, values).fetchone() is not None
