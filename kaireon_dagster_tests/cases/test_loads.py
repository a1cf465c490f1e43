"""Truncate and its dangers: empty sources, child tables, several files, several targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from kaireon_dagster.engine.errors import RowsUnreadable, SourceEmpty, TableBusy
from kaireon_dagster.engine.scope import Settings
from kaireon_dagster.errors import DocumentInvalid, Terminal
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import copy, statements
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

EMPTY = ["zero-bytes.csv", "header-only.csv", "bom-only.csv", "blank-lines.csv", "empty-array.json"]


def read(folder: Path, name: str = "*.csv", **config: Any) -> dict[str, Any]:
    return source(folder, name, format=name.rpartition(".")[2], **config)


# 017: an empty file empties the target


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("allowed", [False, True])
def test_an_empty_source_empties_the_target_only_when_asked(
    database: Database, folder: Path, name: str, allowed: bool
) -> None:
    execute(database, statements("017"))
    copy("017", folder, name)
    into = target("public.customers", "truncate", allowEmptySource=allowed)
    if allowed:
        run(document(read(folder, name), into), database)
        assert query(database, "SELECT count(*) FROM customers") == [(0,)]
    else:
        with pytest.raises(SourceEmpty):
            run(document(read(folder, name), into), database)
        assert query(database, "SELECT count(*) FROM customers") == [(1000,)]


@pytest.mark.parametrize("mode", ["append", "upsert"])
@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_source_changes_nothing_in_other_modes(
    database: Database, folder: Path, name: str, mode: str
) -> None:
    execute(database, statements("017"))
    copy("017", folder, name)
    key = {"upsertKey": "id"} if mode == "upsert" else {}
    done = run(document(read(folder, name), target("public.customers", mode, **key)), database)
    assert query(database, "SELECT count(*) FROM customers") == [(1000,)]
    assert (done.counts.read, done.counts.loaded) == (0, 0)


def test_no_file_at_all_is_an_empty_source(database: Database, folder: Path) -> None:
    execute(database, statements("017"))
    with pytest.raises(SourceEmpty):
        run(document(source(folder), target("public.customers", "truncate")), database)
    assert query(database, "SELECT count(*) FROM customers") == [(1000,)]


def test_a_source_whose_rows_are_all_refused_is_empty_too(database: Database, folder: Path) -> None:
    execute(database, statements("017"))
    (folder / "a.csv").write_text("id,name\nx,Ana\ny\n")
    with pytest.raises(SourceEmpty):
        run(document(source(folder), target("public.customers", "truncate"), dlq=True), database)
    assert query(database, "SELECT count(*) FROM customers") == [(1000,)]


def test_empty_files_among_full_ones_count_for_nothing(database: Database, folder: Path) -> None:
    execute(database, statements("017"))
    copy("017", folder, *EMPTY[:4])
    (folder / "full.csv").write_text("name,id\nAna,1\n")
    done = run(document(source(folder), target("public.customers", "truncate")), database)
    assert query(database, "SELECT * FROM customers") == [(1, "Ana")]
    assert done.counts.read == 1


# 040: TRUNCATE with child tables


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ("", "child"),
        ("TRUNCATE child", "child"),
        (
            "CREATE SCHEMA other; ALTER TABLE child SET SCHEMA other; "
            'ALTER TABLE other.child RENAME TO "Child"',
            'other."Child"',
        ),
    ],
)
def test_a_table_that_others_point_at_is_not_truncated(
    database: Database, folder: Path, extra: str, named: str
) -> None:
    execute(database, f"{statements('040')}; {extra}")
    copy("040", folder, "rows.csv")
    with pytest.raises(NodeFault) as caught:
        run(document(source(folder), target("public.parent", "truncate")), database)
    assert named in str(caught.value)
    assert query(database, "SELECT v FROM parent") == [("old",), ("old",)]


def test_a_table_that_points_at_itself_is_truncated(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t); INSERT INTO t VALUES (9, 9)",
    )
    (folder / "a.csv").write_text("id,boss\n1,2\n2,\n")
    run(document(source(folder), target(mode="truncate")), database)
    assert query(database, "SELECT * FROM t ORDER BY id") == [(1, 2), (2, None)]


def test_a_table_that_inherits_loses_no_row(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int); CREATE TABLE c () INHERITS (t); INSERT INTO c VALUES (7)",
    )
    (folder / "a.csv").write_text("id\n1\n")
    with pytest.raises(NodeFault, match="inherit"):
        run(document(source(folder), target(mode="truncate")), database)
    assert query(database, "SELECT id FROM c") == [(7,)]


def test_a_partitioned_table_is_replaced_whole(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int, v text) PARTITION BY RANGE (id);"
        "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE t2 PARTITION OF t DEFAULT; INSERT INTO t VALUES (1, 'old'), (20, 'old')",
    )
    (folder / "a.csv").write_text("v,id\nnew,2\nnew,30\n")
    done = run(document(source(folder), target(mode="truncate")), database)
    assert query(database, "SELECT id, v FROM t ORDER BY id") == [(2, "new"), (30, "new")]
    assert done.counts.loaded == 2


def test_a_row_for_no_partition_is_refused(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int, v text) PARTITION BY RANGE (id);"
        "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); INSERT INTO t VALUES (1, 'old')",
    )
    (folder / "a.csv").write_text("v,id\nnew,2\nnew,30\n")
    with pytest.raises(Terminal) as caught:
        run(document(source(folder), target(mode="truncate")), database)
    assert "30" not in str(caught.value)
    assert query(database, "SELECT id, v FROM t") == [(1, "old")]


# 041: many files, one truncate


def test_several_files_are_one_replacement(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int); INSERT INTO t VALUES (99)")
    copy("041", folder, "part-1.csv", "part-2.csv", "part-10.csv")
    done = run(document(source(folder, "part-*.csv"), target(mode="truncate")), database)
    assert query(database, "SELECT id FROM t ORDER BY id") == [(1,), (2,), (3,), (4,), (5,)]
    assert done.counts.loaded == 5


def test_when_one_file_fails_the_old_content_stays(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int); INSERT INTO t VALUES (99)")
    copy("041", folder, "part-1.csv", "part-2.csv", "part-10.csv")
    (folder / "part-2.csv").write_text('id\n3\n"4\n')
    with pytest.raises(RowsUnreadable, match="part-2"):
        run(document(source(folder, "part-*.csv"), target(mode="truncate")), database)
    assert query(database, "SELECT id FROM t") == [(99,)]


@pytest.mark.parametrize(
    ("modes", "fine"),
    [
        (("append", "append"), True),
        (("append", "upsert"), True),
        (("truncate", "truncate"), False),
        (("append", "truncate"), False),
    ],
)
def test_two_targets_of_one_table_never_undo_each_other(
    database: Database, tmp_path: Path, modes: tuple[str, str], fine: bool
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    nodes = []
    for number, mode in enumerate(modes):
        folder = tmp_path / f"in{number}"
        folder.mkdir()
        (folder / "a.csv").write_text(f"id,v\n{number},{number}\n")
        key = {"upsertKey": "id"} if mode == "upsert" else {}
        nodes.append({**source(folder), "id": f"s{number}"})
        nodes.append({**target(mode=mode, input=f"s{number}", **key), "id": f"t{number}"})
    if fine:
        run(document(*nodes), database)
        assert query(database, "SELECT id FROM t ORDER BY id") == [(0,), (1,)]
    else:
        with pytest.raises(DocumentInvalid, match="truncate"):
            document(*nodes)


# readers and writers at the same time


def test_a_table_in_use_is_left_alone_and_its_readers_are_served(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int); INSERT INTO t VALUES (99)")
    (folder / "a.csv").write_text("id\n1\n")
    with psycopg.connect(database.conninfo) as reader:
        reader.execute("SELECT * FROM t")
        settings = Settings(lock_wait_seconds=0.1, lock_attempts=3)
        with pytest.raises(TableBusy):
            run(document(source(folder), target(mode="truncate")), database, settings=settings)
        with psycopg.connect(database.conninfo) as second:
            second.execute("SET statement_timeout = '2s'")
            assert second.execute("SELECT id FROM t").fetchall() == [(99,)]
    assert query(database, "SELECT id FROM t") == [(99,)]
