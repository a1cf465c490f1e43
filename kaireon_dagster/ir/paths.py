"""JSON paths as messages show them: `nodes[2].ops[0].type`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def write_path(location: Iterable[str | int]) -> str:
    """Write a location; keys that are no plain words stand in brackets and quotes."""
    return "".join(_write_step(step) for step in location).removeprefix(".")


def _write_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
