"""Verdicts on models in which something prevents a fold, or only seems to."""

import pytest
import torch
from torch import nn

from learning.convert import plan
from learning.convert.confirm import confirmed, difference, outputs
from learning.convert.plan import Edit, Plan
from learning.convert.planning import draft
from learning.convert.trace import trace
from tests.learning.convert.folds import folds_without_means
from tests.learning.convert.zoo import IDS, small_model

D = 16
WRITERS = "only Linears, embeddings and parameters write its input"


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)


class Blocks(nn.Module):
    """Parts of a pre-LN network with two blocks and a head.

    run: a function of the network and the embedded tokens that returns the network's output.
    """

    def __init__(self, run):
        super().__init__()
        self.embedding, self.scale = nn.Embedding(40, D), nn.Parameter(torch.rand(D))
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(2))
        self.linears = nn.ModuleList(nn.Linear(D, D) for _ in range(2))
        self.last, self.head, self.group = nn.LayerNorm(D), nn.Linear(D, 3), nn.GroupNorm(4, D)
        self.heads = nn.LayerNorm(D // 4)
        self.run = run
        with torch.no_grad():
            for each in self.parameters():
                each.add_(0.2 * torch.randn(each.shape))

    def block(self, k, x):
        return self.linears[k](self.norms[k](x))

    def forward(self, ids):
        return self.run(self, self.embedding(ids))


def in_place(m, x):
    for k in range(2):
        x += m.block(k, x)
    return m.head(m.last(x))


def scaled(m, x):
    x = x + m.scale * m.block(0, x)
    return m.head(m.last(x + 3 * m.block(1, x)))


def gated(m, x):
    x = nn.functional.pad(x, (0, 0, 2, 1))[:, 1:] + nn.functional.pad(x, (0, 0, 1, 1))
    x = x + m.block(0, x) * m.block(1, x).mean(-1, keepdim=True).sigmoid()
    return m.head(m.last(x))


def functional(m, x):
    for norm, linear in zip(m.norms, m.linears, strict=True):
        x = x + linear(nn.functional.layer_norm(x, (D,), norm.weight, norm.bias))
    return m.head(m.last(torch.cat([x, x[:, :1]], dim=1).mean(1)))


def reshaped(m, x):
    x = x + (m.block(0, x) + m.block(1, x)).unflatten(-1, (4, -1)).clone().flatten(-2)
    return m.head(m.last(x).unflatten(-1, (2, 2, -1)).clone().flatten(-3))


@pytest.mark.parametrize("run", [in_place, scaled, gated, functional, reshaped])
def test_what_only_seems_to_stand_in_the_way(run):
    model = Blocks(run)
    found = plan(model, IDS)
    assert {norm.centring.verdict for norm in found.norms} == {found.norms[-1].affine.verdict} == {"yes"}
    before = outputs(model.double(), (IDS,), {})
    found.apply(model)
    assert difference(before, outputs(model, (IDS,), {})) <= 1e-12
    assert all(call.mean < 1e-12 for call in trace(model, (IDS,)).norms)


def own_view(m, x):
    y = x.view(-1, D)
    x += m.block(0, x) + m.block(1, x)
    return m.head(m.last(y))


def test_a_residual_of_norms_that_only_normalise_folds():
    """In a BERT whose norms have γ = 1 and β = 0, the centring folds for all norms but the one in the head.

    The norm in the head reads the output of a GELU. After folding, the model's outputs are the same, and the
    inputs of the other norms have mean 0.
    """
    model, inputs = small_model("BERT", scattered=0)
    found = plan(model, **inputs)
    *encoder, head = (norm.centring for norm in found.norms)
    assert {answer.verdict for answer in encoder} == {"yes"} and "`gelu`" in head.reason
    before = outputs(model.double(), (), inputs)
    found.apply(model)
    assert difference(before, outputs(model, (), inputs)) <= 1e-12
    *means, other = (call.mean for call in trace(model, (), inputs).norms)
    assert max(means) < 1e-12 < other


def test_a_residual_of_a_norm_with_one_gain_folds_its_shift():
    def run(m, x):
        y = m.norms[0](x)
        z = m.norms[1](y)
        return m.head(m.last(y + m.linears[0](z) + m.linears[1](z)))

    model = Blocks(run)
    with torch.no_grad():
        model.norms[0].weight.fill_(2)
    folds_without_means(model, IDS)


REASONS = {
    "a head": (lambda m, x: m.head(m.last(x)) + m.head(x), "no", "`head` reads the residual stream, too"),
    "tokens by their own embeddings": (
        lambda m, x: m.last(x) @ m.embedding.weight.T,
        "no",
        "the model reads the residual stream, too",
    ),
    "the stream returned": (
        lambda m, x: (m.last(x), {"x": [x]}),
        "no",
        "the model returns the residual stream",
    ),
    "an activation": (lambda m, x: m.last(x + m.block(0, x).relu()), "no", "`relu`"),
    "a gate for each coordinate": (lambda m, x: m.last(x + m.block(0, x) * m.block(1, x)), "no", "`mul`"),
    "another norm": (lambda m, x: m.last(x + m.norms[0](x)), "no", "the residual is the output of `norms.0`"),
    "another norm without a sum": (
        lambda m, x: m.last(m.norms[0](m.linears[0](x))),
        "no",
        "the norm's input is the output of `norms.0`",
    ),
    "a returned tensor that is no sum": (
        lambda m, x: [y := m.linears[0](x), (m.last(y), y)][1],
        "no",
        "the model returns the norm's input",
    ),
    "numbers in code": (
        lambda m, x: m.last(x + torch.arange(float(D)).sin()),
        "no",
        "numbers that are made in code",
    ),
    "a table of positions made in code": (
        lambda m, x: [t := torch.zeros(D), t[::2].copy_(torch.arange(8.0)), m.last(x + t)][2],
        "no",
        "numbers that are made in code",
    ),
    "one factor in two places": (
        lambda m, x: m.last(x + m.scale * m.block(0, x)) * m.scale.sum(),
        "no",
        "`scale` scales other values, too",
    ),
    "a sum scaled and not": (
        lambda m, x: [y := m.block(0, x), m.last(x + y + m.scale * y)][1],
        "no",
        "as it is",
    ),
    "a view written in place": (own_view, "unknown", "in place"),
    "an operator that is not understood": (
        lambda m, x: m.last(x + x.flip(0).cummax(1)[0]),
        "unknown",
        "`cummax`",
    ),
    "an expert that did not run": (
        lambda m, x: m.last(x + m.block(0, x)),
        "unknown",
        "`linears.1.weight` did not run",
    ),
}


@pytest.mark.parametrize(("run", "verdict", "reason"), REASONS.values(), ids=REASONS)
def test_what_stands_in_the_way(run, verdict, reason):
    answer = next(norm.centring for norm in plan(Blocks(run), IDS).norms if norm.name == "last")
    assert answer.verdict == verdict and reason in answer.reason


def masked(m, x):
    return m.head(m.last(x + m.block(0, x) + m.block(1, x)) * (IDS % 3 > 0)[..., None])


def gained(m, x):
    return m.head(m.scale * m.last(x + m.block(0, x) + m.block(1, x)))


@pytest.mark.parametrize("run", [masked, gained])
def test_a_gain_without_a_shift_folds_through_a_mask_or_another_gain(run):
    model = Blocks(run).double()
    nn.init.zeros_(model.last.bias)
    found = plan(model, IDS)
    assert found.norms[-1].affine.verdict == "yes"
    before = outputs(model, (IDS,), {})
    found.apply(model)
    assert difference(before, outputs(model, (IDS,), {})) <= 1e-12 and (model.last.weight == 1).all()


AFFINE = {
    "a Linear of two norms": (
        lambda m, x: m.linears[0](m.last(x)) + m.linears[0](m.norms[0](x)) + m.linears[1](x),
        "no",
        "`linears.0.weight` reads other values, too",
    ),
    "a Linear without bias": (
        lambda m, x: nn.functional.linear(m.last(x), m.head.weight),
        "no",
        "`head.weight` has no bias that could take its shift",
    ),
    "a bias that is added twice": (
        lambda m, x: torch.add(nn.functional.linear(m.last(x), m.head.weight), m.head.bias, alpha=2),
        "no",
        "`head.weight` has no bias that could take its shift",
    ),
    "a residual": (lambda m, x: m.head(m.last(x)).sum(-1, keepdim=True) + m.last(x), "no", "is a residual"),
    "a norm": (lambda m, x: m.head(m.group(m.last(x).reshape(-1, D))), "no", "`group` normalises its output"),
    "what is returned": (lambda m, x: m.last(x), "no", "the model returns its output"),
    "a mask": (masked, "no", "the model reads its output by the operator `mul`, not as a Linear"),
    "a gain": (gained, "no", "by the operator `mul`"),
}


@pytest.mark.parametrize(("run", "verdict", "reason"), AFFINE.values(), ids=AFFINE)
def test_gain_and_shift_that_stay(run, verdict, reason):
    answer = next(norm.affine for norm in plan(Blocks(run), IDS).norms if norm.name == "last")
    assert answer.verdict == verdict and reason in answer.reason


def test_a_difference_of_nan_is_not_lost():
    one = [torch.ones(2), torch.ones(2)]
    for k in range(2):
        other = [torch.ones(2), torch.ones(2)]
        other[k][0] = torch.nan
        assert difference(one, other) != difference(one, other)
    assert difference([], []) == 0


def test_a_group_norm_centres_each_group():
    model = Blocks(lambda m, x: m.head(m.group((x + m.linears[0](x)).reshape(-1, D))))
    (norm,) = plan(model, IDS).norms
    assert norm.kind == "GroupNorm" and "each of its groups" in norm.centring.reason


def test_a_head_that_is_named_after_its_norm_is_none():
    class HeadWithLayerNorm(nn.Sequential):
        def __init__(self):
            super().__init__(nn.LayerNorm(D), nn.Linear(D, 3))
            self.shift = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return super().forward(x) + self.shift

    model = nn.Sequential(nn.Embedding(40, D), HeadWithLayerNorm())
    assert [norm.name for norm in plan(model, IDS).norms] == ["1.0"]


def test_a_transformer_encoder_on_raw_vectors():
    layer = nn.TransformerEncoderLayer(D, 2, 24, norm_first=True, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(D), enable_nested_tensor=False)
    x = torch.randn(2, 5, 7)
    raw = plan(encoder, torch.randn(2, 5, D))
    assert {norm.centring.reason for norm in raw.norms} == {"the model's own input is part of the residual"}
    assert {norm.centring.reason for norm in plan(nn.Sequential(nn.Linear(7, D), encoder), x).norms} == {
        WRITERS
    }


@pytest.mark.parametrize("how", ["frozen", "checkpointing"])
def test_how_a_model_is_trained_does_not_matter(how):
    model, inputs = small_model("BERT")
    want = plan(model, **inputs)
    if how == "frozen":
        model.bert.embeddings.requires_grad_(False)
    else:
        model.train()
        model.activation_checkpointing_enable({"use_reentrant": True})
    assert plan(model, **inputs) == want and model.training == (how == "checkpointing")


def test_a_compiled_model_is_traced_as_it_was_written():
    model, inputs = small_model("GPT-2")
    assert plan(torch.compile(model, backend="eager"), **inputs) == plan(model, **inputs)


def test_hidden_states_that_are_asked_for_are_read():
    model, inputs = small_model("GPT-2")
    found = plan(model, **inputs, output_hidden_states=True)
    assert {norm.centring.reason for norm in found.norms} == {"the model returns the residual stream"}


def test_a_fold_that_the_numbers_refuse_is_unknown():
    model = Blocks(in_place)
    graph = trace(model, (IDS,))
    seen = draft(graph, dict(model.named_parameters()).__getitem__, str)
    edits = seen.folds["last", "affine"]
    seen.folds["last", "affine"] = tuple(each for each in edits if each.kind != "ones")  # then γ counts twice
    found = confirmed(model, seen, (IDS,), {})
    answers = {norm.name: norm for norm in found.norms}
    assert answers["last"].affine.verdict == "unknown" and "differs by" in answers["last"].affine.reason
    assert answers["last"].centring.verdict == answers["norms.0"].affine.verdict == "yes"


def test_a_tensor_converts_alone_from_originals():
    model, inputs = small_model("GPT-2")
    found, read = plan(model, **inputs), []
    weights = {name: each.clone() for name, each in model.state_dict().items()}

    def load(name):
        read.append(name)
        return weights[name]

    name = "transformer.h.0.attn.c_attn"
    bias = found.tensor(f"{name}.bias", load)
    assert read == [f"{name}.bias", f"{name}.weight", "transformer.h.0.ln_1.bias"]
    found.apply(model)
    assert torch.equal(bias.float(), model.state_dict()[f"{name}.bias"])
    assert found.untied == ("lm_head.weight",)
    assert torch.equal(found.tensor("lm_head.weight", load), weights["lm_head.weight"])
    assert model.lm_head.weight is not model.transformer.wte.weight


def tied_pair():
    """Two Linears that share one weight tensor, and {name of each parameter: first name of its tensor}."""
    pair = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    pair[1].weight = pair[0].weight
    return pair, {"0.weight": "0.weight", "1.weight": "0.weight", "0.bias": "0.bias", "1.bias": "1.bias"}


def test_an_edit_reads_the_original_also_by_another_name_of_a_shared_tensor():
    pair, first = tied_pair()
    weight, bias = pair[0].weight.detach().clone(), pair[1].bias.detach().clone()
    tensor = [Edit(name, "ones") for name in ("0.weight", "1.weight")]
    Plan((), (*tensor, Edit("1.bias", "add_bias", ("1.weight", "0.bias"), axis=1)), first).apply(pair)
    assert torch.allclose(pair[1].bias, bias + weight @ pair[0].bias)
    assert pair[1].weight is pair[0].weight and bool((pair[0].weight == 1).all())


def test_edits_of_one_name_only_of_a_shared_tensor():
    """If a tensor has two names, edits of the first are applied; edits of only the other are refused."""
    pair, first = tied_pair()
    with pytest.raises(ValueError, match=r"^1\.weight and 0\.weight are one tensor, but their edits differ$"):
        Plan((), (Edit("1.weight", "zeros"),), first).apply(pair)
    assert pair[1].weight.all()
    Plan((), (Edit("0.weight", "zeros"),), first).apply(pair)
    assert not pair[1].weight.any()


def test_without_memory_to_confirm_it_a_fold_is_unknown(monkeypatch):
    monkeypatch.setattr("learning.convert.confirm.free_bytes", lambda: 5e9)
    model = Blocks(in_place)
    assert plan(model, IDS).edits
    monkeypatch.setattr("learning.convert.confirm.free_bytes", lambda: 1e3)
    found = plan(model, IDS)
    assert not found.edits
    assert {norm.centring.reason for norm in found.norms} == {
        "confirming it takes 0.0 GB, and 0.0 GB are free"
    }


def test_what_does_not_run_in_double_precision_is_unknown():
    def run(m, x):
        if x.dtype == torch.float64:
            raise TypeError("single precision\nalone")
        return in_place(m, x)

    reasons = {norm.centring.reason for norm in plan(Blocks(run), IDS).norms}
    assert reasons == {"it cannot be run in float64 to confirm it: single precision alone"}
