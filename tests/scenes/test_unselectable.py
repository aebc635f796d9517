"""The text of the scene `unselectable`, tested with the shipped table, the exact law, and new random keys."""

import numpy as np
import pytest
from scipy.stats import norm

from components.language.scene import scenes
from components.scenes.unselectable import SCENE
from components.scenes.unselectable.build import ARMS, DIMENSIONS, KEY_COUNTS, MAX_OPENED, short
from components.training.recipes import recipe_of
from geometry import layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian
from geometry.gaussian_hull import internal, unselectable_share
from learning.shipped import table
from tests.scenes.claims import said, stop
from tools.films import selectable_keys
from tools.films import unselectable as films

ROWS = {(row["n"], row["d"]): row for row in table("unselectable")}
RECIPE = recipe_of(SCENE)


def test_the_labels_of_the_axes_are_whole_in_a_narrow_panel():
    """In a window of 1024 × 768, the labels of the axes of the curve are wholly inside its panel.

    The panel is 206 pixels wide there, and a character about 8 pixels.
    """
    low, high = RECIPE.views[1].ranges[0]
    for cloud in (RECIPE.cloud("percent"), RECIPE.cloud("numbers")):
        for (x, _), text in zip(cloud.points, cloud.labels, strict=True):
            half = 8 * len(text) / 2 * (high - low) / 206
            assert low <= x - half and x + half <= high, text


LAW = {"drawn": 0, "centred": 1}  # arms with an exact law, and how many dimensions each removes


def share(n, d, arm):
    return 100 * ROWS[n, d][arm][0]


def hand():
    return next(m.hand for m in RECIPE.views[0].layers if getattr(m, "hand", None))


def test_the_table_is_what_make_films_counts():
    assert (KEY_COUNTS, DIMENSIONS) == (films.KEY_COUNTS, films.DIMENSIONS) and set(ARMS) < set(films.ARMS)
    assert list(ROWS) == [(n, d) for n in KEY_COUNTS for d in DIMENSIONS]
    for n, d in [(5, 2), (10, 3), (20, 4), (50, 2), (20, 16)]:
        for arm in films.ARMS:
            shares = [
                1 - selectable_keys.unbeaten(films.keys(gaussian(n, d, seed=k), arm)).mean()
                for k in range(films.SETS_PER_ROW)
            ]
            # one key more or less in all sets is the most that rounding may do
            assert abs(np.mean(shares) - ROWS[n, d][arm][0]) <= 1 / (n * films.SETS_PER_ROW) + 1e-6


def test_shares_known_before():
    """For keys without a norm, the table's shares are within 0.03 of earlier measurements.

    For keys after LayerNorm, the shares at the same settings are 0.
    """
    for (n, d), known in {(20, 2): 0.65, (50, 2): 0.85, (50, 4): 0.43, (100, 8): 0.08}.items():
        assert abs(ROWS[n, d]["drawn"][0] - known) < 0.03 and ROWS[n, d]["layernorm"][0] == 0


def test_a_cell_says_its_row_at_every_stage():
    cells = RECIPE.cloud("cells")
    stages = cells.stages({})
    for k, (d, n) in enumerate((d, n) for d in DIMENSIONS for n in KEY_COUNTS):
        for stage, arm in zip(stages, ARMS, strict=True):
            assert stage[k, 3] == pytest.approx(share(n, d, arm)), (n, d, arm)
        assert cells.labels[k].startswith(
            f"{n} keys in {d} dimensions<br>without a norm {share(n, d, 'drawn'):.1f} "
        )


def test_the_curve_is_the_row_and_its_law():
    for d in DIMENSIONS:
        recipe = recipe_of(SCENE, d=d)
        means, law = recipe.cloud("means").stages({}), recipe.cloud("law").stages({})
        for stage, arm in enumerate(ARMS):
            np.testing.assert_allclose(means[stage][:, 3], [share(n, d, arm) for n in KEY_COUNTS])
        several = np.rint(10 ** law[0][:, 2]).astype(int)
        for stage, arm in enumerate(LAW):
            want = [100 * unselectable_share(int(n), d - LAW[arm]) for n in several]
            np.testing.assert_allclose(law[stage][:, 3], want)
        assert not law[2][:, 3].any()


