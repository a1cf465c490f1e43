from __future__ import annotations

import time
from pathlib import Path

import dagster as dg
import pytest

from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.orchestration import FlowDatabase, RunReport, StepEvent, execute
from kaireon_dagster_tests.orchestration.bench import Bench, target


def run(bench: Bench, path: Path, events: list[StepEvent] | None = None) -> RunReport:
    database = FlowDatabase(url=bench.database.conninfo)
    seen = events if events is not None else []
    return execute(path, database=database, instance=bench.instance, on_event=seen.append)


def test_report_says_what_became_of_the_rows(bench: Bench) -> None:
    path = bench.write()
    bench.drop()
    report = run(bench, path).to_json()
    assert report["status"] == "completed_with_errors"
    assert report["rows"] == {
        "read": 3,
        "loaded": 2,
        "inserted": 2,
        "updated": 0,
        "quarantined": 1,
        "rejected": 0,
        "filtered": 0,
        "deduplicated": 0,
    }
    assert [(s["node"], s["kind"]) for s in report["steps"]] == [("src", "claim"), ("tgt", "load")]
    assert all(step["seconds"] > 0 for step in report["steps"])
    assert report["targets"] == [{"table": "public.ds_orders", "loaded": 2}]
    assert report["quarantine"] == [{"table": "dlq.orders", "rows": 1}]
    assert report["error"] is None
    assert bench.instance.get_run_by_id(report["runId"]) is not None


def test_failure_is_reported_with_its_error(bench: Bench) -> None:
    drop = {"type": "drop", "fields": ["amuont"]}
    transform = {"id": "t", "kind": "transform", "input": "src", "ops": [drop]}
    path = bench.write(bench.source(), transform, target("public.t", input="t"))
    bench.drop()
    events: list[StepEvent] = []
    report = run(bench, path, events)
    assert report.status == "failed"
    assert report.error is not None
    assert "did you mean 'amount'?" in report.error
    assert set(report.rows.values()) == {0}
    assert [event.state for event in events] == ["started", "finished", "started", "failed"]


def test_events_come_while_it_works(bench: Bench) -> None:
    path = bench.write()
    bench.drop()
    events: list[StepEvent] = []
    run(bench, path, events)
    assert [(event.step, event.state, event.message) for event in events] == [
        ("src", "started", ""),
        ("src", "finished", "1 file"),
        ("tgt", "started", ""),
        ("tgt", "finished", "2 rows loaded"),
    ]


def test_unreachable_database_is_a_failed_run(bench: Bench) -> None:
    path = bench.write()
    report = execute(path, database=FlowDatabase(url="postgresql://u:pw@127.0.0.1:1/x"))
    assert report.status == "failed"
    assert report.error is not None
    assert "nothing listens there" in report.error
    assert "pw" not in report.error


def test_invalid_document_is_refused(bench: Bench) -> None:
    path = bench.pipelines / "bad.json"
    path.write_text("{}")
    with pytest.raises(DocumentInvalid):
        execute(path)


@dg.op
def nothing() -> None:
    pass


@dg.job(executor_def=dg.in_process_executor)
def bare() -> None:
    nothing()


def test_small_document_costs_little_more_than_a_bare_run(bench: Bench) -> None:
    path = bench.write()
    bench.drop()
    run(bench, path)
    bare.execute_in_process(instance=bench.instance)
    added = []
    for number in range(3):
        bench.drop(f"{number}.csv")
        # Time of this process alone: others may keep the machine busy meanwhile.
        began = time.process_time()
        bare.execute_in_process(instance=bench.instance)
        between = time.process_time()
        bench.run()
        added.append(time.process_time() - between - (between - began))
    assert min(added) <= 1.0


def test_a_failed_step_is_listed_and_what_it_had_read_is_counted(bench: Bench) -> None:
    path = bench.write(errorHandling={"dlq": {"enabled": True, "maxRows": 0}})
    bench.drop()
    events: list[StepEvent] = []
    report = run(bench, path, events)
    assert report.status == "failed"
    assert report.rows["read"] == 3
    assert sum(report.rows.values()) == 3
    assert [(step.node, step.kind) for step in report.steps] == [("src", "claim"), ("tgt", "load")]
    assert report.steps[-1].seconds > 0
    assert (events[-1].state, events[-1].read) == ("failed", 3)


def test_a_row_that_stops_the_load_has_been_read(bench: Bench) -> None:
    rule = {"id": "positive", "field": "amount", "rule": "gt:0", "onFail": "abort"}
    check = {"id": "v", "kind": "validate", "input": "src", "rowLevel": [rule]}
    path = bench.write(bench.source(), check, target("public.t", input="v"))
    bench.drop()
    report = run(bench, path)
    assert report.status == "failed"
    assert report.rows["read"] == 3


def test_a_source_whose_files_stay_is_told_once_for_all_its_targets(bench: Bench) -> None:
    files = bench.source()
    del files["config"]["atomicity"]
    path = bench.write(
        files, target("public.a", id="a", input="src"), target("public.b", id="b", input="src")
    )
    bench.drop()
    report = run(bench, path)
    assert set(report.targets) == {"public.a", "public.b"}
    assert len([w for w in report.warnings if "leaves its files" in w]) == 1
