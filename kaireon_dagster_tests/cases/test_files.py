"""Files that look unchanged, and names that patterns trip over."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import transform
from kaireon_dagster_tests.harness import document, query, run, source, target

NAMES = [
    "orders[1].csv",
    "orders[2].csv",
    "a*b.csv",
    "what?.csv",
    "50%.csv",
    "x;y.csv",
    "it's.csv",
    '"q".csv',
    "tab\t.csv",
    "new\nline.csv",
    "-rf.csv",
    "sp ace.csv",
    "{a,b}.csv",
    "ORDERS.CSV",
    "naïve.csv",
    "nai\u0308ve.csv",
]


def load(database: Database, folder: Path, pattern: str = "*.csv", **config: Any) -> int:
    return run(document(source(folder, pattern, **config), target()), database).counts.loaded


# 089: rewritten with the same size and time


@pytest.mark.parametrize("atomic", [True, False])
def test_a_file_of_the_same_size_and_time_is_read_again(
    database: Database, folder: Path, atomic: bool
) -> None:
    path = folder / "a.csv"

    def load_it() -> list[tuple[Any, ...]]:
        files = source(folder)
        if not atomic:
            del files["config"]["atomicity"]
        run(document(files, target(mode="truncate")), database)
        return query(database, "SELECT * FROM t")

    path.write_text("id,qty\n1,10\n")
    was = path.stat()
    assert load_it() == [("1", "10")]
    path.write_text("id,qty\n1,99\n")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert load_it() == [("1", "99")]


@pytest.mark.parametrize("shift", [-365 * 86400, 0, 365 * 86400])
@pytest.mark.parametrize("ordering", ["lexicographic", "process_all", "latest_by_mtime"])
def test_old_and_future_dates_neither_hide_a_file_nor_load_it_twice(
    database: Database, folder: Path, shift: int, ordering: str
) -> None:
    path = folder / "a.csv"
    path.write_text("id\n1\n")
    os.utime(path, (time.time() + shift, time.time() + shift))
    assert load(database, folder, ordering=ordering) == 1
    assert load(database, folder, ordering=ordering) == 0
    assert query(database, "SELECT id FROM t") == [("1",)]


# 090: names with pattern characters


def make(folder: Path) -> Path:
    place = folder / "in [2026]"
    place.mkdir()
    for name in NAMES:
        (place / name).write_text(
            f'id,n\n"{name}",1\n'.replace('""q"', '"""q""').replace("\n\n", "\n"), newline=""
        )
    Path(os.fsdecode(os.fsencode(place) + b"/caf\xe9.csv")).write_text("id,n\nlatin,1\n")
    return place


def test_a_wildcard_takes_all_files_of_its_letter_case(database: Database, folder: Path) -> None:
    place = make(folder)
    assert load(database, place) == len(NAMES)
    assert load(database, place, "*.CSV") == 1
    left = [path for path in place.iterdir() if path.is_file()]
    assert left == []
    assert len(list((place / ".archive").iterdir())) == len(NAMES) + 1


@pytest.mark.parametrize("name", NAMES)
def test_an_exact_name_takes_its_one_file(database: Database, folder: Path, name: str) -> None:
    place = make(folder)
    assert load(database, place, name) == 1
    assert not (place / name).exists()
    assert (place / ".archive" / name).exists()


def test_names_of_files_reach_the_table_legibly(database: Database, folder: Path) -> None:
    place = make(folder)
    named = transform({"type": "add_field", "field": "file", "value": "{{fileName}}"})
    run(document(source(place), named, target(input="x")), database)
    found = {file for (file,) in query(database, "SELECT file FROM t")}
    assert found == {name for name in NAMES if name != "ORDERS.CSV"} | {"caf\\xe9.csv"}


def test_a_row_that_cannot_be_read_names_its_odd_file(database: Database, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9\n.csv")).write_text("id,n\n1\n")
    run(document(source(folder), target(), dlq=True), database)
    assert query(database, "SELECT row->>'_file' FROM flow_dlq.p") == [("caf\\xe9\n.csv",)]
