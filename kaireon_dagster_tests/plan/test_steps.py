"""Where a pipeline is cut into steps."""

from __future__ import annotations

from typing import Any

import pytest

from kaireon_dagster.plan.names import LONGEST, load_table, lookup_view, staged_table
from kaireon_dagster.plan.steps import Step, ordered, plan_pipeline
from kaireon_dagster_tests.harness import document
from kaireon_dagster_tests.plan.test_golden import _source, _target


def node(id: str, input: str, **more: Any) -> dict[str, Any]:
    ops = [{"type": "rename", "from": "a", "to": "b"}]
    return {"id": id, "kind": "transform", "input": input, "ops": ops, **more}


def target(id: str, input: str) -> dict[str, Any]:
    return {**_target([{"id": input}]), "id": id}


def test_a_chain_is_one_claim_and_one_load() -> None:
    plan = plan_pipeline(document(_source("src"), node("x", "src"), target("t", "x")))
    assert plan.steps == (
        Step("src", "src", "claim", (), ("src",)),
        Step("t", "t", "load", ("src",), ("src", "x", "t")),
    )


def test_a_node_with_two_readers_is_staged() -> None:
    nodes = (_source("src"), node("x", "src"), target("t1", "x"), target("t2", "x"))
    plan = plan_pipeline(document(*nodes))
    assert [(s.name, s.kind, s.inputs) for s in plan.steps] == [
        ("src", "claim", ()),
        ("x", "stage", ("src",)),
        ("t1", "load", ("x",)),
        ("t2", "load", ("x",)),
    ]


def test_a_source_with_two_readers_is_claimed_and_staged() -> None:
    plan = plan_pipeline(document(_source("src"), target("t1", "src"), target("t2", "src")))
    assert [(s.name, s.kind, s.inputs) for s in plan.steps] == [
        ("src", "claim", ()),
        ("src__staged", "stage", ("src",)),
        ("t1", "load", ("src__staged",)),
        ("t2", "load", ("src__staged",)),
    ]


def test_checkpoints_cut_where_the_document_says_or_everywhere() -> None:
    nodes = (_source("src"), node("x", "src", checkpoint=True), node("y", "x"), target("t", "y"))
    pipeline = document(*nodes)
    assert [s.name for s in plan_pipeline(pipeline).steps] == ["src", "x", "t"]
    everywhere = plan_pipeline(pipeline, checkpoints="every_node")
    assert [s.name for s in everywhere.steps] == ["src", "x", "y", "t"]


def test_nodes_are_worked_on_after_what_they_read_whatever_the_documents_order() -> None:
    nodes = (target("t", "y"), node("y", "x"), node("x", "src"), _source("src"))
    assert [n.id for n in ordered(document(*nodes))] == ["src", "x", "y", "t"]


def test_a_long_chain_does_not_exhaust_the_stack() -> None:
    nodes = [node(f"n{i}", f"n{i - 1}" if i else "src") for i in range(500)]
    plan = plan_pipeline(document(_source("src"), *reversed(nodes), target("t", "n499")))
    assert len(plan.step("t").nodes) == 502


@pytest.mark.parametrize("node_id", ["x", "n" * 63])
def test_generated_names_fit_and_tell_runs_apart(node_id: str) -> None:
    names = {
        staged_table("xform", "p", node_id, "r1"),
        staged_table("xform", "p", node_id, "r2"),
        load_table("p", node_id, "r1"),
        lookup_view(("public", "t" * 63), ("a",)),
    }
    assert len(names) == 4
    assert all(len(name.encode()) <= LONGEST for name in names)
