"""The text of the scene `labels`, tested with the films and the tables of all trainings."""

import numpy as np
from scipy.stats import fisher_exact

from components.scenes.labels import SCENE
from components.scenes.labels.build import film_name
from components.training.jobs import NUMBERS
from components.training.recipes import recipe_of
from geometry import layer_norm, u_eps
from learning.datasets import random_labels
from learning.shipped import film as shipped
from learning.shipped import table
from tests.scenes.claims import stop
from tests.scenes.layers import covered, folded, layers
from tools.films import networks as films

ROWS = {(row["m"], row["depth"]): row for row in table("labels")}
STARTS = table("starts")


def counts(m):
    """How many of 32 networks fit all labels of m points: a list, one number for each of `films.DEPTHS`."""
    return [round(ROWS[m, depth]["fitted"] * 32) for depth in films.DEPTHS]


def starts(lr, steps):
    """For each random labelling, the list of the seeds whose network fits all labels.

    lr, steps: the learning rate and the number of steps with which these networks were trained.
    """
    rows = {row["set"]: row for row in STARTS if (row["lr"], row["steps"]) == (lr, steps)}
    assert len(rows) == films.LABELLINGS and all(row["networks"] == 32 for row in rows.values())
    return [rows[k]["fitted"] for k in range(films.LABELLINGS)]


def shown(title):
    """The state at a stop, its film, and the number of points for which the logit's sign fits the label."""
    state = stop("labels", title)
    film = shipped(film_name(state.choices))
    logit = state.recipe.cloud("logit").at(state.params, 0)[:, 0]
    return state, film, int(((logit > 0) == (film.data.labels == 1)).sum())


def width():
    for m in films.RANDOM_POINT_COUNTS:
        for depth in films.DEPTHS:
            film = shipped(f"labels_{m}_{depth}")
            assert film.network.hidden_widths == (3,) * depth and film.network.middle == "u_eps"
            assert film.data.classes == 2 and len(film.data.points) == m


def drawn_at_random():
    """The films' labels are random ones, and each film has one network, of one of the first eight seeds."""
    for m in films.RANDOM_POINT_COUNTS:
        data = random_labels(m, seed=films.FILMED_LABELLING)
        for depth in films.DEPTHS:
            film = shipped(f"labels_{m}_{depth}")
            np.testing.assert_array_equal(film.data.labels, data.labels)
            assert film.seeds == 1 and 0 <= film.settings["seed"] < 8


def training_begins():
    numbers = {number.name: number for number in NUMBERS}
    assert (numbers["lr"].default, numbers["seeds"].default) == (0.01, 32)
    assert numbers["lr"].min <= 0.03 <= numbers["lr"].max


def the_table():
    assert films.LABELLINGS == 4 and all(row["networks"] == 4 * 8 for row in ROWS.values())
    for m in films.RANDOM_POINT_COUNTS:
        for depth in films.DEPTHS:
            settings = shipped(f"labels_{m}_{depth}").settings
            assert (settings["lr"], settings["steps"]) == (0.03, 4000)
    rows = recipe_of(SCENE).facts.rows
    for m, row in zip(films.RANDOM_POINT_COUNTS, rows, strict=True):
        assert row == [f"{m} points", *(f"{count} of 32" for count in counts(m))]


def first_more_then_fewer():
    assert max(films.DEPTHS) == 6
    for m in (8, 16):
        best = int(np.argmax(counts(m)))
        assert (np.diff(counts(m))[:best] >= 0).all() and counts(m)[-1] < counts(m)[best] > counts(m)[0]
    assert counts(32) == [0] * 6


def centring_before_the_division():
    """In 3D, LayerNorm(Wx + b) is √3·u(C(Wx + b)), where C is centring and u(y) = y/√(‖y‖² + 3ε)."""
    rng = np.random.default_rng(0)
    weights, bias, x = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(20, 3))
    centring = np.eye(3) - 1 / 3
    expected = np.sqrt(3) * u_eps(x @ (centring @ weights).T + centring @ bias, eps=3e-3)
    np.testing.assert_allclose(layer_norm(x @ weights.T + bias, eps=1e-3), expected)


def more_starts():
    assert sum(map(len, starts(0.03, 4000))) == 1 and ROWS[32, 4]["fitted"] == 0


def xor_without_three_in_a_row():
    """No line separates the classes of XOR, but one does for any labels of three points not on one line."""
    corners, labels = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    assert (corners[labels == 0].mean(0) == corners[labels == 1].mean(0)).all()  # the hulls meet
    # so at three corners an affine function can have any values
    assert abs(np.linalg.det(np.column_stack([corners[:3], np.ones(3)]))) == 1


