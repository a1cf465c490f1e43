"""Advisory file locks that the kernel gives back when their holder dies.

A `flock` belongs to the open file, so a child that inherits the descriptor holds it too.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from kaireon_dagster.server.errors import ServerFolderRefused

POLL_SECONDS = 0.02


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """Open `path` and lock it now; the open descriptor, or None if somebody holds it.

    A file that was removed or replaced between opening and locking is opened again.

    Raises:
        ServerFolderRefused: the file may not be opened.
    """
    while True:
        descriptor = open_lock_file(path)
        if not try_flock(descriptor, shared=shared):
            os.close(descriptor)
            return None
        if is_current(descriptor, path):
            return descriptor
        os.close(descriptor)


def wait_lock(path: Path, deadline: float, *, shared: bool = False) -> int | None:
    """Like `try_lock`, until `deadline` (`time.monotonic()`), then None."""
    while True:
        descriptor = try_lock(path, shared=shared)
        if descriptor is not None or time.monotonic() > deadline:
            return descriptor
        time.sleep(POLL_SECONDS)


def try_flock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file now; whether it was free."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_lock_file(path: Path) -> int:
    """Open a file that holds nothing but locks; children do not inherit it.

    Raises:
        ServerFolderRefused: it may not be opened.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = f"{path.name} cannot be opened: {error.strerror}"
        raise ServerFolderRefused(str(path.parent), reason) from None


def unlock(descriptor: int) -> None:
    """Give the lock back and keep the file open."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_current(descriptor: int, path: Path) -> bool:
    """Whether `path` still names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
