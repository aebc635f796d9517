"""LayerNorm as three motions: onto the hyperplane, out to the sphere, into the ellipsoid."""

from components.language.scene import Choice, Scene, Typed, Whole
from components.scenes.layernorm.build import GIVEN, build

POINTS = {"gaussian": "Gaussian cloud", "lattice": "Lattice", "ring": "Ring"}
CONVENTIONS = {"pytorch": "√(σ²+ε), PyTorch", "std": "σ+ε", "bare": "√(‖x−μ‖²+ε)"}

SCENE = Scene(
    __name__,
    build,
    order=1,
    choices=(
        Choice("variant", "Variant", "layernorm", {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}),
        Choice("d", "Dimension", "3", {"2": "d = 2", "3": "d = 3", "4": "d = 4"}),
        Choice("points", "Points", "gaussian", POINTS | GIVEN),
        Typed("vectors", "My vectors, one a line", "5 8 2; 1 0 1; -2 1 4", when=("points", ("own",))),
        Whole("n", "How many", 400, min=1, max=10_000, step=100, when=("points", tuple(POINTS))),
        Whole("seed", "Seed", 1, min=0, max=9999, when=("points", ("gaussian",))),
        Choice("convention", "Where ε stands", "pytorch", CONVENTIONS),
    ),
)
