"""The user that PostgreSQL runs as: it refuses root, so root needs a mask."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kaireon_dagster.server.errors import ServerFolderRefused

NOBODY = "65534"
UNSHARE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
TIE = ("setpriv", "--pdeathsig", "INT")


@dataclass(frozen=True, slots=True)
class Identity:
    """How to start PostgreSQL's programs, and who must own what they write.

    Attributes:
        mask: command that the programs are run under; empty for an ordinary user.
        tie: command under the mask that ends the server when the thread that started it ends.
            After the mask, since entering a user namespace clears the setting.
        owner: user and group ids that must own the data, None for the user of this process.
    """

    mask: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    owner: tuple[int, int] | None = None

    def give(self, folder: Path) -> None:
        """Hand a folder that this process made to the user the server runs as."""
        if self.owner is not None:
            os.chown(folder, *self.owner)

    def check_reach(self, folder: Path) -> None:
        """Make sure that the server, which has less rights than root, can get into `folder`.

        Raises:
            ServerFolderRefused: a folder above is closed to that user.
        """
        if self.mask and not _succeeds([*self.mask, "test", "-x", str(folder)]):
            raise ServerFolderRefused(
                str(folder), f"the server, run as root by {self.mask[0]!r}, may not enter it"
            )


def choose_identity(data: Path) -> Identity:
    """Decide who runs the server whose data are, or will be, in `data`.

    An ordinary user runs it directly. Root runs it in a user namespace, where files stay
    root's; where that is refused, as `nobody`.

    Raises:
        ServerFolderRefused: the data belong to somebody else.
    """
    tie = TIE if _succeeds([*TIE, "true"]) else ()
    owner = data.stat().st_uid if data.exists() else None
    if os.geteuid() != 0:
        _refuse_strangers(data, owner, {os.geteuid()})
        return Identity(tie=tie)
    nobody = _read_nobody()
    _refuse_strangers(data, owner, {0, nobody[0]})
    if owner != nobody[0] and _succeeds([*UNSHARE, "true"]):
        return Identity(mask=UNSHARE, tie=tie)
    return _become(nobody, tie)


def _become(owner: tuple[int, int], tie: tuple[str, ...]) -> Identity:
    ids = (f"--reuid={owner[0]}", f"--regid={owner[1]}", "--clear-groups")
    return Identity(mask=("setpriv", *ids), tie=tie, owner=owner)


def _refuse_strangers(data: Path, owner: int | None, allowed: set[int]) -> None:
    if owner is not None and owner not in allowed:
        raise ServerFolderRefused(str(data), f"it belongs to the user with id {owner}")


def _read_nobody() -> tuple[int, int]:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return int(NOBODY), int(NOBODY)
    return entry.pw_uid, entry.pw_gid


def _succeeds(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
