"""`run`: one document through its Dagster job."""

from __future__ import annotations

import argparse
import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kaireon_dagster.cli.dagster_home import find_dagster_home
from kaireon_dagster.cli.documents import read_one
from kaireon_dagster.cli.reply import DONE, FAILED, Reply, tell, write_table
from kaireon_dagster.ir import LoadedDocument

if TYPE_CHECKING:
    from kaireon_dagster.orchestration.running import RunReport
    from kaireon_dagster.orchestration.watching import StepEvent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a document")


def execute(options: argparse.Namespace) -> Reply:
    """Run the document, telling of each step, and sum up."""
    pipeline = read_one(options.path)
    report = run_document(LoadedDocument(options.path, pipeline))
    code = FAILED if report.status == "failed" else DONE
    return Reply(code, tuple(_lines(report)), facts(report))


def run_document(document: LoadedDocument) -> RunReport:
    """Run a document in this process; its run is kept where `dev` shows it, if that was used."""
    import dagster as dg

    from kaireon_dagster.orchestration.running import execute as run

    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        # Of Dagster, about itself: nothing that whoever runs a document could act on.
        warnings.simplefilter("ignore", dg.BetaWarning)
        kept = find_dagster_home() is not None
        instance = stack.enter_context(dg.DagsterInstance.get()) if kept else None
        return run(document, instance=instance, on_event=say)


def say(event: StepEvent) -> None:
    """Tell what a step does, as it happens."""
    seconds = f" ({event.seconds:.1f} s)" if event.state != "started" else ""
    message = f": {event.message}" if event.message else ""
    tell(f"  {event.kind:<5} {event.step}: {event.state}{seconds}{message}")


def facts(report: RunReport) -> dict[str, Any]:
    """The report as it is printed under `--json`."""
    return {key: value for key, value in report.to_json().items() if key != "warnings"}


def _lines(report: RunReport) -> Iterator[str]:
    if report.targets:
        yield from write_table(("table", "rows loaded"), list(report.targets.items()))
        yield ""
    if report.quarantine:
        yield from write_table(("quarantine", "rows"), list(report.quarantine.items()))
        yield ""
    yield ", ".join(
        f"{name} {rows:,}" for name, rows in report.rows.items() if rows or name == "read"
    )
    yield from (f"warning: {warning}" for warning in report.warnings)
    if report.error:
        yield f"error: {report.error}"
    yield f"run {report.run_id}: {report.status.replace('_', ' ')}"
