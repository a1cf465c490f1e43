"""The contestants: bare COPY, and our load step, each once per round on a fresh table."""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.data import CLEAN_TABLE, Files
from benchmarks.job import document
from kaireon_dagster.engine.claiming import claim_source
from kaireon_dagster.engine.load import load_target
from kaireon_dagster.engine.outcome import Counts
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.state.database import Database

_CHUNK = 1 << 18
EXISTING = 500_000
"""Rows that the upsert finds in the table."""


def copy(database: Database, files: Files) -> float:
    """Seconds of `COPY … (FORMAT csv)` of the clean file into a typed table."""
    with database.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS bench_copy")
        connection.execute(f"CREATE TABLE bench_copy ({CLEAN_TABLE})".encode())
        connection.commit()
        started = time.perf_counter()
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY bench_copy FROM STDIN (FORMAT csv)") as stream,
            files.clean.open("rb") as clean,
        ):
            while data := clean.read(_CHUNK):
                stream.write(data)
        connection.commit()
        return time.perf_counter() - started


def append(database: Database, files: Files, *, lineage: bool) -> tuple[float, Counts]:
    """Seconds and counts of our append into a table that it makes."""
    _reset(database)
    return _load(database, files.raw, "append", lineage=lineage)


def upsert(database: Database, files: Files, *, lineage: bool) -> tuple[float, Counts]:
    """Seconds and counts of our upsert over `EXISTING` rows."""
    _reset(database)
    _load(database, files.raw, "append", lineage=lineage)
    with database.connect() as connection:
        surplus = f"SELECT id FROM bench_load ORDER BY id % 16, id OFFSET {EXISTING}"
        connection.execute(f"DELETE FROM bench_load WHERE id IN ({surplus})".encode())
        connection.execute("ALTER TABLE bench_load ADD PRIMARY KEY (id)")
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM FULL ANALYZE bench_load")
    return _load(database, files.raw, "upsert", lineage=lineage)


def _reset(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS bench_load")
        connection.execute("DROP SCHEMA IF EXISTS flow_dlq CASCADE")


def _load(database: Database, file: Path, mode: str, *, lineage: bool) -> tuple[float, Counts]:
    pipeline = document(file.parent, file.name, "public.bench_load", mode, lineage=lineage)
    plan = plan_pipeline(pipeline)
    scope = Scope(str(uuid.uuid4()), plan, datetime.now(timezone.utc), database)
    started = time.perf_counter()
    claim, load = plan.steps
    relation = claim_source(scope, claim)
    outcome = load_target(scope, load, {claim.name: relation})
    return time.perf_counter() - started, outcome.counts
