"""What normalisation does to space: maps of points on the last axis, for any array library."""

from geometry.centering import center
from geometry.norms import group_norm, layer_norm, rms_norm
from geometry.pipeline import (
    Affine,
    Branches,
    Derivative,
    Entries,
    Normalize,
    Of,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Softmax,
    Track,
)
from geometry.shear import shear
from geometry.softmax import softmax
from geometry.sphere import to_sphere, u_eps
from geometry.stretch import fold, stretch

__all__ = [
    "Affine",
    "Branches",
    "Derivative",
    "Entries",
    "Normalize",
    "Of",
    "Orbit",
    "Pipeline",
    "Placed",
    "Pointwise",
    "Product",
    "Softmax",
    "Track",
    "center",
    "fold",
    "group_norm",
    "layer_norm",
    "rms_norm",
    "shear",
    "softmax",
    "stretch",
    "to_sphere",
    "u_eps",
]
