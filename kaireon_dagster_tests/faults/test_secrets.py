"""What fails tells neither a value of a row nor a password, wherever Dagster keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from kaireon_dagster.orchestration import FlowDatabase, flow_definitions
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import execute
from kaireon_dagster_tests.orchestration.bench import Bench, failures, target

VALUE, PASSWORD = "c4n4ry", "pAssw0rd"
ROWS = f"id,v\n1,{VALUE}1\n2,{VALUE}2\n"
TRIGGER = """
CREATE TABLE {name} (id text, v text);
CREATE FUNCTION on_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NEW; END $$;
CREATE TRIGGER t BEFORE INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION on_{name}()
"""
RAISES = {
    "message": "RAISE 'bad %', NEW.v USING ERRCODE = '42501', DETAIL = NEW.v, HINT = NEW.v",
    "names": "RAISE 'bad' USING SCHEMA = NEW.v, TABLE = NEW.v, COLUMN = NEW.v, CONSTRAINT = NEW.v",
    "dynamic": "EXECUTE 'SELECT ' || NEW.v",
    "passing": "RAISE 'bad %', NEW.v USING ERRCODE = '40001', DATATYPE = NEW.v",
}
TABLES = {
    "uniques": "v text CHECK (length(v) < 3)",
    "enums": "v mood",
    "numbers": "v integer",
    "periods": "v interval",
}
FILES = {
    "ragged": f"id,v\n1,{VALUE},x\n",
    "torn": f'id,v\n1,"{VALUE}\n',
    "latin": f"id,v\n1,{VALUE}".encode() + b"\xff\n",
    "nul": f"id,v\n1,{VALUE}\0\n",
}


@pytest.fixture
def bench(tmp_path: Path, database: Database) -> Iterator[Bench]:
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as instance:
        far = replace(database, conninfo=f"{database.conninfo} password={PASSWORD}")
        yield Bench(tmp_path, far, instance)


def write(bench: Bench, name: str, data: str | bytes, *nodes: dict[str, Any]) -> None:
    folder = bench.folder / name
    folder.mkdir()
    (folder / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    last = nodes[-1]["id"] if nodes else "src"
    source = bench.source(path=str(folder))
    bench.write(source, *nodes, target(f"public.{name}", input=last), id=name)


def transform(**op: Any) -> dict[str, Any]:
    return {"id": "x", "kind": "transform", "input": "src", "ops": [op]}


def validate(rule: str) -> dict[str, Any]:
    row = {"id": "r", "field": "v", "rule": rule, "onFail": "abort"}
    return {"id": "x", "kind": "validate", "input": "src", "rowLevel": [row]}


def test_failures_tell_no_value_and_no_password(
    bench: Bench, database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    execute(database, "CREATE TYPE mood AS ENUM ('ok')")
    for name, body in RAISES.items():
        execute(database, TRIGGER.format(name=name, body=body))
        write(bench, name, ROWS)
    for name, column in TABLES.items():
        execute(database, f"CREATE TABLE {name} (id text, {column})")
        write(bench, name, ROWS)
    for name, data in FILES.items():
        write(bench, name, data)
    write(bench, "cast", ROWS, transform(type="cast", field="v", to="date"))
    write(bench, "sum", ROWS, transform(type="expression", field="w", expression="v::int + 1"))
    write(bench, "listed", ROWS, validate("in:a,b"))
    write(bench, "matched", ROWS, validate("regex:^a$"))
    resources = {"database": FlowDatabase(url=bench.database.conninfo)}
    definitions = flow_definitions(bench.pipelines, resources=resources)
    names = sorted(path.stem for path in bench.pipelines.iterdir())
    for name in names:
        job = definitions.resolve_job_def(name)
        result = job.execute_in_process(instance=bench.instance, raise_on_error=False)
        assert len(failures(result)) == 1, name
    kept = {
        path: path.read_bytes() for path in (bench.folder / "home").rglob("*") if path.is_file()
    }
    kept[Path("output")] = "".join(capfd.readouterr()).encode()
    kept[Path("runs")] = str(bench.fetch("SELECT * FROM flow.pipeline_runs")).encode()
    kept[Path("alerts")] = str(bench.fetch("SELECT * FROM flow.system_health_alerts")).encode()
    assert all(name.encode() in kept[Path("runs")] for name in names)
    for path, content in kept.items():
        for secret in (VALUE, PASSWORD):
            place = content.find(secret.encode())
            assert place < 0, (path, content[max(place - 200, 0) : place + 20])
