"""The data files that a starter document is written for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.starter.heads import PACKED, has_no_header, is_packed, read_first_line
from kaireon_dagster.cli.starter.names import Pattern, choose_pattern, name_together

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


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one folder and one format that make one source.

    Attributes:
        folder: where they are, as the document will name it.
        names: their names, sorted.
        format: one of the formats that can be read.
        stem: a name for all of them, in ASCII, that no other group has.
        pattern: type and value of a pattern that matches the files.
    """

    folder: str
    names: tuple[str, ...]
    format: str
    stem: str
    pattern: Pattern

    @property
    def first(self) -> Path:
        """The first file."""
        return Path(self.folder, self.names[0])

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        return tuple(Path(self.folder, name) for name in self.names)


def group_files(paths: Iterable[Path]) -> tuple[FileGroup, ...]:
    """Put the files together that differ only in their names' middle, such as monthly ones.

    Raises:
        UsageFault: a path is no file, cannot be read, is empty, or of no format that can be read.
    """
    found: dict[tuple[str, str, str], set[str]] = {}
    for path in paths:
        format_ = _check_file(path)
        found.setdefault((_folder(path), format_, _shape(path, format_)), set()).add(path.name)
    return tuple(_groups(found))


def _groups(found: dict[tuple[str, str, str], set[str]]) -> Iterator[FileGroup]:
    taken: set[str] = set()
    for (folder, format_, shape), unsorted in found.items():
        names = tuple(sorted(unsorted))
        stem = _free(name_together(Path(folder), names), taken)
        taken.add(stem)
        is_alike = partial(_is_alike, Path(folder), format_, shape)
        others = [entry.name for entry in Path(folder).iterdir()] if len(names) > 1 else ()
        yield FileGroup(folder, names, format_, stem, choose_pattern(names, others, is_alike))


def _free(stem: str, taken: set[str]) -> str:
    tries = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 2)))
    return next(name for name in tries if name not in taken)


def _is_alike(folder: Path, format_: str, shape: str, name: str) -> bool:
    try:
        path = folder / name
        return _find_format(path) == format_ and _shape(path, format_) == shape
    except OSError:
        return False


def _check_file(path: Path) -> str:
    try:
        if path.is_dir():
            raise UsageFault(f"{path}: is a folder; name the files in it, such as {path}/*.csv")
        if not path.is_file():
            raise UsageFault(f"{path}: no such file")
        format_ = _find_format(path)
        if format_ is None:
            known = ", ".join(FORMATS)
            raise UsageFault(
                f"{path}: the suffix tells no format; known are {known}, also with .gz"
            )
        _check_start(path, format_)
    except OSError as error:
        raise UsageFault(
            f"{path}: cannot be read: {error.strerror or type(error).__name__}"
        ) from None
    return format_


def _check_start(path: Path, format_: str) -> None:
    start = read_first_line(path)
    if path.stat().st_size == 0:
        raise UsageFault(f"{path}: is empty; a document needs a file with its columns")
    if format_ in ("csv", "tsv") and re.fullmatch(rb"(\xef\xbb\xbf)?sep=.", start, re.IGNORECASE):
        raise UsageFault(
            f"{path}: its first line is Excel's `sep=`, which is neither header nor row; remove "
            "that line from the file, and from those that will come"
        )


def _find_format(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    return FORMATS.get(suffixes[-1]) if suffixes else None


def _folder(path: Path) -> str:
    folder = path.parent.absolute()
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _shape(path: Path, format_: str) -> str:
    """What files must share to be one source: their header, else all but the digits of the name."""
    is_text = format_ in ("csv", "tsv") and not is_packed(path)
    if is_text and not has_no_header(path, format_):
        return read_first_line(path).decode("latin-1")
    return re.sub(r"\d+", "0", path.name)
