"""The store of local folders, and of network folders that are mounted.

Files are moved by `rename`, which one process wins. Where the staging folder is on another
device the file is copied and synced under a hidden name first; removing the original then decides
who owns it, and only the owner's copy gets its name. What a process leaves behind when it dies
between these steps is settled by the next that looks.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from kaireon_dagster.sources.claimed import ClaimedFile, readable
from kaireon_dagster.sources.faults import FileBroken, FileChanged, FolderRefused, FolderUnusable
from kaireon_dagster.sources.patterns import token_matcher
from kaireon_dagster.sources.store import Entry

_COPYING: Final = ".copying-"
_COPIED: Final = ".copied-"


class LocalStore:
    """Files directly in one local folder.

    Directories are never files. A symbolic link is a file as long as what it points at is a file
    inside the folder; links are read where they are and never moved.
    """

    def __init__(self, path: str) -> None:
        # Steps of one run may run in other working folders.
        self._root = Path(path).absolute()

    def list(self) -> Iterator[Entry]:
        """Yield the files of the folder in the order of the file system.

        Raises:
            FolderUnusable: when the folder is missing or cannot be listed.
        """
        try:
            with os.scandir(self._root) as found:
                for item in found:
                    entry = self._entry(Path(item.path))
                    if entry is not None:
                        yield entry
        except OSError as error:
            raise FolderUnusable(readable(str(self._root)), _reason(error)) from None

    def folders(self, template: str) -> Iterator[str]:
        """Yield the existing folders that a template with date tokens can stand for."""
        yield from _expand(self._root, Path(), Path(template).parts)

    def owners(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders below a folder."""
        below = self._below(folder)
        if below.is_dir():
            yield from sorted(item.name for item in below.iterdir() if item.is_dir())

    def held(self, folder: str) -> Iterator[Entry]:
        """Yield the files below a folder, finishing copies that an earlier process began."""
        below = self._below(folder)
        for path in sorted(below.rglob("*")) if below.is_dir() else ():
            entry = self._entry(self._settle(path))
            if entry is not None:
                yield entry

    def claim(self, entry: Entry, folder: str) -> ClaimedFile | None:
        """Move a file below the folder, once among all who try."""
        source = Path(entry.location)
        target = self._made(folder) / entry.name
        if source != target and (
            source.is_symlink() or target.exists() or not _take(source, target)
        ):
            return None
        found = target.stat()
        original = str(self._root / entry.name)
        return ClaimedFile(str(target), entry.name, original, found.st_size, found.st_mtime_ns)

    def in_place(self, entry: Entry) -> ClaimedFile:
        """Describe a file that stays where it is."""
        path = entry.location
        return ClaimedFile(path, entry.name, path, entry.size, entry.mtime_ns)

    def archive(self, file: ClaimedFile, folder: str) -> str | None:
        """Move a claimed file below the folder, beside whatever is there."""
        source = Path(file.path)
        made = self._made(folder)
        if not source.exists() or source.parent.samefile(made):
            return None
        for target in _free_names(made / file.name):
            if _move_beside(source, target):
                _remove_empty(source.parent, source.parent.parent)
                return str(target)
        raise AssertionError("names with a number never run out")

    def discard(self, folder: str) -> None:
        """Remove a folder and those below it as far as they are empty."""
        below = self._below(folder)
        _remove_empty(*(Path(path) for path, _, _ in os.walk(below, topdown=False)))

    def open(self, file: ClaimedFile) -> BinaryIO:
        """Open a claimed file that is still as it was."""
        check_unchanged(file)
        return Path(file.path).open("rb")

    def _entry(self, path: Path) -> Entry | None:
        try:
            found = path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode) or not self._stays_inside(path):
            return None
        # The change time cannot be set by a copying tool, so a file with an old modification
        # time is still seen to be new.
        return Entry(path.name, str(path), found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def _stays_inside(self, path: Path) -> bool:
        return not path.is_symlink() or path.resolve().is_relative_to(self._root.resolve())

    def _below(self, folder: str) -> Path:
        parts = Path(folder).parts
        if Path(folder).is_absolute() or ".." in parts:
            raise FolderRefused("folder", folder, "it lies outside the source's path")
        return self._root.joinpath(*parts)

    def _made(self, folder: str) -> Path:
        below = self._below(folder)
        try:
            below.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FolderUnusable(readable(str(below)), _reason(error)) from None
        return below

    def _settle(self, path: Path) -> Path:
        """Finish or undo a copy that a process which died had begun."""
        if path.name.startswith(_COPYING):
            path.unlink(missing_ok=True)
        if not path.name.startswith(_COPIED):
            return path
        target = path.with_name(path.name.removeprefix(_COPIED))
        if _are_same(path, self._root / target.name):
            path.unlink(missing_ok=True)
        else:
            path.rename(target)
        return target


def check_ready(file: ClaimedFile) -> None:
    """Check that a file is as it was claimed, and may be read.

    Raises:
        FileChanged: when it was written to, replaced or removed since.
        FileBroken: when this user may not open it, or its disk fails.
    """
    check_unchanged(file)
    try:
        Path(file.path).open("rb").close()
    except OSError as error:
        raise FileBroken(file.label, f"it cannot be opened: {_reason(error)}") from None


def check_unchanged(file: ClaimedFile) -> None:
    """Check that a file still has the size and modification time it was claimed with.

    Raises:
        FileChanged: when it was written to, replaced or removed since.
    """
    try:
        found = Path(file.path).stat()
    except OSError:
        raise FileChanged(file.label, file.size, None) from None
    if (found.st_size, found.st_mtime_ns) != (file.size, file.mtime_ns):
        raise FileChanged(file.label, file.size, found.st_size)


def _take(source: Path, target: Path) -> bool:
    try:
        source.rename(target)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise FolderUnusable(readable(str(target.parent)), _reason(error)) from None
        return _take_across_devices(source, target)
    return True


def _take_across_devices(source: Path, target: Path) -> bool:
    copying = target.with_name(_COPYING + target.name)
    copied = target.with_name(_COPIED + target.name)
    try:
        _copy_synced(source, copying)
        copying.rename(copied)
        source.unlink()
    except FileNotFoundError:
        copying.unlink(missing_ok=True)
        copied.unlink(missing_ok=True)
        return False
    copied.rename(target)
    return True


def _copy_synced(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("wb") as write:
        shutil.copyfileobj(read, write, 1 << 20)
        write.flush()
        os.fsync(write.fileno())
    shutil.copystat(source, target)


def _move_beside(source: Path, target: Path) -> bool:
    """Move without overwriting; False when the name is taken."""
    try:
        os.link(source, target)
    except FileExistsError:
        if not target.samefile(source):
            return False
        # An earlier attempt had linked it and died before it removed the old name.
    except OSError:
        # No hard links here, or another device.
        return not target.exists() and _take(source, target)
    source.unlink(missing_ok=True)
    return True


def _are_same(copy: Path, original: Path) -> bool:
    """Whether a finished copy's original is still there, and not a newer file of its name."""
    try:
        found, copied = original.stat(), copy.stat()
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == (copied.st_size, copied.st_mtime_ns)


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            continue


def _free_names(target: Path) -> Iterator[Path]:
    yield target
    for number in range(1, 1_000_000):
        yield target.with_name(f"{target.stem}.{number}{target.suffix}")


def _expand(root: Path, so_far: Path, parts: tuple[str, ...]) -> Iterator[str]:
    if not parts:
        yield str(so_far)
        return
    here = root / so_far
    form = token_matcher(parts[0])
    for name in sorted(item.name for item in here.iterdir() if item.is_dir()):
        if form.fullmatch(name):
            yield from _expand(root, so_far / name, parts[1:])


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
