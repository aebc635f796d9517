"""The text of the scene `shuffle`, tested with the recipes and with the shipped shuffles."""

import numpy as np
import pytest
import torch

from components.scenes.shuffle import SCENE
from components.scenes.shuffle.build import LAYERS, MEASURES, PLACES, SHUFFLE_LABELS, tick_values
from components.training.recipes import recipe_of
from geometry import layer_norm
from learning.language import forward, from_file, initial, losses
from learning.shipped import FOLDER, table
from learning.shipped import read as read_file
from tests.scenes.claims import said, stop
from tools.films import heads as films
from tools.films import language, shuffles
from tools.films.language_training import causal

# --- properties of the shuffle test


def rows(trained, layer, place=None, seed=None):
    return [
        row
        for row in table("heads")
        if (row["trained"], row["layer"]) == (trained, layer)
        and (place is None or row["place"] == place)
        and (seed is None or row["seed"] == seed)
    ]


SOME = 8  # shuffles to recompute, of 100
INVARIANT_PLACES = ("qk", "vo")  # where a permutation within a head provably changes nothing


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("place", ["concat", "qk"])
def test_the_table_is_what_the_shipped_model_does(trained, place):
    """Some shuffles of each kind, computed again with the trained or an untrained model, are as in the table.

    The mean and the standard deviation in the table are those of all results of the kind in the table.
    """
    shape, weights = read_file("heads.safetensors", from_file)
    assert (shape.heads, shape.width, shape.layers, shape.window) == (4, 32, 2, 64)
    own = {name: w.astype(np.float32) for name, w in weights.items()} if trained else initial(shape, 0)
    tensors = {name: torch.from_numpy(w) for name, w in own.items()}
    tokens = torch.from_numpy(shape.tokens((FOLDER / "heads.txt").read_text("utf-8"))).reshape(-1, 64)
    (row,) = rows(trained, 1, place, 0)
    for kind, permutations in films.shuffles(shape).items():
        found = shuffles.harm(
            shape, tensors, tokens, 1, place, permutations[:: len(permutations) // SOME], attend=causal
        )
        for name, values in zip(MEASURES, found.T, strict=True):
            known = np.array(row[f"{kind}_{name}_all"])
            assert len(known) == len(permutations)
            assert np.abs(values[:, None] - known).min(1).max() < 1e-4
            assert row[f"{kind}_{name}"] == pytest.approx([known.mean(), known.std(ddof=1)], abs=1e-4)


def test_the_picture_has_the_table():
    assert set(PLACES) == set(shuffles.PLACES) and list(SHUFFLE_LABELS) == list(shuffles.SHUFFLES)
    for layer in LAYERS:
        for measure in MEASURES:
            recipe = recipe_of(SCENE, layer=layer, measure=measure)
            for trained, name in ((True, "trained"), (False, "untrained")):
                own = {row["place"]: row for row in rows(trained, int(layer) - 1, seed=0)}
                for k, kind in enumerate(SHUFFLE_LABELS):
                    found = recipe.cloud(f"{name} {kind}").stages({})[k][:, 0].reshape(len(PLACES), -1)
                    np.testing.assert_allclose(
                        found, [own[place][f"{kind}_{measure}_all"] for place in PLACES]
                    )


def test_the_scale_has_few_round_numbers():
    for low, high in ((0, 0.003), (-0.1, 0.12), (-0.2, 2.6), (0, 47)):
        found = tick_values(low, high)
        assert not np.signbit(found[found == 0]).any()
        assert 2 <= len(found) <= 5 and 0 in found and low <= found[0] and found[-1] <= high
        assert float(f"{found[1] - found[0]:.1e}") == pytest.approx(found[1] - found[0])


# --- what the text says of the shuffles


def mean(place, kind, *, layer=1, measure="loss", trained=True, seed=None):
    """The mean of a column of the table over all models, or over the model of one seed.

    place: where axes are permuted. kind: the kind of shuffle. layer: counts from 1. measure: what the shuffle
    changes, a key of MEASURES such as "loss". trained: whether the models are trained. seed: None for all
    models.
    """
    found = rows(trained, layer - 1, place, seed)
    assert len(found) == (language.MODELS_PER_KIND if seed is None else 1)
    return np.mean([row[f"{kind}_{measure}"][0] for row in found])


def all_said(place, *words, **options):
    for kind, word in zip(SHUFFLE_LABELS, words, strict=True):
        said(mean(place, kind, **options), word)


def how_it_was_done():
    shape, _ = read_file("heads.safetensors", from_file)
    assert (shape.heads, shape.width // shape.heads, shape.layers) == (4, 8, 2)
    assert (language.MODELS_PER_KIND, films.TRAINING_STEPS, films.SHUFFLES_PER_KIND) == (5, 3000, 100)
    assert len((FOLDER / "heads.txt").read_text("utf-8")) == 1024 == 16 * shape.window
    assert len(recipe_of(SCENE).cloud("trained one").points) == 100 * len(PLACES)
    for kind, permutations in films.shuffles(shape).items():
        for permutation in permutations:
            moved = np.flatnonzero(permutation != np.arange(32)) // 8
            assert len(moved) == 8 and len(set(moved)) == (1 if kind == "one" else 4)


def by_arithmetic():
    """At invariant places, shuffles within heads change nothing, in trained and untrained models.

    Shuffles across heads do change the predictions.
    """
    for place in INVARIANT_PLACES:
        for trained in (True, False):
            for row in (row for layer in (0, 1) for row in rows(trained, layer, place)):
                assert all(row[f"{kind}_{name}"] == [0, 0] for kind in ("one", "each") for name in MEASURES)
                assert row["across_guesses"][0] > 0.005
    said(mean("qk", "across"), "0.41")
    said(mean("vo", "across"), "0.24")


def different_heads():
    by_arithmetic()
    said(mean("vo", "across", measure="guesses", trained=False), "0.05")
    said(mean("vo", "across", measure="guesses"), "0.28")


def no_difference():
    all_said("read", "1.82", "1.82", "1.83")
    all_said("concat", "0.71", "0.67", "0.64")
    assert mean("concat", "across") < mean("concat", "each") < mean("concat", "one")
    more = [row["across_loss"][0] - row["one_loss"][0] for row in rows(True, 0, "read")]
    said(max(more), "0.07")
    said(-min(more), "0.09")
    for row in rows(True, 0, "read"):
        assert 0.85 < row["across_loss"][0] / row["one_loss"][0] < 1.15


def the_table_of_shuffles():
    no_difference()
    heads_disturbed()
    by_arithmetic()
    all_said("v", "0.71", "0.67", "0.62")


def less_across():
    for place, models in (("concat", 4), ("v", 5)):
        more = [row["across_loss"][0] - row["one_loss"][0] for row in rows(True, 0, place)]
        assert sum(each < 0 for each in more) == models and -0.1 < np.mean(more) < 0


def heads_disturbed():
    all_said("q", "0.48", "0.62", "0.63")
    all_said("q", "0.049", "0.053", "0.055", trained=False, measure="guesses")
    assert mean("q", "across") - mean("q", "each") < (mean("q", "each") - mean("q", "one")) / 10


def within_one():
    state = stop("shuffle", "Within a single head")
    assert (state.choices["layer"], state.progress) == ("1", 0)
    costs = {place: mean(place, "one", seed=0) for place in PLACES}
    assert len(PLACES) == 6 and max(costs, key=costs.get) == next(iter(PLACES)) == "read"
    assert list(PLACES)[-2:] == list(INVARIANT_PLACES)
    by_arithmetic()


def dots_and_ticks():
    """For each place and kind of shuffle, the figure has a tick for each of five trained models.

    It has as many ticks for untrained models. A tick is a mean, in the first layer.
    `how_it_was_done` checks the 100 dots of the first trained model, for one kind.
    """
    recipe = recipe_of(SCENE)
    how_it_was_done()
    for name in ("trained", "untrained"):
        for kind in SHUFFLE_LABELS:
            ticks = recipe.cloud(f"{name} means {kind}").points
            assert np.isfinite(ticks[:, 0]).sum() == 2 * 5 * len(PLACES)


def within_every():
    state = stop("shuffle", "Within every head")
    assert (state.choices["layer"], state.choices["measure"], state.progress) == ("1", "loss", 1)
    how_it_was_done()
    said(mean("q", "each", seed=0), "0.50")
    said(mean("q", "one", seed=0), "0.37")
    by_arithmetic()


def second_layer():
    """In trained models, shuffles cost up to 1.95 nats in the first layer, and up to 0.04 in the second.

    A cost is the mean over all shuffles of one kind, at one place of one model.
    """
    state = stop("shuffle", "The second layer")
    assert (state.choices["layer"], state.choices["measure"], state.progress) == ("2", "loss", 2)
    largest = [
        max(row[f"{kind}_loss"][0] for row in rows(True, layer) for kind in SHUFFLE_LABELS)
        for layer in (0, 1)
    ]
    said(largest[0], "1.95")
    said(largest[1], "0.04")


def across_heads():
    state = stop("shuffle", "Across heads")
    assert (state.choices["measure"], state.progress) == ("loss", 2)
    all_said("read", "1.71", "1.78", "1.75", seed=0)
    all_said("read", "1.82", "1.82", "1.83")
    for place in PLACES:
        within = [mean(place, kind, seed=0) for kind in ("one", "each")]
        assert (within == [0, 0]) == (place in INVARIANT_PLACES) and mean(place, "across", seed=0) > 0
    assert mean("q", "across", seed=0) > max(mean("q", kind, seed=0) for kind in ("one", "each")) + 0.05


def before_training():
    state = stop("shuffle", "Before training")
    assert (state.choices["measure"], state.progress) == ("guesses", 2)
    by_arithmetic()


def attention_off():
    shape, weights = read_file("heads.safetensors", from_file)
    tokens = shape.tokens((FOLDER / "heads.txt").read_text("utf-8")).reshape(-1, 64)
    loss = losses(forward(shape, weights, tokens).logits, tokens).mean()
    grown = []
    for layer in range(2):
        off = {name: 0 * w if f"h.{layer}.attn.c_proj" in name else w for name, w in weights.items()}
        grown.append(losses(forward(shape, off, tokens).logits, tokens).mean() - loss)
    said(grown[0], "1.63")
    said(grown[1], "0.03")
    said(max(mean(place, kind, layer=2) for place in PLACES for kind in SHUFFLE_LABELS), "0.03")


def renumbered_training():
    """Training with Adam on renumbered axes of LayerNorm's output gives the renumbered weights.

    The trained matrix makes the queries and keys of an attention head.
    """
    rng = np.random.default_rng(0)
    x, order = layer_norm(rng.standard_normal((12, 8))), rng.permutation(8)
    want = torch.from_numpy(rng.standard_normal((12, 12)))

    def trained(x, start):
        weights = torch.tensor(start, requires_grad=True)
        adam = torch.optim.Adam([weights], lr=0.01)
        for _ in range(5):
            adam.zero_grad()
            q, k = (torch.from_numpy(x) @ weights).split(4, dim=-1)
            ((q @ k.T).softmax(-1) - want).square().sum().backward()
            adam.step()
        return weights.detach().numpy()

    start = rng.standard_normal((8, 8))
    np.testing.assert_allclose(trained(x[:, order], start[order]), trained(x, start)[order], atol=1e-9)


CLAIMS = {
    "in the shuffle test, neighbouring axes of LayerNorm's output belong together no more than others (means of five models).": no_difference,
    "At two other places shuffles across heads even cost a little less than those within a single head. Before $W_O$ they do so in four of the five models. Where only the values are shuffled, they do so in all five.": less_across,
    "A *shuffle* swaps eight axes (coordinates) of the vectors inside attention, in pairs; here the models have four heads of eight axes each. We measure its *cost*: by how much it raises the loss of a trained model. The scrubber leads through three kinds of shuffle: **Within a single head** the eight axes of one head change places. **Within every head** two axes of each head change places. **Across heads** two axes of each head change places with axes of other heads.": how_it_was_done,
    "Five models were trained. A tick is the mean cost of one model. The dots are 100 shuffles of the first model.": dots_and_ticks,
    "a shuffle costs 1.82 nats within a single head, and 1.83 across heads** (first layer, means of five models).": no_difference,
    "head. Therefore, they say, a shuffle across heads should cost far more. But training treats all axes alike, so on average over many trainings both must cost the same (see the details).": renumbered_training,
    "Five language models with four heads of eight axes, in two layers, each learned for 3,000 steps": how_it_was_done,
    "The loss is measured on 1,024 characters": how_it_was_done,
    "Across heads both cost something (the last two rows of the table), in untrained models too.": by_arithmetic,
    "There a “head” is a group of eight neighbouring axes: the first eight, the next eight, and so on.": how_it_was_done,
    "The costs in the first layer, in nats (the unit of a natural logarithm) a character; means of five models: | shuffled | within a single head | within every head | across heads | | --- | --- | --- | --- | | LayerNorm's output | 1.82 | 1.82 | 1.83 | | queries only | 0.48 | 0.62 | 0.63 | | values only | 0.71 | 0.67 | 0.62 | | outputs of the heads, before $W_O$ | 0.71 | 0.67 | 0.64 | | queries and keys, both in the same way | 0 | 0 | 0.41 | | values; their order is restored before $W_O$ | 0 | 0 | 0.24 |": the_table_of_shuffles,
    "**Single models** differ. At LayerNorm's output in the first layer, a shuffle across heads costs 0.07 nats more than one within a single head in one model, and 0.09 nats less in another.": no_difference,
    "This test would not see it: at LayerNorm's output a “head” is only a group of eight neighbouring axes, and axes that serve one head need not be neighbours.": no_difference,
    "If you renumber the axes before training, you get the same model, renumbered.": renumbered_training,
    "So on average over many trainings, a shuffle of LayerNorm's output costs the same within a single head and across heads.": renumbered_training,
    "If only the queries are shuffled, a shuffle across heads costs 0.63 nats, one within a single head 0.48. This is not because axes leave their heads: a shuffle within every head costs 0.62, and there no axis leaves its head. So for queries the cost depends on how many heads are disturbed, and hardly on whether an axis leaves its head. In untrained models the order is the same, with divergences of 0.049 within a single head, 0.053 within every head and 0.055 across heads.": heads_disturbed,
    "### Within a single head Each row is one of six places in the first layer of a trained model; on the right is the same model before training. A shuffle of LayerNorm's output costs most, because queries, keys and values are all computed from it.": within_one,
    "Again eight axes change places, now two in each head. For the queries this costs more: 0.50 nats instead of 0.37 (the model shown). In the last two rows shuffles still cost nothing.": within_every,
    "The scale has changed. In this layer no trained model has a cost above 0.04 nats, at any place and with any kind of shuffle. In the first layer the largest cost is 1.95. (Each cost is a mean over shuffles.)": second_layer,
    "In the last two rows shuffles change nothing": by_arithmetic,
    "yes, twice as much or more - * no, about the same - they cost half as much": across_heads,
    "The three kinds cost about the same: compare the three bands of dots in the uppermost row. Only in the last two rows is the cost zero within heads and not across them.": across_heads,
    "Look at the last two rows of the untrained model, on the right. There, too, shuffles within heads move nothing, and shuffles across heads do.": before_training,
    "it would not matter which head averages a value, and the shuffles would cost nothing": by_arithmetic,
    "They cost 0.24 nats in the first layer. Untrained heads differ too, by chance, but with less effect: there the same shuffles move the predictions by a divergence of 0.05, in trained models by 0.28 (means of five models).": different_heads,
    "Why is so little lost in the second layer? On average over the five models, no kind of shuffle costs more than 0.03 nats in the second layer, at any place. The attention of this layer adds little: without it the loss grows by 0.03 nats, without that of the first layer by 1.63 (the model shown).": attention_off,
}
