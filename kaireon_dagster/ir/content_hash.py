"""The hash that tells whether two documents mean the same pipeline."""

from __future__ import annotations

import hashlib
import json

from kaireon_dagster.ir.pipeline import Pipeline


def write_canonical(pipeline: Pipeline) -> str:
    """Write a pipeline as canonical JSON: sorted keys, no white space, defaults left out.

    A document in which a default is written out is the same as one where it is not, a single key
    the same as a list of one, and YAML the same as JSON.
    """
    content = pipeline.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def content_hash(pipeline: Pipeline) -> str:
    """Return the SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(write_canonical(pipeline).encode("utf-8")).hexdigest()
