from __future__ import annotations

import importlib.metadata
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from kaireon_dagster.cli.checks.versions import check_versions
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cli.conftest import Call, Said
from kaireon_dagster_tests.cli.documents import write_orders
from kaireon_dagster_tests.harness import execute


def by_subject(data: Any) -> dict[str, str]:
    return {check["subject"]: check["status"] for check in data["checks"]}


def pretend(monkeypatch: pytest.MonkeyPatch, **versions: str) -> dict[str, str]:
    real = importlib.metadata.version
    faked = {name.replace("_", "-"): found for name, found in versions.items()}
    monkeypatch.setattr(
        "kaireon_dagster.cli.checks.versions.version", lambda name: faked.get(name) or real(name)
    )
    return {finding.subject: finding.status for finding in check_versions()}


def test_a_fresh_folder_is_healthy(call: Call, folder: Path) -> None:
    said = call("doctor", "--json")
    found = by_subject(said.data)
    assert said.code == 0
    assert found["dagster-postgres"] == found["database"] == found["work folder"] == "ok"
    assert found["documents"] == "warning"
    assert not (folder / ".kaireon").exists()


def test_a_database_of_ones_own(
    call: Call, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    found = by_subject(call("doctor", "--json").data)
    assert found["database"] == found["schema"] == "ok"


def test_a_database_without_flows_tables_says_who_makes_them(
    call: Call, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", empty_database.conninfo)
    said = call("doctor")
    assert said.code == 0
    assert "migration(s) to apply; the next run does it" in said.out


def test_a_database_that_does_not_answer_is_a_problem_with_advice(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/db")
    said = call("doctor")
    assert said.code == 1
    assert "problem  database" in said.out
    assert "check FLOW_DATABASE_URL" in said.out
    assert "hunter2" not in said.out


def test_an_old_dagster_postgres_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    found = pretend(monkeypatch, dagster_postgres="0.11.14")
    assert found["dagster-postgres"] == "problem"


def test_sqlalchemy_2_1_needs_the_driver_in_the_storage_scheme(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    storage = "storage:\n  postgres:\n    postgres_db:\n      hostname: h\n"
    (tmp_path / "dagster.yaml").write_text(storage)
    assert pretend(monkeypatch, sqlalchemy="2.1.0")["sqlalchemy"] == "problem"
    assert pretend(monkeypatch, sqlalchemy="2.0.40")["sqlalchemy"] == "ok"
    (tmp_path / "dagster.yaml").write_text(f"{storage}      scheme: postgresql+psycopg2\n")
    assert pretend(monkeypatch, sqlalchemy="2.1.0")["sqlalchemy"] == "ok"


def test_an_engine_of_tomorrow_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pretend(monkeypatch, duckdb="2.7.0")["duckdb"] == "warning"
    assert pretend(monkeypatch, duckdb="1.4.0")["duckdb"] == "problem"


def test_broken_documents_and_missing_folders_are_named(call: Call, folder: Path) -> None:
    (folder / "pipelines").mkdir()
    write_orders(folder).rename(folder / "pipelines" / "orders.yaml")
    (folder / "pipelines" / "broken.yaml").write_text("kind: pipeline")
    (folder / "data").rename(folder / "elsewhere")
    said = call("doctor", "--json")
    found = by_subject(said.data)
    assert said.code == 1
    assert found["documents"] == "problem"
    assert found["orders.files"] == "warning"


def test_a_work_folder_in_a_place_that_cannot_be_written(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path))
    (folder / "locked").mkdir()
    monkeypatch.setenv("FLOW_HOME", str(folder / "locked"))
    assert by_subject(call("doctor", "--json").data)["work folder"] == "problem"


@pytest.fixture
def limited(folder: Path, empty_database: Database) -> Iterator[Database]:
    """A database as a user without any right sees it, for the document of orders."""
    role = f"flow_{uuid.uuid4().hex[:12]}"
    (folder / "pipelines").mkdir()
    write_orders(folder).rename(folder / "pipelines" / "orders.yaml")
    execute(empty_database, f"CREATE ROLE {role}")
    try:
        yield Database(make_conninfo(empty_database.conninfo, options=f"-c role={role}"))
    finally:
        execute(empty_database, f"DROP OWNED BY {role}; DROP ROLE {role}")


def obey(database: Database, said: Said) -> list[str]:
    """Run the GRANTs that were advised; give their rights."""
    grants = re.findall(r"run: (GRANT .*;)", said.out)
    for grant in grants:
        execute(database, grant)
    return [grant.partition(" TO ")[0].removeprefix("GRANT ") for grant in grants]


def test_missing_rights_are_told_with_grants_that_are_enough(
    call: Call, limited: Database, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(empty_database, "CREATE SCHEMA shop")
    monkeypatch.setenv("FLOW_DATABASE_URL", limited.conninfo)
    said = call("doctor")
    assert said.code == 1
    assert (
        "problem  rights: this user lacks USAGE, CREATE ON SCHEMA shop, for shop.orders" in said.out
    )
    name = limited.address.database
    assert {"USAGE, CREATE ON SCHEMA shop", f"CREATE ON DATABASE {name}"} == set(
        obey(empty_database, said)
    )
    said = call("doctor")
    assert "ok       rights: enough for 2 tables of the documents" in said.out
    assert call("run", "pipelines").code == 0


def test_tables_of_another_user_take_grants_and_nothing_crashes(
    call: Call, limited: Database, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_DATABASE_URL", empty_database.conninfo)
    assert call("run", "pipelines").code == 0
    monkeypatch.setenv("FLOW_DATABASE_URL", limited.conninfo)
    said = call("doctor")
    assert "unexpected" not in said.out + said.err
    assert obey(empty_database, said) == [
        "USAGE ON SCHEMA flow",
        "USAGE, CREATE ON SCHEMA flow_staging",
        "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA flow",
        "USAGE ON SCHEMA dlq",
        "INSERT ON TABLE dlq.orders",
        "USAGE ON SCHEMA shop",
        "SELECT, INSERT, UPDATE ON TABLE shop.orders",
    ]
    assert call("doctor").code == 0
    assert call("run", "pipelines").code == 0
