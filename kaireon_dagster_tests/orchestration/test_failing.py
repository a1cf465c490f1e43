from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import dagster as dg
import pytest

from kaireon_dagster.orchestration import FlowDatabase
from kaireon_dagster.state import Database
from kaireon_dagster_tests.orchestration.bench import (
    QUIET,
    Bench,
    checks,
    failures,
    steps_done,
    target,
)
from kaireon_dagster_tests.orchestration.jobs import find_job

TRIGGER = """
CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') <= {times} THEN
        RAISE EXCEPTION 'made to fail' USING ERRCODE = '{state}';
    END IF;
    RETURN NULL;
END $$
"""


@pytest.fixture
def kept(bench: Bench, database: Database, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose jobs can be built anew, as a re-execution does."""
    monkeypatch.setenv("TEST_URL", database.conninfo)
    return bench


def execute(bench: Bench, again: str | None = None, **options: Any) -> Any:
    edition = str(hash(tuple(path.read_text() for path in bench.pipelines.iterdir())))
    job = find_job(str(bench.pipelines), "orders_ingest", edition=edition)
    if again:
        options["reexecution_options"] = dg.ReexecutionOptions.from_failure(again, bench.instance)
    return dg.execute_job(job, instance=bench.instance, run_config=QUIET, **options)


def fail_first(bench: Bench, state: str, times: int = 1) -> None:
    """Make the server refuse the first loads into the target."""
    bench.do(
        "CREATE TABLE public.ds_orders (id text, amount text)",
        "CREATE SEQUENCE tries",
        TRIGGER.format(state=state, times=times),
        "CREATE TRIGGER t AFTER INSERT ON public.ds_orders EXECUTE FUNCTION fail_once()",
    )


def retry(attempts: int) -> dict[str, Any]:
    return {"retry": {"maxAttempts": attempts, "delaySeconds": 0, "maxDelaySeconds": 0}}


def retries(result: Any) -> int:
    return sum(event.event_type_value == "STEP_UP_FOR_RETRY" for event in result.all_events)


@pytest.mark.parametrize("state", ["40001", "40P01", "53300", "55P03", "57P01", "08006"])
def test_faults_that_may_pass_are_tried_again(bench: Bench, state: str) -> None:
    fail_first(bench, state)
    bench.write(errorHandling=retry(1))
    bench.drop()
    result = bench.run()
    assert result.success, failures(result)
    assert retries(result) == 1
    assert bench.fetch("SELECT count(*) FROM public.ds_orders") == [(2,)]
    assert bench.fetch("SELECT count(*) FROM dlq.orders") == [(1,)]


def test_tries_are_those_of_the_document_and_then_the_run_has_failed(bench: Bench) -> None:
    fail_first(bench, "40001", times=9)
    bench.write(errorHandling=retry(2))
    bench.drop()
    result = bench.run()
    assert not result.success
    assert retries(result) == 2
    assert bench.fetch("SELECT last_value FROM tries") == [(3,)]
    assert bench.status() == [("orders-ingest", "failed")]
    assert (bench.inbox / ".failed" / "a.csv").exists()


@pytest.mark.parametrize("state", ["23505", "42P01", "22P02", "42501", "28P01"])
def test_faults_that_stay_get_one_try_and_no_run_retry(bench: Bench, state: str) -> None:
    fail_first(bench, state)
    bench.write(errorHandling=retry(5))
    bench.drop()
    result = bench.run()
    assert not result.success
    assert retries(result) == 0
    run = bench.instance.get_run_by_id(result.run_id)
    assert run is not None
    assert run.tags["dagster/max_retries"] == "0"
    assert bench.status() == [("orders-ingest", "failed")]


def test_failure_is_told_in_our_words_alone(bench: Bench) -> None:
    bench.write(
        bench.source(),
        {
            "id": "t",
            "kind": "transform",
            "input": "src",
            "ops": [{"type": "cast", "field": "amount", "to": "integer", "onError": "fail"}],
        },
        target("public.t", input="t"),
    )
    bench.drop(text="id,amount\n1,s3cret-value\n")
    result = bench.run()
    (told,) = failures(result)
    assert "node 't'" in told
    assert "a.csv:2" in told
    everything = "\n".join(
        entry.to_json() if hasattr(entry, "to_json") else repr(entry)
        for entry in bench.instance.all_logs(result.run_id)
    )
    assert "s3cret-value" not in everything
    (row,) = bench.fetch("SELECT metadata ->> 'error' FROM flow.pipeline_runs")
    assert row[0] == told


def test_broken_rule_that_aborts_leaves_a_failed_check(bench: Bench) -> None:
    bench.write()
    bench.drop(text="id,amount\n")
    result = bench.run()
    assert not result.success
    assert not checks(result)["v__rowCount"].passed
    assert checks(result)["v__rowCount"].severity == dg.AssetCheckSeverity.ERROR
    assert "rowCount" in failures(result)[0]


def test_broken_rule_of_a_staged_node_fails_the_checks_of_its_targets(bench: Bench) -> None:
    rule = {"id": "positive", "field": "amount", "rule": "gt:0", "onFail": "abort"}
    bench.write(
        bench.source(),
        {"id": "v", "kind": "validate", "input": "src", "rowLevel": [rule], "checkpoint": True},
        target("public.a", "a", "v"),
        target("public.b", "b", "v"),
    )
    bench.drop()
    result = bench.run()
    assert not result.success
    found = result.get_asset_check_evaluations()
    assert sorted((e.asset_key.path[-1], e.passed) for e in found) == [("a", False), ("b", False)]
    assert found[0].metadata["rows"].value == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"errorHandling": {"onFailure": "continue"}}, "onFailure 'continue'"),
        ({"target": {"loadMode": "blue_green"}}, "loadMode 'blue_green'"),
        ({"target": {"postHook": {"type": "sql", "statement": "ANALYZE"}}}, "a hook"),
        ({"source": {"format": "avro"}}, "format 'avro'"),
        ({"op": {"type": "sentiment_score", "field": "id", "into": "x"}}, "op 'sentiment_score'"),
    ],
)
def test_what_cannot_run_yet_says_so_and_leaves_the_files(
    bench: Bench, change: dict[str, Any], told: str
) -> None:
    op = change.pop("op", {"type": "drop", "fields": ["id"]})
    bench.write(
        bench.source(**change.pop("source", {})),
        {"id": "t", "kind": "transform", "input": "src", "ops": [op]},
        target("public.t", input="t", **change.pop("target", {})),
        **change,
    )
    bench.drop()
    result = bench.run()
    assert told in failures(result)[0]
    assert "cannot run in this release" in failures(result)[0]
    assert (bench.inbox / "a.csv").exists()


def test_files_are_waited_for_and_missed(bench: Bench) -> None:
    policy = {"maxRetries": 2, "intervalMinutes": 0, "onMissAction": "fail"}
    bench.write(bench.source(waitPolicy=policy), target("public.t"))
    result = bench.run()
    assert retries(result) == 2
    assert "file arrival deadline missed" in failures(result)[0]
    assert bench.status() == [("orders-ingest", "failed")]


def test_waiting_uses_up_no_retries(bench: Bench) -> None:
    policy = {"maxRetries": 3, "intervalMinutes": 0, "onMissAction": "skip"}
    fail_first(bench, "40001")
    bench.write(bench.source(waitPolicy=policy), target("public.ds_orders"), errorHandling=retry(1))
    result = bench.run()
    assert result.success, failures(result)
    assert retries(result) == 3


def test_resumes_after_the_last_durable_step(kept: Bench) -> None:
    rule = {"id": "positive", "field": "amount", "rule": "gt:0", "onFail": "quarantine"}
    kept.write(
        kept.source(),
        {
            "id": "v",
            "kind": "validate",
            "input": "src",
            "rowLevel": [rule],
            "quarantine": {"table": "dlq.orders"},
            "checkpoint": True,
        },
        target("public.ds_orders", input="v"),
    )
    kept.do("CREATE TABLE public.ds_orders (id text, amount text, must text NOT NULL)")
    kept.drop()
    first = execute(kept)
    assert not first.success
    assert steps_done(first) == ["flow__orders_ingest.src", "flow__orders_ingest.v"]
    kept.do("ALTER TABLE public.ds_orders DROP COLUMN must")
    kept.drop("later.csv")
    second = execute(kept, again=first.run_id)
    assert second.success, failures(second)
    assert steps_done(second) == ["flow__orders_ingest.tgt"]
    assert kept.fetch("SELECT id FROM public.ds_orders ORDER BY 1") == [("1",), ("3",)]
    assert kept.fetch("SELECT count(*) FROM dlq.orders") == [(1,)]
    assert kept.status() == [("orders-ingest", "completed_with_errors")]
    assert kept.fetch("SELECT id FROM flow.pipeline_runs") == [(first.run_id,)]
    assert (kept.inbox / ".archive" / "a.csv").exists()
    assert (kept.inbox / "later.csv").exists()


def test_resumes_with_the_files_of_a_run_that_had_set_them_aside(kept: Bench) -> None:
    kept.write()
    kept.do("CREATE TABLE public.ds_orders (id text, amount text, must text NOT NULL)")
    kept.drop()
    first = execute(kept)
    assert (kept.inbox / ".failed" / "a.csv").exists()
    again = execute(kept, again=first.run_id)
    assert not again.success
    assert (kept.inbox / ".failed" / "a.csv").exists()
    kept.do("ALTER TABLE public.ds_orders DROP COLUMN must")
    last = execute(kept, again=again.run_id)
    assert last.success, failures(last)
    assert steps_done(last) == ["flow__orders_ingest.tgt"]
    assert kept.fetch("SELECT count(*) FROM public.ds_orders") == [(2,)]
    assert (kept.inbox / ".archive" / "a.csv").exists()
    assert not (kept.inbox / ".failed" / "a.csv").exists()


def test_resumes_one_of_two_targets(kept: Bench) -> None:
    kept.write(kept.source(), target("public.a", "a"), target("public.b", "b"))
    kept.do("CREATE TABLE public.b (id text, amount text, must text NOT NULL)")
    kept.drop()
    first = execute(kept)
    assert not first.success
    kept.do("ALTER TABLE public.b DROP COLUMN must")
    second = execute(kept, again=first.run_id)
    assert second.success, failures(second)
    assert kept.fetch("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)") == [(3, 3)]
    assert kept.status() == [("orders-ingest", "completed")]


def test_mended_document_goes_on_with_the_files_of_its_run(kept: Bench) -> None:
    drop = {"id": "t", "kind": "transform", "input": "src"}
    wrong, right = [{**drop, "ops": [{"type": "drop", "fields": [f]}]} for f in ("amuont", "id")]
    kept.write(kept.source(), wrong, target("public.ds_orders", input="t"))
    kept.drop()
    first = execute(kept)
    assert "amuont" in failures(first)[0]
    kept.write(kept.source(), right, target("public.ds_orders", input="t"))
    second = execute(kept, again=first.run_id)
    assert second.success, failures(second)
    assert kept.fetch("SELECT count(*) FROM public.ds_orders") == [(3,)]
    assert (kept.inbox / ".archive" / "a.csv").exists()


@pytest.mark.parametrize("place", ["where the run had put it", "in the inbox"])
def test_mended_file_is_loaded_as_it_is_now(kept: Bench, place: str) -> None:
    cast = [{"type": "cast", "field": "amount", "to": "integer", "onError": "fail"}]
    transform = {"id": "t", "kind": "transform", "input": "src", "ops": cast}
    kept.write(kept.source(), transform, target("public.ds_orders", input="t"))
    kept.drop(text="id,amount\n1,ten\n")
    first = execute(kept)
    assert not first.success
    failed = kept.inbox / ".failed" / "a.csv"
    failed.write_text("id,amount\n1,10\n2,20\n")
    if place == "in the inbox":
        failed.rename(kept.inbox / "a.csv")
    second = dg.execute_job(
        find_job(str(kept.pipelines), "orders_ingest"),
        instance=kept.instance,
        run_config=QUIET,
        reexecution_options=dg.ReexecutionOptions(parent_run_id=first.run_id),
    )
    assert second.success, failures(second)
    assert kept.fetch("SELECT amount FROM public.ds_orders ORDER BY 1") == [(10,), (20,)]


def test_doing_all_of_a_completed_run_again_is_new_work(kept: Bench) -> None:
    kept.write()
    kept.drop()
    first = execute(kept)
    kept.drop("b.csv", "id,amount\n8,8\n")
    second = dg.execute_job(
        find_job(str(kept.pipelines), "orders_ingest"),
        instance=kept.instance,
        run_config=QUIET,
        reexecution_options=dg.ReexecutionOptions(parent_run_id=first.run_id),
    )
    assert second.success, failures(second)
    assert kept.fetch("SELECT id FROM public.ds_orders ORDER BY 1") == [("1",), ("3",), ("8",)]
    assert {row[0] for row in kept.fetch("SELECT id FROM flow.pipeline_runs")} == {
        first.run_id,
        second.run_id,
    }


def test_terminated_run_ends_its_statement_and_its_run_row(bench: Bench) -> None:
    bench.write()
    bench.do(
        "CREATE TABLE public.ds_orders (id text, amount text)",
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$",
        "CREATE TRIGGER t AFTER INSERT ON public.ds_orders EXECUTE FUNCTION wait()",
    )
    bench.drop()
    busy = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

    def interrupt() -> None:
        while bench.fetch(busy) == [(0,)]:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    began = time.monotonic()
    result = bench.run()
    assert not result.success
    assert time.monotonic() - began < 30
    assert bench.fetch(busy) == [(0,)]
    assert bench.status() == [("orders-ingest", "failed")]
    (row,) = bench.fetch("SELECT metadata ->> 'error' FROM flow.pipeline_runs")
    assert "terminated" in row[0]
    assert bench.fetch("SELECT count(*) FROM public.ds_orders") == [(0,)]


def test_secrets_stand_nowhere(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_URL", "postgresql://u:s3cret-word@127.0.0.1:1/x")
    bench.write(errorHandling=retry(1))
    bench.drop()
    defs = bench.definitions(resources={"database": FlowDatabase(url=dg.EnvVar("SECRET_URL"))})
    result = defs.resolve_job_def("orders_ingest").execute_in_process(
        instance=bench.instance, raise_on_error=False
    )
    assert not result.success
    assert retries(result) == 1
    assert "nothing listens there" in failures(result)[0]
    run = bench.instance.get_run_by_id(result.run_id)
    entries = [repr(entry) for entry in bench.instance.all_logs(result.run_id)]
    assert "s3cret-word" not in "\n".join([repr(run), *entries])


def test_unexpected_errors_are_retold_without_their_text(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise KeyError("value of a row")

    monkeypatch.setattr("kaireon_dagster.engine.load.load_target", fail)
    bench.write()
    bench.drop()
    result = bench.run()
    (told,) = failures(result)
    assert "unexpected KeyError at" in told
    entries = [repr(entry) for entry in bench.instance.all_logs(result.run_id)]
    assert "value of a row" not in "\n".join(entries)
    assert bench.status() == [("orders-ingest", "failed")]


def test_steps_of_a_run_that_has_failed_take_no_files(bench: Bench) -> None:
    other = bench.folder / "other"
    other.mkdir()
    (other / "x.csv").write_text("id\n1\n")
    policy = {"maxRetries": 0, "intervalMinutes": 0, "onMissAction": "fail"}
    bench.write(
        bench.source("first", waitPolicy=policy),
        bench.source("second", path=str(other)),
        target("public.a", "a", "first"),
        target("public.b", "b", "second"),
    )
    result = bench.run()
    assert not result.success
    assert [told for told in failures(result) if "has failed in another step" in told]
    assert (other / "x.csv").exists()
    assert bench.status() == [("orders-ingest", "failed")]
