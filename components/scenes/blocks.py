"""Steps and clouds of a transformer block, shared by the scenes block, depth, absorb, drift and language.

Weights have GPT-2's names within a block ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc",
"mlp.c_proj"), as `learning.language` has them; a Linear is x @ weight + bias.
Source: symmetrize2025, section 10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from components.language.cloud import Cloud, rows
from components.scenes.scenery import Part, axes, globe, rest
from geometry import Affine, Branches, Normalize, Of, Pipeline, Pointwise, Softmax
from geometry.centering import centering_matrix, hyperplane_basis
from geometry.pipeline import Step
from learning.language import EPS

Array = np.ndarray
Own = Mapping[str, Array]  # the weights of one block
Steps = tuple[Step, ...]


def own_of(weights: Own, layer: int) -> dict[str, Array]:
    """The weights of block `layer` of a language model, by their names within the block."""
    prefix = f"h.{layer}."
    return {name.removeprefix(prefix): each for name, each in weights.items() if name.startswith(prefix)}


def sphere(d: int, eps: float = EPS) -> Normalize:
    """x ↦ √d·x/√(‖x‖² + d·ε): the second half of PyTorch's LayerNorm, and its RMSNorm."""
    return Normalize(sqrt(d), eps, convention="pytorch")


def layer_norm(own: Own, name: str) -> Steps:
    """The steps of the LayerNorm `name` (such as "ln_1"): centre → sphere → ⊙ γ + β."""
    gamma, beta = own[f"{name}.weight"], own[f"{name}.bias"]
    d = len(gamma)
    return Affine(centering_matrix(d)), sphere(d), Affine(np.diag(gamma), beta)


def sphere_in_steps(
    gamma: Array, beta: Array, unit: float = 1.0, *, scaled: bool = True, normed: bool = True
) -> Steps:
    """The steps of a LayerNorm, one by one, for points divided by `unit`: centre → sphere → ⊙ γ → + β.

    scaled: False to leave out the sphere; then the results, and β, are also divided by `unit`. normed: False
    to leave out the centring too.
    """
    d = len(gamma)
    onto = Normalize(sqrt(d), d * EPS / unit**2)
    shift = Affine(np.eye(d), beta if scaled and normed else beta / unit)
    before = (Affine(centering_matrix(d)), *((onto,) if scaled else ())) if normed else ()
    return *before, Affine(np.diag(gamma)), shift


def around(steps: Sequence[Step], *, before: float = 0.0) -> list[Part]:
    """The four axes projected to the hyperplane, and the sphere on which points land, if there is one.

    The sphere moves with the points to the ellipsoid. before: its opacity before they land.
    """
    show = hyperplane_basis(4)
    parts = axes(rows(show), [f"x{s}" for s in "₁₂₃₄"], -1.6, 1.6, 1.75, opacity=0.4)
    arrival = next((k for k, step in enumerate(steps, 1) if isinstance(step, Normalize)), 0)
    if arrival:
        own = (*rest(4, arrival), *steps[arrival:])
        mesh = [before, max(before, 0.05), 0.12, 0.12, 0.12]
        net = [2 * m for m in mesh]
        parts += globe(rows(show), 2 * show, "the sphere of radius 2", mesh=mesh, net=net, steps=own)
    return parts


def linear(own: Own, name: str, part: slice = slice(None), by: float = 1.0) -> Affine:
    """The linear layer `name` as a step, for only the outputs in `part`: x ↦ by·(x @ weight + bias)."""
    return Affine(by * own[f"{name}.weight"][:, part].T, by * own[f"{name}.bias"][part])


@dataclass(frozen=True)
class AttentionClouds:
    """Attention as a step, and its clouds: keys, values and weights of each head.

    `step` maps the normalised stream to the weighted sums of values of all heads, side by side, before W_O.
    """

    keys: tuple[Cloud, ...]
    values: tuple[Cloud, ...]
    weights: tuple[Cloud, ...]
    step: Branches

    @property
    def clouds(self) -> tuple[Cloud, ...]:
        """The clouds to which the step refers."""
        return *self.keys, *self.values


def attention(
    own: Own, points: Array, before: Sequence[Step], heads: int = 1, name: str = ""
) -> AttentionClouds:
    """Causal attention of tokens `points` (T, ·); the steps `before` map them to the vectors that it reads.

    Head h has the coordinates h·d/H … (h + 1)·d/H − 1 of q, k and v: p = softmax(⟨q, k⟩/√(d/H)), then Σ p v.
    """
    d = own["attn.c_proj.weight"].shape[0]
    size = d // heads

    def part(which: int, head: int) -> slice:
        start = which * d + head * size
        return slice(start, start + size)

    def made(what: str, which: int, head: int) -> Cloud:
        place = Pipeline((*before, linear(own, "attn.c_attn", part(which, head))))
        return Cloud(f"{name}{what} {head + 1}", points, place=place)

    keys, values, weights, sums = [], [], [], []
    for head in range(heads):
        keys.append(made("keys", 1, head))
        values.append(made("values", 2, head))
        ask = linear(own, "attn.c_attn", part(0, head), 1 / sqrt(size))
        pay: Steps = (ask, Affine(Of(keys[-1])), Softmax(causal=True))
        weights.append(Cloud(f"{name}weights {head + 1}", points, place=Pipeline((*before, *pay))))
        sums.append(Pipeline((*pay, Affine(Of(values[-1], transposed=True)))))
    return AttentionClouds(tuple(keys), tuple(values), tuple(weights), Branches(sums, "concat"))


def feed_forward(own: Own, function: str) -> Steps:
    """The steps of a block's feed-forward network: W₁ → the activation `function` → W₂."""
    return linear(own, "mlp.c_fc"), Pointwise(function), linear(own, "mlp.c_proj")


def norm_alone(own: Own, name: str) -> Steps:
    """RMSNorm without a gain."""
    return (sphere(len(own["attn.c_proj.bias"])),)


def added(*steps: Step) -> Branches:
    """x ↦ x + steps(x), a residual connection."""
    return Branches((Pipeline(()), Pipeline(steps)))


def together(*steps: Step) -> Branches:
    """Several steps as one: points move straight to the last result."""
    return Branches((Pipeline(steps),))
