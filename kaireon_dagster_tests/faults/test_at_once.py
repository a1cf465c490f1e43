"""Runs at the same time: files are shared out, tables stay whole, and readers do not queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import TableBusy
from kaireon_dagster.engine.scope import Settings
from kaireon_dagster.state import Database, migrate
from kaireon_dagster_tests.faults.victims import start
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

FILES = 24
ROWS = 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        rows = "".join(f"{number},{row},x\n" for row in range(ROWS))
        (tmp_path / "in" / f"{number:02}.csv").write_text(f"file,row,note\n{rows}")
    return tmp_path / "in"


def run_at_once(pipelines: Iterable[ir.Pipeline], database: Database) -> None:
    workers = [start(one, database, f"run-{number}") for number, one in enumerate(pipelines)]
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * len(workers)


@pytest.mark.parametrize("exists", [False, True])
def test_runs_of_one_document_share_the_files(
    database: Database, folder: Path, exists: bool
) -> None:
    if exists:
        execute(database, "CREATE TABLE t (file text, row text, note text)")
    run_at_once([document(source(folder), target())] * 4, database)
    each = "SELECT count(*), count(DISTINCT (file, row)) FROM t"
    assert query(database, each) == [(FILES * ROWS, FILES * ROWS)]
    books = 'SELECT sum("rowsIn"), sum("rowsLoaded"), count(*) FROM flow.pipeline_runs'
    assert query(database, f"{books} WHERE status = 'completed'") == [(FILES * ROWS,) * 2 + (4,)]
    assert len(list((folder / ".archive").iterdir())) == FILES


@pytest.mark.parametrize("mode", ["truncate", "upsert"])
def test_loads_of_one_table_come_one_after_the_other(
    database: Database, folder: Path, mode: str
) -> None:
    execute(database, "CREATE TABLE t (file text, row text, note text, PRIMARY KEY (row, file))")
    # Files stay where they are, so that each run has all of them.
    still = source(folder, atomicity=None)
    key = {"upsertKey": ["file", "row"]} if mode == "upsert" else {}
    run_at_once([document(still, target(mode=mode, **key))] * 3, database)
    assert query(database, "SELECT count(*) FROM t") == [(FILES * ROWS,)]
    inserted = "SELECT sum((counts ->> 'inserted')::int) FROM flow.flow_loads"
    assert query(database, inserted) == [(FILES * ROWS * (3 if mode == "truncate" else 1),)]


def test_documents_that_create_tables_in_one_new_schema(database: Database, folder: Path) -> None:
    pipelines = [
        document(source(folder, f"{n:02}.csv"), target(f"fresh.t{n}"), id=f"p{n}", dlq=True)
        for n in range(6)
    ]
    run_at_once(pipelines, database)
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'fresh'"
    assert query(database, tables) == [(6,)]


def test_first_runs_of_all_in_an_empty_database(empty_database: Database, folder: Path) -> None:
    threads = [threading.Thread(target=migrate, args=(empty_database,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run(document(source(folder), target()), empty_database)
    assert query(empty_database, "SELECT count(*) FROM t") == [(FILES * ROWS,)]


def test_a_long_reader_holds_up_a_truncate_and_nobody_behind_it(
    database: Database, folder: Path
) -> None:
    execute(
        database,
        "CREATE TABLE t (file text, row text, note text); INSERT INTO t VALUES ('old', '', '')",
    )
    caught: list[TableBusy] = []

    def truncate() -> None:
        try:
            settings = Settings(lock_wait_seconds=0.4, lock_attempts=4)
            run(document(source(folder), target(mode="truncate")), database, settings=settings)
        except TableBusy as error:
            caught.append(error)

    with database.connect() as reader:
        reader.execute("SELECT FROM t")
        thread = threading.Thread(target=truncate)
        thread.start()
        waits = list(read_until_it_ends(database, thread))
    assert len(caught) == 1
    assert len(waits) > 3
    assert max(waits) < 1.5
    assert query(database, "SELECT * FROM t") == [("old", "", "")]


def read_until_it_ends(database: Database, thread: threading.Thread) -> Iterable[float]:
    while thread.is_alive():
        began = time.monotonic()
        assert query(database, "SELECT count(*) FROM t") == [(1,)]
        yield time.monotonic() - began
        time.sleep(0.05)


def test_migrations_wait_for_no_run_and_no_run_for_them(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (file text, row text, note text)")
    done: list[Any] = []
    with database.connect() as holder:
        holder.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        worker = start(document(source(folder), target()), database, "root")
        wait_for_lock(database)
        thread = threading.Thread(target=lambda: done.append(migrate(database)))
        thread.start()
        thread.join(10)
        assert done == [()]
    worker.join(60)
    assert worker.exitcode == 0


def wait_for_lock(database: Database) -> None:
    waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'COPY%'"
    deadline = time.monotonic() + 30
    while not query(database, waiting):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_processes_that_do_one_step_load_once(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (file text, row text, note text)")
    pipeline = document(source(folder, atomicity=None), target())
    run(pipeline, database, run_id="root", steps=["src"])
    with database.connect() as holder:
        holder.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        workers = [start(pipeline, database, "root") for _ in range(2)]
        deadline = time.monotonic() + 30
        while len(query(database, "SELECT FROM pg_locks WHERE NOT granted")) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    for worker in workers:
        worker.join(60)
    # The slower one finds the other's ledger row at its commit; Dagster's step tries again.
    assert sorted(worker.exitcode for worker in workers) == [0, 1]
    assert query(database, "SELECT count(*) FROM t") == [(FILES * ROWS,)]
