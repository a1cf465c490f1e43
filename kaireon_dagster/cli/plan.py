"""`plan`: steps, columns, lineage, SQL, and what the targets would become."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from kaireon_dagster.cli.counts import count
from kaireon_dagster.cli.database import find_database
from kaireon_dagster.cli.documents import read_one
from kaireon_dagster.cli.foresight import find_missing_features
from kaireon_dagster.cli.preview import Preview, StepPreview, lineage
from kaireon_dagster.cli.reply import DONE, FAILED, Reply
from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.plan.target import Placement
from kaireon_dagster.state import Database


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a document")
    parser.add_argument("--sql", action="store_true", help="show the SQL of each step as well")


def execute(options: argparse.Namespace) -> Reply:
    """Preview every step of the document."""
    pipeline = read_one(options.path)
    missing = [str(error) for error in find_missing_features(pipeline)]
    plan = plan_pipeline(pipeline)
    database, without = _database()
    with _session() as session:
        steps = list(Preview(plan, session, database, without).steps())
    lines = [f"pipeline {pipeline.id}: {count(len(steps), 'step')}"]
    lines += [f"error: {error}" for error in missing]
    for number, step in enumerate(steps, 1):
        lines += ["", *_lines(number, step), *(_sql_lines(step) if options.sql else ())]
    facts = [_facts(step) for step in steps]
    data = {"pipeline": pipeline.id, "missing": missing, "steps": facts}
    failed = missing or any(step.error for step in steps)
    return Reply(FAILED if failed else DONE, tuple(lines), data)


def _database() -> tuple[Database | None, str]:
    """The database if it answers, else None and the reason."""
    try:
        database = find_database()
        if database is None:
            return None, "there is no database yet; the first run makes one"
        database.connect().close()
    except FlowError as error:
        return None, str(error)
    return database, ""


@contextmanager
def _session() -> Iterator[duckdb.DuckDBPyConnection]:
    with tempfile.TemporaryDirectory(prefix="flow-plan-") as spill:
        connection = duckdb.connect(config={"temp_directory": spill, "memory_limit": "256MB"})
        try:
            yield connection
        finally:
            connection.close()


def _lines(number: int, preview: StepPreview) -> Iterator[str]:
    step = preview.step
    reads = f"  reads {', '.join(step.inputs)}" if step.inputs else ""
    yield f"{number}. {step.name}  {step.kind}{reads}"
    if preview.files:
        matching = count(len(preview.files), "file matches", "files match")
        yield f"   {matching}: {_few(preview.files)}"
    for note in preview.notes:
        yield f"   note: {note}"
    if preview.error:
        yield f"   error: {preview.error}"
    if preview.placement is not None:
        yield from _target_lines(preview.placement)
    if preview.compiled is not None:
        yield "   columns:"
        origins = lineage(preview.compiled)
        for column in preview.compiled.program.columns:
            came_from = f"  <- {', '.join(origins[column.name])}" if origins[column.name] else ""
            yield f"     {column.name}  {column.type.postgres}{came_from}"


def _sql_lines(preview: StepPreview) -> Iterator[str]:
    if preview.compiled is not None:
        yield "   SQL in the worker:"
        yield from (f"     {line}" for line in preview.compiled.program.sql().splitlines())


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _target_lines(placement: Placement) -> Iterator[str]:
    key = f" by {', '.join(placement.key)}" if placement.key else ""
    yield f"   target: {'.'.join(placement.table)}, {placement.mode}{key}; {_OUTLOOK[_outlook(placement)]}"
    for statement in placement.ddl:
        yield from (f"     {line}" for line in f"{statement};".splitlines())


_OUTLOOK = {
    "created": "the table would be created:",
    "changed": "columns would be added:",
    "unchanged": "the table stays as it is",
}


def _outlook(placement: Placement) -> str:
    if placement.creates:
        return "created"
    return "changed" if placement.ddl else "unchanged"


def _facts(preview: StepPreview) -> dict[str, Any]:
    step, compiled = preview.step, preview.compiled
    facts: dict[str, Any] = {
        "step": step.name,
        "node": step.node,
        "kind": step.kind,
        "inputs": list(step.inputs),
        "nodes": list(step.nodes),
        "notes": list(preview.notes),
        "error": preview.error or None,
    }
    if step.kind == "claim":
        facts["files"] = list(preview.files)
    if compiled is not None:
        facts["sql"] = compiled.program.sql()
        facts["columns"] = [
            {"name": c.name, "type": c.type.postgres} for c in compiled.program.columns
        ]
        facts["lineage"] = {name: list(origins) for name, origins in lineage(compiled).items()}
    if preview.placement is not None:
        facts["target"] = _target_facts(preview.placement)
    return facts


def _target_facts(placement: Placement) -> dict[str, Any]:
    return {
        "table": ".".join(placement.table),
        "loadMode": placement.mode,
        "key": list(placement.key),
        "outlook": _outlook(placement),
        "ddl": list(placement.ddl),
    }
