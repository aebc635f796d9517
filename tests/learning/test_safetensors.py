"""The format is theirs: files go both ways, and what is broken is refused in one line."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load, save

from learning.safetensors import DTYPES, FileError, from_safetensors, to_safetensors

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name != "__metadata__"
)
ARRAYS = st.dictionaries(
    NAMES,
    st.sampled_from(sorted(DTYPES.values())).flatmap(
        lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0))
    ),
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
        (b"", "too short"),
        (struct.pack("<Q", 2**63) + b"{}", "its header would have"),
        (packed(b"{"), "no JSON"),
        (packed(b"\xff"), "no JSON"),
        (packed(b"[" * 100_000), "no JSON"),
        (packed([]), "has no names"),
        (packed({"__metadata__": {"a": 1}}), "is no text"),
        (packed({"a": 3}), "does not say"),
        (packed({"a": said([1], 0, 4, "F8")}, bytes(4)), "no array of ours"),
        (packed({"a": said([1], 0, 4, [])}, bytes(4)), "no array of ours"),
        (packed({"a": said([10**9], 0, 4 * 10**9)}), "not where they should be"),
        (packed({"a": said([10**9], 0, 4)}, bytes(4)), "cannot be"),
        (packed({"a": said([-1], 0, -4)}), "cannot be"),
        (packed({"a": said([True], 0, 4)}, bytes(4)), "cannot be"),
        (packed({"a": said([1.0], 0, 4)}, bytes(4)), "cannot be"),
        (packed({"a": said([1] * 100, 0, 4)}, bytes(4)), "cannot be"),
        (packed({"a": said([1], 0, 4), "b": said([1], 0, 4)}, bytes(4)), "not where they should be"),
        (packed({"a": said([1], 4, 8)}, bytes(8)), "not where they should be"),
        (packed({"a": said([1], 0, 4)}, bytes(8)), "belong to nothing"),
    ],
)
def test_what_is_broken(data, words):
    with pytest.raises(FileError, match=words):
        from_safetensors(data)


def test_a_cut_file_is_refused_wherever_it_is_cut():
    whole = to_safetensors({"a": np.arange(6.0).reshape(2, 3)}, {"about": "words"})
    for end in range(len(whole)):
        with pytest.raises(FileError):
            from_safetensors(whole[:end])


def test_what_it_cannot_write():
    with pytest.raises(ValueError, match="a has the dtype bool"):
        to_safetensors({"a": np.zeros(2, dtype=bool)})
