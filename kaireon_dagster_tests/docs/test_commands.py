"""What the pages tell people to type, typed."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from kaireon_dagster.cli import main
from kaireon_dagster.cli.entry import COMMANDS
from kaireon_dagster.server import find_binaries
from kaireon_dagster.state import Database
from kaireon_dagster_tests.docs.pages import PAGES, PROJECT, block, blocks
from kaireon_dagster_tests.harness import execute, query


def lines() -> list[str]:
    shells = [text for page in PAGES for language, text in blocks(page) if language == "sh"]
    found = [line.split("  #")[0].strip() for text in shells for line in text.splitlines()]
    return sorted({line for line in found if line.startswith("kaireon-dagster ")})


def parser_of(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(exit_on_error=False)
    module: Any = import_module(f"kaireon_dagster.cli.{command}")
    module.add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    return parser


@pytest.mark.parametrize("line", lines())
def test_every_command_line_is_understood(line: str) -> None:
    line = re.sub(r"[\[\]…]|error\|warn|>.*", "", line).replace(
        "--unknown-keys", "--unknown-keys warn"
    )
    line = re.sub(r"--port PORT", "--port 1", line)
    _, command, *words = shlex.split(line)
    parser_of(command).parse_args(words)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_names_every_option(command: str) -> None:
    text = (PROJECT / "docs/reference/cli.md").read_text()
    section = text.split(f"\n## {command}\n")[1].split("\n## ")[0]
    options = re.findall(r"--[a-z-]+", parser_of(command).format_help())
    assert [o for o in set(options) - {"--json", "--help"} if o not in section] == []


def test_the_first_csv_goes_as_the_guide_says(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    guide = "docs/guides/first-csv.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    for variable in ("FLOW_PIPELINES", "FLOW_HOME", "DAGSTER_HOME"):
        monkeypatch.delenv(variable, raising=False)
    rows = block(guide, "csv")
    (tmp_path / "orders.csv").write_text(rows, encoding="utf-8")
    assert main(["init", "orders.csv"]) == 0
    assert (tmp_path / "orders.yaml").read_text(encoding="utf-8") == block(guide, "yaml")
    assert main(["plan", "orders.yaml"]) == 0
    capsys.readouterr()
    assert main(["run", "orders.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]["inserted"] == 4
    added = "1005,Eve,twelve,2026-03-04,54321,true\n"
    (tmp_path / "orders.csv").write_text(rows + added, encoding="utf-8")
    assert main(["run", "orders.yaml", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["rows"]
    assert (counts["updated"], counts["quarantined"]) == (4, 1)
    ((rule, row),) = query(database, block(guide, "sql"))
    assert rule == "cast:amount"
    assert row["amount"] == "twelve"


def test_every_query_of_the_runbook_runs(database: Database) -> None:
    from kaireon_dagster.state.dlq import ensure_table

    with database.connect() as connection:
        ensure_table(connection, "flow_dlq.PIPELINE_ID".lower())
    execute(database, "CREATE SCHEMA flights")
    execute(database, "CREATE TABLE flights.airlines (carrier text, _kaireon_lineage jsonb)")
    queries = [text for language, text in blocks(PROJECT / "docs/runbook.md") if language == "sql"]
    assert len(queries) >= 10
    for text in queries:
        for statement in filter(str.strip, text.replace("%I", "%%I").split(";\n")):
            execute(database, statement.replace("%%I", "%I"))


def test_the_example_of_the_readme_runs(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    folder = tmp_path / "data" / "orders"
    folder.mkdir(parents=True)
    (folder / "orders_1.csv").write_text("order_id,amount\n1,10\n2,-1\n3,x\n")
    (tmp_path / "orders.yaml").write_text(block("README.md", "yaml"))
    assert main(["run", "orders.yaml", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert (rows["loaded"], rows["quarantined"]) == (1, 2)
    assert query(database, "SELECT with_tax::text FROM shop.orders") == [("11.90",)]


@pytest.mark.parametrize("way", ["by itself", "schemas made before"])
def test_the_rights_of_the_guide_are_enough(
    empty_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    guide, role = "docs/guides/postgresql.md", f"flow_{uuid.uuid4().hex[:12]}"
    made, given = block(guide, "sql", 0).split("\n", 1)
    statements = f"{made}\n{given if way == 'by itself' else block(guide, 'sql', 1)}"
    named = re.sub(r"(ROLE|TO|AUTHORIZATION) flow\b", rf"\1 {role}", statements)
    execute(empty_database, named.replace("warehouse", str(empty_database.address.database)))
    monkeypatch.chdir(tmp_path)
    url = make_conninfo(empty_database.conninfo, options=f"-c role={role}")
    monkeypatch.setenv("FLOW_DATABASE_URL", url)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (tmp_path / "data" / "orders").mkdir(parents=True)
    (tmp_path / "data" / "orders" / "orders_1.csv").write_text("order_id,amount\n1,10\n2,-1\n")
    document = block("README.md", "yaml")
    schema = "public" if way == "by itself" else "shop"
    (tmp_path / "orders.yaml").write_text(document.replace("shop.orders", f"{schema}.orders"))
    try:
        assert main(["run", "orders.yaml"]) == 0
    finally:
        execute(empty_database, f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_the_dump_of_the_guide_is_one_that_an_older_server_takes(
    database: Database, empty_database: Database, tmp_path: Path
) -> None:
    execute(database, "CREATE TABLE public.t AS SELECT 1 AS a")
    command = block("docs/guides/postgresql.md", "sh", 1)
    source = f"host={database.address.host} user=postgres dbname={database.address.database}"
    command = re.sub(r'"host=.*dbname=postgres"', f'"{source}"', command)
    command = command.replace(".venv/bin/python", sys.executable)
    folder = find_binaries().folder
    path, url = f"{folder}:{os.environ['PATH']}", empty_database.conninfo
    environment = {**os.environ, "PATH": path, "FLOW_DATABASE_URL": url}
    seen = command.replace("psql -X", f"tee {tmp_path}/dump.sql | psql -X")
    subprocess.run(["bash", "-eo", "pipefail", "-c", seen], env=environment, check=True)
    assert query(empty_database, "SELECT a FROM public.t") == [(1,)]
    assert "transaction_timeout" not in (tmp_path / "dump.sql").read_text().replace("idle_in_", "")
