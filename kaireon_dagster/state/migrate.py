"""Bring Flow's tables up to date, whoever starts first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from psycopg import sql

from kaireon_dagster.errors import Terminal
from kaireon_dagster.state.database import Connection, Database
from kaireon_dagster.state.errors import wrapped

if TYPE_CHECKING:
    from typing_extensions import LiteralString

FILE_NAME = re.compile(r"(\d{4}_[a-z0-9_]+)\.sql")
# "flow" in ASCII, then "MIGR": apart from the scheduler's key, which is the first half alone.
LOCK_KEY = 0x666C6F774D494752

HAS_SCHEMA = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
CREATE_SCHEMA = "CREATE SCHEMA {}"
HAS_TABLE = "SELECT to_regclass(%s) IS NOT NULL"
SELECT_APPLIED = "SELECT name FROM {schema}.flow_migrations ORDER BY name"
INSERT_APPLIED = "INSERT INTO {schema}.flow_migrations (name) VALUES (%s)"
CREATE_MIGRATIONS = """
CREATE TABLE IF NOT EXISTS {schema}.flow_migrations (
    name text PRIMARY KEY,
    "appliedAt" timestamptz NOT NULL DEFAULT now()
)
"""


class SchemaTooNew(Terminal):
    """A newer release has already changed Flow's tables."""

    def __init__(self, schema: str, unknown: tuple[str, ...]) -> None:
        super().__init__(schema, unknown)
        self.schema = schema
        self.unknown = unknown

    def __str__(self) -> str:
        return (
            f"schema {self.schema!r} was made by a newer release of kaireon-dagster "
            f"(it has {', '.join(self.unknown)}): upgrade kaireon-dagster, "
            "or give this one another schema or database"
        )


def migrate(database: Database) -> tuple[str, ...]:
    """Apply the migrations that are missing, all in one transaction.

    Processes that start at once wait for each other; the first does the work. When nothing is
    missing, nothing is locked or written.

    Returns:
        The names of those that were applied, in order; empty when all were there.

    Raises:
        SchemaTooNew: a newer release has been here.
        StatementRefused: the user lacks the right to create schemas or tables.
    """
    with database.connect() as connection, wrapped("migrating Flow's tables"):
        if not find_missing(connection):
            return ()
        # Everything behind this lock, CREATE SCHEMA too: IF NOT EXISTS alone loses the race.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK_KEY,))
        for schema in (database.schema, database.staging_schema):
            _ensure_schema(connection, schema)
        connection.execute(_fill(CREATE_MIGRATIONS, database))
        missing = find_missing(connection)
        for name in missing:
            connection.execute(_fill(read_migrations()[name], database))
            connection.execute(_fill(INSERT_APPLIED, database), (name,))
        return missing


def current_version(database: Database) -> str | None:
    """Name of the last migration that was applied, None where there is none."""
    with database.connect() as connection, wrapped("reading the version of Flow's tables"):
        applied = read_applied(connection)
        return applied[-1] if applied else None


def latest_version() -> str:
    """Name of the newest migration that this release knows."""
    return max(read_migrations())


def find_missing(connection: Connection) -> tuple[str, ...]:
    """Names of the migrations that this release knows and the database has not.

    Raises:
        SchemaTooNew: the database has one that this release does not know.
    """
    applied, known = read_applied(connection), read_migrations()
    unknown = tuple(name for name in applied if name not in known)
    if unknown:
        raise SchemaTooNew(connection.schema, unknown)
    return tuple(name for name in sorted(known) if name not in applied)


def read_applied(connection: Connection) -> tuple[str, ...]:
    """Names of the migrations in the database, in order."""
    table = sql.Identifier(connection.schema, "flow_migrations")
    if not _ask(connection, HAS_TABLE, table.as_string(connection)):
        return ()
    query = sql.SQL(SELECT_APPLIED).format(schema=sql.Identifier(connection.schema))
    return tuple(name for (name,) in connection.execute(query))


@cache
def read_migrations() -> Mapping[str, str]:
    """Text of each migration by name."""
    folder = files("kaireon_dagster.state") / "migrations"
    found = ((FILE_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return {match[1]: file.read_text(encoding="utf-8") for match, file in found if match}


def _ensure_schema(connection: Connection, name: str) -> None:
    # CREATE SCHEMA IF NOT EXISTS asks for the right to create even where the schema exists.
    if not _ask(connection, HAS_SCHEMA, name):
        connection.execute(sql.SQL(CREATE_SCHEMA).format(sql.Identifier(name)))


def _ask(connection: Connection, query: LiteralString, name: str) -> bool:
    row = connection.execute(query, (name,)).fetchone()
    return row is not None and bool(row[0])


def _fill(text: str, database: Database) -> sql.Composed:
    return sql.SQL(text).format(
        schema=sql.Identifier(database.schema), staging=sql.Identifier(database.staging_schema)
    )
