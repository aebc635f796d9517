"""The film that a scene shows for the choices of a link, and links that are refused."""

from dataclasses import replace

import numpy as np
import pytest

from components.language.scene import Choice, File, Scene, Training, Whole, WrongValue, scenes
from components.scenes.trained import SEEDS, own, results, seed_of
from components.training import runs
from components.training.recipes import at_rest, built, film_for, recipe_of
from learning.datasets import xor
from learning.file_error import FileError
from learning.film import Film, json_table
from learning.network import Network, initial
from learning.shipped import film as shipped
from learning.weights import weights_text
from tests.components.recipes import recipe

NET = Network(2, 3, 1, 1)
DATA = xor(20, noise=0.1, seed=0)
WIDE = replace(NET, width=4)
NONE = {"run": "", "net": "", "seed": 0}
EXACT = 1e-6  # tolerance for single-precision weights


@pytest.fixture
def film():
    return at_rest(NET, DATA, initial(NET, range(3)))


def test_nothing_named_is_untrained(film):
    found = film_for(NONE, NET, DATA, [])
    assert found.seeds == SEEDS and list(found.steps) == [0]
    np.testing.assert_array_equal(found.weights[:3], film.weights)


def test_loss_and_accuracy_are_those_of_the_network(film):
    logits = NET.pipeline(film.weights[1, 0].astype(float)).stages(DATA.points.astype(float))[-1][:, 0]
    chance = 1 / (1 + np.exp(-logits))
    want = -np.log(np.where(DATA.labels == 1, chance, 1 - chance)).mean()
    assert abs(film.loss[1, 0] - want) < EXACT
    assert abs(film.accuracy[1, 0] - ((logits > 0) == DATA.labels).mean()) < EXACT


def test_a_shipped_film_is_found_by_its_network_and_data():
    known = shipped("spiral")
    assert film_for(NONE, known.network, known.data, ["octants", "spiral"]) is known
    other = replace(known.network, eps=0.5)
    assert len(film_for(NONE, other, known.data, ["octants", "spiral"]).steps) == 1


def test_a_stored_run_comes_back(film, monkeypatch):
    monkeypatch.setattr(runs, "load", {"a": film}.__getitem__)
    assert film_for(NONE | {"run": "a"}, NET, DATA, []) is film
    with pytest.raises(WrongValue) as wrong:
        film_for(NONE | {"run": "a"}, WIDE, DATA, [])
    assert wrong.value.parameter == "run"


def test_a_link_carries_a_network(film):
    flat = film.weights[2, 0]
    found = film_for(NONE | {"net": weights_text(NET, flat)}, NET, DATA, [])
    np.testing.assert_array_equal(found.weights[0, 0], flat)
    assert seed_of(NONE | {"net": "x", "seed": 9}, found) == 0


@pytest.mark.parametrize("text", ["nonsense", "AAAA"])
def test_a_link_whose_network_cannot_be_read_is_refused(text):
    with pytest.raises(WrongValue) as wrong:
        film_for(NONE | {"net": text}, NET, DATA, [])
    assert wrong.value.parameter == "net" and wrong.value.error


@pytest.mark.parametrize("other", [WIDE, replace(NET, inputs=3)])
def test_a_link_with_another_network_says_that_it_was_trained_for_other_choices(other):
    text = weights_text(other, np.zeros(other.parameter_count, np.float32))
    with pytest.raises(WrongValue, match="net was trained for other choices") as wrong:
        film_for(NONE | {"net": text}, NET, DATA, [])
    assert wrong.value.parameter == "net"


def test_weights_that_overflow_are_refused_with_words():
    flat = np.full(NET.parameter_count, 3e38, np.float32)
    with pytest.raises(WrongValue, match="net"):
        film_for(NONE | {"net": weights_text(NET, flat)}, NET, DATA, [])


def test_a_link_cannot_name_every_activation():
    network = replace(NET, middle="gelu")
    with pytest.raises(FileError, match="gelu cannot be in a link"):
        weights_text(network, np.zeros(network.parameter_count))


def test_a_seed_beyond_the_film_is_refused(film):
    assert seed_of(NONE | {"seed": 2}, film) == 2
    with pytest.raises(WrongValue, match="has 3") as wrong:
        seed_of(NONE | {"seed": 3}, film)
    assert wrong.value.allowed["max"] == 2


def test_a_result_is_no_control_and_is_given_up_with_what_it_is_of():
    run, net = results("a")
    scene = Scene("stretch", lambda _: recipe(3), choices=(Whole("a", "", 1, 1, 2), run, net))
    assert scene.choose({}) == {"a": 1, "run": "", "net": ""}
    assert [c["kind"] for c in scene.json()["choices"]] == ["whole", "result", "result"]
    assert scene.json()["choices"][1]["of"] == ("a",)


