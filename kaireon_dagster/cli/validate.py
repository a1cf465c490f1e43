"""`validate`: everything that is wrong with documents, one line each."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kaireon_dagster.cli.documents import load_documents
from kaireon_dagster.cli.reply import DONE, INVALID, Reply, tell
from kaireon_dagster.cli.settings import pipelines_folder
from kaireon_dagster.ir import (
    BrokenDocument,
    Document,
    LoadedDocument,
    UnknownKeyWarning,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        help="a document or a folder of them (default: the pipelines folder)",
    )
    parser.add_argument(
        "--unknown-keys",
        choices=("error", "warn"),
        default="error",
        help="whether keys that the language does not have are errors (default) or warnings",
    )


def execute(options: argparse.Namespace) -> Reply:
    """Read the documents and report their problems."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnknownKeyWarning)
        documents = tuple(_load(options.paths or [pipelines_folder()], options.unknown_keys))
    for warning in caught:
        tell(f"warning: {warning.message}")
    broken = [document for document in documents if isinstance(document, BrokenDocument)]
    return Reply(
        INVALID if broken or not documents else DONE,
        (*_lines(broken), _summary(documents, broken)),
        {"documents": [_facts(document) for document in documents]},
    )


def _load(paths: Iterable[Path], unknown_keys: Any) -> Iterator[Document]:
    for path in paths:
        yield from load_documents(path, unknown_keys)


def _lines(broken: Iterable[BrokenDocument]) -> Iterator[str]:
    for document in broken:
        for problem in document.problems:
            yield f"{document.path}: {problem}"


def _summary(documents: tuple[Document, ...], broken: list[BrokenDocument]) -> str:
    if not documents:
        return "no document found; documents end in .json, .yaml or .yml"
    count = f"{len(documents)} document{'s' if len(documents) > 1 else ''}"
    if not broken:
        return f"{count}, no problem"
    problems = sum(len(document.problems) for document in broken)
    return f"{count}, {problems} problem{'s' if problems > 1 else ''} in {len(broken)} of them"


def _facts(document: Document) -> dict[str, Any]:
    if isinstance(document, LoadedDocument):
        return {
            "path": str(document.path),
            "id": document.pipeline.id,
            "valid": True,
            "problems": [],
        }
    problems = [{"path": p.path, "message": p.message} for p in document.problems]
    return {"path": str(document.path), "valid": False, "problems": problems}
