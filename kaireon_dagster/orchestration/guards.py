"""Which rules guard which target, as asset checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.names import digest, legal_name


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule of a validate node upstream of a target.

    Attributes:
        check: name of the asset check, unique for the target.
        node: the validate node.
        rule: id of a row rule, or the name of a dataset validator.
        place: which one of that node's rules of this name it is, from 0.
        is_strict: whether a violation fails the run.
        description: the rule as it stands in the document.
    """

    check: str
    node: str
    rule: str
    place: int
    is_strict: bool
    description: str

    @property
    def severity(self) -> dg.AssetCheckSeverity:
        """How bad a violation is."""
        return dg.AssetCheckSeverity.ERROR if self.is_strict else dg.AssetCheckSeverity.WARN

    def spec(self, key: dg.AssetKey) -> dg.AssetCheckSpec:
        """The check of an asset."""
        return dg.AssetCheckSpec(name=self.check, asset=key, description=self.description)


def guards_of(pipeline: ir.Pipeline, target: ir.Target) -> tuple[Guard, ...]:
    """The rules that a target's rows pass on their way, in document order."""
    upstream = _upstream(pipeline, target.id)
    found = [
        guard
        for node in pipeline.nodes
        if isinstance(node, ir.Validate) and node.id in upstream
        for guard in _guards(node)
    ]
    return tuple(_apart(found))


def _upstream(pipeline: ir.Pipeline, node_id: str) -> set[str]:
    found: set[str] = set()
    waiting = [node_id]
    while waiting:
        for reference in pipeline.node(waiting.pop()).inputs:
            upstream = ir.split_reference(reference)[0]
            if upstream not in found:
                found.add(upstream)
                waiting.append(upstream)
    return found


def _guards(node: ir.Validate) -> Iterator[Guard]:
    places: Counter[str] = Counter()
    for rule in node.row_level:
        places[rule.id] += 1
        does = f"`{rule.field}` {rule.rule}, otherwise {rule.on_fail}"
        name = legal_name(f"{node.id}__{rule.id}")
        yield Guard(name, node.id, rule.id, 0, rule.on_fail == "abort", does)
    for validator in node.dataset_rules:
        place = places[validator.validator]
        places[validator.validator] += 1
        yield _dataset_guard(node, validator, place)


def _dataset_guard(node: ir.Validate, rule: ir.DatasetRule, place: int) -> Guard:
    limits = rule.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"on_fail"})
    said = ", ".join(f"{key} {value}" for key, value in limits.items())
    number = f"_{place + 1}" if place else ""
    name = legal_name(f"{node.id}__{rule.validator}{number}")
    does = f"{rule.validator}: {said}, otherwise {rule.on_fail}"
    return Guard(name, node.id, rule.validator, place, rule.on_fail == "abort", does)


def _apart(guards: Iterable[Guard]) -> Iterator[Guard]:
    guards = list(guards)
    names = Counter(guard.check for guard in guards)
    for guard in guards:
        if names[guard.check] == 1:
            yield guard
        else:
            check = f"{guard.check}_{digest(guard.node, guard.rule, str(guard.place))}"
            yield Guard(
                check, guard.node, guard.rule, guard.place, guard.is_strict, guard.description
            )
