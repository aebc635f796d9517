"""The text of the scene `language`, tested with the shipped weights and the shipped table."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog

from components.language.recipe import Letters
from components.language.scene import WrongValue
from components.scenes.language import SCENE
from components.scenes.language.build import ARMS, SENTENCES
from components.training.recipes import recipe_of
from geometry.centering import hyperplane_basis
from geometry.hull import vertices
from geometry.norms import layer_norm
from geometry.selection import certificate, largest_weights, selectable
from learning.language import EPS, forward, from_file
from learning.shipped import FOLDER, table
from learning.shipped import read as read_file
from tests.scenes import atlas
from tests.scenes.claims import said, stop
from tools.films import language as films

ROWS = table("language")

FILM = SENTENCES["film"]
GREAT = FILM.index("great") + 3  # the letter a
ROUNDING = 1e-9  # of double precision, after some thousand operations


def shipped(model):
    return read_file(f"{model}.safetensors", from_file)


@cache
def keys(**choices):
    """The keys that the scene draws: a list with one array for each stage."""
    return recipe_of(SCENE, **choices).cloud("keys").stages({})


@cache
def lost(sentence="film", layer=1, model="language", stage=0):
    """The indices of the keys that no query can select, as a list.

    sentence, layer, model: choices of the scene. stage: the stage at which the keys are taken.
    """
    every = keys(sentence=sentence, layer=layer, model=model)[stage]
    return np.flatnonzero(~selectable(every)).tolist()


def rows(scaled):
    return [row for row in ROWS if row["scaled"] == scaled]


def test_the_last_stage_is_what_attention_reads():
    """The cloud "true" begins as the model's residual stream, and ends as the model's keys.

    The cloud "keys" ends as the model's keys, too; but for a model whose norm only centres, these keys are
    divided by a number. At all stages, the cloud "shadow" is the projection of the cloud "keys" to the
    hyperplane.
    """
    show = hyperplane_basis(4)
    for model in ARMS:
        shape, weights = shipped(model)
        for layer in range(4):
            recipe = recipe_of(SCENE, model=model, layer=layer + 1)
            block = forward(shape, weights, shape.tokens(FILM)).blocks[layer]
            true, drawn, shadow = (recipe.cloud(name).stages({}) for name in ("true", "keys", "shadow"))
            np.testing.assert_allclose(true[0], block.stream, atol=ROUNDING)
            np.testing.assert_allclose(true[-1], block.keys, atol=ROUNDING)
            unit = np.abs(true[0]).max() / np.abs(drawn[0]).max()
            np.testing.assert_allclose(drawn[-1], block.keys / (1 if shape.scaled else unit), atol=ROUNDING)
            for flat, whole in zip(shadow, drawn, strict=True):
                np.testing.assert_allclose(flat, whole @ show.T, atol=ROUNDING)


@pytest.mark.parametrize("model", ARMS)
def test_of_every_sentence_all_keys_can_win_where_they_are_scaled_and_some_cannot_where_not(model):
    for sentence in SENTENCES:
        for layer in range(1, 5):
            stages = keys(sentence=sentence, layer=layer, model=model)
            counts = [len(stage) - len(vertices(stage)) for stage in stages]
            assert 0 < counts[0] <= counts[1], "what is inside stays inside a shadow"
            if model == "language":
                assert counts[2:] == [0, 0, 0]
            else:
                assert counts[2:] == [counts[1]] * 2


def test_the_marked_letters_are_those_that_no_query_can_choose():
    """The marked letters are inside the hull, and attention cannot give them a weight near 1."""
    recipe = recipe_of(SCENE)
    (text,) = (r for r in recipe.readouts if isinstance(r, Letters))
    assert "".join(recipe.cloud(text.cloud).labels) == FILM
    inside = np.setdiff1d(np.arange(60), vertices(keys()[0])).tolist()
    assert lost() == inside == np.flatnonzero(recipe.moment({}, 0).largest(text.cloud) < 1).tolist()
    assert recipe.follow in inside


@pytest.mark.parametrize("text", ["😀", "a 😀 b", "ø", "\u0000", "keys\nand more ✗"])
def test_what_the_model_has_never_read_is_refused_in_one_line(text):
    with pytest.raises(WrongValue, match="never read") as wrong:
        recipe_of(SCENE, sentence="own", own=text)
    assert wrong.value.parameter == "own" and len(wrong.value.error) < 80


@pytest.mark.parametrize("text", ["a", "aa", "?", "e" * 200])
def test_any_text_of_what_it_has_read_is_shown(text):
    recipe = recipe_of(SCENE, sentence="own", own=text)
    for points in recipe.positions({}, len(recipe.stages) - 1).values():
        assert np.isfinite(points).all()


def test_other_codes_keys():
    """The scene's keys in the first layer equal those that NumPy computes from the model's file.

    They are LayerNorm of the sum of the embeddings of tokens and positions.
    """
    shape, w = shipped("language")
    tokens = [shape.characters.index(each) for each in FILM]
    x = w["wte.weight"][tokens] + w["wpe.weight"][: len(FILM)]
    wanted = layer_norm(x, gamma=w["h.0.ln_1.weight"], beta=w["h.0.ln_1.bias"], eps=EPS)
    np.testing.assert_allclose(keys()[-1], wanted, atol=ROUNDING)


# --- the text


def the_model():
    for name in ARMS:
        shape, _ = shipped(name)
        assert (shape.width, shape.layers) == (4, 4) and len(shape.characters) == 87


def most_of_a_long_text():
    for row in rows(True):
        assert min(row["before"]) > 0.5 and row["after"] == [0] * 4


def a_hair_inside():
    """In a text of 200 equal letters, exactly one key is an average of the other keys, because of ε.

    This key is very near another one. Without ε there is no such key. Even with ε there is none in the texts
    of the table, and none in a text that repeats a word.
    """
    assert all(share == 0 for row in rows(True) for share in row["after"])
    recipe = recipe_of(SCENE, sentence="own", own="o" * 200)
    sphere = recipe.cloud("keys").stages(recipe.defaults)[2]
    (k,) = np.flatnonzero(~selectable(sphere))
    others = np.delete(sphere, k, axis=0)
    parts = linprog(np.zeros(199), A_eq=np.vstack([others.T, np.ones(199)]), b_eq=[*sphere[k], 1])
    assert parts.status == 0 and np.linalg.norm(others - sphere[k], axis=1).min() < 2e-3
    assert selectable(sphere / np.linalg.norm(sphere, axis=1, keepdims=True)).all()
    other = recipe_of(SCENE, sentence="own", own="the " * 50)
    assert selectable(other.cloud("keys").stages(other.defaults)[2]).all()


def heights_come_back():
    """The gain moves keys out of the centred plane, but the picture still shows which keys are corners.

    From the centring on, the corners of the hull of the drawn projection are those of the hull of the keys.
    """
    for model in ARMS:
        for layer in range(1, 5):
            recipe = recipe_of(SCENE, model=model, layer=layer)
            whole, flat = (recipe.cloud(name).stages({}) for name in ("keys", "shadow"))
            gain = recipe.stages.index("⊙ γ")
            for k in range(1, len(whole)):
                assert (np.abs(whole[k].sum(-1)).max() > 0.01) == (k >= gain)
                assert set(vertices(whole[k])) == set(vertices(flat[k]))


def four_to_three():
    stages = keys()
    centred = [np.linalg.matrix_rank(stage - stage.mean(0), tol=1e-6) for stage in stages[:2]]
    assert centred == [4, 3]
    for layer in range(1, 5):
        assert set(lost(layer=layer)) < set(lost(layer=layer, stage=1))


def whole_windows():
    assert all(shipped(name)[0].window == 256 for name in ARMS)
    assert len((FOLDER / "language.txt").read_text("utf-8")) >= 256
    assert [len(rows(scaled)) for scaled in (True, False)] == [films.MODELS_PER_KIND] * 2 == [5, 5]
    facts = recipe_of(SCENE).facts
    assert "of 256" in facts.title and len(facts.rows) == 4
    for line, (scaled, part) in zip(
        facts.rows, [(s, p) for s in (True, False) for p in ("before", "after")], strict=True
    ):
        shares = np.mean([row[part] for row in rows(scaled)], axis=0)
        assert list(line[1:5]) == [f"{100 * share:.0f} %" for share in shares]


def without_the_division():
    with_it = [share for row in rows(True) for share in row["before"]]
    said(100 * min(with_it), "59")
    said(100 * max(with_it), "80")
    assert not any(share for row in rows(True) for share in row["after"])
    shares = [share for row in rows(False) for share in row["after"]]
    said(100 * min(shares), "77")
    said(100 * max(shares), "90")


def losses():
    for scaled, low, high in ((False, "2.59", "2.65"), (True, "2.58", "2.65")):
        every = [row["loss"] for row in rows(scaled)]
        said(min(every), low)
        said(max(every), high)
    mean = {scaled: np.mean([row["loss"] for row in rows(scaled)]) for scaled in (True, False)}
    assert mean[False] < mean[True] + 0.02, "without scaling it is no worse"


def first():
    """The largest distance of two equal letters is below the median distance of two different letters.

    32 of the 60 keys are unselectable. The followed key, of an "a", is an average of seven keys. Only two of
    these seven have weights of at least 0.1, and both belong to an "a".
    """
    points, state = keys()[0], stop("language", "A sentence as keys")
    assert (state.follow, FILM[GREAT], state.choices["layer"]) == (GREAT, "a", "1")
    far = np.linalg.norm(points[:, None] - points, axis=-1)
    same = np.array([[a == b for b in FILM] for a in FILM])
    assert far[same & ~np.eye(60, dtype=bool)].max() < np.median(far[~same])
    assert len(FILM) == 60 and len(lost()) == 32
    found = certificate(points, GREAT)
    average = [FILM[k] for k in np.flatnonzero(found.weights >= 5e-4)]
    thick = [FILM[k] for k in np.flatnonzero(found.weights >= 0.1)]
    assert len(average) == 7 and thick == ["a", "a"]
    said(100 * found.largest, "26.0")


def height():
    assert stop("language", "The height goes").progress == 1 and len(lost(stage=1)) == 47


def sphere():
    assert stop("language", "Out to the sphere").progress == 2 and not lost(stage=2)
    points = keys()[2]
    assert (
        0
        < certificate(points, GREAT).margin
        < np.median([certificate(points, k).margin for k in range(60)]) + 0.1
    )


def gain():
    assert stop("language", "Gain and shift").progress == 4 and not lost(stage=3) and not lost(stage=4)


def deeper():
    state = stop("language", "Deeper")
    assert (state.choices["layer"], len(lost(layer=3)), state.follow in lost(layer=3)) == ("3", 31, True)
    assert len(set().union(*(lost(layer=layer) for layer in range(1, 5)))) == 45

    def spread(points):
        """The mean distance between equal letters in the picture, divided by the mean over all pairs."""
        points = points @ hyperplane_basis(4).T
        far = np.linalg.norm(points[:, None] - points, axis=-1)
        same = np.array([[a == b for b in FILM] for a in FILM]) & ~np.eye(60, dtype=bool)
        return far[same].mean() / far.mean()

    assert spread(keys(layer=3)[0]) < 0.1


def centred():
    state = stop("language", "Without the division")
    recipe = state.recipe
    assert len(recipe.stages) == 4 and state.progress == 3
    counts = [len(lost(model="language_centred", stage=k)) for k in range(4)]
    assert counts == [30, 40, 40, 40]


def places():
    shape, w = shipped("language")
    text = SENTENCES["same"]
    assert len(text) == 39 and len(lost(sentence="same")) == 8
    x = forward(shape, w, shape.tokens(text)).blocks[0].stream
    np.testing.assert_allclose(x[0] - x[4], w["wpe.weight"][0] - w["wpe.weight"][4], atol=ROUNDING)


def still_read():
    largest = largest_weights(keys()[0])[lost()]
    assert len(largest) == 32
    said(100 * largest.min(), "2.6")
    said(100 * largest.max(), "26.0")


def as_they_are_written():
    points = keys()[0]
    already = [k for k in lost() if k not in vertices(points[: k + 1])]
    assert len(already) == 17 and len(lost()) - 17 == 15


def an_average():
    """An unselectable key is an average of other keys, with weights whose sum is 1.

    The score of this key is the average of their scores, with the same weights.
    """
    points = keys()[0]
    found = certificate(points, GREAT)
    assert found.weights.sum() == pytest.approx(1)
    q = np.random.default_rng(0).normal(size=4)
    assert points[GREAT] @ q == pytest.approx(found.weights @ (points @ q))


def the_papers_table():
    """The paper's percentages of unselectable keys have the ranges that the text states.

    The paper gives a percentage for each of the four layers of two models. For one model it counts the keys
    before LayerNorm. The other model's norms do not divide. Source: brody2023, tables 1 and 2.
    """
    before, unscaled = (44.8, 28.5, 22.3, 26.1), (51.0, 32.2, 34.7, 36.8)
    for shares, low, high in ((before, "22", "45"), (unscaled, "32", "51")):
        said(min(shares), low)
        said(max(shares), high)


def less_room():
    """A larger share of random keys is unselectable in 4 dimensions than in 8, for n = 50 to 500."""
    the_model()
    found = {(row["n"], row["d"]): row["drawn"][0] for row in table("unselectable")}
    assert all(found[n, 4] > found[n, 8] + 0.1 for n in (50, 100, 200, 500))


def tokens_of_the_sentence():
    """At the first norm of SmolLM2, the two tokens "was" are copies; at other norms no token has a copy."""
    for name, d, count in (("smollm2", 576, 15), ("minilm", 384, 17)):
        assert atlas.digest(name).rows[0]["d"] == d
        rows = [row for row in table("trained_keys") if row["model"] == name]
        words = [word.strip() for word in rows[0]["words"]]
        assert len(words) == count < rows[0]["d"]
        own = "".join(word for word in words if not word.startswith("["))
        assert own.lower() == SENTENCES["film"].replace(" ", "").lower()
        for row in rows:
            copies = [
                k for k, word in enumerate(words) if word == "was" and name == "smollm2" and not row["layer"]
            ]
            assert row["copies_before"] == row["copies_after"] == copies
        assert len(words) < min(32, 64)
    atlas.no_key_is_lost_in_a_head()


CLAIMS = {
    "Below, two trained models read the sentence of the tour, with vectors of 576 and 384 numbers.": tokens_of_the_sentence,
    "| SmolLM2 | The film **was** slow at first, but its end **was** a great success. | The film **was** slow at first, but "
    "its end **was** a great success. |": tokens_of_the_sentence,
    "But even with 512 tokens of a text, every key can be selected in the 90 key heads of SmolLM2 (each serves three query heads), with 64 coordinates each, and in the 72 heads of MiniLM, with 32. This holds for keys made from the output of the norm, as in the model, and for keys made from its input.": tokens_of_the_sentence,
    "So in these two models it is not the norm that makes the keys selectable.": tokens_of_the_sentence,
    "With models as small as these, and five of each kind, we see no difference.": losses,
    "with weights $p_i$ that sum to 1": an_average,
    "The model of Brody and others has vectors of eight numbers, and was trained on words of Wikipedia for 50,000 steps. Before LayerNorm 22 to 45 % of its keys can never win. In a second model of theirs, without the division, 32 to 51 % cannot.": the_papers_table,
    "Before LayerNorm most letters of a long text can never have the highest score, whatever the query; after it, practically every letter can.": most_of_a_long_text,
    r"The $\varepsilon$ under the root puts keys slightly inside the sphere. All keys in the texts that we counted (see below) can win in spite of it. But where keys nearly coincide, one may lose: type an *o* 200 times, and in the first layer one of its keys cannot win.": a_hair_inside,
    "It is a GPT with four layers, and works with vectors of four numbers": the_model,
    "At **centre** no key has a height any more, and the picture shows everything.": heights_come_back,
    "They give keys a height again, which the picture leaves out. But the keys now lie in a tilted hyperplane, and no two points of it lie above one another. So the picture still shows which keys are corners of the hull.": heights_come_back,
    "Centring takes the keys from a space of four dimensions to one of three.": four_to_three,
    "The table under the picture compares five models with the division and five models that only centre. It counts the keys of whole windows: stretches of 256 characters, from texts that no model has learned from.": whole_windows,
    "In the models with the division, 59 to 80 % of the keys can never win before the norm, and every key can after it. Without the division 77 to 90 % of the keys can never win, in each layer of each model": without_the_division,
    "Yet these models have losses between 2.59 and 2.65, and the models with the division between 2.58 and 2.65": losses,
    "Four dimensions have less room than eight, which fits our larger shares.": less_room,
    "32 of the 60 keys are hollow. You follow the a of *great*. Its key is an average of other keys: 7 of them count, and each of the others has a weight below 0.0005. Thick lines lead to the two with most weight, both also letters a. No query can give it more than 26.0 % of the attention.": first,
    "- fewer than 32 - 32, as before - * more than 32 It is 47.": height,
    "- * none - about half - 47, as before On a sphere no key is an average of others: every one is a corner of the hull.": sphere,
    "Still every key can win.": gain,
    "31 of the 60 keys can never win. Over all four layers, 45 of the 60 characters have such a key in at least one layer.": deeper,
    "After two layers equal letters still stand together.": deeper,
    "This model only centres, and 40 of 60 keys can never win.": centred,
    "any of the 87 characters that the model has read": the_model,
    "In the first layer equal letters differ by this vector alone, and 8 of the 39 keys can never win.": places,
    "each of the 32 keys of the tour's first stop gets between 2.6 % and 26.0 %": still_read,
    "Does that save some of the 32?": as_they_are_written,
    "17 of the 32 keys are already inside the hull of the keys before them, so no query ever chooses them. The other 15 can win until more has been written.": as_they_are_written,
}
