from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kaireon_dagster.sources import (
    FileBroken,
    HeaderRefused,
    json_document,
    json_part,
    json_scan,
    json_sql,
)
from kaireon_dagster.sources.census import Census
from kaireon_dagster.sources.json_value import read_object
from kaireon_dagster_tests.sources.reading import case, read, scanning, write

UNSTORABLE = "a NUL or half a surrogate pair, which PostgreSQL cannot hold"
NOT_FINITE = "NaN or Infinity, which JSON does not have"


def test_a_key_that_appears_late_is_not_lost(tmp_path: Path) -> None:
    with (tmp_path / "late.jsonl").open("w") as file:
        for number in range(30_000):
            row: dict[str, Any] = {"id": number, "a": {"x": number}}
            if number >= 25_000:
                row["b"] = number * 10
                row["a"]["y"] = number
            file.write(json.dumps(row) + "\n")
    with scanning([tmp_path / "late.jsonl"], "jsonl") as (connection, scan):
        assert [name for name, _ in scan.columns] == ["id", "a", "b"]
        counts = "SELECT count(*), count(b), count(a->>'y') FROM rows"
        assert connection.execute(counts).fetchall() == [(30_000, 5_000, 5_000)]


def test_broken_lines_are_rejected_one_by_one() -> None:
    reading = read(case("019") / "broken.jsonl", "jsonl")
    assert reading.rows == [("1", "Ana"), ("2", "Bo")]
    assert reading.causes == {
        4: "a key that occurs twice",
        5: "more than one JSON value on the line",
        6: "a JSON value that is not an object",
        7: "a JSON value that is not an object",
        8: "bytes that are not valid in the file's encoding",
        9: "JSON that is cut off",
    }
    assert reading.raw[4] == b'{"id": 8, "name": "Hu\xe9"}'


def test_what_postgresql_cannot_hold_is_rejected() -> None:
    reading = read(case("052") / "rows.jsonl", "jsonl")
    assert reading.rows == [
        ("1", "fine", None),
        ("x4", "\U0001f600", None),
        ("x5", None, "123456789012345678901234567890"),
    ]
    assert reading.causes == {2: UNSTORABLE, 3: UNSTORABLE}


def test_nan_is_no_json() -> None:
    reading = read(case("051") / "nan.jsonl", "jsonl")
    assert reading.rows == [("1", "1.5"), ("4", "bad"), ("5", "1e400")]
    assert reading.causes == {2: NOT_FINITE, 3: NOT_FINITE}


