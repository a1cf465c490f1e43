"""Cycles in a graph of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def find_cycle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """Find one cycle: its names in the order of the edges, the first repeated at the end.

    Args:
        edges: name to the names it points at; names that are no key are left out.

    Returns:
        For a → b → a: `["a", "b", "a"]`. Empty when there is no cycle.
    """
    done: set[str] = set()
    for start in edges:
        found = _walk(start, edges, done)
        if found:
            return found
    return []


def _walk(start: str, edges: Mapping[str, Iterable[str]], done: set[str]) -> list[str]:
    # Kept as a list of iterators, not by recursion: chains may be longer than the stack allows.
    trail, iterators = [start], [iter(edges.get(start, ()))]
    while trail:
        following = next(iterators[-1], None)
        if following is None:
            done.add(trail.pop())
            iterators.pop()
        elif following in trail:
            return [*trail[trail.index(following) :], following]
        elif following in edges and following not in done:
            trail.append(following)
            iterators.append(iter(edges[following]))
    return []
