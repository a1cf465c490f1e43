"""Text to data: what other readers let pass silently is refused here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kaireon_dagster.errors import DocumentInvalid, Problem
from kaireon_dagster.ir import parse_document, read_document
from kaireon_dagster.ir.document import Format, read_data
from kaireon_dagster_tests.ir.documents import change, pipeline, problems

TEXT = json.dumps(pipeline(), indent=1)


def refusals(text: str, format: Format = "json") -> list[str]:
    with pytest.raises(DocumentInvalid) as caught:
        parse_document(text, source="doc", format=format)
    return [str(problem) for problem in caught.value.problems]


def test_syntax_errors_have_line_and_column() -> None:
    assert refusals('{"kind": "pipeline",\n "version" "1.0"}') == [
        "not JSON: line 2, column 12: Expecting ':' delimiter"
    ]
    assert refusals("kind: pipeline\nid: [a\n", "yaml") == [
        "not YAML: line 3, column 1: did not find expected ',' or ']'"
    ]


def test_empty_text() -> None:
    assert refusals("") == ["not JSON: line 1, column 1: Expecting value"]
    assert refusals("", "yaml") == ["a document is an object, found null"]


def test_keys_written_twice_are_all_named_with_the_rest() -> None:
    text = TEXT.replace('"version"', '"kind": "pipeline", "version"').replace(
        '"loadMode": "append"', '"loadMode": "apend", "input": "src"'
    )
    assert [problem.split(" Allowed")[0] for problem in refusals(text)] == [
        "key 'kind' is written twice",
        "nodes[1]: key 'input' is written twice",
        "nodes[1].loadMode: unknown loadMode 'apend'; did you mean 'append'?",
    ]


def test_yaml_keys_written_twice() -> None:
    text = "kind: pipeline\nmetadata:\n  name: a\n  name: b\n"
    assert "metadata: key 'name' is written twice" in refusals(text, "yaml")


def test_yaml_keys_are_strings() -> None:
    found = refusals("metadata: {1: a}\n? [x]\n: y\n", "yaml")
    assert found == ["not YAML: line 2, column 3: a key must be a string"]
    found = refusals("metadata: {1: a}\n", "yaml")
    assert "metadata: key '1' is not a string; put it in quotes" in found


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_has_not(number: str) -> None:
    text = TEXT.replace('"append"', f'"append", "lagMinutes": {number}')
    assert "nodes[1].lagMinutes: NaN and Infinity are not JSON numbers" in refusals(text)


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf"])
def test_yaml_numbers_that_json_has_not(number: str) -> None:
    assert "x: NaN and Infinity are not JSON numbers" in refusals(f"x: {number}", "yaml")


def test_numbers_too_long_to_read() -> None:
    assert refusals(f'{{"x": {"9" * 5000}}}') == ["not JSON: a number has too many digits"]
    assert refusals(f"x: {'9' * 5000}", "yaml") == [
        "not YAML: line 1, column 4: not a number that can be read"
    ]


def test_text_that_postgres_cannot_hold() -> None:
    assert problems(change(pipeline(), ("metadata", "name"), "a\x00")) == [
        "metadata.name: text cannot contain NUL"
    ]
    text = TEXT.replace("Orders", "\\ud83d")
    assert refusals(text)[0] == (
        "metadata.name: text contains half of a surrogate pair, which is no character"
    )
    assert (
        parse_document(TEXT.replace("Orders", "\\ud83d\\ude00"), source="x").metadata.name == "😀"
    )


def test_depth() -> None:
    deep = ["nested deeper than 64 levels"]
    assert refusals("[" * 100_000) == deep
    assert refusals('{"a":' * 70 + "1" + "}" * 70) == deep
    assert refusals("a: " + "[" * 90 + "]" * 90, "yaml") == deep
    assert refusals("a: &a [*a]", "yaml") == deep


def test_aliases_do_not_unfold_without_bound() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)
    ]
    assert refusals("\n".join(lines), "yaml") == [
        "more than 200,000 values; a document holds no data"
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("12:30", "12:30"),
        ("2026-03-01", "2026-03-01"),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("+1", "+1"),
        ("=", "="),
        ("<<", "<<"),
        ("12", 12),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("'12'", "12"),
        ("!!str 12", "12"),
    ],
)
def test_yaml_words_mean_what_they_mean_in_json(text: str, value: object) -> None:
    assert read_data(f"x: {text}", "yaml") == {"x": value}


@pytest.mark.parametrize("tag", ["!!python/object:os.system x", "!!timestamp 2026-03-01", "!x y",
                                 "!!set {a}", "!!binary aGk="])  # fmt: skip
def test_yaml_tags_without_a_json_value(tag: str) -> None:
    (problem,) = refusals(f"x: {tag}", "yaml")
    assert problem == "not YAML: line 1, column 4: this tag has no value in JSON"


def test_one_document_per_file() -> None:
    (problem,) = refusals("a: 1\n---\nb: 2\n", "yaml")
    assert problem.startswith("not YAML: line 2, column 1: ")


def test_files_are_read_by_suffix(tmp_path: Path) -> None:
    as_json, as_yaml = tmp_path / "a.json", tmp_path / "a.YML"
    as_json.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    as_yaml.write_text(TEXT)
    assert read_document(as_json) == read_document(as_yaml)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(DocumentInvalid) as caught:
        read_document(path)
    assert caught.value.problems == (Problem("", "not UTF-8: byte 8 of the file"),)
    with pytest.raises(DocumentInvalid) as caught:
        read_document(tmp_path / "none.json")
    assert caught.value.problems == (Problem("", "cannot be read: No such file or directory"),)
