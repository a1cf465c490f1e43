"""A connection that breaks: the load happened wholly or not at all, and a retry knows which."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.errors import Transient
from kaireon_dagster.state import Database
from kaireon_dagster_tests.faults.test_killed import (
    check_all_is_there_once,
    check_books,
    folder,
    pipeline,
)
from kaireon_dagster_tests.faults.victims import SMALL
from kaireon_dagster_tests.faults.wire import Cut, wired
from kaireon_dagster_tests.harness import run

__all__ = ["folder"]

LEDGER = 'INSERT INTO "flow".flow_loads'
MOMENTS: dict[str, tuple[str, ...]] = {
    "while the run is opened": ("pipeline_runs",),
    "while files are claimed": ("flow_run_checkpoint",),
    "in the stage's COPY": ('COPY "flow_staging"', "a.csv20"),
    "at the stage's COMMIT": ('COPY "flow_staging"', LEDGER, "COMMIT"),
    "while the stage is read": ("COPY (SELECT",),
    "in the load's COPY": ('COPY "public"."t"', "a.csv20"),
    "in the quarantine's COPY": ('COPY "flow_dlq"."p"', "a.csvbad"),
    "at the load's ledger": (LEDGER, LEDGER),
    "at the load's COMMIT": (LEDGER, LEDGER, "COMMIT"),
    "while the run is closed": (LEDGER, LEDGER, "COMMIT", "DROP TABLE"),
    "at the closing COMMIT": (LEDGER, LEDGER, "COMMIT", "COMMIT"),
}


@pytest.mark.parametrize(
    ("moment", "when"),
    [
        *((moment, "before") for moment in MOMENTS),
        # Elsewhere the server undoes what it did when it finds that the worker is gone.
        *((moment, "after") for moment in MOMENTS if "COMMIT" in moment),
    ],
)
def test_retry_loads_once(database: Database, folder: Path, moment: str, when: Cut) -> None:
    with wired(database) as (far, wire):
        wire.cut(*MOMENTS[moment], when=when)
        with pytest.raises(Transient) as caught:
            run(pipeline(folder), far, run_id="root", settings=SMALL)
        assert wire.cuts == 1, wire.signs
        assert "127.0.0.1" not in str(caught.value)
        run(pipeline(folder), far, run_id="root", settings=SMALL)
    check_all_is_there_once(database, folder)
    check_books(database, "root")
