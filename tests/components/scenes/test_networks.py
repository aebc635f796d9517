"""Figures of trained networks are right: separating plane, field, curves, numbers."""

import numpy as np
import pytest

from components.language.framing.paper import eye
from components.language.marks import Disc, Replay, Rim, Sheet
from components.language.scene import scenes
from components.scenes.curves import curves, snapping
from components.scenes.networks import CAMERA, LOGIT, facts, folding, network, projection, readouts
from components.training.recipes import at_rest, recipe_of
from geometry.pipeline import Normalize
from geometry.plane import along
from learning.datasets import spiral
from learning.events import drops
from learning.film import Film, score
from learning.network import MIDDLES, Network, initial
from learning.shipped import film as shipped
from learning.swings import SIDE_CHANGE_DEGREES, turns

SINGLE = 1e-4  # tolerance of logits of size 10, computed from weights in single or half precision
TRAINED = ("spiral", "octants")


@pytest.fixture(params=TRAINED)
def film(request):
    return shipped(request.param)


def at(film, k):
    return {"step": float(film.steps[k])}


@pytest.mark.parametrize("k", [0, 40, -1])
def test_the_plane_is_where_the_logit_vanishes(film, k):
    """The last linear layer gives the logit 0 at every point of the disc that shows the separating plane.

    At the first checkpoint the plane may miss the ball. k: the index of a checkpoint.
    """
    view, _ = folding(film, 1)
    [layer] = [each for each in view.layers if isinstance(each, Disc)]
    recipe = recipe_of(scenes()[film.data.name], seed=1)
    disc = layer.points(recipe.moment(at(film, k), 0))
    last = network(film, 1).steps[-1]
    values = last.apply(disc, at(film, k))
    seen = np.linalg.norm(disc[0]) < layer.radius - SINGLE  # otherwise the plane misses the ball
    assert not seen or abs(values).max() < SINGLE
    assert seen or k == 0


def test_the_data_end_on_the_unit_sphere_and_the_sign_of_the_plane_is_the_answer(film):
    _, (data, *_) = folding(film, 0)
    points = data.stages(at(film, -1))[-1]
    norms = np.linalg.norm(points, axis=-1)
    assert norms.max() <= 1 and np.median(norms) > 0.99  # ε keeps some inside
    answer = network(film, 0).steps[-1].apply(points, at(film, -1))[:, 0] > 0
    assert (answer == film.data.labels).mean() == pytest.approx(film.accuracy[0, -1], abs=0.011)


@pytest.mark.parametrize("k", [0, 40, -1])
def test_the_sheet_goes_where_its_places_would_go_as_data_in_the_colours_of_the_answer(film, k):
    recipe = recipe_of(scenes()[film.data.name], seed=2)
    [sheet] = [each for each in recipe.views[0].layers if isinstance(each, Sheet)]
    assert min(sheet.grid) >= 40
    places, net = recipe.cloud(sheet.cloud), network(film, 2)
    *found, last = places.stages(at(film, k))
    for here, want in zip(found, net.stages(places.points, at(film, k)), strict=False):
        np.testing.assert_allclose(here, want, atol=1e-12)
    np.testing.assert_array_equal(last[:, :-1], found[-1])  # the network rests while the plane appears
    values = sheet.values(recipe.moment(at(film, k), 1.5))
    np.testing.assert_allclose(values, net.stages(places.points, at(film, k))[-1][:, 0], atol=1e-9)


@pytest.mark.parametrize(
    "choices", [{"middle": m} for m in MIDDLES] + [{"width": w} for w in (2, 5, 8)], ids=str
)
@pytest.mark.parametrize("slug", TRAINED)
def test_networks_of_every_kind_have_their_sheet(slug, choices):
    """For networks of any kind and width, the first view has one mark `Sheet`, a surface.

    It is drawn in the same coordinates as the data, and all its points are finite.
    """
    recipe = recipe_of(scenes()[slug], depth=2, **choices)
    [sheet] = [each for each in recipe.views[0].layers if isinstance(each, Sheet)]
    moment = recipe.moment(recipe.defaults, len(recipe.stages) - 1)
    assert sheet.points(moment).shape == (np.prod(sheet.grid), 3) and np.isfinite(sheet.points(moment)).all()
    assert sheet.rows == next(each for each in recipe.views[0].layers if each.role == "class-0").rows


