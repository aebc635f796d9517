"""Safetensors files by the package `safetensors`, refused in one line where they are broken."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

DTYPES = ("<f8", "<f4", "<f2", "<i8")
MAX_HEADER_BYTES, MAX_REASON_LENGTH = 2**22, 200

Arrays = dict[str, np.ndarray]


class FileError(ValueError):
    """A file that is broken or of another format; the message says why."""


def to_safetensors(arrays: Mapping[str, np.ndarray], meta: Mapping[str, str] | None = None) -> bytes:
    """The file of some arrays by name, and texts about them."""
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()}, dict(meta or {}))


def from_safetensors(source: bytes | Path) -> tuple[Arrays, dict[str, str]]:
    """The arrays and the metadata of a file. Raises FileError; for a path OSError too."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    header_bytes = int.from_bytes(data[:8], "little")
    if header_bytes > MAX_HEADER_BYTES:
        raise FileError(f"this is not a safetensors file: its header would have {header_bytes} bytes")
    try:
        arrays = load(data)
        meta = json.loads(data[8 : 8 + header_bytes]).get("__metadata__") or {}
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError) as problem:
        reason = " ".join(str(problem).split())[:MAX_REASON_LENGTH]
        raise FileError(f"this safetensors file cannot be read: {reason}") from None
    for dtype in {array.dtype.str for array in arrays.values()} - {*DTYPES}:
        raise FileError(f"numbers of the type {dtype} are not read here: take one of {', '.join(DTYPES)}")
    return arrays, meta
