"""Each number of a report, computed in a second way, and its value in known cases."""

import csv
import io
import json
import re
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from learning.convert.effect import Effect
from learning.recording.analysis import (
    COLUMNS,
    EFFECT_COLUMNS,
    effective_rank,
    isotropic_angle,
    lost,
    measured,
    row,
    with_effects,
)
from learning.recording.massive import places
from learning.recording.recording import Recording
from learning.recording.report import formatted, text, to_csv, to_json
from learning.recording.verdict import verdict
from tests.geometry.closed_forms import semi_axes
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


# --- the columns' definitions


def divisors():
    """The column `sigma` of a report is the median, over vectors, of the number by which a norm divides.

    A LayerNorm divides by σ, an RMSNorm by the root mean square, both without ε here. A GroupNorm divides
    each group by its own σ; its number for a vector is the root of the mean of the groups' σ².
    """
    of = {"layer_norm": lambda x: x.std(1), "rms_norm": lambda x: np.sqrt((x**2).mean(1))}
    of["group_norm"] = lambda x: np.sqrt((x[:, :3].var(1) + x[:, 3:].var(1)) / 2)
    for kind, sigma in of.items():
        one = norm(kind=kind, n=40, groups=1 + (kind == "group_norm"), mean=3)
        np.testing.assert_allclose(row(one)["sigma"], np.median(sigma(one.x.astype(float))), **CLOSE)


def the_largest_weight():
    one = norm(kind="group_norm", n=40, groups=2, eps=0.1)
    small = 0.1 / (one.x.astype(float).reshape(40, 2, 3).var(2) + 0.1)
    np.testing.assert_allclose(row(one)["eps_share"], np.median(small.max(1)), **CLOSE)


def the_energy():
    one = norm(kind="group_norm", n=40, groups=2, mean=2)
    x = one.x.astype(float)
    parts = 3 * (x[:, :3].mean(1) ** 2 + x[:, 3:].mean(1) ** 2)
    np.testing.assert_allclose(row(one)["share"], np.median(parts / (x**2).sum(1)), **CLOSE)


def the_spread_of_gains():
    """The column `gain_spread` is 0 if and only if all gains have the same magnitude."""
    for gamma, none in (([2, -2, 2, 2, 2, -2], True), ([2, 2, 2, 1, 1, 1], False)):
        one = norm(kind="group_norm", groups=2, gamma=np.array(gamma, np.float32))
        assert (row(one)["gain_spread"] == 0) == none


def norms_that_centre():
    """The verdicts on centring are about the norms that centre; if there are none, about all norms."""
    rows = [row(norm(n=40, mean=2)), row(norm(n=40, mean=0)), row(norm(kind="rms_norm", n=40, mean=9))]
    for some, own in ((rows, rows[:2]), (rows[2:], rows[2:])):
        found = {each.name: each for each in verdict(some)}
        assert f" of {len(own)} norms" in found["effect"].answer
        assert found["effect"].value == np.mean([each["share_d"] < 0.455 for each in own])
        assert found["turn_median"].value == np.median([each["turn"] for each in own])
        assert f"at most {max(each['turn_high'] for each in own):.1f}°" in found["turn_median"].answer


def nearly():
    """A mean with less than 1e-10 of the squared length of vectors counts as zero in the verdict `level`.

    The column `turn` still has the angle of about 1e-5 rad by which centring turns such vectors.
    """
    x = np.random.default_rng(0).normal(size=(40, 64))
    x = x - x.mean(1, keepdims=True)
    x = x + 0.99e-5 * np.sqrt((x**2).mean(1, keepdims=True))
    one = row(
        norm(n=40, d=64, x=x.astype(np.float32), gamma=np.ones(64, np.float32), beta=np.zeros(64, np.float32))
    )
    assert {each.name: each for each in verdict([one])}["level"].value == 1
    assert 0 < one["turn"] == pytest.approx(np.degrees(0.99e-5), rel=0.05)


def the_high_weight():
    one = norm(n=40, eps=0.1)
    weights = 0.1 / (one.x.astype(float).var(1) + 0.1)
    high = np.percentile(weights, 95)
    found = {each.name: each for each in verdict([row(one)])}["eps"]
    assert found.value == pytest.approx(high) and f"at most {high:.2g} of" in found.answer
    assert weights.max() > high, "a few have more"


def the_middle():
    for d, at in ((6, 2), (7, 3)):  # five semi-axes and six
        one = norm(d=d)
        axes = np.sort(semi_axes(one.gamma.astype(float), centered=True)[0])[::-1]
        np.testing.assert_allclose(row(one)["axis_middle"], axes[at], **CLOSE)


