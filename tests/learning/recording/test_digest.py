"""A digest keeps at most seven coordinates of each vector, and gives the same picture as whole vectors."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from geometry import Affine, Normalize, Pipeline
from learning.file_error import FileError
from learning.recording import digest as digests
from learning.recording.checked import opened
from learning.recording.digest import digest, from_digest, reduced, save, to_file, widest
from tests.learning.recording.norms import norm, recording

CLOSE = {"rtol": 0, "atol": 2e-5}  # single precision, of coordinates near 10


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize(("n", "d"), [(40, 3), (40, 4), (30, 7), (20, 300), (1, 5), (3, 2)])
def test_what_is_displayed_is_what_the_vectors_show(kind, n, d):
    own = norm(kind=kind, n=n, d=d, eps=0.05)
    few = reduced(own)
    m = few.points.shape[1]
    assert m <= 7
    centre = np.diag([float(not (k == 2 and few.centres)) for k in range(m)])
    steps = (Affine(centre), Normalize(sqrt(d), d * few.eps), Affine(few.gain), Affine(np.eye(3), few.shift))
    stages = Pipeline(steps).stages(few.points.astype(float), {})

    x, up = own.x.astype(float), np.full(d, 1 / sqrt(d))
    plain = norm(kind=kind, n=n, d=d, eps=0.05, gamma=np.ones(d, "f4"), beta=np.zeros(d, "f4")).output(x)
    directions = np.vstack([widest(plain, up), up])
    if d == 2:
        directions = np.insert(directions, 1, 0, axis=0)
    level = x - x.mean(1, keepdims=True) * few.centres
    for stage, want in zip(stages, [x, level, plain, own.gamma * plain, own.output(x)], strict=True):
        np.testing.assert_allclose(stage[:, :3], want @ directions.T, **CLOSE)
    np.testing.assert_allclose(np.linalg.norm(stages[0], axis=1), np.linalg.norm(x, axis=1), rtol=1e-5)


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)])
def test_directions_are_the_principal_ones_of_the_hyperplane(shape):
    u = np.random.default_rng(0).normal(size=shape) * np.linspace(1, 5, shape[1])
    up = np.full(shape[1], 1 / sqrt(shape[1]))
    got = widest(u, up)
    away = u - u.mean(0)
    away -= np.outer(away @ up, up)
    want = np.linalg.svd(away)[2][:2]
    np.testing.assert_allclose(np.abs(got @ want.T), np.eye(2), atol=1e-6)
    np.testing.assert_allclose(got @ up, 0, atol=1e-9)


def test_vectors_that_are_all_the_same_have_directions_too():
    for x in (np.ones((4, 5)), np.zeros((4, 5)), np.tile([1.0, 2, 3, 4, 5], (4, 1))):
        assert np.isfinite(reduced(norm(n=4, d=5, x=x.astype("f4"))).points).all()


def test_of_a_groupnorm_the_first_group_is_shown():
    both = norm(kind="group_norm", groups=2, d=8)
    half = norm(d=4, x=both.x[:, :4], gamma=both.gamma[:4], beta=both.beta[:4])
    np.testing.assert_allclose(reduced(both).points, reduced(half).points)


def test_a_digest_comes_back(tmp_path):
    found = digest(recording())
    back = from_digest(to_file(found))
    assert (back.name, back.words) == (found.name, found.words)
    same_rows(back.rows, found.rows)
    for a, b in zip(found.norms, back.norms, strict=True):
        np.testing.assert_array_equal(a.points, b.points)
        np.testing.assert_array_equal(a.gain, b.gain)
    (tmp_path / "digest").write_bytes(to_file(found))
    recording().save(tmp_path / "recording")
    same_rows(opened(tmp_path / "digest").rows, found.rows)
    assert digest(opened(tmp_path / "recording")).rows == found.rows
    assert from_digest(to_file(back)).rows == back.rows, "it has been rounded once"


def test_a_digest_of_an_older_version_is_refused_in_one_line(tmp_path):
    found = digest(recording())
    rows = [{name: value for name, value in row.items() if name != "turn_scaled"} for row in found.rows]
    (tmp_path / "older").write_bytes(to_file(replace(found, rows=rows)))
    with pytest.raises(FileError, match=r"older: this reduced recording lacks the columns turn_scaled$"):
        opened(tmp_path / "older")


def same_rows(got, want):
    """Assert that two digests, `got` and `want`, have equal rows, up to the digits that a file keeps."""
    for a, b in zip(got, want, strict=True):
        assert a == {name: pytest.approx(x, rel=1e-6) if isinstance(x, float) else x for name, x in b.items()}


def test_a_digest_keeps_the_massive_vectors_and_the_same_others_in_all_norms():
    x = np.random.default_rng(0).normal(size=(200, 8)).astype("f4")
    long = x.copy()
    long[[5, 77]] *= 100
    many = [norm("a", n=200, d=8, x=x), norm("b", n=200, d=8, x=long), norm("c", n=50, d=8)]
    found = digest(recording(*many), vectors=20)
    assert [len(each.points) for each in found.norms] == [20, 20, 20]
    np.testing.assert_array_equal(found.norms[0].position, found.norms[1].position)
    assert {5, 77} <= set(found.norms[0].position.tolist())
    whole = digest(recording(*many))
    assert [row["vectors"] for row in found.rows] == [200, 200, 50] and found.rows == whole.rows
    np.testing.assert_array_equal(whole.norms[0].points[found.norms[0].position], found.norms[0].points)
    few = digest(recording(many[1]), vectors=2)
    assert set(few.norms[0].position.tolist()) & {5, 77} == {5}, "half of the vectors at most are massive"


def test_a_recording_that_is_too_large_for_a_page_is_saved_as_its_digest(tmp_path, monkeypatch):
    own = recording(norm("a", n=300, d=8), norm("b", n=300, d=8, seed=1))
    assert not save(own, tmp_path / "small")
    monkeypatch.setattr(digests, "MAX_UPLOAD_BYTES", 9_000)
    monkeypatch.setattr(digests, "MAX_SHOWN_VECTORS", 40)
    assert save(own, tmp_path / "large") and not save(own, tmp_path / "full", full=True)
    assert len(opened(tmp_path / "small").norms[0].x) == len(opened(tmp_path / "full").norms[0].x) == 300
    reduced = opened(tmp_path / "large")
    assert len(reduced.norms[0].points) == 40 and reduced.rows[0]["vectors"] == 300
