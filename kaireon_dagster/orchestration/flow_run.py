"""Which Flow run a Dagster run works on.

A re-execution goes on with the Flow run of its root, as long as that has not completed. One of a
run that has completed is new work, under its own id. A Dagster run of several pipelines is a Flow
run of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import dagster as dg

from kaireon_dagster.ir import fold_id
from kaireon_dagster.orchestration.names import digest
from kaireon_dagster.state import Connection, runs

_LONGEST: Final = 50
_DONE: Final = ("completed", "completed_with_errors")


def find_run_id(
    connection: Connection,
    instance: dg.DagsterInstance,
    run: dg.DagsterRun,
    pipeline_id: str,
    job: str,
) -> str:
    """Find the id of the Flow run that this Dagster run works on, the same in all its steps.

    Args:
        connection: to Flow's tables.
        instance: knows the ancestors of a re-execution.
        run: the Dagster run.
        pipeline_id: id of the document.
        job: the document's own job.
    """
    own = "" if run.job_name == job else f".{_short(pipeline_id)}"
    for execution in _from_root(instance, run):
        row = runs.get_run(connection, f"{execution}{own}")
        is_ours = row is not None and row.metadata.get("dagsterRunId") == run.run_id
        if row is not None and (is_ours or row.status not in _DONE):
            return row.id
    return f"{run.run_id}{own}"


def _from_root(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Iterator[str]:
    line = [run.run_id]
    parent = run.parent_run_id
    while parent is not None and parent not in line:
        line.append(parent)
        found = instance.get_run_by_id(parent)
        parent = found.parent_run_id if found else None
    if run.root_run_id is not None and run.root_run_id not in line:
        line.append(run.root_run_id)
    return reversed(line)


def _short(pipeline_id: str) -> str:
    folded = fold_id(pipeline_id)
    if len(folded) <= _LONGEST:
        return folded
    return f"{folded[:_LONGEST]}_{digest(pipeline_id)}"
