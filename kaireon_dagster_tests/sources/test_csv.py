from __future__ import annotations

import csv
import io
from pathlib import Path

import duckdb
import pytest

from kaireon_dagster.sources import (
    FileBroken,
    FileChanged,
    HeaderRefused,
    csv_part,
    csv_sql,
    csv_walk,
    open_scan,
)
from kaireon_dagster_tests.sources.reading import (
    case,
    claimed,
    make_source,
    read,
    scanning,
    write,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave small files to DuckDB's reader that it would not get for being so full of faults."""
    monkeypatch.setattr(csv_part, "_MOST_WRONG", 1.0)


TORN = "a quote is not closed, or text follows a closing quote"


@pytest.mark.parametrize("name", ["bom.csv", "bom-quoted.csv"])
def test_a_leading_byte_order_mark_is_dropped(name: str) -> None:
    reading = read(case("001") / name)
    assert (reading.names, reading.rows) == (["id", "name"], [("1", "Ana"), ("2", "Bo")])


def test_a_byte_order_mark_in_the_middle_is_rejected_with_its_line() -> None:
    reading = read(case("001") / "bom-second-part.csv")
    assert reading.rows == [("3", "Cy")]
    assert reading.causes == {3: "a byte order mark in the middle of the file"}


def test_files_are_matched_by_name_and_what_is_missing_is_null() -> None:
    files = [case("002") / name for name in ("swapped.csv", "extra.csv", "missing.csv")]
    reading = read(files, name_column="file")
    assert reading.columns == dict.fromkeys(["id", "net", "gross", "colour", "file"], "text")
    assert reading.rows == [
        ("1", "10.00", "12.10", None, "swapped.csv"),
        ("2", "20.00", "24.20", None, "swapped.csv"),
        ("3", "1.00", "1.21", "red", "extra.csv"),
        ("4", "5.00", None, None, "missing.csv"),
    ]
    assert reading.places == [
        ("swapped.csv", 2),
        ("swapped.csv", 3),
        ("extra.csv", 2),
        ("missing.csv", 2),
    ]


def test_columns_in_another_order_are_the_same_columns(tmp_path: Path) -> None:
    files = [write(tmp_path, "1.csv", "a,b\n1,2\n"), write(tmp_path, "2.csv", "b,a\n3,4\n")]
    assert read(files).rows == [("1", "2"), ("4", "3")]


def test_a_header_with_twins_is_refused_with_positions() -> None:
    with pytest.raises(HeaderRefused) as refused:
        read(case("003") / "dup.csv")
    assert "columns 1 'id', 4 'id'" in str(refused.value)
    assert "columns 2 'Amount', 3 'amount'" in str(refused.value)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("a,,b", "column 2 has no name"),
        ("a,  ,b", "column 2 has no name"),
        ("a,_flow_row", "column 2 '_flow_row' begins with '_flow_'"),
        ("a," + "\u00e9" * 32, "is longer than 63 bytes"),
        ('a,"b" c', "a quote in it is not closed"),
        ("a,b\x00", "NUL bytes"),
    ],
)
def test_a_name_that_cannot_be_a_column_is_refused(
    tmp_path: Path, header: str, problem: str
) -> None:
    with pytest.raises(HeaderRefused, match=problem):
        read(write(tmp_path, "x.csv", f"{header}\n1,2\n"))


def test_all_problems_of_a_header_are_told_at_once() -> None:
    with pytest.raises(HeaderRefused) as refused:
        read(case("016") / "hostile.csv")
    assert [problem.split(" ")[1] for problem in refused.value.problems] == ["8", "10", "11"]


def test_hostile_names_are_names(tmp_path: Path) -> None:
    names = ['id"; DROP TABLE victim; --', "select", "a%b", "x:y", "  padded  ", "it's", "c0"]
    names += ["filename", "tab\there", "line\nbreak"]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, names])
    reading = read(write(tmp_path, "x.csv", text.getvalue()))
    assert reading.names == names
    assert reading.rows == [tuple(names)]


def test_names_differing_in_case_between_files_are_refused(tmp_path: Path) -> None:
    files = [write(tmp_path, "1.csv", "id\n1\n"), write(tmp_path, "2.csv", "ID\n2\n")]
    with pytest.raises(HeaderRefused, match=r"2\.csv.*'ID' differs from 'id' of 1\.csv"):
        read(files)


def test_accents_are_kept_as_they_are_composed(tmp_path: Path) -> None:
    assert read(case("010") / "nfd.csv").names == ["id", "nai\u0308ve"]
    both = read(write(tmp_path, "x.csv", "na\u00efve,nai\u0308ve\n1,2\n"))
    assert both.rows == [("1", "2")]


