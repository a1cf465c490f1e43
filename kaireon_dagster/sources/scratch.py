"""Temporary folders that do not outlive their process for long.

A process that is killed cannot remove what it has unpacked or spilled. So each folder holds a locked
file, and whoever makes the next folder beside it removes those whose lock nobody holds any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final

_PREFIX: Final = "flow-scratch-"
_UNLOCKED: Final = ".flow-scratch-"
_LOCK: Final = ".lock"


class Scratch:
    """A folder of this process, removed when it is left or the process ends in any way.

    Args:
        parent: where it is made; the system's folder for temporary files if None.
    """

    def __init__(self, parent: Path | None = None) -> None:
        place = Path(parent or tempfile.gettempdir())
        _sweep(place)
        made = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=place))
        self._lock = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        # Where files cannot be locked, nobody finds a lock free either, and the folder is left alone.
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        # It gets its name when it is locked, so that nobody takes it for left behind.
        self.path = made.rename(place / (_PREFIX + made.name.removeprefix(_UNLOCKED)))
        self._is_open = True

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder with all that is in it; safe to repeat."""
        if self._is_open:
            self._is_open = False
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)


def _sweep(place: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
