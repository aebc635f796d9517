"""Compression of a scene's recipes: what a recipe shares with the default recipe is replaced by a reference.

A reference is `{"$same": path}`. The path is that of an equal part in the scene's default recipe, as a list
of keys and indices. assets/player/source.mjs resolves references.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

SAME = "$same"
SHORTEST = 100  # characters of JSON: shorter parts are not replaced
LONGEST_LETTER = 12  # characters of JSON for one letter, if it needs two escapes, as \ud83d\ude00 does

Path = tuple[str | int, ...]

compact = json.JSONEncoder(separators=(",", ":")).encode


def parts(value: Any) -> dict[str, Path]:
    """A dict from JSON text to path, of all parts of a recipe with at least SHORTEST characters as JSON.

    If several parts are equal, the path is that of the first.
    """
    paths: dict[str, Path] = {}
    for text, path in _walk(value, ()):
        paths.setdefault(text, path)
    return paths


def _walk(value: Any, path: Path) -> Iterator[tuple[str, Path]]:
    if _is_short(value) or len(text := compact(value)) < SHORTEST:
        return
    yield text, path
    for name, part in _inner(value):
        yield from _walk(part, (*path, name))


def _is_short(value: Any) -> bool:
    """Whether a value is None, a number, or a text so short that its JSON is shorter than SHORTEST."""
    if isinstance(value, str):
        return LONGEST_LETTER * len(value) + 2 < SHORTEST
    return value is None or isinstance(value, float | int)


def _inner(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def with_references(value: Any, default_parts: Mapping[str, Path]) -> Any:
    """A copy of a recipe in which parts that are in `default_parts` are replaced by references.

    If a part is replaced, the parts inside it are not considered.
    """
    if _is_short(value) or len(text := compact(value)) < SHORTEST:
        return value
    if text in default_parts:
        return {SAME: default_parts[text]}
    if isinstance(value, Mapping):
        return {name: with_references(part, default_parts) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_references(part, default_parts) for part in value]
    return value