def test_what_a_click_opens_can_be_opened():
    followed = [link for link in hand().links if link]
    assert len(followed) == sum(
        n <= MAX_OPENED[0] and d <= MAX_OPENED[1] for n in KEY_COUNTS for d in DIMENSIONS
    )
    for link in followed:
        slug, query = link.split("?")
        choices = scenes()[slug].choose(dict(pair.split("=") for pair in query.split("&")))
        assert (choices["n"], int(choices["d"])) in ROWS


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0"),
        (0.01, "<.1"),
        (0.4, "0.4"),
        (9.44, "9.4"),
        (9.6, "10"),
        (43.5, "44"),
        (99.53, ">99"),
        (100, "100"),
    ],
)
def test_a_share_in_three_characters(share, text):
    assert short(share) == text


# --- what the text says


def most_in_few_dimensions():
    assert all(share(n, 2, "drawn") > 50 for n in KEY_COUNTS if n >= 20)
    no_key_is_lost()


def no_key_is_lost():
    assert {row[arm][0] for row in ROWS.values() for arm in ("layernorm", "scaled")} == {0}
    assert len(ROWS) == 63 and sum(row["n"] * row["sets"] for row in ROWS.values()) == 796_500


def the_grid():
    assert (min(KEY_COUNTS), max(KEY_COUNTS)) == (5, 500) and (min(DIMENSIONS), max(DIMENSIONS)) == (2, 16)


def a_mean_of_100_sets():
    assert {row["sets"] for row in ROWS.values()} == {100} and films.SETS_PER_ROW == 100


def opens():
    """A cell's link opens the scene `select` with n, d and the first set's seed, if n ≤ 200 and d ≤ 4.

    Other cells have no link.
    """
    assert MAX_OPENED == (200, 4)
    cells = ((n, d) for d in DIMENSIONS for n in KEY_COUNTS)
    for (n, d), link in zip(cells, hand().links, strict=True):
        assert link == (f"select?keys=gaussian&n={n}&d={d}&seed=0" if n <= 200 and d <= 4 else "")


def bars():
    """Bars show ± two standard errors (cloud `errors`) or ± one standard deviation over sets (`spread`)."""
    n, d = KEY_COUNTS[2], 4
    mean, spread = (100 * number for number in ROWS[n, d]["drawn"])
    for name, half in (("errors", 2 * spread / np.sqrt(100)), ("spread", spread)):
        ends = RECIPE.cloud(name).points[2 * KEY_COUNTS.index(n) :][:2, 3]
        np.testing.assert_allclose(ends, [mean - half, mean + half])


def the_law():
    assert [internal(m) for m in (1, 2, 3)] == pytest.approx([1, 1 / 2, 1 / 6])
    assert list(range(2, 0, -2)) == [2]  # one term in two dimensions


def one_dimension_less():
    for (n, d), row in ROWS.items():
        mean, spread = row["centred"]
        assert abs(mean - unselectable_share(n, d - 1)) <= 4 * max(spread, 1e-3) / 10


def two_places():
    x = layer_norm(gaussian(500, 2, seed=0), eps=0)
    np.testing.assert_allclose(np.sort(x, axis=-1), np.broadcast_to([-1, 1], x.shape), atol=1e-12)
    assert {share(n, 2, "layernorm") for n in KEY_COUNTS} == {0}


