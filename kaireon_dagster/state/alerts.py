"""Alerts: what people should know about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import psycopg
from psycopg.types.json import Jsonb

from kaireon_dagster.state.statements import statement

Severity = Literal["info", "success", "warning", "error", "critical"]


def raise_alert(
    connection: psycopg.Connection[Any],
    tenant_id: str,
    severity: Severity,
    title: str,
    message: str,
    *,
    source: str = "flow",
    link: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    pinned: bool = False,
) -> str:
    """Store an alert.

    Args:
        connection: whose transaction it joins; an alert about a failure needs its own.
        tenant_id: who sees it.
        severity: how bad it is.
        title: a few words, the same for all alerts of a kind.
        message: what happened where; no values of rows.
        source: the part that speaks.
        link: page that shows more.
        user_id: the one person it is for, None for all of the tenant.
        metadata: numbers and names for programs.
        pinned: whether it stays on top.

    Returns:
        The alert's id.
    """
    values = {
        "tenant": tenant_id,
        "user": user_id,
        "severity": severity,
        "source": source,
        "title": title,
        "message": message,
        "link": link,
        "metadata": Jsonb(dict(metadata or {})),
        "pinned": pinned,
    }
    row = connection.execute(statement(connection, "alerts", "insert"), values).fetchone()
    assert row is not None, "INSERT … RETURNING gives a row"
    return str(row[0])
