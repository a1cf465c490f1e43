from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kaireon_dagster import ir
from kaireon_dagster.cli.entry import COMMANDS
from kaireon_dagster.plan.expressions.registry import REGISTRY
from kaireon_dagster_tests.docs.pages import PAGES, PROJECT, blocks

OPS = [
    *(
        "cast",
        "expression",
        "rename",
        "drop",
        "add_field",
        "hash",
        "mask_pii",
        "map_values",
        "split",
    ),
    *("merge", "filter", "deduplicate", "aggregate", "lookup_join", "summarize", "vector_embed"),
    *("geo_resolve", "sentiment_score", "language_detect"),
]


def documents() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, (language, text) in enumerate(blocks(page)):
            if language in ("yaml", "json") and re.search(
                r'^\W*kind"?: "?pipeline', text, re.MULTILINE
            ):
                yield f"{page.relative_to(PROJECT)}#{number}", text


@pytest.mark.parametrize(("name", "text"), list(documents()), ids=lambda value: value[:40])
def test_every_document_of_the_docs_is_valid(name: str, text: str) -> None:
    ir.parse_document(text, source=name, format="yaml")


def test_there_are_documents_to_look_at() -> None:
    assert len(list(documents())) >= 8


@pytest.mark.parametrize("path", sorted((PROJECT / "pipelines").iterdir()), ids=lambda p: p.name)
def test_the_documents_of_the_demo_are_valid_and_explain_themselves(path: Path) -> None:
    pipeline = ir.read_document(path)
    assert pipeline.metadata.description
    assert pipeline.metadata.owner


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    assert not re.search(r"/(?:work|home|root|Users|tmp)/", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_targets_that_are_named_exist(page: Path) -> None:
    text = page.read_text()
    makefile = (PROJECT / "Makefile").read_text()
    for command in re.findall(r"kaireon-dagster ([a-z]+)", text):
        assert command in COMMANDS, command
    for target in re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_reference_of_the_language_is_complete() -> None:
    text = (PROJECT / "docs/reference/flow-documents.md").read_text()
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"`([^`\n]+)`", text))))
    known = [
        *OPS,
        *ir.rules.RULES,
        *REGISTRY,
        *(field.alias or name for name, field in ir.Target.model_fields.items()),
        *(field.alias or name for name, field in ir.SourceConfig.model_fields.items()),
        *(field.alias or name for name, field in ir.FormatOptions.model_fields.items()),
        *(field.alias or name for name, field in ir.Pipeline.model_fields.items()),
        *(field.alias or name for name, field in ir.Dlq.model_fields.items()),
        *(field.alias or name for name, field in ir.Retry.model_fields.items()),
        *(field.alias or name for name, field in ir.DatasetLevel.model_fields.items()),
    ]
    later = {"watermarkColumn", "lagMinutes", "opColumn", "sequenceColumn"}
    assert [name for name in known if name not in words | later] == []


def test_the_ops_above_are_those_of_the_language() -> None:
    schema = ir.json_schema()["$defs"]
    types = {
        d["properties"]["type"].get("const")
        for d in schema.values()
        if "type" in d.get("properties", {})
    }
    assert set(OPS) <= types
