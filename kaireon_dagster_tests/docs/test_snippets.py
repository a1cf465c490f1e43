"""The Python of the pages, loaded as a code location would load it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from kaireon_dagster.orchestration import FlowPipelinesComponent
from kaireon_dagster_tests.docs.pages import PAGES, PROJECT, block, blocks


def snippets() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, (language, text) in enumerate(blocks(page)):
            if language == "python":
                yield f"{page.relative_to(PROJECT)}#{number}", text


@pytest.mark.parametrize(("name", "text"), list(snippets()), ids=lambda value: value[:40])
def test_a_snippet_makes_definitions_that_load(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    definitions = names["defs"]
    assert isinstance(definitions, dg.Definitions)
    dg.Definitions.validate_loadable(definitions)
    repository = definitions.get_repository_def()
    assert dg.AssetKey(["flights", "airlines"]) in repository.asset_graph.get_all_asset_keys()
    asked = text.count("ScheduleDefinition(")
    assert len(repository.schedule_defs) == asked
    for schedule in repository.schedule_defs:
        job = definitions.resolve_job_def(schedule.job_name)
        selected = job.asset_layer.executable_asset_keys
        assert selected == {dg.AssetKey(["flights", "airlines"])}


def test_there_are_snippets_to_load() -> None:
    assert len(list(snippets())) >= 3


def test_the_component_takes_what_the_guide_gives_it(tmp_path: Path) -> None:
    text = yaml.safe_load(block("docs/guides/dagster.md", "text"))
    assert text["type"] == "kaireon_dagster.FlowPipelinesComponent"
    component = FlowPipelinesComponent.resolve_from_dict(text["attributes"])
    assert component.path == "pipelines"
