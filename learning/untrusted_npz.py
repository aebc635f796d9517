"""Read files of training runs (films) that visitors upload, without trusting them.

The size that the file states for an array is checked against a limit before memory is allocated. The stated
size may be false, so reading stops at the stated size: this is a guard against zip bombs.
"""

import io
import zipfile
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from learning.file_error import FileError, strict_json

Array = np.ndarray
Parts = tuple[Any, dict[str, Array]]

MAX_UPLOAD_BYTES = 34 * 2**20  # limit for an uploaded recording or film; the largest film takes half of this
MAX_META_BYTES = 64 * 2**10  # limit for all metadata together
MAX_CURVE_NUMBERS, MAX_DATA_NUMBERS = 50_000, 2**16  # for a curve of all seeds; for points or pictures
MAX_NUMBERS: Mapping[str, int] = {  # scenes train 32 networks of up to 401 parameters, with 150 checkpoints
    "steps": 300,
    "weights": 1_925_000,
    "loss": MAX_CURVE_NUMBERS,
    "accuracy": MAX_CURVE_NUMBERS,
    "points": MAX_DATA_NUMBERS,
    "labels": 10_000,
    "images": MAX_DATA_NUMBERS,
    "test_accuracy": MAX_CURVE_NUMBERS,
}
MAX_ARCHIVE_MEMBERS = 20  # ours have 9; but compressed data may contain the signature of a member by chance
MAX_ARRAY_HEADER_BYTES = 512  # limit for a .npy header; ours take 128
MAX_BYTES_PER_NUMBER = 8  # of float64


def npz_parts(data: bytes) -> Parts:
    """The metadata and the arrays by name in a .npz file of a training run.

    Raises FileError if the file is broken or too large, or if it contains anything else.
    """
    _small(data)
    if data.count(b"PK\x01\x02") > MAX_ARCHIVE_MEMBERS:
        raise FileError(f"this archive has more than {MAX_ARCHIVE_MEMBERS} members, so it is no run")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = {member.filename.removesuffix(".npy"): member for member in members}
            if sorted(m.filename for m in members) != sorted(f"{name}.npy" for name in names):
                raise FileError("a member of this archive is there twice, or is not named like an array")
            if unknown := names.keys() - {*MAX_NUMBERS, "meta"}:
                raise FileError(f"this archive contains {min(unknown)[:40]!r}, which is no part of a run")
            if "meta" not in names:
                raise FileError("this archive has no member meta.npy, so it is no run")
            arrays = {name: _member(archive, member, name) for name, member in names.items()}
    except FileError:
        raise
    except Exception as problem:  # zipfile raises a dozen exception types for broken archives
        raise FileError(f"this is not a whole .npz file: {problem}") from None
    return _json(arrays.pop("meta").tobytes()), arrays


def _small(data: bytes) -> None:
    if len(data) > MAX_UPLOAD_BYTES:
        raise FileError(f"this file has more than {MAX_UPLOAD_BYTES >> 20} MiB")


def _count(name: str, count: int) -> None:
    if not 0 < count <= MAX_NUMBERS[name]:
        raise FileError(f"{name} of this run has {count:,} numbers: 1 … {MAX_NUMBERS[name]:,} can be shown")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Array:
    """Read one array of a .npz file. Raises FileError if it is larger than its limit, such as MAX_NUMBERS.

    Also raises it for a broken array, and for a compression other than deflate, the usual one. No more bytes
    are unpacked than the archive states. If there are more, zipfile raises BadZipFile for a wrong checksum.
    """
    if member.file_size > MAX_ARRAY_HEADER_BYTES + (
        MAX_META_BYTES if name == "meta" else MAX_BYTES_PER_NUMBER * MAX_NUMBERS[name]
    ):
        raise FileError(f"{name} of this run is too large")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileError("this archive is compressed in another way than ours")
    with archive.open(member) as file:
        return _array(file.read(member.file_size), name)


def _array(data: bytes, name: str) -> Array:
    """Parse a .npy file of numbers. Raises FileError for any other file, and for an array that is too large.

    Also raises it if the size of the array is not the one in the header. name: the name of the array, which
    determines the limit of its size.
    """
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = read[version](file, max_header_size=MAX_ARRAY_HEADER_BYTES)
    except Exception as problem:  # the header is a Python literal, whose parser raises many types
        raise FileError(f"{name} of this run is not a NumPy array: {problem}") from None
    if dtype.kind not in "fiu" or dtype.itemsize > MAX_BYTES_PER_NUMBER:
        raise FileError(f"the array {name!r} of this run does not consist of numbers")
    if name != "meta":
        _count(name, prod(shape))
    if min(shape, default=0) < 0 or dtype.itemsize * prod(shape) != len(data) - file.tell():
        raise FileError(f"{name} of this run is not a NumPy array: its size is not what it says")
    numbers = np.frombuffer(data, dtype, offset=file.tell())
    return numbers.reshape(shape, order="F" if fortran else "C")


def _json(data: bytes) -> Any:
    if len(data) > MAX_META_BYTES:
        raise FileError(f"this run has more than {MAX_META_BYTES >> 10} KiB beside its numbers")
    return strict_json(data)
