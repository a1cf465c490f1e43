"""JSON objects as they are read, with a note of keys that stand twice."""

from __future__ import annotations

from typing import Any


class RepeatedKeys(dict[str, Any]):
    """An object in which keys stood more than once, or were no strings.

    Attributes:
        repeated: the keys that stood more than once.
        unquoted: the keys that were numbers, booleans or null, which only YAML can have.
    """

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        super().__init__((str(key), value) for key, value in pairs)
        keys = [str(key) for key, _ in pairs]
        self.repeated = [key for index, key in enumerate(keys) if key in keys[:index]]
        self.unquoted = [str(key) for key, _ in pairs if not isinstance(key, str)]


def build_object(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """Build an object: a plain dict, or `RepeatedKeys` when something is wrong with its keys."""
    plain = dict(pairs)
    if len(plain) == len(pairs) and all(isinstance(key, str) for key in plain):
        return plain
    return RepeatedKeys(pairs)
