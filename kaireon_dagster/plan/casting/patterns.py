"""Regular expressions (RE2) of the spellings that PostgreSQL reads, and SQL to test them."""

from __future__ import annotations

from typing import Final

from kaireon_dagster.plan.sqltext import literal

WHITE: Final = r"[\t-\r ]"
"""White space as PostgreSQL's input functions see it; RE2's `\\s` lacks the vertical tab."""

BLANKS: Final = " \t\n\v\f\r"
"""The same characters, for `trim`."""


def matches(sql: str, pattern: str) -> str:
    """Write the test that the whole of a text matches a pattern."""
    return f"regexp_full_match({sql}, {literal(pattern)})"


def rewritten(sql: str, pattern: str, template: str) -> str:
    """Write a text rebuilt from the groups of a pattern that the whole of it matches."""
    return f"regexp_replace({sql}, {literal(f'^{pattern}$')}, {literal(template)})"


def padded(pattern: str) -> str:
    """Allow white space around a pattern."""
    return f"{WHITE}*(?:{pattern}){WHITE}*"
