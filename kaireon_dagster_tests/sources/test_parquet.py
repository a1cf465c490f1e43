from __future__ import annotations

import datetime as dt
import math
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kaireon_dagster.sources import ColumnTypesDiffer, FileBroken, HeaderRefused
from kaireon_dagster.sources.arrow_types import read_type
from kaireon_dagster_tests.sources.reading import case, read, scanning, write

UTC = dt.timezone.utc


def table(folder: Path, name: str = "x.parquet", **columns: Any) -> Path:
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def test_nothing_passes_through_a_double() -> None:
    reading = read(case("021") / "uint64.parquet", "parquet")
    assert reading.columns == {
        "id": "numeric(20,0)",
        "amount": "numeric(38,10)",
        "f": "double precision",
    }
    assert reading.rows[0][:2] == (
        Decimal("7540279650942975244"),
        Decimal("12345678901234567890.1234567890"),
    )
    assert reading.rows[1][:2] == (Decimal("18446744073709551615"), None)
    assert math.isnan(reading.rows[0][2])
    assert reading.rows[1][2] == math.inf


NOON = dt.datetime(2026, 3, 8, 12, 0, 0, 123456)


@pytest.mark.parametrize(
    ("kind", "value", "name", "out"),
    [
        (pa.int8(), -128, "smallint", -128),
        (pa.int16(), -32768, "smallint", -32768),
        (pa.int32(), 2**31 - 1, "integer", 2**31 - 1),
        (pa.int64(), 2**63 - 1, "bigint", 2**63 - 1),
        (pa.uint8(), 255, "smallint", 255),
        (pa.uint16(), 65535, "integer", 65535),
        (pa.uint32(), 2**32 - 1, "bigint", 2**32 - 1),
        (pa.float32(), 1.5, "real", 1.5),
        (pa.bool_(), True, "boolean", True),
        (pa.string(), "\u00e9", "text", "\u00e9"),
        (pa.large_string(), "x", "text", "x"),
        (pa.dictionary(pa.int8(), pa.string()), "x", "text", "x"),
        (pa.binary(), b"\x00\xff", "bytea", b"\x00\xff"),
        (pa.binary(3), b"abc", "bytea", b"abc"),
        (pa.uuid(), uuid.UUID(int=7).bytes, "uuid", uuid.UUID(int=7)),
        (pa.date32(), NOON.date(), "date", NOON.date()),
        (pa.time64("us"), NOON.time(), "time", NOON.time()),
        (pa.timestamp("us"), NOON, "timestamp", NOON),
        (pa.timestamp("ns"), NOON, "timestamp", NOON),
        (
            pa.timestamp("us", "Europe/Zurich"),
            NOON.replace(tzinfo=UTC),
            "timestamp with time zone",
            NOON.replace(tzinfo=UTC),
        ),
        (pa.decimal128(5, 2), Decimal("1.10"), "numeric(5,2)", Decimal("1.10")),
        (pa.list_(pa.int32()), [1, None], "jsonb", "[1,null]"),
        (pa.struct({"a": pa.string()}), {"a": "x"}, "jsonb", '{"a":"x"}'),
        (pa.null(), None, "text", None),
    ],
    ids=str,
)
def test_types_keep_their_values(
    tmp_path: Path, kind: pa.DataType, value: Any, name: str, out: Any
) -> None:
    path = table(tmp_path, v=pa.array([value, None], kind))
    with scanning([path], "parquet") as (connection, scan):
        connection.execute("SET TimeZone = 'UTC'")
        assert [str(kind) for _, kind in scan.columns] == [name]
        rows = connection.execute("SELECT * FROM rows").fetchall()
    assert rows == [(out,), (None,)]


@pytest.mark.parametrize(
    "kind",
    [pa.decimal256(50, 2), pa.list_(pa.binary()), pa.month_day_nano_interval(), pa.duration("s")],
    ids=str,
)
def test_a_type_that_no_column_holds_is_known(kind: pa.DataType) -> None:
    assert read_type(kind) is None


