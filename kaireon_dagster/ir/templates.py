"""Date tokens in file patterns and folders, and run tokens in added fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaireon_dagster.ir.spelling import unknown

DATE_TOKENS = ("YYYY", "MM", "DD", "HH", "mm", "ss", "YYYY-MM-DD", "YYYYMMDD")
RUN_TOKENS = ("runId", "pipelineId", "runStartedAt", "fileName")

_DATE_TOKEN = re.compile(r"\{([^{}]*)\}")
_RUN_TOKEN = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def find_date_token_fault(template: str) -> str | None:
    """Say which date token of a template is unknown or torn; None when all are right."""
    for token in _DATE_TOKEN.findall(template):
        if token not in DATE_TOKENS:
            return unknown("date token", f"{{{token}}}", [f"{{{known}}}" for known in DATE_TOKENS])
    if re.search(r"[{}]", _DATE_TOKEN.sub("", template)):
        return "a '{' or '}' stands alone; date tokens are written {YYYY}"
    return None


def has_date_token(template: str) -> bool:
    """Tell whether a template holds a date token at all."""
    return _DATE_TOKEN.search(template) is not None


def find_run_tokens(text: str) -> Iterator[str]:
    """Yield the words inside `{{…}}` in the order of the text."""
    yield from _RUN_TOKEN.findall(text)


def find_folder_fault(folder: str) -> str | None:
    """Say why a folder below a source's path cannot be used; None when it can."""
    if folder.startswith(("/", "\\", "~")) or "://" in folder or re.match(r"[A-Za-z]:", folder):
        return "folders are relative to the source's path, without a leading slash or scheme"
    if ".." in re.split(r"[/\\]", folder):
        return "'..' would leave the source's path"
    if not folder.strip("/. "):
        return "the source's own path cannot be its folder; name one below it"
    return find_date_token_fault(folder)
