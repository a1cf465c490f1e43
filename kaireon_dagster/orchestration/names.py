"""Names that Dagster accepts, kept apart where two would come out the same."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

# What Dagster refuses as the name of a job, op or output.
RESERVED: Final = frozenset(
    (
        *("context", "conf", "config", "meta", "arg_dict", "dict", "input_arg_dict"),
        *("output_arg_dict", "int", "str", "float", "bool", "input", "output", "type"),
        *keyword.kwlist,
    )
)
LONGEST_TAG: Final = 63
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]+")
_UNFIT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_]")
_UNFIT_IN_KEY: Final = re.compile(r"[^A-Za-z0-9_.-]")
_UNFIT_IN_TAG: Final = _UNFIT_IN_KEY

Wish = tuple[str, ...]
"""What a name stands for, such as (pipeline id, step name)."""


def legal_name(text: str) -> str:
    """Write a text with the letters, digits and underscores of a Dagster name."""
    folded = _UNFIT_IN_NAME.sub("_", text)
    return f"{folded}_" if folded in RESERVED else folded


def key_part(text: str) -> str:
    """Write a text as part of an asset key; one that had to change keeps its hash."""
    folded = _UNFIT_IN_KEY.sub("_", text)
    return folded if folded == text else f"{folded}_{digest(text)}"


def tag_of(text: str) -> str | None:
    """Write a text as a tag; None where nothing of it is left."""
    folded = _UNFIT_IN_TAG.sub("_", text.strip())[:LONGEST_TAG]
    return folded if folded.strip("_.-") else None


def is_tag_value(text: str) -> bool:
    """Whether a run may carry this text as the value of a tag."""
    return len(text) <= LONGEST_TAG and _TAG.fullmatch(text) is not None


def give_names(wishes: Mapping[Wish, str], taken: Collection[str] = ()) -> dict[Wish, str]:
    """Give each wish its name; where several wish for one, or it is taken, each gets its hash.

    The same wishes get the same names in any order.
    """
    wished = Counter(wishes.values())
    return {
        wish: f"{name}_{digest(*wish)}" if wished[name] > 1 or name in taken else name
        for wish, name in wishes.items()
    }


def digest(*parts: str) -> str:
    """Eight hex digits that tell texts apart."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:8]
