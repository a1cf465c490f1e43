from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from kaireon_dagster.state import Database, Run, RunUnknown, pipelines, runs

MINUTE = timedelta(minutes=1)


def register(database: Database, pipeline_id: str = "orders") -> None:
    with database.connect() as connection:
        pipelines.register(connection, pipeline_id, "acme", "Orders", '{"id": 1}', "h1")


def open_run(database: Database, run_id: str = "r1", targets: tuple[str, ...] = ("a", "b")) -> bool:
    with database.connect() as connection:
        return runs.open_run(connection, run_id, "orders", "acme", "h1", targets)


def read_run(database: Database, run_id: str = "r1") -> Run:
    with database.connect() as connection:
        run = runs.get_run(connection, run_id)
    assert run is not None
    return run


def read_pipeline(database: Database, column: str) -> object:
    with database.connect() as connection:
        row = connection.execute(
            f"SELECT {column} FROM flow.pipelines WHERE id = 'orders'"
        ).fetchone()
    assert row is not None
    return row[0]


def test_registering_again_keeps_when_it_came_and_when_it_ran(database: Database) -> None:
    register(database)
    open_run(database)
    before = read_pipeline(database, '("createdAt", "lastRunAt")')
    with database.connect() as connection:
        pipelines.register(connection, "orders", "acme", "New name", '{"id": 2}', "h2")
    assert read_pipeline(database, '("createdAt", "lastRunAt")') == before
    assert read_pipeline(database, '(name, "irHash", ir::text)') == ("New name", "h2", '{"id": 2}')


def test_first_step_opens_the_run_and_the_others_join_it(database: Database) -> None:
    register(database)
    assert open_run(database) is True
    started = read_pipeline(database, '"lastRunAt"')
    assert open_run(database) is False
    run = read_run(database)
    assert (run.status, run.pipeline_id, run.tenant_id) == ("running", "orders", "acme")
    assert run.metadata["targets"] == ["a", "b"]
    assert run.metadata["irVersion"] == "h1"
    assert started == run.started_at == read_pipeline(database, '"lastRunAt"')
    assert read_pipeline(database, '"lastRunStatus"') == "running"


def test_resumed_run_goes_on_without_counting_as_a_start(database: Database) -> None:
    register(database)
    open_run(database)
    with database.connect() as connection:
        assert runs.fail_run(connection, "r1", "lost the connection") is True
    failed = read_run(database)
    assert (failed.status, failed.metadata["error"]) == ("failed", "lost the connection")
    assert failed.finished_at is not None
    assert read_pipeline(database, '"lastRunStatus"') == "failed"

    assert open_run(database) is False
    resumed = read_run(database)
    assert (resumed.status, resumed.finished_at) == ("running", None)
    assert "error" not in resumed.metadata
    assert read_pipeline(database, '"lastRunAt"') == failed.started_at
    assert read_pipeline(database, '"lastRunStatus"') == "running"


def test_completed_run_is_neither_opened_nor_closed_again(database: Database) -> None:
    register(database)
    open_run(database)
    with database.connect() as connection:
        assert runs.close_run(connection, "r1", "completed", {"backup": {"table": "x"}}) is True
        assert runs.close_run(connection, "r1", "completed_with_errors") is False
        assert runs.fail_run(connection, "r1", "too late") is False
    assert open_run(database) is False
    run = read_run(database)
    assert (run.status, run.metadata["backup"]) == ("completed", {"table": "x"})


def test_earlier_run_that_ends_later_does_not_speak_for_the_pipeline(database: Database) -> None:
    register(database)
    open_run(database, "r1")
    open_run(database, "r2")
    with database.connect() as connection:
        runs.close_run(connection, "r2", "completed")
    with database.connect() as connection:
        runs.fail_run(connection, "r1", "slow and broken")
    assert read_pipeline(database, '"lastRunStatus"') == "completed"


def test_last_target_sees_that_all_are_done_and_sees_it_again(database: Database) -> None:
    open_run(database)
    with database.connect() as connection:
        assert runs.finish_target(connection, "r1", "a") is False
        assert runs.finish_target(connection, "r1", "a") is False
        assert runs.finish_target(connection, "r1", "b") is True
        assert runs.finish_target(connection, "r1", "a") is True
    assert sorted(read_run(database).metadata["finishedTargets"]) == ["a", "b"]


def test_rolled_back_target_is_not_done(database: Database) -> None:
    open_run(database)
    with database.connect() as connection:
        runs.finish_target(connection, "r1", "a")
        connection.rollback()
        assert runs.finish_target(connection, "r1", "b") is False


