"""Rows that cannot be loaded: what is kept of them, whatever is in them, and how they are counted."""

from __future__ import annotations

import json
import traceback
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.engine.errors import BudgetExceeded, SourceEmpty
from kaireon_dagster.errors import FlowError, Terminal
from kaireon_dagster.state import Database
from kaireon_dagster.state.quarantine import restore_value
from kaireon_dagster_tests.cases.inputs import (
    cast,
    copy,
    expected,
    quarantine,
    statements,
    transform,
)
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target


def load(database: Database, folder: Path, pattern: str, **more: Any) -> Run:
    files = source(folder, pattern, format=pattern.rpartition(".")[2])
    return run(document(files, target(**more), dlq=True), database)


def write(folder: Path, text: str) -> None:
    (folder / "a.csv").write_text(text, encoding="utf-8")


def refused(database: Database) -> list[tuple[str, Any]]:
    return [(rule, row.get("id")) for rule, row in quarantine(database)]


# 051: NaN and Infinity


@pytest.mark.parametrize(("name", "bad"), [("nan.csv", 3), ("nan.jsonl", 4)])
@pytest.mark.parametrize(
    "declared", ["numeric CHECK (x < 100)", "numeric(5,2)", "double precision CHECK (x < 100)"]
)
def test_values_that_json_does_not_have_stay_legible(
    database: Database, folder: Path, name: str, bad: int, declared: str
) -> None:
    execute(database, f"CREATE TABLE t (id int, x {declared})")
    copy("051", folder, name)
    done = load(database, folder, name)
    assert query(database, "SELECT id, x::text FROM t WHERE id = 1") in (
        [(1, "1.5")],
        [(1, "1.50")],
    )
    counts = done.counts
    assert query(database, "SELECT count(*) FROM t") == [(1,)]
    assert (counts.loaded, counts.quarantined + counts.rejected) == (1, bad)
    kept = " ".join(json.dumps(row) for _, row in quarantine(database))
    for text in (
        ("NaN", "inf", "bad") if name.endswith("csv") else ("NaN", "-Infinity", "bad", "1e400")
    ):
        assert text.lower() in kept.lower()


# 052: what jsonb cannot hold


def test_bytes_that_jsonb_cannot_hold_can_be_had_back(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int, note text)")
    copy("052", folder, "rows.csv")
    done = load(database, folder, "rows.csv")
    assert query(database, "SELECT * FROM t") == [(3, "fine")]
    raw = [restore_value(row["_raw"]) for _, row in quarantine(database)]
    assert [r if isinstance(r, bytes) else r.encode() for r in raw] == [
        b"x1,a\x00b",
        b"x2,\xff\xfe",
    ]
    assert (done.counts.read, done.counts.loaded) == (3, 1)


