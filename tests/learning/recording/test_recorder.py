"""A recording contains the inputs of norms of any class, dtype and shape; and no hook remains."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from learning.recording import record
from learning.recording.known import as_float64
from learning.recording.reservoir import Reservoir

D = 12


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    """Make PyTorch create tensors in single precision again, as in real models."""
    torch.set_default_dtype(torch.float32)


class OnePlus(nn.Module):
    """Gemma's RMSNorm, whose gain is 1 + `weight`; but the attribute for ε is called `variance_epsilon`."""

    def __init__(self, d):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.zeros(d)), 1e-3

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon) * (1 + self.weight)


class OnePlusNorm(OnePlus):
    pass


class GatedNorm(OnePlus):
    """Gemma's RMSNorm, whose output is multiplied by a second argument, the gate, if there is one."""

    def forward(self, x, gate=None):
        y = super().forward(x)
        return y if gate is None else y * gate


class NamelessNorm(nn.Module):
    """OLMo's LayerNorm, without gain and shift; ε is a constant in its code."""

    def __init__(self, d):
        super().__init__()
        self.normalized_shape = (d,)

    def forward(self, x):
        return nn.functional.layer_norm(x.float(), self.normalized_shape, None, None, eps=1e-5).to(x.dtype)


class Affine(nn.Module):
    """A LayerNorm that neither its class name nor the names of its parameters reveal."""

    def __init__(self, d):
        super().__init__()
        self.shift, self.scale = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.ones(d))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.scale, self.shift)


class ScaleNorm(nn.Module):
    """An RMSNorm that calls its gain `scale`, as in Flax."""

    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return nn.functional.rms_norm(x, x.shape[-1:], self.scale, 1e-4)


class LayerScale(nn.Module):
    """A module that multiplies by a vector `gamma`, which is not the gain of a norm."""

    def __init__(self, d):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.gamma * x


class HeadsNorm(OnePlus):
    """The query norm of Cohere and Chameleon; it normalises each head separately, with the head's own gains.

    centres: whether it subtracts the mean. shape: that of the gains.
    """

    def __init__(self, centres, *shape):
        super().__init__(shape)
        self.centres = centres

    def forward(self, x):
        return super().forward(x - self.centres * x.mean(-1, keepdim=True))


class ChannelsNorm(nn.LayerNorm):
    """ConvNeXt's LayerNorm of images (batch, channels, height, width)."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class NormActivation(nn.GroupNorm):
    """BiT's GroupNorm with an activation in it."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.activation = nn.ReLU()

    def forward(self, x):
        return self.activation(super().forward(x))


class NormOfNothing(OnePlus):
    def forward(self, x):
        return self.weight * x + 1


