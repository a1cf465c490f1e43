from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from kaireon_dagster.server import (
    ServerNotStarted,
    ServerVersionMismatch,
    connect_embedded,
    find_home,
)

LINGER = "0.5"
USER = """
import os, sys, time
from pathlib import Path
from kaireon_dagster.server import connect_embedded
print(connect_embedded(Path(sys.argv[1]), linger=float(sys.argv[2])), flush=True)
if len(sys.argv) > 3 and os.fork():
    os._exit(0)
time.sleep(60)
"""


class User:
    """Another process that uses the server of a work folder until it is killed."""

    def __init__(self, home: Path, *options: str, path: str | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(home), LINGER, *options],
            env={**os.environ, "PATH": path or os.environ["PATH"]},
            stdout=subprocess.PIPE,
        )

    def wait_connected(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "work"
    wait_until(lambda: not find_processes(tmp_path))


@pytest.fixture
def start_user(home: Path) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def start(*options: str, path: str | None = None) -> User:
        users.append(User(home, *options, path=path))
        return users[-1]

    yield start
    for user in users:
        user.kill()


def list_processes() -> list[tuple[int, str]]:
    found = []
    for folder in Path("/proc").iterdir():
        # Processes come and go while we look.
        with contextlib.suppress(OSError, ValueError):
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            found.append((int(folder.name), command))
    return found


def find_processes(folder: Path) -> list[int]:
    """Ids of the supervisor and of the server's processes of a work folder."""
    signs = (f"-m kaireon_dagster.server {folder}/", f"bin/postgres -D {folder}/")
    return [pid for pid, command in list_processes() if any(sign in command for sign in signs)]


def find_supervisors(home: Path) -> list[int]:
    sign = f"-m kaireon_dagster.server {home}/"
    return [pid for pid, command in list_processes() if sign in command]


def kill_forked_users(home: Path) -> None:
    for pid, command in list_processes():
        if f"{home} {LINGER} fork" in command:
            os.kill(pid, signal.SIGKILL)


def find_supervisor(home: Path) -> int:
    (supervisor,) = find_supervisors(home)
    return supervisor


def find_postmaster(home: Path) -> int:
    return int((home / "postgres" / "data" / "postmaster.pid").read_text().split()[0])


def wait_until(done: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def make_kept(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")


def ask(conninfo: str, query: str) -> object:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_users_who_come_first_at_once_start_one_server(
    home: Path, start_user: Callable[..., User]
) -> None:
    users = [start_user() for _ in range(4)]
    conninfos = {user.wait_connected() for user in users}
    assert len(conninfos) == 1
    assert ask(conninfos.pop(), "SELECT 1") == 1
    assert len(find_supervisors(home)) == 1


def test_server_survives_the_death_of_the_first_user_and_ends_after_the_last(
    home: Path, start_user: Callable[..., User]
) -> None:
    first = start_user()
    conninfo = first.wait_connected()
    started = ask(conninfo, "SELECT pg_postmaster_start_time()")
    second = start_user()
    second.wait_connected()
    first.kill()
    time.sleep(1.0)
    assert ask(conninfo, "SELECT pg_postmaster_start_time()") == started
    second.kill()
    wait_until(lambda: not find_processes(home))
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()
    assert "database system is shut down" in (home / "postgres" / "postgres.log").read_text()


def test_next_user_within_the_linger_finds_the_same_server(
    home: Path, start_user: Callable[..., User]
) -> None:
    first = start_user()
    started = ask(first.wait_connected(), "SELECT pg_postmaster_start_time()")
    first.kill()
    assert ask(start_user().wait_connected(), "SELECT pg_postmaster_start_time()") == started


def test_forked_child_keeps_the_server_when_its_parent_ends(
    home: Path, start_user: Callable[..., User]
) -> None:
    parent = start_user("fork")
    conninfo = parent.wait_connected()
    assert parent.process.wait(10) == 0
    time.sleep(1.0)
    assert ask(conninfo, "SELECT 1") == 1
    kill_forked_users(home)
    wait_until(lambda: not find_processes(home))


def test_data_survive_a_killed_supervisor(home: Path, start_user: Callable[..., User]) -> None:
    conninfo = start_user().wait_connected()
    make_kept(conninfo)
    os.kill(find_supervisor(home), signal.SIGKILL)
    assert ask(start_user().wait_connected(), "SELECT n FROM kept") == 7
    assert len(find_supervisors(home)) == 1


def test_server_that_nothing_ties_to_its_owner_is_stopped_by_the_next(
    home: Path, start_user: Callable[..., User], tmp_path: Path
) -> None:
    # Without setpriv, as on macOS, a killed supervisor leaves its server running.
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("unshare", "true", "test"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    make_kept(start_user(path=str(tools)).wait_connected())
    orphan = find_postmaster(home)
    os.kill(find_supervisor(home), signal.SIGKILL)
    time.sleep(0.5)
    assert orphan in find_processes(home)
    assert ask(start_user().wait_connected(), "SELECT n FROM kept") == 7
    assert find_postmaster(home) != orphan
    assert orphan not in find_processes(home)


def test_data_survive_a_killed_server(home: Path, start_user: Callable[..., User]) -> None:
    conninfo = start_user().wait_connected()
    make_kept(conninfo)
    supervisor = find_supervisor(home)
    os.kill(find_postmaster(home), signal.SIGKILL)
    wait_until(lambda: supervisor not in find_processes(home))
    assert ask(start_user().wait_connected(), "SELECT n FROM kept") == 7


def test_everything_killed_at_once_leaves_nothing_that_hinders_the_next(
    home: Path, start_user: Callable[..., User]
) -> None:
    user = start_user()
    make_kept(user.wait_connected())
    for pid in (find_supervisor(home), find_postmaster(home)):
        os.kill(pid, signal.SIGKILL)
    user.kill()
    assert ask(start_user().wait_connected(), "SELECT n FROM kept") == 7


def test_pid_file_that_names_another_process_is_stale(
    home: Path, start_user: Callable[..., User]
) -> None:
    user = start_user()
    user.wait_connected()
    pid_file = home / "postgres" / "data" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    for pid in (find_supervisor(home), find_postmaster(home)):
        os.kill(pid, signal.SIGKILL)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    assert ask(start_user().wait_connected(), "SELECT 1") == 1


def test_same_process_asks_again_after_a_crash_and_has_a_server(tmp_path: Path) -> None:
    code = """
import os, signal, sys, time
from pathlib import Path
import psycopg
from kaireon_dagster.server import connect_embedded
home = Path(sys.argv[1])
connect_embedded(home, linger=0.5)
pid = int((home / "postgres/data/postmaster.pid").read_text().split()[0])
os.kill(pid, signal.SIGKILL)
time.sleep(1)
psycopg.connect(connect_embedded(home, linger=0.5)).close()
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    wait_until(lambda: not find_processes(tmp_path))


def test_notice_without_a_living_writer_is_not_believed(
    home: Path, start_user: Callable[..., User]
) -> None:
    (home / "postgres").mkdir(parents=True, mode=0o700)
    (home / "postgres" / "ready").write_text("host=/nowhere")
    assert ask(start_user().wait_connected(), "SELECT 1") == 1


def test_server_of_a_removed_folder_ends(home: Path, start_user: Callable[..., User]) -> None:
    start_user().wait_connected()
    # The server may still write while its files go.
    while home.exists():
        shutil.rmtree(home, ignore_errors=True)
    wait_until(lambda: not find_processes(home))
    assert ask(start_user().wait_connected(), "SELECT 1") == 1


def test_terminated_supervisor_stops_its_server_cleanly(
    home: Path, start_user: Callable[..., User]
) -> None:
    start_user().wait_connected()
    os.kill(find_supervisor(home), signal.SIGTERM)
    wait_until(lambda: not find_processes(home))
    assert "database system is shut down" in (home / "postgres" / "postgres.log").read_text()


def test_values_of_failed_statements_stay_out_of_the_log(
    home: Path, start_user: Callable[..., User]
) -> None:
    conninfo = start_user().wait_connected()
    with pytest.raises(psycopg.Error):
        ask(conninfo, "SELECT 'secret-value'::int")
    assert "secret-value" not in (home / "postgres" / "postgres.log").read_text()


def test_error_of_the_supervisor_reaches_the_user(home: Path) -> None:
    data = home / "postgres" / "data"
    data.mkdir(parents=True, mode=0o700)
    (data / "PG_VERSION").write_text("12\n")
    with pytest.raises(ServerVersionMismatch, match="made by PostgreSQL 12"):
        connect_embedded(home)


def test_supervisor_that_says_nothing_is_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ServerNotStarted, match="the supervisor failed"):
        connect_embedded(home)


def test_work_folder_is_the_projects_unless_it_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FLOW_HOME", raising=False)
    assert find_home() == tmp_path / ".kaireon"
    monkeypatch.setenv("FLOW_HOME", "elsewhere")
    assert find_home() == tmp_path / "elsewhere"
