"""The documents that a command line names."""

from __future__ import annotations

from pathlib import Path

from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.settings import streaming_enabled
from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.ir import (
    BrokenDocument,
    Document,
    FolderMissing,
    LoadedDocument,
    Pipeline,
    load_folder,
)
from kaireon_dagster.ir.parsing import UnknownKeys


def load_documents(path: Path, unknown_keys: UnknownKeys = "error") -> tuple[Document, ...]:
    """Read a document, or all of a folder.

    Raises:
        UsageFault: there is no such file or folder.
    """
    try:
        return load_folder(path, streaming=streaming_enabled(), unknown_keys=unknown_keys)
    except FolderMissing as error:
        raise UsageFault(str(error)) from None


def read_one(path: Path) -> Pipeline:
    """Read the one document that `path` names.

    Raises:
        UsageFault: the path is a folder of several documents, or of none, or does not exist.
        DocumentInvalid: the document is broken.
    """
    documents = load_documents(path)
    if len(documents) != 1:
        raise UsageFault(f"{path}: {len(documents)} documents; name one of them")
    match documents[0]:
        case BrokenDocument(path=file, problems=problems):
            raise DocumentInvalid(str(file), problems)
        case LoadedDocument(pipeline=pipeline):
            return pipeline