def shaken(model, seed=0):
    """Add noise to all parameters of a module, and return the module, in evaluation mode."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.3 * torch.randn(each.shape, generator=generator).to(each.dtype))
    return model.eval()


def some(*shape, dtype=torch.float32, seed=1):
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) + 0.5
    return x.to(dtype)


def gives_its_own_output(norm, module, shape=(D,)):
    """Assert that the recorded γ, β, ε and kind, applied to the recorded vectors, give the module's output.

    shape: that of one vector in the module's input.
    """
    like = next(module.parameters(), torch.zeros(1))
    with torch.no_grad():
        own = as_float64(module(torch.tensor(norm.x).to(like.dtype).reshape(-1, *shape))).reshape(
            norm.x.shape
        )
    rounding = 8 * torch.finfo(like.dtype).eps * np.abs(own).max()
    np.testing.assert_allclose(norm.output(norm.x), own, rtol=0, atol=max(rounding, 1e-6))


MODULES = [
    (nn.LayerNorm(D), "layer_norm"),
    (nn.LayerNorm(D, eps=0.1, bias=False), "layer_norm"),
    (nn.LayerNorm(D, elementwise_affine=False), "layer_norm"),
    (nn.RMSNorm(D), "rms_norm"),
    (nn.RMSNorm(D, eps=1e-2, elementwise_affine=False), "rms_norm"),
    (nn.GroupNorm(3, D), "group_norm"),
    (OnePlusNorm(D), "rms_norm"),
    (OnePlus(D), "rms_norm"),
    (ScaleNorm(D), "rms_norm"),
    (Affine(D), "layer_norm"),
    (NamelessNorm(D), "layer_norm"),
]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("module", "kind"), MODULES, ids=str)
def test_a_norm_is_known_by_what_it_does(module, kind, dtype):
    model = shaken(nn.Sequential(nn.Linear(D, D), module)).to(dtype)
    with record(model, vectors=20) as seen, torch.no_grad():
        model(some(50, D, dtype=dtype))
    (norm,) = seen.recording.norms
    assert (norm.path, norm.kind, norm.seen, norm.x.dtype) == ("1", kind, 50, np.float32)
    gives_its_own_output(norm, module)
    model.float()


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight:UserWarning")
@pytest.mark.parametrize(("module", "kind"), MODULES, ids=str)
def test_a_norm_is_recorded_in_mixed_precision(module, kind):
    model = shaken(nn.Sequential(nn.Linear(D, D), module))
    with record(model) as seen, torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        given = model[0](some(50, D))
        model(some(50, D))
    (norm,) = seen.recording.norms
    assert given.dtype == torch.bfloat16 and norm.kind == kind
    np.testing.assert_array_equal(norm.x, given.float().numpy())


def test_axes_that_are_normalised_together_are_one_vector():
    model = shaken(nn.Sequential(nn.LayerNorm((3, 4))))
    with record(model) as seen:
        model(some(5, 7, 3, 4))
    (norm,) = seen.recording.norms
    assert norm.x.shape == (35, 12)
    gives_its_own_output(norm, model[0], (3, 4))


@pytest.mark.parametrize(("centres", "kind"), [(1, "group_norm"), (0, "rms_norm")])
def test_heads_with_their_own_gains_are_groups(centres, kind):
    model = shaken(nn.Sequential(HeadsNorm(centres, 3, 4)))
    with record(model) as seen:
        model(some(5, 7, 3, 4))
    (norm,) = seen.recording.norms
    assert (norm.kind, norm.groups, norm.x.shape) == (kind, 3, (35, 12)) and norm.position.max() == 6
    gives_its_own_output(norm, model[0], (3, 4))


def test_pixels_are_vectors_of_their_channels():
    model, x = shaken(nn.Sequential(ChannelsNorm(D))), some(2, D, 3, 5)
    with record(model) as seen:
        model(x)
    (norm,) = seen.recording.norms
    np.testing.assert_array_equal(norm.x, x.permute(0, 2, 3, 1).reshape(30, D).numpy())
    np.testing.assert_array_equal(norm.position, np.tile(np.arange(15), 2))
    gives_its_own_output(norm, model[0], (D, 1, 1))


@pytest.mark.parametrize("inside", [False, True], ids=["the whole model", "a layer of it"])
@pytest.mark.parametrize("before", [False, True], ids=["not yet run", "already compiled"])
def test_a_compiled_model_is_recorded_as_it_was_written(inside, before):
    model, x = shaken(nn.Sequential(nn.Linear(D, D), nn.Sequential(nn.LayerNorm(D)))), some(9, D)
    with record(model) as seen:
        model(x)
    (want,) = seen.recording.norms
    if inside:
        model[1] = torch.compile(model[1], backend="eager")
    else:
        model = torch.compile(model, backend="eager")
    with torch.no_grad():
        if before:
            model(x)
        with record(model) as seen:
            model(x)
    (norm,) = seen.recording.norms
    assert norm.path == "1.0" and seen.name == "Sequential"
    np.testing.assert_array_equal(norm.x, want.x)


class Repeated(nn.Module):
    """A single layer that a forward pass calls three times, as in ALBERT.

    checkpoint: None for plain calls; True or False to make each call with PyTorch's activation checkpointing,
    which gets this value as `use_reentrant`.
    """

    def __init__(self, checkpoint=None):
        super().__init__()
        self.layer, self.checkpoint = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, D)), checkpoint

    def forward(self, x):
        for _ in range(3):
            x = (
                checkpoint(self.layer, x, use_reentrant=self.checkpoint)
                if self.checkpoint is not None
                else self.layer(x)
            )
        return x


def test_each_call_of_a_module_has_its_row():
    model, x = shaken(Repeated()), some(2, 4, D)
    with record(model, vectors=6) as seen, torch.no_grad():
        model(x)
        model(2 * x)
        model.layer(x)  # alone it is called once
    norms = seen.recording.norms
    assert [(norm.path, norm.seen) for norm in norms] == [
        ("layer.0#1", 24),
        ("layer.0#2", 16),
        ("layer.0#3", 16),
    ]
    every = torch.cat([x, 2 * x]).reshape(-1, D)
    np.testing.assert_array_equal(norms[1].x, model.layer(every)[norms[1].number].numpy(force=True))


def test_a_pass_that_fails_ends():
    model = shaken(Repeated())
    with record(model) as seen:
        with pytest.raises(RuntimeError):
            model(some(2, D + 1))
        model(some(2, D))
    assert [norm.path for norm in seen.recording.norms] == ["layer.0#1", "layer.0#2", "layer.0#3"]


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_backward_computes_again_is_not_counted(reentrant):
    model = Repeated(reentrant)
    with record(model) as seen:
        model(some(5, D).requires_grad_()).sum().backward()
    assert [norm.seen for norm in seen.recording.norms] == [5, 5, 5]


@pytest.mark.parametrize(
    ("module", "x", "reason"),
    [
        (nn.GroupNorm(3, D), some(2, D, 5), "over positions"),
        (NormActivation(3, D), some(2, D, 5), "a ReLU within"),
        (nn.LayerNorm(9000), some(2, 9000), "9,000 coordinates"),
        (nn.GroupNorm(D, D), some(2, D), f"0: {D} coordinates cannot be split into {D} groups"),
        (NormOfNothing(D), some(2, D), "not that of LayerNorm"),
        (nn.BatchNorm1d(D), some(2, D), "0: batch norms are not recorded"),
        (LayerScale(D), some(2, D), None),
        (nn.PReLU(D), some(2, D), None),
    ],
    ids=["positions", "activation", "wide", "groups", "another formula", "batch", "layer scale", "PReLU"],
)
def test_what_is_no_norm_of_vectors_is_named_and_left(module, x, reason):
    model = nn.Sequential(shaken(module), nn.Flatten(), nn.LazyLinear(D), nn.LayerNorm(D))
    model(x)
    said = []
    with record(model, tell=said.append) as seen:
        model(x)
    assert [norm.path for norm in seen.recording.norms] == ["3"]
    assert said[2:] == [f"Left out: {line}" for line in seen.recording.skipped]
    assert [reason in line for line in seen.recording.skipped] == [True] * (reason is not None)


def test_a_norm_that_does_more_when_it_is_called_is_left():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.gated, self.plain = GatedNorm(D), nn.LayerNorm(D)

        def forward(self, x):
            return self.plain(self.gated(x, gate=2 * x))

    with record(shaken(Model())) as seen:
        seen.model(some(3, D))
    assert [norm.path for norm in seen.recording.norms] == ["plain"]
    assert "not that of the norm alone" in seen.recording.skipped[0]


class Reader(nn.Module):
    """A model with three norms of token embeddings; the last one normalises three heads separately.

    The model ignores its attention mask.
    """

    def __init__(self):
        super().__init__()
        self.embedding, self.one = nn.Embedding(99, D), nn.LayerNorm(D)
        self.inner = nn.Sequential(nn.Linear(D, D), nn.RMSNorm(D))
        self.heads = nn.LayerNorm(D // 3)

    def forward(self, input_ids, attention_mask=None):
        x = self.inner(self.one(self.embedding(input_ids)))
        return self.heads(x.unflatten(-1, (3, -1)).transpose(1, 2))


def test_padding_is_left_out_and_each_vector_knows_its_token_and_place():
    model, ids = Reader(), torch.arange(24).reshape(2, 12)
    mask = torch.ones_like(ids)
    mask[0, :5] = 0
    with record(model) as seen:
        model(ids, attention_mask=mask)
    one, inner, heads = seen.recording.norms
    want = ids[mask == 1].numpy()
    for norm in (one, inner):
        np.testing.assert_array_equal(norm.token, want)
        np.testing.assert_array_equal(norm.position, want % 12)
        np.testing.assert_array_equal(norm.number, np.arange(19))
    np.testing.assert_array_equal(one.x, model.embedding(ids)[mask == 1].detach().numpy())
    assert heads.seen == 3 * 19 and sorted(heads.token.tolist()) == sorted(3 * want.tolist())


def test_norms_keep_the_same_tokens_however_they_come():
    ids = torch.randint(0, 99, (40, 12), generator=torch.Generator().manual_seed(0))
    kept, model = [], shaken(Reader())
    for parts in (1, 5, 40):
        with record(model, vectors=30, seed=3) as seen:
            for piece in ids.chunk(parts):
                model(piece)
        one, inner, _ = seen.recording.norms
        np.testing.assert_array_equal(one.number, inner.number)
        np.testing.assert_array_equal(one.token, ids.reshape(-1)[one.number].numpy())
        kept.append(one.x)
    np.testing.assert_array_equal(kept[0], kept[1])
    np.testing.assert_array_equal(kept[0], kept[2])
    with record(model, vectors=30, seed=4) as other:
        model(ids)
    assert set(other.recording.norms[0].number) != set(one.number)


def test_each_vector_stays_with_the_same_chance():
    most, count, runs = 20, 100, 400
    times = np.zeros(count)
    for seed in range(runs):
        sample = Reservoir(most, 2, seed)
        for chunk in np.array_split(np.arange(count), 7):
            sample.choose(len(chunk))
        times[sample.about[:, 2]] += 1
    share, deviation = most / count, np.sqrt(runs * 0.2 * 0.8)
    assert times.sum() == most * runs
    assert np.abs(times - runs * share).max() < 5 * deviation  # exceeded by chance in 1 of 17,000


def test_hooks_go_whatever_happens():
    model = shaken(Reader())
    with pytest.raises(IndexError), record(model):
        model(torch.tensor([[1000]]))
    with pytest.raises(ValueError, match="no norm was recorded: call the model"), record(model) as seen:
        seen.recording  # noqa: B018
    with pytest.raises(TypeError, match="got str: load the model first"):
        record("gpt2")
    with pytest.raises(ValueError, match="no norm that is understood: it has no "), record(nn.Linear(2, 2)):
        pass
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks


def test_a_model_is_recorded_once_at_a_time():
    model = nn.Sequential(nn.Sequential(shaken(nn.LayerNorm(D))))
    with record(model) as seen:
        for part in (model, model[0]):
            with pytest.raises(ValueError, match="is being recorded already: end that"), record(part):
                pass
        with record(nn.LayerNorm(D)) as other:
            model(some(3, D))
    assert not other.calls and seen.recording.norms[0].seen == 3
    with record(model) as again:
        model(some(2, D))
    assert again.recording.norms[0].seen == 2


def test_what_it_takes_is_said_before_it_starts():
    said, model = [], shaken(Reader())
    with record(model, vectors=1000, tell=said.append):
        norms = "found 2 LayerNorms, 1 RMSNorm: up to 1,000 vectors of each are kept"
        assert said == [f"{norms}, at most 0.2 MB if each is called once in a pass"]
        model(torch.tensor([[1, 2]]))
    assert said[1:] == [f"recorded [{'·' * 20}] 1 call, up to 6 vectors a norm"]


def test_a_model_that_is_a_norm_has_a_name_and_takes_one_vector():
    model = shaken(nn.LayerNorm(D))
    with record(model) as seen:
        model(some(D))
    assert [(norm.path, len(norm.x)) for norm in seen.recording.norms] == [("model", 1)]


def test_a_model_has_the_name_that_it_is_given():
    model = shaken(nn.Sequential(nn.LayerNorm(D)))
    for how, name in (({}, "Sequential"), ({"name": "step 1000"}, "step 1000")):
        with record(model, **how) as seen:
            model(some(3, D))
        assert seen.recording.name == name
    with pytest.raises(TypeError, match="`name` is a text, such as 'step 1000': got 7"):
        record(model, name=7)


@pytest.mark.parametrize("nested", [True, False])
def test_a_transformer_of_pytorch_without_its_padding(nested):
    layer = nn.TransformerEncoderLayer(D, 2, 24, batch_first=True)
    model = shaken(nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(D), enable_nested_tensor=nested))
    padding = torch.zeros(3, 9, dtype=torch.bool)
    padding[0, 5:] = True
    with record(model) as seen, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nested tensors are new
        model(some(3, 9, D), src_key_padding_mask=padding)
    for norm in seen.recording.norms:
        assert norm.seen == 23 and norm.position.max() == 8
        gives_its_own_output(norm, model.get_submodule(norm.path))
    assert len(seen.recording.norms) == 5 and not seen.recording.skipped
