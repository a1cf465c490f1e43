"""Runs a document's steps one after another, as Dagster would, against a real database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from kaireon_dagster import ir
from kaireon_dagster.engine.claiming import claim_source
from kaireon_dagster.engine.load import load_target
from kaireon_dagster.engine.outcome import Counts, Outcome
from kaireon_dagster.engine.relation import Relation
from kaireon_dagster.engine.scope import Scope, Settings
from kaireon_dagster.engine.staging import stage_node
from kaireon_dagster.plan.steps import Plan, plan_pipeline
from kaireon_dagster.state.database import Database

ATOMICITY = {
    "stagingFolder": ".processing/",
    "successFolder": ".archive/",
    "failureFolder": ".failed/",
}


@dataclass
class Run:
    """What a run did."""

    scope: Scope
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        return sum((o.counts for o in self.outcomes.values()), Counts())


def source(folder: Path, pattern: str = "*.csv", **config: Any) -> dict[str, Any]:
    """A local source that takes its files."""
    return {
        "id": "src",
        "kind": "source",
        "connector": "local_fs",
        "config": {
            "path": str(folder),
            "pattern": {"type": "glob", "value": pattern},
            "atomicity": ATOMICITY,
            "format": "csv",
            **config,
        },
    }


def target(
    table: str = "public.t", mode: str = "append", input: str = "src", **more: Any
) -> dict[str, Any]:
    """A target; without lineage unless asked, so that rows compare plainly."""
    return {
        "id": "tgt",
        "kind": "target",
        "input": input,
        "schema": table,
        "loadMode": mode,
        "lineage": False,
        **more,
    }


def document(
    *nodes: Mapping[str, Any], id: str = "p", dlq: bool = False, **more: Any
) -> ir.Pipeline:
    """A parsed document of these nodes."""
    body = {
        "kind": "pipeline",
        "version": "1.0",
        "id": id,
        "metadata": {"name": id},
        "nodes": list(nodes),
        "errorHandling": {"dlq": {"enabled": dlq}},
        **more,
    }
    return ir.parse_document(json.dumps(body), source=f"{id}.json", format="json")


def run(
    pipeline: ir.Pipeline,
    database: Database,
    *,
    run_id: str | None = None,
    settings: Settings | None = None,
    steps: Sequence[str] | None = None,
) -> Run:
    """Run all steps, or those named; relations are taken from the checkpoint store as Dagster's are."""
    from kaireon_dagster.engine import relations as store

    scope = new_scope(plan_pipeline(pipeline), database, run_id, settings)
    done = Run(scope)
    for step in scope.plan.steps:
        if steps is not None and step.name not in steps:
            with database.connect() as connection:
                found = store.find(connection, scope, step.name)
            if found is not None:
                done.relations[step.name] = found
            continue
        if step.kind == "claim":
            done.relations[step.name] = claim_source(scope, step)
        elif step.kind == "stage":
            done.relations[step.name], done.outcomes[step.name] = stage_node(
                scope, step, done.relations
            )
        else:
            done.outcomes[step.name] = load_target(scope, step, done.relations)
    return done


def new_scope(
    plan: Plan, database: Database, run_id: str | None = None, settings: Settings | None = None
) -> Scope:
    """A run of a plan that starts now."""
    now = datetime.now(timezone.utc)
    return Scope(run_id or str(uuid.uuid4()), plan, now, database, settings or Settings())


def query(database: Database, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Rows of a query."""
    with database.connect() as connection:
        return connection.execute(sql.encode(), parameters or None).fetchall()


def execute(database: Database, sql: str) -> None:
    """Run statements."""
    with database.connect() as connection:
        connection.execute(sql.encode())
