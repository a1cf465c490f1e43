from __future__ import annotations

import psycopg
import pytest

from kaireon_dagster.state import Database, current_version, migrate
from kaireon_dagster.state.migrate import SchemaTooNew, latest_version, read_migrations
from kaireon_dagster_tests.state.processes import run_together

TABLES = {
    "deadline_misses",
    "flow_backups",
    "flow_fires",
    "flow_loads",
    "flow_migrations",
    "flow_run_checkpoint",
    "flow_stream_offsets",
    "pipeline_runs",
    "pipeline_watermarks",
    "pipelines",
    "system_health_alerts",
}


def list_tables(database: Database) -> set[str]:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    with database.connect() as connection:
        return {name for (name,) in connection.execute(query, (database.schema,))}


def test_empty_database_gets_every_table_once(empty_database: Database) -> None:
    assert current_version(empty_database) is None
    assert migrate(empty_database) == tuple(sorted(read_migrations()))
    assert list_tables(empty_database) == TABLES
    assert current_version(empty_database) == latest_version()
    assert migrate(empty_database) == ()


def test_schema_name_is_quoted_and_has_its_own_staging(empty_database: Database) -> None:
    odd = Database(empty_database.conninfo, schema='My "Flow".x')
    migrate(odd)
    migrate(empty_database)
    assert list_tables(odd) == list_tables(empty_database) == TABLES
    with odd.connect() as connection:
        query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE %s"
        found = connection.execute(query, ("%staging",)).fetchall()
    assert {name for (name,) in found} == {'My "Flow".x_staging', "flow_staging"}


def test_newer_schema_is_refused_and_left_alone(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("INSERT INTO flow.flow_migrations (name) VALUES ('9999_future')")
    with pytest.raises(SchemaTooNew, match=r"9999_future.*upgrade"):
        migrate(database)
    assert current_version(database) == "9999_future"


def test_user_who_may_create_nothing_can_use_what_is_there(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("CREATE ROLE flow_reader LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA flow TO flow_reader")
        connection.execute("GRANT SELECT ON flow.flow_migrations TO flow_reader")
    try:
        reader = Database(psycopg.conninfo.make_conninfo(database.conninfo, user="flow_reader"))
        assert migrate(reader) == ()
    finally:
        with database.connect() as connection:
            connection.execute("DROP OWNED BY flow_reader")
            connection.execute("DROP ROLE flow_reader")


@pytest.mark.parametrize("attempt", range(3))
def test_eight_processes_at_once_migrate_one_time(empty_database: Database, attempt: int) -> None:
    got = run_together(8, migrate, empty_database)
    assert sorted(got, key=len) == [()] * 7 + [tuple(sorted(read_migrations()))]
