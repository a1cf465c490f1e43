"""Tags and owners of assets."""

from __future__ import annotations

import re
from typing import Final

from kaireon_dagster import ir
from kaireon_dagster.orchestration.facts import KIND
from kaireon_dagster.orchestration.names import tag_of

_EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,7}")
_TEAM: Final = re.compile(r"team:\S+")


def kind_tags(*kinds: str) -> dict[str, str]:
    """Tags that show what an asset is made of."""
    return {f"{KIND}{kind}": "" for kind in kinds}


def tags_of(pipeline: ir.Pipeline, *kinds: str) -> dict[str, str]:
    """A document's tags as Dagster writes them, and these kinds."""
    tags = filter(None, map(tag_of, pipeline.metadata.tags))
    return {**dict.fromkeys(tags, ""), **kind_tags(*kinds)}


def owners_of(pipeline: ir.Pipeline) -> list[str]:
    """The owner, where Dagster can show it: an e-mail address or `team:` and a name."""
    owner = pipeline.metadata.owner
    if owner and (_EMAIL.fullmatch(owner) or _TEAM.fullmatch(owner)):
        return [owner]
    return []
