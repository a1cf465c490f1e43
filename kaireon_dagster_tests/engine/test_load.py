"""Loads into real tables: modes, types, quarantine and counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.engine.errors import RowsRefused, SourceEmpty
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import document, execute, query, run, source, target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_append_creates_a_text_table_and_archives_the_file(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "id,name\n1,Ana\n2,Bo\n")
    done = run(document(source(folder), target()), database)
    assert query(database, "SELECT * FROM t ORDER BY id") == [("1", "Ana"), ("2", "Bo")]
    assert (done.counts.read, done.counts.loaded) == (2, 2)
    assert (folder / ".archive" / "a.csv").exists()
    assert query(database, "SELECT status FROM flow.pipeline_runs") == [("completed",)]


def test_casts_quarantine_what_does_not_read(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "id,amount\n1,1.50\nx,2\n3,oops\n")
    ops = [
        {"type": "cast", "field": "id", "to": "integer"},
        {"type": "cast", "field": "amount", "to": "numeric(10,2)"},
    ]
    clean = {"id": "clean", "kind": "transform", "input": "src", "ops": ops}
    done = run(document(source(folder), clean, target(input="clean"), dlq=True), database)
    assert [(i, str(a)) for i, a in query(database, "SELECT id, amount FROM t")] == [(1, "1.50")]
    refused = query(database, 'SELECT "nodeId", "ruleId", row FROM flow_dlq.p ORDER BY id')
    assert refused == [
        ("clean", "cast:id", {"id": "x", "amount": "2"}),
        ("clean", "cast:amount", {"id": "3", "amount": "oops"}),
    ]
    assert (done.counts.read, done.counts.loaded, done.counts.quarantined) == (3, 1, 2)
    assert query(database, "SELECT status FROM flow.pipeline_runs") == [("completed_with_errors",)]


def test_without_a_dlq_a_bad_value_fails_naming_file_and_line(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", 'id,note\n1,"two\nlines"\nx,y\n')
    clean = {
        "id": "clean",
        "kind": "transform",
        "input": "src",
        "ops": [{"type": "cast", "field": "id", "to": "integer"}],
    }
    with pytest.raises(RowsRefused) as caught:
        run(document(source(folder), clean, target(input="clean")), database)
    assert "a.csv:4" in str(caught.value)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


def test_truncate_replaces_and_refuses_an_empty_source(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id text); INSERT INTO t VALUES ('old')")
    write(folder, "a.csv", "id\n")
    with pytest.raises(SourceEmpty):
        run(document(source(folder), target(mode="truncate")), database)
    assert query(database, "SELECT id FROM t") == [("old",)]
    write(folder, "b.csv", "id\nnew\n")
    run(document(source(folder, "b.csv"), target(mode="truncate")), database)
    assert query(database, "SELECT id FROM t") == [("new",)]


def test_upsert_updates_inserts_and_lets_the_last_row_of_a_key_win(
    database: Database, folder: Path
) -> None:
    execute(
        database, "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'old')"
    )
    write(folder, "a.csv", "id,v\n1,first\n2,two\n1,last\n")
    done = run(document(source(folder), target(mode="upsert", upsertKey="id")), database)
    assert query(database, "SELECT id, v FROM t ORDER BY id") == [(1, "last"), (2, "two")]
    counts = done.counts
    assert (counts.loaded, counts.inserted, counts.updated, counts.deduplicated) == (2, 1, 1, 1)


def test_new_columns_are_refused_by_default(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int)")
    write(folder, "a.csv", "id,extra\n1,2\n")
    with pytest.raises(NodeFault, match="has no column 'extra'"):
        run(document(source(folder), target()), database)
