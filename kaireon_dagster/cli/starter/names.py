"""What several files are called together: the pattern of their names, and a name in plain letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

Pattern = tuple[str, str]
"""Type and value of a pattern of the language."""


def choose_pattern(
    names: Sequence[str], others: Iterable[str], is_alike: Callable[[str], bool]
) -> Pattern:
    """Find a pattern that matches the names, and next month's, but no file of another kind.

    Args:
        names: the names that must match.
        others: further names in their folder.
        is_alike: whether one of the others may match, since it holds the same columns.
    """
    if len(names) == 1 and not set(names[0]) & set("*?"):
        return "glob", names[0]
    strangers = [name for name in others if name not in names]
    for glob in _globs(names) if len(names) > 1 else ():
        if all(is_alike(name) for name in strangers if _matches(glob, name)):
            return "glob", glob
    return "regex", "|".join(re.escape(name) for name in names)


def _globs(names: Sequence[str]) -> Iterator[str]:
    start = common_start(names)
    yield f"{start}*{_common_end([name[len(start) :] for name in names])}"
    exact = _shared_start(names)
    yield f"{exact}*{_shared_start([name[len(exact) :][::-1] for name in names])[::-1]}"


def _matches(glob: str, name: str) -> bool:
    return re.fullmatch(re.escape(glob).replace(r"\*", ".*"), name) is not None


def common_start(names: Sequence[str]) -> str:
    """What the names begin with, without the beginning of a number, a date or a word."""
    start = _shared_start(names)
    if start[-1:].isalpha() and any(name[len(start) :][:1].isalpha() for name in names):
        start = re.sub(r"[^\W\d_]+$", "", start)
    return re.sub(r"\d[\d\-_. ]*$", "", start)


def _common_end(rests: Sequence[str]) -> str:
    end = _shared_start([rest[::-1] for rest in rests])[::-1]
    before = [rest[: len(rest) - len(end)] for rest in rests]
    if end[:1].isalpha() and any(text[-1:].isalpha() for text in before):
        end = re.sub(r"^[^\W\d_]+", "", end)
    return re.sub(r"^[\d\-_. ]*\d", "", end)


def _shared_start(names: Sequence[str]) -> str:
    first, *others = names
    lengths = (_shared(first, other) for other in others)
    return first[: min(lengths, default=len(first))]


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def name_together(folder: Path, names: Sequence[str]) -> str:
    """A name for all of them in ASCII: that of the single file, else what their names begin with."""
    name = names[0] if len(names) == 1 else common_start(names)
    return _trim(name) or _trim(folder.absolute().name) or "starter"


def _trim(name: str) -> str:
    return transliterate(name.split(".")[0]).strip("_- ")


def transliterate(text: str) -> str:
    """Write letters with marks without them, and leave out what ASCII has no letter for."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return plain.encode("ascii", "ignore").decode("ascii")
