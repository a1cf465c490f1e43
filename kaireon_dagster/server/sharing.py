"""The server of a work folder, for as long as this process lives."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from kaireon_dagster.server.cluster import Cluster
from kaireon_dagster.server.errors import ServerNotReady
from kaireon_dagster.server.locks import POLL_SECONDS, is_current, try_flock, try_lock, wait_lock
from kaireon_dagster.server.supervisor import Office, read_report

PACKAGE = "kaireon_dagster.server"
HOME_VARIABLE = "FLOW_HOME"
DEFAULT_HOME = ".kaireon"
# Commands typed one after the other find the server still running.
LINGER_SECONDS = 10.0
# Longer than a start with crash recovery, and than a stop that has begun.
READY_SECONDS = 240.0

_guard = threading.Lock()
_leases: dict[Path, int] = {}


def _renew_guard() -> None:
    # Another thread may have held it at the moment of the fork, and is not there any more.
    global _guard
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_renew_guard)


def find_home() -> Path:
    """The work folder: `FLOW_HOME`, else `.kaireon` in the current folder."""
    return Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME).absolute()


def connect_embedded(home: Path, *, linger: float = LINGER_SECONDS) -> str:
    """Make sure that the server of a work folder runs, and keep it until this process ends.

    Any number of processes may call this at once, each as often as it likes; they share one
    server, whose data are in `<home>/postgres`. Children made by fork keep it as well.
    A server that has crashed, or whose owner was killed, is started again.

    Args:
        home: the work folder, made if missing.
        linger: seconds the server stays after the last process that needs it; counts only for
            the call that starts it.

    Returns:
        The connection string of its database `postgres`: a socket only this user can open.

    Raises:
        ServerFolderRefused: the folder cannot be used by this user.
        ServerVersionMismatch: the data are of another major version.
        ServerNotStarted: the server failed; with the end of its log.
        ServerNotReady: no server came up in time.
    """
    office = Office(Cluster(home.absolute() / "postgres"))
    office.cluster.make_folder()
    deadline = time.monotonic() + READY_SECONDS
    with _guard:
        _keep_lease(office, deadline)
        return _find_or_start(office, linger, deadline)


def _keep_lease(office: Office, deadline: float) -> None:
    # Never unlocked by name: a forked child's unlock would take it from its parent too.
    held = _leases.get(office.lease)
    if held is not None:
        if is_current(held, office.lease):
            return
        os.close(_leases.pop(office.lease))
    lease = wait_lock(office.lease, deadline, shared=True)
    if lease is None:
        raise ServerNotReady(str(office.cluster.folder), READY_SECONDS)
    _leases[office.lease] = lease


def _find_or_start(office: Office, linger: float, deadline: float) -> str:
    while time.monotonic() < deadline:
        conninfo = _read_notice(office)
        if conninfo is not None:
            return conninfo
        lock = try_lock(office.supervisor_lock)
        if lock is None:
            time.sleep(POLL_SECONDS)
            continue
        try:
            _start_supervisor(office, lock, linger)
        finally:
            os.close(lock)
    raise ServerNotReady(str(office.cluster.folder), READY_SECONDS)


def _read_notice(office: Office) -> str | None:
    try:
        with office.notice.open(encoding="utf-8") as file:
            # Shared, so that two who look at once do not take each other for the supervisor.
            if try_flock(file.fileno(), shared=True):
                return None
            return file.read()
    except FileNotFoundError:
        return None


def _start_supervisor(office: Office, lock: int, linger: float) -> None:
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    with office.log.open("w") as log:
        started = subprocess.run(
            [sys.executable, "-m", PACKAGE, str(office.cluster.folder), str(linger)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=lock,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            check=False,
        )
    read_report(started.stdout, office)