def test_text_that_jsonb_cannot_hold_can_be_had_back(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int, note text, big numeric)")
    copy("052", folder, "rows.jsonl")
    done = load(database, folder, "rows.jsonl")
    assert query(database, "SELECT id, note FROM t") == [(1, "fine")]
    assert (done.counts.read, done.counts.loaded) == (5, 1)
    emoji, number, *raw = [row for _, row in quarantine(database)]
    assert (emoji["id"], emoji["note"]) == ("x4", "\U0001f600")
    assert (number["id"], number["big"]) == ("x5", "123456789012345678901234567890")
    lines = (folder / ".archive" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [restore_value(row["_raw"]) for row in raw] == lines[1:3]


@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_awkward_text_survives_quarantine_unchanged(
    database: Database, folder: Path, format_: str
) -> None:
    text = "'\"\\ \u2028 \U0001f600 \x7f \x01 %s {0} $1 \t;--é"
    execute(database, "CREATE TABLE t (id int, note text)")
    if format_ == "csv":
        doubled = text.replace('"', '""')
        write(folder, f'id,note\nx,"{doubled}"\n')
    else:
        (folder / "a.jsonl").write_text(json.dumps({"id": "x", "note": text}) + "\n")
    load(database, folder, f"*.{format_}")
    ((_, row),) = quarantine(database)
    assert row == {"id": "x", "note": text}


# 053: an apostrophe in the error text


def test_quotes_and_percent_signs_do_not_break_quarantine(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int, qty int)")
    copy("053", folder, "rows.csv")
    load(database, folder, "rows.csv")
    right = expected("053")
    assert [i for (i,) in query(database, "SELECT id FROM t ORDER BY id")] == right["loaded_ids"]
    bad = [row["id"] if rule == "type:id" else row["qty"] for rule, row in quarantine(database)]
    assert bad == right["quarantined"]


# rows that only the server can refuse


def test_the_server_s_refusals_are_faults_of_their_rows(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE DOMAIN short AS varchar(3) CHECK (VALUE <> 'no');"
        "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1);"
        "CREATE TABLE t (id int PRIMARY KEY, n numeric CHECK (n < 100), m mood, s short, c character(3),"
        " p int CONSTRAINT known REFERENCES parent DEFERRABLE INITIALLY DEFERRED, EXCLUDE (n WITH =));"
        "INSERT INTO t VALUES (0, 99)",
    )
    write(
        folder,
        "id,n,m,s,c,p\n1,1,ok,abc,abc,1\n2,nope,ok,a,b,1\n3,101,ok,a,b,1\n4,4,worse,a,b,1\n"
        "5,5,ok,no,b,1\n6,6,ok,abcd,b,1\n7,7,ok,a,abcd,1\n8,8,ok,a,b,2\n9,9,ok,a,abc   ,\n"
        "0,10,ok,a,b,1\n11,99,ok,a,b,1\n12,x,y,a,b,1\n",
    )
    done = load(database, folder, "a.csv")
    assert query(
        database, "SELECT id, n::text, m::text, s, c, p FROM t WHERE id > 0 ORDER BY id"
    ) == [(1, "1", "ok", "abc", "abc", 1), (9, "9", "ok", "a", "abc", None)]
    rows = quarantine(database)
    assert {row["id"]: rule for rule, row in rows} == {
        "2": "type:n",
        "3": "constraint:t_n_check",
        "4": "type:m",
        "5": "constraint:short_check",
        "6": "type:s",
        "7": "refused:22001",
        "8": "constraint:known",
        "0": "constraint:t_pkey",
        "11": "constraint:t_n_excl",
        "12": "type:n",
    }
    assert next(row for _, row in rows if row["id"] == "12")["_rules"] == ["type:n", "type:m"]
    counts = done.counts
    assert (counts.read, counts.loaded, counts.quarantined, counts.rejected) == (12, 2, 10, 0)
    assert query(database, 'SELECT "rowsQuarantined", status FROM flow.pipeline_runs') == [
        (10, "completed_with_errors")
    ]


def test_without_a_quarantine_such_a_row_fails_the_load_and_is_not_quoted(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int, x numeric CHECK (x < 100))")
    for text in ("topsecret", "1234567"):
        write(folder, f"id,x\n1,1\n2,{text}\n")
        with pytest.raises(Terminal) as caught:
            run(document(source(folder), target()), database)
        assert text not in "".join(traceback.format_exception(caught.value))
    assert query(database, "SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("mode", ["append", "truncate", "upsert"])
def test_of_many_rows_exactly_the_bad_ones_are_refused(
    database: Database, folder: Path, mode: str
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, x numeric CHECK (x < 100))")
    bad = {i for i in range(30_000) if i % 997 == 0} | set(range(12_000, 12_050))
    write(folder, "id,x\n" + "".join(f"{i},{1000 if i in bad else 1}\n" for i in range(30_000)))
    key = {"upsertKey": "id"} if mode == "upsert" else {}
    done = load(database, folder, "a.csv", mode=mode, **key)
    assert query(database, "SELECT count(*), max(x) FROM t") == [(30_000 - len(bad), 1)]
    assert {int(row["id"]) for _, row in quarantine(database)} == bad
    counts = done.counts
    assert (counts.read, counts.loaded, counts.quarantined) == (30_000, 30_000 - len(bad), len(bad))
    assert counts.inserted == counts.loaded


def test_upserts_sort_out_bad_rows_before_keys_are_compared(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (k numeric PRIMARY KEY, v int CHECK (v > 0), w text)")
    execute(database, "INSERT INTO t VALUES (1, 1, 'old')")
    write(folder, "k,v,w\n1.0,5,a\n1.00,6,b\nbad,7,c\n2,0,d\n3,1,e\n")
    done = load(database, folder, "a.csv", mode="upsert", upsertKey="k")
    assert query(database, "SELECT k::text, v, w FROM t ORDER BY k") == [
        ("1", 6, "b"),
        ("3", 1, "e"),
    ]
    counts = done.counts
    assert (counts.read, counts.loaded, counts.inserted, counts.updated) == (5, 2, 1, 1)
    assert (counts.quarantined, counts.deduplicated) == (2, 1)


def test_refused_rows_are_kept_as_they_came_to_the_target(database: Database, folder: Path) -> None:
    execute(
        database, "CREATE TABLE t (id int, x numeric(6,2) CHECK (x < 100), _kaireon_lineage jsonb)"
    )
    write(folder, "id,x,extra\n1, 500 ,kept\n2,1,gone\n")
    into = target(onNewColumns="ignore", lineage=True)
    run(document(source(folder), into, dlq=True), database)
    assert quarantine(database) == [
        ("constraint:t_x_check", {"id": "1", "x": " 500 ", "extra": "kept"})
    ]
    assert query(database, "SELECT id, _kaireon_lineage->>'writeOrder' FROM t") == [(2, "2")]


def test_a_target_is_not_emptied_for_rows_that_are_all_refused(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int CHECK (id < 10)); INSERT INTO t VALUES (1)")
    write(folder, "id\n99\n")
    with pytest.raises(SourceEmpty):
        load(database, folder, "a.csv", mode="truncate")
    assert query(database, "SELECT id FROM t") == [(1,)]


def test_a_trigger_that_raises_is_no_fault_of_rows(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int); CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'not %', NEW.id; END $$;"
        "CREATE TRIGGER no BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION no()",
    )
    write(folder, "id\n7777\n")
    with pytest.raises(Terminal) as caught:
        load(database, folder, "a.csv")
    assert "7777" not in str(caught.value)
    assert quarantine(database) == []


def test_a_row_for_no_partition_goes_to_quarantine(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int, v text) PARTITION BY RANGE (id);"
        "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10)",
    )
    write(folder, "v,id\na,2\nb,30\n")
    load(database, folder, "a.csv")
    assert query(database, "SELECT id FROM t") == [(2,)]
    assert quarantine(database) == [("refused:23514", {"v": "b", "id": "30"})]


def test_hostile_names_do_not_break_the_search_for_bad_rows(
    database: Database, folder: Path
) -> None:
    name = 'it\'s $flow$ "x"; -- %s \\'
    quoted = '"' + name.replace('"', '""') + '"'
    execute(
        database, f"CREATE TABLE t ({quoted} numeric CHECK ({quoted} < 9), low int, state text)"
    )
    doubled = name.replace('"', '""')
    write(folder, f'"{doubled}",low,state\n1,2,3\n10,2,3\nx,2,3\n')
    load(database, folder, "a.csv")
    assert query(database, "SELECT * FROM t") == [(Decimal(1), 2, "3")]
    assert [rule.split(":")[0] for rule, _ in quarantine(database)] == ["constraint", "type"]


# 054: counts


def test_nothing_of_a_rolled_back_load_is_counted(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int CHECK (id <> 250))")
    write(folder, "id\n" + "".join(f"{i}\n" for i in range(500)))
    with pytest.raises(FlowError):
        run(document(source(folder), target()), database)
    assert query(database, "SELECT count(*) FROM t") == [(0,)]
    assert query(database, "SELECT count(*) FROM flow.flow_loads") == [(0,)]
    assert query(database, 'SELECT "rowsLoaded", "rowsIn" FROM flow.pipeline_runs') == [(0, 0)]


def test_a_misspelt_column_fails_the_run_and_quarantines_nothing(
    database: Database, folder: Path
) -> None:
    write(folder, "id,amount\n1,2\n")
    misspelt = {"type": "expression", "field": "total", "expression": "amuont * 2"}
    pipeline = document(
        source(folder), transform(cast("amount", "integer"), misspelt), target(input="x"), dlq=True
    )
    with pytest.raises(Terminal, match="amuont"):
        run(pipeline, database)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]
    assert quarantine(database) == []