@pytest.mark.parametrize(
    "slug, choices", [("spiral", {}), ("labels", {}), ("labels", {"data": "xor"}), ("octants", {})]
)
def test_a_plane_that_parts_the_classes_is_seen_edge_on_from_the_first(slug, choices):
    recipe = recipe_of(scenes()[slug], **choices)
    [view, *_] = recipe.views
    corners, sides = recipe.cloud("plane").at(recipe.defaults, 0)[:, 0], np.diff(view.ranges)[:, 0]
    away, normal = along(corners)
    assert view.camera * sides @ normal == pytest.approx(away, abs=0.002 * sides.max())
    assert 0.15 < view.camera[2] / np.linalg.norm(view.camera) < 0.85
    other = recipe_of(scenes()["labels"], data="32").views[0]
    assert other.camera == eye(CAMERA), "where it does not part them, it faces the reader"


def test_accuracy_beside_the_picture_is_that_of_the_film_at_its_checkpoints(film):
    (accuracy, _), (logit, track) = readouts(film, 0)
    for k in (0, 20, len(film.steps) - 1):
        values = logit.at(at(film, k), 0) @ LOGIT.weights
        right = ((values > accuracy.threshold) == (accuracy.classes == 1)).mean()
        assert right == pytest.approx(
            film.accuracy[0, k], abs=0.011
        )  # one point in a hundred, at the boundary
        assert track.at(at(film, k), 0)[0, 0] == pytest.approx(film.loss[0, k], abs=SINGLE)


@pytest.mark.parametrize("what", ["loss", "accuracy"])
def test_curves_of_every_seed_and_the_clock_on_the_shown_one(film, what):
    view, clouds = curves(film, 2, what)
    named = {c.name: c for c in clouds}
    values = np.log10(film.loss) if what == "loss" else film.accuracy
    np.testing.assert_allclose(named["seeds"].points[:, 1], values.ravel())
    for k in (0, 30, len(film.steps) - 1):
        np.testing.assert_allclose(
            named["here"].at(at(film, k), 0), [[film.steps[k], values[2, k]]], atol=SINGLE
        )
        assert (named["now"].at(at(film, k), 0)[:, 0] == film.steps[k]).all()
    [seeds] = [layer for layer in view.layers if layer.cloud == "seeds"]
    name, each = seeds.hand.choice, seeds.hand.numbers
    assert name == "seed" and list(each[:: len(film.steps)]) == list(range(film.seeds))


def shown(film, seed, what):
    """The view of a film's curves, a dict of its clouds by name, and a dict of its marks by cloud name.

    what: "loss", "accuracy", "both" or "gradient", as in `curves`.
    """
    view, clouds = curves(film, seed, what)
    return view, {c.name: c for c in clouds}, {layer.cloud: layer for layer in view.layers}


def test_loss_and_accuracy_together(film):
    """With the choice "both", the graph has the curves of loss and accuracy, on one axis from 0 to 1."""
    view, named, layers = shown(film, 2, "both")
    np.testing.assert_allclose(named["own"].points[:, 1], film.loss[2])
    np.testing.assert_allclose(named["fellow"].points[:, 1], film.accuracy[2])
    assert layers["fellow"].title == "accuracy" and layers["fellow"].dash != layers["own"].dash
    low, high = view.ranges[1]
    assert low <= 0 and high >= 1


