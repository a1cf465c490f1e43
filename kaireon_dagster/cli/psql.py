"""How to look into the database by hand."""

from __future__ import annotations

import shlex
from pathlib import Path

from kaireon_dagster.cli.settings import DATABASE_VARIABLE, database_url
from kaireon_dagster.server import find_binaries
from kaireon_dagster.state import Database


def psql_command(database: Database) -> str:
    """A command that opens the database; it repeats no password."""
    if database_url() is not None:
        return f'psql "${DATABASE_VARIABLE}"'
    program = find_binaries().folder / "psql"
    return f"{shlex.quote(_shortest(program))} {shlex.quote(database.conninfo)}"


def _shortest(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
