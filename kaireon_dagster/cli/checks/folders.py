"""Folders: the work folder, and those that sources read and move files through."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kaireon_dagster.cli.checks.finding import Finding, ok, problem, warning
from kaireon_dagster.cli.settings import pipelines_folder, streaming_enabled
from kaireon_dagster.ir import BrokenDocument, LoadedDocument, Pipeline, Source, load_folder
from kaireon_dagster.server import find_home

_LITTLE: Final = 2 << 30
_TOO_LITTLE: Final = 256 << 20


def check_folders() -> Iterator[Finding]:
    """Check the work folder, the room for it, and the folders of all documents."""
    home = find_home()
    yield _writable("work folder", home, "set FLOW_HOME to a folder of yours")
    yield _room("free space", home)
    yield _room("free space for spilling", Path(tempfile.gettempdir()))
    yield from _documents(pipelines_folder())


def _writable(subject: str, folder: Path, advice: str) -> Finding:
    there = _nearest(folder)
    if not os.access(there, os.W_OK | os.X_OK):
        return problem(subject, f"{folder} cannot be written by this user", advice)
    return ok(subject, f"{folder}" if folder.exists() else f"{folder}, not made yet")


def _room(subject: str, folder: Path) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    text = f"{free / (1 << 30):,.1f} GiB for {folder}"
    if free < _TOO_LITTLE:
        return problem(
            subject, f"only {text}", "make room, or point FLOW_HOME and TMPDIR elsewhere"
        )
    if free < _LITTLE:
        return warning(subject, f"only {text}", "large sorts and joins spill to disk; make room")
    return ok(subject, text)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(place for place in (folder, *folder.parents) if place.exists())


def _documents(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        advice = "make it, or set FLOW_PIPELINES; `kaireon-dagster init FILE` writes a document"
        yield warning("documents", f"there is no folder {folder}", advice)
        return
    documents = load_folder(folder, streaming=streaming_enabled())
    broken = [d for d in documents if isinstance(d, BrokenDocument)]
    if broken:
        message = f"{len(broken)} of {len(documents)} in {folder} have problems"
        yield problem("documents", message, f"kaireon-dagster validate {folder}")
    else:
        yield ok("documents", f"{len(documents)} in {folder}")
    for document in documents:
        if isinstance(document, LoadedDocument):
            yield from _sources(document.pipeline)


def _sources(pipeline: Pipeline) -> Iterator[Finding]:
    for node in pipeline.sources:
        if isinstance(node, Source) and node.connector == "local_fs":
            yield _source(f"{pipeline.id}.{node.id}", node)


def _source(subject: str, node: Source) -> Finding:
    folder = Path(node.config.path)
    if not folder.is_dir():
        return warning(subject, f"{folder} does not exist", "make it, or change config.path")
    if not os.access(folder, os.R_OK | os.X_OK):
        return problem(subject, f"{folder} cannot be read by this user", "change its rights")
    if node.config.atomicity is not None and not os.access(folder, os.W_OK):
        advice = "files are moved through it: change its rights, or drop atomicity"
        return problem(subject, f"{folder} cannot be written by this user", advice)
    return ok(subject, str(folder))
