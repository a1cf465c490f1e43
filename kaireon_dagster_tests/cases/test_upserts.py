"""Upserts: keys given twice, keys that are NULL, keys without an index, and two loads at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import (
    copy,
    expected,
    quarantine,
    statements,
    transform,
    work_together,
)
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target


def upsert(
    database: Database, folder: Path, key: str | list[str], table: str = "public.t", **more: Any
) -> Run:
    nodes = (source(folder), target(table, "upsert", upsertKey=key, **more))
    return run(document(*nodes, dlq=True), database)


def write(folder: Path, text: str, name: str = "a.csv") -> None:
    (folder / name).write_text(text, encoding="utf-8")


# 027: the same key twice in one batch


@pytest.mark.parametrize(
    "create", [None, "CREATE TABLE t (id int PRIMARY KEY, v text, updated_at timestamptz)"]
)
def test_of_equal_keys_the_last_row_wins_and_the_others_are_counted(
    database: Database, folder: Path, create: str | None
) -> None:
    if create:
        execute(database, create)
    copy("027", folder, "dup_keys.csv")
    done = upsert(database, folder, "id")
    assert dict(query(database, "SELECT id::text, v FROM t")) == {
        "1": "middle",
        "2": "only",
        "3": "twin",
    }
    assert (done.counts.read, done.counts.loaded, done.counts.deduplicated) == (6, 3, 3)


def test_with_an_order_column_the_newest_row_wins(database: Database, folder: Path) -> None:
    copy("027", folder, "dup_keys.csv")
    newest = {"type": "deduplicate", "keys": ["id"], "orderBy": "updated_at", "keep": "last"}
    nodes = (source(folder), transform(newest), target(mode="upsert", input="x", upsertKey="id"))
    done = run(document(*nodes), database)
    assert (
        dict(query(database, "SELECT id, v FROM t"))
        == expected("027")["with order column updated_at"]
    )
    assert (done.counts.loaded, done.counts.deduplicated) == (3, 3)


@pytest.mark.parametrize(
    ("declared", "first", "second"),
    [
        ("numeric", "1.0", "1.00"),
        ("numeric(10,2)", "1.0", "1.00"),
        ("double precision", "0", "-0"),
        ("timestamptz", "2024-01-01T00:00:00Z", "2024-01-01 01:00:00+01"),
        ("character(4)", "a", "a  "),
        ("inet", "10.0.0.1", "10.0.0.1/32"),
        ("uuid", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
        ("boolean", "yes", "t"),
        ("interval", "1 day", "24:00:00"),
        ("int[]", "{1,2}", "{1, 2}"),
        ("positive", "7", "+7"),
    ],
)
def test_keys_are_equal_as_the_column_has_it(
    database: Database, folder: Path, declared: str, first: str, second: str
) -> None:
    execute(database, "CREATE DOMAIN positive AS numeric CHECK (VALUE > 0)")
    execute(database, f"CREATE TABLE t (k {declared} PRIMARY KEY, v text)")
    write(folder, f'k,v\n"{first}",old\n"{second}",new\n')
    done = upsert(database, folder, "k")
    assert query(database, "SELECT v FROM t") == [("new",)]
    assert (done.counts.loaded, done.counts.deduplicated) == (1, 1)


def test_a_key_of_several_columns_in_any_order(database: Database, folder: Path) -> None:
    execute(database, 'CREATE TABLE t (v text, b text, "A" int, PRIMARY KEY ("A", b))')
    execute(database, "INSERT INTO t VALUES ('old', 'x', 1)")
    write(folder, "b,A,v\nx,1,new\nx,2,two\ny,1,first\ny,1,last\n")
    done = upsert(database, folder, ["b", "A"])
    assert query(database, 'SELECT "A", b, v FROM t ORDER BY 1, 2') == [
        (1, "x", "new"),
        (1, "y", "last"),
        (2, "x", "two"),
    ]
    counts = done.counts
    assert (counts.read, counts.inserted, counts.updated, counts.deduplicated) == (4, 2, 1, 1)


def test_a_key_of_all_columns_is_refused(database: Database, folder: Path) -> None:
    write(folder, "a,b\n1,2\n")
    with pytest.raises(NodeFault, match="upsertKey"):
        upsert(database, folder, ["a", "b"])


# 028: NULL in a key column


@pytest.mark.parametrize("unique", ["UNIQUE (a, b)", "UNIQUE NULLS NOT DISTINCT (a, b)"])
def test_rows_with_a_null_key_are_refused_and_never_multiply(
    database: Database, folder: Path, unique: str
) -> None:
    execute(database, statements("028").replace("UNIQUE (a, b)", unique))
    for _ in range(3):
        copy("028", folder, "null_keys.csv")
        done = upsert(database, folder, ["a", "b"], "public.upn")
        assert query(database, "SELECT * FROM upn") == [(1, 2, "y")]
        assert (done.counts.read, done.counts.loaded, done.counts.quarantined) == (3, 1, 2)
    assert expected("028")["ok"][1] == "rows with a NULL key quarantined"
    assert [rule for rule, _ in quarantine(database)[:2]] == ["upsert_key:b", "upsert_key:a"]


def test_without_a_quarantine_a_null_key_fails_the_load(database: Database, folder: Path) -> None:
    execute(database, statements("028"))
    copy("028", folder, "null_keys.csv")
    nodes = (source(folder), target("public.upn", "upsert", upsertKey=["a", "b"]))
    with pytest.raises(Terminal, match=r"upsert_key:.*null_keys\.csv"):
        run(document(*nodes), database)
    assert query(database, "SELECT count(*) FROM upn") == [(0,)]


def test_an_empty_text_key_is_a_null_key(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (k text PRIMARY KEY, v text)")
    write(folder, 'k,v\n,x\n"",y\nz,z\n')
    done = upsert(database, folder, "k")
    assert query(database, "SELECT * FROM t") == [("z", "z")]
    assert done.counts.quarantined == 2


# 029: keys without a serving index


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("upp", ["upp_live", "partial"]),
        ("upx", ["there is none"]),
        ("upl", ["upl_lower", "expression"]),
        ("upd", ["upd_k_key", "deferrable"]),
    ],
)
def test_a_key_without_a_serving_index_is_refused_by_name(
    database: Database, folder: Path, table: str, words: list[str]
) -> None:
    execute(database, statements("029"))
    execute(database, "CREATE TABLE upd (k text UNIQUE DEFERRABLE, v text)")
    copy("029", folder, "rows.csv")
    with pytest.raises(NodeFault) as caught:
        upsert(database, folder, "k", f"public.{table}")
    assert all(word in str(caught.value) for word in ["k", *words]), str(caught.value)
    assert query(database, f"SELECT count(*) FROM {table} WHERE v = 'new'") == [(0,)]


def test_a_whole_index_beside_a_partial_one_serves(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (k text, v text, w int)")
    execute(
        database,
        "CREATE UNIQUE INDEX p ON t (k) WHERE v <> ''; CREATE UNIQUE INDEX w ON t (k) INCLUDE (v)",
    )
    copy("029", folder, "rows.csv")
    assert upsert(database, folder, "k").counts.inserted == 3


# 030: two upserts at once


def _race(round_: int, conninfo: str, folder: str, name: str) -> tuple[int, int]:
    nodes = (source(Path(folder), f"{round_}.csv"), target(mode="upsert", upsertKey="id"))
    counts = run(document(*nodes, id=name), Database(conninfo)).counts
    return counts.loaded, counts.updated


def test_two_upserts_of_equal_keys_in_opposite_order_do_not_wait_in_a_circle(
    database: Database, tmp_path: Path
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    execute(database, "INSERT INTO t SELECT generate_series(1, 5000)")
    arguments = []
    for name, step in (("up", 1), ("down", -1)):
        folder = tmp_path / name
        folder.mkdir()
        lines = "".join(f"{key},{name}\n" for key in range(1, 5001)[::step])
        for round_ in range(20):
            write(folder, f"id,v\n{lines}", f"{round_}.csv")
        arguments.append((database.conninfo, str(folder), name))
    assert work_together(_race, 20, arguments) == [(5000, 5000)] * 40
    assert query(database, "SELECT count(*), count(DISTINCT v) FROM t") == [(5000, 1)]


# 031: identity and generated columns


@pytest.mark.parametrize("mode", ["append", "truncate", "upsert"])
def test_generated_columns_are_left_to_the_server(
    database: Database, folder: Path, mode: str
) -> None:
    execute(database, statements("031"))
    if mode == "append":
        execute(database, "DELETE FROM gen WHERE code = 'A'")
    copy("031", folder, "without.csv")
    key = {"upsertKey": "code"} if mode == "upsert" else {}
    run(document(source(folder), target("public.gen", mode, **key)), database)
    rows = query(database, "SELECT code, qty, twice FROM gen ORDER BY code")
    assert rows == [("A", 10, 20)] + [("B", 2, 4)] * (mode != "truncate") + [("C", 3, 6)]
    if mode == "upsert":
        assert query(database, "SELECT id FROM gen WHERE code = 'A'") == [(1,)]
    assert query(database, "SELECT count(*) FROM gen WHERE made IS NULL OR id IS NULL") == [(0,)]


@pytest.mark.parametrize("mode", ["truncate", "upsert"])
def test_values_for_columns_generated_always_are_not_written_and_a_warning_says_so(
    database: Database, folder: Path, mode: str
) -> None:
    execute(database, statements("031"))
    copy("031", folder, "with.csv")
    key = {"upsertKey": "code"} if mode == "upsert" else {}
    done = run(document(source(folder), target("public.gen", mode, **key)), database)
    assert query(database, "SELECT code, qty, twice FROM gen WHERE code <> 'B' ORDER BY code") == [
        ("A", 10, 20),
        ("C", 3, 6),
    ]
    assert query(database, "SELECT count(*) FROM gen WHERE id = 900") == [(0,)]
    warnings = " ".join(done.outcomes["tgt"].warnings)
    assert "'id' is GENERATED ALWAYS" in warnings and "'twice' is GENERATED ALWAYS" in warnings


def test_identity_by_default_takes_the_values_given(database: Database, folder: Path) -> None:
    execute(
        database,
        statements("031").replace(
            "GENERATED ALWAYS AS IDENTITY", "GENERATED BY DEFAULT AS IDENTITY"
        ),
    )
    write(folder, "id,code,qty\n1,A,10\n900,C,3\n")
    done = upsert(database, folder, "id", "public.gen")
    assert query(database, "SELECT id, code, twice FROM gen ORDER BY id") == [
        (1, "A", 20),
        (2, "B", 4),
        (900, "C", 6),
    ]
    assert (done.counts.inserted, done.counts.updated) == (1, 1)


def test_a_generated_key_is_refused(database: Database, folder: Path) -> None:
    execute(database, statements("031"))
    copy("031", folder, "with.csv")
    with pytest.raises(NodeFault, match="upsertKey column 'id' is GENERATED ALWAYS"):
        upsert(database, folder, "id", "public.gen")


# tables that make counting hard


def test_a_partitioned_table_counts_inserts_and_updates(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int, region text, v text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);"
        "CREATE TABLE t_eu (v text, region text NOT NULL, id int NOT NULL);"
        "ALTER TABLE t ATTACH PARTITION t_eu FOR VALUES IN ('eu');"
        "CREATE TABLE t_us PARTITION OF t FOR VALUES IN ('us');"
        "INSERT INTO t VALUES (1, 'eu', 'old'), (1, 'us', 'old')",
    )
    write(folder, "id,region,v\n1,eu,new\n2,eu,new\n2,us,first\n2,us,new\n")
    done = upsert(database, folder, ["id", "region"])
    assert query(database, "SELECT id, region, v FROM t ORDER BY 1, 2") == [
        (1, "eu", "new"),
        (1, "us", "old"),
        (2, "eu", "new"),
        (2, "us", "new"),
    ]
    counts = done.counts
    assert (counts.loaded, counts.inserted, counts.updated, counts.deduplicated) == (3, 2, 1, 1)


def test_triggers_see_every_row_once_and_their_changes_are_kept(
    database: Database, folder: Path
) -> None:
    execute(
        database,
        "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE log (op text, id int);"
        "CREATE FUNCTION upper_v() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.v = upper(NEW.v); RETURN NEW; END $$;"
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO log VALUES (TG_OP, NEW.id); RETURN NULL; END $$;"
        "CREATE TRIGGER a BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION upper_v();"
        "CREATE TRIGGER b AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION note();"
        "INSERT INTO t VALUES (1, 'old'); TRUNCATE log",
    )
    write(folder, "id,v\n1,new\n2,first\n2,last\n")
    done = upsert(database, folder, "id")
    assert query(database, "SELECT * FROM t ORDER BY id") == [(1, "NEW"), (2, "LAST")]
    assert query(database, "SELECT * FROM log ORDER BY id") == [("UPDATE", 1), ("INSERT", 2)]
    assert (done.counts.inserted, done.counts.updated, done.counts.deduplicated) == (1, 1, 1)


@pytest.mark.parametrize("event", ["INSERT", "UPDATE"])
def test_rows_that_a_trigger_keeps_out_are_not_taken_for_duplicates(
    database: Database, folder: Path, event: str
) -> None:
    execute(
        database,
        "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'old'), (2, 'old');"
        "CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.v = 'bad' THEN RETURN NULL; END IF; RETURN NEW; END $$;"
        f"CREATE TRIGGER a BEFORE {event} ON t FOR EACH ROW EXECUTE FUNCTION keep_out()",
    )
    write(folder, "id,v\n1,bad\n2,new\n3,new\n3,new\n")
    done = upsert(database, folder, "id")
    assert query(database, "SELECT * FROM t ORDER BY id") == [(1, "old"), (2, "new"), (3, "new")]
    counts = done.counts
    assert (counts.read, counts.loaded, counts.deduplicated, counts.filtered) == (4, 2, 1, 1)
    assert any(
        "1 rows were kept out by triggers of public.t (a)" in w
        for w in done.outcomes["tgt"].warnings
    )


def test_only_the_columns_of_the_file_change(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, v text, keep text DEFAULT 'new')")
    execute(database, "INSERT INTO t VALUES (1, 'old', 'kept')")
    write(folder, "v,id\nx,1\ny,2\n")
    upsert(database, folder, "id")
    assert query(database, "SELECT * FROM t ORDER BY id") == [(1, "x", "kept"), (2, "y", "new")]


def test_lineage_is_renewed_by_an_update(database: Database, folder: Path) -> None:
    for round_ in ("r1", "r2"):
        write(folder, "id,v\n1,x\n")
        nodes = (source(folder), target(mode="upsert", upsertKey="id", lineage=True))
        run(document(*nodes), database, run_id=round_)
    assert query(database, "SELECT _kaireon_lineage->>'runId' FROM t") == [("r2",)]
