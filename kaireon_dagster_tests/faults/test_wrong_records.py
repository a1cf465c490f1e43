"""Many wrong records in large files: none is lost, and the worker stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster_tests.sources.reading import read, scanning, write

MIB = 1 << 20
GOOD = b"1,2," + b"x" * 995 + b"\n"
WRONG = b"1," + b"x" * 996 + b"\n"
HEADER = b"a,b,c\n"


@pytest.mark.parametrize("stretch", [8, 4096])
@pytest.mark.parametrize("place", [8 * MIB, 16 * MIB, 32 * MIB])
def test_rows_behind_a_stretch_of_wrong_records_are_read(
    tmp_path: Path, place: int, stretch: int
) -> None:
    before = place // len(GOOD) - 4
    data = HEADER + GOOD * before + WRONG * stretch + GOOD * 2000
    with scanning([write(tmp_path, "a.csv", data)]) as (connection, scan):
        (rows,) = connection.execute("SELECT count(c) FROM rows").fetchall()
        assert rows == (before + 2000,)
        assert sum(1 for _ in scan.rejects()) == stretch


def test_file_of_wrong_records_goes_to_the_reader_that_keeps_their_places_only(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "a.csv", HEADER + b"1,2\n" * 3000 + b"1,2,3\n")
    with scanning([path]) as (connection, scan):
        assert connection.execute("SELECT * FROM rows").fetchall() == [("1", "2", "3")]
        assert sum(1 for _ in scan.rejects()) == 3000
        tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert tables == []


def test_few_wrong_records_do_not_slow_a_file_down(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", HEADER + b"1,2,3\n" * 500 + b"1,2\n" * 20)
    with scanning([path]) as (connection, scan):
        assert len(connection.execute("SELECT * FROM rows").fetchall()) == 500
        tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert len(tables) == 2
        assert sum(1 for _ in scan.rejects()) == 20


def test_a_quote_that_is_never_closed_ends_the_run_before_memory_does(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", HEADER + b'1,2,"' + b"abcdefgh,\n" * (7 * MIB))
    with pytest.raises(Exception, match=r"a\.csv:2: a record of more than 64 MiB; a quote is"):
        read(path)
