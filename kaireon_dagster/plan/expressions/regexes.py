"""The regular expressions that mean the same in PostgreSQL and in DuckDB's RE2.

Characters, `.`, brackets, `^ $`, groups, `|`, `* + ? {m,n}` greedy or not, `\\d \\w \\s` and their
opposites (ASCII), and escaped punctuation. No back references, look-around, `\\b` (a backspace in
PostgreSQL), word boundaries or embedded options.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.plan.expressions.refusals import Unfit

_LONGEST: Final = 500
_TOKEN: Final = re.compile(
    r"(?P<class>\\[dwsDWS])"
    r"|(?P<escape>\\(?:[nrt]|[^A-Za-z0-9]))"
    r"|(?P<bracket>\[\^?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\\[])*\])"
    r"|(?P<open>\((?:\?:)?(?!\?))"
    r"|(?P<close>\))"
    r"|(?P<quantifier>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??)"
    r"|(?P<anchor>[\^$])"
    r"|(?P<bar>\|)"
    r"|(?P<literal>[^\\()\[{*+?|])",
    re.DOTALL,
)
_BRACKET_ITEM: Final = re.compile(
    r"\[:(?P<name>[a-z]+):\]|\\(?P<escape>.)|(?P<plain>[^\\\[])", re.DOTALL
)
_NAMES: Final = frozenset(
    {
        "alpha",
        "digit",
        "alnum",
        "upper",
        "lower",
        "space",
        "punct",
        "blank",
        "cntrl",
        "graph",
        "print",
        "xdigit",
    }
)
_MOST: Final = 255


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str
    text: str


def check_regex(pattern: str) -> str:
    """Give the RE2 spelling of a pattern that both engines read alike.

    Raises:
        Unfit: for anything else.
    """
    _check_order(_pieces(pattern))
    return pattern


def check_replaceable(pattern: str) -> str:
    """Check a pattern for `regexp_replace`, where it also matters which text is matched.

    PostgreSQL takes the longest match of the whole, RE2 the first by preference: the two agree
    if there is no alternative and at most one greedy quantifier.

    Raises:
        Unfit: for anything else.
    """
    pieces = _pieces(pattern)
    _check_order(pieces)
    quantifiers = [piece.text for piece in pieces if piece.kind == "quantifier"]
    lazy = any(len(text) > 1 and text.endswith("?") for text in quantifiers)
    branching = any(piece.kind in ("bar", "open") for piece in pieces)
    if len(quantifiers) > 1 or lazy or branching:
        raise Unfit(
            "a pattern to replace may have one greedy quantifier, and no groups or alternatives"
        )
    atoms = sum(piece.kind not in ("quantifier", "anchor") for piece in pieces)
    if atoms == 0 or (atoms == 1 and quantifiers and quantifiers[0][:2] in ("*", "?", "{0")):
        raise Unfit("a pattern to replace must not match the empty text")
    return pattern


def _pieces(pattern: str) -> list[_Piece]:
    if len(pattern) > _LONGEST:
        raise Unfit(f"a regular expression may have {_LONGEST} characters")
    if pattern.startswith("***"):
        raise Unfit("a regular expression may not start with ***")
    pieces: list[_Piece] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None or match.lastgroup is None:
            raise Unfit(
                f"the regular expression is not portable at character {position + 1}, "
                f"{pattern[position : position + 3]!r}"
            )
        pieces.append(_Piece(match.lastgroup, match[0]))
        position = match.end()
    return pieces


def _check_order(pieces: list[_Piece]) -> None:
    depth, counted = 0, False
    before = "open"
    for piece in [*pieces, _Piece("end", "")]:
        if piece.kind == "quantifier":
            if before in ("open", "bar", "quantifier", "anchor"):
                raise Unfit(f"nothing to repeat before {piece.text} in the regular expression")
            counted = _check_count(piece.text, counted)
        if piece.kind in ("bar", "close", "end") and before in ("bar", "open") and pieces:
            raise Unfit("a group or alternative of the regular expression is empty")
        if piece.kind == "bracket":
            _check_bracket(piece.text)
        depth += (piece.kind == "open") - (piece.kind == "close")
        if depth < 0:
            raise Unfit("a parenthesis of the regular expression is not open")
        before = piece.kind
    if depth:
        raise Unfit("a parenthesis of the regular expression is not closed")


def _check_count(text: str, counted: bool) -> bool:
    counts = [int(number) for number in re.findall(r"[0-9]+", text)]
    if not counts:
        return counted
    if max(counts) > _MOST or counts != sorted(counts):
        raise Unfit(f"the repetition {text} is not between 0 and {_MOST}")
    if counted and max(counts) > 1:
        # Counts multiply where they nest, and RE2 has a limit; one is always within it.
        raise Unfit("a regular expression may have one counted repetition")
    return True


def _check_bracket(text: str) -> None:
    body = text[1:-1].removeprefix("^")
    items: list[str | None] = []
    for match in _BRACKET_ITEM.finditer(body):
        escape = match["escape"]
        if match["name"] and match["name"] not in _NAMES:
            raise Unfit(f"there is no character class {match['name']!r}")
        if escape and escape.isalnum() and escape not in "dwsnrt":
            raise Unfit(f"\\{escape} is not portable in brackets")
        is_set = bool(match["name"]) or (escape is not None and escape in "dws")
        items.append(None if is_set else match["plain"] or f"\\{escape}")
    _check_ranges(items)


def _check_ranges(items: list[str | None]) -> None:
    for index, item in enumerate(items):
        if item != "-" or index in (0, len(items) - 1):
            continue
        low, high = items[index - 1], items[index + 1]
        if low is None or high is None or len(low) > 1 or len(high) > 1 or low > high:
            raise Unfit("a range in brackets needs two plain characters in order")
