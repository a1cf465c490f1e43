"""What holds for every format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kaireon_dagster.sources import csv_part
from kaireon_dagster_tests.sources.reading import scanning, write

WRONG = b'id,a,b\n1,x,y\n2,\xff,y\n3,"x"y,z\n5,6,7,8\n9,9\n11,ok,"x\xff"\n12,ok,ok\n'
LINES = b'{"id":1,"a":"x"}\n{"id":2,"a":"\xff"}\n{"id":3,"a":NaN}\n[4]\n{"id":12,"a":1.50}\n'


def make_file(folder: Path, format: str) -> Path:
    if format == "csv":
        return write(folder, "x.csv", WRONG)
    if format == "careful csv":
        return write(folder, "x.csv", WRONG.replace(b"12,ok,ok\n", b"12,ok,ok\r\n"))
    if format == "jsonl":
        return write(folder, "x.jsonl", LINES)
    if format == "careful jsonl":
        return write(folder, "x.jsonl", LINES.replace(b"[4]\n", b"[4]\r\n"))
    columns = {"id": [1, 2, 12], "a": ["x", "\x00", "y"], "b": ["y", None, "z"]}
    pq.write_table(pa.table(columns), folder / "x.parquet")
    return folder / "x.parquet"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave files to DuckDB's reader that it would not get for being so full of faults."""
    monkeypatch.setattr(csv_part, "_MOST_WRONG", 1.0)


@pytest.mark.parametrize("format", ["csv", "careful csv", "jsonl", "careful jsonl", "parquet"])
@pytest.mark.parametrize("selected", ["*", "1", "id", "a", "count(*) OVER ()"])
def test_rejects_do_not_depend_on_what_is_selected(
    tmp_path: Path, format: str, selected: str
) -> None:
    path = make_file(tmp_path, format)
    with scanning([path], format.split()[-1]) as (connection, scan):
        rows = connection.execute(f"SELECT {selected} FROM rows").fetchall()
        rejects = [reject.line for reject in scan.rejects()]
        assert len(rows) == 2
        assert len(rejects) == {"csv": 5, "jsonl": 3, "parquet": 1}[format.split()[-1]]
        assert scan.locate(0)[1] < rejects[0] < scan.locate(1)[1]


@pytest.mark.parametrize("format", ["csv", "careful csv", "jsonl", "careful jsonl", "parquet"])
def test_a_filter_changes_no_reject(tmp_path: Path, format: str) -> None:
    path = make_file(tmp_path, format)
    with scanning([path], format.split()[-1]) as (connection, scan):
        rows = connection.execute("SELECT a FROM rows WHERE id = '12'").fetchall()
        assert len(rows) == 1
        assert len(list(scan.rejects())) == {"csv": 5, "jsonl": 3, "parquet": 1}[path.suffix[1:]]
