from __future__ import annotations

import json
import logging
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from kaireon_dagster.cli import dagster_dev
from kaireon_dagster.cli.dev_lock import taking_turn
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.documents import write_orders

STARTED = "import sys; from kaireon_dagster.cli import main; sys.exit(main())"
DEADLINE = 90.0
SETTINGS = "telemetry:\n  enabled: false\npython_logs:\n  python_log_level: INFO\n"
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


def wait_for_assets(url: str, log: Path) -> list[list[str]]:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            if assets := ask(url):
                return assets
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"the UI showed no asset in time; its log:\n{log.read_text()}")


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


def test_it_serves_the_ui_and_ends_cleanly_on_ctrl_c(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (folder / "pipelines").mkdir()
    write_orders(folder).rename(folder / "pipelines" / "orders.yaml")
    (folder / "dagster.yaml").write_text(SETTINGS)
    port = free_port()
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, "dev", "--port", str(port), "--json"],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        assert ["shop", "orders"] in wait_for_assets(f"http://127.0.0.1:{port}", folder / "log")
        again = call("dev")
        assert (again.code, again.out) == (
            0,
            f"Dagster UI: http://127.0.0.1:{port}  (runs already)\n",
        )
        elsewhere = call("dev", "--port", free_port())
        assert elsewhere.code == 2
        assert f"runs here already, at http://127.0.0.1:{port}" in elsewhere.err
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
    noise = (folder / "log").read_text()
    assert "Launching Dagster services" in noise
    assert not re.search("will not be used|Warning|DEBUG", noise)


def test_a_port_that_is_taken_is_wrong_usage(call: Call, folder: Path) -> None:
    (folder / "pipelines").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = call("dev", "--port", taken.getsockname()[1])
    assert said.code == 2
    assert "is taken" in said.err


@pytest.mark.parametrize("port", ["0", "-1", "99999999"])
def test_a_port_that_cannot_be_is_wrong_usage(call: Call, folder: Path, port: str) -> None:
    (folder / "pipelines").mkdir()
    said = call("dev", f"--port={port}")
    assert said.code == 2
    assert f"--port {port}: a port is a number from 1 to 65535" in said.err


def test_an_instance_that_is_not_there_is_wrong_usage(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pipelines").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(folder / "nowhere"))
    said = call("dev")
    assert said.code == 2
    assert "nowhere, which is no folder" in said.err


def test_a_dev_that_was_killed_is_not_in_the_way(folder: Path) -> None:
    with taking_turn(folder) as turn:
        turn.announce("http://127.0.0.1:1")
        with taking_turn(folder) as later:
            assert later.other == "http://127.0.0.1:1"
    with taking_turn(folder) as next_one:
        assert next_one.other is None


@pytest.mark.parametrize("linked", [True, False])
def test_only_the_line_that_is_not_so_is_kept_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr("runpy.run_module", lambda *_, **__: started.append(sys.argv))
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setenv("DAGSTER_HOME", str(folder / "home"))
    (folder / "home").mkdir()
    (folder / "dagster.yaml").write_text(SETTINGS)
    if linked:
        (folder / "home" / "dagster.yaml").symlink_to(folder / "dagster.yaml")
    logger = logging.getLogger("dagster")
    before = list(logger.filters)
    try:
        dagster_dev.main(["-p", "1"])
        text = "Found a dagster instance configuration value (dagster.yaml) in the current folder"
        unused, other = (
            logger.makeRecord("dagster", logging.WARNING, "", 0, said, (), None)
            for said in (text, "Launching")
        )
        assert bool(logger.filter(unused)) is not linked
        assert logger.filter(other)
    finally:
        logger.filters[:] = before
    assert started == [["dagster", "dev", "-p", "1"]]


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
