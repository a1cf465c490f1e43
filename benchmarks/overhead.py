"""What Dagster in process costs a small document, beside a bare run of one op."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import dagster as dg

from benchmarks.job import small_document
from benchmarks.report import Line
from kaireon_dagster import flow_definitions
from kaireon_dagster.orchestration.resources import FlowDatabase
from kaireon_dagster.state.database import Database

_ROUNDS = 7
_ROWS = 100


def measure(database: Database) -> Line:
    """Seconds that a run of a small document takes beyond a bare run, median of rounds."""
    with (
        tempfile.TemporaryDirectory(prefix="flow-bench-") as home,
        dg.DagsterInstance.local_temp(home) as instance,
    ):
        bare, ours = _bare(instance), _ours(instance, database, Path(home))
        for warm_up in (bare, ours):
            warm_up()
        extra = median(_seconds(ours) - _seconds(bare) for _ in range(_ROUNDS))
    return Line("a small document through Dagster, beyond a bare run", f"{extra:.2f} s", "≤ 1 s")


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _bare(instance: dg.DagsterInstance) -> Callable[[], object]:
    @dg.op
    def nothing() -> None:
        pass

    @dg.job(executor_def=dg.in_process_executor)
    def bare() -> None:
        nothing()

    return lambda: bare.execute_in_process(instance=instance)


def _ours(instance: dg.DagsterInstance, database: Database, folder: Path) -> Callable[[], object]:
    (folder / "rows.csv").write_text("id\n" + "\n".join(map(str, range(_ROWS))) + "\n")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "small.json").write_text(small_document(folder))
    resources = {"database": FlowDatabase(url=database.conninfo)}
    definitions = flow_definitions(documents, resources=resources)
    job = definitions.resolve_job_def("small")

    def run() -> None:
        result = job.execute_in_process(instance=instance)
        assert result.success

    return run
