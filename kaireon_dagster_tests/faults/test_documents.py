"""Documents that are hostile or huge: done, or refused in words, never an error of some layer below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster import ir
from kaireon_dagster.errors import Terminal
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import document, query, run, source, target

NAMES = [
    'a"b',
    "a'b",
    "{}",
    "%s",
    "%(x)s",
    "$$",
    "--x",
    "/*",
    "; drop table t",
    "\\",
    "SELECT",
    "{schema}",
    "$1",
    ":x",
    "x" * 63,
    "\u202e",
]
DEEP = {
    "parentheses": "(" * 1000 + "v" + ")" * 1000,
    "not": "NOT " * 1000 + "(v = '1')",
    "minus": "-" * 1000 + "1",
    "case": "CASE WHEN v = '1' THEN " * 300 + "1" + " END" * 300,
    "sum": "+".join(["1"] * 4000),
    "text": f"'{'x' * 1_000_000}'",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,v\n1,2\n")
    return tmp_path / "in"


def transform(*ops: dict[str, Any], id: str = "x", input: str = "src") -> dict[str, Any]:
    return {"id": id, "kind": "transform", "input": input, "ops": list(ops)}


def expression(field: str, text: str) -> dict[str, Any]:
    return {"type": "expression", "field": field, "expression": text}


def quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark


def test_names_and_texts_are_only_names_and_texts(database: Database, folder: Path) -> None:
    header = ",".join(quoted(name, '"') for name in NAMES)
    values = ",".join(quoted(name, '"') for name in NAMES)
    (folder / "a.csv").write_text(f"{header}\n{values}\n")
    ops = [
        expression(f"e{number}", f"{quoted(name, chr(34))} = {quoted(name, chr(39))}")
        for number, name in enumerate(NAMES)
    ]
    fields = [
        {"type": "add_field", "field": f"f{number}", "value": name}
        for number, name in enumerate(NAMES)
    ]
    rules = [
        {"id": name, "field": name, "rule": f"in:{name}", "onFail": "quarantine"} for name in NAMES
    ]
    checked = {"id": "v", "kind": "validate", "input": "x", "rowLevel": rules}
    table = "{}.%s$$--"
    run(
        document(source(folder), transform(*ops, *fields), checked, target(table, input="v")),
        database,
    )
    (row,) = query(database, 'SELECT * FROM "{}"."%s$$--"')
    assert row == (*NAMES, *[True] * len(NAMES), *NAMES)


@pytest.mark.parametrize("kind", DEEP)
def test_deep_and_long_expressions_are_refused_in_words(
    database: Database, folder: Path, kind: str
) -> None:
    with pytest.raises(Terminal) as caught:
        run(
            document(source(folder), transform(expression("z", DEEP[kind])), target(input="x")),
            database,
        )
    assert "RecursionError" not in str(caught.value)
    assert type(caught.value).__name__ == "ExpressionRefused"
    assert sorted(f.name for f in folder.iterdir() if f.is_file()) in ([], ["a.csv"])


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(?:a*)*b", "(.*a){20}$"])
def test_patterns_that_blow_up_elsewhere_take_linear_time(
    database: Database, folder: Path, pattern: str
) -> None:
    (folder / "a.csv").write_text("id,v\n" + f"1,{'a' * 5000}!\n" * 200)
    rule = {"id": "r", "field": "v", "rule": f"regex:{pattern}", "onFail": "quarantine"}
    checked = {"id": "v", "kind": "validate", "input": "src", "rowLevel": [rule]}
    done = run(document(source(folder), checked, target(input="v"), dlq=True), database)
    assert done.counts.quarantined == 200


def test_a_chain_of_a_thousand_nodes(database: Database, folder: Path) -> None:
    nodes = [
        transform(
            expression("z", f"v || '{number}'"),
            id=f"x{number}",
            input=f"x{number - 1}" if number else "src",
        )
        for number in range(1000)
    ]
    run(document(source(folder), *nodes, target(input="x999")), database)
    assert query(database, "SELECT id, v, z FROM t") == [("1", "2", "2999")]


def test_ids_that_fold_to_one_name_keep_their_rows_apart(database: Database, folder: Path) -> None:
    cast = {"type": "cast", "field": "v", "to": "date"}
    still = source(folder, atomicity=None)
    for name in ("a-b", "a_b"):
        staged = {**transform(cast), "checkpoint": True}
        one: ir.Pipeline = document(still, staged, target(input="x"), id=name, dlq=True)
        run(one, database, run_id=f"run.{name}")
    rows = 'SELECT "pipelineId", "runId" FROM flow_dlq.a_b ORDER BY 1'
    assert query(database, rows) == [("a-b", "run.a-b"), ("a_b", "run.a_b")]
