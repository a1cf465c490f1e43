"""Transform ops that ask an external model; each needs a provider plug-in."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kaireon_dagster.ir.base import Model, Text
from kaireon_dagster.ir.identifiers import FieldName, FieldReference


class _ModelOp(Model):
    field: FieldReference = Field(description="The field that is sent to the provider.")
    into: FieldName = Field(
        description="The field that receives the answer; null without a provider."
    )


class VectorEmbed(_ModelOp):
    """Turns a text into an embedding."""

    type: Literal["vector_embed"] = Field(description="Embeds a text.")
    model: Text | None = Field(
        default=None, description="Name of the model, as its provider has it."
    )


class GeoResolve(_ModelOp):
    """Turns an address or place into coordinates."""

    type: Literal["geo_resolve"] = Field(description="Finds the coordinates of a place.")


class SentimentScore(_ModelOp):
    """Scores the mood of a text."""

    type: Literal["sentiment_score"] = Field(description="Scores the mood of a text.")


class LanguageDetect(_ModelOp):
    """Names the language of a text."""

    type: Literal["language_detect"] = Field(description="Names the language of a text.")
