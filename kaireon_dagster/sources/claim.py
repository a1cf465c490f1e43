"""Claiming: a run takes its files before it reads a byte of them.

With `atomicity` a file moves into `stagingFolder/<root run id>/<source id>/`. The move decides who
owns it, so two runs never read the same file, and a run that is executed again finds what it had
already moved. Files that a dead run left there are adopted by the next. Without `atomicity` files
are read where they are, and every run reads all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.faults import (
    DeadlineMissed,
    FilesNotThere,
    FolderRefused,
    SourceNotRunnable,
)
from kaireon_dagster.sources.listing import is_settled, select
from kaireon_dagster.sources.local import LocalStore
from kaireon_dagster.sources.patterns import expand_tokens, matches, matches_on_any_date
from kaireon_dagster.sources.store import Entry, Store

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source

Outcome = Literal["success", "failure", "superseded"]
_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What one run got hold of.

    Attributes:
        files: the files to read, in order.
        superseded: older files that `latest_by_mtime` passes over; archived, not read.
        alert: whether the document asks for an alert because no file came in time.
    """

    files: tuple[ClaimedFile, ...]
    superseded: tuple[ClaimedFile, ...] = ()
    alert: bool = False


def open_store(source: Source) -> Store:
    """Make the store that a source's connector names.

    Raises:
        SourceNotRunnable: for a connector this release has no adapter for.
    """
    if source.connector != "local_fs":
        raise SourceNotRunnable(source.id, f"connector {source.connector!r}")
    return LocalStore(source.config.path)


def find_files(
    source: Source, now: datetime, *, min_age_seconds: float = 0, store: Store | None = None
) -> list[Entry]:
    """List the files that match and have stood still long enough; nothing is moved.

    Args:
        source: the source node.
        now: the run's scheduled time, or its start; date tokens are written for it.
        min_age_seconds: how long ago a file's last change must lie.
        store: the store to look in, if not the one the connector names.
    """
    return [
        entry
        for entry in (store or open_store(source)).list()
        if matches(source.config.pattern, entry.name, now) and is_settled(entry, min_age_seconds)
    ]


def claim_files(
    source: Source,
    *,
    run_id: str,
    now: datetime,
    attempt: int = 0,
    is_over: Callable[[str], bool] = lambda run_id: False,
    min_age_seconds: float = 0,
    store: Store | None = None,
) -> Claim:
    """Take the files of this run. Executed again for the same run, it finds the same and more.

    Args:
        source: the source node.
        run_id: the root run id, so that a re-execution is the same owner.
        now: the run's scheduled time, or its start; the same for every execution.
        attempt: how often this run has already looked and found nothing.
        is_over: whether a run will never touch its files again; its files are adopted.
        min_age_seconds: how long ago a file's last change must lie.
        store: the store to look in, if not the one the connector names.

    Returns:
        The claim; empty when nothing matches and the document does not mind.

    Raises:
        FilesNotThere: nothing yet, and the wait policy allows another look.
        DeadlineMissed: nothing at the last look, and `onMissAction` is `fail`.
    """
    store = store or open_store(source)
    found = find_files(source, now, min_age_seconds=min_age_seconds, store=store)
    if source.config.atomicity is None:
        claim = _read_in_place(source, found, store)
    else:
        claim = _move(source, found, store, _Staging.of(source, run_id, now), is_over)
    return claim if claim.files else _nothing_there(source, attempt)


