"""Loads into real tables: modes, types, quarantine and counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.engine.errors import RowsRefused, SourceEmpty
from kaireon_dagster.engine.running import open_run
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import document, execute, new_scope, query, run, source, target


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


def test_a_failed_run_puts_its_files_aside_and_can_be_taken_up_again(
    database: Database, folder: Path
) -> None:
    from kaireon_dagster.engine.closing import fail_run

    execute(database, "CREATE TABLE t (id int, CHECK (id > 0))")
    write(folder, "a.csv", "id\n-1\n")
    pipeline = document(source(folder), target())
    with pytest.raises(Exception, match="CheckViolation") as caught:
        run(pipeline, database, run_id="r1")
    assert "-1" not in str(caught.value)
    fail_run(new_scope(plan_pipeline(pipeline), database, "r1"), str(caught.value))
    assert (folder / ".failed" / "a.csv").exists()
    assert query(database, "SELECT status FROM flow.pipeline_runs") == [("failed",)]

    execute(database, "ALTER TABLE t DROP CONSTRAINT t_id_check")
    with database.connect() as connection:
        open_run(connection, new_scope(plan_pipeline(pipeline), database, "r1"))
    run(pipeline, database, run_id="r1", steps=["tgt"])
    assert query(database, "SELECT id FROM t") == [(-1,)]
    assert (folder / ".archive" / "a.csv").exists()
    assert query(database, "SELECT status FROM flow.pipeline_runs") == [("completed",)]


def test_a_load_that_committed_is_not_done_again(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "id\n1\n")
    pipeline = document(source(folder), target())
    run(pipeline, database, run_id="r1")
    again = run(pipeline, database, run_id="r1", steps=["tgt"])
    assert query(database, "SELECT count(*) FROM t") == [(1,)]
    assert again.outcomes["tgt"].repeated
    assert again.counts.loaded == 1


def test_lineage_cells_say_run_pipeline_source_and_place(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "id\n7\n8\n")
    run(document(source(folder), target(lineage=True)), database, run_id="r1")
    cell = {"runId": "r1", "pipelineId": "p", "sourceNodeId": "src"}
    assert query(database, "SELECT id, _kaireon_lineage FROM t ORDER BY id") == [
        ("7", {**cell, "writeOrder": 1}),
        ("8", {**cell, "writeOrder": 2}),
    ]


def test_an_existing_table_gets_the_lineage_column_only_when_asked(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int)")
    write(folder, "a.csv", "id\n1\n")
    silent = target()
    del silent["lineage"]
    done = run(document(source(folder), silent), database)
    assert any("has no column _kaireon_lineage" in w for w in done.outcomes["tgt"].warnings)
    write(folder, "b.csv", "id\n2\n")
    run(document(source(folder), target(lineage=True)), database)
    assert query(database, "SELECT id FROM t WHERE _kaireon_lineage IS NOT NULL") == [(2,)]


def test_types_of_the_table_decide_and_odd_types_pass_through_the_server(
    database: Database, folder: Path
) -> None:
    execute(
        database,
        "CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE DOMAIN short AS varchar(3);"
        "CREATE TABLE t (i smallint, n numeric, d date, z timestamptz, u uuid, j jsonb, b bool, "
        "ip inet, m mood, s short, a int[], f real)",
    )
    write(
        folder,
        "a.csv",
        "i,n,d,z,u,j,b,ip,m,s,a,f\n"
        "1,1.000000000000000000001,2024-02-29,2024-01-01T10:00:00+02,"
        'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11,"{""k"": [1]}",yes,10.0.0.1,ok,abc,"{1,2}",1.5\n',
    )
    run(document(source(folder), target()), database)
    (row,) = query(
        database,
        "SELECT i, n::text, d::text, z::text, u::text, j, b, ip::text, m::text, s, a, f FROM t",
    )
    assert row == (
        1,
        "1.000000000000000000001",
        "2024-02-29",
        "2024-01-01 08:00:00+00",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        {"k": [1]},
        True,
        "10.0.0.1/32",
        "ok",
        "abc",
        [1, 2],
        1.5,
    )


def test_text_that_the_table_cannot_take_is_a_fault_of_its_row(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (i smallint NOT NULL, s varchar(3))")
    write(folder, "a.csv", "i,s\n1,abc\n99999,abc\n2,abcd\n,abc\n")
    run(document(source(folder), target(), dlq=True), database)
    assert query(database, "SELECT * FROM t") == [(1, "abc")]
    assert query(database, 'SELECT "ruleId" FROM flow_dlq.p ORDER BY id') == [
        ("type:i",),
        ("type:s",),
        ("not_null:i",),
    ]
