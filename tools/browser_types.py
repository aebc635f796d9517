"""Generate assets/engine/recipe.d.ts: TypeScript types of a recipe's JSON, for the JSDoc in assets/.

Run `python -m tools.browser_types` after changing a dataclass in components/language. A test checks that the
file is up to date.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from components.language import cloud, packing, recipe
from components.language.marks import MARKS, Color, Mark, Stroke, hands, selections
from components.language.readouts import READOUTS
from geometry import Entries

FILE = Path(__file__).resolve().parent.parent / "assets/engine/recipe.d.ts"
HEADER = """// The types of a recipe as it travels. Written by tools/browser_types.py from the dataclasses of
// components/language: edit those.

import type { Cloud, Entries, Packed } from "./engine.mjs";

/** The head of an arrow, as geometry/arrows.py says; 0: none. */
export type Arrow = { length: number; width: number; least: number; steep: number };
"""
SCALARS = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
# their JSON does not consist of their fields, so engine.mjs contains their types, written by hand
PACKED_OTHERWISE = {np.ndarray: "Packed", Entries: "Entries", cloud.Cloud: "Cloud"}
PACKED_OTHERWISE |= {selections.Followed: '"followed"', Mark: "Mark"}
ALIASES = {"Measure": cloud.Measure, "Hand": hands.Hand, "Only": selections.Only}
DATA = (
    cloud.Row, cloud.LargestWeight, cloud.SoftmaxWeight, cloud.Angle, Color, recipe.Parameter, recipe.Wider,
    recipe.Table, recipe.Facts, recipe.Overview, recipe.View, recipe.Recipe,
)  # fmt: skip


def type_of(hint: Any) -> str:
    """The TypeScript type of the JSON into which a value of the Python type `hint` is converted."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, type) and hint in PACKED_OTHERWISE:
        return PACKED_OTHERWISE[hint]
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(type_of, arguments)))
    if origin is np.ndarray:
        return "Packed"
    if origin is Mapping:
        return f"Record<string, {type_of(arguments[1])}>"
    if origin is Sequence or (origin is tuple and arguments[-1] is Ellipsis):
        inner = type_of(arguments[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(type_of, arguments))}]"
    if hint is recipe.Readout:
        return "Readout"
    return str(hint.__name__)


def members(kind: type) -> dict[str, str]:
    """The fields of a dataclass, each with its TypeScript type."""
    hints = get_type_hints(kind)
    return {field.name: type_of(hints[field.name]) for field in fields(kind)}


def interface(name: str, own: Mapping[str, str], doc: str, base: str = "") -> str:
    """A TypeScript interface with the fields `own` (name: type), which extends `base` if it is given."""
    lines = [f"  {field}: {kind};" for field, kind in own.items()]
    head = f"export interface {name}{f' extends {base}' if base else ''} {{"
    return "\n".join([f"/** {doc} */", head, *lines, "}", ""])


def data(kind: type) -> str:
    """The TypeScript interface of a dataclass.

    If a field of a recipe can hold one of several dataclasses, each of these but `Row` also gets a field
    "kind".
    """
    several = issubclass(kind, packing.UNION_FIELDS)
    tag = {"kind": f'"{kind.__name__.lower()}"'} if several else {}
    return interface(kind.__name__, tag | members(kind), first_line(kind))


def first_line(kind: type) -> str:
    return (kind.__doc__ or "").split("\n")[0]


def union(base: type, kinds: Sequence[type], tags: Callable[[type], dict[str, str]]) -> str:
    """TypeScript of a discriminated union: the common fields, one interface per subclass, and their union.

    tags: a function that returns, for a subclass, the extra fields by which its JSON can be recognised.
    """
    name, common = base.__name__, members(base)
    common.pop("guide", None)  # never sent: only framing uses it
    parts = [interface(f"{name}Fields", common, first_line(base))]
    for kind in kinds:
        own = {field: of for field, of in members(kind).items() if field not in members(base)}
        parts.append(interface(f"{kind.__name__}{name}", own | tags(kind), first_line(kind), f"{name}Fields"))
    names = "\n  | ".join(f"{kind.__name__}{name}" for kind in kinds)
    return "\n".join([*parts, f"export type {name} =\n  | {names};\n"])


def mark_tags(kind: type) -> dict[str, str]:
    """The fields that `packing._mark` adds to the JSON of a drawn mark, with their TypeScript types."""
    own = members(kind)
    added = {"mark": f'"{kind.__name__}"', "draws": f'"{kind.draws}"'}  # type: ignore[attr-defined]
    added |= {"color": own.get("color", "null"), "hand": own.get("hand", "null")}
    if issubclass(kind, Stroke):
        added["pattern"] = "number[]"
    if "arrow" in own:
        added["arrow"] = "Arrow | 0"
    return added


def readout_tags(kind: type) -> dict[str, str]:
    return {"kind": f'"{kind.__name__.lower()}"'}


def text() -> str:
    """The full contents of recipe.d.ts."""
    parts = [data(kind) for kind in DATA]
    parts += [data(kind) for kind in get_args(hands.Hand)]
    parts += [data(kind) for kind in (selections.Highest, *get_args(selections.PropertySelection))]
    parts += [f"export type {name} = {type_of(alias)};\n" for name, alias in ALIASES.items()]
    parts += [union(Mark, MARKS, mark_tags), union(recipe.Readout, READOUTS, readout_tags)]
    return "\n".join([HEADER, *parts])


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