def test_a_backslash_dot_ends_nothing() -> None:
    assert read(case("005") / "codes.csv").rows == [("A",), ("\\.",), ("B",), ("C",)]
    assert read(case("005") / "notes.csv").rows == [("1", "line a\n\\.\nline b"), ("2", "ok")]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("mixed.csv", [("1", "a"), ("2", "b"), ("3", "c")]),
        ("crlf.csv", [("1", "a"), ("2", "b")]),
        ("cr-only.csv", [("1", "a"), ("2", "b")]),
        ("no-final-newline.csv", [("1", "a"), ("2", "b")]),
        ("cr-inside-quotes.csv", [("1", "a\rb"), ("2", "c\r\nd")]),
    ],
)
def test_every_line_end_ends_a_line(name: str, rows: list[tuple[str, str]]) -> None:
    assert read(case("006") / name).rows == rows


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("chunk", [97, csv_walk.CHUNK])
def test_a_newline_at_a_chunk_edge_cuts_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, chunk: int
) -> None:
    monkeypatch.setattr(csv_walk, "CHUNK", chunk)
    count = 60_000 if chunk > 97 else 2_000
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "note", "qty"])
    writer.writerows(
        [number, "x" * (number % 97) + '\ny,"z"', number % 7] for number in range(count)
    )
    # A mixed line end sends the file to the careful reader.
    tail = "" if chunk > 97 else "-1,x,0\r\n"
    with scanning([write(tmp_path, "big.csv", text.getvalue() + tail)]) as (connection, _):
        connection.execute(f"SET threads = {threads}")
        totals = "SELECT count(*), sum(qty::int), max(id::int) FROM rows"
        rows = connection.execute(totals).fetchall()
    assert rows == [(count + bool(tail), sum(number % 7 for number in range(count)), count - 1)]


def test_ragged_rows_are_rejected_and_surplus_nulls_passed_over() -> None:
    reading = read(case("008") / "ragged.csv")
    assert [row[0] for row in reading.rows] == ["1", "3", "5"]
    assert reading.causes == {
        3: "2 values where the file has 3 columns",
        5: "4 values where the file has 3 columns",
    }
    assert reading.raw == [b"2,Bo", b'4,Di,"Rio, RJ",extra']


def test_a_delimiter_at_the_end_of_header_and_rows_adds_no_column(tmp_path: Path) -> None:
    reading = read(case("008") / "trailing-delimiter.psv", delimiter="|")
    assert (reading.names, reading.rows) == (["A", "B", "C"], [("1", "2", "3"), ("4", "5", "6")])
    filled = read(write(tmp_path, "x.psv", "A|B|\n1|2|\n3|4|5\n6|7\n"), delimiter="|")
    assert filled.rows == [("1", "2"), ("6", "7")]
    assert filled.causes == {3: "3 values where the file has 2 columns"}


def test_a_delimiter_at_the_end_holds_with_other_null_values(tmp_path: Path) -> None:
    path = write(tmp_path, "x.psv", "A|B|\n1||\nNULL|4|\n")
    assert read(path, delimiter="|", nullValues=["NULL"]).rows == [("1", ""), (None, "4")]


def test_only_the_row_with_a_nul_is_rejected() -> None:
    reading = read(case("009") / "nul.csv")
    assert [row[0] for row in reading.rows] == ["1", "3"]
    assert reading.causes == {3: "a NUL byte, which PostgreSQL cannot hold"}
    assert reading.raw == [b"2,a\x00b"]


def test_a_padded_tail_is_called_so() -> None:
    reading = read(case("009") / "padded.csv")
    assert (reading.rows, reading.causes) == ([("1", "good")], {3: "padding of 512 NUL bytes"})


def test_a_control_z_is_a_record_like_any_other() -> None:
    reading = read(case("009") / "ctrl-z.csv")
    assert (reading.rows, reading.raw) == ([("1", "good")], [b"\x1a"])


def test_text_stays_as_typed() -> None:
    reading = read(case("011") / "na.csv")
    assert [row[0] for row in reading.rows] == ["NA", "NO", None]
    assert reading.rows[1][1:] == ("00501", "on", "None", "0x1F")
    assert read(case("012") / "bigint.csv").rows[3] == ("9223372036854775808", "1")


def test_an_unquoted_empty_is_null_and_a_quoted_one_is_empty() -> None:
    rows = [("1", None, None), ("2", "", ""), ("3", "NULL", "NULL"), ("4", " ", "7")]
    assert read(case("015") / "empties.csv").rows == rows


