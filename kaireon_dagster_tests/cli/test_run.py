from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.state import Database
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.documents import write_orders
from kaireon_dagster_tests.harness import execute, query

KEYS = ["runId", "status", "rows", "steps", "targets", "quarantine", "error"]
COUNTS = [
    "read",
    "loaded",
    "inserted",
    "updated",
    "quarantined",
    "rejected",
    "filtered",
    "deduplicated",
]


@pytest.fixture(autouse=True)
def own_database(database: Database, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


def test_a_run_under_json_has_the_documented_shape(
    call: Call, folder: Path, database: Database
) -> None:
    said = call("run", write_orders(folder), "--json")
    report = said.data
    assert said.code == 0
    assert list(report) == KEYS
    assert list(report["rows"]) == COUNTS
    assert report["status"] == "completed_with_errors"
    assert report["rows"] == dict(zip(COUNTS, (5, 2, 2, 0, 2, 1, 0, 0), strict=True))
    assert report["targets"] == [{"table": "shop.orders", "loaded": 2}]
    assert report["quarantine"] == [{"table": "dlq.orders", "rows": 3}]
    assert [(step["node"], step["kind"]) for step in report["steps"]] == [
        ("files", "claim"),
        ("table", "load"),
    ]
    assert all(set(step) == {"node", "kind", "seconds"} for step in report["steps"])
    assert report["error"] is None
    assert len(query(database, "SELECT * FROM shop.orders")) == 2


def test_for_people_there_is_progress_and_a_summary(call: Call, folder: Path) -> None:
    said = call("run", write_orders(folder))
    assert "claim files: started" in said.err
    assert "load  table: finished" in said.err
    assert "Traceback" not in said.err
    assert "Warning" not in said.err
    assert "shop.orders            2" in said.out
    assert "read 5, loaded 2, inserted 2, quarantined 2, rejected 1" in said.out
    assert said.out.rstrip().endswith("completed with errors")


def test_a_failed_run_exits_1_and_says_why(call: Call, folder: Path, database: Database) -> None:
    execute(database, "CREATE SCHEMA shop; CREATE VIEW shop.orders AS SELECT 1 AS x")
    document = write_orders(folder)
    said = call("run", document)
    assert said.code == 1
    assert "error: node 'table': shop.orders is a view; a target must be a table" in said.out
    report = call("run", document, "--json").data
    assert list(report) == KEYS
    assert report["status"] == "failed"
    assert "is a view" in report["error"]
    assert report["targets"] == []


def test_an_invalid_document_exits_2_before_anything_is_done(call: Call, folder: Path) -> None:
    (folder / "a.yaml").write_text("kind: pipeline")
    said = call("run", "a.yaml")
    assert said.code == 2
    assert "a.yaml: nodes: required key is missing" in said.err


def test_a_folder_of_several_documents_is_wrong_usage(call: Call, folder: Path) -> None:
    write_orders(folder)
    (folder / "b.yaml").write_text("kind: pipeline")
    said = call("run", folder)
    assert said.code == 2
    assert "2 documents; name one of them" in said.err


def test_what_init_writes_runs_as_it_is(call: Call, folder: Path, database: Database) -> None:
    (folder / "sales.csv").write_text(
        "Order ID,amount,day,delay,zip\n1,12.50,2026-03-01,NA,01234\n2,7,2026-03-02,5,99999\n3\n"
    )
    assert call("init", "sales.csv").code == 0
    said = call("run", "sales.yaml", "--json")
    assert said.data["rows"]["loaded"] == 2
    assert said.data["rows"]["rejected"] == 1
    rows = query(
        database,
        "SELECT order_id, amount::text, day::text, delay, zip FROM public.sales ORDER BY 1",
    )
    assert rows == [
        (1, "12.5000", "2026-03-01", None, "01234"),
        (2, "7.0000", "2026-03-02", 5, "99999"),
    ]
    again = call("run", "sales.yaml", "--json").data["rows"]
    assert (again["inserted"], again["updated"]) == (0, 2)


def test_runs_are_kept_where_the_ui_shows_them_once_it_was_used(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    home = folder / ".kaireon" / "dagster"
    home.mkdir(parents=True)
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    run_id = call("run", write_orders(folder), "--json").data["runId"]
    with dg.DagsterInstance.get() as instance:
        assert instance.get_run_by_id(run_id) is not None
