"""Closed forms with which tests compare maps, steps and measurements."""

import numpy as np


def semi_axes(gamma, *, centered=True):
    """The semi-axes of the ellipsoid on which the outputs of LayerNorm (or RMSNorm, if not `centered`) lie.

    Returns lengths (k,), longest first, and directions (k, d). The lengths are √d times the singular values
    of diag(γ)Π (or of diag(γ)), without those that are 0. Source: riechers2024.
    """
    d = len(gamma)
    u, s, _ = np.linalg.svd(np.diag(gamma) @ (np.eye(d) - centered / d))
    some = s > 4 * d * np.finfo(float).eps * s.max(initial=0)
    return np.sqrt(d) * s[some], u.T[some]


def sheared_shadow(x, y, *, s, radius):
    """The sheared shadows (2, N, 2) of the points of a sphere that lie above and below the points (x, y).

    They are (x ± s·√(r² − x² − y²), y). Source: symmetrize2025, addendum 11.
    """
    z = np.sqrt(np.maximum(radius**2 - x**2 - y**2, 0))
    return np.array([np.stack([x + sign * s * z, y], -1) for sign in (1, -1)])
