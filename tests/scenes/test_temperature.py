"""The best threshold before and after the layer: a fold separates both extremes, a stretch makes room."""

from itertools import product

import numpy as np
import pytest

from components.language.cloud import project
from components.language.framing.paper import on_paper
from components.language.recipe import Accuracy
from components.scenes.temperature import SCENE
from components.scenes.temperature.build import WEATHER
from components.training.recipes import recipe_of
from geometry.distributions import best_threshold
from tests.scenes.claims import said, stop

EXACT = 1e-12  # double precision, one normalisation
SEEDS = range(8)
DAYS = sum(n for _, n in WEATHER)


def right(task, seed, **params):
    """A list of two accuracies: of the best threshold before the layer, and of the best threshold after it.

    task: "hot" or "extreme" days, as in the scene. params: values of sliders that differ from the defaults.
    """
    recipe = recipe_of(SCENE, task=task, seed=seed)
    stages = recipe.cloud("days").stages(recipe.defaults | params)
    after, before = (r for r in recipe.readouts if isinstance(r, Accuracy))
    shown = before, after
    return [best_threshold(project((r.row,), stages[-1], stages)[:, 0], r.classes)[1] for r in shown]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_threshold_finds_one_heap_then_both(seed):
    before, after = right("extreme", seed)
    one_lost = 1 - min(n for _, n in WEATHER[1:]) / DAYS
    assert before == pytest.approx(one_lost, abs=4 / DAYS)  # tolerance where the histograms' peaks overlap
    assert after > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_a_folds_more_evenly(seed):
    shares = [right("extreme", seed, shrink=a)[1] for a in (0.9, 0.5, 0.3, 0.1)]
    assert shares == sorted(shares) and shares[-1] > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stretch_makes_room_but_not_more_right(seed):
    assert right("hot", seed) == [1, 1]
    recipe = recipe_of(SCENE, task="hot", seed=seed)
    days, edge = recipe.cloud("days"), recipe.follow
    x = days.points[:, 0]
    assert np.mean(x[x > 0] >= x[edge]) == pytest.approx(0.9, abs=1 / np.sum(x > 0))
    for t in (0.5, 1.0, 3.0, 5.0):
        got = days.stages(recipe.defaults | {"stretch": t})[-1]
        want = t * x / np.hypot(t * x, days.points[:, 1])
        np.testing.assert_allclose(got[:, 0], want, rtol=0, atol=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_days_stand_on_the_circle_in_the_order_of_their_temperature(seed):
    recipe = recipe_of(SCENE, seed=seed)
    days, degrees = recipe.cloud("days").points, recipe.cloud("degrees").points[:, 0]
    np.testing.assert_allclose(np.linalg.norm(days, axis=1), 1, rtol=0, atol=EXACT)
    assert np.all(np.diff(days[np.argsort(degrees), 0]) >= 0)
    assert len(days) == DAYS == 365


def test_a_seed_is_a_year():
    one, same, other = (recipe_of(SCENE, seed=s).cloud("degrees").points for s in (5, 5, 6))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_without_shrink_only_the_height_counts():
    recipe = recipe_of(SCENE)
    days = recipe.cloud("days")
    got = days.stages(recipe.defaults | {"shrink": 0.0, "shift": 1.0})[-1][:, 0]
    np.testing.assert_allclose(got, 1 / np.hypot(1, days.points[:, 1]), rtol=0, atol=EXACT)


@pytest.mark.parametrize("stretch", [0.0, 3.0, 5.0])
def test_the_axes_hold_the_ellipse_and_the_last_circle_is_large(stretch):
    recipe = recipe_of(SCENE, task="hot")
    for progress in range(3):
        params = recipe.defaults | {"stretch": stretch}
        view, at = recipe.views[0].at(progress, params), recipe.moment(params, progress)
        shown = [mark for mark in view.layers if mark.opacity_at(progress) > 0 and mark.role != "ink"]
        for mark in shown:
            assert np.nanmax(np.abs(on_paper(view, mark.points(at), ())[0])) <= 1, (progress, mark)
    assert 2 / np.ptp(view.ranges[0]) > 0.6


# --- what the text says


def year(seed=5):
    """The days of a year: points (DAYS, 2), temperatures in °C (DAYS,), and which are extreme (DAYS,)."""
    recipe = recipe_of(SCENE, seed=seed)
    extreme = np.arange(DAYS) >= WEATHER[0][1]
    return recipe.cloud("days").points, recipe.cloud("degrees").points[:, 0], extreme


def shares(title):
    """The accuracies of the best thresholds before and after the layer at a stop, as a list (see `right`)."""
    state = stop("temperature", title)
    return right(state.choices["task"], state.choices["seed"], **state.params)


def made_up_days():
    assert [kind[0] for kind in WEATHER] == [14, -2, 30] and DAYS == 365
    for seed in SEEDS:
        days, degrees, _ = year(seed)
        ends = np.cumsum([n for _, n in WEATHER])[:-1]
        for own, (mean, _) in zip(np.split(degrees, ends), WEATHER, strict=True):
            assert own.mean() == pytest.approx(mean, abs=1)
        assert abs(np.corrcoef(np.sign(days[:, 1]), degrees)[0, 1]) < 0.2


def on_a_circle():
    for seed in SEEDS:
        days, degrees, _ = year(seed)
        z = (degrees - degrees.mean()) / 5
        np.testing.assert_allclose(days[:, 0], z / np.sqrt(z**2 + 1), rtol=0, atol=EXACT)
        np.testing.assert_allclose(np.abs(days[:, 1]), 1 / np.sqrt(z**2 + 1), rtol=0, atol=EXACT)
        assert days[:, 1].min() < 0 < days[:, 1].max()


def two_answers():
    for task in ("hot", "extreme"):
        recipe = recipe_of(SCENE, task=task)
        (classes,) = {tuple(r.classes) for r in recipe.readouts if isinstance(r, Accuracy)}
        assert set(classes) == {0, 1}


def the_cold_ones_are_lost():
    state = stop("temperature", "Two heaps, one threshold")
    x, _, extreme = year(state.choices["seed"])
    threshold = best_threshold(x[:, 0], extreme.astype(int))[0]
    cold, hot = x[205:280, 0], x[280:, 0]
    assert np.mean(hot > threshold) > 0.95 and (cold < threshold).all()
    assert cold.max() < 0 < hot.min()


def one_of_two_heaps():
    for seed in SEEDS:
        test_one_threshold_finds_one_heap_then_both(seed)
    assert recipe_of(SCENE).follow < DAYS and SCENE.choices[1].default == 5
    said(100 * right("extreme", 5)[0], "79.5")


def the_first_coordinate():
    recipe, (days, _, extreme) = recipe_of(SCENE), year()
    x, y = days.T
    for a, t in ((0.3, 1.0), (0.5, 1.0), (0.0, 2.0)):
        got = recipe.cloud("days").stages(recipe.defaults | {"shrink": a, "shift": t})[-1][:, 0]
        np.testing.assert_allclose(got, (a * x + t) / np.hypot(a * x + t, y), rtol=0, atol=EXACT)
    assert np.mean(np.abs(y[extreme]) < 0.5) > 0.95 and np.mean(np.abs(y[~extreme]) > 0.5) > 0.95


def left_onto_right():
    recipe = recipe_of(SCENE)
    for a, t in ((0.3, 1.0), (0.9, 1.0)):
        got = recipe.cloud("days").stages(recipe.defaults | {"shrink": a, "shift": t})[-1]
        assert (got[:, 0] > 0).all()


def well_below():
    assert SCENE.choices[1].default == 5
    said(100 * right("extreme", 5, shrink=0.3, shift=1.0)[1], "98.1")
    before, after = right("extreme", 5, shrink=0.9, shift=1.0)
    assert after == before


def farther_from_the_mean():
    for a, t, words in ((0.5, 1, "3"), (0.3, 1, "1.9")):
        said((t + a) / (t - a), words)
        cold, hot = -(t + a) / (t - a) * 1e4, 1e4  # far out, |y| is 1/|z| of the length
        x, y = np.array([cold, hot]) / np.hypot(1, [cold, hot]), 1 / np.hypot(1, [cold, hot])
        after = (a * x + t) / y
        assert after[0] == pytest.approx(after[1], rel=1e-3)


def a_hundred_percent():
    for seed in (*SEEDS, 9999):
        for t in (0.01, 1.0, 5.0):
            assert right("hot", seed, stretch=t) == [1, 1]
    assert len(recipe_of(SCENE, task="hot").readouts) == 5  # the last two numbers are the gaps


def the_shares_are_two():
    before, after = shares("Folded")
    assert before < 0.8 and after > 0.95


def more_room():
    state = stop("temperature", "More room")
    assert shares("More room") == [1, 1]
    before, after = (r for r in state.recipe.readouts[-2:])
    stages = state.recipe.cloud("days").stages(state.params)
    for number, words in ((before, "0.123"), (after, "0.445")):
        values = project((number.row,), stages[-1], stages)[:, 0]
        said(values[number.index], words)
        hot = stages[0][:, 0] > 0
        assert np.mean(values[hot] >= values[number.index]) == pytest.approx(0.9, abs=1 / hot.sum())
    assert (stages[-1][hot, 0] > stages[0][hot, 0]).all()


def away_from_the_mean():
    """For t > 1 every day moves away from x = 0; the x of the day nearest to 0 is multiplied by about t."""
    for seed, t in product(SEEDS, (1.01, 1.5, 3.0, 5.0)):
        recipe = recipe_of(SCENE, task="hot", seed=seed)
        days, *_, after = recipe.cloud("days").stages(recipe.defaults | {"stretch": t, "eps": 0.0})
        assert (np.abs(after[:, 0]) > np.abs(days[:, 0])).all()
        near = np.abs(days[:, 0]).argmin()
        assert after[near, 0] / days[near, 0] == pytest.approx(t, rel=0.05)


def between_two_heaps():
    for seed in SEEDS:
        days, _, extreme = year(seed)
        y = np.abs(days[:, 1])
        assert np.mean(y[extreme] < 0.5) > 0.95 and np.mean(y[~extreme] > 0.5) > 0.95
        assert (
            best_threshold(days[:, 1], extreme.astype(int))[1]
            < 0.8
            < best_threshold(y, extreme.astype(int))[1]
        )


def to_the_circle():
    recipe = recipe_of(SCENE)
    for eps, on in ((0.0, True), (0.1, False)):
        end = recipe.cloud("days").stages(recipe.defaults | {"eps": eps})[-1]
        assert np.allclose(np.linalg.norm(end, axis=1), 1, rtol=0, atol=EXACT) == on


def only_the_height():
    test_without_shrink_only_the_height_counts()
    days, *_ = year()
    np.testing.assert_allclose(days[:, 1] ** 2, 1 - days[:, 0] ** 2, atol=EXACT)


def side_by_side():
    state = stop("temperature", "Shrunk and shifted")
    _, ellipse, _ = state.recipe.cloud("days").stages(state.params)
    assert (ellipse[:, 0] > 0).all() and np.ptp(ellipse[:, 0]) < np.ptp(ellipse[:, 1])
    np.testing.assert_array_equal(ellipse[:, 1], state.recipe.cloud("days").points[:, 1])
    for seed in SEEDS:
        days, *_ = year(seed)
        usual, cold, hot = (np.abs(days[kind, 1]).mean() for kind in np.split(np.arange(DAYS), [205, 280]))
        assert cold == pytest.approx(hot, abs=0.05) and usual > 2 * max(cold, hot)


def cross_over():
    state = stop("temperature", "The origin inside")
    assert state.params["shift"] < state.params["shrink"]
    cold = slice(205, 280)
    for t, side in ((state.params["shift"], -1), (0.5, 1)):
        end = state.recipe.cloud("days").stages(state.params | {"shift": t})[-1]
        assert np.mean(side * end[cold, 0] > 0) > 0.95


def smaller_is_better():
    state = stop("temperature", "How even is the fold?")
    days = state.recipe.cloud("days").stages(state.params)[-1][:, 0]
    assert np.sum(days[205:280] < np.quantile(days[:205], 0.9)) > 5
    for seed in SEEDS:
        test_a_smaller_a_folds_more_evenly(seed)


def close_to_the_line():
    state = stop("temperature", "Hot or cold")
    x = state.recipe.cloud("days").points[:, 0]
    assert shares("Hot or cold") == [1, 1] and np.mean(np.abs(x) < 0.25) > 0.1


CLAIMS = {
    r"So for $t > 1$ and $\varepsilon = 0$, days near the mean move away from it, those very near it by a factor of about $t$.": away_from_the_mean,
    "The 365 temperatures are drawn at random: around 14 °C for usual days, −2 °C in cold spells and 30 °C in heat waves.": made_up_days,
    r"in units of 5 °C, and $w$ is its wind, $1$ or $-1$. An earlier normalisation has divided each point by its length, so the days are on a circle: $x = z/\sqrt{z^2 + 1}$.": on_a_circle,
    "The wind, which is independent of the temperature, decides between the upper and the lower half.": made_up_days,
    "Each day belongs to one of two classes.": two_answers,
    "On a thermometer the extremes are two heaps, with the typical days between them. One threshold can cut off only one heap. So the best threshold classifies 79.5 % of the days correctly (in the year that the page shows first).": one_of_two_heaps,
    r"After the layer, with $\varepsilon = 0$ and $t > a$, the first coordinate is $$x' = \frac{a x + t}{\sqrt{(a x + t)^2 + y^2}}$$": the_first_coordinate,
    "The left part of the circle is folded onto the right part.": left_onto_right,
    "Now one threshold finds both heaps, if $a$ is well below $t$. With $t = 1$ it classifies 98.1 % of the days correctly for $a = 0.3$, but for $a = 0.9$ no more than before the layer (in the same year).": well_below,
    "For a cold day to get the $x'$ of a hot day, its temperature must differ more from the mean. If both days are far from the mean, the cold day must be $(t + a)/(t - a)$ times as far from it as the hot day. For $t = 1$ this factor is 3 with $a = 0.5$, and about 1.9 with $a = 0.3$.": farther_from_the_mean,
    r"for $t > 0$, after it: 100 % both times.": a_hundred_percent,
    "The last two numbers below the picture show this margin.": a_hundred_percent,
    "### Two heaps, one threshold Extreme days are at both ends of the circle. The dashed line separates the hot extremes, but not the cold ones.": the_cold_ones_are_lost,
    "Compare the share in the corner with the share before the layer, below the picture.": the_shares_are_two,
    "The share is 100 % as before, but the middle of the histogram “After” has become thin. Every hot day is now farther from 0. The last two numbers say by how much: nine of ten hot days had an $x$ of at least 0.123 before the layer, and have an $x$ of at least 0.445 after it.": more_room,
    "Nearly all extreme days have $y$ between about $-0.5$ and $0.5$. Nearly all typical days are above or below that, by their wind. So on $y$ the extremes lie between two heaps. To find them takes two thresholds, or $|y|$.": between_two_heaps,
    r"With $a = 0$ the temperature's own coordinate is multiplied by 0.": only_the_height,
    r"each day moves along its ray to the circle, if $\varepsilon = 0$.": to_the_circle,
    "On the circle $y^2 = 1 - x^2$, so $|y|$ determines $|x|$": only_the_height,
    "The circle is now a narrow ellipse to the right of the origin. Cold spells and heat waves have about the same $|y|$, on average.": side_by_side,
    "With $t < a$ the ellipse still surrounds the origin, and nothing is folded. Move **t** up past $a$ and watch the cold days cross over.": cross_over,
    "Some cold days remain among the typical ones. Make **a** smaller: more days are classified correctly.": smaller_is_better,
    "For hot days a threshold is enough from the beginning. But many days are close to the dashed line.": close_to_the_line,
}
