"""What `init` proposes, read back."""

from __future__ import annotations

from typing import Any

from kaireon_dagster.ir import Pipeline, parse_document
from kaireon_dagster_tests.cli.conftest import Call


def starter(call: Call, *files: str) -> Pipeline:
    said = call("init", "--stdout", *files)
    assert said.code == 0, said.err
    return parse_document(said.out, source="starter", format="yaml")


def casts(pipeline: Pipeline) -> dict[str, str]:
    ops: Any = [op for node in pipeline.nodes if node.kind == "transform" for op in node.ops]
    return {
        op.field: op.to + (f" {op.format}" if op.format else "") for op in ops if op.type == "cast"
    }


def renames(pipeline: Pipeline) -> dict[str, str]:
    ops: Any = [op for node in pipeline.nodes if node.kind == "transform" for op in node.ops]
    return {op.from_: op.to for op in ops if op.type == "rename"}