@pytest.mark.parametrize("scene", [s for s in scenes().values() if s.training], ids=lambda s: s.slug)
def test_every_choice_that_changes_the_task_gives_results_up(scene):
    """Each choice that changes the task of a training is in the field `of` of the scene's results.

    So a change of this choice removes a result (`run`, `net`) from the link. Otherwise a link could name a
    run of another task.
    """
    of = {name for c in scene.choices if c.name in ("run", "net") for name in c.of}
    usual = scene.training.task(scene.choose({}))
    for choice in scene.choices:
        values = (
            choice.options
            if isinstance(choice, Choice)
            else [getattr(choice, "min", ""), getattr(choice, "max", "")]
        )
        for value in map(str, values):
            if choice.name in ("run", "net", *of):
                continue
            network, data = scene.training.task(scene.choose({choice.name: value}))
            assert network == usual[0] and np.array_equal(data.points, usual[1].points), choice.name


def test_a_scene_is_built_of_the_film_of_its_choices_and_of_its_files():
    told = []
    files = (File("labels.json", json_table), File("labels.json", len))
    scene = Scene(
        "x.y",
        lambda choices, *found: told.append(found) or recipe(3),
        training=Training(lambda choices: (NET, DATA), lambda choices: ()),
        files=lambda choices: files,
    )
    assert built(scene, NONE).views
    [(film, table, size)] = told
    assert isinstance(film, Film) and film.network == NET and table[0]["m"] == 8 and size > 1000


# --- the reader's own points


@pytest.mark.parametrize(("slug", "d"), [("spiral", 2), ("octants", 3)])
def test_points_of_ones_own_are_learned_moved_and_scaled_to_the_unit_ball(slug, d):
    rng = np.random.default_rng(0)
    given = 50 * rng.normal(size=(9, d)) + 7
    text = "; ".join(", ".join([*map(str, point), "ab"[k % 2]]) for k, point in enumerate(given))
    network, data = scenes()[slug].training.task(scenes()[slug].choose({"data": "own", "points": text}))
    centred = given - given.mean(0)
    np.testing.assert_allclose(data.points, centred / np.linalg.norm(centred, axis=1).max(), atol=EXACT)
    assert network.inputs == d and list(data.labels) == [k % 2 for k in range(9)]


SAME = "; ".join(["1, 1, 1, a"] * 3 + ["1, 1, 1, b"])


def test_points_that_are_all_one_stay_finite():
    assert not own(SAME, 3).points.any()
    recipe = recipe_of(scenes()["octants"], data="own", points=SAME)
    assert np.isfinite(recipe.positions(recipe.defaults, 0)["data"]).all()


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("; 1, x, 1, b", "line 5: 'x' is not a number"),
        ("; 1, 1, b", "line 5: 3 columns"),
        ("; 1e9, 1, 1, b", "line 5: 1e9 is not within"),
        ("; NaN, 1, 1, b", "line 5: NaN is not within"),
        ("; 1, 1, 1, b; 1, 1, 1, c", "line 6: a third label"),
        ("", "all points have the label 'a'"),
    ],
)
def test_what_are_no_points_is_refused_with_its_line(end, words):
    with pytest.raises(WrongValue, match=words) as wrong:
        own("; ".join(["0.5, 1, 2, a"] * 4) + end, 3)
    assert wrong.value.parameter == "points" and wrong.value.allowed == "x, y, z, label on each line"


@pytest.mark.parametrize(("slug", "other"), [("spiral", "0, 0, 0, a"), ("octants", "0, 0, a")])
def test_points_of_another_space_are_refused(slug, other):
    text = "; ".join([other] * 3 + [other.replace("a", "b")])
    with pytest.raises(WrongValue, match="this scene has points"):
        recipe_of(scenes()[slug], data="own", points=text)


def test_the_painted_sphere_lets_points_inside_be_seen_and_says_what_it_shows():
    opaque, glass = (
        next(v for v in recipe_of(scenes()["octants"], data=data).views if v.name == "ball")
        for data in ("octants", "own")
    )
    assert opaque.layers[0].opacity == 1 > glass.layers[0].opacity and "unit sphere" in glass.title


# --- random labels


@pytest.mark.parametrize("data", ["8", "16", "32", "xor"])
def test_labels_show_what_is_shipped_until_they_are_trained(data):
    labels = scenes()["labels"]
    chosen = labels.choose({"data": data, "depth": "2"})
    network, points = labels.training.task(chosen)
    assert network.width == 3 and network.depth == (1 if data == "xor" else 2)
    assert built(labels, chosen).clock == "step"
    film = at_rest(network, points, initial(network, range(4)))
    run = runs.save(film)
    shown = recipe_of(labels, data=data, depth=2, run=run, seed=3)
    assert shown.readouts[0].label == "Accuracy of seed 3" and shown.facts.title.startswith("Networks that")
    net = weights_text(network, film.weights[1, 0])
    assert recipe_of(labels, data=data, depth=2, net=net).readouts[0].label == "Accuracy of seed 0"
    with pytest.raises(WrongValue, match="has 1"):
        recipe_of(labels, data=data, depth=2, seed=3)
    seed = next(c for c in labels.json()["choices"] if c["name"] == "seed")
    assert seed["kind"] == "picked" and "depth" in seed["of"], "another depth goes back to the shipped film"
    with pytest.raises(WrongValue) as wrong:
        recipe_of(labels, data="8", depth=5, run=run)
    assert wrong.value.parameter == "run"
