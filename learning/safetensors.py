"""Arrays in a file that is opened without running anything: the safetensors format, as far as it is needed
here.

Eight bytes: the length of the header, little-endian. The header: JSON, for each array its dtype, shape, and
where its bytes begin and end; `__metadata__`, texts by name. Then the bytes, C order, little-endian, without
gaps. Source: the format's own description, huggingface.co/docs/safetensors.
"""

import json
import struct
from collections.abc import Mapping
from math import prod
from mmap import mmap
from typing import Any

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8"}
LENGTH = struct.Struct("<Q")
HEADER, AXES = 2**22, 8  # bytes of the header, and axes of an array, that are read at most
META = "__metadata__"

Arrays = dict[str, np.ndarray]


class FileError(ValueError):
    """A file that is not whole, or none of this format; the message says why."""


def to_safetensors(arrays: Mapping[str, np.ndarray], meta: Mapping[str, str] | None = None) -> bytes:
    """The file of some arrays by name, and texts about them. Raises ValueError for a dtype that is not in
    DTYPES."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header: dict[str, Any] = {META: dict(meta)} if meta else {}
    parts, end = [], 0
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in names:
            raise ValueError(f"{name} has the dtype {array.dtype}: take one of {', '.join(DTYPES.values())}")
        parts.append(array.astype(dtype).tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": names[dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % LENGTH.size)  # the numbers begin at a multiple of eight
    return LENGTH.pack(len(text)) + text + b"".join(parts)


def from_safetensors(data: bytes | mmap) -> tuple[Arrays, dict[str, str]]:
    """The arrays of a file, and the texts about them. Raises FileError for what is not whole or not of this
    format.

    Nothing of the file is believed: no array is built that the bytes do not hold.
    """
    if len(data) < LENGTH.size:
        raise FileError("this is not a safetensors file: it is too short")
    (length,) = LENGTH.unpack_from(data)
    if length > min(HEADER, len(data) - LENGTH.size):
        raise FileError(f"this is not a safetensors file: its header would have {length} bytes")
    body = memoryview(data)[LENGTH.size + length :]
    try:
        header = json.loads(data[LENGTH.size : LENGTH.size + length].decode())
    except (ValueError, RecursionError) as problem:
        raise FileError(f"this is not a safetensors file: its header is no JSON: {problem}") from None
    if not isinstance(header, dict):
        raise FileError("this is not a safetensors file: its header has no names")
    meta = header.pop(META, {})
    if not (isinstance(meta, dict) and all(isinstance(text, str) for text in meta.values())):
        raise FileError("what this file says of itself is no text")
    parts = sorted(((_part(name, each), name) for name, each in header.items()), key=lambda part: part[0][0])
    end, arrays = 0, {}
    for (start, stop, dtype, shape), name in parts:
        if start != end or stop > len(body):
            raise FileError(f"the numbers of {name!r} are not where they should be")
        arrays[name] = np.frombuffer(body[start:stop], dtype=dtype).reshape(shape)
        end = stop
    if end != len(body):
        raise FileError(f"{len(body) - end} bytes of this file belong to nothing")
    return {name: arrays[name] for name in header}, meta


def _part(name: str, said: Any) -> tuple[int, int, str, tuple[int, ...]]:
    """Where the bytes of an array begin and end, its dtype and its shape, which fit together."""
    try:
        dtype, shape, (start, stop) = DTYPES[said["dtype"]], tuple(said["shape"]), said["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise FileError(f"the header does not say what {name!r} is, or it is no array of ours") from None
    whole = all(type(number) is int and number >= 0 for number in (*shape, start, stop))
    if not whole or len(shape) > AXES or stop - start != prod(shape) * np.dtype(dtype).itemsize:
        raise FileError(f"{name!r} has the shape {shape} in {start} … {stop}, which cannot be")
    return start, stop, dtype, shape
