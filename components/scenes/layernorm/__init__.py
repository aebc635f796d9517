"""LayerNorm as three motions: to the hyperplane Σx = 0, on to the sphere, and from there to the ellipsoid."""

from components.language.scene import Choice, Scene, Typed, Whole
from components.scenes.layernorm.build import DEFAULT_VECTORS, TYPED_OR_WORKED, build

POINTS = {"gaussian": "Gaussian cloud", "lattice": "Lattice", "ring": "Ring"}
CONVENTIONS = {"pytorch": "√(σ²+ε), PyTorch", "std": "σ+ε", "bare": "√(‖x−μ𝟏‖²+ε)"}

SCENE = Scene(
    __name__,
    build,
    order=1,
    choices=(
        Choice(
            "variant", "variant", "layernorm", {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}, folded=True
        ),
        Choice("d", "dimension", "3", {"2": "d = 2", "3": "d = 3", "4": "d = 4"}),
        Choice("points", "points", "gaussian", POINTS | TYPED_OR_WORKED),
        Typed("vectors", "my vectors, one per line", DEFAULT_VECTORS, when=("points", ("own",))),
        Whole(
            "n",
            "number of points",
            400,
            min=1,
            max=10_000,
            step=100,
            when=("points", tuple(POINTS)),
            folded=True,
        ),
        Whole("seed", "seed", 1, min=0, max=9999, when=("points", ("gaussian",)), folded=True),
        Choice("convention", "position of ε", "pytorch", CONVENTIONS, folded=True),
    ),
)
