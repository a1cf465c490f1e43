"""A folder of documents, a folder of files, and a Dagster instance, for one test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from kaireon_dagster.orchestration import FlowDatabase, flow_definitions
from kaireon_dagster.state import Database

ORDERS = "id,amount\n1,10\n2,-5\n3,7\n"
KEY = dg.AssetKey(["public", "ds_orders"])
RULES = {
    "datasetLevel": {"rowCount": {"min": 1, "onFail": "abort"}},
    "rowLevel": [{"id": "amt-positive", "field": "amount", "rule": "gt:0", "onFail": "quarantine"}],
    "quarantine": {"table": "dlq.orders"},
}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class Bench:
    """Everything a test needs to run documents through Dagster."""

    folder: Path
    database: Database
    instance: dg.DagsterInstance = field(default_factory=dg.DagsterInstance.ephemeral)

    def __post_init__(self) -> None:
        self.pipelines.mkdir()
        self.inbox.mkdir()

    @property
    def pipelines(self) -> Path:
        return self.folder / "pipelines"

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    def write(self, *nodes: Mapping[str, Any], id: str = "orders-ingest", **more: Any) -> Path:
        body = {
            "kind": "pipeline",
            "version": "1.0",
            "id": id,
            "metadata": {"name": id},
            "nodes": nodes or self.orders(),
            **more,
        }
        path = self.pipelines / f"{id}.json"
        path.write_text(json.dumps(body))
        return path

    def orders(self) -> list[dict[str, Any]]:
        return [
            self.source(),
            {"id": "v", "kind": "validate", "input": "src", **RULES},
            target("public.ds_orders", input="v"),
        ]

    def source(self, id: str = "src", **config: Any) -> dict[str, Any]:
        atomicity = {
            "stagingFolder": ".processing/",
            "successFolder": ".archive/",
            "failureFolder": ".failed/",
        }
        return {
            "id": id,
            "kind": "source",
            "connector": "local_fs",
            "config": {
                "path": str(self.inbox),
                "pattern": {"type": "glob", "value": "*.csv"},
                "atomicity": atomicity,
                "format": "csv",
                **config,
            },
        }

    def drop(self, name: str = "a.csv", text: str = ORDERS) -> None:
        (self.inbox / name).write_text(text)

    def definitions(self, **options: Any) -> dg.Definitions:
        resources = {"database": FlowDatabase(url=self.database.conninfo)}
        resources |= options.pop("resources", {})
        return flow_definitions(self.pipelines, resources=resources, **options)

    def run(self, job: str = "orders_ingest", **options: Any) -> dg.ExecuteInProcessResult:
        return (
            self.definitions()
            .resolve_job_def(job)
            .execute_in_process(
                instance=self.instance, raise_on_error=False, run_config=QUIET, **options
            )
        )

    def materialize(self, selection: Any = None) -> dg.ExecuteInProcessResult:
        job = self.definitions().resolve_implicit_global_asset_job_def()
        keys = list(selection) if selection is not None else None
        return job.execute_in_process(
            instance=self.instance, raise_on_error=False, run_config=QUIET, asset_selection=keys
        )

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        with self.database.connect() as connection:
            return connection.execute(query.encode()).fetchall()

    def do(self, *statements: str) -> None:
        with self.database.connect() as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def status(self) -> list[tuple[Any, ...]]:
        return self.fetch('SELECT "pipelineId", status FROM flow.pipeline_runs ORDER BY 1, 2')


def target(
    table: str, id: str = "tgt", input: str = "src", loadMode: str = "append", **more: Any
) -> dict[str, Any]:
    return {
        "id": id,
        "kind": "target",
        "input": input,
        "schema": table,
        "loadMode": loadMode,
        **more,
    }


def steps_done(result: dg.ExecuteInProcessResult) -> list[str]:
    return [event.step_key for event in result.all_events if event.is_step_success]


def failures(result: Any) -> list[str]:
    found = []
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data.user_failure_data
            found.append(data.description if data else event.step_failure_data.error.to_string())
    return found


def materializations(
    result: dg.ExecuteInProcessResult,
) -> dict[dg.AssetKey, Mapping[str, Any]]:
    return {
        event.asset_key: {k: v.value for k, v in event.materialization.metadata.items()}
        for event in result.all_events
        if event.is_step_materialization
    }


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {e.check_name: e for e in result.get_asset_check_evaluations()}


def texts(values: Sequence[Any]) -> str:
    return "\n".join(map(str, values))
