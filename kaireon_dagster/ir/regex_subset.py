"""Regular expressions that mean the same in Python's `re` and in RE2, which runs them."""

from __future__ import annotations

import re
import warnings

# What Python reads and RE2 does not, by the characters after an opening `(?`.
_REFUSED_GROUPS = {
    "=": "look-ahead",
    "!": "look-ahead",
    "<=": "look-behind",
    "<!": "look-behind",
    "P=": "a backreference",
    "(": "a conditional",
    ">": "an atomic group",
    "#": "a comment group",
}
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?[:)]")
_POSSESSIVE = re.compile(r"(?:[*+?]|\{\d*,?\d*\})\+")
_REPEAT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+),?(\d*)\}|.", re.DOTALL)
# RE2 refuses to unroll more.
_MOST_REPEATS = 1000
_ADVICE = "RE2 runs the rule; write it without, or as two rules"


def find_regex_fault(pattern: str) -> str | None:
    """Say why a pattern is outside the common subset; None when both engines read it alike."""
    if not pattern:
        return "the pattern is empty"
    try:
        with warnings.catch_warnings():
            # Python warns of sets that a later version may read in another way; RE2 has them.
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return _scan(pattern) or _find_unrolled_fault(pattern)


def _scan(pattern: str) -> str | None:
    position, in_set = 0, False
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            fault = _find_escape_fault(pattern[position + 1 : position + 2], in_set)
            position += 2
        else:
            fault = None if in_set else _find_group_or_repeat_fault(pattern, position)
            opens = character == "[" and not in_set
            position += 1 + (_length_of_set_start(pattern, position + 1) if opens else 0)
            in_set = opens or (in_set and character != "]")
        if fault is not None:
            return fault
    return None


def _length_of_set_start(pattern: str, position: int) -> int:
    # A `]` that comes first in a set, or first after `^`, is a member and does not end it.
    negated = pattern.startswith("^", position)
    return negated + pattern.startswith("]", position + negated)


def _find_escape_fault(letter: str, in_set: bool) -> str | None:
    if not letter.isascii():
        return f"RE2 takes no backslash before {letter!r}; write it alone"
    if in_set and letter in "123456789b":
        return rf"\{letter} in a set is Python's own; write the character by its code, as \x08"
    if letter in "123456789":
        return f"a backreference (\\{letter}) is refused: {_ADVICE}"
    if letter == "Z":
        return r"\Z is Python's own; write $"
    if letter in ("N", "u", "U"):
        return rf"\{letter} is Python's own; write the character itself, or \x{{…}} by its code"
    return None


def _find_group_or_repeat_fault(pattern: str, position: int) -> str | None:
    if pattern.startswith("(?", position):
        return _find_group_fault(pattern, position)
    if _POSSESSIVE.match(pattern, position):
        return f"a possessive quantifier is refused: {_ADVICE}"
    repeat = _REPEAT.match(pattern, position)
    if repeat is None:
        return None
    is_open_below = not repeat[1] and bool(repeat[3])
    return "RE2 needs the lower bound of a repeat: {0,n}" if is_open_below else None


def _find_unrolled_fault(pattern: str) -> str | None:
    # RE2 unrolls repeats, so those of a group count times those inside it.
    largest, last = [1], 1
    for token in _TOKEN.finditer(pattern):
        if token[0] == "(":
            largest.append(1)
        elif token[0] == ")" and len(largest) > 1:
            last = largest.pop()
        else:
            last = last * max(map(int, filter(None, token.groups()))) if any(token.groups()) else 1
        largest[-1] = max(largest[-1], last)
    if largest[0] > _MOST_REPEATS:
        return f"repeats above {_MOST_REPEATS} in all are refused by RE2, which runs the rule"
    return None


def _find_group_fault(pattern: str, position: int) -> str | None:
    for opening, name in _REFUSED_GROUPS.items():
        if pattern.startswith(opening, position + 2):
            return f"{name} is refused: {_ADVICE}"
    flags = _FLAGS.match(pattern, position)
    unknown = set((flags[1] + (flags[2] or "")) if flags else "") - set("ims")
    if unknown:
        return f"flag {min(unknown)!r} is refused; allowed: 'i', 'm' or 's'"
    return None
