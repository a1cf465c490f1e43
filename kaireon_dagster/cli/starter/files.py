"""The data files that a starter document is written for."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kaireon_dagster.cli.faults import UsageFault

FORMATS: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_PACKED: Final = (".gz", ".zst", ".bz2")
_DELIMITERS: Final = (",", ";", "\t", "|")
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one folder and one format that make one source.

    Attributes:
        folder: where they are, as the document will name it.
        names: their names, sorted.
        format: one of the formats that can be read.
    """

    folder: str
    names: tuple[str, ...]
    format: str

    @property
    def first(self) -> Path:
        """The first file."""
        return Path(self.folder, self.names[0])

    @property
    def stem(self) -> str:
        """A name for all of them: that of the single file, else what their names begin with."""
        name = self.names[0] if len(self.names) == 1 else _common_start(self.names)
        return name.split(".")[0].strip("_- ") or Path(self.folder).absolute().name

    @property
    def pattern(self) -> tuple[str, str]:
        """Type and value of a pattern that matches the files."""
        if len(self.names) == 1:
            name = self.names[0]
            return ("regex", re.escape(name)) if set(name) & set("*?") else ("glob", name)
        start = _common_start(self.names)
        end = _common_start(name[len(start) :][::-1] for name in self.names)[::-1]
        return "glob", f"{start}*{end}"


def _common_start(names: Iterable[str]) -> str:
    first, *others = names
    lengths = (_shared(first, other) for other in others)
    return first[: min(lengths, default=len(first))]


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def group_files(paths: Iterable[Path]) -> tuple[FileGroup, ...]:
    """Put the files together that differ only in their names' middle, such as monthly ones.

    Raises:
        UsageFault: a path is no file, or of no format that can be read.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for path in paths:
        format_ = _format(path)
        groups.setdefault((_folder(path), format_, _shape(path, format_)), []).append(path.name)
    return tuple(
        FileGroup(folder, tuple(sorted(set(names))), format_)
        for (folder, format_, _), names in groups.items()
    )


def _format(path: Path) -> str:
    if not path.is_file():
        raise UsageFault(f"{path}: no such file")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED]
    format_ = FORMATS.get(suffixes[-1]) if suffixes else None
    if format_ is None:
        known = ", ".join(FORMATS)
        raise UsageFault(f"{path}: the suffix tells no format; known are {known}, also with .gz")
    return format_


def _folder(path: Path) -> str:
    folder = path.parent.absolute()
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _shape(path: Path, format_: str) -> str:
    """What files must share to be one source: their header, else all but the digits of the name."""
    if format_ in ("csv", "tsv") and path.suffix.lower() not in _PACKED:
        return _first_line(path).decode("latin-1")
    return re.sub(r"\d+", "0", path.name)


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline(_CHUNK).strip(b"\r\n")


def guess_options(group: FileGroup) -> dict[str, object]:
    """Format options that differ from the usual: delimiter and encoding."""
    options: dict[str, object] = {}
    if group.format == "parquet" or group.first.suffix.lower() in _PACKED:
        return options
    if group.format == "csv":
        delimiter = _guess_delimiter(_first_line(group.first).decode("latin-1"))
        options |= {"delimiter": delimiter} if delimiter != "," else {}
    if not all(_is_unicode(Path(group.folder, name)) for name in group.names):
        options["encoding"] = "windows-1252"
    return options


def _guess_delimiter(header: str) -> str:
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=bare.count) if any(d in bare for d in _DELIMITERS) else ","


def _is_unicode(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        data = file.read(_CHUNK)
        if data.startswith(_MARKS) or b"\x00" in data[:4096]:
            return True
        try:
            while data:
                decoder.decode(data)
                data = file.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
