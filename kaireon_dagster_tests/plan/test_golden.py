"""The SQL of every layer, beside what it was compiled from, in `golden/*.sql`.

A case is its name, its input columns, its document nodes as JSON, and the SQL that must come out.
`FLOW_UPDATE_GOLDEN=1 pytest …` writes the SQL anew; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.plan.catalog import Catalog, Table, TableColumn, UniqueIndex
from kaireon_dagster.plan.columns import Column, Columns, Origin
from kaireon_dagster.plan.compile import Compiled, compile_step
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster_tests.harness import document

FOLDER = Path(__file__).with_name("golden")
CASE = re.compile(
    r"-- case: (?P<name>.+)\n-- columns: (?P<columns>.*)\n(?P<dlq>-- quarantine: on\n)?"
    r"(?P<nodes>(?:-- node: .+\n)+)(?P<sql>(?:(?!-- case: ).*\n?)*)"
)
KNOWN = Catalog(
    {
        ("public", "names"): Table(
            ("public", "names"),
            "table",
            (
                TableColumn("id", SqlType("integer"), "integer", not_null=True),
                TableColumn("name", SqlType("text"), "text"),
            ),
            (UniqueIndex("names_pkey", ("id",)),),
        )
    },
    schemas=frozenset({"public"}),
)


@dataclass
class Case:
    """One input and the SQL expected of it."""

    file: Path
    name: str
    columns: dict[str, str]
    dlq: bool
    nodes: list[dict[str, Any]]
    sql: str


def read_cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.sql")):
        for match in CASE.finditer(file.read_text(encoding="utf-8")):
            nodes = [json.loads(line[len("-- node: ") :]) for line in match["nodes"].splitlines()]
            columns = json.loads(match["columns"])
            yield Case(
                file, match["name"], columns, bool(match["dlq"]), nodes, match["sql"].strip()
            )


def compile_case(case: Case) -> Compiled:
    sources = [_source(name) for name in ("src", "other") if _reads(case.nodes, name)]
    end = [] if any(n["kind"] == "target" for n in case.nodes) else [_target(case.nodes)]
    pipeline = document(*sources, *case.nodes, *end, dlq=case.dlq)
    plan = plan_pipeline(pipeline)
    step = next(s for s in plan.steps if s.kind != "claim")
    leaves = {name: Rows(name, _columns(case.columns, name), source=name) for name in step.inputs}
    return compile_step(plan, step, leaves, KNOWN)


def _columns(types: dict[str, str], source: str) -> Columns:
    items = (Column(n, SqlType.parse(t), frozenset({Origin(source, n)})) for n, t in types.items())
    return Columns(tuple(items), source)


def _reads(nodes: list[dict[str, Any]], name: str) -> bool:
    return any(name in (node.get("input"), *node.get("inputs", ())) for node in nodes)


def _source(name: str) -> dict[str, Any]:
    config = {"path": "/in", "pattern": {"type": "glob", "value": "*.csv"}, "format": "csv"}
    return {"id": name, "kind": "source", "connector": "local_fs", "config": config}


def _target(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "tgt",
        "kind": "target",
        "input": nodes[-1]["id"],
        "schema": "public.t",
        "loadMode": "append",
        "createTable": True,
        "lineage": False,
    }


def written(compiled: Compiled) -> str:
    ddl = compiled.placement.ddl if compiled.placement else ()
    return "\n".join([compiled.program.sql(), *(f"-- in PostgreSQL\n{s};" for s in ddl)])


def _write(file: Path) -> None:
    blocks = [
        "\n".join(
            [
                f"-- case: {case.name}",
                f"-- columns: {json.dumps(case.columns)}",
                *(["-- quarantine: on"] if case.dlq else []),
                *(f"-- node: {json.dumps(node, ensure_ascii=False)}" for node in case.nodes),
                written(compile_case(case)),
            ]
        )
        for case in read_cases()
        if case.file == file
    ]
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if os.environ.get("FLOW_UPDATE_GOLDEN"):
    for golden in FOLDER.glob("*.sql"):
        _write(golden)


@pytest.mark.parametrize(
    "case", list(read_cases()), ids=lambda case: f"{case.file.stem}:{case.name}"
)
def test_sql_is_as_written(case: Case) -> None:
    assert written(compile_case(case)) == case.sql


def test_every_operation_has_a_case() -> None:
    from kaireon_dagster.plan.transform import _OPERATIONS

    ops = {op["type"] for case in read_cases() for node in case.nodes for op in node.get("ops", ())}
    assert ops == {*_OPERATIONS, "cast", "lookup_join"}


def test_every_rule_has_a_case() -> None:
    from kaireon_dagster.plan.rules import _RULES

    rules = {
        rule["rule"].partition(":")[0]
        for case in read_cases()
        for node in case.nodes
        for rule in node.get("rowLevel", ())
    }
    assert rules == set(_RULES)
