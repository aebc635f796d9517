"""Steps and clouds of a transformer block, shared by several scenes.

The scenes are `absorb`, `block`, `depth`, `drift` and `language`. The weights of a block have the names that
GPT-2 gives them ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"), as in
`learning.language`. A linear layer is x @ weight + bias. Source: symmetrize2025, section 10.
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
    """The weights of block `layer` alone. The name "h.3.ln_1.weight", for example, becomes "ln_1.weight"."""
    prefix = f"h.{layer}."
    return {name.removeprefix(prefix): each for name, each in weights.items() if name.startswith(prefix)}


def sphere(d: int, eps: float = EPS) -> Normalize:
    """The step x ↦ √d·x/√(‖x‖² + d·ε), which maps points to the sphere of radius √d (if ε > 0, inside it).

    It is PyTorch's RMSNorm, and the second half of its LayerNorm: the half after centring.
    """
    return Normalize(sqrt(d), eps, convention="pytorch")


def layer_norm(own: Own, name: str) -> Steps:
    """The steps of the LayerNorm `name` (such as "ln_1"): centring, the sphere, then ⊙ γ + β in one step.

    own: the weights of the block to which it belongs, by name.
    """
    gamma, beta = own[f"{name}.weight"], own[f"{name}.bias"]
    d = len(gamma)
    return Affine(centering_matrix(d)), sphere(d), Affine(np.diag(gamma), beta)


def sphere_in_steps(
    gamma: Array, beta: Array, unit: float = 1.0, *, scaled: bool = True, normed: bool = True
) -> Steps:
    """The steps of a LayerNorm, one by one, for points that were divided by `unit`.

    They are: centring → the sphere of radius √d → ⊙ γ → + β. If `scaled` is False, the step to the sphere is
    left out; if `normed` is False, this step and centring are. The step to the sphere undoes the division by
    `unit`. Without this step the results remain divided by `unit`, so β / unit is added, not β.
    """
    d = len(gamma)
    onto = Normalize(sqrt(d), d * EPS / unit**2)
    shift = Affine(np.eye(d), beta if scaled and normed else beta / unit)
    before = (Affine(centering_matrix(d)), *((onto,) if scaled else ())) if normed else ()
    return *before, Affine(np.diag(gamma)), shift


def around(steps: Sequence[Step], *, before: float = 0.0) -> list[Part]:
    """Scenery for d = 4: the coordinate axes, projected to the hyperplane Σx = 0, and LayerNorm's sphere.

    steps: the result of `sphere_in_steps`. Without a step to the sphere, no sphere is drawn. With such a
    step, the figure must have five stages, and the steps that follow it (γ and β) deform the sphere to an
    ellipsoid. before: the opacity of the sphere at stage 0.
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
    """The step x ↦ by·(x @ weight + bias) of the linear layer `name`, with only the outputs in `part`.

    own: the weights of the block to which the layer belongs, by name.
    """
    return Affine(by * own[f"{name}.weight"][:, part].T, by * own[f"{name}.bias"][part])


@dataclass(frozen=True)
class AttentionClouds:
    """Causal attention as a step, and clouds (sets of points) of each head's keys, values and weights.

    `step` maps the normalised residual stream to the heads' weighted sums of values, concatenated. The output
    matrix W_O is not part of it.
    """

    keys: tuple[Cloud, ...]
    values: tuple[Cloud, ...]
    weights: tuple[Cloud, ...]
    step: Branches

    @property
    def clouds(self) -> tuple[Cloud, ...]:
        """The clouds of keys and values, which `step` reads."""
        return *self.keys, *self.values


def attention(
    own: Own, points: Array, before: Sequence[Step], heads: int = 1, name: str = ""
) -> AttentionClouds:
    """Causal attention over the T tokens `points`, with the weights `own` of one block.

    A token is a row of `points`, and the steps `before` map it to the vector (d,) that attention reads. Each
    of H `heads` has d/H coordinates of the queries q, keys k and values v: head 0 has the first d/H, and so
    on. A head computes p = softmax(⟨q, k⟩/√(d/H)) and the sum Σ p·v. The names of all clouds begin with
    `name`.
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
    """RMSNorm without a gain, as one step. The weights `own` of a block only say how many coordinates it has.

    This function can take the place of `layer_norm`, so it has the argument `name`, but ignores it.
    """
    return (sphere(len(own["attn.c_proj.bias"])),)


def added(*steps: Step) -> Branches:
    """x ↦ x + steps(x), a residual connection."""
    return Branches((Pipeline(()), Pipeline(steps)))


def together(*steps: Step) -> Branches:
    """Combine steps into one: points move straight from the input of the first to the result of the last."""
    return Branches((Pipeline(steps),))