def sixteen():
    state, film, right = shown("Sixteen random labels")
    assert (state.choices["data"], film.network.depth) == ("16", 4)
    assert right == len(film.data.labels) == 16 and counts(16)[4 - 1] == 19


def torn():
    """At the stop “The price”, the decision is torn.

    On more than a quarter of the segments that join two points of the same label, the prediction changes.
    """
    state, film, _ = shown("The price")
    net, points, labels = state.recipe.cloud("logit").place, film.data.points.astype(float), film.data.labels
    pairs = [(i, j) for i in range(16) for j in range(i) if labels[i] == labels[j]]
    at = np.linspace(0, 1, 50)[:, None]
    ways = np.stack([(1 - at) * points[i] + at * points[j] for i, j in pairs])
    answers = net.stages(ways.reshape(-1, 2), state.params)[-1].reshape(ways.shape[:2]) > 0
    assert np.mean(answers.any(1) & ~answers.all(1)) > 0.25


def the_fold():
    recipe = stop("labels", "The fold").recipe
    first, second = layers(recipe, 2), layers(recipe, 4)
    assert 0.45 < covered(first) < 0.5 and folded(first, 1) == 1
    assert 0.05 < covered(second) < 0.1 and folded(second, 2) > 0.8


def an_arc():
    """In all networks for XOR, the first linear layer maps the plane nearly to a line that misses the origin.

    u_ε bends this line to an arc, along which the prediction changes twice.
    """
    film = shipped("xor")
    for seed in range(film.seeds):
        line = film.pipeline(seed).stages(film.data.points.astype(float), {"step": float(film.steps[-1])})[1]
        wide, narrow, _ = np.linalg.svd(line - line.mean(0), compute_uv=False)
        along = np.linalg.svd(line - line.mean(0), full_matrices=False)[2][0]
        assert narrow < wide / 60
        assert np.linalg.norm(line.mean(0) - (line.mean(0) @ along) * along) > 5 * narrow / np.sqrt(len(line))
    state = stop("labels", "One norm for XOR")
    view, sheet = state.recipe.views[0], state.recipe.cloud("sheet").stages(state.params)[-1]
    across = np.linalg.svd(sheet[:, :3] - sheet[:, :3].mean(0), full_matrices=False)
    assert across[1][2] < 0.01 * across[1][1] and abs(across[2][2] @ view.camera) > 0.95 * np.linalg.norm(
        view.camera
    )
    around = np.arctan2(sheet[:, :3] @ across[2][1], sheet[:, :3] @ across[2][0])
    middle = np.angle(np.exp(1j * around).mean())
    order = np.argsort(np.angle(np.exp(1j * (around - middle))))
    answers = sheet[order, 3] > 0
    assert (answers[1:] != answers[:-1]).sum() == 2


def one_fold():
    """With one layer, the networks of all seeds classify XOR correctly."""
    state, film, right = shown("One norm for XOR")
    assert film.network.depth == 1 and film.solved(1).all() and right == len(film.data.labels)
    assert state.progress == len(state.recipe.stages) - 1


def thirty_two():
    state, film, right = shown("Too many")
    assert (state.choices["data"], len(film.data.labels), right) == ("32", 32, 31)
    assert counts(32) == [0] * 6


def smaller_steps():
    few, many = starts(0.01, 4000), starts(0.01, 20_000)
    assert [sum(map(len, each)) for each in (few, many)] == [4, 32] and 4 * 32 == 128
    assert [len(each) for each in few] == [0, 0, 0, 4] and films.FILMED_LABELLING == 3
    large = len([k for each in starts(0.03, 4000) for k in each])
    by_step, by_time = (fisher_exact([[a, 128 - a], [b, 128 - b]]).pvalue for a, b in ((large, 4), (4, 32)))
    assert large == 1 and by_step > 0.05 and by_time < 0.01
    never = [k for k in range(4) if not (few[k] or many[k] or starts(0.03, 4000)[k])]
    assert len(never) == 2


def deep_and_less_deep():
    """Fewer of 32 networks fit all labels with depth 6 than with depth 4.

    By Fisher's exact test, the difference is significant for 8 points, but not for 16.
    """
    assert (counts(8)[6 - 1], counts(8)[4 - 1], counts(16)[6 - 1], counts(16)[4 - 1]) == (23, 32, 14, 19)
    clear, less = (
        fisher_exact([[counts(m)[3], 32 - counts(m)[3]], [counts(m)[5], 32 - counts(m)[5]]]).pvalue
        for m in (8, 16)
    )
    assert clear < 0.01 and less > 0.05


