from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox

from kaireon_dagster import FlowPipelinesComponent
from kaireon_dagster_tests.orchestration.bench import KEY, QUIET, Bench

# Dagster's own, about what its components load.
pytestmark = pytest.mark.filterwarnings("ignore::dagster.BetaWarning")


def test_component_offers_the_documents_of_its_folder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALES_DATABASE", bench.database.conninfo)
    bench.write()
    bench.drop()
    attributes = {"path": str(bench.pipelines), "database_url_env": "SALES_DATABASE"}
    with create_defs_folder_sandbox() as sandbox:
        folder = sandbox.scaffold_component(component_cls=FlowPipelinesComponent)
        sandbox.defs_folder_path.joinpath(folder, "defs.yaml").write_text(
            dg_yaml("kaireon_dagster.FlowPipelinesComponent", attributes)
        )
        with sandbox.build_all_defs() as defs:
            assert KEY in {spec.key for spec in defs.resolve_all_asset_specs()}
            job = defs.resolve_job_def("orders_ingest")
            assert job.execute_in_process(instance=bench.instance, run_config=QUIET).success
    assert bench.fetch("SELECT count(*) FROM public.ds_orders") == [(2,)]


def test_documents_lie_beside_defs_yaml_by_default(bench: Bench) -> None:
    with create_defs_folder_sandbox() as sandbox:
        folder = sandbox.scaffold_component(component_cls=FlowPipelinesComponent)
        place = sandbox.defs_folder_path.joinpath(folder)
        (place / "defs.yaml").write_text("type: kaireon_dagster.FlowPipelinesComponent\n")
        (place / "orders.json").write_text(bench.write().read_text())
        with sandbox.build_all_defs() as defs:
            assert KEY in {spec.key for spec in defs.resolve_all_asset_specs()}


def test_unknown_attribute_is_refused() -> None:
    with pytest.raises(Exception, match="paht"):
        FlowPipelinesComponent.resolve_from_yaml("paht: pipelines")


def test_dg_finds_the_component() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("dg"), "list", "components", "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert "kaireon_dagster.FlowPipelinesComponent" in done.stdout


def dg_yaml(type_: str, attributes: dict[str, str]) -> str:
    lines = [f"type: {type_}", "attributes:"]
    return "\n".join([*lines, *(f"  {key}: {value}" for key, value in attributes.items())])


def test_attributes_have_a_schema() -> None:
    schema = FlowPipelinesComponent.get_model_cls().model_json_schema()
    assert {"path", "database_url_env", "checkpoints", "asset_jobs"} <= set(schema["properties"])


def test_component_is_a_component() -> None:
    assert issubclass(FlowPipelinesComponent, dg.Component)