def test_the_column_of_a_refused_type_is_named(tmp_path: Path) -> None:
    path = table(tmp_path, ok=[1], wide=pa.array([Decimal(1)], pa.decimal256(50, 2)))
    with pytest.raises(HeaderRefused, match=r"x\.parquet.*'wide' is decimal256\(50, 2\)"):
        read(path, "parquet")


@pytest.mark.parametrize("cut", [1, 4, 100, -1])
def test_a_cut_off_file_is_named(tmp_path: Path, cut: int) -> None:
    whole = (case("021") / "uint64.parquet").read_bytes()
    with pytest.raises(FileBroken, match=r"x\.parquet: not a complete Parquet file"):
        read(write(tmp_path, "x.parquet", whole[:cut]), "parquet")


def test_a_damaged_page_is_told_with_the_file(tmp_path: Path) -> None:
    path = table(tmp_path, v=[f"value {number}" for number in range(1000)])
    data = bytearray(path.read_bytes())
    data[4:400] = b"\xff" * 396
    path.write_bytes(data)
    with scanning([path], "parquet") as (connection, scan):
        with pytest.raises(duckdb.Error) as raised:
            connection.execute("SELECT * FROM rows").fetchall()
        told = scan.explain(raised.value)
    assert isinstance(told, FileBroken)
    assert "x.parquet" in str(told)


def test_files_are_matched_by_name(tmp_path: Path) -> None:
    files = [
        table(tmp_path, "1.parquet", a=[1], b=["x"]),
        write(tmp_path, "0.parquet", b""),
        table(tmp_path, "2.parquet", c=[True], a=[2]),
    ]
    reading = read(files, "parquet", name_column="file")
    assert reading.names == ["a", "b", "c", "file"]
    assert reading.rows == [(1, "x", None, "1.parquet"), (2, None, True, "2.parquet")]
    assert reading.places == [("1.parquet", 1), ("2.parquet", 1)]


def test_one_column_of_two_types_is_refused_naming_both_files(tmp_path: Path) -> None:
    files = [table(tmp_path, "1.parquet", a=[1]), table(tmp_path, "2.parquet", a=["x"])]
    message = r"'a' is bigint in 1\.parquet but text in 2\.parquet"
    with pytest.raises(ColumnTypesDiffer, match=message):
        read(files, "parquet")


def test_rows_that_postgresql_cannot_hold_are_rejected(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        id=[1, 2, 3, 4],
        note=["ok", "a\x00b", "fine", None],
        scores=pa.array([[1.5], [1.0], [math.nan], None], pa.list_(pa.float64())),
    )
    reading = read(path, "parquet")
    assert reading.rows == [(1, "ok", "[1.5]"), (4, None, None)]
    assert reading.causes == {
        2: "a NUL character in a text, which PostgreSQL cannot hold",
        3: "NaN or Infinity inside a list or struct, which JSON does not have",
    }
    assert reading.raw[0].startswith(b'{"id":2,"note":"a\\u0000b"')
    assert [line for _, line in reading.places] == [1, 4]


def test_names_are_checked(tmp_path: Path) -> None:
    with pytest.raises(HeaderRefused, match="1 'id', 2 'ID'"):
        read(table(tmp_path, id=[1], ID=[2]), "parquet")


def test_an_odd_path_is_no_pattern(tmp_path: Path) -> None:
    table(tmp_path, "xa.parquet", a=[9])
    for name in ("x[abc].parquet", "x*.parquet", "it's.parquet"):
        assert read(table(tmp_path, name, a=[1]), "parquet").rows == [(1,)]


def test_no_rows_are_no_error(tmp_path: Path) -> None:
    reading = read(table(tmp_path, a=pa.array([], pa.int32())), "parquet")
    assert (reading.columns, reading.rows) == ({"a": "integer"}, [])
    assert read([], "parquet").columns == {}
