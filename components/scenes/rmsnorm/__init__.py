"""LayerNorm beside RMSNorm: what the mean does to the one and not to the other."""

from components.scene import Scene, Whole
from components.scenes.rmsnorm.build import build

SCENE = Scene(
    slug="rmsnorm",
    title="LayerNorm beside RMSNorm",
    lead="The same points through both. A growing mean drives RMSNorm's to the poles;"
    " LayerNorm's do not move.",
    order=2,
    build=build,
    choices=(
        Whole("n", "How many", 300, min=1, max=10_000, step=100),
        Whole("seed", "Seed", 3, min=0, max=9999),
    ),
)
