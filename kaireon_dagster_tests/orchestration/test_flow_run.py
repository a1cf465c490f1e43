from __future__ import annotations

import time
from datetime import timedelta

import dagster as dg
import pytest

from kaireon_dagster.orchestration.flow_run import find_run_id
from kaireon_dagster.orchestration.heart import Heart
from kaireon_dagster.state import Database, runs


@pytest.fixture
def instance() -> dg.DagsterInstance:
    return dg.DagsterInstance.ephemeral()


def add_run(
    instance: dg.DagsterInstance, parent: dg.DagsterRun | None = None, job: str = "orders"
) -> dg.DagsterRun:
    root = (parent.root_run_id or parent.run_id) if parent else None
    run = dg.DagsterRun(
        job_name=job, root_run_id=root, parent_run_id=parent.run_id if parent else None
    )
    instance.add_run(run)
    return run


def find(database: Database, instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    with database.connect() as connection:
        return find_run_id(connection, instance, run, "orders", "orders")


def open_run(database: Database, run_id: str, execution: str) -> None:
    with database.connect() as connection:
        runs.open_run(connection, run_id, "orders", "t", "h", ("a",), execution=execution)


def close(database: Database, run_id: str, how: runs.Outcome) -> None:
    with database.connect() as connection:
        runs.close_run(connection, run_id, how)


def test_first_run_is_its_own(database: Database, instance: dg.DagsterInstance) -> None:
    run = add_run(instance)
    assert find(database, instance, run) == run.run_id


def test_re_execution_goes_on_with_its_root(
    database: Database, instance: dg.DagsterInstance
) -> None:
    root = add_run(instance)
    again = add_run(instance, add_run(instance, root))
    open_run(database, root.run_id, root.run_id)
    close(database, root.run_id, "failed")
    assert find(database, instance, again) == root.run_id


def test_re_execution_of_a_completed_run_is_its_own_and_stays_so(
    database: Database, instance: dg.DagsterInstance
) -> None:
    root = add_run(instance)
    open_run(database, root.run_id, root.run_id)
    close(database, root.run_id, "completed_with_errors")
    second = add_run(instance, root)
    assert find(database, instance, second) == second.run_id
    open_run(database, second.run_id, second.run_id)
    close(database, second.run_id, "failed")
    third = add_run(instance, second)
    assert find(database, instance, third) == second.run_id


def test_last_step_finds_the_run_that_it_completed_itself(
    database: Database, instance: dg.DagsterInstance
) -> None:
    root = add_run(instance)
    open_run(database, root.run_id, root.run_id)
    close(database, root.run_id, "failed")
    second = add_run(instance, root)
    open_run(database, root.run_id, second.run_id)
    close(database, root.run_id, "completed")
    assert find(database, instance, second) == root.run_id


def test_run_of_several_pipelines_is_a_run_of_each(
    database: Database, instance: dg.DagsterInstance
) -> None:
    run = add_run(instance, job="everything")
    assert find(database, instance, run) == f"{run.run_id}.orders"
    with database.connect() as connection:
        long = find_run_id(connection, instance, run, "x" * 100, "other")
    assert len(long) <= 100


def test_heart_beats_while_the_step_works(database: Database) -> None:
    open_run(database, "r1", "r1")
    with database.connect() as connection:
        runs.beat(connection, "r1", ahead=timedelta(hours=-1))
    with Heart(database, "r1", every=0.05), database.connect() as connection:
        deadline = time.monotonic() + 10
        while not runs.is_live(connection, "r1", timedelta(minutes=1)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
            connection.rollback()
