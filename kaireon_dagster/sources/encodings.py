"""Text encodings of files: found by their byte order mark, or declared, never guessed.

A file in another encoding than UTF-8 is rewritten as UTF-8 beside the work. Bytes that are wrong
in its encoding become surrogates, which no reader takes for UTF-8, so that only their rows are
rejected, and the original bytes can be had back.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import BinaryIO, Final

from kaireon_dagster.sources.faults import FileBroken

CHUNK: Final = 1 << 20
_WRONG_BYTES: Final = "kaireon_dagster.wrong_bytes"
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_FIRST_WRONG: Final = 0xDC00
_MARKED: Final = re.compile("[\udc00-\udcff]+")
_PIECES: Final = re.compile("[\udc00-\udcff]+|[^\udc00-\udcff]+")
_SAMPLE: Final = 4096


def find_encoding(path: Path, label: str, declared: str | None) -> str:
    """Say in which encoding a file is written.

    A declared encoding is obeyed. Without one a byte order mark decides, and a file that has none
    is UTF-8; `utf-16` and `utf-32` need a mark to tell their byte order, and are little-endian
    without one.

    Raises:
        FileBroken: for a file that looks like UTF-16 but has neither mark nor declaration.
    """
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if declared is not None:
        return _ordered(codecs.lookup(declared).name, marked)
    if marked is None and _looks_like_utf16(start):
        raise FileBroken(
            label,
            "every other byte is NUL, as in UTF-16 without a byte order mark; declare "
            "formatOptions.encoding, such as 'utf-16-le'",
        )
    return marked or "utf-8"


def transcode(source: BinaryIO, target: BinaryIO, encoding: str) -> None:
    """Rewrite a text as UTF-8 in constant memory, with a leading byte order mark left out."""
    decoder = codecs.getincrementaldecoder(encoding)(_WRONG_BYTES)
    is_first = True
    while True:
        data = source.read(CHUNK)
        text = decoder.decode(data, final=not data)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        target.write(text.encode("utf-8", "surrogatepass"))
        if not data:
            return


def restore(data: bytes, encoding: str) -> bytes:
    """Give the bytes of which `transcode` made these."""
    text = data.decode("utf-8", "surrogatepass")
    return b"".join(
        bytes(ord(mark) - _FIRST_WRONG for mark in piece)
        if _MARKED.match(piece)
        else piece.encode(encoding)
        for piece in _PIECES.findall(text)
    )


def _ordered(name: str, marked: str | None) -> str:
    if name == "utf-8-sig":
        return "utf-8"
    if name in ("utf-16", "utf-32"):
        return marked if marked is not None and marked.startswith(name) else f"{name}-le"
    return name


def _looks_like_utf16(start: bytes) -> bool:
    """Whether NULs fill every other byte and no more, as Latin letters have it in UTF-16."""
    half = len(start) // 2
    halves = sorted((start[0::2].count(0), start[1::2].count(0)))
    return half > 1 and halves[1] > half * 0.6 and halves[0] < half * 0.1


def _mark_wrong(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(chr(_FIRST_WRONG + byte) for byte in wrong), error.end


codecs.register_error(_WRONG_BYTES, _mark_wrong)
