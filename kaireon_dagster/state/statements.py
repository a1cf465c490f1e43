"""The named statements of `sql/*.sql`, filled in for one schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql

from kaireon_dagster.state.database import DEFAULT_SCHEMA

NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def statement(
    connection: psycopg.Connection[Any], file: str, name: str, **names: sql.Identifier
) -> sql.Composed:
    """The statement `name` of `sql/<file>.sql`, for the schema of this connection.

    Args:
        connection: one of `Database.connect`; any other has the default schema.
        file: stem of the file.
        name: as the file's `-- name:` line has it.
        **names: identifiers for further placeholders.
    """
    schema = getattr(connection, "schema", DEFAULT_SCHEMA)
    text = read_statements(file)[name]
    return sql.SQL(text).format(schema=sql.Identifier(schema), **names)


@cache
def read_statements(file: str) -> Mapping[str, str]:
    """Text of each statement of a file by name."""
    source = files("kaireon_dagster.state") / "sql" / f"{file}.sql"
    _, *pairs = NAME.split(source.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(pairs[::2], pairs[1::2], strict=True)}
