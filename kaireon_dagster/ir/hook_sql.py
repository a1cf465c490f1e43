"""Which SQL a hook may run: one statement of a short list, judged by its words.

A hook runs with the rights of the loader. The words are read as PostgreSQL reads them: what
stands in strings, quoted names and comments is no word, so nothing hides there or is mistaken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

DENIED = (
    "DROP",
    "DELETE",
    "UPDATE",
    "TRUNCATE",
    "INSERT",
    "MERGE",
    "COPY",
    "GRANT",
    "REVOKE",
    "ALTER",
)
_ALLOWED = (
    ("ANALYZE",),
    ("VACUUM",),
    ("REFRESH", "MATERIALIZED", "VIEW"),
    ("REINDEX",),
    ("CLUSTER",),
    ("NOTIFY",),
    ("SET", "LOCAL"),
)
ALLOWED_TEXT = (
    "ANALYZE, VACUUM, REFRESH MATERIALIZED VIEW, REINDEX, CLUSTER, SELECT of a function, NOTIFY, "
    "SET LOCAL"
)

# PostgreSQL's own classes: every character beyond ASCII is a letter, and only these are blanks.
_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_TAG = rf"(?:[{_LETTER}][{_LETTER}0-9]*)?"
_TOKEN = re.compile(
    rf"""
      (?P<space>[ \t\n\r\f\v]+ | --[^\n\r]*)
    | (?P<comment>/\*)
    | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
    | (?P<string>(?:[uU]&|[bBxXnN])?'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")+")
    | (?P<dollar>\$(?P<tag>{_TAG})\$.*?\$(?P=tag)\$)
    | (?P<word>[{_LETTER}][{_LETTER}0-9$]*)
    | (?P<number>[0-9][{_LETTER}0-9.]*)
    | (?P<open>['"] | \${_TAG}\$)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Each would change how the words of a later hook are read, or with whose rights it runs.
_REFUSED_SETTINGS = ("STANDARD_CONFORMING_STRINGS", "ROLE", "SESSION", "SESSION_AUTHORIZATION")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a statement: its kind, and its text (upper case for words)."""

    kind: str
    text: str

    @property
    def is_name(self) -> bool:
        """Whether it can be part of a function's name."""
        return self.kind in ("word", "quoted")


class Unreadable(ValueError):
    """A string, comment or quoted name that does not end."""


def find_statement_fault(statement: str) -> str | None:
    """Say why a hook may not run this statement; None when it may."""
    try:
        tokens = list(read_tokens(statement))
    except Unreadable as error:
        return str(error)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        return "the statement is empty"
    for find_fault in (_find_denied, _find_second, _find_continued, _find_setting, _find_unlisted):
        fault = find_fault(tokens)
        if fault is not None:
            return fault
    return None


def read_tokens(statement: str) -> Iterator[Token]:
    """Yield the tokens of a statement, without blanks and comments.

    Raises:
        Unreadable: a string, comment or quoted name is not closed.
    """
    position = 0
    while position < len(statement):
        match = _TOKEN.match(statement, position)
        if match is None or match.lastgroup is None:
            raise Unreadable("the statement cannot be read")
        position = match.end()
        kind = _kind(match)
        if kind == "comment":
            position = _skip_comment(statement, position)
        elif kind == "open":
            raise Unreadable("a string or quoted name is not closed")
        elif kind != "space":
            yield Token(kind, match[0].upper() if kind == "word" else match[0])


def _kind(match: re.Match[str]) -> str:
    # `lastgroup` names the inner group of a dollar-quoted string.
    return "dollar" if match["dollar"] is not None else str(match.lastgroup)


def _skip_comment(statement: str, position: int) -> int:
    depth = 1
    for mark in re.compile(r"/\*|\*/").finditer(statement, position):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise Unreadable("a comment is not closed")


def _find_denied(tokens: list[Token]) -> str | None:
    for token in tokens:
        if token.kind == "word" and token.text in DENIED:
            return f"{token.text} is refused in hooks; allowed: {ALLOWED_TEXT}"
    return None


def _find_second(tokens: list[Token]) -> str | None:
    if any(token.kind == "sign" and token.text == ";" for token in tokens):
        return "more than one statement; a hook has one, and a list of hooks runs in order"
    return None


def _find_continued(tokens: list[Token]) -> str | None:
    # PostgreSQL reads a string on the next line as the rest of this one, by this one's rules.
    for before, token in pairwise(tokens):
        if {before.kind, token.kind} <= {"string", "escaped"}:
            return "two strings side by side; join them with ||"
        if before.text in ("U", "u") and token.text == "&":
            return "names written with U& are refused in hooks"
    return None


def _find_setting(tokens: list[Token]) -> str | None:
    names = [token.text.strip('"').upper() for token in tokens if token.is_name]
    if "SET_CONFIG" in names:
        return "set_config is refused in hooks; write SET LOCAL"
    if names[:2] == ["SET", "LOCAL"] and set(names[2:3]) & set(_REFUSED_SETTINGS):
        return f"SET LOCAL {names[2].lower()} is refused in hooks"
    return None


def _find_unlisted(tokens: list[Token]) -> str | None:
    words = tuple(token.text if token.kind == "word" else "" for token in tokens[:3])
    if any(words[: len(start)] == start for start in _ALLOWED):
        return None
    if words[0] != "SELECT":
        return f"only these are allowed in hooks: {ALLOWED_TEXT}"
    if _is_calls(tokens[1:]):
        return None
    return "SELECT is allowed for function calls only: SELECT schema.function(arguments)"


def _is_calls(tokens: list[Token]) -> bool:
    position = 0
    while True:
        end = _skip_call(tokens, position)
        if end is None:
            return False
        if end == len(tokens):
            return True
        if tokens[end].text != ",":
            return False
        position = end + 1


def _skip_call(tokens: list[Token], start: int) -> int | None:
    """Return the index after one `name(…)`, its cast and its alias; None if it is no call."""
    texts = [token.text for token in tokens]
    position = start + 1
    if start >= len(tokens) or not tokens[start].is_name:
        return None
    while texts[position : position + 1] == ["."] and _is_name_at(tokens, position + 1):
        position += 2
    if texts[position : position + 1] != ["("]:
        return None
    closed = _skip_parentheses(texts, position)
    return None if closed is None else _skip_alias(tokens, _skip_cast(tokens, closed))


def _is_name_at(tokens: list[Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].is_name


def _skip_parentheses(texts: list[str], position: int) -> int | None:
    depth = 0
    for index in range(position, len(texts)):
        depth += {"(": 1, ")": -1}.get(texts[index], 0)
        if depth == 0:
            return index + 1
    return None


def _skip_cast(tokens: list[Token], position: int) -> int:
    texts = [token.text for token in tokens[position : position + 2]]
    return position + 3 if texts == [":", ":"] and _is_name_at(tokens, position + 2) else position


def _skip_alias(tokens: list[Token], position: int) -> int:
    is_alias = position < len(tokens) and tokens[position].text == "AS"
    return position + 2 if is_alias and _is_name_at(tokens, position + 1) else position
