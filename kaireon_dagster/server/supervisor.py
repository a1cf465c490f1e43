"""The process that owns a shared server: starts it, waits until nobody needs it, stops it.

Whoever needs the server holds a shared lock on the lease file. The kernel gives the locks of
dead processes back, so no death of a user, however sudden, leaves the server running for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from kaireon_dagster.errors import FlowError
from kaireon_dagster.server import errors
from kaireon_dagster.server.cluster import Cluster
from kaireon_dagster.server.locks import is_current, open_lock_file, try_flock, unlock
from kaireon_dagster.server.process import EmbeddedServer, launch_server, stop_orphan

POLL_SECONDS = 0.25
# A dead owner's server has this long to end before the new one gives up.
ORPHAN_SECONDS = 90.0
# A Dagster run opens some thirty connections, and several run at once. Statements that fail are
# told by the programs that sent them; in the log their messages would leave values of rows.
OPTIONS = ("-c", "max_connections=300", "-c", "log_min_messages=log")


@dataclass(frozen=True, slots=True)
class Office:
    """The files by which users and supervisor of one server find each other."""

    cluster: Cluster

    @property
    def lease(self) -> Path:
        """Locked, shared, by every user; by the supervisor alone while it stops the server."""
        return self.cluster.folder / "lease"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the one supervisor, from before the server starts."""
        return self.cluster.folder / "supervisor.lock"

    @property
    def notice(self) -> Path:
        """Holds the connection string; valid only while its writer holds a lock on it."""
        return self.cluster.folder / "ready"

    @property
    def log(self) -> Path:
        """What the supervisor says."""
        return self.cluster.folder / "supervisor.log"


def main(arguments: list[str]) -> int:
    """Run a supervisor: `FOLDER LINGER_SECONDS`.

    Descriptors given by the parent: 0 is the held supervisor lock; 1 takes one line of JSON,
    `{}` when the server is ready, else the error; 2 is the log.
    """
    office = Office(Cluster(Path(arguments[0])))
    _leave_parent(office)
    stopping = _catch_signals()
    try:
        server = _launch(office)
    except FlowError as error:
        report({"error": type(error).__name__, "arguments": error.args})
        return 1
    try:
        with _posted(office, server.conninfo):
            report({})
            lease = _wait_until_idle(office, server, float(arguments[1]), stopping)
    finally:
        server.stop()
    if lease is not None:
        os.close(lease)
    return 0


def report(outcome: dict[str, Any]) -> None:
    """Tell the parent how the start went, and close the pipe to it."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(outcome).encode() + b"\n")
    os.dup2(2, 1)


def read_report(line: bytes, office: Office) -> None:
    """Raise what the supervisor reported, if it was an error."""
    if not line.strip():
        tail = office.log.read_text(errors="replace").splitlines()[-20:]
        raise errors.ServerNotStarted("the supervisor", str(office.log), "\n".join(tail))
    outcome = json.loads(line)
    if "error" in outcome:
        raise getattr(errors, outcome["error"])(*outcome["arguments"])


def _leave_parent(office: Office) -> None:
    # The user that came first must be able to go first, without a child to wait for.
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir(office.cluster.folder)


def _launch(office: Office) -> EmbeddedServer:
    lock = stop_orphan(office.cluster, time.monotonic() + ORPHAN_SECONDS)
    try:
        return launch_server(office.cluster, lock, options=OPTIONS)
    finally:
        os.close(lock)


@contextlib.contextmanager
def _posted(office: Office, conninfo: str) -> Iterator[None]:
    draft = office.notice.with_suffix(".draft")
    with draft.open("w", encoding="utf-8") as file:
        file.write(conninfo)
        file.flush()
        # Locked before it has its name: a notice without a lock is always a dead one's.
        try_flock(file.fileno())
        draft.replace(office.notice)
        try:
            yield
        finally:
            office.notice.unlink(missing_ok=True)


def _wait_until_idle(
    office: Office, server: EmbeddedServer, linger: float, stopping: list[int]
) -> int | None:
    """Wait until there is nothing to wait for.

    Returns:
        The lease, locked so that users who come now wait until the server has stopped; None
        if it has to stop although it may be in use, or has stopped by itself.
    """
    lease = open_lock_file(office.lease)
    idle_since = time.monotonic()
    while not stopping and server.process.poll() is None and is_current(lease, office.lease):
        if not try_flock(lease):
            idle_since = time.monotonic()
        elif time.monotonic() - idle_since >= linger:
            return lease
        else:
            unlock(lease)
        time.sleep(POLL_SECONDS)
    os.close(lease)
    return None


def _catch_signals() -> list[int]:
    caught: list[int] = []

    def keep(number: int, _: FrameType | None) -> None:
        caught.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, keep)
    return caught
