"""Which files `init` takes, what it calls them, and how it reads the beginning of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.ir import parse_document
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.starters import renames, starter


def test_files_of_one_header_make_one_document(call: Call, folder: Path) -> None:
    for month in ("01", "02"):
        (folder / f"sales-{month}.csv").write_text(f"id,v\n{month},x\n")
    (folder / "staff.csv").write_text("id,name\n1,x\n2,y\n")
    said = call("init", "sales-01.csv", "sales-02.csv", "staff.csv", "--json")
    assert [d["path"] for d in said.data["documents"]] == ["sales.yaml", "staff.yaml"]
    text = (folder / "sales.yaml").read_text()
    assert 'value: "sales-*.csv"' in text


def test_the_document_goes_to_the_pipelines_folder_and_is_not_overwritten(
    call: Call, folder: Path
) -> None:
    (folder / "pipelines").mkdir()
    (folder / "a.csv").write_text("id,v\n1,x\n2,y\n")
    assert call("init", "a.csv").code == 0
    place = folder / "pipelines" / "a.yaml"
    place.write_text("mine")
    said = call("init", "a.csv")
    assert said.code == 2
    assert "--force" in said.err
    assert place.read_text() == "mine"
    assert call("init", "a.csv", "--force").code == 0
    assert call("validate").code == 0


@pytest.mark.parametrize("name", ["missing.csv", "a.docx", "folder.csv"])
def test_what_is_no_data_file_is_wrong_usage(call: Call, folder: Path, name: str) -> None:
    (folder / "a.docx").write_text("x")
    (folder / "folder.csv").mkdir()
    said = call("init", name)
    assert said.code == 2
    assert said.err.startswith(f"kaireon-dagster: {name}")


def test_a_header_that_cannot_be_used_is_an_error_without_traceback(
    call: Call, folder: Path
) -> None:
    (folder / "a.csv").write_text("id,id,,v\n1,2,3,4\n")
    said = call("init", "a.csv")
    assert said.code == 2
    assert said.err.splitlines()[:3] == [
        "kaireon-dagster: a.csv: column 3 has no name",
        "a.csv: columns 1 'id', 2 'id' have one name, letter case aside",
        "give each column a name of its own in the file, and call this again",
    ]
    assert "formatOptions: {header: false}" in said.err
    assert not (folder / "a.yaml").exists()


@pytest.mark.parametrize(("name", "content"), [("a.csv", ""), ("a.csv", "\n\n"), ("a.json", "[]")])
def test_a_file_without_columns_is_refused(
    call: Call, folder: Path, name: str, content: str
) -> None:
    (folder / name).write_text(content)
    said = call("init", name)
    assert said.code == 2
    assert "a document needs a file with its columns" in said.err
    assert not (folder / "a.yaml").exists()


def test_a_folder_says_to_name_its_files(call: Call, folder: Path) -> None:
    (folder / "data").mkdir()
    said = call("init", "data")
    assert said.code == 2
    assert "data: is a folder; name the files in it" in said.err


def test_a_file_that_cannot_be_read_is_told_with_the_reason(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    (folder / "a.csv").write_text("id\n1\n")
    monkeypatch.setattr(Path, "open", refuse)
    said = call("init", "a.csv")
    assert said.code == 2
    assert said.err == "kaireon-dagster: a.csv: cannot be read: Permission denied\n"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_the_separator_line_of_excel_is_told(call: Call, folder: Path, name: str) -> None:
    (folder / name).write_text("sep=;\nid;v\n1;x\n")
    said = call("init", name)
    assert said.code == 2
    assert "its first line is Excel's `sep=`" in said.err


@pytest.mark.parametrize(
    ("content", "is_without"),
    [
        ("1,Ada,2026-03-01\n2,Bob,2026-03-02\n", True),
        ("5,5\n1,2\n", True),
        ("id,name,day\n1,Ada,2026-03-01\n", False),
        ("region,2024,2025\nnorth,1,2\n", False),
        ("Ada,Bob\nCleo,Dan\n", False),
        ("1,2\n", False),
    ],
)
def test_a_first_line_that_looks_like_a_row_is_no_header(
    call: Call, folder: Path, content: str, is_without: bool
) -> None:
    (folder / "a.csv").write_text(content)
    said = call("init", "a.csv")
    assert said.code == 0
    assert ("looks like a row" in said.err) == is_without
    text = (folder / "a.yaml").read_text()
    assert ("header: false" in text) == is_without
    assert ("The first line looks like a row" in text) == is_without


@pytest.mark.parametrize(
    ("names", "others", "pattern", "stem"),
    [
        (["sales-2026-01.csv", "sales-2026-02.csv"], [], "sales-*.csv", "sales"),
        (["sales-2026-01.csv", "sales-2026-02.csv"], ["sales-2025-12.csv"], "sales-*.csv", "sales"),
        (["data1.csv", "data12.csv"], [], "data*.csv", "data"),
        (["sales_jan.csv", "sales_jun.csv"], [], "sales_*.csv", "sales"),
        (["jan-2026.csv", "feb-2026.csv"], [], "*.csv", "FOLDER"),
        (["a-1.csv", "a-2.csv"], ["a-list.csv"], r"a\-1\.csv|a\-2\.csv", "a"),
        (["2026-01.csv", "2026-02.csv"], ["other.csv"], "2026-0*.csv", "FOLDER"),
    ],
)
def test_a_pattern_takes_the_files_to_come_and_none_of_another_kind(
    call: Call, folder: Path, names: list[str], others: list[str], pattern: str, stem: str
) -> None:
    data = folder / "inbox"
    data.mkdir()
    for name in (*names, *(other for other in others if other.startswith("sales"))):
        (data / name).write_text("id,v\n1,x\n")
    for name in others:
        if not name.startswith("sales"):
            (data / name).write_text("key,word\n1,x\n")
    pipeline = starter(call, *(f"inbox/{name}" for name in names))
    assert pipeline.sources[0].config.pattern.value == pattern
    assert pipeline.id == stem.replace("FOLDER", "inbox")
    assert pipeline.targets[0].schema_ == f"public.{pipeline.id}"


def test_groups_of_one_name_do_not_overwrite_each_other(call: Call, folder: Path) -> None:
    for place in ("one", "two"):
        (folder / place).mkdir()
        (folder / place / "a.csv").write_text("id,v\n1,x\n")
    (folder / "pipelines").mkdir()
    said = call("init", "one/a.csv", "two/a.csv")
    assert said.code == 0
    assert sorted(path.name for path in (folder / "pipelines").iterdir()) == ["a-2.yaml", "a.yaml"]
    assert call("validate").code == 0


def test_paths_are_relative_below_the_current_folder_and_else_absolute(
    call: Call, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_text("id,v\n1,x\n")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "b.csv").write_text("id,v\n1,x\n")
    inside = call("init", "--stdout", "data/a.csv").out
    assert "path: data  # counted from the folder where it is run" in inside
    outside = call("init", "--stdout", elsewhere / "b.csv").out
    assert f"path: {elsewhere}\n" in outside


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"data": {"rows": [{"id": 1}, {"id": 2}]}}, "data.rows"),
        ({"page": 1, "items": [{"id": 1}], "tags": ["x"]}, "items"),
        ({"a.b": [{"id": 1}]}, "/a.b"),
        ({"one": [{"id": 1}], "two": [{"id": 2}]}, None),
        ([{"id": 1, "lines": [{"n": 1}]}], None),
    ],
)
def test_the_one_list_of_objects_of_a_json_file_holds_the_records(
    call: Call, folder: Path, data: Any, path: str | None
) -> None:
    (folder / "a.json").write_text(json.dumps(data))
    options: Any = starter(call, "a.json").sources[0].config.format_options
    assert options.records_path == path


def test_names_beyond_ascii_and_with_blanks_can_be_pasted(call: Call, folder: Path) -> None:
    (folder / "Größe März.csv").write_text("Straße,v\n1,x\n")
    said = call("init", "Größe März.csv")
    assert said.out.splitlines()[-1] == "  next: kaireon-dagster run 'Grosse Marz.yaml'"
    pipeline = parse_document((folder / "Grosse Marz.yaml").read_text(), source="", format="yaml")
    assert (pipeline.id, pipeline.targets[0].schema_) == ("grosse-marz", "public.grosse_marz")
    assert renames(pipeline) == {"Straße": "strasse"}


def test_a_file_that_is_no_text_is_told_without_advice_on_names(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_bytes(b"id,v\x81\x8d\n1,2\n")
    said = call("init", "a.csv")
    assert said.code == 2
    assert "declare formatOptions.encoding" in said.err
    assert "name of its own" not in said.err
