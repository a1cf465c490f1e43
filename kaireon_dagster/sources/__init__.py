"""Finding, claiming and reading the files of a source."""

from __future__ import annotations

from kaireon_dagster.sources.claim import Claim, archive_files, claim_files, find_files, open_store
from kaireon_dagster.sources.claimed import ClaimedFile, readable
from kaireon_dagster.sources.faults import (
    ColumnTypesDiffer,
    DeadlineMissed,
    FileBroken,
    FileChanged,
    FilesNotThere,
    FolderRefused,
    FolderUnusable,
    HeaderRefused,
    PatternInvalid,
    SourceNotRunnable,
)
from kaireon_dagster.sources.patterns import expand_tokens, matches
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.scan import Scan, open_scan
from kaireon_dagster.sources.store import Entry, Store

__all__ = [
    "Claim",
    "ClaimedFile",
    "ColumnTypesDiffer",
    "DeadlineMissed",
    "Entry",
    "FileBroken",
    "FileChanged",
    "FilesNotThere",
    "FolderRefused",
    "FolderUnusable",
    "HeaderRefused",
    "PatternInvalid",
    "Reject",
    "Scan",
    "SourceNotRunnable",
    "Store",
    "archive_files",
    "claim_files",
    "expand_tokens",
    "find_files",
    "matches",
    "open_scan",
    "open_store",
    "readable",
]
