"""Compression of a scene's recipes: parts that the default recipe has too are replaced by references.

A reference is `{"$same": path}`. The path is that of an equal part in the scene's default recipe, as a list
of keys and indices. assets/player/source.mjs resolves references.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

SAME = "$same"
SHORTEST = 100  # number of characters: parts with a shorter JSON text are not replaced
LONGEST_LETTER = 12  # characters of JSON for one letter, if it needs two escapes, as \ud83d\ude00 does

Path = tuple[str | int, ...]

compact = json.JSONEncoder(separators=(",", ":")).encode


def parts(value: Any) -> dict[str, Path]:
    """The large parts of the recipe `value`: a dict from the JSON text of a part to its path in the recipe.

    A part is large if its JSON text has at least SHORTEST characters. If several parts are equal, the path
    leads to the first.
    """
    paths: dict[str, Path] = {}
    for text, path in _walk(value, ()):
        paths.setdefault(text, path)
    return paths


def _walk(value: Any, path: Path) -> Iterator[tuple[str, Path]]:
    if not (text := _long_json(value)):
        return
    yield text, path
    for name, part in _inner(value):
        yield from _walk(part, (*path, name))


def _long_json(value: Any) -> str:
    """The JSON of a value; "" if it has fewer than SHORTEST characters.

    To save time, numbers, None and very short texts are not converted, as the result would be "".
    """
    if value is None or isinstance(value, float | int):
        return ""
    if isinstance(value, str) and LONGEST_LETTER * len(value) + 2 < SHORTEST:
        return ""
    text = compact(value)
    return text if len(text) >= SHORTEST else ""


def _inner(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def with_references(value: Any, default_parts: Mapping[str, Path]) -> Any:
    """A copy of the recipe `value`, in which references replace large parts that the default recipe has too.

    A reference {SAME: path} says where the part is in the default recipe. If a part is replaced, the parts
    inside it are not considered. default_parts: the result of `parts` for the default recipe.
    """
    if not (text := _long_json(value)):
        return value
    if text in default_parts:
        return {SAME: default_parts[text]}
    if isinstance(value, Mapping):
        return {name: with_references(part, default_parts) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_references(part, default_parts) for part in value]
    return value
