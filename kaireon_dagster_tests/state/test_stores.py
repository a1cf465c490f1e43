from __future__ import annotations

from datetime import datetime, timezone

import psycopg
import pytest

from kaireon_dagster.state import (
    AlreadyLoaded,
    Database,
    Watermark,
    alerts,
    checkpoints,
    fires,
    ledger,
    watermarks,
)
from kaireon_dagster_tests.state.processes import run_together

NINE = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def record(connection: psycopg.Connection, run_id: str = "r1") -> None:
    counts = {"read": 3, "loaded": 2, "quarantined": 1}
    detail = {"files": ["a.csv"], "inserted": 0}
    ledger.record(connection, run_id, "tgt", "orders", "h1", "public.orders", counts, detail)


def test_ledger_row_is_there_only_when_the_load_has_committed(database: Database) -> None:
    with database.connect() as connection:
        record(connection)
        connection.rollback()
        assert ledger.find(connection, "r1", "tgt") is None
        record(connection)
    with database.connect() as connection:
        row = ledger.find(connection, "r1", "tgt")
        assert ledger.find(connection, "r1", "other") is None
    assert row is not None
    assert (row.table, row.pipeline_hash) == ("public.orders", "h1")
    assert row.counts == {"read": 3, "loaded": 2, "quarantined": 1}
    assert row.detail == {"files": ["a.csv"], "inserted": 0}
    assert row.loaded_at.tzinfo is not None


def load_once(database: Database) -> str:
    with database.connect() as connection:
        connection.execute("INSERT INTO public.loaded VALUES (1)")
        record(connection)
    return "loaded"


def test_same_load_in_several_processes_commits_once(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("CREATE TABLE public.loaded (n int)")
    got = run_together(4, load_once, database)
    assert sorted(got) == [repr(AlreadyLoaded("r1", "tgt"))] * 3 + ["loaded"]
    with database.connect() as connection:
        assert connection.execute("SELECT count(*) FROM public.loaded").fetchone() == (1,)


def test_checkpoint_is_found_by_run_document_and_node(database: Database) -> None:
    with database.connect() as connection:
        checkpoints.save(connection, "r1", "h1", "src", {"rows": 1})
        checkpoints.save(connection, "r1", "h1", "src", {"rows": 0, "files": []})
        checkpoints.save(connection, "r1", "h1", "x", {"rows": 5})
        checkpoints.save(connection, "r2", "h1", "src", {"rows": 7})
        assert checkpoints.find(connection, "r1", "h1", "src") == {"rows": 0, "files": []}
        assert checkpoints.find(connection, "r1", "h2", "src") is None
        assert checkpoints.forget_run(connection, "r1") == 2
        assert checkpoints.find(connection, "r1", "h1", "src") is None
        assert checkpoints.find(connection, "r2", "h1", "src") == {"rows": 7}


@pytest.mark.parametrize("value", ["infinity", "2026-03-02 09:00:00.123456+00", "0.10"])
def test_watermark_is_kept_to_the_last_digit(database: Database, value: str) -> None:
    with database.connect() as connection:
        assert watermarks.find(connection, "orders", "tgt") is None
        watermarks.save(connection, "orders", "tgt", "r1", Watermark("at", "date", "2026-01-01"))
        mark = Watermark("at", "timestamptz", value)
        watermarks.save(connection, "orders", "tgt", "r2", mark)
        assert watermarks.find(connection, "orders", "tgt") == mark


def test_alert_is_stored_with_all_that_was_said(database: Database) -> None:
    message = 'Source node "src" matched 0 files for pattern "*.csv".'
    with database.connect() as connection:
        made = alerts.raise_alert(
            connection,
            "acme",
            "warning",
            "Pipeline source had no files",
            message,
            link="/data/flow-runs",
            metadata={"pipelineId": "orders"},
        )
        row = connection.execute(
            """SELECT id, "tenantId", "userId", severity, source, title, message, link, metadata,
            pinned FROM flow.system_health_alerts"""
        ).fetchone()
    assert row == (
        made,
        "acme",
        None,
        "warning",
        "flow",
        "Pipeline source had no files",
        message,
        "/data/flow-runs",
        {"pipelineId": "orders"},
        False,
    )


def test_severity_that_is_not_one_is_refused(database: Database) -> None:
    with database.connect() as connection, pytest.raises(psycopg.errors.CheckViolation):
        alerts.raise_alert(connection, "acme", "loud", "t", "m")  # type: ignore[arg-type]


def request(database: Database) -> bool:
    with database.connect() as connection:
        return fires.request(connection, "orders", NINE)


def test_due_time_is_asked_for_once_and_claimed_by_one_run(database: Database) -> None:
    assert sorted(run_together(4, request, database)) == [False, False, False, True]
    with database.connect() as connection:
        assert fires.claim(connection, "orders", NINE, "r1") is True
        assert fires.claim(connection, "orders", NINE, "r2") is False
        assert fires.claim(connection, "orders", NINE, "r1") is True
        assert fires.claim(connection, "invoices", NINE, "r1") is False
