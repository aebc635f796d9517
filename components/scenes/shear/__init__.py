"""A shear is linear in space; on the shadow of a sphere it is not."""

from components.scene import Choice, Scene
from components.scenes.shear.build import build

SCENE = Scene(
    slug="shear",
    title="A linear map on a curved surface",
    lead="One shear moves a sphere and a cube. The cube's shadow stays straight; the sphere's bends.",
    order=15,
    build=build,
    choices=(
        Choice("pair", "Shear", "x-z", {f"{a}-{b}": f"{a} by {b}" for a in "xyz" for b in "zyx" if a != b}),
        Choice(
            "branch", "Half in the map", "upper", {"upper": "upper +", "lower": "lower −", "both": "both"}
        ),
    ),
)
