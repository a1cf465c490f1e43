from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.sources.census import BLOCK, Census, take_census
from kaireon_dagster.sources.dialect import Dialect
from kaireon_dagster_tests.sources.reading import make_source, write

LINES = b"1,plain,2.50\n" * (BLOCK // 13)


def census(folder: Path, data: bytes, **options: str) -> Census:
    return take_census(write(folder, "x.csv", data), Dialect.of(make_source(options=options)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a,b\n1,2\n",
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"a,b\r\n1,2\r\n",
        b"a,b\r1,2\r",
        LINES * 3,
        b'a,b\n1,""\n',
        b'a,b\n1,"x"',
        b'a,b\n1,"say ""x"""',
        b'a,b\n1,""',
        LINES + b'"x",1\n' + LINES * 3,
        LINES + b'1,"say ""x"""\n' + LINES * 3,
        (b'1,"",2\n' * 150_000) * 3,
        *(LINES[:place] + b'1,"",2\n' * 450_000 for place in range(8)),
        LINES + b'5" pipe,1\n' + LINES * 3,
    ],
    ids=range(22),
)
def test_clean_files_are_clean(tmp_path: Path, data: bytes) -> None:
    assert census(tmp_path, data).is_clean


@pytest.mark.parametrize("place", [0, 5, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_a_nul_is_found_wherever_it_is(tmp_path: Path, place: int) -> None:
    data = LINES * 3
    assert census(tmp_path, data[:place] + b"\x00" + data[place + 1 :]).nuls


@pytest.mark.parametrize("place", [1, 2, 3, BLOCK - 2, BLOCK - 1, BLOCK, 2 * BLOCK + 7])
def test_a_stray_byte_order_mark_is_found_wherever_it_is(tmp_path: Path, place: int) -> None:
    data = LINES * 3
    assert census(tmp_path, data[:place] + b"\xef\xbb\xbf" + data[place:]).boms


@pytest.mark.parametrize("lead", [0, 1, BLOCK - 1, BLOCK - 2])
def test_a_pair_cut_by_a_block_is_one_line_end(tmp_path: Path, lead: int) -> None:
    assert census(tmp_path, b"x" * lead + b"\r\n" + b"1,2\r\n" * 400_000).is_clean


@pytest.mark.parametrize(
    "data",
    [
        b"a\n1\r\n",
        b"a\r\n1\n",
        b"a\r1\n",
        b"a\r\n1\r",
        LINES * 2 + b"1,2,3\r\n",
        b"1,2\r\n" * 300_000 + b"1,2\n",
        b'a\n"x\ry"\n',
    ],
    ids=range(7),
)
def test_mixed_line_ends_are_found(tmp_path: Path, data: bytes) -> None:
    found = census(tmp_path, data)
    assert found.has_mixed_line_ends
    assert not found.is_clean


def test_a_block_without_line_end_is_found(tmp_path: Path) -> None:
    assert census(tmp_path, b"a\n" + b"x" * 3 * BLOCK).long_line


FILL = b"," * BLOCK
EMPTIES = b'1,"",2\n' * 450_000


@pytest.mark.parametrize(
    "data",
    [
        LINES + b'1,"open\n' + LINES * 3,
        LINES + b'1,"open\n' + EMPTIES,
        b'"open\n' + EMPTIES,
        b'1,"a"\n1,"""open\n' + LINES * 3,
        FILL[: BLOCK - 1] + b'"' + b"x\n" * BLOCK,
        FILL[: BLOCK - 2] + b'"""' + b"x\n" * BLOCK,
        FILL[: BLOCK - 1] + b'"""' + b"x\n" * BLOCK,
        FILL + b'"""' + b"x\n" * BLOCK,
        LINES + b'1, "open\n' + LINES * 3,
        b'a,b\n1,2\n3,"x\n4,5\n',
        b'a,b\n1,"x ""y""\n',
        b'a,b\n1,"',
        b'a,b\n1,"""',
        b'a,b\n"x"y,"\n',
    ],
    ids=range(14),
)
def test_a_quote_that_may_stay_open_is_found(tmp_path: Path, data: bytes) -> None:
    assert census(tmp_path, data).open_quote


def test_without_quotes_nothing_is_open(tmp_path: Path) -> None:
    assert census(tmp_path, b'1,"open\n' + LINES * 3, quote="").is_clean