@pytest.mark.parametrize(
    ("limit", "fails"),
    [
        ({"maxRows": 2}, True),
        ({"maxRows": 3}, False),
        ({"maxPct": 29}, True),
        ({"maxPct": 30}, False),
    ],
)
def test_a_share_of_bad_rows_is_the_most_a_run_may_have(
    database: Database, folder: Path, limit: dict[str, int], fails: bool
) -> None:
    # One row is ragged, one does not read, one is refused by the server.
    execute(database, "CREATE TABLE t (id int, x numeric CHECK (x < 100))")
    write(folder, "id,x\n" + "".join(f"{i},{i}\n" for i in range(7)) + "a,1\n8\n9,900\n")
    handling = {"dlq": {"enabled": True, **limit}}
    pipeline = document(source(folder), target(), errorHandling=handling)
    if fails:
        with pytest.raises(BudgetExceeded):
            run(pipeline, database)
        assert query(database, "SELECT count(*) FROM t") == [(0,)]
        assert quarantine(database) == []
    else:
        counts = run(pipeline, database).counts
        assert (counts.read, counts.loaded, counts.quarantined, counts.rejected) == (10, 7, 2, 1)


def test_counts_balance_when_every_way_out_is_taken(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, x numeric CHECK (x < 100))")
    write(folder, "id,x\n1,1\n1,2\n2,3\n2\nq,1\n3,1000\n4,-1\n")
    keep = {"type": "filter", "condition": "x <> '-1'"}
    nodes = (source(folder), transform(keep), target(mode="upsert", input="x", upsertKey="id"))
    counts = run(document(*nodes, dlq=True), database).counts
    assert (counts.read, counts.loaded) == (7, 2)
    assert (counts.quarantined, counts.rejected, counts.filtered, counts.deduplicated) == (
        2,
        1,
        1,
        1,
    )


def test_a_loads_quarantine_is_written_once(database: Database, folder: Path) -> None:
    execute(database, statements("017"))
    write(folder, "id,name\n1,twin\n5000,new\n")
    pipeline = document(source(folder), target("public.customers"), dlq=True)
    run(pipeline, database, run_id="r")
    again = run(pipeline, database, run_id="r", steps=["tgt"])
    assert again.outcomes["tgt"].repeated
    assert refused(database) == [("constraint:customers_pkey", "1")]
    assert query(database, "SELECT count(*) FROM customers") == [(1001,)]