def test_large_integers_keep_their_digits() -> None:
    rows = read(case("012") / "bigint.jsonl", "jsonl").rows
    assert rows[0] == ("9007199254740993", None)
    assert rows[2] == ("9223372036854775808", "1")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.10", "1.10"),
        ("-0", "-0"),
        ("-0.0", "-0.0"),
        ("1.0E5", "1.0E5"),
        ("1e400", "1e400"),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("0.00001", "0.00001"),
        ("12345678901234.5", "12345678901234.5"),
        ("true", "true"),
        ("null", None),
        ('""', ""),
        ('"null"', "null"),
        ('"a\\n\\u00e9\\/"', "a\n\u00e9/"),
        ('{"b": 1.10, "c" : [1, 2.50]}', '{"b":1.10,"c":[1,2.50]}'),
        ('{"b": "1", "c" : [true, null]}', '{"b":"1","c":[true,null]}'),
        ("[]", "[]"),
        ('{"k": 1, "k": 2}', '{"k":1,"k":2}'),
        ('": 1.50 euros"', ": 1.50 euros"),
        ('"a, 1.10,"', "a, 1.10,"),
    ],
)
def test_values_are_their_text(tmp_path: Path, value: str, text: str | None) -> None:
    path = write(tmp_path, "x.jsonl", f'{{"id": 1, "v": {value}}}\n{{"v":{value},"id":2.50}}\n')
    reading = read(path, "jsonl")
    assert reading.rows == [("1", text), ("2.50", text)]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"a":1,}', "not JSON"),
        ('{"a":01}', "not JSON"),
        ('{"a":1.5.2}', "not JSON"),
        ('{"a":+1.50}', "not JSON"),
        ('{"a":.50}', "not JSON"),
        ("{'a':1}", "not JSON"),
        ('{"a":"\t"}', "not JSON"),
        ('{"a":1} x', "not JSON"),
        ('/* c */ {"a":1}', "not JSON"),
        ('{"a":nan}', "not JSON"),
        ('{"a":[NaN]}', NOT_FINITE),
        ('{"a":"\\ud83d"}', UNSTORABLE),
        ('{"a":{"b":"\\u0000"}}', UNSTORABLE),
        ('{"\\u0000":1}', UNSTORABLE),
        ("5", "a JSON value that is not an object"),
        ("null", "a JSON value that is not an object"),
        ('{"a":' + "[" * 5_000 + "]" * 5_000 + "}", "JSON that is nested too deeply"),
        ('{"a":' + "[" * 100_000, "JSON that is nested too deeply"),
        ('{"a":1,"a":1}', "a key that occurs twice"),
        ('{"a":1,"\\u0061":1}', "a key that occurs twice"),
        ('\ufeff{"a":1}', "a byte order mark in the middle of the file"),
        ('{"a":"x\x00"}', "a NUL byte, which PostgreSQL cannot hold"),
    ],
)
def test_each_fault_has_its_cause(tmp_path: Path, line: str, cause: str) -> None:
    path = write(tmp_path, "x.jsonl", f'{{"a":"good"}}\n{line}\n{{"a":"good too"}}\n')
    reading = read(path, "jsonl")
    assert [row[0] for row in reading.rows] == ["good", "good too"]
    assert reading.causes == {2: cause}
    assert reading.places == [("x.jsonl", 1), ("x.jsonl", 3)]


def test_nesting_that_can_be_read_is_read(tmp_path: Path) -> None:
    deep = "[" * 150 + "]" * 150
    assert read(write(tmp_path, "x.jsonl", f'{{"a":{deep}}}\n'), "jsonl").rows == [(deep,)]


def test_strings_full_of_brackets_are_no_nesting(tmp_path: Path) -> None:
    text = "[{" * 500
    assert read(write(tmp_path, "x.jsonl", f'{{"a":"{text}"}}\n'), "jsonl").rows == [(text,)]


def test_odd_keys_are_columns(tmp_path: Path) -> None:
    keys = ["a.b", "$x", "a/b", "a~1b", 'q"uote', "it's", "*", "0", "sp ace", "[1]", "\u00e9", "\\"]
    path = write(tmp_path, "x.jsonl", json.dumps({key: key for key in keys}))
    reading = read(path, "jsonl")
    assert (reading.names, reading.rows) == (keys, [tuple(keys)])


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{"":1}', "column 1 has no name"),
        ('{"id":1}\n{"ID":2}', "columns 1 'id', 2 'ID' have one name"),
        ('{"_flow_x":1}', "reserved"),
        ("\n".join(f'{{"k{number}":1}}' for number in range(1_700)), "more than 1600"),
    ],
)
def test_keys_that_cannot_be_columns_are_refused(tmp_path: Path, lines: str, problem: str) -> None:
    with pytest.raises(HeaderRefused, match=problem):
        read(write(tmp_path, "x.jsonl", lines), "jsonl")


def test_absent_and_null_are_null_and_files_share_columns(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "1.jsonl", '{"a":1}\n\n{}\n'),
        write(tmp_path, "0.jsonl", ""),
        write(tmp_path, "2.jsonl", '{"b":null,"a":"x"}\r\n{"b":"y"}\n'),
    ]
    reading = read(files, "jsonl", name_column="file")
    assert reading.names == ["a", "b", "file"]
    assert reading.rows == [
        ("1", None, "1.jsonl"),
        (None, None, "1.jsonl"),
        ("x", None, "2.jsonl"),
        (None, "y", "2.jsonl"),
    ]
    assert reading.places == [("1.jsonl", 1), ("1.jsonl", 3), ("2.jsonl", 1), ("2.jsonl", 2)]


