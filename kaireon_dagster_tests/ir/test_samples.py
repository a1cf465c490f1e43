"""The documents of Flow, and ones that use every option, parse and mean what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kaireon_dagster.ir import (
    Cron,
    FrozenMapping,
    Interval,
    MapValues,
    RowCount,
    Rrule,
    Source,
    StreamSource,
    Target,
    Transform,
    Validate,
    parse_document,
)
from kaireon_dagster_tests.ir.documents import parse, pipeline, through, transform
from kaireon_dagster_tests.ir.samples import (
    EVERY_MODE,
    FAN_OUT,
    OPS,
    ORDERS,
    ORDERS_WITHOUT_VALIDATE,
    PATTERNS,
    RIGHT,
    SCHEDULES,
    STREAMS,
    with_config,
    with_schedule,
)


@pytest.mark.parametrize("document", RIGHT)
def test_parses_and_is_hashable(document: dict[str, Any]) -> None:
    parsed = parse(document)
    assert hash(parsed) == hash(parse(document))
    assert parsed == parse(document)


@pytest.mark.parametrize("document", STREAMS)
def test_streams_parse_where_streaming_is_on(document: dict[str, Any]) -> None:
    parsed = parse(document, streaming=True)
    assert [type(node) for node in parsed.streams] == [StreamSource]
    assert parsed.sources == ()


def test_orders_ingest() -> None:
    orders = parse(ORDERS)
    source, validate, target = orders.nodes
    assert isinstance(source, Source)
    assert isinstance(validate, Validate)
    assert isinstance(target, Target)
    assert source.config.wait_policy is not None
    assert source.config.wait_policy.on_miss_action == "skip"
    assert source.config.atomicity is not None
    assert source.config.atomicity.staging_folder == ".processing/"
    assert validate.dataset_rules == (RowCount(min=1, onFail="abort"),)
    assert validate.dataset_rules[0].validator == "rowCount"
    assert validate.row_level[0].name == "gt"
    assert validate.row_level[0].argument == "0"
    assert validate.quarantine is not None
    assert validate.quarantine.relation == ("dlq", "orders")
    assert target.table == ("public", "ds_orders")
    assert target.inputs == ("v",)
    assert orders.sources == (source,)
    assert orders.targets == (target,)
    assert orders.node("v") is validate
    assert orders.tenant_id == "default"
    assert orders.error_handling.retry.max_attempts == 1
    assert orders.dlq_destination == "flow_dlq.orders_ingest"


def test_orders_ingest_without_validate() -> None:
    assert parse(ORDERS_WITHOUT_VALIDATE).targets[0].input == "src"


def test_given_schedules() -> None:
    cron, interval, rrule = (parse(with_schedule(schedule)).schedule for schedule in SCHEDULES)
    assert cron == Cron(kind="cron", expression="0 9 * * 1")
    assert interval == Interval(kind="interval", minutes=15)
    assert rrule == Rrule(kind="rrule", rrule="FREQ=DAILY;COUNT=10")
    assert cron is not None
    assert cron.catch_up == "latest"


def test_given_patterns() -> None:
    found = [parse(with_config(pattern=pattern)).sources[0].config.pattern for pattern in PATTERNS]
    assert [pattern.type for pattern in found] == ["glob", "regex", "date_template"]
    assert found[2].timezone == "America/Los_Angeles"


def test_references_as_written() -> None:
    parsed = parse(FAN_OUT)
    assert parsed.node("j").inputs == ("b.eu", "other")
    assert parsed.node("src").inputs == ()
    assert parsed.node("rest").inputs == ("b.rest",)
    with pytest.raises(KeyError):
        parsed.node("nobody")


def test_one_key_is_a_list_of_one() -> None:
    assert [parse(document).targets[0].upsert_key for document in EVERY_MODE[2:4]] == [
        ("id",),
        ("id", "Line No"),
    ]


def test_every_op_keeps_its_type() -> None:
    node = parse(through(transform(*OPS))).node("t")
    assert isinstance(node, Transform)
    assert [op.type for op in node.ops] == [op["type"] for op in OPS]


@pytest.mark.parametrize(
    ("extra", "has_default"), [({}, False), ({"default": None}, True), ({"default": 0}, True)]
)
def test_default_of_map_values_tells_null_from_none(
    extra: dict[str, Any], has_default: bool
) -> None:
    op = {"type": "map_values", "field": "a", "mapping": {"x": 1}, **extra}
    node = parse(through(transform(op))).node("t")
    assert isinstance(node, Transform)
    assert isinstance(node.ops[0], MapValues)
    assert node.ops[0].has_default is has_default
    assert node.ops[0].mapping == FrozenMapping({"x": 1})


def test_long_ids_have_a_dlq_table_that_postgres_can_hold() -> None:
    first, second = (parse(pipeline(id="x" * 99 + end)).dlq_table[1] for end in "ab")
    assert len(first) == 63
    assert first != second


def test_null_stands_for_a_key_left_out() -> None:
    assert parse(pipeline(schedule=None, trigger=None)) == parse(pipeline())


def test_yaml_and_json_are_the_same_document() -> None:
    yaml_text = """
    kind: pipeline
    version: "1.0"
    id: orders
    metadata: {name: Orders}
    nodes:
      - id: src
        kind: source
        connector: local_fs
        config: &config
          path: /data
          pattern: {type: glob, value: "*.csv"}
          format: csv
      - {id: other, kind: source, connector: local_fs, config: *config}
      - id: j
        kind: join
        inputs: [src, other]
        type: inner
        on: [{left: no, right: 2026-03-01}]
      - {id: tgt, kind: target, input: j, schema: public.orders, loadMode: append}
    """
    parsed = parse_document(yaml_text, source="doc.yaml", format="yaml")
    join = parsed.node("j").model_dump(by_alias=True)
    assert join["on"] == ({"left": "no", "right": "2026-03-01"},)
    as_json = json.dumps(parsed.model_dump(mode="json", by_alias=True))
    assert parse_document(as_json, source="doc.json", format="json") == parsed
