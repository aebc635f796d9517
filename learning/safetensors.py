"""Safetensors files by the package `safetensors`; a broken file is refused with one line that says why."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

DTYPES, MAX_HEADER_BYTES = ("<f8", "<f4", "<f2", "<i8"), 2**22
Arrays = dict[str, np.ndarray]


class FileError(ValueError):
    """Raised for a file that is broken or of another format; the message says why."""


def to_safetensors(arrays: Mapping[str, np.ndarray], meta: Mapping[str, str] | None = None) -> bytes:
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()}, dict(meta or {}))


def from_safetensors(source: bytes | Path) -> tuple[Arrays, dict[str, str]]:
    """Read the arrays and the metadata of a file. Raises FileError; for a path also OSError."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    try:
        if (header_bytes := int.from_bytes(data[:8], "little")) > MAX_HEADER_BYTES:
            raise ValueError(f"it is not a safetensors file: its header would have {header_bytes} bytes")
        arrays, meta = load(data), json.loads(data[8 : 8 + header_bytes]).get("__metadata__") or {}
        if others := {array.dtype.str for array in arrays.values()} - {*DTYPES}:
            raise ValueError(f"numbers of the type {', '.join(others)} are not read here: take {DTYPES}")
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise FileError(f"this file cannot be read: {shorten(str(problem), 200)}") from None
    return arrays, meta
