"""The numbers beside the figure equal those of Python's clouds."""

from dataclasses import replace

import numpy as np
import pytest

from components.language.cloud import Angle, Cloud, Row
from components.language.marks import Followed, Highest, Selectable, Unselectable
from components.language.packing import packed
from components.language.recipe import (
    Count,
    Fate,
    Lengths,
    Letters,
    Mean,
    Number,
    Parameter,
    Patterns,
    Pieces,
    Ranks,
    Recipe,
    Residual,
    Sheets,
    Table,
    View,
    Zeros,
)
from geometry import Affine, Derivative, Entries, Normalize, Pipeline, Pointwise, gates, hull
from geometry.ellipsoid import diameters
from tests.components.recipes import recipe
from tests.geometry.circle_sheets import circle_sheets, layers_of

PARAMS, PROGRESS, POINT = {"gain": 2.0, "eps": 0.5}, 1.5, 7
ROW = Row((1.0, -0.5))


def words(node, *readouts, d=2):
    sent = packed(replace(recipe(d), readouts=readouts))
    return node.ask("readouts", recipe=sent, params=PARAMS, progress=PROGRESS, followed=POINT)


def test_numbers_have_their_digits_and_units(node):
    values = recipe(2).moment(PARAMS, PROGRESS).shown("x", (ROW,))[:, 0]
    got = words(
        node,
        Number("n", "x", ROW, Followed(), unit=" °C", digits=1),
        Number("n", "x", ROW, 3, digits=4),
        Mean("m", "x", ROW, unit=" m", digits=2),
        Mean("m", "x", ROW),
    )
    want = [f"{values[POINT]:.1f} °C", f"{values[3]:.4f}", f"{values.mean():.2f} m"]
    assert [word.replace("−", "-") for word in got[:3]] == want
    assert float(got[3].replace("−", "-")) == pytest.approx(values.mean(), abs=6e-4)


@pytest.mark.parametrize(
    ("value", "digits", "word"),
    [
        (-0.001, 2, "0.00"),
        (-0.4, 0, "0"),
        (-0.006, 2, "−0.01"),
        (-1.5, None, "−1.500"),
        (-1e-5, None, "0"),
        (2_340_000, None, "2.34·10⁶"),
        (-2_340_000, None, "−2.34·10⁶"),
        (5_855_872.5, 2, "5.9·10⁶"),
        (462.0, 2, "462"),
        (-99.996, 2, "−100"),
        (99.99, 2, "99.99"),
        (123.4, 1, "123.4"),
        (103515.6, 3, "103,516"),
        (-999_999.6, 1, "−1,000,000"),
        (999.96, 1, "1,000"),
        (4000, 0, "4,000"),
        (4.31e-6, 4, "4.3·10⁻⁶"),
        (-4e-4, 3, "−4.0·10⁻⁴"),
        (6e-4, 3, "0.001"),
        (1e-17, 4, "≈ 0"),
        (0, 4, "0"),
    ],
)
def test_no_number_is_a_nought_below_nought_or_has_an_e_or_many_noughts(node, value, digits, word):
    assert words(node, Number("n", "x", Row((0.0, 0.0), offset=value), digits=digits)) == [word]


@pytest.mark.parametrize(("off", "word"), [(3e-6, "4.2·10⁻⁶"), (3e-9, "≈ 0 (4.2·10⁻⁹)"), (0.0, "0")])
def test_a_small_distance_is_a_power_of_ten_and_rounding_is_nearly_0(node, off, word):
    a, b = (Cloud(name, np.full((1, 2), value), Pipeline(())) for name, value in (("a", 0.0), ("b", off)))
    views = (View("v", "", (), ((-1, 1),) * 2, 2),)
    small = Recipe(("x",), (), (a, b), views, readouts=(Residual("far", "a", "b"),))
    asked = {"recipe": packed(small), "params": {}, "progress": 0, "followed": 0}
    assert node.ask("readouts", **asked) == [word]


def test_readouts_of_a_derivative_that_does_not_exist_are_dashes(node):
    """Without ε, a norm has no derivative at the zero vector, and readouts of this derivative show "—"."""
    frame = np.hstack([np.zeros((3, 2)), np.vstack([np.zeros(2), np.eye(2)])])
    norm = (Derivative(Pipeline((Normalize(),))), Affine(np.eye(2, 4, 2)))
    clouds = Cloud("axes", frame, Pipeline(norm)), Cloud("b", frame[:, :2])
    shown = (Lengths("l", "axes"), Residual("far", "axes", "b"))
    small = Recipe(("x", "y", "z"), (), clouds, (View("v", "", (), ((-1, 1),) * 2, 2),), readouts=shown)
    asked = {"recipe": packed(small), "params": {}, "progress": 0, "followed": 0}
    assert node.ask("readouts", **asked) == ["—, —", "—"]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("3e-05", "3·10⁻⁵"),
        ("at most 5.8e-05 of it, at h.0.ln_1", "at most 5.8·10⁻⁵ of it, at h.0.ln_1"),
        ("1.2e+03", "1.2·10³"),
        ("-0.20", "−0.20"),
        ("-0.00", "0.00"),
        ("layer1e-5.norm", "layer1e-5.norm"),
        ("e2e", "e2e"),
    ],
)
def test_a_table_has_numbers_as_people_write_them(node, word, told):
    assert node.ask("typeset", text=word) == told


