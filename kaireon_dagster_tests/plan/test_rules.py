"""Every row rule over text and typed columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from kaireon_dagster import ir
from kaireon_dagster.plan.builder import Builder, NodeBuilder
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.columns import Column, Columns
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster.plan.validate import validate
from kaireon_dagster_tests.plan.test_operations import Table, worker


def compile_rules(table: Table, *rules: dict[str, Any], **more: Any) -> Program:
    body = {"id": "v", "kind": "validate", "input": "src", "rowLevel": list(rules), **more}
    spec = ir.Validate.model_validate(body)
    columns = tuple(Column(name, SqlType.parse(type_)) for name, (type_, _) in table.items())
    builder = Builder("quarantine")
    node = NodeBuilder(builder, "v", Rows("src", Columns(columns, "src"), source="src"))
    validate(node, spec, Catalog())
    return builder.program(node.finish())


def outcome(table: Table, program: Program, *selected: str) -> list[tuple[Any, ...]]:
    connection = worker(table)
    for _, sql in program.made():
        connection.execute(sql)
    return connection.execute(
        f"SELECT {', '.join(selected)} FROM {program.relation(program.result.view)}"
    ).fetchall()


def passing(type_: str, values: list[Any], rule: str) -> list[Any]:
    """The values that a rule lets through."""
    table: Table = {"a": (type_, values)}
    program = compile_rules(table, {"id": "r", "field": "a", "rule": rule, "onFail": "quarantine"})
    alive = program.result.alive
    return [value for value, kept in outcome(table, program, "a", alive) if kept]


@pytest.mark.parametrize(
    ("rule", "type_", "values", "expected"),
    [
        ("not_null", "text", ["a", None, ""], ["a", ""]),
        ("gt:0", "text", ["1", "0", "-1", "x", "0.5", None, " 2 "], ["1", "0.5", None, " 2 "]),
        ("gt:0", "integer", [1, 0, None], [1, None]),
        ("gte:1.5", "numeric(5,2)", [Decimal("1.50"), Decimal("1.49")], [Decimal("1.50")]),
        ("lt:2024-02-01", "text", ["2024-01-31", "2024-02-01", "soon"], ["2024-01-31"]),
        ("lte:10", "double", [10.0, 10.1], [10.0]),
        ("eq:abc", "text", ["abc", "ABC", None], ["abc", None]),
        ("eq:7", "text", ["7", "7.0", "8"], ["7", "7.0"]),
        ("ne:7", "text", ["7.0", "8"], ["8"]),
        ("between:1,3", "text", ["0", "1", "3", "4"], ["1", "3"]),
        ("in:a|b", "text", ["a", "b", "c", None], ["a", "b", None]),
        ("in:1|2", "numeric(5,2)", [Decimal("1.00"), Decimal("3.00")], [Decimal("1.00")]),
        ("not_in:a|b", "text", ["a", "c", None], ["c", None]),
        ("regex:^[A-Z]{2}$", "text", ["DE", "de", "DEU", None], ["DE", None]),
        ("min_length:2", "text", ["é", "éé", None], ["éé", None]),
        ("max_length:1", "text", ["é", "éé"], ["é"]),
        ("email", "text", ["a@b.co", "a@b", "a b@c.de", "@b.co"], ["a@b.co"]),
        ("url", "text", ["https://a.b/c?d=e", "http://", "a.b"], ["https://a.b/c?d=e"]),
        (
            "uuid",
            "text",
            ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "x"],
            ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
        ),
        ("integer", "text", ["12", "12.0", "1e3", "x", None], ["12", None]),
        ("numeric", "text", ["12.5", "1e3", "1,5", None], ["12.5", "1e3", None]),
        ("date", "text", ["2024-02-29", "2023-02-29", "29/02/2024"], ["2024-02-29"]),
        ("timestamp", "text", ["2024-01-01T10:00:00Z", "noon"], ["2024-01-01T10:00:00Z"]),
        ("unique", "text", ["a", "b", "a", None, None], ["b", None, None]),
    ],
)
def test_rule(rule: str, type_: str, values: list[Any], expected: list[Any]) -> None:
    assert sorted(map(str, passing(type_, values, rule))) == sorted(map(str, expected))


def test_several_failures_of_a_row_are_all_marked_and_it_leaves_once() -> None:
    table: Table = {"a": ("text", ["-1"])}
    rules = [
        {"id": "positive", "field": "a", "rule": "gt:0", "onFail": "quarantine"},
        {"id": "short", "field": "a", "rule": "max_length:1", "onFail": "quarantine"},
    ]
    program = compile_rules(table, *rules)
    ((fate, failed, row),) = outcome(table, program, "_flow_fate", "_flow_failed_0", "_flow_row")
    assert program.exit(fate).kind == "quarantine"
    assert failed == 0b11
    assert row == '{"a":"-1"}'


def test_the_gravest_consequence_decides() -> None:
    table: Table = {"a": ("text", ["x"])}
    rules = [
        {"id": "one", "field": "a", "rule": "integer", "onFail": "drop"},
        {"id": "two", "field": "a", "rule": "integer", "onFail": "quarantine"},
        {"id": "three", "field": "a", "rule": "integer", "onFail": "warn"},
    ]
    program = compile_rules(table, *rules)
    ((fate,),) = outcome(table, program, "_flow_fate")
    assert program.exit(fate).kind == "quarantine"


def test_more_rules_than_one_column_of_bits_holds() -> None:
    table: Table = {"a": ("text", ["x", "1"])}
    rules = [{"id": f"r{i}", "field": "a", "rule": "integer", "onFail": "warn"} for i in range(70)]
    program = compile_rules(table, *rules)
    assert program.result.failed == ("_flow_failed_0", "_flow_failed_1")
    assert outcome(table, program, "_flow_failed_0", "_flow_failed_1") == [
        (2**63 - 1, 2**7 - 1),
        (0, 0),
    ]


def test_dataset_validators_measure_only_rows_that_pass() -> None:
    table: Table = {"a": ("text", ["x", "1", None, "1"])}
    rule = {"id": "r", "field": "a", "rule": "integer", "onFail": "drop"}
    level = {
        "rowCount": {"min": 1, "onFail": "abort"},
        "uniqueness": {"fields": ["a"], "onFail": "warn"},
    }
    program = compile_rules(table, rule, datasetLevel=level)
    bits = {check.rule: check.mask for check in program.checks}
    marks = [failed for (failed,) in outcome(table, program, "_flow_failed_0")]
    assert sum(1 for m in marks if m & bits["rows"]) == 3
    assert sum(1 for m in marks if m & bits["uniqueness#1"]) == 2


def test_a_comparison_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(NodeFault, match="compares date column 'a' with '5'"):
        compile_rules(
            {"a": ("date", [])}, {"id": "r", "field": "a", "rule": "gt:5", "onFail": "warn"}
        )