def at_stop(title, arm, words):
    """Assert that a stop of the tour shows the stage `arm`, and follows a cell with the share `words`.

    words: the share in percent, as in the text. The stop's choice d must be that of the cell. Returns the
    cell's n and d.
    """
    state = stop("unselectable", title)
    assert ARMS[int(state.progress)] == arm
    d, n = DIMENSIONS[state.follow // len(KEY_COUNTS)], KEY_COUNTS[state.follow % len(KEY_COUNTS)]
    assert int(state.choices["d"]) == d
    said(share(n, d, arm), words)
    return n, d


def one_cell():
    assert at_stop("One cell", "drawn", "43.5") == (50, 4)
    said(100 * unselectable_share(50, 4), "43.9")


def few_dimensions():
    assert at_stop("Few dimensions, many keys", "drawn", "97.9") == (500, 2)
    assert round(5 * (100 - share(500, 2, "drawn"))) == 11


def more_dimensions():
    assert at_stop("More dimensions", "drawn", "0.4") == (500, 16)


def centring_alone():
    assert at_stop("Centring alone", "centred", "64.5") == (50, 4)
    said(100 * unselectable_share(50, 3), "65.0")
    assert all(share(n, d, "centred") >= share(n, d, "drawn") for n, d in ROWS)


def then_scaling():
    assert at_stop("Then scaling", "layernorm", "0") == (50, 4)
    no_key_is_lost()


def the_price():
    assert at_stop("The price of ε", "eps", "18.9") == (500, 3)
    assert films.keys(gaussian(9, 3, seed=0), "eps") == pytest.approx(
        layer_norm(gaussian(9, 3, seed=0), eps=1e-5) @ hyperplane_basis(3).T
    )
    for n in KEY_COUNTS:
        places = films.keys(gaussian(n, 2, seed=0), "eps")[:, 0]
        won = places[selectable_keys.unbeaten(places[:, None])]
        assert sorted(won) == [places.min(), places.max()]
        assert ROWS[n, 2]["eps"] == pytest.approx([1 - 2 / n, 0], abs=1e-6)


def the_smallest_deviation():
    """Of two keys, the one with the smaller standard deviation ends farther inside the sphere.

    In the test, the other key is the shorter one.
    """
    x = np.array([[5.0, 5.01, 4.99], [0.3, -0.1, 0.2]])
    short, inside = np.linalg.norm(x, axis=1), np.linalg.norm(layer_norm(x, eps=1e-5), axis=1)
    assert short.argmin() == 1 and inside.argmin() == x.std(1).argmin() == 0


def largest_weight():
    """The bound 1/(1 + e^H) on the attention weight of a key is ⅓ if the key is midway between two others.

    H is the entropy of the weights ½ and ½, which is ln 2.
    """
    from geometry.selection import certificate

    assert certificate(np.array([[0.0, 0], [1, 1], [-1, -1]]), 0).largest == pytest.approx(1 / (1 + 2))


def scaling_alone():
    no_key_is_lost()
    assert selectable_keys.unbeaten(rms_norm(gaussian(200, 3, seed=5), eps=0)).all()
    assert RECIPE.readouts[-1].label == "Never selected, scaling alone"


def how_near():
    far, none_lost, all_but_the_ends = [], 0, 0
    for (n, d), row in ROWS.items():
        for arm, less in LAW.items():
            mean, spread = row[arm]
            if spread > 0:
                far.append((mean - unselectable_share(n, d - less)) / (spread / np.sqrt(row["sets"])))
            elif (d, arm) == (2, "centred"):
                assert mean == pytest.approx(1 - 2 / n, abs=1e-6)
                all_but_the_ends += 1
            else:
                assert mean == 0
                none_lost += 1
    assert (none_lost, all_but_the_ends) == (31, 7)
    assert len(ROWS) == 63 and len(LAW) * len(ROWS) == 126 and len(far) == 88
    said(np.mean(np.square(far)), "1.02")
    said(np.abs(far).max(), "3.4")
    said(100 * (1 - (2 * norm.cdf(np.abs(far).max()) - 1) ** len(far)), "6")


def from_which_dimension():
    lost, n = max((share(n, 4, "eps"), n) for n in KEY_COUNTS)
    said(lost, "0.012")
    assert (round(lost / 100 * n * 100), n * 100) == (6, 50_000)
    assert max(KEY_COUNTS) == 500
    assert share(500, 4, "eps") > 0 and not any(share(n, d, "eps") for n, d in ROWS if d >= 5)
    x = gaussian(500, 5, seed=0)
    lost = [1 - selectable_keys.unbeaten(layer_norm(x, eps=eps)).mean() for eps in (1e-5, 1e-1)]
    assert lost[0] == 0 < lost[1]


def low_dimensions():
    """In 2 and 3 dimensions, the exact expected share of unselectable keys agrees with the table.

    It is within four standard errors of the table's mean share for random keys without a norm.
    """
    for d in (2, 3):
        for n in KEY_COUNTS:
            mean, spread = ROWS[n, d]["drawn"]
            assert abs(mean - unselectable_share(n, d)) <= 4 * max(spread, 1e-3) / 10


CLAIMS = {
    r"Keys then stay a little inside the sphere, those with the smallest standard deviation $\sigma$ the most.": the_smallest_deviation,
    "Efron found this number of corners in 1965 for $d = 2$ and $d = 3$,": low_dimensions,
    "Of many random keys in few dimensions, most never get the best score, whatever the query. From three dimensions on, LayerNorm without ε lets every key win.": most_in_few_dimensions,
    "by the number of keys (columns, 5 to 500) and of dimensions (rows, 2 to 16).": the_grid,
    "Each number is the mean of 100 sets;": a_mean_of_100_sets,
    "If $d$ is at most 4 and $n$ at most 200, a click on a cell (or the Enter key) opens the first of its 100 sets as a picture of single keys.": opens,
    "The narrow bars are two standard errors of the mean up and down": bars,
    "The wide, faint bars show how much single sets differ: one standard deviation up and down.": bars,
    "The stages apply the steps of LayerNorm": test_a_cell_says_its_row_at_every_stage,
    r"$$2 \sum_{m = d,\, d-2,\, \ldots} m \binom{n}{m}\, \beta_m \int \Phi(p)^{n-m} f_m(p)\, dp$$": how_near,
    r"variance $1/m$. $\beta_m$ is the angle at a corner of a regular simplex with $m$ corners, as a fraction of the full angle: $1$, $\frac{1}{2}$, $\frac{1}{6}$ for $m = 1, 2, 3$. The sum ends at $m = 1$ or $m = 2$. In two dimensions it has one term.": the_law,
    "There they are normally distributed again, in one dimension less. So the shares in each row become those of random keys in $d - 1$ dimensions.": one_dimension_less,
    r"Its own score is $\|k\|^2$, and no other key of that length reaches it. So after LayerNorm all 796,500 keys of the grid can be selected.": no_key_is_lost,
    "**Two dimensions are an exception.** LayerNorm leaves only two places there, $(1, -1)$ and $(-1, 1)$. All keys in one place": two_places,
    "Of 50 keys in 4 dimensions, 43.5 % can never win, whatever the query (mean of 100 sets). The law says 43.9 %.": one_cell,
    "Of 500 keys in 2 dimensions, 97.9 % can never win. That leaves about eleven.": few_dimensions,
    "The same number of keys in 16 dimensions: only 0.4 % can never win. Nearly all keys are corners.": more_dimensions,
    "Centred keys lie in a hyperplane, which has one dimension less. Of 50 keys in 4 dimensions 64.5 % can now never win. For 3 dimensions without centring the law says 65.0 %.": centring_alone,
    r"All 63 cells are at 0. This is LayerNorm with $\varepsilon = 0$.": then_scaling,
    r"With the usual $\varepsilon = 10^{-5}$ keys are lost in low dimensions. In 3 dimensions all keys stay a little inside a circle, and 18.9 % of 500 keys are lost. In 2 dimensions only the keys at the two ends can win.": the_price,
    "at most $1/(1 + e^H)$. Here $H$ is the entropy of the most even average": largest_weight,
    "With scaling alone, as in RMSNorm, all 63 cells are at 0 too": scaling_alone,
    "As well as chance allows. The first two stages have 126 cells: 63 without a norm and 63 centred. In 31 of them no key is lost in any set, and in 7 (two dimensions, centred) all keys are lost but the two at the ends. There is nothing to compare in these 38 cells, as the count is always the same. In the other 88 cells we divided the distance between mean and law by the standard error of the mean. If only chance made the difference, the squares of these 88 quotients would have a mean of about 1. It is 1.02. (The quotients are not quite independent: both stages use the same keys.) The largest quotient is 3.4. If we drew 88 independent numbers from a standard Gaussian, the probability that one of them is 3.4 or more in absolute value would be 6 %.": how_near,
    r"From 5 on: with $\varepsilon = 10^{-5}$ and up to 500 keys, none was lost in our sets. In 4 dimensions at most 0.012 % are lost (6 of the 50,000 keys in 100 sets). A larger $\varepsilon$ matters in more dimensions.": from_which_dimension,
}
