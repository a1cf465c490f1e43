from __future__ import annotations

import json
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.ir import Source
from kaireon_dagster.sources import (
    Claim,
    ClaimedFile,
    DeadlineMissed,
    FileChanged,
    FilesNotThere,
    FolderRefused,
    FolderUnusable,
    SourceNotRunnable,
    archive_files,
    claim_files,
    find_files,
)
from kaireon_dagster.sources import local as local_store
from kaireon_dagster.sources.local import LocalStore
from kaireon_dagster_tests.sources.reading import make_source, write

NOW = datetime(2026, 3, 8, 12, tzinfo=timezone.utc)
MOVED = {"stagingFolder": ".processing/", "successFolder": ".done/{YYYY-MM-DD}/"}
WAIT = {"maxRetries": 2, "intervalMinutes": 5, "onMissAction": "fail"}


def source(path: Path, pattern: str = "*.csv", **config: Any) -> Source:
    config.setdefault("atomicity", MOVED)
    return make_source(path=path, pattern={"type": "glob", "value": pattern}, **config)


def claim(node: Source, run: str = "run-1", **more: Any) -> Claim:
    return claim_files(node, run_id=run, now=NOW, **more)


def names(files: tuple[ClaimedFile, ...]) -> list[str]:
    return [file.name for file in files]


def fill(folder: Path, *found: str) -> None:
    for age, name in enumerate(reversed(found)):
        path = write(folder, name, f"id\n{name}\n")
        os.utime(path, ns=(0, (1_700_000_000 - age) * 10**9))


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_files_move_below_the_run_before_they_are_read(tmp_path: Path) -> None:
    fill(tmp_path, "b.csv", "a.csv", "c.txt")
    found = claim(source(tmp_path))
    assert names(found.files) == ["a.csv", "b.csv"]
    assert below(tmp_path) == [
        ".processing/run-1/src/a.csv",
        ".processing/run-1/src/b.csv",
        "c.txt",
    ]
    first = found.files[0]
    assert first.path == str(tmp_path / ".processing/run-1/src/a.csv")
    assert first.original == str(tmp_path / "a.csv")
    assert first.size == 9


