from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.sources.buffers import find_buffer_size
from kaireon_dagster_tests.sources.reading import write


@pytest.mark.parametrize("lead", range(7, 13))
def test_no_edge_touches_a_crlf(tmp_path: Path, lead: int) -> None:
    data = b"x" * lead + b"\r\n" + b"x" * 8 + b"\r\n" + b"x" * 30
    path = write(tmp_path, "x", data)
    size = find_buffer_size([path, path], 10)
    edges = [data[edge - 1 : edge + 2] for edge in range(size, len(data), size)]
    assert size >= 10
    assert edges
    assert all(b"\r\n" not in edge for edge in edges)


def test_other_line_ends_do_not_matter(tmp_path: Path) -> None:
    paths = [write(tmp_path, "1", b"123456789\n" * 9), write(tmp_path, "2", b"12345678\r" * 9)]
    assert find_buffer_size([*paths, write(tmp_path, "3", b"")], 10) == 10
