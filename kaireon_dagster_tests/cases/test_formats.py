"""JSON and Parquet, from the document to the table."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kaireon_dagster.engine.errors import RowsUnreadable
from kaireon_dagster.errors import Terminal
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import copy, expected, quarantine, rejected_lines, transform
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target


def load(database: Database, folder: Path, pattern: str, *, dlq: bool = True, **more: str) -> Run:
    files = source(folder, pattern, format=pattern.rpartition(".")[2])
    return run(document(files, target(**more), dlq=dlq), database)


# 018: keys that come late


def test_keys_that_first_appear_late_are_loaded_whole(database: Database, folder: Path) -> None:
    with (folder / "late_key.jsonl").open("w") as file:
        for i in range(30_000):
            record = {"id": i, "a": {"x": i}}
            if i >= 25_000:
                record |= {"b": i * 10, "a": {"x": i, "y": i}}
            file.write(json.dumps(record) + "\n")
    done = load(database, folder, "*.jsonl", dlq=False)
    assert done.counts.loaded == 30_000
    found = "SELECT count(*), count(b), count(a::jsonb->'y'), sum(b::int) FROM t"
    assert query(database, found) == [
        (30_000, 5_000, 5_000, sum(i * 10 for i in range(25_000, 30_000)))
    ]


def test_keys_of_later_files_and_documents_are_loaded(database: Database, folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"id": 1}\n')
    (folder / "b.jsonl").write_text('{"new": "x", "id": 2}\n')
    load(database, folder, "*.jsonl")
    (folder / "c.json").write_text('[{"id": 3}, {"id": 4, "late": [1, {"k": null}]}]')
    load(database, folder, "*.json", onNewColumns="add")
    assert query(database, "SELECT id, new, late FROM t ORDER BY id") == [
        ("1", None, None),
        ("2", "x", None),
        ("3", None, None),
        ("4", None, '[1, {"k": null}]'),
    ] or query(database, "SELECT id, new, late::jsonb FROM t ORDER BY id") == [
        ("1", None, None),
        ("2", "x", None),
        ("3", None, None),
        ("4", None, [1, {"k": None}]),
    ]


# 019: broken lines


def test_broken_lines_are_refused_one_by_one(database: Database, folder: Path) -> None:
    copy("019", folder, "broken.jsonl")
    done = load(database, folder, "*.jsonl")
    right = expected("019")
    assert [int(i) for (i,) in query(database, "SELECT id FROM t ORDER BY id")] == right[
        "loaded_ids"
    ]
    assert sorted(rejected_lines(database)) == sorted(map(int, right["quarantined"]))
    assert (done.counts.read, done.counts.loaded, done.counts.rejected) == (8, 2, 6)


def test_without_a_quarantine_a_broken_line_fails_the_run(database: Database, folder: Path) -> None:
    copy("019", folder, "broken.jsonl")
    with pytest.raises(Terminal, match=r"broken\.jsonl:4"):
        load(database, folder, "*.jsonl", dlq=False)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("text", ['{"id": 1\n', "[1]\n[2]\n", '{"a\\u0000b": 1}\n', "\xff"])
def test_a_file_in_which_nothing_can_be_read_is_not_an_empty_one(
    database: Database, folder: Path, text: str, staged: bool
) -> None:
    files = source(folder, "*.jsonl", format="jsonl")
    node = {**transform({"type": "filter", "condition": "true"}), "checkpoint": staged}
    for dlq in (True, False):
        (folder / "a.jsonl").write_bytes(text.encode("latin-1"))
        pipeline = document(files, node, target(input="x"), dlq=dlq)
        if dlq:
            counts = run(pipeline, database).counts
            assert counts.read == counts.rejected == len(text.splitlines())
            assert len(rejected_lines(database)) == counts.rejected
        else:
            with pytest.raises(RowsUnreadable, match=r"a\.jsonl:1"):
                run(pipeline, database)


# 021: wide numbers


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_unsigned_integers_go_into_bigint_or_to_quarantine(
    database: Database, folder: Path, mode: str
) -> None:
    execute(
        database,
        "CREATE TABLE t (id bigint PRIMARY KEY, amount numeric(38,10), f double precision)",
    )
    copy("021", folder, "uint64.parquet")
    load(
        database,
        folder,
        "*.parquet",
        mode=mode,
        **({"upsertKey": "id"} if mode == "upsert" else {}),
    )
    assert query(database, "SELECT id::text, amount::text, f::text FROM t") == [
        (expected("021")["id bigint"][0], expected("021")["amount numeric"][0], "NaN")
    ]
    ((rule, row),) = quarantine(database)
    assert rule == "type:id" and str(row["id"]) == "18446744073709551615"
    assert row["f"] == {"_encoding": "number", "_text": "Infinity"}


@pytest.mark.parametrize("declared", ["numeric(20)", "numeric", "text", None])
def test_wide_numbers_stay_exact(database: Database, folder: Path, declared: str | None) -> None:
    if declared:
        amount = "numeric" if declared == "numeric(20)" else declared
        execute(database, f"CREATE TABLE t (id {declared}, amount {amount}, f double precision)")
    copy("021", folder, "uint64.parquet")
    load(database, folder, "*.parquet", dlq=False)
    right = expected("021")
    found = query(database, "SELECT id::text, amount::text, f::text FROM t")
    columns = [right["id numeric(20)"], right["amount numeric"], right["f double precision"]]
    assert set(found) == set(zip(*columns, strict=True))


def test_every_type_of_parquet_arrives_exact(database: Database, folder: Path) -> None:
    table = pa.table(
        {
            "u32": pa.array([2**32 - 1, None], pa.uint32()),
            "d": pa.array([Decimal("-0.01"), None], pa.decimal128(5, 2)),
            "ts": pa.array([1_700_000_000_123_456, None], pa.timestamp("us")),
            "tz": pa.array([1_700_000_000_123, None], pa.timestamp("ms", "Asia/Kolkata")),
            "b": pa.array([b"\x00\xff", None], pa.binary()),
            "l": pa.array([[1, 2], None], pa.list_(pa.int32())),
            "day": pa.array([19_000, None], pa.date32()),
            "t": pa.array([1, None], pa.time64("us")),
            "dict": pa.array(["x", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, folder / "a.parquet")
    load(database, folder, "*.parquet", dlq=False)
    columns = (
        "u32::text, d::text, ts::text, tz::text, encode(b, 'hex'), l, day::text, t::text, dict"
    )
    assert query(database, f"SELECT {columns} FROM t WHERE u32 IS NOT NULL") == [
        (
            "4294967295",
            "-0.01",
            "2023-11-14 22:13:20.123456",
            "2023-11-14 22:13:20.123+00",
            "00ff",
            [1, 2],
            "2022-01-08",
            "00:00:00.000001",
            "x",
        )
    ]
    assert query(
        database, "SELECT count(*) FROM t WHERE t IS NULL AND l IS NULL AND b IS NULL"
    ) == [(1,)]
