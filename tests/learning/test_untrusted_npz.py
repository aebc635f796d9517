"""Files that are larger than a film can be are refused before they cost memory or time.

The excess can be in what a file claims, in what it unpacks to, or in the number of things that it contains.
"""

import io
import json
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from learning.file_error import FileError
from learning.film import from_npz, to_npz
from learning.untrusted_npz import MAX_META_BYTES
from tests.learning.test_film import archive, made, meta, meta_of

MB = 2**20
ROOM, SOON = 30 * MB, 1.0  # limits: bytes beyond two copies of a file, and seconds of processor time
COUNT = 2 * MB  # number of items or characters in the JSON of a bomb


def document(**texts):
    """The archive of a film, as bytes. texts: JSON texts that replace or add fields of its metadata."""
    fields = {name: json.dumps(value) for name, value in meta_of(made()).items()} | texts
    return unpacked(f"{{{','.join(f'{json.dumps(name)}:{text}' for name, text in fields.items())}}}")


def many(text, size=1):
    return f"[{','.join([text] * (COUNT // size))}]"


def unpacked(text, encoding="utf-8"):
    return archive_of(meta=np.frombuffer(text.encode(encoding), np.uint8))


def archive_of(**changes):
    """A film's file as a compressed archive; `changes` replace members by arrays, and None leaves one out."""
    with zipfile.ZipFile(io.BytesIO(archive(**changes))) as plain:
        return packed({info.filename: plain.read(info) for info in plain.infolist()})


def packed(members, kind=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def members():
    with zipfile.ZipFile(io.BytesIO(to_npz(made()))) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def says_less():
    """An archive whose member `steps` claims 200 bytes, and unpacks to 60 MB."""
    data = packed(members() | {"steps.npy": bytes(60 * MB)})
    entry = data.rfind(b"PK\1\2", 0, data.rfind(b"steps.npy"))
    return data[: entry + 24] + struct.pack("<L", 200) + data[entry + 28 :]


def crowded():
    """An archive whose directory lists 300,000 members."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, *[0] * 8, 1, *[0] * 6) + b"a"
    count = 300_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry), 4, 0)
    return b"PK\3\4" + count * entry + end


BOMBS = {
    "meta of lists": lambda: unpacked(many("[]")),
    "meta of objects": lambda: unpacked(many("{}")),
    "black pictures": lambda: archive_of(images=np.zeros((20, 1200, 1200), np.uint8)),
    "wide pictures": lambda: archive_of(images=np.zeros((20, 450, 450), np.int64)),
    "weights": lambda: archive_of(weights=np.zeros((3, 4, 25 * 10**4))),
    "a member that says less": says_less,
    "names": crowded,
    "lists": lambda: document(settings=many("[]")),
    "objects": lambda: document(settings=many('{"":0}', 3)),
    "words": lambda: document(ended=many('"aé"', 2)),
    "a long version": lambda: document(version=f'"{"a" * COUNT}"'),
    "a long word": lambda: document(settings=f'{{"a":"{"a" * COUNT}"}}'),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_goes_off(name):
    data = BOMBS[name]()
    tracemalloc.start()
    start = time.thread_time()
    try:
        with pytest.raises(FileError) as refused:
            from_npz(data)
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data) + ROOM
    finally:
        tracemalloc.stop()
    assert time.thread_time() - start < SOON
    assert len(str(refused.value)) < 10_000


def header(text):
    text = text.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


def shaped(shape, kind="<f8"):
    return header(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}")


def changed(data, mark, offset, new):
    at = data.find(mark) + offset
    return data[:at] + new + data[at + len(new) :]


def renamed(old, new):
    return packed({(new if name == old else name): data for name, data in members().items()})


def lzma_broken():
    data = packed(members(), zipfile.ZIP_LZMA)
    return changed(data, b"PK\3\4", 60, b"\xff" * 40)


NET = meta_of(made())["network"]
DEEP = "[" * 900 + "]" * 900
HUGE = "1" + "0" * 30

FAULTS = {
    "a member without .npy": lambda: renamed("steps.npy", "steps"),
    "meta without .npy": lambda: renamed("meta.npy", "meta"),
    "a missing member": lambda: packed({n: d for n, d in members().items() if n != "loss.npy"}),
    "nothing": lambda: packed({}),
    "corrupt LZMA": lzma_broken,
    "BZIP2": lambda: packed(members(), zipfile.ZIP_BZIP2),
    "a negative seek": lambda: changed(archive(), b"PK\5\6", 16, b"\xff\xff\xff\x00"),
    "a name that is no UTF-8": lambda: changed(
        changed(archive(), b"PK\1\2", 8, b"\0\x08"), b"PK\1\2", 46, b"\xff"
    ),
    "an encrypted member": lambda: changed(archive(), b"PK\1\2", 8, b"\1\0"),
    "eps of 10^400": lambda: archive(meta=meta(network=NET | {"eps": 10**400})),
    "eps of 10^400 in JSON": lambda: document(network=json.dumps(NET | {"eps": 10**400})),
    "eps that is true": lambda: document(network=json.dumps(NET | {"eps": True})),
    "a shape (10^30, 0)": lambda: archive(steps=shaped(f"({HUGE}, 0)")),
    "a shape (-1, -8)": lambda: archive(steps=shaped("(-1, -8)") + bytes(64)),
    "pictures without a width": lambda: archive(images=shaped(f"(20, {10**9}, 0)", "|u1")),
    "9,000 minus signs": lambda: archive(steps=header("-" * 9000 + "1")),
    "400 minus signs": lambda: archive(steps=header("-" * 400 + "1")),
    "400 brackets": lambda: archive(steps=header("(" * 400)),
    "a deep version": lambda: document(version=DEEP),
    "a deep depth": lambda: document(network=json.dumps(NET).replace('"depth": 2', f'"depth": {DEEP}')),
    "deep data": lambda: document(data=DEEP),
    "many classes": lambda: document(data=f'{{"name":"x","classes":1{"0" * 4299}}}'),
    "too much beside the numbers": lambda: document(settings=json.dumps({"a": "b" * MAX_META_BYTES})),
    "JSON in UTF-16": lambda: unpacked(json.dumps(meta_of(made())), "utf-16"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_file_is_refused_in_words(name):
    data = FAULTS[name]()
    with pytest.raises(FileError, match=r"\w"):
        from_npz(data)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a member without .npy", "is not named like an array"),
        ("too much beside the numbers", "more than 64 KiB beside its numbers"),
    ],
)
def test_a_message_names_the_fault(name, message):
    with pytest.raises(FileError, match=message):
        from_npz(FAULTS[name]())


def test_an_archive_of_many_members_is_told_by_their_number():
    with pytest.raises(FileError, match="more than 20 members"):
        from_npz(crowded())


def test_arrays_come_as_they_were_written():
    """Arrays in column order, or with the other byte order, are read correctly."""
    film = made()
    turned = np.asfortranarray(film.weights.astype(">f8"))
    np.testing.assert_array_equal(from_npz(archive(weights=turned)).weights, film.weights)
