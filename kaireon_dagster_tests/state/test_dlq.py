from __future__ import annotations

import contextlib
from datetime import date
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from kaireon_dagster.state import (
    Database,
    DlqRow,
    DlqTableUnfit,
    dlq,
    encode_row,
    restore_value,
    storable,
)
from kaireon_dagster_tests.state.processes import CONTEXT, run_together

TABLE = "flow_dlq.orders"


def ensure(database: Database) -> str:
    with database.connect() as connection:
        dlq.ensure_table(connection, TABLE)
    return "made"


def make_row(values: dict[str, Any], rule: str = "amt-positive") -> DlqRow:
    return DlqRow("orders", "r1", "v", rule, encode_row(values))


@pytest.mark.parametrize("attempt", range(5))
def test_eight_processes_make_the_table_and_none_fails(
    empty_database: Database, attempt: int
) -> None:
    assert run_together(8, ensure, empty_database) == ["made"] * 8


def create_by_hand(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS flow_dlq")
        connection.execute(
            """CREATE TABLE IF NOT EXISTS flow_dlq.orders (id serial, "pipelineId" text,
            "runId" text, "nodeId" text, "ruleId" text, row jsonb, "createdAt" timestamptz)"""
        )


def ensure_or_create(database: Database, turns: Any) -> str:
    with turns.get_lock():
        turns.value += 1
        ours = turns.value % 2
    if ours:
        return ensure(database)
    # They may lose the race, we may not.
    with contextlib.suppress(psycopg.Error):
        create_by_hand(database)
    return "made"


@pytest.mark.parametrize("attempt", range(5))
def test_others_who_make_the_table_without_our_lock_do_no_harm(
    empty_database: Database, attempt: int
) -> None:
    turns = CONTEXT.Value("i", 0)
    assert run_together(8, ensure_or_create, empty_database, turns) == ["made"] * 8


def test_table_has_the_fixed_shape_and_index(database: Database) -> None:
    ensure(database)
    with database.connect() as connection:
        columns = connection.execute(
            """SELECT column_name, data_type FROM information_schema.columns
            WHERE table_schema = 'flow_dlq' AND table_name = 'orders' ORDER BY ordinal_position"""
        ).fetchall()
        indexes = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'flow_dlq'"
        ).fetchall()
    assert columns == [
        ("id", "bigint"),
        ("pipelineId", "text"),
        ("runId", "text"),
        ("nodeId", "text"),
        ("ruleId", "text"),
        ("row", "jsonb"),
        ("createdAt", "timestamp with time zone"),
    ]
    assert any('("pipelineId", "runId")' in text for (text,) in indexes)


def test_table_that_is_there_is_used_without_the_right_to_create(database: Database) -> None:
    ensure(database)
    with database.connect() as connection:
        connection.execute("CREATE ROLE dlq_writer LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA flow_dlq TO dlq_writer")
        connection.execute("GRANT INSERT ON flow_dlq.orders TO dlq_writer")
        connection.commit()
        connection.execute("SET LOCAL ROLE dlq_writer")
        dlq.ensure_table(connection, TABLE)
        assert dlq.store(connection, TABLE, [make_row({"a": 1})]) == 1
        connection.execute("RESET ROLE")
        connection.execute("DROP OWNED BY dlq_writer")
        connection.execute("DROP ROLE dlq_writer")


def test_table_of_another_shape_is_refused_with_what_it_lacks(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA flow_dlq")
        connection.execute('CREATE TABLE flow_dlq.orders (id int, "pipelineId" text, row jsonb)')
        with pytest.raises(DlqTableUnfit, match="runId, nodeId, ruleId"):
            dlq.ensure_table(connection, TABLE)


def test_rows_commit_and_roll_back_with_the_load(database: Database) -> None:
    ensure(database)
    with database.connect() as connection:
        assert dlq.store(connection, TABLE, [make_row({"a": 1}), make_row({"a": 2})]) == 2
        connection.rollback()
        assert dlq.store(connection, TABLE, iter([])) == 0
        assert dlq.store(connection, TABLE, [make_row({"q": "it's \t \\. {}"}, "o'rule")]) == 1
    with database.connect() as connection:
        rows = connection.execute('SELECT "ruleId", row FROM flow_dlq.orders').fetchall()
    assert rows == [("o'rule", {"q": "it's \t \\. {}"})]


ORIGINALS = [
    "plain",
    "",
    "a\0b",
    "\ud83d",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    b"\xff\xfe",
    b"a\x00\xff",
    0,
    -1,
    True,
    None,
    0.1,
    123456789012345678901234567890,
    float("inf"),
    float("-inf"),
    ["x", "a\0", [b"\x80"]],
    {"k": "a\0b", "n": {"m": None}},
    {"a\0key": 1, "b": b"\x80"},
    {"_encoding": "base64", "_bytes": "forged"},
    {"_encoding": "items"},
    "\\u0000",
]


@pytest.mark.parametrize("original", ORIGINALS, ids=ascii)
def test_whatever_is_in_a_row_is_stored_and_had_back(database: Database, original: Any) -> None:
    ensure(database)
    with database.connect() as connection:
        dlq.store(connection, TABLE, [make_row({"value": original})])
        row = connection.execute("SELECT row FROM flow_dlq.orders").fetchone()
    assert row is not None
    restored = restore_value(row[0]["value"])
    assert restored == original
    assert type(restored) is type(original)


def test_nan_stays_legible(database: Database) -> None:
    ensure(database)
    with database.connect() as connection:
        values = (float("nan"), Decimal("NaN"), Decimal("-Infinity"))
        dlq.store(connection, TABLE, [make_row({"x": value}) for value in values])
        rows = connection.execute("SELECT row -> 'x' ->> '_text' FROM flow_dlq.orders").fetchall()
    assert rows == [("NaN",), ("NaN",), ("-Infinity",)]


def test_bytes_that_are_text_become_text_and_other_types_their_text() -> None:
    assert storable("grün".encode()) == "grün"
    assert storable(Decimal("1.10")) == "1.10"
    assert storable(date(2026, 3, 2)) == "2026-03-02"


def test_all_failed_rules_are_kept_when_there_are_several() -> None:
    assert encode_row({"a": 1}, ["r1"]) == '{"a": 1}'
    assert encode_row({"a": 1}, ["r1", "r2"]) == '{"a": 1, "_rules": ["r1", "r2"]}'


def test_column_names_that_jsonb_cannot_hold_stay_apart() -> None:
    assert encode_row({"a\0": 1, "a": 2}) == '{"a\\\\u0000": 1, "a": 2}'
