"""`demo`: the flights of 2013 from New York, through the documents of `pipelines/`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kaireon_dagster.cli.dagster_home import prepare_dagster_home
from kaireon_dagster.cli.database import open_database
from kaireon_dagster.cli.documents import read_one
from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.psql import psql_command
from kaireon_dagster.cli.reply import DONE, FAILED, Reply, tell, write_table
from kaireon_dagster.cli.run import facts, run_document
from kaireon_dagster.cli.settings import pipelines_folder
from kaireon_dagster.demo import DEMO_FOLDER, Answer, ask, deliver_files
from kaireon_dagster.ir import LoadedDocument

if TYPE_CHECKING:
    from kaireon_dagster.orchestration.running import RunReport

DOCUMENTS: Final = (
    "airlines.json",
    "airports.yaml",
    "planes.yaml",
    "weather.yaml",
    "flights.yaml",
    "delays-by-weather.yaml",
)
"""In this order: flights look their airline up."""


@dataclass(frozen=True, slots=True)
class Done:
    """A document that was run, and how long that took."""

    document: str
    report: RunReport
    seconds: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: nothing."""


def execute(options: argparse.Namespace) -> Reply:
    """Deliver the files, run the documents, and show what came of it."""
    documents = _find_documents()
    tell(f"writing the flights of 2013 from New York as files below {DEMO_FOLDER}")
    files = deliver_files()
    prepare_dagster_home()
    database = open_database()
    done = [_run(path) for path in documents]
    if any(one.report.status == "failed" for one in done):
        return Reply(FAILED, (*_summary(done), "", *_errors(done)), _facts(done, ()))
    with database.connect() as connection:
        answers = ask(connection, tuple(one.report.run_id for one in done))
    # What weather.yaml took is in its archive now; whoever runs it from the UI finds files again.
    deliver_files()
    lines = [f"{len(files)} files, {len(done)} documents", "", *_summary(done)]
    for answer in answers:
        lines += ["", answer.question, "", *write_table(answer.columns, list(answer.rows))]
    return Reply(DONE, (*lines, "", *_farewell(psql_command(database))), _facts(done, answers))


def _find_documents() -> list[Path]:
    paths = [pipelines_folder() / name for name in DOCUMENTS]
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise UsageFault(f"{missing} is not there: run the demo in the folder of the project")
    return paths


def _run(path: Path) -> Done:
    tell(f"{path}")
    started = time.monotonic()
    report = run_document(LoadedDocument(path, read_one(path)))
    return Done(path.name, report, time.monotonic() - started)


def _summary(done: Sequence[Done]) -> tuple[str, ...]:
    header = ("document", "table", "read", "loaded", "quarantined", "filtered", "seconds")
    rows = [row for one in done for row in _rows(one)]
    total = (
        "total",
        "",
        *(_sum(rows, place) for place in range(2, 6)),
        sum(d.seconds for d in done),
    )
    return (*write_table(header, [*rows, total]), "", _own_time(done))


def _own_time(done: Sequence[Done]) -> str:
    steps = sum(step.seconds for one in done for step in one.report.steps)
    rest = sum(one.seconds for one in done) - steps
    return f"seconds: of whole runs; {rest:.1f} of them are Dagster's own, around the steps"


def _rows(one: Done) -> Iterator[tuple[Any, ...]]:
    """One line per table; what is counted for the whole document stands on the first."""
    rows = one.report.rows
    refused = rows["quarantined"] + rows["rejected"]
    whole: tuple[Any, ...] = (refused, rows["filtered"], one.seconds)
    tables = one.report.targets or {"(failed)": 0}
    for number, (table, loaded) in enumerate(tables.items()):
        if number == 0:
            yield (one.document, table, rows["read"], loaded, *whole)
        else:
            yield ("", table, "", loaded, "", "", "")


def _sum(rows: Sequence[tuple[Any, ...]], place: int) -> int:
    return sum(row[place] for row in rows if isinstance(row[place], int))


def _errors(done: Sequence[Done]) -> Iterator[str]:
    for one in done:
        if one.report.error:
            yield f"{one.document}: {one.report.error}"


def _farewell(psql: str) -> Iterator[str]:
    yield "Run it again: upsert and truncate leave the same tables, quarantine keeps every run's rows."
    yield "Look at it:   make dev   (or: kaireon-dagster dev), which opens the Dagster UI with these runs;"
    yield "              while it runs, the database by"
    yield f"              {psql}"


def _facts(done: Sequence[Done], answers: Sequence[Answer]) -> dict[str, Any]:
    runs = [
        {"document": one.document, "seconds": round(one.seconds, 3), **facts(one.report)}
        for one in done
    ]
    return {"runs": runs, "answers": [asdict(answer) for answer in answers]}
