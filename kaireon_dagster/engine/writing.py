"""Writes rows into tables: COPY straight into place, or through a temporary table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from kaireon_dagster.engine.copying import CopyStream
from kaireon_dagster.engine.encoding import BinaryEncoder
from kaireon_dagster.plan.hidden import ORIGINAL, SEQUENCE
from kaireon_dagster.plan.names import LINEAGE_COLUMN
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.target import Placed
from kaireon_dagster.state.database import Connection


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage cell: where a row came from, and its place in what the load wrote."""

    run_id: str
    pipeline_id: str
    source: str

    def cells(self, start: int, rows: int) -> pa.Array:
        """JSON cells for rows that are written at these places, counted from 1."""
        head = (
            f'{{"runId":{_json(self.run_id)},"pipelineId":{_json(self.pipeline_id)},'
            f'"sourceNodeId":{_json(self.source)},"writeOrder":'
        )
        places = pc.cast(pa.array(range(start + 1, start + rows + 1), pa.int64()), pa.string())
        return pc.binary_join_element_wise(head, places, "}", "")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a COPY carries: columns in order, and the generated ones behind them.

    Attributes:
        columns: of the table.
        lineage: the lineage cell behind them.
        sequence: the rows are numbered, from 0.
        original: each row brings the JSON of itself as it came.
    """

    columns: tuple[Placed, ...]
    lineage: Lineage | None = None
    sequence: bool = False
    original: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns as the COPY names them."""
        return tuple(name for name, _ in self.definitions)

    @property
    def definitions(self) -> tuple[tuple[str, str], ...]:
        """All columns and the types they are sent as, under any domains of the table."""
        extra = (
            (self.original, ORIGINAL, "text"),
            (self.lineage, LINEAGE_COLUMN, "jsonb"),
            (self.sequence, SEQUENCE, "bigint"),
        )
        return (
            *((c.name, c.type.postgres) for c in self.columns),
            *((name, type_) for present, name, type_ in extra if present),
        )

    @property
    def jsonb(self) -> tuple[str, ...]:
        """Columns whose text is sent as jsonb."""
        own = tuple(c.name for c in self.columns if c.type.name == "jsonb")
        return (*own, LINEAGE_COLUMN)

    def schema(self, rows: pa.Schema) -> pa.Schema:
        """Arrow schema of what is encoded, from that of the rows."""
        own = [c.name for c in self.columns] + ([ORIGINAL] if self.original else [])
        fields = [rows.field(i).with_name(name) for i, name in enumerate(own)]
        if self.lineage:
            fields.append(pa.field(LINEAGE_COLUMN, pa.string()))
        return pa.schema([*fields, *([pa.field(SEQUENCE, pa.int64())] if self.sequence else [])])

    def arrays(self, batch: pa.RecordBatch, start: int) -> Sequence[pa.Array]:
        """The arrays of one batch, whose first row is written at this place."""
        arrays = list(batch.columns)
        if self.lineage:
            arrays.append(self.lineage.cells(start, batch.num_rows))
        if self.sequence:
            arrays.append(pa.array(range(start, start + batch.num_rows), pa.int64()))
        return arrays


def copy_rows(
    connection: Connection,
    table: str,
    shape: Shape,
    batches: Iterator[pa.RecordBatch],
) -> int:
    """Copy batches of one schema into a table; how many rows the server took."""
    # To ask the worker for the schema would be to plan the query a second time.
    first = next(batches, None)
    if first is None:
        return 0
    names = ", ".join(ident(name) for name in shape.names)
    encoder = BinaryEncoder(shape.schema(first.schema), shape.jsonb)
    written = 0
    with CopyStream(connection, f"COPY {table} ({names}) FROM STDIN (FORMAT binary)") as stream:
        stream.write(encoder.header)
        for batch in chain([first], batches):
            stream.write(partial(_encode, encoder, shape, batch, written))
            written += batch.num_rows
        stream.write(encoder.trailer)
    return stream.rows


def _encode(encoder: BinaryEncoder, shape: Shape, batch: pa.RecordBatch, start: int) -> bytes:
    return encoder.rows(shape.arrays(batch, start))


def peek(batches: Iterator[pa.RecordBatch]) -> tuple[bool, Iterator[pa.RecordBatch]]:
    """Whether there is any row at all, and the same batches again."""
    first = next(batches, None)
    return first is not None, iter(()) if first is None else chain([first], batches)


def _json(text: str) -> str:
    import json

    return json.dumps(text)