def test_null_values_are_declared_and_never_quoted() -> None:
    rows = [("1", None, None), ("2", "", ""), ("3", "NULL", None), ("4", " ", "7")]
    assert read(case("015") / "empties.csv", nullValues=["", "NULL"]).rows == rows
    rows = [("1", "", ""), ("2", "", ""), ("3", "NULL", None), ("4", " ", "7")]
    assert read(case("015") / "empties.csv", nullValues=["NULL"]).rows == rows


@pytest.mark.parametrize("name", ["zero-bytes.csv", "bom-only.csv", "blank-lines.csv"])
def test_a_file_without_a_record_has_no_columns(name: str) -> None:
    reading = read(case("017") / name)
    assert (reading.columns, reading.rows, reading.rejects) == ({}, [], [])
    assert read(case("017") / name, name_column="file").rows == []


def test_a_header_alone_has_no_rows() -> None:
    reading = read(case("017") / "header-only.csv")
    assert (reading.names, reading.rows) == (["id", "name"], [])


def test_no_file_at_all_has_no_rows() -> None:
    assert read([]).rows == []


def test_empty_files_are_passed_over_beside_others(tmp_path: Path) -> None:
    files = [case("017") / "zero-bytes.csv", write(tmp_path, "x.csv", "id\n1\n")]
    assert read(files).rows == [("1",)]


def test_wrong_bytes_are_rejected_with_the_original(tmp_path: Path) -> None:
    reading = read(case("052") / "rows.csv")
    assert reading.rows == [("3", "fine")]
    assert reading.raw == [b"x1,a\x00b", b"x2,\xff\xfe"]
    assert list(reading.causes) == [2, 3]


def test_blank_lines_are_passed_over_but_are_rows_of_one_column(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.csv", "\n\na,b\n\n1,2\n\n")).rows == [("1", "2")]
    assert read(write(tmp_path, "y.csv", "a\n1\n\n2\n")).rows == [("1",), (None,), ("2",)]


def test_a_file_without_header_has_numbered_columns(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "x.csv", "1,2\n3,4\n5\n"), header=False)
    assert (reading.names, reading.rows) == (["c1", "c2"], [("1", "2"), ("3", "4")])
    assert reading.places == [("x.csv", 1), ("x.csv", 2)]
    assert list(reading.causes) == [3]


def test_tsv_is_cut_at_tabs(tmp_path: Path) -> None:
    path = write(tmp_path, "x.tsv", 'a\tb\n1,5\t"x\ty"\n')
    assert read(path, "tsv").rows == [("1,5", "x\ty")]


@pytest.mark.parametrize(
    ("options", "text", "rows"),
    [
        ({"delimiter": ";"}, "a;b\n1;2\n", [("1", "2")]),
        ({"delimiter": "\u00a7"}, "a\u00a7b\n1\u00a72\n", [("1", "2")]),
        ({"quote": "'"}, "a,b\n'1,5','it''s'\n", [("1,5", "it's")]),
        ({"quote": "\u00ab"}, "a,b\n\u00ab1,5\u00ab,2\n", [("1,5", "2")]),
        ({"quote": ""}, 'a,b\n"1,2"\n', [('"1', '2"')]),
        ({"escape": "\\"}, 'a,b\n"x\\"y","z\\\\"\n', [('x"y', "z\\")]),
        ({"delimiter": " "}, 'a b\n1 "2 3"\n', [("1", "2 3")]),
    ],
)
def test_dialects(
    tmp_path: Path, options: dict[str, str], text: str, rows: list[tuple[str, ...]]
) -> None:
    reading = read(write(tmp_path, "x.csv", text), **options)
    assert (reading.rows, reading.rejects) == (rows, [])


def test_a_quote_left_open_takes_the_rest_of_the_file(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "x.csv", 'a,b\n1,2\n3,"x\n4,5\n6,7\n'))
    assert reading.rows == [("1", "2")]
    assert reading.causes == {3: TORN}
    assert reading.raw == [b'3,"x\n4,5\n6,7\n']


