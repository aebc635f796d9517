"""The norms of deep learning, each made of centring, normalising, and gain and shift.

They agree with `torch.nn.functional`. Vectors are on the last axis. What an input may be: see `arrays`.
Each raises ValueError for a γ or β without just one number for each coordinate, and for an ε that is not one
number, 0 or more.
Source: projection2025, section 16.
"""

from math import sqrt

from jaxtyping import Float

from geometry.arrays import Array, Scalar, like, namespace, number, real, taken, whole
from geometry.centering import centered
from geometry.ellipsoid import to_ellipsoid
from geometry.sphere import check_convention, on_sphere, to_sphere


def layer_norm(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
    convention: str = "pytorch",
) -> Float[Array, "*batch d"]:
    """γ ⊙ Πx/√(σ² + ε) + β, with σ² = ‖Πx‖²/d.

    `convention="std"` divides by σ + ε, `"bare"` by √(σ² + ε/d); see `to_sphere`.
    A constant vector goes to β. Raises ValueError for another convention.
    """
    check_convention(convention)
    x, back = taken(x)
    radius, eps = like(sqrt(x.shape[-1]), x), number(eps, x, "eps", least=0)
    y, units = centered(x)
    return back(to_ellipsoid(on_sphere(y, radius, eps, convention, units), gamma=gamma, beta=beta))


def rms_norm(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
    convention: str = "pytorch",
) -> Float[Array, "*batch d"]:
    """γ ⊙ x/√(mean(x²) + ε): no centring, no shift. Conventions and errors as in `layer_norm`."""
    x, back = taken(x)
    x = to_sphere(x, radius=sqrt(x.shape[-1]), eps=eps, convention=convention)
    return back(to_ellipsoid(x, gamma=gamma))


def group_norm(
    x: Float[Array, "*batch d"],
    *,
    groups: int,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch d"]:
    """LayerNorm on each of `groups` equal blocks of axes: a product of spheres; then γ ⊙ · + β.

    Raises ValueError if `groups` is no whole number, or d no multiple of it.
    """
    x, back = taken(x)
    groups = whole(groups, "groups")
    xp, (*batch, d) = namespace(x), x.shape
    if groups < 1 or d % groups:
        raise ValueError(f"{d} axes cannot be cut into {groups} equal groups: take a divisor of {d}")
    blocks = layer_norm(xp.reshape(x, (*batch, groups, d // groups)), eps=eps)
    return back(to_ellipsoid(xp.reshape(blocks, x.shape), gamma=gamma, beta=beta))


def batch_norm(
    x: Float[Array, "*batch n d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch n d"]:
    """LayerNorm of each feature across the n points: it centres and scales the cloud, not a point.

    The statistics are those of this cloud, as in training.
    """
    x, back = taken(x, axes=2)
    return back(to_ellipsoid(layer_norm(x.mT, eps=eps).mT, gamma=gamma, beta=beta))


def instance_norm(
    x: Float[Array, "*batch channels positions"],
    *,
    gamma: Float[Array, "channels"] | None = None,
    beta: Float[Array, "channels"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch channels positions"]:
    """LayerNorm of each channel across its positions; gain and shift belong to the channel."""
    return batch_norm(real(x, axes=2).mT, gamma=gamma, beta=beta, eps=eps).mT


def weight_norm(
    v: Float[Array, "*batch d"], *, g: Scalar | Float[Array, "*batch"]
) -> Float[Array, "*batch d"]:
    """g·v/‖v‖: a weight vector as a length g and a direction.

    Raises ValueError unless g is one number, or one a vector.
    """
    v, back = taken(v)
    g = like(g, v)
    if g.shape not in ((), v.shape[:-1]):
        raise ValueError(f"g is one number or one a vector, {tuple(v.shape[:-1])}: got {tuple(g.shape)}")
    return back(g[..., None] * to_sphere(v))


def dyt(
    x: Float[Array, "*batch d"],
    *,
    alpha: Scalar,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
) -> Float[Array, "*batch d"]:
    """DyT, γ ⊙ tanh(αx) + β: a squash of every coordinate by itself. No sphere."""
    x, back = taken(x)
    alpha = number(alpha, x, "alpha")
    return back(to_ellipsoid(namespace(x).tanh(alpha * x), gamma=gamma, beta=beta))
