"""One layer, two questions about made-up days: hot or cold, extreme or typical."""

from components.scene import Choice, Scene, Whole
from components.scenes.temperature.build import build

SCENE = Scene(
    slug="temperature",
    title="Hot or cold, extreme or typical",
    lead="Made-up days. A stretch sets hot and cold apart; a fold brings both extremes together.",
    order=14,
    build=build,
    choices=(
        Choice("task", "Find the", "extreme", {"extreme": "extreme days", "hot": "hot days"}),
        Whole("seed", "Seed", 5, min=0, max=9999),
    ),
)