@pytest.mark.parametrize("attempt", range(5))
def test_of_targets_that_finish_together_exactly_one_is_last(
    database: Database, attempt: int
) -> None:
    targets = tuple("abcdef")
    open_run(database, targets=targets)
    barrier, last = threading.Barrier(len(targets)), []

    def finish(node: str) -> None:
        with database.connect() as connection:
            barrier.wait()
            last.append(runs.finish_target(connection, "r1", node))

    threads = [threading.Thread(target=finish, args=(node,)) for node in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(last) == [False] * 5 + [True]


def test_node_results_sum_to_the_run_and_a_retry_replaces_its_own(database: Database) -> None:
    open_run(database)
    with database.connect() as connection:
        runs.record_node(connection, "r1", "src", {"rowsRead": 0, "rowsIn": 0, "status": "ok"})
        runs.record_node(connection, "r1", "src", {"rowsRead": 10, "rowsIn": 10, "rowsOut": 10})
        runs.record_node(
            connection, "r1", "a", {"rowsIn": 10, "rowsLoaded": 7, "rowsQuarantined": 3}
        )
        runs.record_node(connection, "r1", "b", {"rowsIn": 7, "rowsLoaded": 0, "warnings": ["w"]})
    run = read_run(database)
    assert (run.rows_in, run.rows_loaded, run.rows_quarantined) == (10, 7, 3)
    assert run.metadata["nodeResults"]["b"] == {"rowsIn": 7, "rowsLoaded": 0, "warnings": ["w"]}


def test_nodes_recorded_at_the_same_time_are_all_kept(database: Database) -> None:
    open_run(database)
    barrier = threading.Barrier(6)

    def record(number: int) -> None:
        with database.connect() as connection:
            barrier.wait()
            runs.record_node(connection, "r1", f"n{number}", {"rowsLoaded": 2})

    threads = [threading.Thread(target=record, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = read_run(database)
    assert (len(run.metadata["nodeResults"]), run.rows_loaded) == (6, 12)


@pytest.mark.parametrize(
    "work", [runs.finish_target, lambda c, r, n: runs.record_node(c, r, n, {})]
)
def test_unknown_run_is_an_error(database: Database, work: object) -> None:
    with database.connect() as connection, pytest.raises(RunUnknown, match="'r9'"):
        work(connection, "r9", "a")  # type: ignore[operator]


def test_heart_that_stopped_is_seen_and_one_that_beats_lives(database: Database) -> None:
    open_run(database)
    with database.connect() as connection:
        assert runs.is_live(connection, "r1", MINUTE) is True
        connection.execute(
            """UPDATE flow.pipeline_runs SET "heartbeatAt" = now() - interval '2 minutes'"""
        )
        assert runs.is_live(connection, "r1", MINUTE) is False
        runs.beat(connection, "r1")
        assert runs.is_live(connection, "r1", MINUTE) is True
        runs.close_run(connection, "r1", "completed")
        assert runs.is_live(connection, "r1", MINUTE) is False
        assert runs.is_live(connection, "r9", MINUTE) is False


def test_heartbeat_does_not_wait_for_a_load_that_holds_the_row(database: Database) -> None:
    open_run(database)
    with database.connect() as load, database.connect() as heart:
        runs.finish_target(load, "r1", "a")
        heart.execute("SET LOCAL lock_timeout = '1s'")
        runs.beat(heart, "r1")


def test_run_that_was_never_opened_is_none(database: Database) -> None:
    with database.connect() as connection:
        assert runs.get_run(connection, "r9") is None


def test_stores_follow_the_connection_to_another_schema(empty_database: Database) -> None:
    from kaireon_dagster.state import migrate

    other = Database(empty_database.conninfo, schema="elsewhere")
    migrate(other)
    assert open_run(other) is True
    assert read_run(other).status == "running"


def test_each_execution_takes_a_failed_run_up_once(database: Database) -> None:
    def take_up(execution: str) -> None:
        with database.connect() as connection:
            runs.open_run(connection, "r1", "orders", "acme", "h1", ("a",), execution=execution)

    def fail() -> None:
        with database.connect() as connection:
            runs.fail_run(connection, "r1", "no such table")

    take_up("first")
    fail()
    take_up("first")
    assert read_run(database).status == "failed"
    take_up("second")
    assert read_run(database).status == "running"
    assert read_run(database).metadata["dagsterRunId"] == "second"
    take_up("third")
    fail()
    take_up("third")
    assert read_run(database).status == "failed"


def test_run_that_waits_is_alive_until_its_wait_is_over(database: Database) -> None:
    open_run(database)
    with database.connect() as connection:
        runs.beat(connection, "r1", ahead=timedelta(hours=1))
        assert runs.is_live(connection, "r1", timedelta(minutes=-50))
        runs.beat(connection, "r1")
        assert not runs.is_live(connection, "r1", timedelta(minutes=-50))
