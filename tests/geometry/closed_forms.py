"""Closed forms with which tests compare maps, steps and measurements."""

import numpy as np


def semi_axes(gamma, *, centered=True):
    """The semi-axes of the ellipsoid of all outputs of LayerNorm (RMSNorm, if not `centered`) with this gain.

    Returns lengths (k,), longest first, and directions (k, d). The lengths are √d times the singular values
    of diag(γ)Π (or of diag(γ)), without those that are 0. Source: riechers2024.
    """
    d = len(gamma)
    u, s, _ = np.linalg.svd(np.diag(gamma) @ (np.eye(d) - centered / d))
    some = s > 4 * d * np.finfo(float).eps * s.max(initial=0)
    return np.sqrt(d) * s[some], u.T[some]


def sheared_shadow(x, y, *, s, radius):
    """The shadows (2, N, 2) of sheared points of a sphere: those above the points (x, y), then those below.

    The shear adds s·z to x, and the shadow leaves out z: (x ± s·√(radius² − x² − y²), y). x, y: arrays (N,).
    If (x, y) is outside the sphere's shadow, the root counts as 0. Source: symmetrize2025, addendum 11.
    """
    z = np.sqrt(np.maximum(radius**2 - x**2 - y**2, 0))
    return np.array([np.stack([x + sign * s * z, y], -1) for sign in (1, -1)])
