"""The second phase: ids, references, cycles, ends, and what may not stand together."""

from __future__ import annotations

from typing import Any

import pytest

from kaireon_dagster_tests.ir.documents import (
    Wrong,
    change,
    parse,
    pipeline,
    problems,
    source,
    stream,
    target,
    through,
    transform,
    wrong_cases,
)
from kaireon_dagster_tests.ir.samples import FAN_OUT

FILTER = {"type": "filter", "condition": "true"}
KEY = [{"left": "k", "right": "k"}]


def step(node_id: str, reads: str) -> dict[str, Any]:
    return transform(FILTER, id=node_id, input=reads)


def join(node_id: str, *inputs: str) -> dict[str, Any]:
    return {"id": node_id, "kind": "join", "inputs": list(inputs), "type": "inner", "on": KEY}


def archive(node_id: str, reads: str, **fields: Any) -> dict[str, Any]:
    return {"id": node_id, "kind": "archive", "input": reads, "folder": ".done/", **fields}


def branch(**fields: Any) -> dict[str, Any]:
    routes = [{"name": "eu", "when": "true"}, {"name": "us", "when": "true"}]
    return {"id": "b", "kind": "branch", "input": "src", "routes": routes, **fields}


def two_targets(first: str, second: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return target(input=first), target(id="tgt2", input=second, schema="public.other")


WRONG = [
    Wrong(
        pipeline(source(), step("t", "src"), step("t", "src"), target(input="t")),
        "nodes[2].id: 't' is already the id of nodes[1]",
    ),
    Wrong(
        pipeline(source(), step("a-b", "src"), step("a_b", "a-b"), target(input="a_b")),
        "nodes[2].id: 'a_b' and 'a-b' differ only in '-' and '_'",
    ),
    Wrong(
        pipeline(source(), step("a", "nothing"), target(input="a")),
        "nodes[1].input: unknown node 'nothing'; allowed: 'src'",
    ),
    Wrong(
        pipeline(source(), step("orders", "src"), target(input="order")),
        "nodes[2].input: unknown node 'order'; did you mean 'orders'? Allowed: 'src' or 'orders'",
    ),
    Wrong(
        pipeline(source(), target(), target(id="t2", input="tgt", schema="a.b")),
        "nodes[2].input: 'tgt' is a target; nothing can read from it",
    ),
    Wrong(
        pipeline(source(), target(input="src.eu")),
        "nodes[1].input: 'src' is no branch, it has no route 'eu'; write 'src'",
    ),
    Wrong(
        pipeline(source(), branch(), target(input="b")),
        "nodes[2].input: 'b' is a branch; name a route of it: 'b.eu' or 'b.us'",
    ),
    Wrong(
        pipeline(source(), branch(), *two_targets("b.eu", "b.uss")),
        "nodes[3].input: unknown route of 'b' 'uss'; did you mean 'us'? Allowed: 'eu' or 'us'",
    ),
    Wrong(
        pipeline(source(), branch(otherwise="eu"), *two_targets("b.eu", "b.us")),
        "nodes[1].otherwise: route 'eu' is named twice",
    ),
    Wrong(
        pipeline(source(), step("a", "src"), target()),
        "nodes[1]: no node reads 'a'; its rows go nowhere",
    ),
    Wrong(
        pipeline(source(), source(id="other"), target()),
        "nodes[1]: no node reads 'other'; its rows go nowhere",
    ),
    Wrong(
        pipeline(source(), step("a", "a"), join("j", "src", "a"), target(input="j")),
        "nodes[1].input: the nodes form a cycle: 'a' → 'a'",
    ),
    Wrong(
        pipeline(
            source(),
            join("j", "src", "c"),
            step("b", "j"),
            step("c", "b"),
            target(input="j"),
        ),
        "nodes[1].inputs[1]: the nodes form a cycle: 'j' → 'b' → 'c' → 'j'",
    ),
    Wrong(
        pipeline(source()),
        "nodes: a pipeline needs at least one node of kind 'target'",
    ),
    Wrong(
        pipeline(source(), archive("a", "src"), archive("a2", "src"), target()),
        "nodes[2].input: the files of 'src' already go to nodes[1]; a file has one archive folder",
    ),
    Wrong(
        pipeline(source(), archive("a", "src", folder="/x"), target(input="a")),
        "nodes[1].folder: folders are relative to the source's path, without a leading slash or "
        "scheme",
    ),
    Wrong(
        pipeline(trigger={"file_arrival": {"source": "tgt"}}),
        "trigger.file_arrival.source: unknown source of files 'tgt'; allowed: 'src'",
    ),
    Wrong(
        pipeline(trigger={"file_arrival": {"source": "scr"}}),
        "trigger.file_arrival.source: unknown source of files 'scr'; did you mean 'src'?",
    ),
    Wrong(
        pipeline(source(), source(id="o"), join("j", "src", "o", "src"), target(input="j")),
        "nodes[2].inputs: longer than allowed: at most 2",
        True,
    ),
    Wrong(
        pipeline(source(), {**join("j", "src", "src"), "on": []}, target(input="j")),
        "nodes[1].on: cannot be empty",
        True,
    ),
    Wrong(
        pipeline(source(), target(input="no spaces")),
        "nodes[1].input: unknown node 'no spaces'; allowed: 'src'",
        True,
    ),
]


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    found = problems(case.document)
    # A source that only its missing target would read is reported as unread as well.
    assert [problem for problem in found if problem != UNREAD_SOURCE] == [case.problem]


UNREAD_SOURCE = "nodes[0]: no node reads 'src'; its rows go nowhere"


def test_streams_and_batches_do_not_mix() -> None:
    document = pipeline(source(), stream(id="s"), join("j", "src", "s"), target(input="j"))
    assert problems(document, streaming=True) == [
        "nodes[1].connector: streaming and batch sources cannot be mixed; "
        "nodes[0] is a batch source"
    ]


def test_streams_have_no_files_to_archive() -> None:
    document = pipeline(stream(), archive("a", "src"), target(input="a"))
    assert problems(document, streaming=True) == [
        "nodes[1].input: source 'src' is a stream, it has no files"
    ]


def test_structure_is_checked_where_the_shape_is_wrong() -> None:
    document = pipeline(
        source(id="src", connector="nope"),
        transform({"type": "ranme"}, id="t", input="scr"),
        branch(input="t", mode="some", routes=[{"name": "eu"}]),
        target(input="b.us", loadMode=1),
    )
    assert [problem.split(":")[0] for problem in problems(document)] == [
        "nodes[0].connector",
        "nodes[1].ops[0].type",
        "nodes[2].routes[0].when",
        "nodes[2].mode",
        "nodes[3].loadMode",
        "nodes[1].input",
        "nodes[3].input",
    ]


def test_a_node_without_input_accuses_no_other() -> None:
    document = change(through(step("t", "src")), ("nodes", 2, "inptu"), "t")
    del document["nodes"][2]["input"]
    assert problems(document) == [
        "nodes[2].input: required key is missing",
        "nodes[2].inptu: unknown key 'inptu'; did you mean 'input'?",
    ]


def test_a_node_of_unknown_kind_accuses_no_other() -> None:
    document = change(pipeline(), ("nodes", 1, "kind"), "targte")
    (problem,) = problems(document)
    assert problem.startswith("nodes[1].kind: unknown node kind 'targte'; did you mean 'target'?")


def test_an_archive_may_end_a_path_or_stand_in_it() -> None:
    parse(pipeline(source(), archive("a", "src"), target()))
    parse(pipeline(source(), archive("a", "src"), target(input="a")))
    parse(FAN_OUT)


@pytest.mark.parametrize("length", [1500])
def test_long_chains_are_walked_without_recursion(length: int) -> None:
    middle = [step(f"t{index}", f"t{index - 1}" if index else "src") for index in range(length)]
    document = pipeline(source(), *middle, target(input=f"t{length - 1}"))
    assert len(parse(document).nodes) == length + 2
    looped = change(document, ("nodes", 1, "input"), f"t{length - 1}")
    assert any("the nodes form a cycle" in problem for problem in problems(looped))
