"""`validate`: everything that is wrong with documents, one line each."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kaireon_dagster.cli.counts import count
from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.reply import DONE, INVALID, Reply, tell
from kaireon_dagster.cli.settings import pipelines_folder, streaming_enabled
from kaireon_dagster.ir import (
    BrokenDocument,
    Document,
    FolderMissing,
    LoadedDocument,
    UnknownKeyWarning,
    load_paths,
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
        documents = _load(options.paths or [pipelines_folder()], options.unknown_keys)
    for warning in caught:
        tell(f"warning: {warning.message}")
    for document in documents:
        for text in _find_warnings(document):
            tell(f"warning: {document.path}: {text}")
    broken = [document for document in documents if isinstance(document, BrokenDocument)]
    return Reply(
        INVALID if broken or not documents else DONE,
        (*_lines(broken), _summary(documents, broken)),
        {"documents": [_facts(document) for document in documents]},
    )


def _load(paths: Iterable[Path], unknown_keys: Any) -> tuple[Document, ...]:
    try:
        documents = load_paths(paths, streaming=streaming_enabled(), unknown_keys=unknown_keys)
    except FolderMissing as error:
        raise UsageFault(str(error)) from None
    return tuple(_look_further(document) for document in documents)


def _look_further(document: Document) -> Document:
    # Here, since it brings the engine along, which the help of this command has no use for.
    from kaireon_dagster.cli.foresight import find_sure_faults

    if isinstance(document, BrokenDocument):
        return document
    problems = tuple(find_sure_faults(document.pipeline))
    return BrokenDocument(document.path, problems) if problems else document


def _find_warnings(document: Document) -> Iterator[str]:
    from kaireon_dagster.cli.foresight import find_missing_features

    if isinstance(document, LoadedDocument):
        for missing in find_missing_features(document.pipeline):
            yield f"node {missing.node!r}: {missing.feature} cannot run in this release"


def _lines(broken: Iterable[BrokenDocument]) -> Iterator[str]:
    for document in broken:
        for problem in document.problems:
            yield f"{document.path}: {problem}"


def _summary(documents: tuple[Document, ...], broken: list[BrokenDocument]) -> str:
    if not documents:
        return "no document found; documents end in .json, .yaml or .yml"
    seen = count(len(documents), "document")
    if not broken:
        return f"{seen}, no problem"
    problems = sum(len(document.problems) for document in broken)
    return f"{seen}, {count(problems, 'problem')} in {len(broken)} of them"


def _facts(document: Document) -> dict[str, Any]:
    if isinstance(document, LoadedDocument):
        return {
            "path": str(document.path),
            "id": document.pipeline.id,
            "valid": True,
            "problems": [],
            "warnings": list(_find_warnings(document)),
        }
    problems = [{"path": p.path, "message": p.message} for p in document.problems]
    return {"path": str(document.path), "valid": False, "problems": problems, "warnings": []}
