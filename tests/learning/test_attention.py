from math import sqrt

import numpy as np
import pytest
import torch
from torch import nn

from geometry.angles import to_mean_line
from learning.attention import NORMS, AttentionClassifier
from learning.film import score
from learning.majority import majority
from learning.training import accuracies, losses, train, trained

each_norm = pytest.mark.parametrize("norm", NORMS)
COUNTS = majority(8, seed=3, batch=1).points.astype(float)
ROUNDING = 1e-11  # of sums of some hundred products in double precision


class Plain(nn.Module):
    """A norm of vectors (…, 8), without gain and shift, by PyTorch's functions.

    norm: the name of the norm in NORMS, such as "rms_norm", or "none" for no norm.
    """

    def __init__(self, norm: str) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x):
        match self.norm:
            case "none":
                return x
            case "rms_norm":
                return sqrt(8) * nn.functional.normalize(x, dim=-1)
            case "short":
                return nn.functional.normalize(x, dim=-1) / sqrt(8)
        return nn.functional.layer_norm(x, (8,), eps=0.0)


def torch_layer(model: AttentionClassifier, flat: np.ndarray) -> tuple[nn.Module, torch.Tensor]:
    """PyTorch's transformer layer with the parameters `flat` of `model`, and the token embeddings (20, 8)."""
    of = {name: torch.from_numpy(part) for name, part in model.named(flat).items()}
    layer = nn.TransformerEncoderLayer(
        8, 1, dim_feedforward=8, dropout=0.0, layer_norm_eps=0.0, batch_first=True, norm_first=True
    ).double()
    layer.norm1 = Plain(model.norm)
    attention = layer.self_attn
    attention.in_proj_bias = None
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.cat([of["query"], of["key"], of["value"]]))
        for to, name in (
            (attention.out_proj.weight, "out"),
            (attention.out_proj.bias, "out_shift"),
            (layer.norm2.weight, "gain"),
            (layer.norm2.bias, "shift"),
            (layer.linear1.weight, "first"),
            (layer.linear1.bias, "first_shift"),
            (layer.linear2.weight, "second"),
            (layer.linear2.bias, "second_shift"),
        ):
            to.copy_(of[name])
    return layer, of["embedding"]


@each_norm
def test_counts_are_the_same_model_as_tokens(norm):
    """From the count of each token, our model computes the logits that PyTorch's layer gives for the tokens.

    Loss and accuracy agree too. The tokens are in a random order, because the order does not matter.
    """
    model, rng = AttentionClassifier(norm=norm), np.random.default_rng(0)
    flat = model.initial([4])[0].astype(float) + 0.3 * rng.normal(size=584)
    layer, embedding = torch_layer(model, flat)
    tokens = np.array([rng.permutation(np.repeat(np.arange(20), row.astype(int))) for row in COUNTS])
    assert tokens.shape == (8, 50)
    layer.train()  # in evaluation mode PyTorch uses a fast path that supports only its own norms
    with torch.no_grad():
        wanted = (layer(embedding[tokens]) @ embedding.mT).numpy()
    ours = model.logits(model.parts(flat), COUNTS).reshape(20, 8, 20)  # class, sequence, logit
    np.testing.assert_allclose(ours[tokens, np.arange(8)[:, None]], wanted, rtol=0, atol=ROUNDING)
    labels = COUNTS.argmax(-1)
    each, weight = model.answers(COUNTS, labels, np.ones(8))
    loss, accuracy = score(ours.reshape(-1, 20), each, weight)
    plain = nn.functional.cross_entropy(
        torch.from_numpy(wanted.reshape(-1, 20)), torch.from_numpy(labels.repeat(50))
    )
    assert loss == pytest.approx(plain.item(), abs=ROUNDING)
    assert accuracy == pytest.approx((wanted.argmax(-1) == labels[:, None]).mean())


def test_it_has_as_many_parameters_as_in_the_paper():
    model = AttentionClassifier()
    flat = np.arange(584.0)
    assert model.parameter_count == 584
    np.testing.assert_array_equal(np.concatenate([part.ravel() for part in model.parts(flat)]), flat)
    assert model.parts(np.zeros((3, 584)))[0].shape == (3, 20, 8)
    with pytest.raises(ValueError, match="584 parameters: got 5"):
        model.parts(np.zeros(5))


@each_norm
def test_all_norms_start_alike_and_a_seed_has_its_own(norm):
    start = AttentionClassifier(norm=norm).initial([3, 4])
    np.testing.assert_array_equal(start, AttentionClassifier().initial([3, 4]))
    assert start.dtype == np.float32 and (start[0] != start[1]).mean() > 0.9


