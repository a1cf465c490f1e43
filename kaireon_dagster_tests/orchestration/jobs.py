"""Jobs that other processes, and re-executions, can build for themselves."""

from __future__ import annotations

import os
from typing import Any

import dagster as dg

from kaireon_dagster.orchestration import FlowDatabase, flow_definitions


def build_job(
    pipelines: str, name: str, executor: str = "in_process", edition: str = ""
) -> dg.JobDefinition:
    executors = {"in_process": dg.in_process_executor, "multiprocess": dg.multiprocess_executor}
    defs = flow_definitions(
        pipelines,
        resources={"database": FlowDatabase(url=dg.EnvVar("TEST_URL"))},
        executor=executors[executor],
    )
    return defs.resolve_job_def(name)


def find_job(pipelines: str, name: str, executor: str = "in_process", edition: str = "") -> Any:
    """A job as Dagster remembers it; a document that changed needs another edition."""
    return dg.build_reconstructable_job(
        "kaireon_dagster_tests.orchestration.jobs",
        "build_job",
        reconstructable_args=(pipelines, name, executor, edition),
    )


def main(pipelines: str, name: str, executor: str) -> None:
    """Run a job in the instance of DAGSTER_HOME."""
    with dg.DagsterInstance.get() as instance:
        result = dg.execute_job(find_job(pipelines, name, executor), instance=instance)
        print(result.run_id, result.success)


if __name__ == "__main__":
    main(*os.environ["TEST_JOB"].split("|"))
