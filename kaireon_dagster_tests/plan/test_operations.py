"""Every operation of a transform node, on rows in the worker's engine."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import pytest

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import Builder, NodeBuilder
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.columns import Column, ColumnFault, Columns, Origin
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.transform import transform
from kaireon_dagster.plan.types import SqlType

Table = dict[str, tuple[str, list[Any]]]
"""Column name to (type, values)."""


def compile_ops(table: Table, *ops: dict[str, Any], fault: str = "quarantine") -> Program:
    spec = ir.Transform.model_validate(
        {"id": "n", "kind": "transform", "input": "src", "ops": list(ops)}
    )
    columns = tuple(
        Column(name, SqlType.parse(type_), frozenset({Origin("src", name)}))
        for name, (type_, _) in table.items()
    )
    builder = Builder(fault)  # type: ignore[arg-type]
    node = NodeBuilder(builder, "n", Rows("src", Columns(columns, "src"), source="src"))
    transform(node, spec, Catalog())
    return builder.program(node.finish())


def worker(table: Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET VARIABLE flow_run_id = 'r1'")
    connection.execute("SET VARIABLE flow_pipeline_id = 'p1'")
    definition = ", ".join(f"{ident(n)} {SqlType.parse(t).duckdb}" for n, (t, _) in table.items())
    connection.execute(f"CREATE TABLE src ({definition})")
    for row in zip(*(values for _, values in table.values()), strict=True):
        connection.execute(f"INSERT INTO src VALUES ({', '.join('?' * len(row))})", list(row))
    return connection


def apply(table: Table, *ops: dict[str, Any], **how: Any) -> list[tuple[Any, ...]]:
    """Rows that go on."""
    program = compile_ops(table, *ops, **how)
    rows = program.result
    connection = worker(table)
    for _, sql in program.made():
        connection.execute(sql)
    selected = ", ".join(ident(name) for name in program.columns.names)
    order = " ORDER BY _flow_seq" if rows.sequence else ""
    return connection.execute(
        f"SELECT {selected} FROM {program.relation(rows.view)} WHERE {rows.alive}{order}"
    ).fetchall()


def texts(**columns: list[str | None]) -> Table:
    return {name: ("text", list(values)) for name, values in columns.items()}


def test_cast_reads_and_leaves_faults_behind() -> None:
    op = {"type": "cast", "field": "a", "to": "integer"}
    assert apply(texts(a=["1", "x", None, "", " 7 "]), op) == [(1,), (None,), (None,), (7,)]


def test_cast_on_error_null_keeps_the_row() -> None:
    op = {"type": "cast", "field": "a", "to": "integer", "onError": "null"}
    assert apply(texts(a=["1", "x"]), op) == [(1,), (None,)]


def test_rename_drop_and_order() -> None:
    table = texts(a=["1"], b=["2"], c=["3"])
    ops = [{"type": "rename", "from": "a", "to": "z"}, {"type": "drop", "fields": ["b"]}]
    assert compile_ops(table, *ops).columns.names == ("z", "c")
    assert apply(table, *ops) == [("1", "3")]


def test_rename_may_change_case_only() -> None:
    assert compile_ops(
        texts(Name=["1"]), {"type": "rename", "from": "Name", "to": "name"}
    ).columns.names == ("name",)


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (
            [{"type": "rename", "from": "amuont", "to": "x"}],
            "'amuont' does not exist; did you mean 'amount'?",
        ),
        ([{"type": "rename", "from": "amount", "to": "ID"}], "'ID' already exists"),
        ([{"type": "drop", "fields": ["id", "amount"]}], "would leave no column"),
    ],
)
def test_column_faults_name_node_column_and_neighbours(
    ops: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ColumnFault) as caught:
        compile_ops(texts(id=[], amount=[]), *ops)
    assert message in str(caught.value)
    assert "node 'n'" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "more", "expected"),
    [
        ("x", {}, "x"),
        (3, {}, 3),
        (True, {}, True),
        (1.5, {}, 1.5),
        (None, {}, None),
        ("2024-01-31", {"dataType": "date"}, "2024-01-31"),
        ("{{runId}}/{{pipelineId}}", {}, "r1/p1"),
        ("it's 50% {0}", {}, "it's 50% {0}"),
    ],
)
def test_add_field(value: Any, more: dict[str, Any], expected: Any) -> None:
    ((_, found),) = apply(
        texts(a=["1"]), {"type": "add_field", "field": "f", "value": value, **more}
    )
    assert (str(found) if more else found) == expected


def test_hash_of_null_is_null_and_into_leaves_the_field() -> None:
    op = {"type": "hash", "field": "a", "algorithm": "md5", "into": "h"}
    assert apply(texts(a=["a", None]), op) == [
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("strategy", "more", "value", "expected"),
    [
        ("full", {}, "secret", "****"),
        ("partial", {}, "4111111111111111", "************1111"),
        ("partial", {"keepLast": 2}, "abcd", "**cd"),
        ("partial", {"keepLast": 0}, "abcd", "****"),
        ("partial", {}, "abc", "***"),
        ("email", {}, "ana@example.com", "a***@example.com"),
        ("email", {}, "not an address", "****"),
        ("phone", {}, "+51 (1) 555-0199", "******0199"),
        ("phone", {}, "12", "**"),
        ("hash", {}, "a", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
        ("full", {}, None, None),
    ],
)
def test_mask_pii(
    strategy: str, more: dict[str, Any], value: str | None, expected: str | None
) -> None:
    assert apply(
        texts(a=[value]), {"type": "mask_pii", "field": "a", "strategy": strategy, **more}
    ) == [(expected,)]


def test_map_values_keeps_the_unmapped_without_a_default() -> None:
    mapping = {"type": "map_values", "field": "a", "mapping": {"N": "new", "X": None}}
    assert apply(texts(a=["N", "X", "q", None]), mapping) == [("new",), (None,), ("q",), (None,)]
    assert apply(texts(a=["N", "q", None]), {**mapping, "default": "?"}) == [
        ("new",),
        ("?",),
        ("?",),
    ]


def test_split_gives_the_rest_to_the_last_part() -> None:
    op = {"type": "split", "field": "a", "separator": "-", "into": ["x", "y"]}
    found = apply(texts(a=["1-2-3", "1", None, ""]), op)
    assert [row[1:] for row in found] == [("1", "2-3"), ("1", None), (None, None), ("", None)]


def test_merge_passes_over_nulls() -> None:
    op = {"type": "merge", "fields": ["a", "b"], "into": "m", "separator": " "}
    found = apply(texts(a=["x", None, None], b=["y", "z", None]), op)
    assert [row[2] for row in found] == ["x y", "z", None]


def test_deduplicate_by_arrival_and_by_a_column() -> None:
    table = texts(k=["a", "a", "b", None, None], v=["1", "3", "2", "4", "5"])
    keep = {"type": "deduplicate", "keys": ["k"], "keep": "first"}
    assert apply(table, keep) == [("a", "1"), ("b", "2"), (None, "4")]
    assert apply(table, {**keep, "keep": "last"}) == [("a", "3"), ("b", "2"), (None, "5")]
    by_v = {**keep, "orderBy": "v", "keep": "last"}
    assert apply(texts(k=["a", "a"], v=["9", "1"]), by_v) == [("a", "9")]


def test_a_row_that_failed_is_no_rival_in_deduplicate() -> None:
    table = texts(k=["a", "a"], v=["x", "2"])
    cast = {"type": "cast", "field": "v", "to": "integer"}
    assert apply(table, cast, {"type": "deduplicate", "keys": ["k"], "keep": "first"}) == [("a", 2)]


def test_aggregate_types_and_nulls() -> None:
    table: Table = {
        "k": ("text", ["a", "a", "b"]),
        "i": ("integer", [1, None, 2]),
        "n": ("numeric(5,2)", [Decimal("1.50"), Decimal("2.25"), None]),
    }
    functions = [
        {"function": "count", "as": "rows"},
        {"function": "count", "field": "i", "as": "ci"},
        {"function": "sum", "field": "n", "as": "sn"},
        {"function": "avg", "field": "i", "as": "ai"},
        {"function": "min", "field": "n", "as": "mn"},
        {"function": "array_agg", "field": "i", "as": "arr"},
        {"function": "string_agg", "field": "i", "as": "txt"},
    ]
    op = {"type": "aggregate", "groupBy": ["k"], "aggregations": functions}
    assert apply(table, op) == [
        ("a", 2, 1, Decimal("3.75"), 1.0, Decimal("1.50"), [1, None], "1"),
        ("b", 1, 1, None, 2.0, None, [2], "2"),
    ]
    types = compile_ops(table, op).columns.types
    assert [types[n].postgres for n in ("rows", "sn", "arr")] == [
        "bigint",
        "numeric(38,2)",
        "integer[]",
    ]


def test_sum_of_text_is_refused_with_advice() -> None:
    op = {
        "type": "aggregate",
        "groupBy": [],
        "aggregations": [{"function": "sum", "field": "a", "as": "s"}],
    }
    with pytest.raises(NodeFault, match="add a cast op before it"):
        compile_ops(texts(a=[]), op)


def test_summarize_describes_each_column() -> None:
    table: Table = {"a": ("integer", [1, None, 3]), "b": ("text", ["x", "x", None])}
    assert apply(table, {"type": "summarize"}) == [
        ("a", 3, 1, 2, "1", "3", 2.0),
        ("b", 3, 1, 1, "x", "x", None),
    ]


def test_origins_follow_the_columns() -> None:
    ops = [
        {"type": "rename", "from": "a", "to": "z"},
        {"type": "merge", "fields": ["z", "b"], "into": "m", "separator": ""},
    ]
    columns = compile_ops(texts(a=[], b=[]), *ops).columns
    assert columns.get("z").origins == {Origin("src", "a")}
    assert columns.get("m").origins == {Origin("src", "a"), Origin("src", "b")}
