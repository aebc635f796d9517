"""Compress the recipes of a scene: parts that occur in its default recipe are replaced by references.

A reference is `{"$same": path}`, with the path in the default recipe; assets/player/source.mjs resolves it.
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
    """The path of each part of a recipe that is long enough to replace, by its JSON text.

    Of equal parts, the path is that of the first.
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
    """A copy of a recipe in which references replace the largest parts that are in `known`."""
    text = compact(value)
    if len(text) < SHORTEST:
        return value
    if text in known:
        return {SAME: known[text]}
    if isinstance(value, Mapping):
        return {name: referring(part, known) for name, part in value.items()}
    return [referring(part, known) for part in value] if isinstance(value, list | tuple) else value
