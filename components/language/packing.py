"""Packing: converts a recipe to dicts, lists, numbers and texts, which `json.dumps` accepts.

Arrays have Plotly's format, `{dtype, shape, bdata}`, where `bdata` is base64 of little-endian numbers.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from components.language.cloud import Angle, Cloud, LargestWeight, Row, SoftmaxWeight
from components.language.marks import DASHES, Color, Followed, Hand, Highest, Mark, PropertySelection, Stroke
from components.language.recipe import Readout
from geometry import Of, Pipeline, arrows
from geometry.pipeline import Step

HALF_MAX = float(np.finfo(np.float16).max)
JSON_SCALARS = {str, int, float, bool}  # types that JSON has
UNION_FIELDS = Step | Hand | Readout | Highest | PropertySelection | LargestWeight | SoftmaxWeight | Angle


def packed(value: Any) -> Any:
    """Convert a value, such as a recipe, for `json.dumps`. A dataclass becomes a dict of most of its fields.

    Where objects of several classes can occur, the dict also has the class name: a mark has it under the key
    `mark`, any other object has it, in lower case, under `kind`. Exceptions: a `Row` and an `Of` have no
    `kind`, a `Pipeline` becomes a list of its steps, and `Followed` the text "followed".

    Points and colour values become single precision, which is enough for drawing. All other floating-point
    arrays, such as weights, keep their values exactly.
    """
    match value:
        # the most frequent case first
        case None | str() | int() | float() if not isinstance(value, np.generic):
            return value
        case Row():
            return _fields(value)
        case tuple() | list():
            return list(value) if set(map(type, value)) <= JSON_SCALARS else [packed(each) for each in value]
        case np.ndarray():
            return pack(value)
        case np.generic():
            return value.item()
        case Cloud(name, points, pipeline, place, labels, pictures):
            steps = {"place": packed(place.steps), "steps": packed(pipeline.steps)}
            drawn = {"labels": packed(labels), "pictures": packed(pictures)}
            return {"name": name, "points": single(points), **steps, **drawn}
        case Color(of=np.ndarray() as values):
            return _fields(value) | {"of": single(values)}
        case Mark():
            return _mark(value)
        case Pipeline(steps):
            return packed(steps)
        case Of(source, stage, transposed):
            return {"of": source.name, "stage": stage, "transposed": transposed, "shape": list(value.shape)}
        case Followed():
            return "followed"
        case _ if isinstance(value, UNION_FIELDS):
            return {"kind": type(value).__name__.lower(), **_fields(value)}
        case Mapping():
            return {key: packed(each) for key, each in value.items()}
        case Sequence():
            return [packed(each) for each in value]
    return _fields(value)


def _mark(mark: Mark) -> dict[str, Any]:
    """A mark as a dict: its kind, primitive (`draws`), dashes, arrow heads, and all fields but `guide`."""
    every = {"mark": type(mark).__name__, "draws": mark.draws, "color": None, "hand": None} | _fields(mark)
    del every["guide"]  # it only matters for framing, which is done
    if isinstance(mark, Stroke):
        every["pattern"] = list(DASHES[mark.dash])
    if every.get("arrow"):
        every["arrow"] = {"length": every["arrow"], **arrows.HEAD}
    return every


def pack(array: np.ndarray) -> dict[str, Any]:
    """An array as `{dtype, shape, bdata}`, where `bdata` is base64 of little-endian numbers.

    Integers and booleans have 32 bits, except unsigned ones (greyscale values), which have 8. An array in
    single precision is sent in half precision if this changes no number. So the weights of most shipped
    training runs, which are half-precision numbers, take half the space.
    """
    real = "f8" if array.dtype != np.float32 else "f2" if _are_half(array) else "f4"
    kind = {"f": real, "i": "i4", "b": "i4", "u": "u1"}[array.dtype.kind]
    data = base64.b64encode(array.astype("<" + kind).tobytes()).decode()
    return {"dtype": kind, "shape": list(array.shape), "bdata": data}


def _are_half(array: np.ndarray) -> bool:
    """Whether all numbers of the array are finite and have exactly the same value in half precision."""
    return bool((np.abs(array) <= HALF_MAX).all() and np.array_equal(array.astype(np.float16), array))


def single(array: np.ndarray) -> dict[str, Any]:
    return pack(array.astype(np.float32))


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: packed(getattr(value, field.name)) for field in fields(value)}