@pytest.mark.parametrize("d", [2, 3])
def test_angles_to_the_mean_line_are_of_now(node, d):
    values = recipe(d).moment(PARAMS, PROGRESS).measured("x", Angle())
    [got] = words(node, Mean("a", "x", Angle(), digits=3), d=d)
    assert float(got) == pytest.approx(values.mean(), abs=1e-3)
    points = np.vstack([np.zeros(d), np.ones(d), -np.ones(d), [1, -1, 0][:d]])
    cloud = Cloud("x", points, Pipeline((Affine(np.eye(d)),)))
    views = (View("v", "", (), ((-1, 1),) * 2, 2),)
    small = Recipe(("x", "y"), (), (cloud,), views, readouts=[Number("a", "x", Angle(), k) for k in range(4)])
    asked = {"recipe": packed(small), "params": {}, "progress": 0, "followed": 0}
    assert [float(word) for word in node.ask("readouts", **asked)] == pytest.approx([90, 0, 0, 90], abs=1e-4)


@pytest.mark.parametrize("stage", [None, 0, 2])
@pytest.mark.parametrize("d", [2, 3])
def test_keys_that_can_win_and_cannot_are_counted_now_or_at_a_stage(node, stage, d):
    """`Count` of the `Selectable` points is the number of the hull's vertices that `geometry.hull` finds.

    `Count` of the `Unselectable` points is the number of all other points. `Count` of the `Highest` is 1.
    """
    cloud = recipe(d).cloud("x")
    points = cloud.at(PARAMS, PROGRESS) if stage is None else cloud.stages(PARAMS)[stage]
    on, n = len(hull.vertices(points)), len(points)
    kinds = (Selectable(), Unselectable(), Highest(ROW))
    got = words(node, *(Count("c", "x", only, stage) for only in kinds), d=d)
    assert got == [f"{on} of {n}", f"{n - on} of {n}", f"1 of {n}"] and on > 2


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ([[1, 2]], "can win: there is no other"),
        ([[1, 2], [1, 2]], "never wins: another key is in the same place; gets at most 50.0 %"),
        (
            [[1, 2], [1, 2], [1, 2], [4, 0]],
            "never wins: 2 other keys are in the same place; gets at most 33.3 %",
        ),
        ([[1, 2], [0, 1], [2, 3]], "never wins: it is an average of 2 others; gets at most 33.3 %"),
        ([[1, 0], [0, 0]], "can win: the best query of length 1 puts it 1.000 ahead"),
        ([[0, 0], [0, 0]], "never wins: another key is in the same place; gets at most 50.0 %"),
    ],
)
def test_the_fate_of_a_key_says_why(node, keys, word):
    views = (View("v", "", (), ((-9, 9),) * 2, 2),)
    cloud = Cloud("keys", np.array(keys, float), Pipeline(()))
    small = Recipe(("x",), (), (cloud,), views, readouts=(Fate("f", "keys"),))
    asked = {"recipe": packed(small), "params": {}, "progress": 0, "followed": 0}
    assert node.ask("readouts", **asked) == [word]


@pytest.mark.parametrize("stage", [None, 0])
def test_the_letters_of_a_text_that_are_marked(node, stage):
    small = recipe(2)
    points = (
        small.cloud("x").at(PARAMS, PROGRESS) if stage is None else small.cloud("x").stages(PARAMS)[stage]
    )
    labels = ["a"] * len(points)
    clouds = tuple(replace(c, labels=labels) if c.name == "x" else c for c in small.clouds)
    sent = packed(replace(small, clouds=clouds, readouts=(Letters("l", "x", Unselectable(), stage),)))
    asked = {"recipe": sent, "params": PARAMS, "progress": PROGRESS, "followed": POINT}
    inside = np.setdiff1d(np.arange(len(points)), hull.vertices(points)).tolist()
    assert node.ask("letters", **asked) == [inside] and len(inside) > 2
    assert node.ask("readouts", **asked) == [f"{len(inside)} of {len(points)}"]


def test_lengths_are_those_of_the_semi_axes(node):
    ends = diameters(recipe(3).cloud("frame").stages(PARAMS)[-1]).reshape(-1, 3, 3)
    want = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1) / 2
    [got] = words(node, Lengths("l", "frame"), d=3)
    assert [float(word) for word in got.split(", ")] == pytest.approx(sorted(want)[::-1], abs=6e-4)


