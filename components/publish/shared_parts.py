"""Recipes of one scene that refer to the parts which they have in common with its default recipe.

A part is written as `{"$same": path}`, its path in the default recipe; assets/player/source.mjs restores it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

SAME = "$same"
SHORTEST = 100  # characters of a part's JSON that is worth a reference

Path = tuple[str | int, ...]

compact = partial(json.dumps, separators=(",", ":"))


def parts(value: Any) -> dict[str, Path]:
    """The paths of a recipe's long parts, by their JSON; of equal parts, that of the first."""
    found: dict[str, Path] = {}
    for text, path in _walk(value, ()):
        found.setdefault(text, path)
    return found


def _walk(value: Any, path: Path) -> Iterator[tuple[str, Path]]:
    text = compact(value)
    if len(text) < SHORTEST:
        return
    yield text, path
    for name, part in _inner(value):
        yield from _walk(part, (*path, name))


def _inner(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def referring(value: Any, known: Mapping[str, Path]) -> Any:
    """A recipe with references in place of the parts that are known, the largest first."""
    text = compact(value)
    if len(text) < SHORTEST:
        return value
    if text in known:
        return {SAME: known[text]}
    if isinstance(value, Mapping):
        return {name: referring(part, known) for name, part in value.items()}
    return [referring(part, known) for part in value] if isinstance(value, list | tuple) else value
