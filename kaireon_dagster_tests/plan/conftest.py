"""PostgreSQL beside DuckDB, for the tests of expressions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kaireon_dagster_tests.conftest import lend_database
from kaireon_dagster_tests.plan.expressions.engines import Engines


@pytest.fixture(scope="session")
def engines(server_conninfo: str) -> Iterator[Engines]:
    """Both engines on one database for all tests, each of which fills its own table."""
    with (
        lend_database(server_conninfo, "template0") as database,
        database.connect() as connection,
    ):
        connection.autocommit = True
        yield Engines(connection)
