"""Modules that a recording leaves out, with the reasons; recording never breaks the model's own call."""

import pytest
import torch
from torch import nn

from learning.convert import centring
from learning.recording import record
from learning.recording.messages import bar, clipped, print_line
from tests.learning.recording.test_recorder import D, shaken, some


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def test_vectors_that_are_not_finite_are_left_out_and_counted():
    model = nn.Sequential(shaken(nn.LayerNorm(D)))
    x = some(6, D)
    x[2, 3], x[4, 0] = torch.nan, torch.inf
    with record(model) as seen:
        model(some(6, D, seed=2))
        model(x)
    (norm,) = seen.recording.norms
    assert len(norm.x) == 10 and seen.recording.skipped == ("0: 2 of 12 vectors, which are not finite",)


@pytest.mark.filterwarnings("error")
def test_an_infinite_first_call_gives_no_warning():
    model = nn.Sequential(nn.LayerNorm(D))
    with record(model, verdicts=centring) as seen:
        model(torch.full((2, D), torch.inf))
        model(some(2, D))
    assert "invalid value" not in seen.recording.norms[0].why


def test_a_model_that_was_not_called_is_said_to_be_so():
    model = nn.Sequential(nn.LayerNorm(D), ScalarNorm())
    with record(model) as seen:
        pass
    with pytest.raises(ValueError, match="no norm was recorded: call the model inside the `with` block"):
        seen.recording  # noqa: B018


def test_a_call_without_vectors_is_said_to_have_none():
    model = nn.Sequential(nn.LayerNorm(D))
    with record(model, verdicts=centring) as seen:
        model(torch.empty(0, D))
    with pytest.raises(
        ValueError, match="no norm was recorded: the batch was empty, or all of it was padding"
    ):
        seen.recording  # noqa: B018


def test_an_overflow_is_told_from_a_module_that_is_no_norm_alone():
    model = nn.Sequential(nn.LayerNorm(D))
    with record(model) as seen:
        model(1e30 * some(3, D))
    with pytest.raises(ValueError, match=r"0: its inputs are so large that their squares overflow$"):
        seen.recording  # noqa: B018