def around_a_square():
    points = shipped("xor").data.points
    assert len(points) == 120
    corners = np.sign(points)
    assert len(np.unique(corners, axis=0)) == 4 and np.linalg.norm(points - corners, axis=-1).max() < 1


def a_small_patch_hardly_bends():
    """If a Linear makes a sheet small, the norm after it is nearly linear: the next Linear can undo both."""
    sheet, eps = np.random.default_rng(0).uniform(-1, 1, (200, 3)), 1e-3
    for size in (1e-2, 1e-3, 1e-4):
        back = u_eps(size * sheet, eps=eps) * np.sqrt(eps) / size
        assert 0 < np.abs(back - sheet).max() < 1.5 * size**2 / eps


CLAIMS = {
    "A deeper network can imitate a shallower one as closely as we like, because a linear map can make the sheet very small and put it at the origin. There a norm with an $\\varepsilon$ above 0 hardly bends it: it divides every vector by nearly $\\sqrt\\varepsilon$.": a_small_patch_hardly_bends,
    "(Only *XOR* is different: it has 120 points around the corners of a square": around_a_square,
    "With 8 points the effect is clear: 23 of 32 networks of depth 6 fit all labels, and all 32 of depth 4. With 16 "
    "points it is less so: 14 of depth 6 against 19 of depth 4.": deep_and_less_deep,
    "As layers are added, the number of networks that fit first rises and then falls (see the table). This is clear with 8 points, and less clear with 16.": first_more_then_fewer,
    "showed in 2024 that width three is enough": sixteen,
    "With enough layers of three neurons a network can separate them, but training often does not find such a network.": first_more_then_fewer,
    "The network has three neurons a layer": width,
    "In the end a plane separates the two answers": width,
    "the best of eight starts": drawn_at_random,
    "Unfold *Train it yourself* and press *Train*, and 32 networks of this depth learn the same labels": training_begins,
    "The table says how many of 32 networks have fitted every label, for each number of points and each depth: four "
    "sets of labels, eight starts each, 4,000 steps with a learning rate of 0.03.": the_table,
    "*Train* begins with a learning rate of 0.01, so its results may differ; type 0.03 to train as for the "
    "table.": training_begins,
    "(The theorem holds for $u_\\varepsilon$ too. LayerNorm is centring, then this division, and the linear map before $u_\\varepsilon$ can do the centring.)": centring_before_the_division,
    "With 32 points no network in the table, of up to six layers, has fitted all labels.": first_more_then_fewer,
    "Then we trained with more starts: 128 networks of depth 4, 32 for each set of labels instead of 8, with the settings of the table. One of them fits its labels. So for at least one of the four sets a fitting network exists, but this training rarely finds it. (A smaller learning rate and more steps find it more often: see “Does the theorem fail here?”.)": more_starts,
    "Three points that do not lie on one line can be separated by a line, whatever their labels. Four points cannot always: "
    "in XOR, opposite corners of a square belong together.": xor_without_three_in_a_row,
    "### Sixteen random labels Four layers, sixteen points. This network has fitted them all, as 19 of the 32 in the table did": sixteen,
    "the decision is torn and twisted.": torn,
    r"With one $u_\varepsilon$ they can be separated.": one_fold,
    r"The second $u_\varepsilon$ has folded the sheet. On the first sphere the sheet covered nearly half, nowhere double. On this sphere it is pressed into less than a tenth, and most of it lies double.": the_fold,
    "XOR with a single $u_\\varepsilon$": one_fold,
    "the Linear presses the plane almost onto a line beside the origin, $u_\\varepsilon$ bends it to an arc, and a "
    "plane cuts the arc at two places.": an_arc,
    "Thirty-two points. One stays on the wrong side, so the network fits 31 of 32. The table has no network that "
    "fits them all.": thirty_two,
    "Longer training finds more: with a learning rate of 0.01, 4 of 128 networks of depth 4 fit 32 points after 4,000 steps, and 32 of 128 after 20,000.": smaller_steps,
    "with 0.03, one of 128 networks fits the 32 points after 4,000 steps. We have not tried a rate below 0.01. Much depends on the labels. There are four sets of labels, with 32 networks each. The 4 networks that fit after 4,000 steps with a rate of 0.01 all have the same set, the one shown here. Two of the sets were fitted in none of these trainings.": smaller_steps,
}
