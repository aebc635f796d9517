"""A saved recording is read back unchanged; any other file is refused in one line."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.file_error import FileError
from learning.recording.recording import MAX_EPS, NORM_FIELDS, PARTS, from_file, to_file
from learning.safetensors import from_safetensors, to_safetensors
from tests.learning.recording.norms import norm, recording

DATA = to_file(recording())


def refused(data):
    """The message with which `from_file` refuses the bytes `data`; None for a valid recording.

    Asserts that the message is one line of less than 400 characters.
    """
    try:
        from_file(data)
    except FileError as problem:
        assert "\n" not in str(problem) and 0 < len(str(problem)) < 400
        return str(problem)
    return None


def changed(arrays=None, gone=(), **about):
    """The bytes of DATA, a recording's file, after changes.

    arrays: {name: array} to replace or add. gone: names of arrays to remove. about: fields of the
    metadata to replace.
    """
    own, meta = from_safetensors(DATA)
    meta["about"] = json.dumps(json.loads(meta["about"]) | about)
    return to_safetensors({k: v for k, v in {**own, **(arrays or {})}.items() if k not in gone}, meta)


def said(k=0, **parts):
    """The metadata of all norms of DATA. parts: new values of fields of norm k."""
    norms = json.loads(from_safetensors(DATA)[1]["about"])["norms"]
    norms[k] |= parts
    return norms


def test_what_was_saved_comes_back(tmp_path):
    path, own = tmp_path / "mine.safetensors", recording()
    own.save(path)
    back = from_file(path.read_bytes())
    assert (back.name, back.words, back.skipped) == (own.name, own.words, own.skipped)
    for a, b in zip(own.norms, back.norms, strict=True):
        assert all(getattr(a, each) == getattr(b, each) for each in NORM_FIELDS)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    theirs = safetensors.numpy.load_file(path)  # the standard package reads it
    np.testing.assert_array_equal(theirs["ln_f/x"], own.norms[1].x)


def test_an_empty_file_is_none():
    with pytest.raises(FileError, match="this file is empty"):
        from_file(b"")


def zipped(data):
    """A compressed zip archive, as bytes, whose member x.npy contains `data`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", data)
    return file.getvalue()