@pytest.mark.parametrize("shift", [-3.0, -0.4, 0.0, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_zeros_patterns_and_pieces_of_a_layer(node, seed, shift):
    """The readouts of a ReLU layer equal NumPy's: zeros, patterns, ranks, and linear pieces on a circle.

    Some of the neurons are equal, opposite or constant.
    """
    rng = np.random.default_rng(seed)
    basis, W = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2], rng.normal(size=(5, 3))
    W[seed:] = [W[0], -W[0], 0 * W[0], W[1], W[0]][seed:]
    first = Affine(W, Entries(np.zeros(5), {"shift": np.ones(5)}))
    x = (rng.normal(size=(50, 2)) @ basis).astype(np.float32)
    cloud = Cloud("x", x, Pipeline((first, Pointwise("relu"))))
    told = (
        Zeros("z", "x", 2),
        Patterns("p", "x", 1),
        Ranks("r", "x", 0, basis),
        Pieces("c", "x", 0, basis, 2.0),
    )
    views, slider = (View("v", "", (), ((-1, 1),) * 2, 2),), Parameter("shift", "b", 0, -4, 4)
    small = Recipe(("x", "h", "relu"), (slider,), (cloud,), views, readouts=told)
    asked = {"recipe": packed(small), "params": {"shift": shift}, "progress": 0, "followed": 0}
    zeros, patterns, ranks, pieces = node.ask("readouts", **asked)
    after = cloud.stages({"shift": shift})[2]
    count, bits = gates.pattern_entropy(after > 0)
    mean, _, neurons = zeros.partition(" of ")
    assert float(mean) == pytest.approx((after == 0).sum(1).mean(), abs=6e-4) and neurons == "5"
    assert patterns == f"{count}, entropy {bits:.2f} bits"
    seen = [W[on] @ basis.T for on in x @ W.T + shift > 0]
    of = np.bincount([np.linalg.matrix_rank(own) if len(own) else 0 for own in seen], minlength=3) / 50
    assert ranks == ", ".join(f"{rank}: {100 * share:.1f} %" for rank, share in enumerate(of))
    assert int(pieces) == max(1, len(gates.breaks(W @ basis.T, np.full(5, shift), 2.0)))


@pytest.mark.parametrize("seed", range(6))
def test_sheets_of_the_layers_that_are_passed(node, seed):
    rng = np.random.default_rng(seed)
    fold = Affine(Entries([[0, 0.05], [1.0, 0]]), Entries([0.0, -0.75], {"t": [1.0, 0]}))
    others = [Affine(rng.normal(size=(2, 2)), rng.normal(size=2)) for _ in range(3)]
    steps = [step for each in (fold, *others, fold) for step in (each, Normalize())]
    cloud = Cloud("x", np.ones((1, 2)), Pipeline(steps))
    views, slider = (View("v", "", (), ((-1, 1),) * 2, 2),), Parameter("t", "t", 0.15, 0.1, 1)
    stages = [f"stage {k}" for k in range(11)]
    small = Recipe(stages, (slider,), (cloud,), views, readouts=(Sheets("s", "x"),))
    for t, progress in ((0.15, 0), (0.15, 1.9), (0.15, 2), (0.3, 5), (0.15, 8), (0.3, 10)):
        norms = int(progress) // 2
        asked = {"recipe": packed(small), "params": {"t": t}, "progress": progress, "followed": 0}
        count = circle_sheets(layers_of(cloud.pipeline, {"t": t})[:norms])
        assert node.ask("readouts", **asked) == [f"{count}, at most {2**norms}"]


def test_a_point_whose_stages_have_more_coordinates_has_all_of_them_in_the_table(node):
    """If a point has two coordinates at first and three later, the table has three columns for them.

    The third cell of the first row is empty.
    """
    lifted = Cloud("x", np.array([[1.0, 2.0]]), Pipeline((Affine(np.eye(3, 2), [0, 0, 4]),)))
    views = (View("v", "", (), ((-1, 1),) * 2, 2),)
    small = Recipe(("x", "up"), (), (lifted,), views, table=Table("x", columns=("components", "norm")))
    first, second = node.ask("rows", recipe=packed(small), params={}, followed=0)
    assert first == ["1.000", "2.000", "", "2.236"] and second == ["1.000", "2.000", "4.000", "4.583"]


def test_a_duration_is_rounded_up_before_it_is_split_into_minutes(node):
    found = node.ask("durations", seconds=[0, 0.2, 59, 59.5, 60, 61, 119.5, 3600])
    assert found == ["0 s", "1 s", "59 s", "1 min 0 s", "1 min 0 s", "1 min 1 s", "2 min 0 s", "60 min 0 s"]
