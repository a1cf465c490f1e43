"""A folder of documents: each stands or falls alone, save for names that they would share."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kaireon_dagster.errors import DocumentInvalid, Problem, Terminal
from kaireon_dagster.ir.parsing import SUFFIXES, UnknownKeys, read_document
from kaireon_dagster.ir.pipeline import Pipeline, fold_id


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A document that is right, and where it stands."""

    path: Path
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class BrokenDocument:
    """A document that cannot be used, and everything that is wrong with it."""

    path: Path
    problems: tuple[Problem, ...]


Document: TypeAlias = LoadedDocument | BrokenDocument


class FolderMissing(Terminal):
    """A place for documents that does not exist."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: no such file or folder; documents end in {', '.join(SUFFIXES)}"


def load_folder(
    path: Path, *, streaming: bool = False, unknown_keys: UnknownKeys = "error"
) -> tuple[Document, ...]:
    """Read every document below a folder, in the order of their paths; hidden ones are skipped.

    A broken document never hides the others. Documents that share an id are all broken, each
    naming the others, since neither is more right; so are ids that differ only in `-`, `.` and
    `_`, which would share their Dagster names and their DLQ table.

    Args:
        path: the folder; a single document is read as a folder of one.
        streaming: as in `parse_document`.
        unknown_keys: as in `parse_document`.

    Raises:
        FolderMissing: the path does not exist.
    """
    return load_paths([path], streaming=streaming, unknown_keys=unknown_keys)


def load_paths(
    paths: Iterable[Path], *, streaming: bool = False, unknown_keys: UnknownKeys = "error"
) -> tuple[Document, ...]:
    """Read documents and folders of them as one set, as `load_folder` does; each file once.

    Raises:
        FolderMissing: for the first path that does not exist.
    """
    files: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise FolderMissing(path)
        for file in find_documents(path):
            # Unlike Path.resolve, it takes a link to itself, which cannot be read below.
            files.setdefault(os.path.realpath(file), file)
    documents = [_load(file, streaming, unknown_keys) for file in files.values()]
    return tuple(_break_shared(documents))


def find_documents(path: Path) -> list[Path]:
    """List the document files below a folder, sorted; or the one file that `path` is."""
    if path.is_file():
        return [path]
    return sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and not file.is_dir()
    )


def _load(path: Path, streaming: bool, unknown_keys: UnknownKeys) -> Document:
    try:
        pipeline = read_document(path, streaming=streaming, unknown_keys=unknown_keys)
    except DocumentInvalid as error:
        return BrokenDocument(path, error.problems)
    return LoadedDocument(path, pipeline)


def _break_shared(documents: list[Document]) -> Iterator[Document]:
    sharing: defaultdict[str, list[LoadedDocument]] = defaultdict(list)
    for document in documents:
        if isinstance(document, LoadedDocument):
            sharing[fold_id(document.pipeline.id)].append(document)
    for document in documents:
        if isinstance(document, LoadedDocument):
            others = [
                other for other in sharing[fold_id(document.pipeline.id)] if other is not document
            ]
            yield _break(document, others) if others else document
        else:
            yield document


def _break(document: LoadedDocument, others: list[LoadedDocument]) -> BrokenDocument:
    return BrokenDocument(
        document.path, tuple(Problem("id", _describe(document, other)) for other in others)
    )


def _describe(document: LoadedDocument, other: LoadedDocument) -> str:
    mine, theirs = document.pipeline.id, other.pipeline.id
    if mine == theirs:
        return f"{mine!r} is also the id of {other.path}"
    return f"{mine!r} and {theirs!r} of {other.path} would share the name {fold_id(mine)!r}"
