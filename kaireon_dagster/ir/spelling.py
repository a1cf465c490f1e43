"""Words of the language: the phrase that says what was found and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from kaireon_dagster.errors import quote_allowed

# Above this many words a list no longer helps once the likely word is named.
_LISTED = 8
_LONGEST_QUOTE = 60


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """Find the allowed word that `word` was most likely meant to be.

    The closest in spelling; then whatever the case; then the one that it is the beginning of.
    """
    words, start = tuple(allowed), word[: 4 * _LONGEST_QUOTE]
    by_folded = {candidate.casefold(): candidate for candidate in words}
    found = get_close_matches(start, words, n=1, cutoff=0.6)
    folded = get_close_matches(start.casefold(), by_folded, n=1, cutoff=0.6)
    longer = [candidate for candidate in words if len(word) > 2 and candidate.startswith(word)]
    guesses = [*found, *(by_folded[match] for match in folded), *longer]
    return guesses[0] if guesses else None


def unknown(noun: str, word: str, allowed: Iterable[str], hint: str | None = None) -> str:
    """Write `unknown op 'ranme'; did you mean 'rename'?`, with the allowed words if they are few.

    Args:
        noun: what the word stands for, such as `op`.
        word: what the document says; shortened when it is very long.
        allowed: every word that is right in this place.
        hint: the allowed word to propose, where the caller knows better than the spelling.
    """
    words = tuple(allowed)
    guess = hint or nearest(word, words)
    start = f"unknown {noun} {quote(word)}"
    if not words:
        return start
    if guess is None:
        return f"{start}; allowed: {quote_allowed(words)}"
    advice = f"{start}; did you mean {guess!r}?"
    is_list_useful = 1 < len(words) <= _LISTED
    return f"{advice} Allowed: {quote_allowed(words)}" if is_list_useful else advice


def quote(word: str) -> str:
    """Quote a word of the document for a message, shortened to what a line can hold."""
    return repr(word if len(word) <= _LONGEST_QUOTE else f"{word[:_LONGEST_QUOTE]}…")


def describe(value: Any) -> str:
    """Name the JSON kind of a value, never its content, save numbers and booleans."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return quote_number(value)
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    return "an object" if isinstance(value, Mapping) else "a list"


def quote_number(value: float) -> str:
    """Write a number of the document; one too long to read is only called long."""
    # Python refuses to print integers above 4,300 digits, so the size is looked at first.
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of more than 38 digits"
    return repr(value)
