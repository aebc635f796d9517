"""Which film a link with a network names, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from components import runs, trained
from components.scene import Choice, Scene, Training, Whole, WrongValue, scenes
from components.trained import at_rest, builder, film_for, results, seed_of
from geometry.datasets import xor
from geometry.film import Film, shipped
from geometry.network import Network, initial
from geometry.weights import weights_text
from tests.components.recipes import recipe

NET = Network(2, 3, 1, 1)
DATA = xor(20, noise=0.1, seed=0)
WIDE = replace(NET, width=4)
NONE = {"run": "", "net": "", "seed": 0}
EXACT = 1e-6  # of single-precision weights


@pytest.fixture
def film():
    return at_rest(NET, DATA, initial(NET, range(3)))


def test_nothing_named_is_untrained(film):
    found = film_for(NONE, NET, DATA, [])
    assert found.seeds == trained.SEEDS and list(found.steps) == [0]
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


@pytest.mark.parametrize("text", ["nonsense", "", weights_text(WIDE, np.zeros(WIDE.size, np.float32))])
def test_a_link_with_another_network_is_refused(text):
    with pytest.raises(WrongValue) as wrong:
        film_for(NONE | {"net": text or "AAAA"}, NET, DATA, [])
    assert wrong.value.parameter == "net" and wrong.value.error


def test_weights_that_overflow_are_refused_with_words():
    flat = np.full(NET.size, 3e38, np.float32)
    with pytest.raises(WrongValue, match="net"):
        film_for(NONE | {"net": weights_text(NET, flat)}, NET, DATA, [])


def test_a_seed_beyond_the_film_is_refused(film):
    assert seed_of(NONE | {"seed": 2}, film) == 2
    with pytest.raises(WrongValue, match="has 3") as wrong:
        seed_of(NONE | {"seed": 3}, film)
    assert wrong.value.allowed["max"] == 2


def test_a_result_is_no_control_and_is_given_up_with_what_it_is_of():
    run, net = results("a")
    scene = Scene("s", "", "", (Whole("a", "", 1, 1, 2), run, net), lambda choices: recipe(3))
    assert scene.choose({}) == {"a": 1, "run": "", "net": ""}
    assert [c["kind"] for c in scene.json()["choices"]] == ["whole", "result", "result"]
    assert scene.json()["choices"][1]["of"] == ("a",)


@pytest.mark.parametrize("scene", [s for s in scenes().values() if s.training], ids=lambda s: s.slug)
def test_every_choice_that_changes_the_task_gives_results_up(scene):
    """Else a link could name a run for what is no longer shown."""
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


def test_builder_shows_the_film_of_its_choices(film):
    told = []
    training = Training(lambda choices: (NET, DATA), lambda choices, shown: told.append(shown) or recipe(3))
    assert builder(training)(NONE).views and isinstance(told[0], Film)