@each_norm
def test_keys_and_queries_are_what_scores(norm):
    """⟨query, key⟩ is the attention score.

    Keys have the length that the norm gives. They have mean 0 if and only if the norm centres.
    """
    model = AttentionClassifier(norm=norm)
    flat = model.initial([0])[0].astype(float)
    of = model.named(flat)
    keys, queries = model.keys(of["embedding"]), model.queries(flat)
    scores = (keys @ of["query"].T) @ (keys @ of["key"].T).T / sqrt(8)
    np.testing.assert_allclose(queries @ keys.T, scores, atol=ROUNDING)
    project, power = NORMS[norm]
    if power is not None:
        np.testing.assert_allclose(np.linalg.norm(keys, axis=-1), 8**power, rtol=ROUNDING)
    assert (abs(keys.sum(-1)).max() < ROUNDING) == project


def test_a_query_along_1_pays_all_projected_keys_alike():
    keys = AttentionClassifier().keys(np.random.default_rng(1).normal(size=(20, 8)))
    assert abs(keys @ np.full(8, 7.0)).max() < ROUNDING
    raw = AttentionClassifier(norm="rms_norm").keys(np.random.default_rng(1).normal(size=(20, 8)))
    assert abs(raw @ np.full(8, 7.0)).max() > 1


def test_angles_by_hand():
    one, other = np.ones(4), np.array([1.0, -1, 0, 0])
    found = to_mean_line(np.array([3 * one, -one, other, one / 2 + sqrt(0.5) * other, 0 * one]))
    np.testing.assert_allclose(found, [0, 0, 90, 45, 90], atol=1e-5)  # acos is steep at 0


@each_norm
def test_a_seed_trains_alone_as_among_others(norm):
    """Training an attention network from a seed gives the same alone as beside other seeds, to the last bit.

    Training lowers the loss.
    """
    data, model = majority(40, seed=0, batch=32), AttentionClassifier(norm=norm)
    many = trained(model, data, seeds=5, steps=12, lr=0.03)
    few = trained(model, data, seeds=1, steps=12, lr=0.03, seed=3)
    np.testing.assert_array_equal(few.weights[0], many.weights[3])
    np.testing.assert_array_equal(few.loss[0], many.loss[3])
    assert (many.loss[:, -1] < many.loss[:, 0]).all()


def test_the_film_has_the_loss_of_its_weights_on_the_data_that_are_measured():
    data, model = majority(40, seed=0, batch=32), AttentionClassifier()
    film = trained(model, data, seeds=2, steps=5)
    labels, weight = model.answers(data.points, data.labels, np.ones(40, np.float32))
    for seed in range(2):
        logits = model.logits(model.parts(film.weights[seed, -1].astype(float)), data.points.astype(float))
        loss, accuracy = score(logits, labels, weight)
        assert loss == pytest.approx(film.loss[seed, -1], rel=1e-5)
        assert accuracy == pytest.approx(film.accuracy[seed, -1], abs=1e-6)


def test_the_gradient_is_that_of_pytorchs_layer():
    """The gradient of the loss with respect to the embeddings equals that of PyTorch's layer.

    The embeddings occur in keys, values, residual stream and logits. The accuracies are equal, too.
    """
    torch.set_default_dtype(torch.float64)
    model = AttentionClassifier()
    flat = torch.from_numpy(model.initial([1])[0].astype(float)).requires_grad_()
    counts, labels = torch.from_numpy(COUNTS), torch.from_numpy(COUNTS.argmax(-1))
    answers, weight = model.answers(counts, labels, torch.ones(8))
    own = losses(model.logits(model.parts(flat), counts), answers, weight)
    layer, embedding = torch_layer(model, flat.detach().numpy())
    tokens = torch.from_numpy(np.array([np.repeat(np.arange(20), row.astype(int)) for row in COUNTS]))
    layer.train()
    embedding = embedding.clone().requires_grad_()
    logits = (layer(embedding[tokens]) @ embedding.mT).flatten(0, 1)
    plain = nn.functional.cross_entropy(logits, labels.repeat_interleave(50))
    [ours], [theirs] = torch.autograd.grad(own, flat), torch.autograd.grad(plain, embedding)
    torch.testing.assert_close(ours[:160].reshape(20, 8), theirs, rtol=0, atol=ROUNDING)
    assert accuracies(model.logits(model.parts(flat), counts), answers, weight) == (
        (logits.argmax(-1) == labels.repeat_interleave(50)).double().mean()
    )


def test_a_file_keeps_no_more_checkpoints_than_it_takes():
    film = list(train(AttentionClassifier(), majority(32, seed=0, batch=32), seeds=200, steps=20))[-1].film()
    assert len(film.steps) == 1_925_000 // (200 * 584) and film.steps[-1] == 20


@pytest.mark.parametrize(
    "wrong", [{"norm": "batch"}, {"classes": 1}, {"width": 65}, {"width": True}], ids=str
)
def test_what_is_no_model_is_refused(wrong):
    with pytest.raises(ValueError):
        AttentionClassifier(**wrong)
