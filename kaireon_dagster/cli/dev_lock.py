"""The one `dev` of a Dagster instance: a second daemon would start every run twice."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = "dev.lock"
_PATIENCE: Final = 2.0
"""Seconds in which whoever got the lock has written its URL."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is to serve an instance.

    Attributes:
        descriptor: holds the lock; whoever inherits it holds it too.
        other: URL of the `dev` that runs already; None when it is our turn.
    """

    descriptor: int
    other: str | None

    def announce(self, url: str) -> None:
        """Tell those who come later where the UI is."""
        os.pwrite(self.descriptor, url.encode(), 0)


@contextlib.contextmanager
def taking_turn(home: Path) -> Iterator[Turn]:
    """Try to be the one `dev` of the instance in `home`, while the block lasts.

    The kernel gives the lock back when its last holder dies, however that happens.
    """
    descriptor = os.open(home / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        ours = _lock(descriptor)
        if ours:
            os.ftruncate(descriptor, 0)
        yield Turn(descriptor, None if ours else _read_url(descriptor))
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_url(descriptor: int) -> str:
    deadline = time.monotonic() + _PATIENCE
    while not (url := os.pread(descriptor, 200, 0).decode()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return url or "an address that it has not told yet"
