"""Read and write safetensors files with the package `safetensors`."""

import json
from textwrap import shorten

import numpy as np
import safetensors.numpy

from learning.file_error import FileError

MAX_HEADER_BYTES = 2**22
WRONG_SIZE = "its size is not the one that its header states"


def to_safetensors(arrays: dict[str, np.ndarray], meta: dict[str, str] | None = None) -> bytes:
    return safetensors.numpy.save({name: np.asarray(x, order="C") for name, x in arrays.items()}, meta)


def from_safetensors(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the metadata of a safetensors file, by name. Raises FileError for any other file."""
    if not data:
        raise FileError("this file is empty")
    if len(data) < 8:  # a safetensors file begins with a number of eight bytes
        raise FileError("this is not a safetensors file")
    if (header_bytes := int.from_bytes(data[:8], "little")) > MAX_HEADER_BYTES:
        if data[8:9] != b"{":  # other files have a meaningless number here
            raise FileError("this is not a safetensors file")
        raise FileError(f"the header of this file is larger than {MAX_HEADER_BYTES >> 20} MiB")
    if len(data) < 8 + header_bytes:
        raise FileError("this file is incomplete or damaged: it ends within its header")
    try:
        return safetensors.numpy.load(data), json.loads(data[8 : 8 + header_bytes]).get("__metadata__") or {}
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, OverflowError) as problem:
        words = str(problem).removeprefix("Error while deserializing: ")
        words = words.replace("incomplete metadata, file not fully covered", WRONG_SIZE)
        raise FileError(f"this file is incomplete or damaged: {shorten(words, 200)}") from None
