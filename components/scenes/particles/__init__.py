"""Tokens as particles on a circle or a sphere, which attention moves together into long-lived clusters."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.particles.build import build
from components.scenes.particles.motion import PLACEMENTS

SCENE = Scene(
    __name__,
    build,
    order=310,
    choices=(
        Choice("d", "tokens on", "2", {"2": "a circle", "3": "a sphere"}),
        Choice("n", "tokens", "32", {n: n for n in ("8", "16", "32", "64", "128", "256")}),
        Choice("placement", "norm", "post", PLACEMENTS | {"all": "all four, side by side"}),
        Choice("mask", "attention to", "all", {"all": "all tokens", "causal": "earlier ones"}, folded=True),
        Whole("seed", "seed", 1, min=0, max=9999, folded=True),
    ),
)
