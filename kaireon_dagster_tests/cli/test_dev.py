from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.documents import write_orders

STARTED = "import sys; from kaireon_dagster.cli import main; sys.exit(main())"
DEADLINE = 90.0
QUERY = "{assetNodes {assetKey {path}}}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(url: str) -> list[list[str]]:
    body = json.dumps({"query": QUERY}).encode()
    request = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return [node["assetKey"]["path"] for node in json.load(answer)["data"]["assetNodes"]]


def wait_for_assets(url: str) -> list[list[str]]:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            if assets := ask(url):
                return assets
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError("the UI showed no asset in time")


def living(group: int) -> list[int]:
    """Processes of a group; those that have ended and wait to be noticed do not count."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, _, of_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of_group) == group and state != "Z":
            found.append(int(entry.name))
    return found


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def test_it_serves_the_ui_and_ends_cleanly_on_ctrl_c(folder: Path) -> None:
    (folder / "pipelines").mkdir()
    write_orders(folder).rename(folder / "pipelines" / "orders.yaml")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, "dev", "--port", str(port), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert ["shop", "orders"] in wait_for_assets(f"http://127.0.0.1:{port}")
        (dagster,) = children(process.pid)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert process.returncode == 0
    assert json.loads(out)["url"] == f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 10
    while living(dagster) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert living(dagster) == []
    assert (folder / ".kaireon" / "dagster" / "dagster.yaml").exists()


def test_a_port_that_is_taken_is_wrong_usage(call: Call, folder: Path) -> None:
    (folder / "pipelines").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = call("dev", "--port", taken.getsockname()[1])
    assert said.code == 2
    assert "is taken" in said.err


def test_without_documents_there_is_nothing_to_show(call: Call) -> None:
    said = call("dev")
    assert said.code == 2
    assert "there is no folder pipelines" in said.err


@pytest.mark.parametrize("edited", [False, True])
def test_the_instance_takes_the_settings_of_the_project(
    folder: Path, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    from kaireon_dagster.cli.dagster_home import prepare_dagster_home

    monkeypatch.setenv("FLOW_HOME", str(folder / "work"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (folder / "dagster.yaml").write_text("telemetry:\n  enabled: false\n# mine\n")
    own = folder / "work" / "dagster" / "dagster.yaml"
    if edited:
        own.parent.mkdir(parents=True)
        own.write_text("# edited by hand\n")
    assert prepare_dagster_home() == own.parent
    assert own.read_text().endswith("# edited by hand\n" if edited else "# mine\n")
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.delenv("DAGSTER_HOME")
