from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.state import Database
from kaireon_dagster_tests.orchestration.bench import Bench


@pytest.fixture
def bench(tmp_path: Path, database: Database) -> Bench:
    return Bench(tmp_path, database)
