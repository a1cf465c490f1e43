"""The commands that people type, and processes that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from kaireon_dagster_tests.orchestration.bench import QUIET, Bench, failures
from kaireon_dagster_tests.orchestration.jobs import find_job


@pytest.fixture
def environment(bench: Bench) -> dict[str, str]:
    home = bench.folder / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    return {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "FLOW_DATABASE_URL": bench.database.conninfo,
        "TEST_URL": bench.database.conninfo,
        "FLOW_PIPELINES": str(bench.pipelines),
    }


def dagster(environment: dict[str, str], *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("dagster")), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_asset_materialize_and_job_execute_load_the_same_rows(
    bench: Bench, environment: dict[str, str]
) -> None:
    bench.write()
    (bench.pipelines / "broken.json").write_text("{}")
    bench.drop()
    module = ("-m", "kaireon_dagster.definitions")
    dagster(environment, "asset", "materialize", "--select", "*", *module)
    assert bench.fetch("SELECT id FROM public.ds_orders ORDER BY 1") == [("1",), ("3",)]
    bench.drop("b.csv", "id,amount\n8,8\n")
    dagster(environment, "job", "execute", "-j", "orders_ingest", *module)
    assert bench.fetch("SELECT id FROM public.ds_orders ORDER BY 1") == [("1",), ("3",), ("8",)]


@pytest.mark.parametrize("executor", ["multiprocess"])
def test_run_whose_process_is_killed_resumes_and_loads_once(
    bench: Bench, environment: dict[str, str], executor: str
) -> None:
    bench.write()
    bench.drop()
    bench.do("CREATE TABLE public.ds_orders (id text, amount text)")
    environment["TEST_JOB"] = f"{bench.pipelines}|orders_ingest|{executor}"
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%%' AND wait_event_type = 'Lock'"
    with bench.database.connect() as holder:
        holder.execute("LOCK TABLE public.ds_orders IN ACCESS EXCLUSIVE MODE")
        worker = subprocess.Popen(
            [sys.executable, "-m", "kaireon_dagster_tests.orchestration.jobs"],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(bench, waiting.replace("%%", "%"), (1,))
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    until(
        bench, "SELECT count(*) FROM pg_locks WHERE relation = 'public.ds_orders'::regclass", (0,)
    )
    assert bench.fetch("SELECT count(*) FROM public.ds_orders") == [(0,)]
    assert bench.status() == [("orders-ingest", "running")]
    with dg.DagsterInstance.from_config(environment["DAGSTER_HOME"]) as instance:
        (run,) = instance.get_runs()
        instance.report_run_failed(run)
        os.environ["TEST_URL"] = bench.database.conninfo
        result = dg.execute_job(
            find_job(str(bench.pipelines), "orders_ingest"),
            instance=instance,
            run_config=QUIET,
            reexecution_options=dg.ReexecutionOptions.from_failure(run.run_id, instance),
        )
        assert result.success, failures(result)
    assert bench.fetch("SELECT id FROM public.ds_orders ORDER BY 1") == [("1",), ("3",)]
    assert bench.fetch("SELECT count(*) FROM dlq.orders") == [(1,)]
    assert bench.status() == [("orders-ingest", "completed_with_errors")]
    assert (bench.inbox / ".archive" / "a.csv").exists()


def until(bench: Bench, query: str, row: tuple[int, ...]) -> None:
    deadline = time.monotonic() + 60
    while bench.fetch(query) != [row]:
        assert time.monotonic() < deadline, query
        time.sleep(0.1)
