"""Servers that stop, refuse or limit: what may pass is tried again, and nothing is lost or doubled."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from kaireon_dagster.engine import load
from kaireon_dagster.engine.copying import CopyStream
from kaireon_dagster.engine.encoding import BinaryEncoder
from kaireon_dagster.errors import Terminal, Transient
from kaireon_dagster.server import EmbeddedServer, start_server
from kaireon_dagster.state import Database, migrate
from kaireon_dagster_tests.faults.test_killed import (
    ROWS,
    WRITES,
    check_all_is_there_once,
    check_books,
    folder,
    pipeline,
)
from kaireon_dagster_tests.faults.victims import SMALL
from kaireon_dagster_tests.harness import execute, query, run

__all__ = ["folder"]


def once(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, call: int, work: Callable[[], None]
) -> None:
    """Do something before a call of a function, the n-th of them."""
    original, calls = getattr(owner, name), 0

    def watched(*args: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            work()
        return original(*args, **more)

    monkeypatch.setattr(owner, name, watched)


class Machine:
    """A server of its own that can crash and come back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.server = self._start()
        self.database = Database(self.server.conninfo)
        migrate(self.database)

    def _start(self) -> EmbeddedServer:
        # The log is written so late that only what was asked for survives.
        options = ("-F", "-c", "wal_writer_delay=10s", "-c", "autovacuum=off")
        return self._stack.enter_context(start_server(self._folder, options=options))

    def crash(self) -> None:
        """Stop at once, without a checkpoint, and recover."""
        self.server.process.send_signal(signal.SIGQUIT)
        self.server.process.wait(30)
        self._stack.close()
        self.server = self._start()

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("pg"))
    yield machine
    machine.close()


@pytest.fixture
def crashing(machine: Machine) -> Iterator[Machine]:
    yield machine
    execute(
        machine.database,
        "DROP TABLE t; DROP SCHEMA flow_dlq CASCADE; TRUNCATE flow.pipeline_runs, flow.flow_loads",
    )


