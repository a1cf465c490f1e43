"""Arrow batches as PostgreSQL's binary COPY format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pgpq
import pgpq.encoders
import pgpq.schema
import pyarrow as pa

from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.target import Placed


def exported(column: Placed) -> str:
    """SQL that selects a column in a shape whose bytes PostgreSQL takes."""
    name = ident(column.name)
    if column.type.name == "uuid":
        return f"unhex(replace({name}::VARCHAR, '-', '')) AS {name}"
    if column.type.name == "jsonb":
        return f"{name}::VARCHAR AS {name}"
    return name


class BinaryEncoder:
    """Encodes batches of one schema. Call `header`, then `rows` for each batch, then `trailer`."""

    def __init__(self, schema: pa.Schema, jsonb: Sequence[str]) -> None:
        self.schema = schema
        encoders = {field.name: _encoder(field, field.name in jsonb) for field in schema}
        self._encoder = pgpq.ArrowToPostgresBinaryEncoder.new_with_encoders(schema, encoders)

    def header(self) -> bytes:
        """The signature that opens a stream."""
        return self._encoder.write_header()

    def rows(self, columns: Sequence[pa.Array]) -> bytes:
        """The rows of one batch."""
        return self._encoder.write_batch(
            pa.RecordBatch.from_arrays(list(columns), schema=self.schema)
        )

    def trailer(self) -> bytes:
        """The end of the stream."""
        return self._encoder.finish()


def _encoder(field: pa.Field, jsonb: bool) -> Any:
    if jsonb:
        return pgpq.encoders.StringEncoderBuilder.new_with_output(field, pgpq.schema.Jsonb())
    return pgpq.ArrowToPostgresBinaryEncoder.infer_encoder(field)
