"""Things in a folder that are not the files one expects there."""

from __future__ import annotations

import gzip
import os
import resource
from pathlib import Path

import pytest

from kaireon_dagster.engine.closing import LeftInStaging, fail_run
from kaireon_dagster.engine.working import WorkerDiskFault
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.sources.faults import FileBroken, FileChanged, FolderUnusable
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import document, new_scope, query, run, source, target

NAMES = [
    b"a\nb.csv",
    b"q'\".csv",
    b"\xff\xfe.csv",
    b"%s{}$$.csv",
    b" a .csv",
    b"-rf.csv",
    b"*?[x].csv",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_whatever_a_file_is_called_it_is_loaded(database: Database, folder: Path) -> None:
    for number, name in enumerate(NAMES):
        (folder / os.fsdecode(name)).write_text(f"id\n{number}\n")
    run(document(source(folder), target()), database)
    assert query(database, "SELECT count(DISTINCT id) FROM t") == [(len(NAMES),)]
    kept = {os.fsencode(file.name) for file in (folder / ".archive").iterdir()}
    assert kept == set(NAMES)


def test_what_is_no_file_of_the_folder_stays_where_it_is(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    (tmp_path / "outside.csv").write_text("id\n2\n")
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    for name, place in {"out": tmp_path / "outside.csv", "loop": "loop.csv", "none": "x"}.items():
        (folder / f"{name}.csv").symlink_to(place)
    run(document(source(folder), target()), database)
    assert query(database, "SELECT id FROM t") == [("1",)]
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    assert left == ["folder.csv", "loop.csv", "none.csv", "out.csv", "pipe.csv"]


@pytest.mark.parametrize("change", ["replaced", "grown", "gone"])
def test_a_file_that_changes_behind_the_claim_is_not_loaded(
    database: Database, folder: Path, change: str
) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    pipeline = document(source(folder), target())
    done = run(pipeline, database, run_id="root", steps=["src"])
    (claimed,) = done.relations["src"].files
    path = Path(claimed.path)
    if change == "grown":
        path.write_text("id\n1\n2\n")
    else:
        path.unlink()
    if change == "replaced":
        path.write_text("id\n9\n")
    with pytest.raises(FileChanged, match=r"a\.csv: changed after it was claimed"):
        run(pipeline, database, run_id="root", steps=["tgt"])
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


def test_packed_files_under_a_plain_name_are_told_from_broken_ones(
    database: Database, folder: Path
) -> None:
    (folder / "a.csv").write_bytes(gzip.compress(b"id\n1\n"))
    with pytest.raises(FileBroken, match=r"a\.csv: it is packed as gzip, .*formatOptions"):
        run(document(source(folder), target()), database)
    (folder / "b.csv").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(FileBroken, match=r"b\.csv: it is packed as zip"):
        run(document(source(folder, "b.csv"), target()), database)


def test_a_folder_that_is_none(database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("missing", "file"):
        with pytest.raises(FolderUnusable, match=name):
            run(document(source(tmp_path / name), target()), database)


def test_files_that_cannot_be_archived_are_not_offered_for_a_second_load(
    database: Database, folder: Path
) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    (folder / ".archive").write_text("no folder")
    pipeline = document(source(folder), target())
    with pytest.raises(LeftInStaging, match="do not deliver its files again") as caught:
        run(pipeline, database, run_id="root")
    fail_run(new_scope(plan_pipeline(pipeline), database, "root"), str(caught.value))
    assert (folder / ".processing" / "root" / "src" / "a.csv").exists()
    (folder / ".archive").unlink()
    run(pipeline, database, run_id="next")
    assert (folder / ".archive" / "a.csv").exists()
    assert query(database, "SELECT id FROM t") == [("1",)]


def test_a_full_disk_may_pass(database: Database, folder: Path) -> None:
    with gzip.open(folder / "a.csv.gz", "wt") as packed:
        packed.write("id\n" + "1\n" * 100_000)
    pipeline = document(source(folder, "*"), target())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(WorkerDiskFault, match="file too large; make room there"):
            run(pipeline, database, run_id="root")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    run(pipeline, database, run_id="root")
    assert query(database, "SELECT count(*) FROM t") == [(100_000,)]
