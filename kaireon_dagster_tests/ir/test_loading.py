"""Folders of documents: none hides another, and names are not shared."""

from __future__ import annotations

import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.errors import Problem
from kaireon_dagster.ir import (
    BrokenDocument,
    FolderMissing,
    LoadedDocument,
    load_folder,
    load_paths,
)
from kaireon_dagster_tests.ir.documents import pipeline, stream, target
from kaireon_dagster_tests.ir.samples import ORDERS


def write(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_right_and_broken_documents_side_by_side(tmp_path: Path) -> None:
    write(tmp_path, "b.json", pipeline(id="b"))
    write(tmp_path, "sub/a.yaml", json.dumps(pipeline(id="a")))
    write(tmp_path, "c.yml", "kind: pipeline")
    write(tmp_path, "d.json", "{")
    write(tmp_path, "e.json", b"\xff".decode("latin-1"))
    write(tmp_path, ".hidden.json", "{")
    write(tmp_path, ".hidden/x.json", "{")
    write(tmp_path, "notes.txt", "{")
    (tmp_path / "folder.json").mkdir()
    found = load_folder(tmp_path)
    assert [(type(item), item.path.name) for item in found] == [
        (LoadedDocument, "b.json"),
        (BrokenDocument, "c.yml"),
        (BrokenDocument, "d.json"),
        (BrokenDocument, "e.json"),
        (LoadedDocument, "a.yaml"),
    ]


def test_a_shared_id_breaks_both_and_names_the_other(tmp_path: Path) -> None:
    first = write(tmp_path, "a.json", pipeline())
    second = write(tmp_path, "b.json", pipeline())
    third = write(tmp_path, "c.json", pipeline(id="other"))
    found = load_folder(tmp_path)
    assert found[0] == BrokenDocument(
        first, (Problem("id", f"'orders' is also the id of {second}"),)
    )
    assert found[1] == BrokenDocument(
        second, (Problem("id", f"'orders' is also the id of {first}"),)
    )
    assert isinstance(found[2], LoadedDocument)
    assert found[2].path == third


def test_ids_that_would_share_their_names(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{i}.json", pipeline(id=i)) for i in ("a-b", "a.b", "a_b", "A_b")]
    found = load_folder(tmp_path)
    by_path = {item.path: item for item in found}
    broken = by_path[paths[0]]
    assert isinstance(broken, BrokenDocument)
    assert broken.problems == (
        Problem("id", f"'a-b' and 'a.b' of {paths[1]} would share the name 'a_b'"),
        Problem("id", f"'a-b' and 'a_b' of {paths[2]} would share the name 'a_b'"),
    )
    assert isinstance(by_path[paths[3]], LoadedDocument)


def test_a_single_file_and_a_missing_folder(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", pipeline())
    assert [item.path for item in load_folder(path)] == [path]
    assert load_folder(tmp_path / "a.json") == load_folder(tmp_path)
    with pytest.raises(FolderMissing) as caught:
        load_folder(tmp_path / "none")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_streaming_is_the_callers_decision(tmp_path: Path) -> None:
    write(tmp_path, "a.json", pipeline(stream(), target()))
    assert isinstance(load_folder(tmp_path)[0], BrokenDocument)
    assert isinstance(load_folder(tmp_path, streaming=True)[0], LoadedDocument)


def test_an_unreadable_document_is_only_broken_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.json", pipeline())
    (tmp_path / "b.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "c.json").symlink_to(tmp_path / "c.json")
    found = load_folder(tmp_path)
    assert [type(item) for item in found] == [LoadedDocument, BrokenDocument, BrokenDocument]


def test_a_thousand_documents_load_in_a_moment(tmp_path: Path) -> None:
    for index in range(1000):
        write(tmp_path, f"{index}.json", {**ORDERS, "id": f"p{index}"})
    started = time.process_time()
    found = load_folder(tmp_path)
    seconds = time.process_time() - started
    assert all(isinstance(item, LoadedDocument) for item in found)
    assert len(found) == 1000
    assert seconds < 2


def test_documents_of_several_paths_are_one_set(tmp_path: Path) -> None:
    one = write(tmp_path, "one/a.json", pipeline(id="a"))
    two = write(tmp_path, "two/b.json", pipeline(id="a"))
    found = load_paths([one, tmp_path / "two", two])
    assert [(type(item), item.path) for item in found] == [
        (BrokenDocument, one),
        (BrokenDocument, two),
    ]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("README.md", "documents end in .json, .yaml, .yml"),
        ("my data.csv", "for a data file: kaireon-dagster init '{path}'"),
    ],
)
def test_a_file_of_another_kind_is_told_by_its_suffix(
    tmp_path: Path, name: str, advice: str
) -> None:
    path = write(tmp_path, name, "a,b\n")
    (found,) = load_folder(path)
    assert isinstance(found, BrokenDocument)
    (problem,) = found.problems
    assert problem.message.startswith("not a Flow document by its suffix")
    assert problem.message.endswith(advice.format(path=path))
