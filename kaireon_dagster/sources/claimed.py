"""A file that a run has taken for itself."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClaimedFile:
    """One claimed file, as it was at that moment.

    Names are as the operating system gives them: bytes that are no UTF-8 are kept as surrogate
    escapes. `label` is the name for people and for text columns.

    Attributes:
        path: where the file is now.
        name: its name when it was found.
        original: the path at which it was found.
        size: bytes when it was claimed.
        mtime_ns: modification time when it was claimed, in nanoseconds since 1970.
    """

    path: str
    name: str
    original: str
    size: int
    mtime_ns: int

    @property
    def label(self) -> str:
        """The name as valid Unicode: bytes that are no UTF-8 appear as `\\xhh`."""
        return readable(self.name)

    def to_json(self) -> dict[str, Any]:
        """A value of JSON that any store can hold; names that are no UTF-8 go as base64."""
        return {
            "path": _pack(self.path),
            "name": _pack(self.name),
            "original": _pack(self.original),
            "size": self.size,
            "mtimeNs": self.mtime_ns,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ClaimedFile:
        """Read back what `to_json` wrote."""
        return cls(
            path=_unpack(value["path"]),
            name=_unpack(value["name"]),
            original=_unpack(value["original"]),
            size=value["size"],
            mtime_ns=value["mtimeNs"],
        )


def readable(name: str) -> str:
    """Write a file name as valid Unicode, bytes that are no UTF-8 as `\\xhh`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _pack(name: str) -> str | dict[str, str]:
    raw = os.fsencode(name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _unpack(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value
    return os.fsdecode(base64.b64decode(value["base64"]))
