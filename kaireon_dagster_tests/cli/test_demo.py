from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.cli.demo import DOCUMENTS, Done, _summary
from kaireon_dagster.demo import DEMO_FOLDER, deliver_files
from kaireon_dagster.errors import MissingExtra
from kaireon_dagster.orchestration.running import RunReport, StepReport
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.harness import query

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def project(folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's documents, and a database of its own."""
    monkeypatch.setenv("FLOW_DATABASE_URL", database.conninfo)
    monkeypatch.setenv("DAGSTER_HOME", str(folder))
    (folder / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    (folder / "pipelines").symlink_to(PROJECT / "pipelines")
    return folder


def test_the_documents_of_the_demo_are_all_there_are() -> None:
    assert sorted(DOCUMENTS) == sorted(path.name for path in (PROJECT / "pipelines").iterdir())


def test_files_are_whole_and_the_same_every_time(tmp_path: Path) -> None:
    files = deliver_files(tmp_path)
    before = {path: path.read_bytes() for path in files}
    assert deliver_files(tmp_path) == files
    assert {path: path.read_bytes() for path in files} == before
    flights = [path for path in files if path.parent.name == "flights"]
    assert len(flights) == 12
    assert sum(len(before[path].splitlines()) - 1 for path in flights) == 336_776
    assert not list(tmp_path.rglob("*.part"))


def test_without_the_extra_it_says_what_to_install(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra):
        deliver_files()
    monkeypatch.undo()


def test_outside_the_project_it_says_where_to_be(call: Call) -> None:
    said = call("demo")
    assert said.code == 2
    assert "run the demo in the folder of the project" in said.err


def test_the_whole_demo(call: Call, project: Path, database: Database) -> None:
    said = call("demo", "--json")
    assert said.code == 0
    runs = {run["document"]: run for run in said.data["runs"]}
    loaded = {t["table"]: t["loaded"] for run in runs.values() for t in run["targets"]}
    assert loaded == {
        "flights.airlines": 16,
        "flights.airports": 1_455,
        "flights.planes": 3_294,
        "flights.weather": 26_113,
        "flights.departures": 328_484,
        "flights.cancellations": 8_254,
        "flights.delays_by_weather": 12,
    }
    assert {name: run["rows"]["quarantined"] for name, run in runs.items()} == {
        "airlines.json": 0,
        "airports.yaml": 3,
        "planes.yaml": 28,
        "weather.yaml": 2,
        "flights.yaml": 38,
        "delays-by-weather.yaml": 0,
    }
    flights = runs["flights.yaml"]["rows"]
    assert flights["read"] == 336_776 == flights["loaded"] + flights["quarantined"]
    assert runs["delays-by-weather.yaml"]["rows"]["read"] == 336_776 + 26_115
    routes, visibility, quarantined = said.data["answers"]
    assert routes["rows"][0][:3] == ["EWR-RIC", "ExpressJet Airlines Inc.", 1616]
    assert len(visibility["rows"]) == 3
    assert sum(row[2] for row in quarantined["rows"]) == 71
    archived = list((project / DEMO_FOLDER / "weather").rglob(".archive/*/*.parquet"))
    assert len(archived) == 4
    # Files are there again for whoever goes on from the UI, and change nothing.
    again = call("run", "pipelines/weather.yaml", "--json").data["rows"]
    assert (again["inserted"], again["updated"]) == (0, 26_113)
    call("run", "pipelines/airlines.json")
    assert query(database, "SELECT count(*) FROM flights.airlines") == [(16,)]


def test_it_says_what_the_seconds_are() -> None:
    rows = dict.fromkeys(("read", "quarantined", "rejected", "filtered"), 0)
    steps = (StepReport("a", "claim", 0.5), StepReport("b", "load", 1.0))
    report = RunReport("id", "completed", rows, steps, {"s.t": 0})
    *_, said = _summary([Done("a.yaml", report, 2.25)])
    assert said == "seconds: of whole runs; 0.8 of them are Dagster's own, around the steps"
