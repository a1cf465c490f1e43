from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.state import Database
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.documents import ORDERS, write_orders


def test_steps_sql_lineage_and_target_without_any_database(call: Call, folder: Path) -> None:
    said = call("plan", write_orders(folder), "--json")
    claim, load = said.data["steps"]
    assert said.code == 0
    assert (claim["kind"], claim["files"]) == ("claim", ["orders-1.csv"])
    assert load["lineage"]["order_id"] == ["files.id"]
    assert {"name": "amount", "type": "numeric(12,2)"} in load["columns"]
    assert load["target"]["outlook"] == "created"
    assert 'CREATE TABLE "shop"."orders"' in load["target"]["ddl"][1]
    assert 'RENAME ("id" AS "order_id")' in load["sql"]
    assert any("there is no database yet" in note for note in load["notes"])


def test_it_touches_nothing(call: Call, folder: Path) -> None:
    write_orders(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    call("plan", "orders.yaml")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_what_an_existing_table_would_become(
    call: Call, folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    with database.connect(autocommit=True) as connection:
        connection.execute("CREATE SCHEMA shop")
        connection.execute("CREATE TABLE shop.orders (order_id text PRIMARY KEY, customer text)")
    document = write_orders(folder)
    refused = call("plan", document)
    assert refused.code == 1
    assert "shop.orders has no column 'amount'" in refused.out
    document.write_text(
        document.read_text().replace("upsertKey:", "onNewColumns: add\n    upsertKey:")
    )
    said = call("plan", document, "--json")
    target = said.data["steps"][1]["target"]
    assert target["outlook"] == "changed"
    assert target["ddl"] == ['ALTER TABLE "shop"."orders" ADD COLUMN "amount" numeric(12,2)']
    with database.connect() as connection:
        columns = connection.execute("SELECT * FROM shop.orders").description
    assert [column.name for column in columns or ()] == ["order_id", "customer"]


def test_without_a_file_the_columns_are_unknown(call: Call, folder: Path) -> None:
    (write_orders(folder).parent / "data" / "orders-1.csv").unlink()
    said = call("plan", "orders.yaml")
    assert said.code == 0
    assert "no file matches now" in said.out
    assert "the columns it reads are not known yet" in said.out


def test_an_unreachable_database_is_told_and_no_secret_with_it(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/db")
    said = call("plan", write_orders(folder))
    assert said.code == 0
    assert "as if no table existed" in said.out
    assert "hunter2" not in said.out + said.err


def test_a_column_that_is_not_there_fails_the_plan(call: Call, folder: Path) -> None:
    document = write_orders(folder)
    document.write_text(
        ORDERS.replace("FOLDER", "data").replace("field: amount, to", "field: amuont, to")
    )
    said = call("plan", document)
    assert said.code == 1
    assert "did you mean 'amount'?" in said.out


def test_an_invalid_document_is_wrong_usage(call: Call, folder: Path) -> None:
    (folder / "a.yaml").write_text("kind: pipeline")
    said = call("plan", "a.yaml", "--json")
    assert said.code == 2
    assert said.data["error"]["type"] == "DocumentInvalid"
    assert said.data["error"]["problems"]


def test_sql_is_shown_when_it_is_asked_for(call: Call, folder: Path) -> None:
    document = write_orders(folder)
    short, whole = call("plan", document).out, call("plan", document, "--sql").out
    for line in ("pipeline orders: 2 steps", "1 file matches: orders-1.csv", "<- files.id"):
        assert line in short
        assert line in whole
    assert 'CREATE TABLE "shop"."orders"' in short
    assert "SELECT" not in short
    assert "SQL in the worker:" in whole
    assert 'RENAME ("id" AS "order_id")' in whole


def test_what_cannot_run_yet_fails_the_plan(call: Call, folder: Path) -> None:
    document = write_orders(folder)
    document.write_text(document.read_text().replace("loadMode: upsert", "loadMode: cdc_mirror"))
    said = call("plan", document)
    assert said.code == 1
    assert "error: pipeline 'orders', node 'table': loadMode 'cdc_mirror' cannot run" in said.out