class ScalarNorm(nn.Module):
    """ScaleNorm: one gain for all coordinates."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.gain * x / x.norm(dim=-1, keepdim=True)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            lambda: nn.BatchNorm1d(D),
            r"it has no LayerNorm, .*; 0: batch norms are not recorded; .* F\.layer_norm, is not seen: use a",
        ),
        (lambda: nn.LayerNorm(1), r"0: it acts on 1 coordinate, and 2 … 8,192 are read$"),
        (ScalarNorm, r"0: no parameter and no attribute says on how many coordinates it acts$"),
        (lambda: nn.LayerNorm(D, device="meta"), r"0: it cannot be tried on vectors: Cannot copy out of"),
    ],
    ids=["batch", "one coordinate", "a scalar gain", "without data"],
)
def test_a_model_without_a_known_norm_is_refused_with_the_reason(make, reason):
    with pytest.raises(ValueError, match=f"this model has no norm that is understood: {reason}"):
        record(nn.Sequential(make()))


@pytest.mark.parametrize("vectors", [0, 2001, 2.5, "7", None])
def test_another_number_of_vectors_is_refused_before_the_model_runs(vectors):
    with pytest.raises(ValueError, match="`vectors` must be an integer from 1 to 2,000: got "):
        record(nn.LayerNorm(D), vectors=vectors)


class UnbiasedNet(nn.Module):
    """A model in which only `ln_f` is a norm of a known kind.

    The other modules, except `other`, have names like those of norms. `ln_1` and `other` divide by the
    unbiased standard deviation.
    """

    class LN(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

        def forward(self, x):
            return self.a * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + self.b

    def __init__(self):
        super().__init__()
        self.ln_1, self.other, self.norm, self.norm2 = self.LN(), self.LN(), nn.Identity(), nn.BatchNorm1d(D)
        self.norm_proj, self.ln_f = nn.Linear(D, D), nn.LayerNorm(D)

    def forward(self, x):
        return self.ln_f(self.norm_proj(self.norm2(self.norm(self.other(self.ln_1(x))))))


@pytest.mark.filterwarnings("error")
def test_a_module_with_a_norms_attribute_is_named_if_it_is_none_that_is_known():
    model = UnbiasedNet()
    with record(model) as seen:
        model(some(5, D))
    assert [norm.path for norm in seen.recording.norms] == ["ln_f"]
    line, other = seen.recording.skipped
    assert line.startswith("ln_1: its output is not that of LayerNorm, RMSNorm or GroupNorm")
    assert other == "norm2: batch norms are not recorded"


def test_norms_that_are_unusable_for_the_same_reason_are_counted():
    model = nn.ModuleDict({"blocks": nn.ModuleList(ScalarNorm() for _ in range(7)), "lone": nn.LayerNorm(1)})
    with pytest.raises(ValueError, match="understood: 7 norms: no parameter ") as refused:
        record(model)
    start, _, end = str(refused.value).partition(" it acts, for example blocks.0; ")
    assert start.endswith("on how many coordinates") and end.startswith("lone: it acts on 1 coordinate,")


def test_all_batch_norms_have_one_line_and_instance_norms_another():
    norms = [nn.BatchNorm1d(D), nn.BatchNorm1d(D), nn.InstanceNorm1d(D, affine=True), nn.LayerNorm(D)]
    with record(model := nn.Sequential(*norms)) as seen:
        model(some(4, D, D))
    line = "2 norms: batch norms are not recorded, for example 0"
    assert seen.recording.skipped == (line, "2: instance norms are not recorded")


def test_a_module_around_a_batch_norm_is_not_counted():
    class AroundBatchNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.BatchNorm1d(D)

        def forward(self, x):
            return self.inner(x)

    with record(model := nn.Sequential(AroundBatchNorm(), nn.LayerNorm(D))) as seen:
        model(some(4, D))
    assert seen.recording.skipped == ("0.inner: batch norms are not recorded",)


def test_lines_on_progress_fit_a_terminal_and_overwrite_one_another(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    print_line(f"recorded {bar(0.5)} 1,000 calls, up to 16,384 vectors a norm")
    print_line("recorded " + "x" * 200)
    print_line("done")
    first, second, last = capsys.readouterr().err.split("\r")[1:]
    assert len(first) == len(second) == 79 and first.endswith("a norm" + " " * (79 - len(first.rstrip())))
    assert last == f"{'done':<79}\n"


def test_a_long_text_is_cut_between_words():
    assert clipped("one two three", 13) == "one two three"
    assert clipped("one two three", 12) == clipped("one two three", 9) == "one two …"
    assert clipped("one two three", 8) == "one …" and clipped("onetwothree", 8) == "onetwo …"


@pytest.mark.servers
def test_gated_norms_of_transformers_are_named_with_the_reason():
    """The gated norms of Mamba-2 and Qwen3-Next are not recorded, and the reason is given.

    Mamba-2 multiplies the input of its norm by silu(gate), Qwen3-Next the output.
    """
    import transformers

    small = {"vocab_size": 64, "hidden_size": 16}
    mamba = transformers.Mamba2Config(
        **small, num_heads=4, head_dim=8, state_size=8, num_hidden_layers=1, n_groups=1, chunk_size=4
    )
    linear = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "linear_value_head_dim": 8}
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
    experts["shared_expert_intermediate_size"] = 8
    qwen = transformers.Qwen3NextConfig(
        **small,
        **linear,
        **heads,
        **experts,
        intermediate_size=32,
        num_hidden_layers=2,
        layer_types=["linear_attention", "full_attention"],
    )
    gate = "it takes a second tensor, such as a gate, by which its input or output is multiplied"
    for config, line, recorded in (
        (mamba, f"layers.0.mixer.norm: its output is not that of the norm alone: {gate}", "layers.0.norm"),
        (qwen, f"layers.0.linear_attn.norm: {gate}", "layers.0.input_layernorm"),
    ):
        model = transformers.AutoModel.from_config(config).eval()
        with record(model) as seen, torch.no_grad():
            model(torch.arange(3, 15)[None])
        assert seen.recording.skipped == (line,) and seen.recording.norms[0].path == recorded


class CacheWithoutTokens:
    def get_seq_length(self):
        raise ValueError("this cache has no attention layers")


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)

    def forward(self, input_ids, past_key_values=None):
        return self.norm(some(*input_ids.shape, D))


def test_a_cache_that_cannot_count_its_tokens_breaks_nothing():
    with record(model := Cached()) as seen:
        model(torch.arange(5)[None], past_key_values=CacheWithoutTokens())
    assert list(seen.recording.norms[0].position) == [0, 1, 2, 3, 4]


class Holder:
    """An object that `copy.deepcopy` refuses, because its tensor is computed from another tensor."""

    def __init__(self):
        self.x = 2 * torch.ones(3, D, requires_grad=True)


class Unpacked(nn.Identity):
    def forward(self, holder):
        return holder.x


def test_a_call_whose_arguments_cannot_be_copied_is_recorded():
    model, told = nn.Sequential(Unpacked(), nn.LayerNorm(D)), []
    with record(model, verdicts=lambda *_: told.append(1), contributions=lambda *_: told.append(2)) as seen:
        model(Holder())
    assert seen.recording.norms[0].seen == 3 and not told


def test_a_call_whose_vectors_cannot_be_read_goes_on():
    model, x = shaken(nn.Sequential(nn.Linear(D, D), nn.LayerNorm(D))), some(5, 3, D)
    with record(model) as seen:
        y = torch.func.vmap(model)(x)
    torch.testing.assert_close(y, model(x))
    with pytest.raises(ValueError, match="no norm was recorded: 1: its vectors cannot be read: vmap"):
        seen.recording  # noqa: B018


def test_if_no_norm_is_recorded_the_reasons_are_given():
    model = nn.Sequential(nn.Conv2d(3, D, 3), nn.GroupNorm(3, D))
    with record(model) as seen:
        model(some(2, 3, 12, 12))
    with pytest.raises(ValueError, match="no norm was recorded: 1: it normalises over positions too"):
        seen.recording  # noqa: B018
    model, x = nn.Sequential(nn.LayerNorm(D)), some(6, D)
    with record(model) as seen:
        model(x * torch.nan)
    with pytest.raises(ValueError, match="no norm was recorded: 0: none of its vectors is finite"):
        seen.recording  # noqa: B018
    x[0, 0] = torch.nan
    with record(model) as seen:
        model(x)
        model(some(6, D))
    (norm,) = seen.recording.norms
    assert len(norm.x) == 11 and seen.recording.skipped == ("0: 1 of 12 vectors, which are not finite",)
    assert repr(seen) == "<Recorder Sequential: 2 calls, 1 norm recorded, 0 not, at most 12 vectors each>"