def test_lines_may_be_utf16(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", '{"a":"\u00e9"}\nbad \u00e9\n'.encode("utf-16"))
    reading = read(path, "jsonl")
    assert reading.rows == [("\u00e9",)]
    assert reading.raw == ["bad \u00e9".encode("utf-16-le")]


def test_a_line_beyond_all_limits_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_part, "LONGEST_LINE", 2 << 20)
    path = write(tmp_path, "x.jsonl", '{"a":1}\n{"a":"' + "x" * (3 << 20) + '"}\n')
    with pytest.raises(FileBroken, match=r"x\.jsonl:2: a line of more than 2 MiB"):
        read(path, "jsonl")


def test_a_long_line_is_read(tmp_path: Path) -> None:
    long = "x" * (20 << 20)
    assert read(write(tmp_path, "x.jsonl", f'{{"a":"{long}"}}'), "jsonl").rows == [(long,)]


TEXTS = st.text(st.sampled_from(['"', "\\", ":", ",", "1", ".", "5", "0", " ", "e", "{", "\u00e9"]))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS.map(str)
)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "c", 'd":', "\u00e9"]),
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4),
)


@given(st.lists(st.tuples(OBJECTS, st.integers(0, 200), st.sampled_from(["", "x", ",", "1.50"]))))
@settings(max_examples=50, deadline=None)
@example([({"a": ": 1.50", "b": 2.5}, 200, ""), ({"a": 1.10, "b": ': 1.50,"'}, 200, "")])
def test_duckdb_and_the_strict_reader_agree(
    drawn: list[tuple[dict[str, Any], int, str]],
) -> None:
    lines = [json.dumps(value, ensure_ascii=False) for value, _, _ in drawn]
    # Cutting and inserting makes lines that are nearly right.
    broken = [
        f"{line[:place]}{extra}{line[place:]}"
        for line, (_, place, extra) in zip(lines, drawn, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), "x.jsonl", "\n".join(broken))
        quick = read(path, "jsonl")
        census = json_scan.take_census
        try:
            json_scan.take_census = lambda path, dialect: Census(nuls=True)
            careful = read(path, "jsonl")
        finally:
            json_scan.take_census = census
    assert (quick.rows, quick.causes, quick.raw, quick.places) == (
        careful.rows,
        careful.causes,
        careful.raw,
        careful.places,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_both_agree_over_the_edges_of_buffers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, end: bytes
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(json_sql, "LONGEST_LINE", chance.choice([200, 400, 1000]))
    kinds = [b'{"a":%d}', b'{"a":%d,"b":"\xff"}', b"\xff%d", b"", b'{"a":%d,}', b'{"b":%d.50}']
    weights = [20, *[chance.choice([0.1, 5]) for _ in kinds[1:]]]
    lines = [
        kind % number if b"%d" in kind else kind
        for number, kind in enumerate(chance.choices(kinds, weights, k=500))
    ]
    path = write(tmp_path, "x.jsonl", end.join(lines) + end)
    quick = read(path, "jsonl")
    monkeypatch.setattr(json_scan, "take_census", lambda path, dialect: Census(nuls=True))
    careful = read(path, "jsonl")
    assert (quick.rows, quick.causes, quick.raw) == (careful.rows, careful.causes, careful.raw)


# Documents


RECORDS = '{"data":{"n":[1,{"items":0}],"items":[{"a":1.10,\n"b":"x"},\r\n{"a":[1,\n2]}]},"z":{}}'


def test_records_stand_where_the_path_says(tmp_path: Path) -> None:
    path = write(tmp_path, "x.json", RECORDS)
    for records_path in ("data.items", "/data/items"):
        reading = read(path, "json", recordsPath=records_path)
        assert reading.rows == [("1.10", "x"), ("[1,2]", None)]
        assert reading.places == [("x.json", 1), ("x.json", 3)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("[]", []),
        ("", []),
        (" \n", []),
        ("\ufeff[]", []),
        ('{"a":1}', [("1",)]),
        ('[{"a":1},{"a":2}]', [("1",), ("2",)]),
        ('[\n  {"a": "x\\ny"}\n]\n', [("x\ny",)]),
    ],
)
def test_documents_are_an_array_or_one_object(
    tmp_path: Path, text: str, rows: list[tuple[str]]
) -> None:
    assert read(write(tmp_path, "x.json", text), "json").rows == rows


