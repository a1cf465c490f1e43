"""The pages of the documentation, and the blocks in them."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of each fenced block of a page, in order."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def block(page: str, language: str, number: int = 0) -> str:
    """One block of a page below the project, by its language and place among those."""
    found = [text for kind, text in blocks(PROJECT / page) if kind == language]
    return found[number]
