import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from learning.datasets import DataSet, spiral
from learning.file_error import FileError
from learning.film import Film, from_npz, key, to_npz
from learning.network import MIDDLES, Network
from learning.weights import MAX_LINK_CHARACTERS, network_of, weights_text

NETWORK, STEPS = Network(2, 3, 2, 1), np.array([0, 10, 25, 100])


def made(network=NETWORK, data=None, **changes):
    rng = np.random.default_rng(0)
    data = data or spiral(20, turns=1, noise=0, seed=0)
    accuracy = np.array([[0.5, 0.6, 0.99, 1.0], [0.5, 0.99, 0.7, 0.8], [0.4, 0.5, 0.6, 1.0]])
    loss = np.array([[0.7, 0.6, 0.2, 0.1], [0.7, 0.5, 0.6, 0.4], [0.8, 0.6, 0.5, 0.05]])
    weights = rng.normal(size=(3, 4, network.parameter_count))
    ended = ("", "diverged at step 100", "")
    fields = {"loss": loss, "accuracy": accuracy, "ended": ended, "settings": {"lr": 0.01, "seed": 0}}
    return Film(**{"network": network, "data": data, "steps": STEPS, "weights": weights, **fields, **changes})


def with_pictures():
    rng = np.random.default_rng(1)
    points, labels = rng.random((6, 4)) - 0.5, np.arange(6) % 3
    data = DataSet(points, labels, 3, "digits", rng.integers(0, 256, (6, 2, 2), dtype=np.uint8))
    return made(Network(4, 5, 2, 3, widths=(5, 3)), data, test_accuracy=np.full((3, 4), 0.25))


@pytest.mark.parametrize("film", [made(), with_pictures()], ids=["plain", "pictures"])
def test_a_file_gives_the_same_film_back(film):
    again = from_npz(to_npz(film))
    assert key(again) == key(film) and again.network == film.network and again.ended == film.ended
    np.testing.assert_array_equal(again.weights, film.weights)
    np.testing.assert_array_equal(again.data.points, film.data.points)
    assert again.weights.dtype == np.float32 and again.settings == film.settings
    assert to_npz(again) == to_npz(film)


def test_half_a_character_in_the_settings_comes_back():
    film = made(settings={"\ud800": "\udfff"})
    assert from_npz(to_npz(film)).settings == film.settings


def test_half_precision_is_near():
    film = made()
    again = from_npz(to_npz(film, half=True))
    np.testing.assert_allclose(again.weights, film.weights, rtol=2**-11)  # float16 has 11 bits
    assert len(to_npz(film, half=True)) < len(to_npz(film))


def test_the_key_changes_with_what_the_film_holds():
    film, weights = made(), made().weights.copy()
    weights[0, 0, 0] += 1
    others = [replace(film, weights=weights), replace(film, settings={"lr": 0.02}), with_pictures()]
    assert len({key(film), *map(key, others)}) == 4 and key(made()) == key(film)


def test_solved_steps_to_and_best():
    film = made()
    assert film.solved().tolist() == [True, False, True] and film.solved(0.8).all()
    np.testing.assert_array_equal(film.steps_to(0.99), [25, 10, 100])
    np.testing.assert_array_equal(film.steps_to(1), [100, np.nan, 100])
    assert film.best() == 2  # the lower loss of two with the same accuracy


def test_the_pipeline_of_a_seed_follows_the_step():
    film = made()
    x = film.data.points.astype(float)
    for k, step in enumerate(STEPS):
        want = NETWORK.pipeline(film.weights[1, k].astype(float)).stages(x)
        got = film.pipeline(1).stages(x, {"step": float(step)})
        np.testing.assert_allclose(got[-1], want[-1], atol=1e-12)
    halfway = NETWORK.pipeline(film.weights[1, 1:3].astype(float).mean(0)).stages(x)
    np.testing.assert_allclose(film.pipeline(1).stages(x, {"step": 17.5})[-1], halfway[-1], atol=1e-12)
    assert film.pipeline(1).parameters == {"step"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": np.array([0, 10, 10, 20])}, "increase"),
        ({"steps": np.array([0, 10, 2**53, 2**53 + 1])}, "at most"),  # as floats the last two are equal
        ({"steps": np.array([-1, 10, 11, 20])}, "from 0 on"),
        ({"steps": np.array([0, 0.5, 1, 2])}, "whole"),
        ({"steps": np.array([0, 1, 2])}, "shape"),
        ({"weights": np.zeros((3, 4, 24))}, "shape"),
        ({"weights": np.zeros((0, 4, 25))}, "shape"),
        ({"weights": np.full((3, 4, 25), np.nan)}, "not finite"),
        ({"weights": np.full((3, 4, 25), 1e300)}, "not finite"),
        ({"weights": np.full((3, 4, 25), -2e6)}, r"1e\+06"),
        ({"loss": np.zeros((3, 3))}, "shape"),
        ({"loss": np.full((3, 4), -1.0)}, "negative"),
        ({"accuracy": np.full((3, 4), 1.5)}, "0 … 1"),
        ({"test_accuracy": np.full((3, 4), -0.1)}, "0 … 1"),
        ({"ended": ("", "")}, "3 seeds"),
        ({"ended": ("", "", 3)}, "words"),
        ({"settings": {"lr": [1]}}, "settings"),
        ({"settings": {"lr": float("inf")}}, "settings"),
        *[
            ({"settings": {"steps": steps}}, "whole number, 0 … 1,000,000")
            for steps in ("abc", None, True, 2.0, -1, 1_000_001, 10**400)
        ],
        ({"data": DataSet(np.zeros((4, 3)), [0, 1, 0, 1], 2, "other")}, "3 inputs and 1 outputs"),
        ({"data": DataSet(np.zeros((4, 2)), [0, 1, 2, 1], 3, "other")}, "2 inputs and 3 outputs"),
    ],
)
def test_what_is_no_film(changes, message):
    with pytest.raises(FileError, match=message):
        made(**changes)


