"""File name patterns and date tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from kaireon_dagster.sources.faults import PatternInvalid

if TYPE_CHECKING:
    from kaireon_dagster.ir import Pattern

_TOKENS: Final = {
    "{YYYY-MM-DD}": ("%Y-%m-%d", r"\d{4}-\d\d-\d\d"),
    "{YYYYMMDD}": ("%Y%m%d", r"\d{8}"),
    "{YYYY}": ("%Y", r"\d{4}"),
    "{MM}": ("%m", r"\d\d"),
    "{DD}": ("%d", r"\d\d"),
    "{HH}": ("%H", r"\d\d"),
    "{mm}": ("%M", r"\d\d"),
    "{ss}": ("%S", r"\d\d"),
}
_TOKEN: Final = re.compile("|".join(re.escape(token) for token in _TOKENS))
_WILDCARDS: Final = {"*": ".*", "?": "."}


def matches(pattern: Pattern, name: str, now: datetime) -> bool:
    """Whether a file name fits a pattern, letter case included.

    A glob knows `*` (any characters, none too) and `?` (one character); every other character,
    brackets too, stands for itself. A regex must match the whole name. A date template is the
    exact name once its tokens are written for `now` in the pattern's zone.

    Args:
        pattern: the source's pattern.
        name: a file name without folder.
        now: the scheduled time of the run, or its start; with a zone.
    """
    if is_never_data(name):
        return False
    if pattern.type == "date_template":
        return name == expand_tokens(pattern.value, now, pattern.timezone)
    return _compiled(pattern.type, pattern.value).fullmatch(name) is not None


def matches_on_any_date(pattern: Pattern, name: str) -> bool:
    """Whether a file name fits a pattern for some time, such as that of an earlier run."""
    if is_never_data(name):
        return False
    if pattern.type == "date_template":
        return token_matcher(pattern.value).fullmatch(name) is not None
    return _compiled(pattern.type, pattern.value).fullmatch(name) is not None


def is_never_data(name: str) -> bool:
    """Whether a name is that of a hidden file or of an editor's lock file."""
    return name.startswith((".", "~$"))


def expand_tokens(text: str, now: datetime, timezone: str = "UTC") -> str:
    """Write the date tokens of a text for one moment in a zone."""
    local = now.astimezone(ZoneInfo(timezone))
    return _TOKEN.sub(lambda token: _digits(local, _TOKENS[token[0]][0]), text)


def token_matcher(text: str) -> re.Pattern[str]:
    """A regular expression for all texts that `expand_tokens` can make of `text`."""
    return _translate(_TOKEN, lambda token: _TOKENS[token][1], text)


def _digits(local: datetime, form: str) -> str:
    # strftime's %Y drops leading zeros on some platforms.
    return local.strftime(form.replace("%Y", f"{local.year:04d}"))


@lru_cache(maxsize=256)
def _compiled(kind: str, value: str) -> re.Pattern[str]:
    if kind == "glob":
        return _translate(re.compile(r"[*?]"), _WILDCARDS.__getitem__, value)
    try:
        return re.compile(value)
    except re.error as error:
        raise PatternInvalid(value, str(error)) from None


def _translate(
    special: re.Pattern[str], meaning: Callable[[str], str], text: str
) -> re.Pattern[str]:
    literals = special.split(text)
    found = special.findall(text)
    parts = [re.escape(literals[0])]
    for token, literal in zip(found, literals[1:], strict=True):
        parts += [meaning(token), re.escape(literal)]
    # A file name may hold line ends, which `.` must match too.
    return re.compile("".join(parts), re.DOTALL)