def test_the_gradient_beside_the_loss(film):
    """The curve "gradient" of a training is log₁₀ of the gradient's length, tested at three checkpoints.

    It is compared with the length of the gradient by finite differences of the loss.
    """
    _, named, layers = shown(film, 2, "gradient")
    assert "gradient" in layers["fellow"].title
    net, h = film.network, 1e-6
    for k in (0, 60, len(film.steps) - 1):
        w = film.weights[2, k].astype(float)
        ends = [
            net.pipeline(w + sign * h * np.eye(len(w))).stages(film.data.points.astype(float))[-1]
            for sign in (1, -1)
        ]
        up, down = ([score(each, film.data.labels)[0] for each in end] for end in ends)
        length = np.linalg.norm(np.subtract(up, down) / (2 * h))
        assert named["fellow"].points[k, 1] == pytest.approx(np.log10(length), abs=0.01)


def test_the_fold_of_a_drop_is_told_and_shown(film):
    """`facts` says how many points turn by over 90° in the largest drop of the loss, and at which norm.

    This is the norm at which most points turn. The test counts the points from their positions after each
    norm (u_ε). If the choice `curve` is "gradient", and only then, the picture marks these points.
    """
    seed = {"spiral": 8, "octants": 20}[film.data.name]
    event = max(drops(film.steps, film.loss[seed]), key=lambda e: e.before - e.after)
    stages = [folding(film, seed)[1][0].stages({"step": float(step)}) for step in (event.start, event.end)]
    across = []
    for k in range(2, 2 * film.network.depth + 1, 2):
        a, b = (each[k] for each in stages)
        across.append(np.flatnonzero((a * b).sum(-1) < 0))  # turned by more than 90°
    layer = int(np.argmax([len(each) for each in across]))
    told, count = dict(facts(film, seed).rows)[f"sudden drops of seed {seed}, steps"], len(across[layer])
    place = f"at u<sub>ε</sub> {layer + 1}"
    words = f"{event.start:,} … {event.end:,}, with {count} points turning by over 90° {place}"
    assert words in told and count
    recipe = recipe_of(scenes()[film.data.name], seed=seed, curve="gradient")
    [marks] = [each for each in recipe.views[0].layers if each.title == "turn by over 90° during the drop"]
    assert list(marks.only) == list(across[layer])
    for curve in ("loss", "accuracy", "both"):
        layers = recipe_of(scenes()[film.data.name], seed=seed, curve=curve).views[0].layers
        assert "turn by over 90° during the drop" not in [each.title for each in layers]


def test_a_drop_without_a_sphere_names_no_fold():
    """In a network with tanh in place of norms, `facts` lists the drops of the loss, but no points that turn.

    Points are counted only where they turn at a norm.
    """
    film = shipped("spiral")
    net = Network(2, 3, 2, 1, "tanh")
    plain = Film(
        net, film.data, film.steps, film.weights, film.loss, film.accuracy, film.ended, film.settings
    )
    assert "turn" not in dict(facts(plain, 8).rows)["sudden drops of seed 8, steps"]
    assert not snapping(plain, 8) and snapping(film, 8)


def test_events_of_the_loss_differ_without_colour():
    """Plateaus and drops differ in form from each other, and from the solid curve under them."""
    film = shipped("spiral")
    layers = [layer for seed in range(film.seeds) for layer in curves(film, seed, "loss")[0].layers]
    looks = {
        layer.title: (type(layer), getattr(layer, "dash", ""), getattr(layer, "glyph", ""))
        for layer in layers
    }
    assert len({looks[name] for name in ("this seed", "plateau", "drop")}) == 3


def test_curves_without_a_training_say_so(film):
    one = at_rest(film.network, film.data, film.weights[:, -1])
    assert (
        curves(one, 0, "loss")[0].title == "no training recorded" and curves(film, 0, "loss")[0].title == ""
    )


def test_a_click_on_a_curve_knows_its_seed(film):
    """In the graph of the loss, one mark draws the curves of all seeds, and each point has its seed's number.

    So a click on a curve can choose its seed.
    """
    view, clouds = curves(film, 0, "loss")
    [layer] = [each for each in view.layers if each.cloud == "seeds"]
    [cloud] = [c for c in clouds if c.name == "seeds"]
    assert sorted(layer.order[layer.order >= 0]) == list(range(len(cloud.points)))
    steps, heights = cloud.points.T
    losses = film.loss[layer.hand.numbers, np.searchsorted(film.steps, steps)]
    np.testing.assert_allclose(heights, np.log10(np.maximum(losses, 1e-6)))


