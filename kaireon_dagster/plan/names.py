"""Generated names. PostgreSQL cuts identifiers at 63 bytes, so each keeps its hash whole."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

LONGEST = 63
StagedKind = Literal["src", "xform", "branch"]
LINEAGE_COLUMN = "_kaireon_lineage"

_HASH = 12


def staged_table(kind: StagedKind, pipeline: str, node: str, run: str) -> str:
    """Table of a staged node: `_flow_xform_<node>_<hash of pipeline, node and run>`."""
    return _fit(f"_flow_{kind}_{_slug(node)}", pipeline, node, run)


def load_table(pipeline: str, node: str, run: str) -> str:
    """Temporary table in front of a target."""
    return _fit(f"_flow_load_{_slug(node)}", pipeline, node, run)


def lookup_view(table: tuple[str, str], columns: tuple[str, ...]) -> str:
    """Name in the worker of a table fetched from PostgreSQL."""
    return _fit(f"_flow_lookup_{_slug(table[1])}", *table, *columns)


def _fit(stem: str, *parts: str) -> str:
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:_HASH]
    return f"{stem[: LONGEST - _HASH - 1]}_{digest}"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)
