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
    assert right == {"path": str(folder / "a.yaml"), "id": "orders", "valid": True, "problems": []}
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
