"""The database that a command works with."""

from __future__ import annotations

from kaireon_dagster.cli.settings import database_url
from kaireon_dagster.server import connect_embedded, find_home
from kaireon_dagster.state import Database


def open_database() -> Database:
    """The database of `FLOW_DATABASE_URL`, else the embedded one, started when it does not run."""
    url = database_url()
    return Database(url if url is not None else connect_embedded(find_home()))


def find_database() -> Database | None:
    """As `open_database`, but None where an embedded database would have to be made first."""
    made = (find_home() / "postgres" / "data").exists()
    return open_database() if database_url() is not None or made else None
