"""Each number of a report a second way, and what it must be where that is known."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from geometry.ellipsoid import semi_axes
from learning.recording.analysis import COLUMNS, effective_rank, lost, measured, row, verdict
from learning.recording.report import text, to_csv, to_json, told
from tests.learning.recording.norms import norm, recording

CLOSE = {"rtol": 1e-6, "atol": 1e-9}  # vectors are stored in single precision


def test_energy_size_and_deviation_are_those_of_the_definition():
    one = norm(n=40, eps=0.01)
    x, found = one.x.astype(float), row(one)
    share = x.shape[1] * x.mean(1) ** 2 / (x**2).sum(1)
    np.testing.assert_allclose(found["share"], np.median(share), **CLOSE)
    np.testing.assert_allclose(found["share_high"], np.percentile(share, 95), **CLOSE)
    np.testing.assert_allclose(found["sigma"], np.median(x.std(1)), **CLOSE)
    np.testing.assert_allclose(found["size_high"], np.percentile(np.sqrt((x**2).sum(1)), 75), **CLOSE)
    np.testing.assert_allclose(found["eps_share"], np.median(0.01 / (x.var(1) + 0.01)), **CLOSE)
    np.testing.assert_allclose(
        row(norm(kind="rms_norm", n=40))["sigma"], np.median(np.sqrt((x**2).mean(1))), **CLOSE
    )


def test_without_gain_the_turn_is_the_angle_to_the_hyperplane():
    """cos² of it is what centring leaves of the energy."""
    d = 8
    plain = norm(d=d, n=30, eps=0.0, gamma=np.ones(d, np.float32), beta=np.zeros(d, np.float32))
    found, x = row(plain), plain.x.astype(float)
    share = d * x.mean(1) ** 2 / (x**2).sum(1)
    np.testing.assert_allclose(found["turn"], np.degrees(np.median(np.arcsin(np.sqrt(share)))), **CLOSE)


def test_vectors_without_a_mean_are_not_turned_at_all():
    x = np.array([[1, -1, 2, -2], [3, -3, 0, 0]], np.float32)
    level = row(norm(d=4, n=2, x=x))
    assert level["share_high"] == level["turn_high"] == 0
    (line,) = [each for each in verdict([level]) if each.name == "level"]
    assert line.value == 1


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_axes_are_those_of_the_decomposition(kind):
    one = norm(kind=kind, d=9)
    found, axes = row(one), np.asarray(semi_axes(one.gamma.astype(float), centered=kind == "layer_norm")[0])
    np.testing.assert_allclose(
        [found[f"axis_{name}"] for name in ("long", "middle", "short")],
        [axes[0], axes[len(axes) // 2], axes[-1]],
        **CLOSE,
    )
    assert found["flat"] == (kind == "layer_norm")
    thin = norm(kind=kind, d=9, gamma=np.array([1, 2, 1, 1e-3, 1, 0, 1, 1, 1], np.float32))
    assert row(thin)["flat"] == 2 if kind == "rms_norm" else 3


def test_groups_are_blocks():
    one, halves = norm(kind="group_norm", groups=2, d=8, n=30), []
    for part in (slice(0, 4), slice(4, 8)):
        cut = {name: getattr(one, name)[part] for name in ("gamma", "beta")}
        halves.append(norm(d=4, n=30, x=one.x[:, part], **cut))
    np.testing.assert_allclose(one.output(one.x), np.hstack([h.output(h.x) for h in halves]), **CLOSE)
    found, each = row(one), [row(half) for half in halves]
    assert found["flat"] == 2
    np.testing.assert_allclose(found["axis_long"], max(e["axis_long"] for e in each), **CLOSE)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("shape", [(200, 12), (12, 200)])
def test_the_rank_of_an_even_cloud_is_its_dimension(shape, k):
    """An orthogonal frame, each end and its opposite: k singular values, all the same."""
    frame = np.linalg.qr(np.random.default_rng(0).normal(size=(shape[1], k)))[0].T
    cloud = np.vstack([frame, -frame] * (1 + shape[0] // 20)) + 3
    np.testing.assert_allclose(effective_rank(cloud), k, rtol=1e-6)
    assert effective_rank(np.ones(shape)) == effective_rank(np.zeros(shape)) == 0


def test_the_rank_is_that_of_the_singular_values():
    x = np.random.default_rng(1).normal(size=(30, 7)) * np.arange(1, 8)
    s = np.linalg.svd(x - x.mean(0))[1]
    p = s / s.sum()
    np.testing.assert_allclose(effective_rank(x), np.exp(-(p * np.log(p)).sum()), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(40, 3), (40, 6), (6, 20), (30, 28), (1, 4)])
def test_lost_keys_are_averages_of_the_others(n, d):
    """By least squares with weights that are not negative: another library, another method."""
    keys = np.random.default_rng(n).normal(size=(n, d))
    keys[n // 2 :] = keys[: n - n // 2] if n == 6 else keys[n // 2 :]  # doubled ones are lost
    count = 0
    for k in range(n):
        away = np.delete(keys, k, axis=0) - keys[k]
        matrix = np.vstack([away.T, np.ones(len(away))]) if len(away) else np.ones((1, 1))
        count += bool(len(away)) and nnls(matrix, np.append(np.zeros(len(matrix) - 1), 1.0))[1] < 1e-9
    assert lost(keys) == count


def test_on_a_sphere_no_key_is_lost():
    many = row(norm(n=100, d=4, eps=0.0))
    assert many["keys"] == 60 and many["lost_before"] > 20 and many["lost_after"] == 0


@given(
    st.floats(-(2.0**100), 2.0**100, width=32),
    st.sampled_from(["layer_norm", "rms_norm", "group_norm"]),
    st.integers(1, 5),
)
def test_any_norm_has_a_finite_row(size, kind, n):
    x = (np.random.default_rng(n).normal(size=(n, 4)) * size).astype(np.float32)
    x[0] = size
    groups = 2 if kind == "group_norm" else 1
    for gamma in (np.zeros(4, np.float32), np.array([1, 0, -1e-20, 1e30], np.float32)):
        found = row(norm(kind=kind, groups=groups, n=n, d=4, x=x, gamma=gamma, eps=0.0))
        assert all(np.isfinite(value) for value in found.values() if not isinstance(value, str)), found
        assert found["turn"] >= 0 and 0 <= found["share"] <= 1 + 1e-9


def test_a_report_has_every_number_and_its_definition():
    rows = measured(recording())
    assert [tuple(each) for each in rows] == [tuple(column.name for column in COLUMNS)] * 2
    data = json.loads(to_json("mine", rows))
    assert data["norms"] == rows and data["definitions"].keys() == rows[0].keys()
    assert all(each["about"] and each["answer"] for each in data["verdict"])
    lines = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [float(line["turn"]) for line in lines] == [each["turn"] for each in rows]
    shown = text("mine", rows, ["x: no norm"])
    assert "h.0.ln_1" in shown and "Not recorded: x: no norm" in shown
    assert all(told(column, rows[0][column.name]) for column in COLUMNS)


@pytest.mark.parametrize("before", ["", " ", "  \u00a0", "\t", "\r", "\u3000", "\u200b", "\ufeff"], ids=ascii)
@pytest.mark.parametrize("sign", "=+-@＝＋－＠−﹢﹣﹦﹫")
def test_a_path_is_no_formula_of_a_spreadsheet(before, sign):
    path = f"{before}{sign}1+1"
    line = to_csv([{**row(norm()), "path": path}]).partition("\n")[2]
    assert line.lstrip('"').startswith(f"'{path}")


@pytest.mark.parametrize("path", ["h.0.ln_1", " h", "ｈ", "1", "π=3"])
def test_any_other_path_stays_as_it_is(path):
    assert to_csv([{**row(norm()), "path": path}]).splitlines()[1].startswith(f"{path},")
