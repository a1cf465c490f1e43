"""One data folder and the files beside it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kaireon_dagster.server.binaries import Binaries
from kaireon_dagster.server.errors import (
    ServerFolderRefused,
    ServerNotStarted,
    ServerVersionMismatch,
)
from kaireon_dagster.server.identity import Identity

SUPERUSER = "postgres"
SOCKET_NAME = ".s.PGSQL.5432"
# sockaddr_un holds 104 bytes on macOS and 108 on Linux; PostgreSQL adds a lock file's suffix.
SOCKET_PATH_BYTES = 100
# libpq and `-k` read commas, quotes and a leading @ in their own ways.
PLAIN_PATH = re.compile(r"/[A-Za-z0-9._/+-]*")
ENVIRONMENT = {"LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """The files of one embedded server, all below `folder`."""

    folder: Path

    @property
    def data(self) -> Path:
        """PostgreSQL's own data folder."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "postgres.log"

    @property
    def server_lock(self) -> Path:
        """Held by every process of the server, for as long as one of them lives."""
        return self.folder / "server.lock"

    @property
    def socket_record(self) -> Path:
        """Holds the path of the socket folder when that is not below `folder`."""
        return self.folder / "socket"

    def make_folder(self) -> None:
        """Make the folder, closed to other users.

        Raises:
            ServerFolderRefused: it cannot be made or written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ServerFolderRefused(str(self.folder), error.strerror or "it failed") from error
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise ServerFolderRefused(str(self.folder), "it may not be written by this user")


def prepare_data(cluster: Cluster, binaries: Binaries, identity: Identity) -> None:
    """Make the data folder if there is none; check its version if there is one.

    The folder appears under its name only when it is complete.

    Raises:
        ServerVersionMismatch: made by another major version.
        ServerNotStarted: `initdb` failed.
    """
    if identity.owner is not None:
        cluster.folder.chmod(0o711)
    identity.check_reach(cluster.folder)
    version = cluster.data / "PG_VERSION"
    if version.exists():
        found, expected = version.read_text().strip(), binaries.read_major()
        if found != expected:
            raise ServerVersionMismatch(str(cluster.data), found, expected)
        return
    unfinished = cluster.folder / "data.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    identity.give(unfinished)
    _initdb(unfinished, cluster, binaries, identity)
    unfinished.rename(cluster.data)


def _initdb(data: Path, cluster: Cluster, binaries: Binaries, identity: Identity) -> None:
    options = ["-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
    done = subprocess.run(
        [*identity.mask, binaries.initdb, "-D", data, *options, "--no-sync", "--no-instructions"],
        env={**os.environ, **ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise ServerNotStarted(
            "initdb", str(cluster.log), "\n".join(done.stdout.splitlines()[-20:])
        )


def prepare_socket_folder(cluster: Cluster, identity: Identity) -> Path:
    """Make a private folder for the socket: below the cluster's if its path is short and plain.

    Else a temporary folder, whose path is kept in `socket_record` so that it is used again.
    """
    folder = cluster.folder / "s"
    if len(os.fsencode(folder / SOCKET_NAME)) < SOCKET_PATH_BYTES and _is_plain(folder):
        folder.mkdir(exist_ok=True, mode=0o700)
    else:
        folder = _recorded_folder(cluster, identity) or _make_short_folder(cluster)
    identity.give(folder)
    return folder


def remove_socket_folder(cluster: Cluster, folder: Path) -> None:
    """Remove a temporary socket folder; to be called when the server has stopped."""
    if not folder.is_relative_to(cluster.folder):
        shutil.rmtree(folder, ignore_errors=True)
        cluster.socket_record.unlink(missing_ok=True)


def _recorded_folder(cluster: Cluster, identity: Identity) -> Path | None:
    if not cluster.socket_record.exists():
        return None
    folder = Path(cluster.socket_record.read_text())
    owner = os.geteuid() if identity.owner is None else identity.owner[0]
    try:
        found = folder.lstat()
    except (OSError, ValueError):
        return None
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    return folder if private and found.st_uid == owner else None


def _make_short_folder(cluster: Cluster) -> Path:
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) > 50 or not _is_plain(Path(parent)):
        parent = "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="kaireon-", dir=parent))
    cluster.socket_record.write_text(str(folder))
    return folder


def _is_plain(path: Path) -> bool:
    return PLAIN_PATH.fullmatch(str(path)) is not None