def readers():
    """Check that removing the mean of the inputs changes the output of an RMSNorm, but not of a LayerNorm.

    The new output of the RMSNorm is that of a LayerNorm with the same parameters.
    """
    x = norm(n=40, mean=2).x
    level = x - x.mean(1, keepdims=True)
    for kind, same in (("layer_norm", True), ("rms_norm", False)):
        reader = norm(kind=kind)
        assert np.allclose(reader.output(level), reader.output(x), atol=1e-5) == same
    np.testing.assert_allclose(norm(kind="rms_norm").output(level), norm().output(x), atol=1e-5)


def isotropic():
    """`isotropic_angle` is the median angle by which centring turns isotropic vectors.

    This also holds if each group of coordinates is centred by itself. Without groups, the median share of the
    squared length along 𝟏 is about 0.455/d. For isotropic vectors the column `turn_scaled` is about 1; the
    column `share_d` is d times the column `share`.
    """
    assert isotropic_angle(384) == pytest.approx(1.98, abs=0.005)
    assert isotropic_angle(12_288) == pytest.approx(0.35, abs=0.005)
    for d, groups in ((6, 1), (384, 1), (12, 3)):
        ones = np.ones(d, np.float32)
        x = np.random.default_rng(0).normal(size=(8_000, d)).astype(np.float32)
        parts = np.sqrt(d / groups) * x.reshape(len(x), groups, -1).mean(-1)
        share = np.sum(parts.astype(float) ** 2, axis=1) / np.sum(x.astype(float) ** 2, axis=1)
        angle = np.degrees(np.arcsin(np.sqrt(share)))
        assert isotropic_angle(d, groups=groups) == pytest.approx(np.median(angle), rel=0.03)
        if groups == 1 and d > 6:
            assert np.median(share) * d == pytest.approx(0.455, rel=0.05)
    one = row(norm(kind="group_norm", groups=3, n=2000, d=d, x=x[:2000], gamma=ones, beta=0 * ones, eps=0.0))
    assert one["turn_scaled"] == pytest.approx(1, rel=0.1) and one["share_d"] == pytest.approx(
        d * one["share"]
    )


def shrinking():
    for eps in (0.01, 1.0, 9.0):
        with_, without = (norm(n=40, eps=e, beta=np.zeros(6, np.float32)) for e in (eps, 0.0))
        shrunk = 1 - np.linalg.norm(with_.output(with_.x), axis=1) / np.linalg.norm(
            without.output(without.x), axis=1
        )
        w = eps / (with_.x.astype(float).var(1) + eps)
        np.testing.assert_allclose(shrunk, 1 - np.sqrt(1 - w), **CLOSE)
        few = w < 0.05
        np.testing.assert_allclose(shrunk[few], w[few] / 2, rtol=0.05)
    assert np.median(shrunk / w) > 0.6, "half is too little where it is large"


def averages():
    """`lost` counts the keys that are averages of other keys: no query gives such a key the highest score.

    A key outside the hull of the others gets the highest score from some query. Of 60 random keys, some are
    lost in 3 dimensions, and none in 64.
    """
    keys = np.array([[1.0, 0], [0, 1], [2, 2], [-1, -1], [0.5, 0.5]])
    assert lost(keys) == 1 and lost(keys[:4]) == 0
    scores = keys @ np.random.default_rng(0).normal(size=(2, 1000))
    assert (scores[4] <= np.delete(scores, 4, axis=0).max(0)).all()
    assert (scores[2] > np.delete(scores, 2, axis=0).max(0)).any()
    x = [np.random.default_rng(1).normal(size=(60, d)) for d in (3, 64)]
    assert lost(x[1]) == 0 < lost(x[0])


DEFINITIONS = {
    "√(mean (x − μ)²), for an RMSNorm √(mean x²), for a GroupNorm the root of its groups' mean σ²": divisors,
    "for a GroupNorm in the group where it is largest": the_largest_weight,
    "The middle one of its semi-axes; of two the shorter.": the_middle,
    "dμ²/‖x‖², for a GroupNorm summed over its groups: what centring takes of ‖x‖²": the_energy,
    "The standard deviation of |γ| over its mean: 0 where all |γ| are equal.": the_spread_of_gains,
    "A norm counts whose energy along 𝟏, times d, is below 0.455": norms_that_centre,
    "The median over these norms of the median over vectors": norms_that_centre,
    "Isotropic vectors have 0.455 in many dimensions": isotropic,
    "Beta distribution (1/2, (d − 1)/2): 1.98° where d = 384, 0.35° where d = 12,288": isotropic,
    "for these LayerNorm is nearly RMSNorm": nearly,
    "of the squared divisor (95th percentile of a norm)": the_high_weight,
    "and only norms that centre read it": readers,
    "A share w shrinks outputs, before β, by 1 − √(1 − w): by about half of w where it is small.": shrinking,
    "A key that is an average of others never has a higher score than all of them. In many dimensions few "
    "keys are.": averages,
}


