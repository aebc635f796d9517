"""A classifier of tokens: one transformer layer with one attention head, without position embeddings.

Source: brody2023, sections 3 and E.1.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod, sqrt
from typing import Any

import numpy as np

from geometry.arrays import Array, namespace
from geometry.centering import centering_matrix
from geometry.pipeline import Affine, Normalize, Pipeline, Step

# for each norm: whether it centres, and p if its output has length dᵖ (None: it keeps the length)
NORMS: dict[str, tuple[bool, float | None]] = {
    "layer_norm": (True, 0.5),
    "rms_norm": (False, 0.5),
    "short": (False, -0.5),
    "none": (False, None),
}
MAX_CLASSES, MAX_WIDTH = 64, 64  # limits for uploaded film files


@dataclass(frozen=True)
class AttentionClassifier:
    """A transformer block that reads a sequence as counts: how many tokens of each class it contains.

    For each token, the block predicts the class with which the sequence is labelled. It is pre-LN: a
    normalisation layer precedes attention, and another one precedes the feed-forward network. Let eᵢ ∈ ℝᵈ be
    the embedding of class i, d the width, and n_c the number of tokens of class c in the sequence. LN is
    LayerNorm with a gain and a shift. N is the norm without gain and shift that NORMS lists under the name
    `norm`. A token of class i becomes

        a = eᵢ + b_O + Σ_c p_ic W_O W_V N(e_c),   p_ic ∝ n_c · exp(⟨W_Q N(eᵢ), W_K N(e_c)⟩/√d),
        y = a + b₂ + W₂ relu(b₁ + W₁ LN(a)),      and the logit of class k is ⟨y, e_k⟩.

    The matrices W and the vectors b are parameters. LN has ε = 0. p_ic is the attention that all tokens of
    class c get together; over all c it sums to 1. Counts suffice, because tokens of the same class have equal
    keys, which get equal attention weights. brody2023 calls the vector W_Kᵀ W_Q N(eᵢ)/√d the query. Raises
    ValueError for sizes outside the limits, and for an unknown norm.
    """

    classes: int = 20
    width: int = 8
    norm: str = "layer_norm"

    def __post_init__(self):
        for name, most in (("classes", MAX_CLASSES), ("width", MAX_WIDTH)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 2 <= value <= most:
                raise ValueError(f"{name} is a whole number, 2 … {most}: got {value}")
        if self.norm not in NORMS:
            raise ValueError(f"no norm {self.norm!r}: take one of {', '.join(NORMS)}")

    @property
    def inputs(self) -> int:
        return self.classes

    @property
    def outputs(self) -> int:
        return self.classes

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter array by name, in the order of the flat parameter vector."""
        d = self.width
        square, row = (d, d), (d,)
        return {
            "embedding": (self.classes, d),
            "query": square,
            "key": square,
            "value": square,
            "out": square,
            "out_shift": row,
            "gain": row,
            "shift": row,
            "first": square,
            "first_shift": row,
            "second": square,
            "second_shift": row,
        }

    @property
    def parameter_count(self) -> int:
        """The number of parameters P."""
        return sum(map(prod, self.shapes.values()))

    def parts(self, flat: Array) -> list[Array]:
        """Split flat rows of parameters (…, P) into one array (…, *shape) for each item of `shapes`.

        Raises ValueError for another number of parameters than P.
        """
        xp, (*batch, size) = namespace(flat), flat.shape
        if size != self.parameter_count:
            raise ValueError(f"this network has {self.parameter_count} parameters: got {size}")
        found, start = [], 0
        for shape in self.shapes.values():
            end = start + prod(shape)
            found.append(xp.reshape(flat[..., start:end], (*batch, *shape)))
            start = end
        return found

    def named(self, flat: Array) -> dict[str, Array]:
        return dict(zip(self.shapes, self.parts(flat), strict=True))

    def initial(self, seeds: Sequence[int]) -> Array:
        """Random parameters (S, P) in float32, one row per seed, drawn as PyTorch's transformer layer does.

        Embeddings are standard normal. W_Q, W_K, W_V are uniform in ±√(6/(4d)), which is Glorot's bound for
        one matrix (3d, d) that consists of these three. W_O, W₁, W₂, b₁ and b₂ are uniform in ±1/√d. The gain
        is 1; the shift and b_O are 0. The parameters do not depend on which of NORMS the network has.
        """
        d, drawn = self.width, []
        bounds = dict.fromkeys(self.shapes, 1 / sqrt(d)) | dict.fromkeys(
            ("query", "key", "value"), sqrt(1.5 / d)
        )
        still = {"out_shift": 0.0, "gain": 1.0, "shift": 0.0}
        for rng in map(np.random.default_rng, seeds):
            own = {
                name: np.full(shape, still[name])
                if name in still
                else rng.normal(size=shape)
                if name == "embedding"
                else rng.uniform(-bounds[name], bounds[name], shape)
                for name, shape in self.shapes.items()
            }
            drawn.append(np.concatenate([part.ravel() for part in own.values()]))
        return np.array(drawn, dtype=np.float32)

    def steps(self) -> tuple[Step, ...]:
        """The pipeline steps of the normalisation before attention; () if `norm` is "none"."""
        project, power = NORMS[self.norm]
        centred = (Affine(centering_matrix(self.width)),) if project else ()
        return centred + (() if power is None else (Normalize(self.width**power),))

    def keys(self, embedding: Array) -> Array:
        """The normalised embeddings N(e) (…, C, d) of all C classes, which are the keys of attention."""
        return Pipeline(self.steps()).stages(embedding)[-1]

    def queries(self, flat: Array) -> Array:
        """The queries W_Kᵀ W_Q N(e)/√d (…, C, d) of all C classes.

        Their inner products with `keys` are the attention scores.
        """
        of = self.named(flat)
        return self.keys(of["embedding"]) @ of["query"].mT @ of["key"] / sqrt(self.width)

    def logits(self, parts: Sequence[Array], counts: Array) -> Array:
        """The logits (…, C·N, C): for every class of token and every sequence, a row of C logits.

        There are C classes and N sequences. Row c·N + n has the logits that a token of class c gets in
        sequence n. Classes that do not occur in a sequence have a row too, with the weight 0 in `answers`.
        parts: the parameter arrays as the method `parts` returns them. counts (N, C): how often each class
        occurs in each sequence.
        """
        xp, of = namespace(counts), dict(zip(self.shapes, parts, strict=True))
        e, (count, classes), d = of["embedding"], counts.shape, self.width
        batch, there = e.shape[:-2], counts.mT
        h = self.keys(e)
        scores = (h @ of["query"].mT) @ (h @ of["key"].mT).mT / sqrt(d)
        odds = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        values = (of["out"] @ of["value"] @ h.mT)[..., None, :] * odds[..., None, :, :]  # (…, d, i, c)
        sums = xp.reshape(
            xp.reshape(values, (*batch, d * classes, classes)) @ there, (*batch, d, classes, count)
        )
        start = e.mT + of["out_shift"][..., None]
        a = xp.reshape(
            start[..., None] + sums / (odds @ there)[..., None, :, :], (*batch, d, classes * count)
        )
        inner = a - xp.mean(a, axis=-2, keepdims=True)
        inner = inner / xp.sqrt(xp.mean(inner * inner, axis=-2, keepdims=True))
        first = of["first"] @ of["shift"][..., None] + of["first_shift"][..., None]
        hidden = xp.clip((of["first"] * of["gain"][..., None, :]) @ inner + first, 0, None)
        return (e @ (a + of["second"] @ hidden + of["second_shift"][..., None])).mT

    def answers(self, counts: Array, labels: Array, weight: Array) -> tuple[Array, Array]:
        """The correct class (C·N,) for each row of `logits`, and the weight (C·N,) of the row in the loss.

        counts (N, C): the number of tokens of each class in each sequence. labels, weight (N,): the correct
        class and the weight of each sequence. A row stands for all tokens of one class in one sequence. Its
        weight is the number of these tokens times the weight of the sequence.
        """
        xp = namespace(counts)
        return xp.tile(labels, (self.classes,)), xp.reshape(counts.mT * weight, (-1,))

    def fields(self) -> dict[str, Any]:
        return {"model": "attention", **asdict(self)}
