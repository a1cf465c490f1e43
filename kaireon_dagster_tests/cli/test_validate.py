from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.documents import ORDERS, write_orders


def test_a_right_document_is_no_problem(call: Call, folder: Path) -> None:
    said = call("validate", write_orders(folder))
    assert (said.code, said.out, said.err) == (0, "1 document, no problem\n", "")


def test_each_problem_is_a_line_with_file_and_path(call: Call, folder: Path) -> None:
    broken = ORDERS.replace("type: rename", "type: ranme").replace(
        "loadMode: upsert", "loadMode: upsrt"
    )
    (folder / "bad.yaml").write_text(broken)
    said = call("validate", "bad.yaml")
    assert said.code == 2
    assert said.out.splitlines() == [
        "bad.yaml: nodes[1].ops[1].type: unknown op 'ranme'; did you mean 'rename'?",
        "bad.yaml: nodes[3].loadMode: unknown loadMode 'upsrt'; did you mean 'upsert'? Allowed: "
        "'append', 'truncate', 'upsert', 'blue_green', 'incremental_watermark' or 'cdc_mirror'",
        "1 document, 2 problems in 1 of them",
    ]


def test_json_carries_the_same_facts(call: Call, folder: Path) -> None:
    (folder / "a.yaml").write_text(ORDERS)
    (folder / "b.yaml").write_text("kind: pipeline")
    said = call("validate", folder, "--json")
    right, wrong = said.data["documents"]
    assert said.code == 2
    assert right == {
        "path": str(folder / "a.yaml"),
        "id": "orders",
        "valid": True,
        "problems": [],
        "warnings": [],
    }
    assert not wrong["valid"]
    assert {"path": "nodes", "message": "required key is missing"} in wrong["problems"]


def test_the_pipelines_folder_is_the_default(call: Call, folder: Path) -> None:
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "orders.yaml").write_text(ORDERS)
    assert call("validate").code == 0


def test_a_folder_without_documents_is_not_a_success(call: Call, folder: Path) -> None:
    said = call("validate", folder)
    assert said.code == 2
    assert said.out.startswith("no document found")


def test_a_missing_path_is_wrong_usage(call: Call) -> None:
    said = call("validate", "nowhere")
    assert said.code == 2
    assert said.err.startswith("kaireon-dagster: nowhere: no such file or folder")


def test_unknown_keys_may_be_warnings(call: Call, folder: Path) -> None:
    (folder / "a.yaml").write_text(ORDERS.replace("format: csv", "format: csv\n      colour: red"))
    assert call("validate", "a.yaml").code == 2
    said = call("validate", "a.yaml", "--unknown-keys", "warn")
    assert said.code == 0
    assert "unknown key 'colour'" in said.err


def test_streams_are_authorable_only_where_enabled(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = """
kind: pipeline
version: "1.0"
id: clicks
metadata: {name: Clicks}
nodes:
  - {id: s, kind: source, connector: kafka,
     config: {connection: broker, topic: clicks, format: json, startFrom: earliest}}
  - {id: t, kind: target, input: s, schema: public.clicks, loadMode: append}
"""
    (folder / "clicks.yaml").write_text(stream)
    assert call("validate", "clicks.yaml").code == 2
    monkeypatch.setenv("FLOW_STREAMING_ENABLED", "true")
    assert call("validate", "clicks.yaml").code == 0


@pytest.mark.parametrize(
    ("op", "problem"),
    [
        (
            "{type: expression, field: x, expression: 'uper(customer)'}",
            "ops[0].expression: expression 'uper(customer)', column 1: there is no function uper "
            "here; did you mean 'upper' or 'power'?",
        ),
        (
            "{type: filter, condition: 'amount >'}",
            "ops[0].condition: expression 'amount >', column 8: cannot be parsed here",
        ),
        (
            "{type: cast, field: amount, to: date, format: 'DD.MM'}",
            "ops[0].format: format 'DD.MM': must tell year, month and day",
        ),
    ],
)
def test_what_is_wrong_whatever_the_columns_is_found(
    call: Call, folder: Path, op: str, problem: str
) -> None:
    text = ORDERS.replace('{type: cast, field: amount, to: "numeric(12,2)"}', op)
    (folder / "a.yaml").write_text(text)
    said = call("validate", "a.yaml")
    assert said.code == 2
    assert said.out.splitlines() == [
        f"a.yaml: nodes[1].{problem}",
        "1 document, 1 problem in 1 of them",
    ]


def test_a_route_is_looked_at_too(call: Call, folder: Path) -> None:
    text = ORDERS.replace(
        "  - id: table\n",
        "  - {id: b, kind: branch, input: checked, routes: [{name: r, when: 'now() > day'}]}\n"
        "  - id: table\n",
    ).replace("input: checked\n    schema", "input: b.r\n    schema")
    (folder / "a.yaml").write_text(text)
    said = call("validate", "a.yaml")
    assert said.code == 2
    assert "a.yaml: nodes[3].routes[0].when: expression 'now() > day'" in said.out


def test_what_cannot_run_yet_is_a_warning(call: Call, folder: Path) -> None:
    text = ORDERS.replace("loadMode: upsert", "loadMode: cdc_mirror")
    (folder / "a.yaml").write_text(text + "  onFailure: continue\n")
    said = call("validate", "a.yaml")
    assert (said.code, said.out) == (0, "1 document, no problem\n")
    warnings = [
        "node 'errorHandling': onFailure 'continue' cannot run in this release",
        "node 'table': loadMode 'cdc_mirror' cannot run in this release",
    ]
    assert said.err.splitlines() == [f"warning: a.yaml: {warning}" for warning in warnings]
    assert call("validate", "a.yaml", "--json").data["documents"][0]["warnings"] == warnings


def test_ids_that_clash_between_paths_are_told(call: Call, folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "a.yaml").write_text(ORDERS)
    said = call("validate", "one", "two/a.yaml", "one/a.yaml")
    assert said.code == 2
    assert "one/a.yaml: id: 'orders' is also the id of two/a.yaml" in said.out
    assert said.out.endswith("2 documents, 2 problems in 2 of them\n")


def test_a_data_file_is_sent_to_init(call: Call, folder: Path) -> None:
    (folder / "my.csv").write_text("id\n1\n")
    for command in ("validate", "run", "plan"):
        said = call(command, "my.csv")
        assert said.code == 2
        assert "for a data file: kaireon-dagster init my.csv" in said.out + said.err