@pytest.mark.parametrize("words", DEFINITIONS)
def test_a_definition_is_what_is_computed(words):
    DEFINITIONS[words]()
    findings = [f"{each.answer} {each.about}" for each in verdict(measured(recording(norm(n=30))))]
    assert any(words in about for about in [*(column.about for column in COLUMNS), *findings])


def test_without_gain_the_turn_is_the_angle_to_the_hyperplane():
    """Without gain, the column `turn` is the vectors' median angle in degrees to the hyperplane ⊥ 𝟏."""
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
    # e₆ and nearly e₄; after the gain 0, centring flattens no further direction
    assert row(thin)["flat"] == 2


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
    """The effective rank of k orthonormal vectors and their opposites, all shifted by the same vector, is k.

    The effective rank of equal vectors is 0.
    """
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
    """`lost` is the number of keys that are averages of the other keys, by non-negative least squares.

    A key that has a copy is such an average.
    """
    keys = np.random.default_rng(n).normal(size=(n, d))
    keys[n // 2 :] = keys[: n - n // 2] if n == 6 else keys[n // 2 :]  # keys with a copy are lost
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
        assert all(np.isfinite(value) for value in found.values() if isinstance(value, (int, float))), found
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
    assert "h.0.ln_1" in shown and "Left out: x: no norm" in shown
    assert all(formatted(column, rows[0][column.name]) for column in COLUMNS)


def with_a_massive_one(n=200, d=16):
    """A recording of two norms with n vectors (d,) each; coordinate 5 of the very first vector is 400."""
    x = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    x[0, 5] = 400
    return Recording([norm("a", n=n, d=d, x=x), norm("b", n=n, d=d)], "a model", {0: "The", 1: "cat"})


def test_a_massive_vector_is_found_with_its_token_and_dimension():
    seen = with_a_massive_one()
    first, other = measured(seen)
    x = seen.norms[0].x.astype(float)
    size, energy = np.linalg.norm(x, axis=1), (x**2).sum(0) / (x**2).sum()
    assert (first["massive"], first["longest_at"], first["top_dimension"]) == (1, "'The' at 0", 5)
    np.testing.assert_allclose(first["longest"], size.max() / np.median(size), **CLOSE)
    np.testing.assert_allclose(first["top_energy"], energy[5], **CLOSE)
    np.testing.assert_allclose(first["top_energy_rest"], (x[1:] ** 2).sum(0)[5] / (x[1:] ** 2).sum(), **CLOSE)
    np.testing.assert_allclose(first["top_gain"], abs(seen.norms[0].gamma[5]), **CLOSE)
    np.testing.assert_allclose(first["first"], first["longest"], **CLOSE)
    later = norm(position=np.arange(1, 10))
    assert row(later)["first"] is None, "no text of it begins"
    level = x - x.mean(1, keepdims=True)
    assert first["rank"] == pytest.approx(effective_rank(level[1:])) and first["rank"] > 14
    assert first["rank_all"] == pytest.approx(effective_rank(level)) and first["rank_all"] < 12
    assert other["massive"] == 0 and other["rank"] == other["rank_all"] and "at " in other["longest_at"]
    (line,) = [each for each in verdict([first, other]) if each.name == "massive"]
    assert "in 1 of 2 norms; at a 1 of 200 vectors" in line.answer and "dimension 5 has" in line.answer
    (line,) = [each for each in verdict([other]) if each.name == "massive"]
    assert line.answer.startswith("no: the longest vector")
    (line,) = [each for each in verdict([other | {"longest": 1.0}]) if each.name == "massive"]
    assert line.answer == "no: the longest vector is about as long as the median of its norm"


def test_places_are_named_by_how_often_they_come():
    one = norm(
        n=9, token=np.array([0, 0, 1, 1, 1, 2, 2, 2, 2]), position=np.array([0, 0, 3, 3, 3, 4, 5, 6, 7])
    )
    every = places(one, np.ones(9, bool), {0: "a", 1: "b"})
    assert every == "'b' at 3 (3 times), 'a' at 0 (2 times), position 4, 3 others"


def test_of_few_vectors_there_is_no_verdict_but_on_the_measured_effect():
    rows = measured(recording(norm("a", n=19), norm("b", n=7)))
    line = "No verdict: the norms have at most 19 vectors, and 20 are needed; record a longer text."
    assert "at most 1 vector, and 20 are" in text("mine", measured(recording(norm("a", n=1))))
    shown = text("mine", rows)
    assert shown.count(line) == 1 and "Could the centring be left out?" not in shown
    assert "Could it be folded into the weights exactly?" in shown
    assert re.search(r"^a +LayerNorm +6 +19 ", shown, re.MULTILINE)
    effects = {"a": Effect(kl=0.1, loss=nan, change=0.5)}
    shown = text("mine", with_effects(rows, effects), (), Effect(kl=0.7, loss=nan, change=1.0))
    assert line in shown and "Could the centring be left out? Without it predictions change by a KL" in shown


def test_the_text_explains_its_columns():
    shown = text("mine", measured(recording(norm("a", n=20))))
    for label in ("energy along 𝟏 × d", "effective rank", "turn ÷ random"):
        assert re.search(rf"^{label}: ", shown, re.MULTILINE)


def test_a_report_with_effects_leads_with_them():
    """With effects, a report's norms are sorted by KL, largest first; norms without a measurement come last.

    JSON and CSV have the columns of the effect. The text has three KLs: of the median norm, of the norm with
    the largest, and of all norms at once.
    """
    rows = measured(recording(norm("a"), norm("b"), norm("c"), norm("d")))
    kl = {"a": 0.1, "b": 0.3, "d": 0.2}
    found = with_effects(rows, {path: Effect(kl=value, loss=nan, change=0.5) for path, value in kl.items()})
    assert [(each["path"], each["kl"]) for each in found] == [("b", 0.3), ("d", 0.2), ("a", 0.1), ("c", None)]
    data = json.loads(to_json("mine", found, (), Effect(kl=0.7, loss=nan, change=1.0)))
    assert data["norms"] == found and data["norms"][0]["loss"] is None
    assert {column.name for column in EFFECT_COLUMNS} <= data["definitions"].keys()
    shown = text("mine", found, (), Effect(kl=0.7, loss=nan, change=1.0, predictions=2048))
    effect = "a KL of 0.2 nats in the median norm, at most 0.3 nats (at b), 0.7 nats in all at once"
    effect += "; measured on 2,048 tokens."
    assert f"Without it predictions change by {effect}" in shown
    assert to_csv(found).startswith("path,kind,d,kl,loss,change,vectors")


def test_a_model_without_a_head_is_ranked_by_its_vectors():
    rows = measured(recording(norm("a"), norm("b")))
    found = with_effects(rows, {path: Effect(nan, nan, change) for path, change in (("a", 0.1), ("b", 0.3))})
    assert [each["path"] for each in found] == ["b", "a"]
    effect = "20.0% of the outputs' length in the median norm, at most 30.0% of the outputs' length (at b)."
    assert f"Without it predictions change by {effect}" in text("mine", found)


def test_a_model_that_does_not_centre_is_told_so():
    rows = measured(recording(norm("a", "rms_norm", n=20), norm("b", "rms_norm", n=20)))
    effects = {"a": Effect(kl=0.1, loss=nan, change=0.5)}
    line = "This model has RMSNorms, which do not centre; adding it changes predictions by a KL of 0.1 nats"
    assert line in text("mine", with_effects(rows, effects))
    shown = text("mine", rows)
    assert "this model has RMSNorms only" in shown and "Centring would: median" in shown
    assert "There is none: this model" in shown and "There is no centring." in shown and "of 0" not in shown


@pytest.mark.parametrize("before", ["", " ", "  \u00a0", "\t", "\r", "\u3000", "\u200b", "\ufeff"], ids=ascii)
@pytest.mark.parametrize("sign", "=+-@＝＋－＠−﹢﹣﹦﹫")
def test_a_path_is_no_formula_of_a_spreadsheet(before, sign):
    path = f"{before}{sign}1+1"
    line = to_csv([{**row(norm()), "path": path}]).partition("\n")[2]
    assert line.lstrip('"').startswith(f"'{path}")


@pytest.mark.parametrize("path", ["h.0.ln_1", " h", "ｈ", "1", "π=3"])
def test_any_other_path_stays_as_it_is(path):
    assert to_csv([{**row(norm()), "path": path}]).splitlines()[1].startswith(f"{path},")
