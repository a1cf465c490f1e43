"""DuckDB's reader and the careful one must give the same rows, rejects and lines."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kaireon_dagster.sources import csv_part, csv_scan, csv_sql
from kaireon_dagster.sources.census import Census
from kaireon_dagster_tests.sources.reading import read, write


def pieces(*alphabet: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(alphabet), max_size=6).map("".join)


VALUES = st.one_of(
    st.sampled_from(["", '""', "abc", "12", "x y", "\u00fc", " ", "NULL"]),
    pieces("a", ",", "\n", "\r\n", '""', "\u00e9", " ").map(lambda text: f'"{text}"'),
    pieces("a", '"', '""', " ", ",", "\n", "\\", "'", "\udcff", "\u00e9"),
)
ROWS = st.lists(st.lists(VALUES, min_size=1, max_size=5), max_size=6)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    header = [f"h{place}" for place in range(draw(st.integers(1, 4)))]
    rows = [",".join(row) for row in (header, *draw(ROWS))]
    text = end.join(rows) + draw(st.sampled_from(["", end, end * 2]))
    return text.encode("utf-8", "surrogateescape")


def observe(path: Path, **options: Any) -> Any:
    reading = read(path, **options)
    rejects = [(reject.line, reject.cause, reject.raw) for reject in reading.rejects]
    return reading.columns, reading.rows, rejects, reading.places


def compare(data: bytes, **options: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = write(Path(folder), "x.csv", data)
        patch.setattr(csv_part, "_MOST_WRONG", 1.0)
        quick = observe(path, **options)
        patch.setattr(csv_scan, "take_census", lambda path, dialect: Census(nuls=True))
        assert quick == observe(path, **options)


@given(files())
@settings(max_examples=150, deadline=None)
@example(b'h0,h1\n1,"x"y\n2,3\n')
@example(b'h0,h1\n1,"x" "y"\n')
@example(b'h0,h1\n1, "x"\n2,  "y"\n')
@example(b"h0,h1\r\n1,2\r\n3\r\n4,5\r\n")
@example(b"h0,h1\n1,2\n\n\n3\n")
@example(b'h0,h1\n1,"""\n2,3\n')
@example(b"h0\r\n1,2\r\n\r\n3\r\n")
@example(b"h0,h1,\n1,2,\n1,2,3\n")
@example(b'h0,h1\n1,\xff\n\xff,"x"y\n')
@example(b'h0,h1\n1,"2\r\n')
def test_both_read_the_same(data: bytes) -> None:
    compare(data)


@given(files(), st.booleans(), st.sampled_from([["", "NULL"], ["", "a", "12"]]))
@settings(max_examples=60, deadline=None)
def test_both_read_the_same_with_other_options(data: bytes, header: bool, nulls: list[str]) -> None:
    # Without header the first record may be one that no reader can take.
    compare(data if header else b"1,2\n" + data, header=header, nullValues=nulls)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_both_read_the_same_over_the_edges_of_buffers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, end: bytes
) -> None:
    chance = random.Random(seed)
    line = chance.choice([500, 1000])
    monkeypatch.setattr(csv_sql, "LONGEST_LINE", line)
    monkeypatch.setattr(csv_sql, "_BUFFER", line * chance.choice([2, 3, 8]))
    monkeypatch.setattr(csv_part, "_MOST_WRONG", 1.0)
    wrong = chance.choice([0.01, 0.05, 0.3])
    records = [_record(chance, wrong, number, end) for number in range(400)]
    path = write(tmp_path, "x.csv", end.join([b"a,b,c", *records, b""]))
    quick = observe(path)
    monkeypatch.setattr(csv_scan, "take_census", lambda path, dialect: Census(nuls=True))
    assert quick == observe(path)


def _record(chance: random.Random, wrong: float, number: int, end: bytes) -> bytes:
    if chance.random() < wrong:
        return chance.choice(
            [b"1,2", b"1,2,3,4", b'1,"x"y,3', b"1,\xff,3", b'1,"x"y,"z' + end + b'w"', b""]
        )
    return chance.choice(
        [
            b"%d,plain,z" % number,
            b'%d,"q, x","y"' % number,
            b'%d,"l1%sl2",""' % (number, end),
            b"%d,%s," % (number, b"x" * chance.randint(0, 80)),
        ]
    )
