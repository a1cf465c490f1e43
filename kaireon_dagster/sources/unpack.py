"""Files made ready for a reader: unpacked, and in UTF-8, under a name without surprises.

A plain UTF-8 file is read where it is. Packed files and other encodings are rewritten into a
temporary folder (`TMPDIR` decides where), which needs room for the unpacked file.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import pyarrow as pa

from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.encodings import find_encoding, restore, transcode
from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.local import check_ready

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source

_SUFFIXES: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# No text begins with these bytes.
_STARTS: Final = {
    b"\x1f\x8b\x08": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_LONGEST_START: Final = 4
_DECLARE: Final = "its name does not say so; set formatOptions.compression"
_ADVICE: Final = {
    "gzip": _DECLARE,
    "zstd": _DECLARE,
    "zip": "such archives, and workbooks, are not read; have it delivered as text",
}
_CHUNK: Final = 1 << 20
# DuckDB takes brackets, stars and question marks in a path for a pattern.
_PLAIN_PATH: Final = re.compile(r"[\w ./@+=,:-]+")


@dataclass(frozen=True, slots=True)
class Ready:
    """A file that readers can open.

    Attributes:
        file: the claimed file.
        path: what to read in its place; UTF-8 text.
        encoding: the encoding the file itself is written in.
    """

    file: ClaimedFile
    path: Path
    encoding: str = "utf-8"

    @property
    def is_empty(self) -> bool:
        """Whether there is not a byte in it."""
        return self.path.stat().st_size == 0

    def original(self, data: bytes) -> bytes:
        """Give the bytes of the file itself of which these were made."""
        return data if self.encoding == "utf-8" else restore(data, self.encoding)


def make_ready(file: ClaimedFile, number: int, source: Source, folder: Path) -> Ready:
    """Make one claimed text file ready, in `folder` when it has to be rewritten.

    Raises:
        FileChanged: when the file is not as it was when it was claimed.
        FileBroken: when it cannot be unpacked.
    """
    check_ready(file)
    options = source.config.format_options
    path = Path(file.path)
    packing = find_packing(file.name, options.compression)
    if packing is not None:
        path = _unpack(file, packing, folder / f"{number:06d}.unpacked")
    else:
        _refuse_packed(file)
    declared = options.encoding if "encoding" in options.model_fields_set else None
    encoding = find_encoding(path, file.label, declared)
    if encoding != "utf-8":
        path = _rewrite(path, folder / f"{number:06d}.utf8", encoding)
    return Ready(file, name_plainly(path, number, folder), encoding)


def _refuse_packed(file: ClaimedFile) -> None:
    with Path(file.path).open("rb") as read:
        start = read.read(_LONGEST_START)
    for sign, packing in _STARTS.items():
        if start.startswith(sign):
            raise FileBroken(file.label, f"it is packed as {packing}, and {_ADVICE[packing]}")


def find_packing(name: str, compression: str) -> str | None:
    """Say how a file is packed: `gzip`, `zstd`, `bz2`, or None for not at all."""
    if compression == "auto":
        return _SUFFIXES.get(Path(name).suffix.lower())
    return None if compression == "none" else compression


def name_plainly(path: Path, number: int, folder: Path) -> Path:
    """Give a path that DuckDB takes as it stands: a link where the file's own would mislead it."""
    if _PLAIN_PATH.fullmatch(str(path)) and _is_utf8(str(path)):
        return path
    link = folder / f"{number:06d}.link"
    link.symlink_to(path.absolute())
    return link


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _rewrite(source: Path, target: Path, encoding: str) -> Path:
    with source.open("rb") as read, target.open("wb") as write:
        transcode(read, write, encoding)
    return target


def _unpack(file: ClaimedFile, packing: str, target: Path) -> Path:
    try:
        with _open_packed(file.path, packing) as read, target.open("wb") as write:
            while data := read.read(_CHUNK):
                write.write(data)
    except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileBroken(file.label, f"cannot be unpacked as {packing}; it is damaged") from None
    return target


@contextmanager
def _open_packed(path: str, packing: str) -> Iterator[BinaryIO]:
    if packing == "gzip":
        with gzip.open(path) as stream:
            yield cast(BinaryIO, stream)
    elif packing == "bz2":
        with bz2.open(path) as stream:
            yield cast(BinaryIO, stream)
    else:
        with Path(path).open("rb") as raw, pa.CompressedInputStream(raw, packing) as stream:
            yield cast(BinaryIO, stream)