@pytest.mark.parametrize("row", [b"5,6\n", b'5,""\n', b'"",6\n'])
def test_a_quote_left_open_for_longer_than_buffers_loses_nothing(
    tmp_path: Path, row: bytes
) -> None:
    # DuckDB's reader would drop the rows after it without a word.
    good, rest = b"1,2\n" * 1_000, row * (3_200_000 // len(row))
    path = write(tmp_path, "x.csv", b"a,b\n" + good + b'3,"x\n' + rest)
    reading = read(path)
    assert len(reading.rows) == 1_000
    assert reading.causes == {1_002: TORN}
    assert reading.raw == [b'3,"x\n' + rest]


def test_a_record_longer_than_the_readers_limit_is_read(tmp_path: Path) -> None:
    long = "x" * (20 << 20)
    reading = read(write(tmp_path, "x.csv", f'a,b\n1,2\n3,"{long}"\n4,5\n'))
    assert reading.rows == [("1", "2"), ("3", long), ("4", "5")]


def test_a_long_record_full_of_quotes_is_read(tmp_path: Path) -> None:
    line, count = "x" * 97, 170_000
    path = write(tmp_path, "x.csv", 'a,b\n1,2\n3,"' + f'""{line}\n' * count + '"\n4,5\n')
    reading = read(path)
    assert [row[0] for row in reading.rows] == ["1", "3", "4"]
    assert reading.rows[1][1] == f'"{line}\n' * count


def test_a_record_too_long_for_the_quick_reader_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_sql, "LONGEST_LINE", 1_000)
    path = write(tmp_path, "x.csv", f'a,b\n1,2\n3,"{"x" * 2_000}"\n4,5\n')
    with pytest.raises(FileBroken, match=r"x\.csv: the record at byte 8 is longer than"):
        read(path)


def test_a_record_beyond_all_limits_fails_the_run_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_walk, "LONGEST_RECORD", 3 << 20)
    path = write(tmp_path, "x.csv", b'a,b\n1,2\n3,"' + b"x" * (5 << 20))
    with scanning([path]) as (connection, scan), pytest.raises(FileBroken) as broken:
        try:
            connection.execute("SELECT * FROM rows").fetchall()
        except duckdb.Error as error:
            told = scan.explain(error)
            assert told is not None
            raise told from None
    assert broken.value.line == 3


def test_a_file_that_changes_while_it_is_read_fails_the_run(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "a\n1\n")
    with scanning([path]) as (connection, scan):
        connection.execute("SELECT * FROM rows").fetchall()
        write(tmp_path, "x.csv", "a\n1\n2\n")
        with pytest.raises(FileChanged):
            list(scan.rejects())


def test_an_odd_path_is_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "in [2026] {a}"
    folder.mkdir()
    write(folder, "ordersa.csv", "id\nwrong\n")
    for name in ("orders[abc].csv", "what?.csv", "it's.csv", "new\nline.csv", "caf\udce9.csv"):
        assert read(write(folder, name, "id\n1\n")).rows == [("1",)], name


def test_names_that_are_no_text_become_one(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "caf\udce9.csv", "id\n1\n"), name_column="file")
    assert reading.rows == [("1", "caf\\xe9.csv")]


def test_rows_come_in_file_and_row_order_whatever_the_threads(tmp_path: Path) -> None:
    files = []
    for part in range(4):
        rows = "".join(f"{part},{row}\n" for row in range(20_000))
        header = "part,row\n" if part != 2 else "row,part\n"
        files.append(write(tmp_path, f"{part}.csv", header + rows))
    with scanning(files) as (connection, scan):
        connection.execute("SET threads = 4")
        rows = connection.execute("SELECT * FROM rows").fetchall()
        assert scan.locate(50_000) == (scan.locate(50_001)[0], 10_002)
        assert scan.locate(0)[1] == 2
        with pytest.raises(IndexError):
            scan.locate(80_000)
    expected = [(part, row) for part in range(4) for row in range(20_000)]
    swapped = [(b, a) if a == 2 else (a, b) for a, b in expected]
    assert rows == [(str(a), str(b)) for a, b in swapped]


def test_closing_leaves_nothing_behind(tmp_path: Path) -> None:
    files = [write(tmp_path, "1.csv", "a\n1,2\n"), write(tmp_path, "2.csv", "a\n1\r\n2\n")]
    with duckdb.connect() as connection:
        source = make_source()
        scan = open_scan([claimed(path) for path in files], source, connection, "rows")
        connection.execute("SELECT * FROM rows").fetchall()
        scan.close()
        scan.close()
        assert connection.execute("SHOW ALL TABLES").fetchall() == []


def test_two_scans_stand_side_by_side(tmp_path: Path) -> None:
    files = [write(tmp_path, "1.csv", "a\n1\n2,2\n"), write(tmp_path, "2.csv", "a\n3\n4,4\n")]
    with duckdb.connect() as connection:
        scans = [
            open_scan([claimed(path)], make_source(), connection, f"rows{number}")
            for number, path in enumerate(files)
        ]
        connection.execute("SELECT * FROM rows0, rows1").fetchall()
        assert [[reject.raw for reject in scan.rejects()] for scan in scans] == [[b"2,2"], [b"4,4"]]
