"""Safetensors files: read without copying their numbers, and refused in one line where they are broken."""

import json
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, deserialize, safe_open
from safetensors.numpy import save

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8"}
MAX_HEADER_BYTES, MAX_REASON_LENGTH = 2**22, 200

Arrays = dict[str, np.ndarray]


class FileError(ValueError):
    """A file that is broken or of another format; the message says why."""


def to_safetensors(arrays: Mapping[str, np.ndarray], meta: Mapping[str, str] | None = None) -> bytes:
    """The file of some arrays by name, and texts about them."""
    return save(
        {name: np.asarray(array, order="C") for name, array in arrays.items()}, dict(meta or {}) or None
    )


def from_safetensors(source: bytes | Path) -> tuple[Arrays, dict[str, str]]:
    """The arrays and the metadata of a file's bytes, or of the file at a path, which is mapped into memory.

    The arrays are views. Raises FileError; for a path OSError too.
    """
    data = source if isinstance(source, bytes) else _mapped(source)
    start = 8 + int.from_bytes(data[:8], "little")
    if start > MAX_HEADER_BYTES:
        raise FileError(f"this is not a safetensors file: its header would have {start - 8} bytes")
    try:
        deserialize(data) if isinstance(data, bytes) else safe_open(source, "numpy")  # refuse a broken header
        header, body = json.loads(data[8:start]), memoryview(data)[start:]
        meta = header.pop("__metadata__", None) or {}
        return {name: _array(body, **entry) for name, entry in header.items()}, meta
    except (SafetensorError, TypeError, ValueError, OverflowError) as problem:
        reason = " ".join(str(problem).split())[:MAX_REASON_LENGTH]
        raise FileError(f"this safetensors file cannot be read: {reason}") from None


def _mapped(path: Path) -> mmap:
    with path.open("rb") as file:
        try:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
        except ValueError:
            raise FileError("this file is empty") from None


def _array(body: memoryview, dtype: str, shape: list[int], data_offsets: list[int]) -> np.ndarray:
    if dtype not in DTYPES:
        raise FileError(f"numbers of the type {dtype} are not read here: take one of {', '.join(DTYPES)}")
    return np.frombuffer(body[slice(*data_offsets)], DTYPES[dtype]).reshape(shape)
