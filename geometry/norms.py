"""Normalisation layers, as compositions of centring, normalising, gain and shift.

Their results agree with those of `torch.nn.functional`, where it has the same layer. `arrays` says which
inputs are accepted. Each function raises ValueError unless a gain γ and a shift β have exactly one number for
each coordinate (or channel), and ε is one number ≥ 0. Source: projection2025, section 16.
"""

from math import sqrt

from jaxtyping import Float

from geometry.arrays import Array, Scalar, like, namespace, number, real, whole, widened_and_cast_back
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
    """Layer normalisation of each point x: γ ⊙ Πx/√(σ² + ε) + β.

    Here Πx is x minus the mean of its coordinates, and σ² = ‖Πx‖²/d is their variance.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    gamma : array (d,), optional
        Gain γ; without it 1.
    beta : array (d,), optional
        Shift β; without it 0.
    eps : float
        ε ≥ 0.
    convention : {"pytorch", "std", "bare"}
        Where ε is: "pytorch" divides by √(σ² + ε), "std" by σ + ε, "bare" by √(σ² + ε/d). See `to_sphere`.

    Returns
    -------
    array (*batch, d)
        The normalised points, in the library and dtype of x. A constant vector gives β.

    Raises
    ------
    ValueError
        If γ or β has another shape, ε is negative, or the convention is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> layer_norm(np.array([5.0, 8.0, 2.0]), eps=0).round(3)
    array([ 0.   ,  1.225, -1.225])

    References
    ----------
    projection2025, section 16.
    """
    check_convention(convention)
    x, cast_back = widened_and_cast_back(x)
    radius, eps = like(sqrt(x.shape[-1]), x), number(eps, x, "eps", least=0)
    y, units = centered(x)
    return cast_back(to_ellipsoid(on_sphere(y, radius, eps, convention, units), gamma=gamma, beta=beta))


def rms_norm(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
    convention: str = "pytorch",
) -> Float[Array, "*batch d"]:
    """Root mean square normalisation: γ ⊙ x/√(mean(x²) + ε), without centring and shift.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    gamma : array (d,), optional
        Gain γ; without it 1.
    eps : float
        ε ≥ 0.
    convention : {"pytorch", "std", "bare"}
        Where ε is, as in `layer_norm`.

    Returns
    -------
    array (*batch, d)
        The normalised points, in the library and dtype of x. The zero vector stays 0, for ε = 0 too.

    Raises
    ------
    ValueError
        If γ has another shape, ε is negative, or the convention is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> rms_norm(np.array([3.0, 4.0]), eps=0).round(3)
    array([0.849, 1.131])

    References
    ----------
    projection2025, section 16.
    """
    x, cast_back = widened_and_cast_back(x)
    x = to_sphere(x, radius=sqrt(x.shape[-1]), eps=eps, convention=convention)
    return cast_back(to_ellipsoid(x, gamma=gamma))


def group_norm(
    x: Float[Array, "*batch d"],
    *,
    groups: int,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch d"]:
    """Group normalisation: LayerNorm on each of `groups` equal blocks of coordinates, then gain and shift.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    groups : int
        Number of blocks; a divisor of d.
    gamma, beta : array (d,), optional
        Gain γ and shift β.
    eps : float
        ε ≥ 0.

    Returns
    -------
    array (*batch, d)
        The normalised points. For ε = 0, and without gain and shift, they lie on a product of spheres.

    Raises
    ------
    ValueError
        If `groups` is not a whole number or does not divide d; otherwise as in `layer_norm`.

    Examples
    --------
    >>> import numpy as np
    >>> group_norm(np.array([1.0, 3.0, 10.0, 30.0]), groups=2, eps=0)
    array([-1.,  1., -1.,  1.])

    References
    ----------
    projection2025, section 16.
    """
    x, cast_back = widened_and_cast_back(x)
    groups = whole(groups, "groups")
    xp, (*batch, d) = namespace(x), x.shape
    if groups < 1 or d % groups:
        raise ValueError(f"{d} axes cannot be cut into {groups} equal groups: take a divisor of {d}")
    blocks = layer_norm(xp.reshape(x, (*batch, groups, d // groups)), eps=eps)
    return cast_back(to_ellipsoid(xp.reshape(blocks, x.shape), gamma=gamma, beta=beta))


def batch_norm(
    x: Float[Array, "*batch n d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch n d"]:
    """Batch normalisation as in training: each coordinate is normalised over the n points of a batch.

    The mean of the coordinate over the batch is subtracted, and the result is divided by √(σ² + ε), where σ²
    is the coordinate's variance over the batch (with divisor n). So the result for a point depends on the
    other points of its batch. γ and β have one number for each coordinate.
    """
    x, cast_back = widened_and_cast_back(x, axes=2)
    return cast_back(to_ellipsoid(layer_norm(x.mT, eps=eps).mT, gamma=gamma, beta=beta))


def instance_norm(
    x: Float[Array, "*batch channels positions"],
    *,
    gamma: Float[Array, "channels"] | None = None,
    beta: Float[Array, "channels"] | None = None,
    eps: Scalar = 1e-5,
) -> Float[Array, "*batch channels positions"]:
    """Instance normalisation: each channel of each sample is normalised over its positions.

    The mean over the positions is subtracted, and the result is divided by √(σ² + ε), where σ² is the
    variance over the positions (with their number as divisor). γ and β have one number for each channel.
    """
    return batch_norm(real(x, axes=2).mT, gamma=gamma, beta=beta, eps=eps).mT


def weight_norm(
    v: Float[Array, "*batch d"], *, g: Scalar | Float[Array, "*batch"]
) -> Float[Array, "*batch d"]:
    """Weight normalisation: g·v/‖v‖, a weight vector with length |g| and, for g > 0, the direction of v.

    It is 0 for v = 0. Raises ValueError unless g is one number, or one number for each vector.
    """
    v, cast_back = widened_and_cast_back(v)
    g = like(g, v)
    if g.shape not in ((), v.shape[:-1]):
        raise ValueError(f"g is one number, or one per vector, {tuple(v.shape[:-1])}: got {tuple(g.shape)}")
    return cast_back(g[..., None] * to_sphere(v))


def dyt(
    x: Float[Array, "*batch d"],
    *,
    alpha: Scalar,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
) -> Float[Array, "*batch d"]:
    """DyT (dynamic tanh): γ ⊙ tanh(αx) + β, which replaces a normalisation layer. alpha: α, one number."""
    x, cast_back = widened_and_cast_back(x)
    alpha = number(alpha, x, "alpha")
    return cast_back(to_ellipsoid(namespace(x).tanh(alpha * x), gamma=gamma, beta=beta))
