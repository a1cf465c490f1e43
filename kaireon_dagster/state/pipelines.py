"""Registered documents."""

from __future__ import annotations

from typing import Any

import psycopg

from kaireon_dagster.state.statements import statement


def register(
    connection: psycopg.Connection[Any],
    pipeline_id: str,
    tenant_id: str,
    name: str,
    ir: str,
    ir_hash: str,
) -> None:
    """Store a document under its id, in place of an earlier one.

    `createdAt` and what is known of its runs stay. An unchanged document writes nothing.

    Args:
        connection: whose transaction it joins.
        pipeline_id: id of the document.
        tenant_id: whose it is.
        name: what people call it.
        ir: the document as JSON text.
        ir_hash: content hash of the document.
    """
    values = {"id": pipeline_id, "tenant": tenant_id, "name": name, "ir": ir, "hash": ir_hash}
    connection.execute(statement(connection, "pipelines", "register"), values)
