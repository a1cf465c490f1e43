from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaireon_dagster.sources import FileBroken, HeaderRefused, SourceNotRunnable
from kaireon_dagster.sources.encodings import restore, transcode
from kaireon_dagster_tests.sources.reading import case, read, write

WRONG = "bytes that are not valid in the file's encoding"


def test_a_declared_encoding_is_obeyed() -> None:
    reading = read(case("010") / "cp1252.csv", encoding="windows-1252")
    assert reading.rows == [("1", "Jos\u00e9 \u20ac5")]


def test_undeclared_text_is_strict_utf8() -> None:
    assert read(case("010") / "utf8-few-bytes.csv").rows == [("1", "Carter\u2019s Janitorial")]
    reading = read(case("010") / "late-cp1252.csv")
    assert len(reading.rows) == 3999
    assert reading.causes == {4001: WRONG}
    assert reading.raw == [b"4000,K\xf6ln"]


def test_a_byte_order_mark_tells_utf16() -> None:
    assert read(case("010") / "utf16le-bom.csv").rows == [("1", "Jos\u00e9")]


def test_utf16_without_a_mark_is_refused_with_advice() -> None:
    with pytest.raises(FileBroken, match=r"utf16le-nobom\.csv.*declare formatOptions\.encoding"):
        read(case("010") / "utf16le-nobom.csv")
    reading = read(case("010") / "utf16le-nobom.csv", encoding="utf-16-le")
    assert reading.rows == [("1", "Jos\u00e9")]


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-8-sig"])
def test_other_marks(tmp_path: Path, encoding: str) -> None:
    text = "id,name\n1,Jos\u00e9\n"
    mark = "" if encoding in ("utf-16", "utf-8-sig") else "\ufeff"
    path = write(tmp_path, "x.csv", (mark + text).encode(encoding))
    assert read(path).rows == [("1", "Jos\u00e9")]
    assert read(path, encoding=encoding).rows == [("1", "Jos\u00e9")]


def test_a_wrong_byte_of_a_declared_encoding_is_rejected_with_the_original(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", b"id,name\n1,\xe9\n2,\x81\n3,ok\n")
    reading = read(path, encoding="windows-1252")
    assert reading.rows == [("1", "\u00e9"), ("3", "ok")]
    assert (reading.causes, reading.raw) == ({3: WRONG}, [b"2,\x81"])


def test_half_a_pair_in_utf16_is_rejected_with_the_original(tmp_path: Path) -> None:
    data = "\ufeffid,name\n1,".encode("utf-16-le") + b"\x00\xd8" + "\n2,ok\n".encode("utf-16-le")
    reading = read(write(tmp_path, "x.csv", data))
    assert reading.rows == [("2", "ok")]
    assert reading.raw == ["1,".encode("utf-16-le") + b"\x00\xd8"]


def test_half_a_character_at_the_end_is_rejected(tmp_path: Path) -> None:
    data = "\ufeffid,name\n1,ok\n2,x".encode("utf-16-le")[:-1]
    reading = read(write(tmp_path, "x.csv", data))
    assert (reading.rows, reading.causes) == ([("1", "ok")], {3: WRONG})


def test_a_header_in_another_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeaderRefused, match="declare"):
        read(write(tmp_path, "x.csv", b"id,na\xefve\n1,2\n"))


@given(st.binary(max_size=200), st.sampled_from(["cp1252", "shift_jis", "ascii", "gb18030"]))
def test_no_byte_is_lost_on_the_way_there_and_back(data: bytes, encoding: str) -> None:
    target = io.BytesIO()
    transcode(io.BytesIO(data), target, encoding)
    assert restore(target.getvalue(), encoding).decode(encoding, "replace") == data.decode(
        encoding, "replace"
    )


def _zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "zst": _zstd}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files_are_read_whole(tmp_path: Path, packing: str) -> None:
    text = b"id,name\n" + b"".join(b"%d,x\n" % number for number in range(5_000)) + b"bad\n"
    pack = PACKERS[packing]
    # Two packed streams in one file are one text.
    path = write(tmp_path, f"x.csv.{packing}", pack(text[:5_000]) + pack(text[5_000:]))
    reading = read(path, name_column="file")
    assert len(reading.rows) == 5_000
    assert reading.rows[-1] == ("4999", "x", f"x.csv.{packing}")
    assert reading.raw == [b"bad"]
    assert list(reading.causes) == [5_002]


def test_packing_is_declared_where_the_name_does_not_tell(tmp_path: Path) -> None:
    path = write(tmp_path, "x.dat", gzip.compress(b"a\n1\n"))
    assert read(path, compression="gzip").rows == [("1",)]
    plain = write(tmp_path, "x.gz", b"a\n1\n")
    assert read(plain, compression="none").rows == [("1",)]
    lines = write(tmp_path, "x.jsonl.gz", gzip.compress(b'{"a":1}\n'))
    assert read(lines, "jsonl").rows == [("1",)]


@pytest.mark.parametrize("packing", PACKERS)
def test_a_damaged_packed_file_is_named(tmp_path: Path, packing: str) -> None:
    whole = PACKERS[packing](b"id\n" + b"".join(b"%d\n" % number for number in range(50_000)))
    for data in (whole[: len(whole) // 2], b"id\n1\n"):
        with pytest.raises(FileBroken, match="cannot be unpacked"):
            read(write(tmp_path, f"x.csv.{packing}", data))


def test_other_formats_say_that_they_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SourceNotRunnable, match="format 'xml' cannot be read"):
        read(write(tmp_path, "x.xml", "<a/>"), "xml")
