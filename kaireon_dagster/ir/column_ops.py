"""Transform ops that work on one row at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from kaireon_dagster.ir.base import (
    Checked,
    Flaw,
    JsonScalar,
    Model,
    Text,
    Whole,
    repeated,
)
from kaireon_dagster.ir.datatypes import DataType
from kaireon_dagster.ir.frozen import FREEZE, THAW, FrozenMapping
from kaireon_dagster.ir.identifiers import EnvironmentName, FieldName, FieldReference
from kaireon_dagster.ir.spelling import unknown
from kaireon_dagster.ir.templates import RUN_TOKENS, find_run_tokens


class Cast(Model):
    """Reads a field as another type."""

    type: Literal["cast"] = Field(description="Reads a field as another type.")
    field: FieldReference = Field(description="The field to read.")
    to: DataType = Field(description="The type to read it as.")
    format: Text | None = Field(
        default=None, description="How dates and numbers are written, where it is not ISO."
    )
    on_error: Literal["fail", "null", "quarantine"] | None = Field(
        default=None,
        description="What becomes of a row that does not read; quarantine by default when the "
        "DLQ is enabled, else fail.",
    )


class Expression(Model):
    """Sets a field to the value of a scalar expression."""

    type: Literal["expression"] = Field(description="Computes a field.")
    field: FieldName = Field(description="The field that receives the value.")
    expression: Text = Field(
        description="One scalar expression in PostgreSQL's manner.", examples=["price * quantity"]
    )


class Rename(Checked):
    """Gives a field another name."""

    type: Literal["rename"] = Field(description="Renames a field.")
    from_: FieldReference = Field(alias="from", description="The name it has.")
    to: FieldName = Field(description="The name it gets.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield a rename that changes nothing."""
        if self.from_ == self.to:
            yield ("to",), "the same name as 'from'; the op would change nothing"


class Drop(Model):
    """Leaves fields out."""

    type: Literal["drop"] = Field(description="Drops fields.")
    fields: tuple[FieldReference, ...] = Field(min_length=1, description="The fields to drop.")


class AddField(Checked):
    """Adds a field with the same value in every row."""

    type: Literal["add_field"] = Field(description="Adds a field with a fixed value.")
    field: FieldName = Field(description="The new field.")
    value: Annotated[Any, FREEZE, THAW] = Field(
        description="A JSON literal; in text {{runId}} {{pipelineId}} {{runStartedAt}} "
        "{{fileName}} are filled in."
    )
    data_type: DataType | None = Field(
        default=None, description="Type of the field; by default that of the literal."
    )

    def flaws(self) -> Iterator[Flaw]:
        """Yield tokens that no run could fill in."""
        for token in find_run_tokens(self.value) if isinstance(self.value, str) else ():
            if token not in RUN_TOKENS:
                known = [f"{{{{{name}}}}}" for name in RUN_TOKENS]
                yield ("value",), unknown("token", f"{{{{{token}}}}}", known)


class Hash(Model):
    """Replaces a value by the hex digest of its text."""

    type: Literal["hash"] = Field(description="Hashes a field.")
    field: FieldReference = Field(description="The field to hash.")
    algorithm: Literal["sha256", "sha512", "md5"] = Field(description="The digest.")
    into: FieldName | None = Field(
        default=None, description="The field that receives the digest; by default the same."
    )
    salt_env: EnvironmentName | None = Field(
        default=None, description="Environment variable whose value is put before the text."
    )


class MaskPii(Model):
    """Hides personal data in a field."""

    type: Literal["mask_pii"] = Field(description="Masks personal data.")
    field: FieldReference = Field(description="The field to mask.")
    strategy: Literal["full", "partial", "email", "phone", "hash"] = Field(
        description="What is hidden and what stays readable."
    )
    keep_last: Whole | None = Field(
        default=None, ge=0, description="How many last characters stay readable."
    )


class MapValues(Model):
    """Replaces values by a table of pairs."""

    type: Literal["map_values"] = Field(description="Replaces values by others.")
    field: FieldReference = Field(description="The field whose values are replaced.")
    mapping: FrozenMapping[JsonScalar] = Field(
        min_length=1,
        description="Old value to new value.",
        json_schema_extra={"minProperties": 1},
    )
    default: JsonScalar = Field(
        default=None, description="For values not in the mapping; not given: they stay."
    )

    @property
    def has_default(self) -> bool:
        """Whether a default was given: an explicit null is one, and means NULL."""
        return "default" in self.model_fields_set

    @model_serializer(mode="wrap")
    def _keep_null_default(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # An explicit null differs from no default, and must be told apart by the content hash.
        content: dict[str, Any] = handler(self)
        return {**content, "default": self.default} if self.has_default else content


class Split(Checked):
    """Cuts a text into several fields."""

    type: Literal["split"] = Field(description="Splits a field.")
    field: FieldReference = Field(description="The field to cut.")
    separator: Text = Field(description="The text between the parts.")
    into: tuple[FieldName, ...] = Field(min_length=1, description="The fields for the parts.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield fields that would receive two parts."""
        for index, name in repeated(self.into):
            yield ("into", index), f"field {name!r} is named twice"


class Merge(Model):
    """Joins the texts of several fields into one; NULLs are skipped."""

    type: Literal["merge"] = Field(description="Merges fields into one text.")
    fields: tuple[FieldReference, ...] = Field(min_length=1, description="The fields, in order.")
    into: FieldName = Field(description="The field that receives the text.")
    separator: str = Field(description="The text between the parts; may be empty.")
