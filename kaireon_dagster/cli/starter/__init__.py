"""Starter documents: what a data file looks like, written down as a pipeline."""

from __future__ import annotations

from kaireon_dagster.cli.starter.drafting import Draft, draft
from kaireon_dagster.cli.starter.files import FileGroup, group_files

__all__ = ["Draft", "FileGroup", "draft", "group_files"]
