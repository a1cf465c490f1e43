from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kaireon_dagster.sources.listing import is_settled, select
from kaireon_dagster.sources.store import Entry

SECOND = 1_000_000_000


def entry(name: str, mtime: int = 0, changed: int = 0) -> Entry:
    return Entry(name, f"/in/{name}", 1, mtime, changed)


def names(entries: tuple[Entry, ...]) -> list[str]:
    return [found.name for found in entries]


LISTED = [entry("b", 3), entry("C", 9), entry("a", 5), entry("\u00e9", 1)]


def test_by_name_means_by_bytes() -> None:
    for ordering in ("lexicographic", "fifo_by_name"):
        assert names(select(LISTED, ordering).files) == ["C", "a", "b", "\u00e9"]


def test_process_all_keeps_the_listing() -> None:
    assert names(select(LISTED, "process_all").files) == ["b", "C", "a", "\u00e9"]


def test_only_the_newest_is_loaded_and_the_rest_is_superseded() -> None:
    chosen = select(LISTED, "latest_by_mtime")
    assert names(chosen.files) == ["C"]
    assert names(chosen.superseded) == ["\u00e9", "b", "a"]


def test_of_equally_new_files_the_last_by_name_is_the_newest() -> None:
    assert names(select([entry("b", 1), entry("a", 1)], "latest_by_mtime").files) == ["b"]


def test_a_cap_leaves_the_rest_waiting() -> None:
    assert names(select(LISTED, "lexicographic", 2).files) == ["C", "a"]
    assert names(select(LISTED, "process_all", 0).files) == []


@given(
    st.lists(st.text(min_size=1), unique=True),
    st.sampled_from(["lexicographic", "latest_by_mtime"]),
)
def test_no_file_is_lost_or_doubled(found: list[str], ordering: str) -> None:
    chosen = select([entry(name, len(name)) for name in found], ordering)
    assert sorted(names((*chosen.files, *chosen.superseded))) == sorted(found)


def test_a_file_has_settled_after_its_age() -> None:
    assert not is_settled(entry("a", changed=100 * SECOND), 10, 109 * SECOND)
    assert is_settled(entry("a", changed=100 * SECOND), 10, 110 * SECOND)
    assert is_settled(entry("a", changed=100 * SECOND), 0, 100 * SECOND)


def test_a_clock_ahead_of_ours_does_not_hide_a_file() -> None:
    assert is_settled(entry("a", changed=9999 * SECOND), 10, 100 * SECOND)
