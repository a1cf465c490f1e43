"""A worker that is killed: what it had committed stands once, and the rest is done by the next."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster import ir
from kaireon_dagster.engine import load
from kaireon_dagster.engine.abandoned import HEARTBEAT_LIMIT
from kaireon_dagster.engine.running import TakenOver
from kaireon_dagster.sources.scratch import Scratch
from kaireon_dagster.state import Database
from kaireon_dagster_tests.faults.victims import Point, kill_at
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

ROWS = 40
WRITES = 2 + 2 * ROWS // 4
"""Of the stage's COPY: head, batches, tail."""
FILES = ("a.csv", "b.csv")
STORE = "sources.local:LocalStore"

CLAIMING = [
    Point("sources.local", "_take"),
    Point("sources.local", "_take", "after"),
    Point("sources.local", "_take", "after", 2),
    Point("engine.relations", "save"),
    Point("engine.relations", "save", "after"),
]
STAGING = [
    Point("engine.staging", "begin"),
    Point("engine.copying:CopyStream", "write", "after", 4),
    Point("engine.staging", "copy_rows", "after"),
    Point("engine.staging", "record", "after"),
]
LOADING = [
    Point("engine.load", "begin"),
    Point("engine.load", "ensure_quarantine", "after"),
    Point("engine.copying:CopyStream", "write", "after", WRITES + 6),
    Point("engine.modes", "copy_rows", "after"),
    Point("engine.load", "record", "after"),
]
LOADED = [
    Point("engine.load", "close_if_last"),
    Point("sources.local", "_move_beside"),
    Point("sources.local", "_remove_empty"),
    Point(STORE, "archive", "after"),
    Point(STORE, "archive", "after", 2),
    Point("engine.closing", "drop_staged", "after"),
    Point("state.runs", "close_run", "after"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for name in FILES:
        rows = "".join(f"{name}{number},{number}\n" for number in range(ROWS - 1))
        (tmp_path / "in" / name).write_text(f"id,n\n{rows}{name}bad,x\n")
    return tmp_path / "in"


def pipeline(folder: Path, *, checkpoint: bool = True) -> ir.Pipeline:
    cast = {"type": "cast", "field": "n", "to": "integer"}
    typed = {"id": "typed", "kind": "transform", "input": "src", "ops": [cast]}
    staged = {**typed, "checkpoint": checkpoint}
    return document(source(folder), staged, target(input="typed"), dlq=True)


def age(database: Database) -> None:
    """Make a run that was killed look as it does after a while."""
    silent = f"{HEARTBEAT_LIMIT.total_seconds() + 60} seconds"
    execute(
        database, f"UPDATE flow.pipeline_runs SET \"heartbeatAt\" = now() - interval '{silent}'"
    )


def check_all_is_there_once(database: Database, folder: Path) -> None:
    good = [f"{name}{number}" for name in FILES for number in range(ROWS - 1)]
    assert query(database, "SELECT id FROM t ORDER BY id") == [(name,) for name in sorted(good)]
    bad = query(database, "SELECT row ->> 'id' FROM flow_dlq.p ORDER BY 1")
    assert bad == [("a.csvbad",), ("b.csvbad",)]
    files = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file())
    assert files == [".archive/a.csv", ".archive/b.csv"]
    check_nothing_is_held(database)


def check_nothing_is_held(database: Database) -> None:
    staged = query(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'flow_staging'")
    assert staged == []
    held = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
    others = "WHERE d.datname = current_database() AND l.pid <> pg_backend_pid()"
    assert query(database, f"{held} {others}") == [(0,)]


def check_books(database: Database, run_id: str) -> None:
    """The run row and the ledger of the run that did the load."""
    row = 'SELECT status, "rowsIn", "rowsLoaded", "rowsQuarantined" FROM flow.pipeline_runs'
    found = query(database, f"{row} WHERE id = %s", run_id)
    assert found == [("completed_with_errors", 2 * ROWS, 2 * ROWS - 2, 2)]
    loaded = "(counts ->> 'loaded')::int"
    ledger = f'SELECT "runId", {loaded} FROM flow.flow_loads WHERE {loaded} > 0'
    assert query(database, ledger) == [(run_id, 2 * ROWS - 2)]


@pytest.mark.parametrize("point", [*CLAIMING, *STAGING, *LOADING, *LOADED], ids=str)
def test_the_run_goes_on_where_it_was_killed(
    database: Database, folder: Path, point: Point
) -> None:
    kill_at(point, pipeline(folder), database, "root")
    run(pipeline(folder), database, run_id="root")
    check_all_is_there_once(database, folder)
    check_books(database, "root")


@pytest.mark.parametrize("point", [*CLAIMING[1:4], STAGING[1], STAGING[3], *LOADING[2:]], ids=str)
def test_a_new_run_takes_over_what_a_dead_one_had_claimed(
    database: Database, folder: Path, point: Point
) -> None:
    kill_at(point, pipeline(folder), database, "dead")
    age(database)
    run(pipeline(folder), database, run_id="next")
    check_all_is_there_once(database, folder)
    check_books(database, "next")


@pytest.mark.parametrize("point", LOADED, ids=str)
def test_a_new_run_does_not_load_again_what_a_dead_one_had_committed(
    database: Database, folder: Path, point: Point
) -> None:
    kill_at(point, pipeline(folder), database, "dead")
    age(database)
    run(pipeline(folder), database, run_id="next")
    check_all_is_there_once(database, folder)
    check_books(database, "dead")


@pytest.mark.parametrize("point", [LOADING[0], LOADING[-1]], ids=str)
def test_a_run_that_was_taken_over_can_commit_nothing_any_more(
    database: Database, folder: Path, point: Point
) -> None:
    kill_at(point, pipeline(folder), database, "dead")
    age(database)
    run(pipeline(folder), database, run_id="next")
    with pytest.raises(TakenOver, match="run next loads its files"):
        run(pipeline(folder), database, run_id="dead")
    check_all_is_there_once(database, folder)
    check_books(database, "next")


def sleep_while(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> None:
    """Have the next load do something else before it commits."""
    record = load.record

    def record_late(*args: Any) -> None:
        monkeypatch.setattr(load, "record", record)
        work()
        record(*args)

    monkeypatch.setattr(load, "record", record_late)


def test_a_run_that_wakes_up_after_it_was_taken_over_rolls_back(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(database, "CREATE TABLE t (id text, n integer)")
    direct = pipeline(folder, checkpoint=False)

    def run_next() -> None:
        age(database)
        run(direct, database, run_id="next")

    sleep_while(monkeypatch, run_next)
    with pytest.raises(TakenOver):
        run(direct, database, run_id="asleep")
    check_all_is_there_once(database, folder)
    check_books(database, "next")


def test_a_silent_run_whose_transaction_is_open_is_not_taken_over(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(database, "CREATE TABLE t (id text, n integer)")

    def run_next() -> None:
        age(database)
        run(pipeline(folder), database, run_id="next")

    sleep_while(monkeypatch, run_next)
    run(pipeline(folder), database, run_id="asleep")
    check_all_is_there_once(database, folder)
    check_books(database, "asleep")


def test_a_run_that_died_between_two_targets_is_left_to_its_own_re_execution(
    database: Database, folder: Path
) -> None:
    both = document(source(folder), target(), {**target("public.u"), "id": "second"})
    kill_at(Point("engine.load", "begin", call=2), both, database, "dead")
    age(database)
    run(both, database, run_id="next")
    assert query(database, "SELECT count(*) FROM t") == [(2 * ROWS,)]
    row = "SELECT status, metadata ->> 'error' FROM flow.pipeline_runs WHERE id = 'dead'"
    ((status, error),) = query(database, row)
    assert status == "failed"
    assert "before it loaded second; re-execute it" in error
    assert sorted(f.name for f in (folder / ".failed").iterdir()) == list(FILES)
    scope = "UPDATE flow.pipeline_runs SET status = 'pending' WHERE id = 'dead'"
    execute(database, scope)
    run(both, database, run_id="dead", steps=["tgt", "second"])
    counts = "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)"
    assert query(database, counts) == [(2 * ROWS, 2 * ROWS)]
    assert sorted(f.name for f in (folder / ".archive").iterdir()) == list(FILES)


def test_the_next_worker_removes_what_a_dead_one_had_unpacked(
    database: Database, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with gzip.open(folder / "c.csv.gz", "wt") as packed:
        packed.write("id,n\nc,1\n")
    both = document(source(folder, "*"), target())
    kill_at(Point("engine.modes", "copy_rows", "after"), both, database, "root", tmp_path)
    left = list(tmp_path.glob("flow-scratch-*/*.unpacked"))
    assert len(left) == 1
    with Scratch() as mine:
        assert list(tmp_path.glob("flow-scratch-*")) == [mine]
        with Scratch() as other:
            assert mine.exists()
            assert other.exists()
    assert not list(tmp_path.glob("*flow-scratch-*"))


def test_a_run_that_beats_keeps_its_files(database: Database, folder: Path) -> None:
    kill_at(LOADING[0], pipeline(folder), database, "slow")
    run(pipeline(folder), database, run_id="next")
    assert query(database, "SELECT count(*) FROM flow_dlq.p") == [(2,)]
    run(pipeline(folder), database, run_id="slow")
    check_all_is_there_once(database, folder)
    check_books(database, "slow")
