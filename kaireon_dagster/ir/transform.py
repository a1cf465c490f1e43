"""The transform node: ops applied in order."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from kaireon_dagster.ir.column_ops import (
    AddField,
    Cast,
    Drop,
    Expression,
    Hash,
    MapValues,
    MaskPii,
    Merge,
    Rename,
    Split,
)
from kaireon_dagster.ir.model_ops import GeoResolve, LanguageDetect, SentimentScore, VectorEmbed
from kaireon_dagster.ir.node import Consumer
from kaireon_dagster.ir.set_ops import Aggregate, Deduplicate, Filter, LookupJoin, Summarize

ColumnOp: TypeAlias = (
    Cast | Expression | Rename | Drop | AddField | Hash | MaskPii | MapValues | Split | Merge
)
SetOp: TypeAlias = Filter | Deduplicate | Aggregate | LookupJoin | Summarize
ModelOp: TypeAlias = VectorEmbed | GeoResolve | SentimentScore | LanguageDetect
Op = Annotated[ColumnOp | SetOp | ModelOp, Field(discriminator="type")]


class Transform(Consumer):
    """Changes rows by a list of ops, applied in order."""

    kind: Literal["transform"] = Field(description="Changes rows.")
    ops: tuple[Op, ...] = Field(min_length=1, description="The ops, in order.")