BIG = "h.0.ln_1/x"
HOSTILE = {
    "nothing": (b"", "this file is empty"),
    "a zip bomb": (zipped(bytes(10**7)), "not a safetensors file"),
    "a pickle": (b"\x80\x04\x95" + bytes(100), "not a safetensors file"),
    "a bomb": (struct.pack("<Q", 2**21) + b'{"a":' + b"[" * (2**21 - 5), "recursion limit"),
    "truncated": (DATA[:-1], "its size is not"),
    "more": (DATA + b"\0", "its size is not"),
    "weights": (safetensors.numpy.save({"w": np.zeros(3)}), "not a recording made by"),
    "a billion vectors": (
        to_file(recording()).replace(b'"shape":[9,6],"data', b'"shape":[999999999,6],"data', 1),
        "valid JSON|cannot be|header",
    ),
    "claims": (changed(norms=said(seen=10**9), arrays={BIG: np.zeros((0, 6), "f4")}), "1 to 2,000 vectors"),
    "no vectors": (changed({BIG: np.zeros((0, 6), "f4")}), "1 to 2,000 vectors"),
    "too many": (changed({BIG: np.zeros((2001, 6), "f4")}), "1 to 2,000 vectors"),
    "flat": (changed({BIG: np.zeros(54, "f4")}), "1 to 2,000 vectors"),
    "another width": (changed({BIG: np.zeros((9, 7), "f4")}), "but .9, 6. is expected"),
    "wide": (changed({"h.0.ln_1/gamma": np.zeros(8193, "f4")}), "2 to 8,192 numbers"),
    "a number": (changed({"h.0.ln_1/gamma": np.zeros((), "f4")}), "2 to 8,192 numbers"),
    "integers": (changed({BIG: np.zeros((9, 6), "i8")}), "data type int64"),
    "places": (changed({"ln_f/position": np.zeros(9, "f4")}), "data type float32"),
    "a place too far": (changed({"ln_f/position": np.full(9, -(2**31) - 1)}), "is not within ±"),
    "NaN": (changed({BIG: np.full((9, 6), np.nan, "f4")}), "NaN or infinity"),
    "∞": (changed({"ln_f/beta": np.full(6, np.inf, "f4")}), "NaN or infinity"),
    "an array less": (changed(gone=["ln_f/beta"]), "not the 12 that"),
    "an array more": (changed({"other": np.zeros(3)}), "not the"),
    "a norm twice": (
        changed(norms=said(1, path="h.0.ln_1"), gone=[f"ln_f/{part}" for part in PARTS]),
        "the same name",
    ),
    "no norms": (changed(norms=[]), "not the"),
    "not norms": (changed(norms={}), "list of norms"),
    "many norms": (changed(norms=said() * 501), "1 to 1,000"),
    "a part less": (changed(norms=[{"path": "ln_f"}]), "must have the fields"),
    "a path": (changed(norms=said(path=["h"])), "not the"),
    "an unseen path": (
        changed(
            {f"\x1b[2J/{part}": np.zeros(1) for part in PARTS}, norms=[*said(), *said(path="\x1b[2J")[:1]]
        ),
        "printable",
    ),
    "a kind": (changed(norms=said(kind="batch_norm")), "of the kind 'batch_norm'"),
    "an unhashable kind": (changed(norms=said(kind=["layer_norm"])), "of the kind"),
    "a negative ε": (changed(norms=said(eps=-1e-5)), "ε of"),
    "a large ε": (changed(norms=said(eps=2 * MAX_EPS)), "ε of"),
    "a huge ε": (changed(norms=said(eps=10**400)), "ε of"),
    "a text ε": (changed(norms=said(eps="0")), "ε of"),
    "a true ε": (changed(norms=said(eps=True)), "ε of"),
    "ε is NaN": (changed(norms=said(eps=float("nan"))), "not valid JSON"),
    "groups": (changed(norms=said(groups=3)), "not a GroupNorm"),
    "groups that do not fit": (changed(norms=said(groups=4, kind="group_norm")), "split into 4"),
    "groups of one": (changed(norms=said(groups=6, kind="group_norm")), "split into 6"),
    "groups of nothing": (changed(norms=said(groups=0)), "split into 0"),
    "half a group": (changed(norms=said(groups=0.5)), "split into 0.5"),
    "seen less": (changed(norms=said(seen=8)), "so 8 cannot be"),
    "words": (changed(words=[]), "words of the tokens are missing"),
    "many words": (changed(words={str(k): "" for k in range(20_001)}), "20,000"),
    "a word's number": (changed(words={"a": "b"}), "by token number"),
    "a word of numbers": (changed(words={"1": 2}), "not text"),
    "a name": (changed(name=3), "not text"),
    "skipped": (changed(skipped="all"), "skipped norms"),
}


@pytest.mark.parametrize(("data", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(data, words):
    with pytest.raises(FileError, match=words) as refusal:
        from_file(data)
    assert "\n" not in str(refusal.value)


def test_a_claim_builds_nothing():
    """A file whose header claims 10⁹ vectors, which it does not contain, is refused as damaged."""
    length = struct.unpack("<Q", DATA[:8])[0]
    header = DATA[8 : 8 + length].replace(b"[9,6]", b"[1000000000,6]", 1)
    assert "damaged" in refused(struct.pack("<Q", len(header)) + header + DATA[8 + length :])


@given(st.data())
def test_a_file_with_other_bytes(data):
    """A file in which random bytes are replaced is read, or refused in one line.

    Many of the bytes are near the beginning, where names, shapes and offsets are.
    """
    raw = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1) | st.integers(0, 1200))
        new = data.draw(
            st.sampled_from([b"\xff\xff\xff\x7f", b"999999", b"-1", b"[[", b'"']) | st.binary(max_size=4)
        )
        raw[at : at + len(new)] = new
    refused(bytes(raw))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.sampled_from(["name", "norms", "words", "skipped"]), JSON)
def test_anything_may_be_said(part, value):
    refused(changed(**{part: value}))


@given(st.integers(0, 1), st.sampled_from(sorted(NORM_FIELDS)), JSON)
def test_anything_may_be_said_of_a_norm(k, part, value):
    refused(changed(norms=said(k, **{part: value})))


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm", "group_norm"])
@pytest.mark.parametrize("x", [0.0, 3.4e38, 1e-45, -1e30])
def test_vectors_of_any_size_have_an_output(kind, x):
    extreme = norm(kind=kind, groups=2 if kind == "group_norm" else 1, x=np.full((9, 6), x, np.float32))
    assert np.isfinite(extreme.output(extreme.x)).all()
