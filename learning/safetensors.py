"""Read and write safetensors files with the package `safetensors`."""

import json
from textwrap import shorten

import numpy as np
import safetensors.numpy

from learning.file_error import FileError

MAX_HEADER_BYTES = 2**22


def to_safetensors(arrays: dict[str, np.ndarray], meta: dict[str, str] | None = None) -> bytes:
    return safetensors.numpy.save({name: np.asarray(x, order="C") for name, x in arrays.items()}, meta)


def from_safetensors(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the metadata of a safetensors file, by name. Raises FileError for any other file."""
    if (header_bytes := int.from_bytes(data[:8], "little")) > MAX_HEADER_BYTES:
        raise FileError(f"this is not a safetensors file: its header would have {header_bytes} bytes")
    try:
        return safetensors.numpy.load(data), json.loads(data[8 : 8 + header_bytes]).get("__metadata__") or {}
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise FileError(f"this file is incomplete or damaged: {shorten(str(problem), 200)}") from None