def archive_files(
    source: Source,
    files: Iterable[ClaimedFile],
    outcome: Outcome,
    now: datetime,
    *,
    folder: str | None = None,
    store: Store | None = None,
) -> tuple[str, ...]:
    """Move claimed files to where their outcome puts them; safe to repeat.

    Args:
        source: the source node that claimed them.
        files: the claimed files; those moved before are passed over.
        outcome: `success` and `superseded` go to successFolder, `failure` to failureFolder.
        now: the time that date tokens are written for.
        folder: another folder below the source's path, as an archive node gives it.
        store: the store to move in, if not the one the connector names.

    Returns:
        The new paths of the files moved by this call; none without `atomicity`.
    """
    atomicity = source.config.atomicity
    if atomicity is None:
        return ()
    store = store or open_store(source)
    usual = atomicity.failure_folder if outcome == "failure" else atomicity.success_folder
    target = expand_tokens(folder or usual, now, source.config.pattern.timezone)
    moved = [store.archive(file, target) for file in files]
    return tuple(path for path in moved if path is not None)


@dataclass(frozen=True, slots=True)
class _Staging:
    template: str
    root: str
    run_id: str
    own: str

    @classmethod
    def of(cls, source: Source, run_id: str, now: datetime) -> _Staging:
        atomicity = source.config.atomicity
        assert atomicity is not None
        if not _RUN_ID.fullmatch(run_id):
            raise FolderRefused("run id", run_id, "it cannot name a folder")
        template = atomicity.staging_folder
        root = expand_tokens(template, now, source.config.pattern.timezone)
        return cls(template, root, run_id, str(PurePosixPath(root) / run_id / source.id))


def _read_in_place(source: Source, found: list[Entry], store: Store) -> Claim:
    chosen = select(found, source.config.ordering, source.config.max_files)
    return Claim(tuple(store.in_place(entry) for entry in chosen.files))


def _move(
    source: Source,
    found: list[Entry],
    store: Store,
    staging: _Staging,
    is_over: Callable[[str], bool],
) -> Claim:
    config = source.config
    claimed: dict[str, ClaimedFile] = {}
    for entry in _held(source, store, staging.own):
        _take(store, entry, staging.own, claimed)
    _adopt(source, store, staging, is_over, claimed)
    fresh = select(found, config.ordering, _room(config.max_files, claimed))
    # The newest goes last: a run that dies between two moves must not leave an older file behind
    # for a later run to load over it.
    for entry in (*fresh.superseded, *fresh.files):
        _take(store, entry, staging.own, claimed)
    chosen = select(_held(source, store, staging.own), config.ordering)
    return Claim(
        tuple(claimed[entry.location] for entry in chosen.files),
        tuple(claimed[entry.location] for entry in chosen.superseded),
    )


def _take(store: Store, entry: Entry, folder: str, claimed: dict[str, ClaimedFile]) -> None:
    file = store.claim(entry, folder)
    if file is not None:
        claimed[file.path] = file


def _room(max_files: int | None, claimed: dict[str, ClaimedFile]) -> int | None:
    return None if max_files is None else max(max_files - len(claimed), 0)


def _adopt(
    source: Source,
    store: Store,
    staging: _Staging,
    is_over: Callable[[str], bool],
    claimed: dict[str, ClaimedFile],
) -> None:
    """Take what runs that are over have left in staging, as far as the cap allows."""
    for root in store.folders(staging.template):
        for run_id in store.owners(root):
            if run_id == staging.run_id or not is_over(run_id):
                continue
            abandoned = str(PurePosixPath(root) / run_id)
            left = list(_held(source, store, abandoned))
            for entry in left[: _room(source.config.max_files, claimed)]:
                _take(store, entry, staging.own, claimed)
            store.discard(abandoned)


def _held(source: Source, store: Store, folder: str) -> Iterator[Entry]:
    for entry in store.held(folder):
        if matches_on_any_date(source.config.pattern, entry.name):
            yield entry


def _nothing_there(source: Source, attempt: int) -> Claim:
    policy = source.config.wait_policy
    if policy is None:
        return Claim(())
    if attempt < policy.max_retries:
        raise FilesNotThere(source.id, attempt, policy.interval_minutes * 60.0)
    if policy.on_miss_action == "fail":
        raise DeadlineMissed(source.id, source.config.path, source.config.pattern.value)
    return Claim((), alert=policy.on_miss_action == "alert")
