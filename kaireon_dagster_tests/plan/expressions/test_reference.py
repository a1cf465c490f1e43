"""The reference page names all that expressions may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaireon_dagster.plan.casting.formats import _TEMPLATE
from kaireon_dagster.plan.expressions.moment_functions import _CLOCK_PARTS, _PARTS, _SHOWN
from kaireon_dagster.plan.expressions.registry import REGISTRY

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "expressions.md"


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_the_page_names_every_function(name: str) -> None:
    assert f"`{name}(" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*_PARTS, *_CLOCK_PARTS, *_SHOWN])
def test_the_page_names_every_field_and_format(word: str) -> None:
    assert word in PAGE.read_text(encoding="utf-8")


def test_the_page_names_the_formats_of_casts() -> None:
    text = PAGE.read_text(encoding="utf-8").upper()
    assert [word for word in _TEMPLATE if word not in text and word not in ("OF", "TZHTZM")] == []
