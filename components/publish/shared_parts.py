"""Compression of a scene's recipes: what a recipe shares with the default recipe is replaced by a reference.

A reference is `{"$same": path}`. The path is that of an equal part in the scene's default recipe, as a list
of keys and indices. assets/player/source.mjs resolves references.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

SAME = "$same"
SHORTEST = 100  # characters of JSON: shorter parts are not replaced

Path = tuple[str | int, ...]

compact = partial(json.dumps, separators=(",", ":"))


def parts(value: Any) -> dict[str, Path]:
    """The paths of all parts of a recipe that have at least SHORTEST characters as JSON, by this JSON.

    If several parts are equal, the path is that of the first.
    """
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
    """A copy of a recipe in which parts that are in `known` are replaced by references.

    If a part is replaced, the parts inside it are not considered.
    """
    text = compact(value)
    if len(text) < SHORTEST:
        return value
    if text in known:
        return {SAME: known[text]}
    if isinstance(value, Mapping):
        return {name: referring(part, known) for name, part in value.items()}
    return [referring(part, known) for part in value] if isinstance(value, list | tuple) else value
