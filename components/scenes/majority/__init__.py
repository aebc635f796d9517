"""Attention that learns to find the most frequent class of a sequence, after LayerNorm, RMSNorm or none."""

from components.language.scene import Choice, Picked, Scene
from components.scenes.majority.build import CURVES, DATA_FILES, NORMS, RATES, TRAINING, build
from components.scenes.trained import SEEDS, results

TASK = ("norm", "rate")

SCENE = Scene(
    __name__,
    build,
    order=260,
    choices=(
        Choice("norm", "norm before attention", "layer_norm", NORMS),
        Choice("rate", "learning rate", "slow", RATES),
        Choice("curve", "curves", "loss", CURVES),
        Picked("seed", "seed shown", 0, 0, SEEDS - 1, TASK),
        *results(*TASK),
    ),
    training=TRAINING,
    files=lambda choices: DATA_FILES,
)