def archive(**changes):
    """A film's file, as bytes; `changes` replace members by arrays or raw bytes, and None leaves one out."""
    with zipfile.ZipFile(io.BytesIO(to_npz(made()))) as file:
        members = {info.filename: file.read(info) for info in file.infolist()}
    members |= {f"{name}.npy": saved(value) for name, value in changes.items() if value is not None}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            if name.removesuffix(".npy") not in changes or changes[name.removesuffix(".npy")] is not None:
                file.writestr(name, data)
    return out.getvalue()


def saved(value):
    if isinstance(value, bytes):
        return value
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def meta(**changes):
    return as_bytes(json.dumps(meta_of(made()) | {"ended": [""] * 3, "settings": {}} | changes))


def meta_of(film):
    """The metadata of a film's file."""
    return json.loads(np.load(io.BytesIO(to_npz(film)))["meta"].tobytes())


def as_bytes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


PROMISES = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(128)
    + b"\n"
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "npz"),
        (b"PK\x03\x04 and then nothing", "npz"),
        (b"\x89PNG\r\n\x1a\n" * 100, "npz"),
        (to_npz(made())[:-200], "npz"),
        (bytes(35 * 2**20), "34 MiB"),
        (archive(extra=np.zeros(3)), "contains 'extra', which is no part of a run"),
        (archive(meta=None), "no member meta.npy"),
        (archive(steps=None), "no steps"),
        (archive(weights=None, loss=None), "no weights, loss"),
        (archive(steps=np.array([None])), "'steps' of this run does not consist of numbers"),
        (archive(steps=b"no array"), "not a NumPy array"),
        (archive(steps=PROMISES), "1,000,000,000,000 numbers"),
        (archive(steps=np.array(["a"])), "not consist of numbers"),
        (archive(weights=np.zeros((3, 4, 25), complex)), "not consist of numbers"),
        (archive(labels=np.full(20, 7)), "labels are 0 … 1"),
        (archive(labels=np.full(20, 0.5)), "whole"),
        (archive(points=np.full((20, 2), np.inf)), "not finite"),
        (archive(points=np.zeros((20, 5))), "5 inputs"),
        (archive(images=np.full((20, 2, 2), 256)), "0 … 255"),
        (archive(meta=np.frombuffer(b"not json", np.uint8)), "JSON"),
        (archive(meta=np.frombuffer(b"[1]", np.uint8)), "not a run saved by Normscape"),
        (archive(meta=np.frombuffer(b"[" * 50_000, np.uint8)), "JSON"),
        (archive(meta=meta(format="other")), "not a run saved by Normscape"),
        (archive(meta=meta(version=2)), "another version; this one reads 1"),
        (archive(meta=meta(version="1")), "another version"),
        (archive(meta=meta(settings={"lr": float("nan")})), "JSON"),
        (json.dumps(meta_of(made())).encode(), "npz"),
        (archive(meta=meta(network={"inputs": 2})), "damaged"),
        (archive(meta=meta(network=None)), "damaged"),
        (archive(meta=meta(data={"name": "x", "classes": "2"})), "damaged"),
        (archive(meta=meta(ended="abc")), "how its seeds ended"),
    ],
)
def test_what_is_no_archive_of_a_film(data, message):
    with pytest.raises(FileError, match=message):
        from_npz(data)


def test_an_archive_is_not_decompressed_beyond_the_limit():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("meta.npy", bytes(40 * 2**20))
    assert len(out.getvalue()) < 2**20
    with pytest.raises(FileError, match="meta of this run is too large"):
        from_npz(out.getvalue())


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize("network", [NETWORK, Network(3, 1, 0, 1), Network(2, 5, 3, 4, widths=(5, 3, 8))])
def test_a_network_fits_into_a_link(network, middle):
    network = replace(network, middle=middle, eps=0.1)
    flat = np.random.default_rng(0).normal(size=network.parameter_count).astype(np.float32)
    text = weights_text(network, flat)
    again, numbers = network_of(text)
    assert again.dimensions == network.dimensions and (again.middle, again.eps) == (middle, 0.1)
    np.testing.assert_array_equal(numbers, flat)
    assert text.isascii() and not set(text) & set("+/=&?#%")


def test_the_link_of_a_small_network_is_short():
    assert len(weights_text(NETWORK, np.ones(25))) < 250
    assert network_of(weights_text(NETWORK, np.ones(25)))[0] == NETWORK


def test_a_large_network_does_not_fit():
    network = Network(64, 32, 2, 10)
    with pytest.raises(FileError, match="too large for a link"):
        weights_text(network, np.zeros(network.parameter_count))
    with pytest.raises(FileError, match="25 parameters"):
        weights_text(NETWORK, np.zeros(24))
    with pytest.raises(FileError, match="not finite"):
        weights_text(NETWORK, np.full(25, np.inf))


def test_what_is_no_network_in_a_link():
    with pytest.raises(FileError, match=r"1e\+06"):
        network_of(weights_text(NETWORK, np.full(25, 2e6)))
    text = weights_text(NETWORK, np.ones(25))
    cut = [text[:k] for k in range(len(text))]
    changed = [text[:k] + ("A" if text[k] != "A" else "B") + text[k + 1 :] for k in range(len(text) - 1)]
    for bad in [*cut, *changed, "ä" * 100, "=" * 8, " " + text, text + "\n", "A" * (MAX_LINK_CHARACTERS + 1)]:
        with pytest.raises(FileError):
            network_of(bad)
