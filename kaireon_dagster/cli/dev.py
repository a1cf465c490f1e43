"""`dev`: PostgreSQL and the Dagster UI, until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from kaireon_dagster.cli.dagster_home import VARIABLE as DAGSTER_HOME
from kaireon_dagster.cli.dagster_home import prepare_dagster_home
from kaireon_dagster.cli.database import open_database
from kaireon_dagster.cli.dev_lock import Turn, taking_turn
from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.psql import psql_command
from kaireon_dagster.cli.reply import DONE, FAILED, Reply, tell
from kaireon_dagster.cli.settings import PIPELINES_VARIABLE, pipelines_folder
from kaireon_dagster.server import find_home

_HOST: Final = "127.0.0.1"
_PORT: Final = 3000
_TRIED: Final = 50
_LAST_PORT: Final = 65_535
_PATIENCE: Final = 20.0
"""Seconds that Dagster's processes get to end by themselves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--port", type=int, help=f"port of the UI (default: {_PORT}, or the next one that is free)"
    )


def execute(options: argparse.Namespace) -> Reply:
    """Start everything, wait, and end everything."""
    if not pipelines_folder().is_dir():
        raise UsageFault(
            f"there is no folder {pipelines_folder()}: make it, or set {PIPELINES_VARIABLE}; "
            "`kaireon-dagster init FILE` writes a first document"
        )
    _require_port(options.port)
    home = prepare_dagster_home()
    if not home.is_dir():
        raise UsageFault(f"{DAGSTER_HOME} names {home}, which is no folder: make it, or unset it")
    with taking_turn(home) as turn:
        if turn.other is not None:
            return _point_to(turn.other, options.port)
        return _serve(_choose_port(options.port), home, turn)


def _require_port(asked: int | None) -> None:
    if asked is not None and not 1 <= asked <= _LAST_PORT:
        raise UsageFault(f"--port {asked}: a port is a number from 1 to {_LAST_PORT}")


def _url(port: int) -> str:
    return f"http://{_HOST}:{port}"


def _point_to(url: str, asked: int | None) -> Reply:
    if asked is not None and url != _url(asked):
        raise UsageFault(f"`dev` runs here already, at {url}: use that one, or end it first")
    return Reply(DONE, (f"Dagster UI: {url}  (runs already)",), {"url": url, "exitCode": None})


def _serve(port: int, home: Path, turn: Turn) -> Reply:
    # The embedded server stays for as long as this process lives.
    database = open_database()
    turn.announce(_url(port))
    tell(f"Dagster UI: {_url(port)}  (Ctrl-C ends it)")
    tell(f"database:   {psql_command(database)}")
    tell(f"documents:  {pipelines_folder()}, runs: {home}")
    code, told = _wait(_start(port, turn))
    # Services that were told to end may say so by any code, as those that were slow to end do.
    ended = told or code == 0
    lines = () if ended else (f"dagster dev ended with code {code}",)
    return Reply(DONE if ended else FAILED, lines, {"url": _url(port), "exitCode": code})


def _choose_port(asked: int | None) -> int:
    if asked is not None:
        if not _is_free(asked):
            raise UsageFault(f"port {asked} is taken; leave --port out to have a free one chosen")
        return asked
    return next(port for port in range(_PORT, _PORT + _TRIED) if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind((_HOST, port))
            return True
    return False


def _start(port: int, turn: Turn) -> subprocess.Popen[bytes]:
    workspace = Path("workspace.yaml")
    place = ["-w", str(workspace)] if workspace.exists() else ["-m", "kaireon_dagster.definitions"]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "kaireon_dagster.cli.dagster_dev",
            *place,
            "-h",
            _HOST,
            "-p",
            str(port),
        ],
        env={**os.environ, "FLOW_HOME": str(find_home())},
        # Its log must not mix with the answer of this command.
        stdout=2,
        # Should we be killed, the turn is still that of the services.
        pass_fds=(turn.descriptor,),
        # Told to end once, by us, and not by the terminal as well.
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, bool]:
    """The exit code, and whether we had told the process to end."""
    with _passing_on(process) as told:
        return process.wait(), bool(told)


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Pass Ctrl-C and SIGTERM on, and list them; a second one does not wait any longer."""
    told: list[int] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        told.append(signum)
        impatient = signal.getsignal(signal.SIGALRM) is give_up
        signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, 0.01 if impatient else _PATIENCE)
        process.send_signal(signal.SIGINT)

    def give_up(signum: int, frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for signum, handler in before.items():
            signal.signal(signum, handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        give_up(0, None)
