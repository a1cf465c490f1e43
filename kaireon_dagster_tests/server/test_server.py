from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path

import psycopg
import pytest

from kaireon_dagster.server import (
    Binaries,
    EmbeddedServer,
    ServerBinariesMissing,
    ServerFolderRefused,
    ServerInUse,
    ServerNotStarted,
    ServerVersionMismatch,
    find_binaries,
    start_server,
)
from kaireon_dagster.server import identity as identities
from kaireon_dagster.server.identity import Identity, choose_identity

FAST = ("-F",)


def make_kept(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")


def ask(server: EmbeddedServer, query: str) -> object:
    with psycopg.connect(server.conninfo) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_data_outlive_the_server_and_the_server_ends_with_the_block(tmp_path: Path) -> None:
    with start_server(tmp_path, options=FAST) as first:
        make_kept(first.conninfo)
    assert not is_running(first.process.pid)
    assert not (tmp_path / "data" / "postmaster.pid").exists()
    with start_server(tmp_path, options=FAST) as second:
        assert ask(second, "SELECT n FROM kept") == 7


def test_server_listens_on_a_closed_folder_and_never_on_tcp(tmp_path: Path) -> None:
    with start_server(tmp_path / "work", options=FAST) as server:
        assert ask(server, "SHOW listen_addresses") == ""
        sockets = Path(str(ask(server, "SHOW unix_socket_directories")))
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert ask(server, "SHOW server_encoding") == "UTF8"
        assert ask(server, "SELECT datcollate FROM pg_database LIMIT 1") == "C.UTF-8"


@pytest.mark.parametrize("name", ["long" * 30, "spaced, 'quoted' ü"])
def test_awkward_path_gets_a_short_private_socket_folder(tmp_path: Path, name: str) -> None:
    with start_server(tmp_path / name, options=FAST) as server:
        sockets = Path(str(ask(server, "SHOW unix_socket_directories")))
        assert not sockets.is_relative_to(tmp_path)
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert len(os.fsencode(sockets)) < 80
    assert not sockets.exists()


def test_socket_folder_of_a_killed_server_is_used_again(tmp_path: Path) -> None:
    folder, left = tmp_path / ("long" * 30), tempfile.mkdtemp()
    folder.mkdir()
    (folder / "socket").write_text(left)
    with start_server(folder, options=FAST) as server:
        assert str(server.sockets) == left


def test_socket_folder_that_others_can_open_is_not_trusted(tmp_path: Path) -> None:
    folder, planted = tmp_path / ("long" * 30), tmp_path / "planted"
    folder.mkdir()
    planted.mkdir(mode=0o755)
    (folder / "socket").write_text(str(planted))
    with start_server(folder, options=FAST) as server:
        assert str(planted) not in server.conninfo


def test_other_major_version_asks_for_dump_and_restore(tmp_path: Path) -> None:
    with start_server(tmp_path, options=FAST):
        pass
    (tmp_path / "data" / "PG_VERSION").write_text("15\n")
    with (
        pytest.raises(ServerVersionMismatch, match=r"made by PostgreSQL 15.*dump and restore"),
        start_server(tmp_path),
    ):
        pass


def test_failed_start_shows_the_end_of_the_log_of_this_attempt(tmp_path: Path) -> None:
    with start_server(tmp_path, options=FAST):
        pass
    with (
        pytest.raises(ServerNotStarted, match="no_such_setting") as caught,
        start_server(tmp_path, options=("-c", "no_such_setting=1")),
    ):
        pass
    assert "ready to accept connections" not in str(caught.value)


def test_failed_initdb_leaves_no_half_made_data(tmp_path: Path) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    for name, text in (("initdb", "echo no space left; exit 1"), ("postgres", "exit 1")):
        (broken / name).write_text(f"#!/bin/sh\n{text}\n")
        (broken / name).chmod(0o755)
    with (
        pytest.raises(ServerNotStarted, match=r"(?s)initdb failed.*no space left"),
        start_server(tmp_path / "work", binaries=Binaries(broken)),
    ):
        pass
    with start_server(tmp_path / "work", options=FAST) as server:
        assert ask(server, "SELECT 1") == 1


def test_second_server_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with (
        start_server(tmp_path, options=FAST),
        pytest.raises(ServerInUse, match="another server"),
        start_server(tmp_path),
    ):
        pass


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ServerFolderRefused, match="FLOW_HOME"),
        start_server(tmp_path / "file" / "x"),
    ):
        pass


def test_data_of_somebody_else_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(ServerFolderRefused, match="belongs to the user with id"):
        choose_identity(tmp_path)


def test_programs_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ServerBinariesMissing, match="pip install"):
        find_binaries()


def list_identities() -> list[Identity]:
    """All that can be tried by the user who runs the tests: root has two."""
    if os.geteuid() != 0:
        return [Identity(tie=identities.TIE)]
    nobody = identities._read_nobody()
    ways = [identities._become(nobody, identities.TIE), identities._become(nobody, ())]
    if identities._succeeds([*identities.UNSHARE, "true"]):
        ways.append(Identity(mask=identities.UNSHARE, tie=identities.TIE))
    return ways


@pytest.mark.parametrize("identity", list_identities(), ids=lambda found: "-".join(found.mask[:2]))
def test_every_way_to_be_an_ordinary_user_works_twice(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaireon_dagster.server.process.choose_identity", lambda data: identity)
    # pytest's own folders are closed to `nobody`.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        for _ in range(2):
            with start_server(Path(folder) / "work", options=FAST) as server:
                assert ask(server, "SELECT current_user") == "postgres"


def test_root_finds_the_data_of_nobody_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, gid = identities._read_nobody()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(identities, "_refuse_strangers", lambda *_: None)
    monkeypatch.setattr(
        Path, "stat", lambda path: os.stat_result((0, 0, 0, 0, uid, gid, 0, 0, 0, 0))
    )
    assert choose_identity(tmp_path / "data").owner == (uid, gid)


@pytest.mark.parametrize(
    "error",
    [
        ServerBinariesMissing("postgres"),
        ServerVersionMismatch("d", "15", "18"),
        ServerNotStarted("initdb", "l", "t"),
        ServerInUse("f"),
    ],
)
def test_errors_pickle(error: Exception) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
