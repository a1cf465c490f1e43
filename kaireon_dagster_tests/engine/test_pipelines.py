"""Whole pipelines: expressions, branches, joins, lookups, validators, staged tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.engine.errors import (
    BudgetExceeded,
    DatasetRefused,
    LookupNotUnique,
    RowsRefused,
)
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import document, execute, query, run, source, target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def transform(*ops: dict[str, Any], id: str = "x", input: str = "src") -> dict[str, Any]:
    return {"id": id, "kind": "transform", "input": input, "ops": list(ops)}


def cast(field: str, to: str) -> dict[str, Any]:
    return {"type": "cast", "field": field, "to": to}


def expression(field: str, text: str) -> dict[str, Any]:
    return {"type": "expression", "field": field, "expression": text}


def test_an_expression_that_raises_is_a_fault_of_its_row(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a,b\n6,3\n1,0\n8,2\n")
    ops = (cast("a", "integer"), cast("b", "integer"), expression("q", "a / b"))
    done = run(document(source(folder), transform(*ops), target(input="x"), dlq=True), database)
    assert query(database, "SELECT q FROM t ORDER BY a") == [(2,), (4,)]
    assert query(database, 'SELECT "ruleId", row FROM flow_dlq.p') == [
        ("expression:q", {"a": "1", "b": "0"})
    ]
    assert (done.counts.loaded, done.counts.quarantined) == (2, 1)
    with pytest.raises(RowsRefused, match="expression:q"):
        write(folder, "b.csv", "a,b\n1,0\n")
        run(document(source(folder), transform(*ops), target(input="x")), database)


def test_filtered_rows_are_counted_and_bad_ones_are_not_taken_for_filtered(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "a\n1\n5\nx\n")
    ops = (cast("a", "integer"), {"type": "filter", "condition": "a > 2"})
    done = run(document(source(folder), transform(*ops), target(input="x"), dlq=True), database)
    counts = done.counts
    assert (counts.read, counts.loaded, counts.filtered, counts.quarantined) == (3, 1, 1, 1)


def branch(mode: str = "first", **more: Any) -> dict[str, Any]:
    routes = [{"name": "big", "when": "a > 10"}, {"name": "odd", "when": "a % 2 = 1"}]
    return {"id": "b", "kind": "branch", "input": "x", "routes": routes, "mode": mode, **more}


def routed(route: str, table: str) -> dict[str, Any]:
    return {**target(f"public.{table}", input=f"b.{route}"), "id": table}


def test_branch_first_gives_each_row_to_one_route(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a\n11\n3\n4\n12\nx\n")
    nodes = (source(folder), transform(cast("a", "integer")), branch(otherwise="rest"))
    targets = (routed("big", "big"), routed("odd", "odd"), routed("rest", "rest"))
    done = run(document(*nodes, *targets, dlq=True), database)
    assert query(database, "SELECT a FROM big ORDER BY a") == [(11,), (12,)]
    assert query(database, "SELECT a FROM odd") == [(3,)]
    assert query(database, "SELECT a FROM rest") == [(4,)]
    counts = done.counts
    assert (counts.read, counts.loaded, counts.quarantined) == (5, 4, 1)
    assert query(database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'flow_staging'") == [
        (0,)
    ]
    columns = '"rowsIn", "rowsLoaded", "rowsQuarantined", status'
    assert query(database, f"SELECT {columns} FROM flow.pipeline_runs") == [
        (5, 4, 1, "completed_with_errors")
    ]


def test_branch_all_gives_a_row_to_every_route_and_counts_the_unmatched(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "a\n11\n3\n4\n")
    nodes = (source(folder), transform(cast("a", "integer")), branch("all"))
    done = run(document(*nodes, routed("big", "big"), routed("odd", "odd")), database)
    assert query(database, "SELECT a FROM big") == [(11,)]
    assert query(database, "SELECT a FROM odd ORDER BY a") == [(3,), (11,)]
    assert done.outcomes["b"].counts.filtered == 1
    assert done.outcomes["b"].warnings == (
        "branch 'b': 1 rows took no route that a node reads; they were dropped",
    )


def test_a_route_without_rows_is_an_empty_relation(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a\n4\n")
    nodes = (source(folder), transform(cast("a", "integer")), branch(otherwise="rest"))
    targets = (routed("big", "big"), routed("rest", "rest"))
    run(document(*nodes, *targets), database)
    assert query(database, "SELECT count(*) FROM big") == [(0,)]
    assert query(database, "SELECT a FROM rest") == [(4,)]
    assert query(database, "SELECT status FROM flow.pipeline_runs") == [("completed",)]


def test_a_fused_branch_counts_the_rows_of_unread_routes(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a\n11\n3\n")
    nodes = (source(folder), transform(cast("a", "integer")), branch(otherwise="rest"))
    done = run(document(*nodes, routed("big", "big")), database)
    assert (done.counts.read, done.counts.loaded, done.counts.filtered) == (2, 1, 1)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", [("1", "a", "1", "x")]),
        ("left", [("1", "a", "1", "x"), ("2", "b", None, None), (None, "c", None, None)]),
        ("right", [("1", "a", "1", "x"), (None, None, "3", "y")]),
        (
            "full",
            [
                ("1", "a", "1", "x"),
                ("2", "b", None, None),
                (None, "c", None, None),
                (None, None, "3", "y"),
            ],
        ),
    ],
)
def test_join_keeps_all_columns_and_renames_clashes(
    database: Database, tmp_path: Path, kind: str, expected: list[tuple[Any, ...]]
) -> None:
    write(tmp_path / "l", "l.csv", "id,v\n1,a\n2,b\n,c\n")
    write(tmp_path / "r", "r.csv", "id,w\n1,x\n3,y\n")
    left, right = source(tmp_path / "l"), {**source(tmp_path / "r"), "id": "other"}
    join = {
        "id": "j",
        "kind": "join",
        "inputs": ["src", "other"],
        "type": kind,
        "on": [{"left": "id", "right": "id"}],
    }
    done = run(document(left, right, join, target(input="j")), database)
    assert query(database, "SELECT id, v, id_right, w FROM t ORDER BY v, w") == expected
    assert done.counts.read == 5


def test_rows_of_a_join_are_not_read_a_second_time_by_what_follows(
    database: Database, tmp_path: Path
) -> None:
    write(tmp_path / "l", "l.csv", "id\n1\n2\n")
    write(tmp_path / "r", "r.csv", "id\n1\n")
    right = {**source(tmp_path / "r"), "id": "other"}
    join = {
        "id": "j",
        "kind": "join",
        "inputs": ["src", "other"],
        "type": "left",
        "on": [{"left": "id", "right": "id"}],
    }
    count = {"function": "count", "as": "n"}
    totals = transform({"type": "aggregate", "groupBy": [], "aggregations": [count]}, input="j")
    done = run(document(source(tmp_path / "l"), right, join, totals, target(input="x")), database)
    assert query(database, "SELECT n FROM t") == [(2,)]
    assert done.counts.read == 3


def test_join_of_different_types_is_refused(database: Database, tmp_path: Path) -> None:
    write(tmp_path / "l", "l.csv", "id\n1\n")
    write(tmp_path / "r", "r.csv", "id\n1\n")
    right = {**source(tmp_path / "r"), "id": "other"}
    join = {
        "id": "j",
        "kind": "join",
        "inputs": ["x", "other"],
        "type": "inner",
        "on": [{"left": "id", "right": "id"}],
    }
    nodes = (source(tmp_path / "l"), right, transform(cast("id", "integer")), join)
    with pytest.raises(NodeFault, match="cast one of them first"):
        run(document(*nodes, target(input="j")), database)


def lookup(kind: str = "left") -> dict[str, Any]:
    return {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "label"}],
        "joinType": kind,
    }


def test_lookup_reads_text_keys_as_the_columns_type(database: Database, folder: Path) -> None:
    execute(
        database, "CREATE TABLE names (id int, name text); INSERT INTO names VALUES (7, 'seven')"
    )
    write(folder, "a.csv", "id\n007\n8\nx\n")
    done = run(document(source(folder), transform(lookup()), target(input="x")), database)
    assert query(database, "SELECT * FROM t ORDER BY id") == [
        ("007", "seven"),
        ("8", None),
        ("x", None),
    ]
    assert done.outcomes["tgt"].lineage["label"] == (("public.names", "name"),)


def test_inner_lookup_filters_and_counts(database: Database, folder: Path) -> None:
    execute(
        database, "CREATE TABLE names (id text, name text); INSERT INTO names VALUES ('7', 'seven')"
    )
    write(folder, "a.csv", "id\n7\n8\n")
    done = run(document(source(folder), transform(lookup("inner")), target(input="x")), database)
    assert query(database, "SELECT * FROM t") == [("7", "seven")]
    assert (done.counts.loaded, done.counts.filtered) == (1, 1)


def test_a_lookup_key_that_is_not_unique_is_named(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE names (id text, name text); INSERT INTO names VALUES ('7','a'),('7','b')",
    )
    write(folder, "a.csv", "id\n7\n")
    with pytest.raises(LookupNotUnique, match=r"several rows for one \(id\): \(7\)"):
        run(document(source(folder), transform(lookup()), target(input="x")), database)


def validate(**level: Any) -> dict[str, Any]:
    return {"id": "v", "kind": "validate", "input": "src", "datasetLevel": level}


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ({"rowCount": {"min": 3, "onFail": "abort"}}, "2 rows passed, and at least 3 are expected"),
        ({"nullRate": {"field": "b", "max": 0.1, "onFail": "abort"}}, "50.00% of 'b' is NULL"),
        ({"uniqueness": {"fields": ["a"], "onFail": "abort"}}, "2 rows share their (a)"),
        (
            {"freshness": {"field": "d", "maxAgeMinutes": 60, "onFail": "abort"}},
            "within 60 minutes",
        ),
        (
            {"referential": {"field": "a", "references": "public.names.id", "onFail": "abort"}},
            "2 rows have a 'a' that is not in public.names.id",
        ),
    ],
)
def test_dataset_validators_abort_before_the_commit(
    database: Database, folder: Path, level: dict[str, Any], message: str
) -> None:
    execute(database, "CREATE TABLE names (id int); INSERT INTO names VALUES (7), (NULL)")
    write(folder, "a.csv", "a,b,d\n1,x,2020-01-01\n1,,2020-01-02\n")
    with pytest.raises(DatasetRefused) as caught:
        run(document(source(folder), validate(**level), target(input="v")), database)
    assert message in str(caught.value)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


def test_dataset_validators_that_hold_or_warn_let_the_load_through(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "a\n1\n2\n")
    level = {"rowCount": [{"min": 1, "max": 2, "onFail": "abort"}, {"min": 5, "onFail": "warn"}]}
    done = run(document(source(folder), validate(**level), target(input="v")), database)
    assert [(r.rule, r.passed, r.failed) for r in done.outcomes["tgt"].rules] == [
        ("rowCount", True, 2),
        ("rowCount", False, 2),
    ]
    assert query(database, "SELECT count(*) FROM t") == [(2,)]


def test_a_budget_of_bad_rows_fails_before_the_commit(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a\n1\nx\ny\n")
    pipeline = document(
        source(folder),
        transform(cast("a", "integer")),
        target(input="x"),
        errorHandling={"dlq": {"enabled": True, "maxRows": 1}},
    )
    with pytest.raises(BudgetExceeded, match="2 of 3 rows are bad"):
        run(pipeline, database)
    assert query(database, "SELECT count(*) FROM flow_dlq.p") == [(0,)]


def test_rules_send_rows_to_the_nodes_own_quarantine_with_every_rule(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "amount,code\n-5,abc\n3,ab\n")
    rules = [
        {"id": "amt-positive", "field": "amount", "rule": "gt:0", "onFail": "quarantine"},
        {"id": "code-short", "field": "code", "rule": "max_length:2", "onFail": "quarantine"},
    ]
    node = {
        "id": "v",
        "kind": "validate",
        "input": "src",
        "rowLevel": rules,
        "quarantine": {"table": "dlq.orders"},
    }
    done = run(document(source(folder), node, target(input="v")), database)
    assert query(database, 'SELECT "pipelineId", "nodeId", "ruleId", row FROM dlq.orders') == [
        (
            "p",
            "v",
            "amt-positive",
            {"amount": "-5", "code": "abc", "_rules": ["amt-positive", "code-short"]},
        )
    ]
    assert done.outcomes["tgt"].quarantine == {"dlq.orders": 1}


def test_a_staged_node_that_a_crash_emptied_is_staged_again(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "a\n1\nx\n")
    checkpoint = {**transform(cast("a", "integer")), "checkpoint": True}
    pipeline = document(source(folder), checkpoint, target(input="x"), dlq=True)
    run(pipeline, database, run_id="r", steps=["src", "x"])
    (name,) = query(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'flow_staging'")
    execute(database, f'TRUNCATE flow_staging."{name[0]}"')
    run(pipeline, database, run_id="r", steps=["tgt"])
    assert query(database, "SELECT a FROM t") == [(1,)]
    assert query(database, "SELECT count(*) FROM flow_dlq.p") == [(1,)]


def test_a_staged_node_with_numbered_rows_marks_and_orders_them(
    database: Database, folder: Path
) -> None:
    write(folder, "a.csv", "a\n3\nx\n1\n3\n2\n")
    unique = {"type": "deduplicate", "keys": ["a"], "keep": "first"}
    node = {**transform(cast("a", "integer"), unique), "checkpoint": True}
    run(document(source(folder), node, target(input="x", lineage=True), dlq=True), database)
    order = "(_kaireon_lineage ->> 'writeOrder')::int"
    assert query(database, f"SELECT a FROM t ORDER BY {order}") == [(3,), (1,), (2,)]
    assert query(database, "SELECT row FROM flow_dlq.p") == [({"a": "x"},)]


def test_file_names_travel_with_their_rows(database: Database, folder: Path) -> None:
    write(folder, "a.csv", "a\n1\n")
    write(folder, "b.csv", "a\n2\n")
    op = {"type": "add_field", "field": "origin", "value": "{{fileName}}"}
    run(document(source(folder), transform(op), target(input="x")), database)
    assert query(database, "SELECT a, origin FROM t ORDER BY a") == [("1", "a.csv"), ("2", "b.csv")]
