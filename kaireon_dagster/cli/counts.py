"""Numbers of things, in words."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write `1 row` and `1,000 rows`; `plural` where an s does not make it."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