def test_a_server_that_crashes_between_stage_and_load_and_in_the_load(
    crashing: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = crashing.database
    once(monkeypatch, load, "begin", 1, crashing.crash)
    with pytest.raises(Transient):
        run(pipeline(folder), database, run_id="root", settings=SMALL)
    name = "SELECT tablename FROM pg_tables WHERE schemaname = 'flow_staging'"
    ((staged,),) = query(database, name)
    assert query(database, f"SELECT count(*) FROM flow_staging.{staged}") == [(0,)]
    once(monkeypatch, CopyStream, "write", WRITES + 6, crashing.crash)
    with pytest.raises(Transient):
        run(pipeline(folder), database, run_id="root", settings=SMALL)
    run(pipeline(folder), database, run_id="root", settings=SMALL)
    check_all_is_there_once(database, folder)
    check_books(database, "root")


def test_a_load_whose_files_are_moved_away_survives_a_crash_whatever_the_server_s_commits_do(
    crashing: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = crashing.database
    execute(database, "ALTER DATABASE postgres SET synchronous_commit = off; CHECKPOINT")
    once(monkeypatch, load, "close_if_last", 1, crashing.crash)
    with pytest.raises(Transient):
        run(pipeline(folder), database, run_id="root")
    assert query(database, "SELECT count(*) FROM t") == [(2 * ROWS - 2,)]
    run(pipeline(folder), database, run_id="root")
    check_all_is_there_once(database, folder)
    check_books(database, "root")


@pytest.mark.parametrize("write", [4, 28])
def test_a_connection_that_an_administrator_ends(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY %'"
    once(monkeypatch, CopyStream, "write", write, lambda: wait_for(database, end))
    with pytest.raises(Transient, match="57P01"):
        run(pipeline(folder), database, run_id="root", settings=SMALL)
    run(pipeline(folder), database, run_id="root", settings=SMALL)
    check_all_is_there_once(database, folder)
    check_books(database, "root")


def wait_for(database: Database, statement: str) -> None:
    deadline = time.monotonic() + 30
    while not query(database, statement):
        assert time.monotonic() < deadline, statement


@pytest.fixture
def limited(database: Database) -> Iterator[Callable[..., Database]]:
    """Connects as a role with settings, as far as the server has them."""
    role = f"limited_{os.getpid()}"
    execute(database, f"DROP ROLE IF EXISTS {role}; CREATE ROLE {role} LOGIN SUPERUSER")

    def connect_with(**settings: str) -> Database:
        for name, value in settings.items():
            if query(database, "SELECT FROM pg_settings WHERE name = %s", name):
                execute(database, f"ALTER ROLE {role} SET {name} = '{value}'")
        return Database(f"{database.conninfo} user={role}")

    yield connect_with
    execute(database, f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")


def test_limits_of_the_role_do_not_end_a_load_whose_rows_come_slowly(
    database: Database,
    folder: Path,
    limited: Callable[..., Database],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = BinaryEncoder.rows

    def encode_slowly(*args: Any) -> bytes:
        time.sleep(0.03)
        return rows(*args)

    monkeypatch.setattr(BinaryEncoder, "rows", encode_slowly)
    far = limited(
        statement_timeout="400ms",
        idle_in_transaction_session_timeout="200ms",
        idle_session_timeout="200ms",
        lock_timeout="200ms",
        transaction_timeout="400ms",
    )
    run(pipeline(folder), far, run_id="root", settings=SMALL)
    check_all_is_there_once(database, folder)


def test_a_server_that_only_reads_may_pass(
    database: Database, folder: Path, limited: Callable[..., Database]
) -> None:
    with pytest.raises(Transient, match="25006"):
        run(pipeline(folder), limited(default_transaction_read_only="on"), run_id="root")
    assert sorted(f.name for f in folder.iterdir()) == ["a.csv", "b.csv"]
    run(pipeline(folder), database, run_id="root")
    check_all_is_there_once(database, folder)


def test_a_server_without_room_for_temporary_files_may_pass(
    database: Database, folder: Path, limited: Callable[..., Database]
) -> None:
    execute(database, "CREATE TABLE t (id text, n integer)")
    execute(
        database,
        "CREATE FUNCTION spill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM g FROM generate_series(1, 100000) g ORDER BY -g; RETURN NULL; END $$;"
        "CREATE TRIGGER t AFTER INSERT ON t EXECUTE FUNCTION spill()",
    )
    with pytest.raises(Transient, match="53400"):
        run(pipeline(folder), limited(temp_file_limit="8kB"), run_id="root")
    run(pipeline(folder), database, run_id="root")
    check_all_is_there_once(database, folder)
    check_books(database, "root")


def test_a_database_without_a_free_connection_may_pass(
    database: Database, folder: Path, limited: Callable[..., Database]
) -> None:
    far = limited(work_mem="4MB")
    role = f"limited_{os.getpid()}"
    execute(database, f"ALTER ROLE {role} NOSUPERUSER CONNECTION LIMIT 0")
    with pytest.raises(Transient, match="no free connection"):
        run(pipeline(folder), far, run_id="root")
    execute(database, f"ALTER ROLE {role} SUPERUSER CONNECTION LIMIT -1")
    run(pipeline(folder), far, run_id="root")
    check_all_is_there_once(database, folder)


def test_a_role_without_rights_is_told_once_and_for_all(
    database: Database, folder: Path, limited: Callable[..., Database]
) -> None:
    far = limited(work_mem="4MB")
    with psycopg.connect(database.conninfo, autocommit=True) as connection:
        role = sql.Identifier(f"limited_{os.getpid()}")
        connection.execute(sql.SQL("ALTER ROLE {} NOSUPERUSER").format(role))
    with pytest.raises(Terminal, match="42501"):
        run(pipeline(folder), far, run_id="root")
    assert sorted(f.name for f in folder.iterdir()) == ["a.csv", "b.csv"]
