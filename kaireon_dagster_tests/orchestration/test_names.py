from __future__ import annotations

import dagster as dg
import pytest

from kaireon_dagster.orchestration.names import (
    RESERVED,
    give_names,
    is_tag_value,
    key_part,
    legal_name,
    tag_of,
)


@pytest.mark.parametrize("text", ["orders-ingest", "class", "a.b c", "dict", "1st", "größe"])
def test_legal_name_is_one_that_dagster_takes(text: str) -> None:
    dg.OpDefinition(name=legal_name(text), compute_fn=lambda context, inputs: iter(()))


def test_reserved_words_are_those_of_dagster() -> None:
    for word in RESERVED:
        with pytest.raises(dg.DagsterInvalidDefinitionError):
            dg.OpDefinition(name=word, compute_fn=lambda context, inputs: iter(()))


def test_names_that_nobody_else_wishes_for_stay() -> None:
    assert give_names({("a",): "x", ("b",): "y"}) == {("a",): "x", ("b",): "y"}


def test_equal_wishes_are_kept_apart_in_any_order() -> None:
    wishes = {("a-b",): "a_b", ("a_b",): "a_b", ("c",): "c"}
    names = give_names(wishes)
    assert len(set(names.values())) == 3
    assert names == give_names(dict(reversed(wishes.items())))


def test_taken_name_is_not_given_again() -> None:
    assert give_names({("a",): "x"}, {"x"})[("a",)].startswith("x_")


def test_key_part_keeps_what_may_stand_and_tells_the_rest_apart() -> None:
    assert key_part("orders-2.0_x") == "orders-2.0_x"
    assert key_part("a b") != key_part("a_b")
    assert key_part("ä") != key_part("ö")


def test_tags_fit_dagster() -> None:
    assert tag_of("daily load") == "daily_load"
    assert tag_of("***") is None
    assert len(tag_of("x" * 100) or "") == 63
    assert is_tag_value("orders-ingest")
    assert not is_tag_value("x" * 64)
