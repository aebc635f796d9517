"""Measure each normalisation layer of a recording: one number or text per column of COLUMNS."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv

from geometry import selection
from geometry.angles import angles
from geometry.ellipsoid import lengths, shorter
from learning.file_error import FileError
from learning.recording import massive, precision, sources, token_kinds
from learning.recording.column import Column, ratio
from learning.recording.recording import NORM_KINDS, Norm, Recording

Array = np.ndarray
FLAT_AXIS_FRACTION = 0.01  # an axis shorter than this share of the longest semi-axis counts as flat
ISOTROPIC_SHARE_D = 0.455  # the median of χ² with one degree of freedom
MAX_SAMPLED_KEYS = 60  # number of vectors of each norm that are treated as attention keys
SPREAD_TOLERANCE = 1e-12  # a spread below this share of the keys' size counts as none
SAMPLED_VECTORS = "the sampled vectors"


TableRow = Mapping[str, Any]

COLUMNS = (
    Column("path", "norm", "The module in its model.", ""),
    Column("kind", "kind", "LayerNorm, RMSNorm or GroupNorm, recognised by what it makes of vectors.", ""),
    Column("d", "d", "How many coordinates a vector has.", "d"),
    Column("vectors", "vectors", "How many were sampled, of all that the norm has seen.", "d"),
    Column(
        "share",
        "energy along 𝟏",
        "dμ²/‖x‖², for a GroupNorm summed over its groups: what centring takes of ‖x‖²; the median of "
        f"{SAMPLED_VECTORS}.",
        ".2%",
    ),
    Column("share_high", "energy along 𝟏, 95th percentile", "The 95th percentile of this energy.", ".2%"),
    Column(
        "share_d",
        "energy along 𝟏 × d",
        f"The energy along 𝟏 times d; the median. Isotropic vectors have {ISOTROPIC_SHARE_D} in many "
        "dimensions, the median of χ² with one degree of freedom.",
    ),
    Column(
        "sigma",
        "σ",
        "What the norm divides by, without ε: √(mean (x − μ)²), for an RMSNorm √(mean x²), for a GroupNorm "
        "the root of its groups' mean σ²; the median.",
    ),
    Column("sigma_low", "σ, 25th percentile", "A quarter of the vectors has a smaller σ."),
    Column("sigma_high", "σ, 75th percentile", "A quarter of the vectors has a larger σ."),
    Column("size", "‖x‖", "The length of an input vector; the median."),
    Column("size_low", "‖x‖, 25th percentile", "A quarter of the vectors is shorter."),
    Column("size_high", "‖x‖, 75th percentile", "A quarter of the vectors is longer."),
    *massive.COLUMNS,
    *token_kinds.COLUMNS,
    Column(
        "rank",
        "effective rank",
        "e^H, H the entropy of the singular values of the centred vectors about their mean, as shares of "
        "their sum: in how many directions they spread. At most as many as vectors (Roy, Vetterli 2007). "
        "Without the massive ones. Each vector loses its own mean first, before an RMSNorm too, so that "
        "kinds of norms can be compared.",
        ".1f",
    ),
    Column("rank_all", "effective rank, all vectors", "The same with the massive vectors.", ".1f"),
    Column("gain", "mean |γ|", "The mean of the gain's absolute values."),
    Column(
        "gain_spread",
        "|γ|, deviation ÷ mean",
        "The standard deviation of |γ| over its mean: 0 where all |γ| are equal.",
    ),
    Column("axis_long", "longest semi-axis", "The longest semi-axis of the ellipsoid that ε = 0 would give."),
    Column("axis_middle", "median semi-axis", "The middle one of its semi-axes; of two the shorter."),
    Column(
        "axis_short",
        "shortest semi-axis",
        "The shortest; where the norm centres, without the direction 1/γ, in which there is none.",
    ),
    Column(
        "flat",
        "flat directions",
        f"Semi-axes below {FLAT_AXIS_FRACTION:.0%} of the longest, and the directions that centring removes.",
        "d",
    ),
    Column("eps", "ε", "The constant that the norm adds to the variance, under the root."),
    Column(
        "eps_share",
        "ε/(σ² + ε)",
        "The share of ε in the square of the divisor; for a GroupNorm in the group where it is "
        "largest; the median.",
        ".2g",
    ),
    Column("eps_high", "ε/(σ² + ε), 95th percentile", "The 95th percentile of this share.", ".2g"),
    *precision.COLUMNS,
    Column(
        "turn",
        "turn by centring",
        "The angle between the outputs with and without centring, γ, β and ε the same, in degrees; median. "
        "Without the massive vectors.",
        ".2f",
    ),
    Column("turn_high", "turn, 95th percentile", "The 95th percentile of this angle.", ".2f"),
    Column("turn_all", "turn, all vectors", "The median turn with the massive vectors.", ".2f"),
    Column(
        "turn_all_high",
        "turn, all vectors, 95th percentile",
        "Its 95th percentile with the massive vectors.",
        ".2f",
    ),
    Column(
        "turn_scaled",
        "turn ÷ random",
        "The median turn as a multiple of that of isotropic vectors without γ, β and ε. This is the median "
        "angle between isotropic vectors of that d and the hyperplane, arcsin √B with B of the Beta "
        "distribution (1/2, (d − 1)/2): 1.98° where d = 384, 0.35° where d = 12,288.",
    ),
    *sources.COLUMNS,
    Column(
        "folds",
        "centring can be folded",
        "Whether the centring folds exactly: whether the means of its inputs can be removed from the weights "
        "that write them. Found in the graph of one call, and checked on a folded copy of the model.",
        "",
    ),
    Column("why", "reason", "Why the centring can be folded or not.", ""),
    Column(
        "keys",
        "keys",
        f"The number of vectors taken as attention keys: at most {MAX_SAMPLED_KEYS}, evenly spaced.",
        "d",
    ),
    Column(
        "lost_before",
        "keys lost before the norm",
        "The number of these keys that no query can select, before the norm.",
        "d",
    ),
    Column("lost_after", "keys lost after the norm", "The same after the norm.", "d"),
)

EFFECT_COLUMNS = (
    Column(
        "kl",
        "KL",
        "The effect on the model's predictions when this norm alone loses its centring, or gets one if it "
        "has none: the mean over tokens of KL(model ‖ changed model), in nats.",
        ".2g",
    ),
    Column(
        "loss", "Δ loss", "For the same change: the changed model's loss minus the model's, in nats.", "+.2g"
    ),
    Column(
        "change",
        "Δ outputs",
        "For the same change: ‖y' − y‖/‖y‖ of all outputs y: logits, or the last hidden states of a model "
        "without a head.",
        ".2g",
    ),
)


def measured(recording: Recording, tell: Callable[[int], None] = lambda done: None) -> list[TableRow]:
    """Measure all norms (normalisation layers) of a recording: one `row` of the report for each, in order.

    `tell` is called with the number of norms measured so far, after each norm.
    """
    rows = []
    for k, norm in enumerate(recording.norms, 1):
        rows.append(row(norm, recording.words, recording.special))
        tell(k)
    return rows


def row(norm: Norm, words: Mapping[int, str] | None = None, special: Collection[int] = ()) -> TableRow:
    """Measure one norm (normalisation layer): its report row, a dict of a value for each name in COLUMNS.

    `words` maps a token's id to the token's text. `special` contains the ids of special tokens. Raises
    FileError if `norm.x`, `norm.gamma` or `norm.beta` has a number that is too large for single precision.
    The square of such a number could be infinite, and then matrix decompositions may never end.
    """
    largest = max(float(np.abs(part).max()) for part in (norm.x, norm.gamma, norm.beta))
    if largest > np.finfo(np.float32).max:
        raise FileError(f"{norm.path!r} has numbers that are too large to compute with")
    blocks = norm.blocks(norm.x)
    size, means = np.linalg.norm(blocks, axis=(-2, -1)), blocks.mean(axis=-1)
    centred = blocks - means[..., None]
    share = ratio(blocks.shape[-1] * np.sum(means**2, axis=-1), size**2)
    variance = np.mean((centred if norm.centres else blocks) ** 2, axis=-1)
    sigma = np.sqrt(variance.mean(axis=-1))
    small = ratio(norm.eps, variance + norm.eps).max(axis=-1)
    turn = np.degrees(angles(norm.output(norm.x, centres=True), norm.output(norm.x, centres=False)))
    columns: dict[str, Any] = {
        "path": norm.path,
        "kind": NORM_KINDS[norm.kind],
        "d": norm.d,
        "vectors": len(norm.x),
    }
    columns |= _quantiles("share", share, {"": 50, "_high": 95})
    columns |= _quantiles("sigma", sigma, {"": 50, "_low": 25, "_high": 75})
    columns |= _quantiles("size", size, {"": 50, "_low": 25, "_high": 75})
    spread = centred.reshape(len(norm.x), -1)
    few = massive.is_massive(norm.x)
    columns |= massive.columns(norm, words or {}) | precision.columns(norm, few)
    columns |= token_kinds.columns(norm, special, share=share, turn=turn)
    columns |= sources.columns(norm.mean_sources, norm.outlier_sources)
    columns |= {
        "rank": effective_rank(spread[~few]),
        "rank_all": effective_rank(spread),
        **gains(norm),
        "eps": float(norm.eps),
    }
    columns |= {
        f"eps_{name}": value for name, value in _quantiles("", small, {"share": 50, "high": 95}).items()
    }
    columns |= _quantiles("turn", turn[~few], {"": 50, "_high": 95})
    columns |= _quantiles("turn_all", turn, {"": 50, "_high": 95}) | keys(norm)
    columns |= {"folds": norm.folds, "why": norm.why}
    return with_missing_columns(columns, groups=norm.groups)


def with_missing_columns(columns: TableRow, *, groups: int = 1) -> TableRow:
    """The row of a report, such as one from an older file, completed to all COLUMNS, in their order.

    columns: the row, which may be incomplete. A missing value is derived from other columns if possible;
    otherwise it is None. `groups` is the number of groups of coordinates that the norm centres separately.
    """
    d = columns["d"]
    every = (
        dict.fromkeys(column.name for column in COLUMNS)
        | {
            "rank_all": columns["rank"],
            "turn_all": columns["turn"],
            "turn_all_high": columns["turn_high"],
            "share_d": columns["share"] * d,
            "turn_scaled": columns["turn"] / isotropic_angle(d, groups=groups),
        }
        | dict(columns)
    )
    return {column.name: every[column.name] for column in COLUMNS}


def isotropic_angle(d: int, *, groups: int = 1) -> float:
    """The median angle, in degrees, between isotropic vectors in d dimensions and the hyperplane Σx = 0.

    Let 𝟏 be the all-ones vector. The share of an isotropic vector's squared length that lies along 𝟏 is
    Beta-distributed with parameters 1/2 and (d − 1)/2. With several groups, the hyperplane is replaced by the
    subspace where each group of coordinates sums to 0, and the parameters are groups/2 and (d − groups)/2.
    """
    share = betaincinv(groups / 2, (d - groups) / 2, 0.5)
    return float(np.degrees(np.arcsin(np.sqrt(share))))


def with_effects(rows: Sequence[TableRow], found: Mapping[str, Any]) -> list[TableRow]:
    """The rows with EFFECT_COLUMNS added, sorted by "kl", then by "change", the largest first.

    `found` maps the path of a norm to the `learning.convert.effect.Effect` measured for this norm. A value
    that was not measured or is not finite is None in the row, and counts as 0 for the sorting.
    """
    names = [column.name for column in EFFECT_COLUMNS]
    every = [
        {**row, **{name: _finite(getattr(found.get(row["path"]), name, None)) for name in names}}
        for row in rows
    ]
    return sorted(every, key=lambda row: [-(row[name] or 0.0) for name in ("kl", "change")])


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def effective_rank(x: Float[Array, "n d"]) -> float:
    """The effective rank of the vectors x about their mean: exp(−Σ pₖ log pₖ), with pₖ = σₖ/Σσ.

    Here σₖ are the singular values of x minus the mean of its rows. The rank is 0 if all vectors are equal.
    Source: O. Roy and M. Vetterli, The effective rank: a measure of effective dimensionality (2007).
    """
    away = x - x.mean(axis=0)
    largest = np.abs(away).max()
    if largest <= 8 * np.finfo(float).eps * np.abs(x).max():
        return 0.0
    away = away / largest
    small = away @ away.T if len(away) < away.shape[1] else away.T @ away
    s = np.sqrt(np.maximum(np.linalg.eigvalsh(small), 0))
    s = s[s > sqrt(np.finfo(float).eps) * s[-1]]  # smaller ones come from rounding in the matrix product
    p = s / s.sum()
    return float(np.exp(-np.sum(p * np.log(p))))


def gains(norm: Norm) -> dict[str, Any]:
    """The values of the columns on the gain γ of a norm, from "gain" to "flat" (see COLUMNS).

    Normalised vectors lie on a sphere. γ stretches this sphere to an ellipsoid, whose semi-axes are measured.
    A norm with several groups of coordinates has an ellipsoid for each group. In this case the longest and
    the shortest semi-axis are taken over all ellipsoids, `axis_middle` is the median of their middle
    semi-axes, and `flat`, the number of flat directions, is a sum over all groups.
    """
    blocks = norm.blocks(norm.gamma)
    size, each = np.abs(norm.gamma.astype(float)), blocks.shape[-1]
    last = each - norm.centres
    axes = np.array([lengths(g, [0, last // 2, last - 1], centered=norm.centres) for g in blocks])
    flat = sum(norm.centres + shorter(g, FLAT_AXIS_FRACTION, centered=norm.centres) for g in blocks)
    return {
        "gain": float(size.mean()),
        "gain_spread": float(ratio(size.std(), size.mean())),
        "axis_long": float(axes[:, 0].max()),
        "axis_middle": float(np.median(axes[:, 1])),
        "axis_short": float(axes[:, 2].min()),
        "flat": int(flat),
    }


def keys(norm: Norm) -> dict[str, Any]:
    """The values of the columns on attention keys: how many no query could select, before and after the norm.

    Up to MAX_SAMPLED_KEYS of the norm's recorded input vectors, evenly spaced, are treated as one set of
    keys.
    """
    few = norm.x[np.unique(np.linspace(0, len(norm.x) - 1, MAX_SAMPLED_KEYS).astype(int))].astype(float)
    before, after = few / np.abs(few).max(initial=1e-30), norm.output(few)
    return {"keys": len(few), "lost_before": lost(before), "lost_after": lost(after)}


def lost(keys: Float[Array, "n d"]) -> int:
    """The number of keys that no query can select: each of them is a weighted average of other keys.

    The keys are first expressed in coordinates of the smallest affine subspace that contains all of them.
    """
    away = keys - keys.mean(axis=0)
    u, s, _ = np.linalg.svd(away, full_matrices=False)
    spread = s > SPREAD_TOLERANCE * max(s[0], np.abs(keys).max())
    if spread.sum() == len(keys) - 1:  # the keys are the corners of a simplex
        return 0
    return int(np.sum(~selection.selectable((u * s)[:, spread])))


def _quantiles(name: str, values: Array, at: Mapping[str, float]) -> dict[str, Any]:
    found = np.percentile(values, list(at.values()))
    return {name + suffix: float(value) for suffix, value in zip(at, found, strict=True)}
