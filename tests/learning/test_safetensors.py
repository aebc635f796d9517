"""The safetensors package reads our files, and we read its files; broken files are refused in one line."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load, save

from learning.file_error import FileError
from learning.safetensors import MAX_HEADER_BYTES, from_safetensors, to_safetensors

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name != "__metadata__"
)
ARRAYS = st.dictionaries(
    NAMES,
    st.sampled_from(("<f8", "<f4", "<f2", "<i8")).flatmap(
        lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0))
    ),
    min_size=1,
    max_size=4,
)


def equal(a, b):
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert array.dtype == b[name].dtype
        np.testing.assert_array_equal(array, b[name])


@given(
    ARRAYS, st.dictionaries(NAMES, st.text(st.characters(exclude_categories=("Cs",)), max_size=8), max_size=2)
)
def test_both_read_what_the_other_writes(arrays, meta):
    ours = to_safetensors(arrays, meta)
    equal(load(ours), arrays)
    back, told = from_safetensors(ours)
    equal(back, arrays)
    assert told == meta
    equal(from_safetensors(save(arrays))[0], arrays)


def packed(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def said(shape, start, stop, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "this file is empty"),
        (b"Dear reader, this is a text.", "^this is not a safetensors file$"),
        (struct.pack("<Q", 2**63) + b"{}", "header of this file is larger than 4 MiB"),
        (packed(b"{" + b" " * MAX_HEADER_BYTES + b"}"), "header of this file is larger than 4 MiB"),
        (packed(b"{"), "JSON"),
        (packed(b"\xff"), "UTF-8"),
        (packed(b"[" * 100_000), "JSON"),
        (packed([]), "JSON"),
        (packed({"__metadata__": {"a": 1}}), "expected a string"),
        (packed({"a": 3}), "expected struct"),
        (packed({"a": said([1], 0, 4, "F8\n" * 1000)}, bytes(4)), "unknown variant"),
        (packed({"a": said([10**9], 0, 4 * 10**9)}), "its size is not the one that its header states"),
        (packed({"a": said([10**9], 0, 4)}, bytes(4)), "invalid shape"),
        (packed({"a": said([-1], 0, -4)}), "invalid value"),
        (packed({"a": said([True], 0, 4)}, bytes(4)), "invalid type"),
        (packed({"a": said([1.0], 0, 4)}, bytes(4)), "invalid type"),
        (packed({"a": said([1] * 100, 0, 4)}, bytes(4)), "maximum supported dimension"),
        (packed({"a": said([0, 2**64 - 1], 0, 0)}), "incomplete or damaged"),
        (packed({"a": said([1], 0, 4), "b": said([1], 0, 4)}, bytes(4)), "invalid offset"),
        (packed({"a": said([1], 4, 8)}, bytes(8)), "invalid offset"),
        (packed({"a": said([1], 0, 4)}, bytes(8)), "its size is not the one that its header states"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(data, words):
    with pytest.raises(FileError, match=words) as refusal:
        from_safetensors(data)
    assert len(refusal.value.args[0].splitlines()) == 1 and len(refusal.value.args[0]) < 400


def test_a_cut_file_is_refused_wherever_it_is_cut():
    whole = to_safetensors({"a": np.arange(6.0).reshape(2, 3)}, {"about": "words"})
    for end in range(8, len(whole)):
        with pytest.raises(FileError, match="this file is incomplete or damaged"):
            from_safetensors(whole[:end])
