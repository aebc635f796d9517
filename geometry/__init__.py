"""Maps of points that neural networks use: normalisation layers, affine maps, softmax, and pipelines of them.

The last axis of an array holds the coordinates of a point. The functions exported here accept arrays of any
library that follows the array API standard (NumPy, PyTorch). Given tensors, they return tensors, and
gradients pass through. `geometry.arrays` lists the accepted dtypes. `tests/geometry` compares the norms with
`torch.nn.functional`.
"""

from geometry.centering import center
from geometry.norms import group_norm, layer_norm, rms_norm
from geometry.pipeline import (
    Affine,
    Attention,
    Branches,
    Derivative,
    Entries,
    Flow,
    Normalize,
    Of,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Put,
    Softmax,
    Track,
)
from geometry.shear import shear
from geometry.softmax import softmax
from geometry.sphere import to_sphere, u_eps
from geometry.stretch import fold, stretch

__all__ = [
    "Affine",
    "Attention",
    "Branches",
    "Derivative",
    "Entries",
    "Flow",
    "Normalize",
    "Of",
    "Orbit",
    "Pipeline",
    "Placed",
    "Pointwise",
    "Product",
    "Put",
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