def test_elements_are_judged_one_by_one(tmp_path: Path) -> None:
    text = '[{"a":1},\n5,\n{"a":1,"a":2},\n{"a":NaN},\n{"a":"\\ud800"},\n{"a":\n 2}]'
    reading = read(write(tmp_path, "x.json", text), "json")
    assert reading.rows == [("1",), ("2",)]
    assert list(reading.causes) == [2, 3, 4, 5]
    assert reading.raw[1] == b'{"a":1,"a":2}'
    assert reading.places == [("x.json", 1), ("x.json", 6)]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ('[{"a":1},\n{"a":2}', {}, "x.json:2: the document is cut off"),
        ('[{"a":1}\n{"a":2}]', {}, "x.json:2: ',' is missing"),
        ('[{"a":1},]', {}, "x.json:1: the document is cut off, or no JSON"),
        ('[{"a":1}] x', {}, "x.json:1: text after the end"),
        ("5", {}, "neither an array of objects nor an object"),
        ('[{"a":"\udcff"}]', {}, "bytes that are not UTF-8"),
        ("[" * 100_000, {}, "nested too deeply|cut off"),
        ('{"a":1}', {"recordsPath": "b"}, "needs the key 'b'"),
        ("[]", {"recordsPath": "b"}, "needs an object with the key 'b'"),
        ('{"b":[],"b":[]}', {"recordsPath": "b"}, "occurs twice"),
        ('{"b":[]', {"recordsPath": "b"}, "cut off"),
        ('{"b" []}', {"recordsPath": "b"}, "':' is missing"),
        ("{b:[]}", {"recordsPath": "b"}, "a key is missing"),
    ],
)
def test_a_broken_document_is_refused_whole(
    tmp_path: Path, text: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(FileBroken, match=message):
        read(write(tmp_path, "x.json", text), "json", **options)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_pieces_of_any_size_make_the_same_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(json_document, "_CHUNK", chunk)
    text = '[{"a":1.50,"b":"\u00e9\\u00e9"},\r\n{"a":-12,"c":{"d":[true,false,null]}},\r\n 7]'
    reading = read(write(tmp_path, "x.json", text), "json")
    assert reading.rows == [
        ("1.50", "\u00e9\u00e9", None),
        ("-12", None, '{"d":[true,false,null]}'),
    ]
    assert reading.raw == [b"7"]
    assert [line for _, line in reading.places] == [1, 2]
    assert list(reading.causes) == [3]


def test_a_value_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_document, "LONGEST_VALUE", 2 << 20)
    path = write(tmp_path, "x.json", '[{"a":"' + "x" * (5 << 20) + '"}]')
    with pytest.raises(FileBroken, match="a value of more than 2 Mi characters"):
        read(path, "json")


def test_no_text_of_a_row_is_in_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", '{"a":"SECRET"\n{"a":SECRET}\n[SECRET\n')
    assert "SECRET" not in str(read(path, "jsonl").causes)
    for raw in (b'{"a":"SECRET', b"SECRET", b'{"SECRET":1,"SECRET":2}'):
        assert "SECRET" not in str(read_object(raw))


def test_an_error_of_duckdb_is_told_without_its_text(tmp_path: Path) -> None:
    files = [write(tmp_path, "x.jsonl", '{"a":1}'), write(tmp_path, "y.jsonl", '{"a":1}')]
    with scanning(files, "jsonl") as (_, scan):
        told = scan.explain(duckdb.InvalidInputException(f"SECRET in {files[1]}"))
        assert isinstance(told, FileBroken)
        assert str(told).startswith("y.jsonl: cannot be read")
        assert scan.explain(duckdb.InvalidInputException("no fault of a file")) is None