def test_wide_layers_are_seen_from_the_last_linear():
    """A network with layers of six neurons is drawn in three dimensions, without a separating plane.

    The three display axes are orthonormal. The first is the direction of the last Linear, which separates the
    classes.
    """
    net, data = Network(2, 6, 2, 1), spiral(40, turns=1, noise=0, seed=0)
    weights = initial(net, range(2))
    film = Film(net, data, np.array([0]), weights[:, None], np.ones((2, 1)), np.ones((2, 1)), ("", ""))
    P, (A, _) = projection(film, 1), net.unflatten(weights[1].astype(float))[-1]
    np.testing.assert_allclose(P @ P.T, np.eye(3), atol=SINGLE)
    np.testing.assert_allclose(P[0] * np.linalg.norm(A), A[0], atol=SINGLE)
    view, _ = folding(film, 1)
    assert not [layer for layer in view.layers if isinstance(layer, Disc | Rim)] and not view.edge


def test_a_projection_of_a_narrow_last_layer_is_refused():
    net, data = Network(2, 5, 2, 1, widths=(5, 1)), spiral(40, turns=1, noise=0, seed=0)
    film = at_rest(net, data, initial(net, range(1)))
    with pytest.raises(ValueError, match=r"must be the widest to be projected: got widths \(5, 1\)$"):
        projection(film, 0)


def test_facts_are_those_of_the_run(film):
    told = dict(facts(film, 0).rows)
    assert told["seeds that solve it (accuracy ≥ 0.99)"] == f"{film.solved().sum()} of {film.seeds}"
    assert told["parameters of each network"] == str(film.network.parameter_count)


def test_without_training_there_is_no_clock_and_no_claim():
    recipe = recipe_of(scenes()["spiral"], depth=1, width=5)
    assert recipe.clock == "" and not recipe.parameters and recipe.facts is None
    assert np.isfinite(recipe.positions({}, 0)["data"]).all()


def test_points_of_ones_own_fill_the_unit_disc():
    recipe = recipe_of(scenes()["spiral"], data="own", points="0,0,no; 100,0,yes; 0,300,no; 50,50,yes")
    assert np.linalg.norm(recipe.cloud("data").points, axis=-1).max() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(0, 32, 5))
def test_a_click_on_a_drop_plays_it_at_the_fold_that_snaps_in_it(film, seed):
    """A click on a drop of the loss plays the training through the drop, and shows a norm where points turn.

    The click follows the point that turns furthest at this norm. If no point turns by over
    SIDE_CHANGE_DEGREES at any norm, the click follows none.
    """
    view, _ = curves(film, seed, "loss")
    hands = [mark.hand for mark in view.layers if isinstance(getattr(mark, "hand", None), Replay)]
    found = drops(film.steps, film.loss[seed])
    assert len(hands) == bool(found)
    for hand in hands:
        spans, first = np.unique(hand.spans, axis=0, return_index=True)
        assert len(spans) == len(found)
        for event, (start, end), i in zip(found, spans, first, strict=True):
            steps = film.steps
            assert start <= event.start and end >= event.end and {start, end} <= {*steps.astype(float)}
            assert start < event.start or event.start == steps[0]
            ends = film.weights[seed, np.searchsorted(steps, [event.start, event.end])]
            angles = turns(film.network, *ends, film.data.points)
            if hand.follow[i] < 0:
                assert (angles <= SIDE_CHANGE_DEGREES).all()
                continue
            seen = hand.progress[i] // 2 - 1
            assert angles[seen, hand.follow[i]] == angles[seen].max() > SIDE_CHANGE_DEGREES
            assert folding(film, seed)[1][0].pipeline.steps[hand.progress[i] - 1].__class__ is Normalize