def test_a_repeated_claim_finds_the_same_files(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv")
    assert claim(source(tmp_path)) == claim(source(tmp_path))


def test_a_claim_that_died_half_way_is_completed(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv")
    claim(source(tmp_path, "a.csv"))
    assert names(claim(source(tmp_path)).files) == ["a.csv", "b.csv"]


def test_another_run_gets_what_is_left(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    claim(source(tmp_path))
    fill(tmp_path, "b.csv")
    assert names(claim(source(tmp_path), "run-2").files) == ["b.csv"]


def test_a_new_file_of_a_claimed_name_waits_and_overwrites_nothing(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    first = claim(source(tmp_path))
    write(tmp_path, "a.csv", "id\nanother\n")
    assert claim(source(tmp_path)) == first
    assert (tmp_path / "a.csv").read_text() == "id\nanother\n"


def test_runs_at_once_share_nothing_and_lose_nothing(tmp_path: Path) -> None:
    expected = [f"{number:03}.csv" for number in range(200)]
    fill(tmp_path, *expected)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda run: claim(source(tmp_path), f"run-{run}"), range(8)))
    taken = [name for found in claims for name in names(found.files)]
    assert sorted(taken) == expected


def test_files_of_a_dead_run_are_adopted(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv")
    claim(source(tmp_path), "dead")
    assert names(claim(source(tmp_path), "alive").files) == []
    found = claim(source(tmp_path), "heir", is_over=lambda run: run == "dead")
    assert names(found.files) == ["a.csv", "b.csv"]
    assert found.files[0].original == str(tmp_path / "a.csv")
    assert not (tmp_path / ".processing/dead").exists()


def test_files_of_a_dead_run_in_another_days_folder_are_adopted(tmp_path: Path) -> None:
    atomicity = {"stagingFolder": ".work/{YYYY-MM-DD}"}
    pattern = {"type": "date_template", "value": "log_{YYYYMMDD}.csv"}
    node = make_source(path=tmp_path, pattern=pattern, atomicity=atomicity)
    fill(tmp_path, "log_20260307.csv", "log_20260308.csv")
    claim_files(node, run_id="dead", now=NOW - timedelta(days=1))
    found = claim(node, "heir", is_over=lambda run: True)
    assert names(found.files) == ["log_20260307.csv", "log_20260308.csv"]


def test_another_pipelines_files_in_the_same_folder_are_left(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.tsv")
    claim(source(tmp_path, "*.tsv"), "dead")
    found = claim(source(tmp_path), "heir", is_over=lambda run: True)
    assert names(found.files) == ["a.csv"]
    assert (tmp_path / ".processing/dead/src/b.tsv").exists()


def test_a_cap_counts_what_the_run_holds_already(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv", "c.csv", "d.csv")
    claim(source(tmp_path, "d.csv"), "dead")
    found = claim(source(tmp_path, maxFiles=2), is_over=lambda run: True)
    assert names(found.files) == ["a.csv", "d.csv"]
    assert names(claim(source(tmp_path, maxFiles=2)).files) == ["a.csv", "d.csv"]
    assert names(claim(source(tmp_path, maxFiles=2), "run-2").files) == ["b.csv", "c.csv"]


def test_the_newest_is_read_and_older_ones_are_taken_along(tmp_path: Path) -> None:
    fill(tmp_path, "old.csv", "older-name.csv", "new.csv")
    node = source(tmp_path, ordering="latest_by_mtime")
    found = claim(node)
    assert names(found.files) == ["new.csv"]
    assert names(found.superseded) == ["old.csv", "older-name.csv"]
    assert claim(node) == found
    archive_files(node, found.superseded, "superseded", NOW)
    archive_files(node, found.files, "success", NOW)
    assert below(tmp_path) == [
        f".done/2026-03-08/{name}" for name in ("new.csv", "old.csv", "older-name.csv")
    ]


def test_without_atomicity_files_stay_and_are_read_again(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    node = source(tmp_path, atomicity=None)
    first = claim(node)
    assert first.files[0].path == str(tmp_path / "a.csv")
    assert claim(node, "run-2") == first
    assert archive_files(node, first.files, "success", NOW) == ()
    assert below(tmp_path) == ["a.csv"]


def test_what_is_no_file_is_never_taken(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    fill(inside, "a.csv", ".hidden.csv", "~$lock.csv")
    fill(tmp_path, "secret.csv")
    (inside / "folder.csv").mkdir()
    (inside / "leaves.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "dangles.csv").symlink_to(inside / "nowhere")
    os.mkfifo(inside / "pipe.csv")
    (inside / "stays.csv").symlink_to("a.csv")
    assert names(claim(source(inside, atomicity=None)).files) == ["a.csv", "stays.csv"]
    assert names(claim(source(inside)).files) == ["a.csv"]


def test_names_with_any_bytes_are_claimed(tmp_path: Path) -> None:
    folder = tmp_path / "in [2026]"
    folder.mkdir()
    odd = ["orders[1].csv", "a*b.csv", "new\nline.csv", "it's.csv", '"q".csv', "-rf.csv", "50%.csv"]
    fill(folder, *odd, "caf\udce9.csv", "na\u00efve.csv", "nai\u0308ve.csv", "ORDERS.CSV")
    found = claim(source(folder))
    assert sorted(names(found.files)) == sorted(
        [*odd, "caf\udce9.csv", "na\u00efve.csv", "nai\u0308ve.csv"]
    )
    assert names(claim(source(folder, "*[1]*"), "run-2").files) == []
    for file in found.files:
        stored = json.loads(json.dumps(file.to_json()).encode("utf-8"))
        assert ClaimedFile.from_json(stored) == file
        assert json.dumps(file.to_json()).count("\\ud") == 0
        file.label.encode("utf-8")


def test_young_files_wait_whatever_time_they_claim(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    os.utime(tmp_path / "a.csv", (0, 0))
    assert find_files(source(tmp_path), NOW, min_age_seconds=60) == []
    assert [found.name for found in find_files(source(tmp_path), NOW)] == ["a.csv"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable, match="no such file"):
        claim(source(tmp_path / "nowhere"))


def test_waiting_ends_as_the_document_says(tmp_path: Path) -> None:
    for attempt in (0, 1):
        with pytest.raises(FilesNotThere) as waiting:
            claim(source(tmp_path, waitPolicy=WAIT), attempt=attempt)
        assert waiting.value.wait_seconds == 300
    with pytest.raises(DeadlineMissed, match="file arrival deadline missed"):
        claim(source(tmp_path, waitPolicy=WAIT), attempt=2)
    alert = {**WAIT, "onMissAction": "alert"}
    assert claim(source(tmp_path, waitPolicy=alert), attempt=2) == Claim((), alert=True)
    skip = {**WAIT, "onMissAction": "skip"}
    assert claim(source(tmp_path, waitPolicy=skip), attempt=2) == Claim(())
    assert claim(source(tmp_path)) == Claim(())


def test_files_that_are_there_end_the_waiting(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    assert names(claim(source(tmp_path, waitPolicy=WAIT)).files) == ["a.csv"]


def test_archiving_is_repeatable_and_overwrites_nothing(tmp_path: Path) -> None:
    node = source(tmp_path)
    for round in range(3):
        write(tmp_path, "a.csv", f"id\n{round}\n")
        found = claim(node, f"run-{round}")
        assert len(archive_files(node, found.files, "success", NOW)) == 1
        assert archive_files(node, found.files, "success", NOW) == ()
    done = tmp_path / ".done/2026-03-08"
    texts = {path.name: path.read_text() for path in done.iterdir()}
    assert texts == {"a.csv": "id\n0\n", "a.1.csv": "id\n1\n", "a.2.csv": "id\n2\n"}
    assert list((tmp_path / ".processing").iterdir()) == []


def test_a_file_that_lies_where_it_should_go_stays(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    node = source(tmp_path)
    (file,) = claim(node).files
    (moved,) = archive_files(node, [file], "failure", NOW)
    assert archive_files(node, [replace(file, path=moved)], "failure", NOW) == ()
    assert Path(moved).exists()


def test_failed_files_go_aside_and_an_archive_node_has_its_own_folder(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.csv")
    node = source(tmp_path)
    first, second = claim(node).files
    archive_files(node, (first,), "failure", NOW)
    archive_files(node, (second,), "success", NOW, folder="kept/{YYYY}")
    assert below(tmp_path) == [".failed/a.csv", "kept/2026/b.csv"]


def test_a_link_made_by_a_move_that_died_is_finished(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    node = source(tmp_path)
    found = claim(node)
    done = tmp_path / ".done/2026-03-08"
    done.mkdir(parents=True)
    os.link(found.files[0].path, done / "a.csv")
    archive_files(node, found.files, "success", NOW)
    assert below(tmp_path) == [".done/2026-03-08/a.csv"]


def test_a_folder_outside_is_refused(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "in"))
    for folder in ("../out", "a/../../b", "/etc"):
        with pytest.raises(FolderRefused):
            store.claim(next(iter(LocalStore(str(_one_file(tmp_path))).list())), folder)


def _one_file(tmp_path: Path) -> Path:
    fill(tmp_path, "a.csv")
    return tmp_path


def test_a_run_id_that_is_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderRefused):
        claim(source(tmp_path), "../../elsewhere")


def test_other_connectors_say_that_they_cannot_run(tmp_path: Path) -> None:
    node = source(tmp_path).model_copy(update={"connector": "s3"})
    with pytest.raises(SourceNotRunnable, match="source 'src': connector 's3'"):
        claim(node)


def test_a_file_that_grew_after_the_claim_is_an_error(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    (file,) = claim(source(tmp_path)).files
    with Path(file.path).open("a") as growing:
        growing.write("2\n")
    with pytest.raises(
        FileChanged, match=r"a\.csv: changed after it was claimed \(9 bytes then, 11"
    ):
        LocalStore(str(tmp_path)).open(file)


@pytest.fixture
def other_device(tmp_path: Path) -> Path:
    """A folder with staging on another device, if the machine has one."""
    memory = Path("/dev/shm")
    assert memory.stat().st_dev != tmp_path.stat().st_dev
    staging = memory / f"flow-{os.getpid()}-{tmp_path.name}"
    staging.mkdir()
    (tmp_path / ".processing").symlink_to(staging)
    return staging


def test_staging_on_another_device_moves_too(tmp_path: Path, other_device: Path) -> None:
    try:
        fill(tmp_path, "a.csv")
        before = (tmp_path / "a.csv").stat().st_mtime_ns
        (file,) = claim(source(tmp_path)).files
        assert below(other_device) == ["run-1/src/a.csv"]
        assert not (tmp_path / "a.csv").exists()
        assert file.mtime_ns == before
        archive_files(source(tmp_path), (file,), "success", NOW)
        assert below(tmp_path / ".done") == ["2026-03-08/a.csv"]
        assert below(other_device) == []
    finally:
        shutil.rmtree(other_device)


@pytest.mark.parametrize("step", ["copying", "copied", "removed"])
def test_a_copy_that_died_is_settled_without_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fill(tmp_path, "a.csv")
    text = (tmp_path / "a.csv").read_text()
    staging = tmp_path / ".processing/run-1/src"
    staging.mkdir(parents=True)
    target = staging / "a.csv"
    if step == "copying":
        (staging / ".copying-a.csv").write_text(text[:3])
    else:
        local_store._copy_synced(tmp_path / "a.csv", staging / ".copied-a.csv")
    if step == "removed":
        (tmp_path / "a.csv").unlink()
    (file,) = claim(source(tmp_path)).files
    assert file.path == str(target)
    assert below(tmp_path) == [".processing/run-1/src/a.csv"]
    assert target.read_text() == text


def test_a_new_file_does_not_undo_a_finished_copy_of_its_name(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv")
    staging = tmp_path / ".processing/run-1/src"
    staging.mkdir(parents=True)
    local_store._copy_synced(tmp_path / "a.csv", staging / ".copied-a.csv")
    (tmp_path / "a.csv").unlink()
    write(tmp_path, "a.csv", "id\nthe next delivery\n")
    (file,) = claim(source(tmp_path)).files
    assert Path(file.path).read_text() == "id\na.csv\n"
    assert (tmp_path / "a.csv").read_text() == "id\nthe next delivery\n"


def test_errors_survive_pickling() -> None:
    for error in (
        FilesNotThere("src", 1, 300.0),
        DeadlineMissed("src", "/in", "*.csv"),
        FileChanged("a.csv", 1, None),
        SourceNotRunnable("src", "format 'xml'"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))
