"""The worker stays small, whatever the files hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.state import Database
from kaireon_dagster_tests.faults.victims import measure
from kaireon_dagster_tests.harness import document, query, source, target

MOST = 600
"""MB, the interpreter and its libraries among them."""
MIB = 1 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_one_value_of_sixty_megabytes(database: Database, folder: Path) -> None:
    (folder / "a.csv").write_bytes(b"id,x\n1," + b"x" * (57 * MIB) + b"\n2,b\n")
    assert measure(document(source(folder), target()), database) < MOST
    lengths = "SELECT length(x) FROM t ORDER BY id"
    assert query(database, lengths) == [(57 * MIB,), (1,)]


def test_a_hundred_thousand_wrong_records(database: Database, folder: Path) -> None:
    (folder / "a.csv").write_text("id,x,y\n" + "1,some text of a row\n" * 100_000)
    peak = measure(document(source(folder), target(), dlq=True), database)
    # Ten times as many need no more: what is kept of a wrong record is its place.
    assert peak < 300
    assert query(database, "SELECT count(*) FROM flow_dlq.p") == [(100_000,)]


@pytest.mark.parametrize("format", ["csv", "json"])
def test_a_thousand_small_files(database: Database, folder: Path, format: str) -> None:
    text = {"csv": "id\n{}\n", "json": '[{{"id": {}}}]'}[format]
    for number in range(1000):
        (folder / f"{number:04}.{format}").write_text(text.format(number))
    pipeline = document(source(folder, f"*.{format}", format=format), target())
    assert measure(pipeline, database) < 400
    assert query(database, "SELECT count(DISTINCT id) FROM t") == [(1000,)]
