"""The database: reachable, new enough, with Flow's tables as this release knows them, and rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kaireon_dagster.cli.checks.finding import Finding, ok, problem
from kaireon_dagster.cli.checks.rights import check_flow_rights, check_table_rights
from kaireon_dagster.cli.database import find_database
from kaireon_dagster.cli.settings import (
    DATABASE_VARIABLE,
    database_url,
    pipelines_folder,
    streaming_enabled,
)
from kaireon_dagster.errors import FlowError, Transient
from kaireon_dagster.ir import LoadedDocument, Pipeline, load_folder
from kaireon_dagster.server import find_binaries, find_home
from kaireon_dagster.state import Connection, Database, SchemaTooNew, wrapped
from kaireon_dagster.state.migrate import find_missing

_OLDEST: Final = 15


def check_database() -> Iterator[Finding]:
    """Check the database that runs would use; the embedded one is started if it was ever made."""
    try:
        database = find_database()
        if database is None:
            yield _not_made_yet()
            return
        with wrapped("looking at the database"), database.connect() as connection:
            yield from _server(database, connection)
            yield from _schema(connection, database)
            yield from check_table_rights(connection, _pipelines())
    except FlowError as error:
        advice = (
            "try again" if isinstance(error, Transient) else "mend what is said, then try again"
        )
        yield problem("database", str(error), _ADVICE if database_url() else advice)


_ADVICE: Final = f"check {DATABASE_VARIABLE}, or unset it to use the embedded server"


def _not_made_yet() -> Finding:
    version = find_binaries().read_major()
    place = find_home() / "postgres"
    return ok("database", f"embedded PostgreSQL {version}; the first run makes it in {place}")


def _server(database: Database, connection: Connection) -> Iterator[Finding]:
    number = connection.info.server_version
    kind = "" if database_url() else "embedded "
    name = (
        f"{kind}PostgreSQL {number // 10000}.{number % 10000}, database {database.address.database}"
    )
    if number // 10000 < _OLDEST:
        yield problem("database", f"{name} is too old", f"use PostgreSQL {_OLDEST} or newer")
    else:
        yield ok("database", name)
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        yield problem(
            "encoding", f"the database is in {encoding}", "make a database with ENCODING 'UTF8'"
        )


def _schema(connection: Connection, database: Database) -> Iterator[Finding]:
    if lacking := check_flow_rights(connection, database.staging_schema):
        yield from lacking
        return
    try:
        missing = find_missing(connection)
    except SchemaTooNew as error:
        yield problem("schema", str(error), "upgrade kaireon-dagster")
        return
    current = f"Flow's tables in schema {connection.schema} are current"
    coming = f"{len(missing)} migration(s) to apply; the next run does it"
    yield ok("schema", coming if missing else current)


def _pipelines() -> Iterator[Pipeline]:
    folder = pipelines_folder()
    if folder.is_dir():
        for document in load_folder(folder, streaming=streaming_enabled()):
            if isinstance(document, LoadedDocument):
                yield document.pipeline
