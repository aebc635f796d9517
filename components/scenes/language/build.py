"""Recipe of the scene `language`: the keys of the letters of a sentence, in one layer of a trained model.

The keys have four coordinates. The picture shows the hyperplane Σx = 0, which has three dimensions and
contains all centred keys. All keys are divided by the same number, which changes neither LayerNorm's result
nor which keys a query can select.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Average, Follow, Hull, HullFaces, Mark, Points, Selectable, Unselectable
from components.language.recipe import Count, Facts, Fate, Letters, Recipe, Table
from components.language.scene import Choices, File, WrongValue
from components.scenes.blocks import around, sphere_in_steps
from components.scenes.scenery import followed, space, split
from geometry import Affine, Pipeline
from geometry.centering import hyperplane_basis
from geometry.hull import vertices
from geometry.pipeline import Step
from learning.film import json_table
from learning.language import Shape, forward, from_file

Array = np.ndarray
Rows = Sequence[Mapping[str, Any]]

SENTENCES = {
    "film": "The film was slow at first, but its end was a great success.",
    "fox": "The quick brown fox jumps over the lazy dog.",
    "attention": "Attention gives every key a score, and the highest wins.",
    "same": "the the the the the the the the the the",
    "held": "That depends on what should count. If the mean and the scale of a vector carry no meaning, "
    "it is good to be free of them. If they do, they must be written somewhere else before the step.",
}
OWN = "own"
ARMS = {"language": "LayerNorm", "language_centred": "centring alone"}
LAYERS = range(4)
D, START_REACH = 4, 2.5  # coordinates; distance at which the farthest key is drawn at first
MAX_NAMED_CHARACTERS, SMALL_KEYS_FROM = 8, 100  # largest numbers of characters in a message, of large keys
SHOW = hyperplane_basis(D)


def files(choices: Choices) -> tuple[File, File]:
    """The file of the chosen model, and the table of the measurements of all models."""
    return File(f"{choices['model']}.safetensors", from_file), File("language.json", json_table)


def build(choices: Choices, model: tuple[Shape, Mapping[str, Array]], models: Rows) -> Recipe:
    shape, weights = model
    text, layer = sentence(choices, shape), int(choices["layer"]) - 1
    stream = forward(shape, weights, shape.tokens(text)).blocks[layer].stream
    gamma, beta = (weights[f"h.{layer}.ln_1.{part}"] for part in ("weight", "bias"))
    unit = float(np.linalg.norm(stream @ SHOW.T, axis=-1).max()) / START_REACH or 1.0
    drawn = sphere_in_steps(gamma, beta, unit, scaled=shape.scaled)
    labels = list(text)
    corners = set(vertices(stream).tolist())
    inside = [k for k, letter in enumerate(text) if letter != " " and k not in corners]
    guides, scenery = split(*around(drawn))
    return Recipe(
        stages=("x", "centre", *(("sphere",) if shape.scaled else ()), "⊙ γ", "+ β"),
        parameters=(),
        clouds=(
            Cloud("keys", stream / unit, Pipeline(drawn), labels=labels),
            Cloud("shadow", stream / unit @ SHOW.T, Pipeline(shadows(drawn))),
            Cloud("true", stream, Pipeline(sphere_in_steps(gamma, beta, scaled=shape.scaled))),
            *guides,
        ),
        views=(space("space", "", (*scenery, *marks(len(text)))),),
        formula=formula(shape.scaled),
        table=Table("true", columns=("components", "mean", "norm")),
        readouts=(
            Count("Keys that no query can choose", "keys", Unselectable()),
            Letters("no query can choose", "keys", Unselectable()),
            Fate("The followed key", "true"),
        ),
        facts=facts(models),
        follow=inside[0] if inside else 0,
    )


def begin(text: str) -> str:
    """The first three words of a sentence, with " …" after them: its name in the list of sentences."""
    return " ".join(text.split()[:3]) + " …"


def sentence(choices: Choices, shape: Shape) -> str:
    """The chosen sentence, or the reader's own. Raises WrongValue if the model does not know a character."""
    text = choices[OWN] if choices["sentence"] == OWN else SENTENCES[choices["sentence"]]
    if unknown := sorted(set(text) - set(shape.characters)):
        few = " ".join(c if c.isprintable() else ascii(c) for c in unknown[:MAX_NAMED_CHARACTERS]) + (
            " …" if len(unknown) > MAX_NAMED_CHARACTERS else ""
        )
        raise WrongValue(OWN, f"{OWN}: the model has never read {few}", shape.characters.replace("\n", ""))
    return text


def shadows(steps: Sequence[Step]) -> list[Step]:
    """The `steps` for vectors within the hyperplane Σx = 0 that are given by three coordinates, not four."""
    return [flat(step) for step in steps]


def flat(step: Step) -> Step:
    """A step for vectors within the hyperplane Σx = 0, rewritten from four coordinates to three.

    Only an `Affine` step has to be rewritten; any other step is returned as it is.
    """
    if not isinstance(step, Affine):
        return step
    shift = None if step.b is None else SHOW @ step.b.value({})
    return Affine(SHOW @ step.A.value({}) @ SHOW.T, shift)


def marks(n: int) -> tuple[Mark, ...]:
    """Marks of n keys and of their convex hull.

    The red key is the one that the reader follows. If no query gives it the largest score, it is a weighted
    average of other keys, and lines join it to these.
    """
    show, within, size = rows(SHOW), rows(np.eye(D - 1)), 8 if n <= SMALL_KEYS_FROM else 6
    lost = "a key that no query can choose"
    return (
        HullFaces("shadow", "hyperplane", within, count=n, opacity=0.08),
        Hull("shadow", "hyperplane", within, "the hull of the keys", size=1, opacity=0.35),
        Average("keys", "other", show, "the keys that average to the followed one", size=4, span=(0.1, 1.01)),
        Average("keys", "other", show, size=1.5, span=(0.005, 0.1)),
        Points("keys", "input", show, "a key", only=Selectable(), size=size, hand=Follow()),
        Points("keys", "other", show, lost, only=Unselectable(), size=size, glyph="ring", hand=Follow()),
        *followed("keys", show, "the followed key", size=size + 4, trail=2),
    )


def facts(found: Rows) -> Facts:
    """Table of the shares of keys that no query selects, for models with LayerNorm or with centring alone.

    Each of the two has one row for keys before the norm, and a second for keys after it. The columns are the
    mean share in each layer and, in the second row only, the range of the models' losses.
    """
    lines = []
    for scaled, name in ((True, "LayerNorm"), (False, "centring alone")):
        models = [row for row in found if row["scaled"] == scaled]
        losses = [row["loss"] for row in models]
        for part in ("before", "after"):
            shares = np.mean([row[part] for row in models], axis=0)
            last = f"{min(losses):.2f} … {max(losses):.2f}" if part == "after" else ""
            lines.append([f"{part} {name}", *(f"{100 * share:.0f} %" for share in shares), last])
    columns = ("", *(f"layer {k + 1}" for k in LAYERS), "loss")
    return Facts("Keys that no query can choose, in windows of 256 characters; loss in nats", columns, lines)


def formula(scaled: bool) -> str:
    over = r"\class{stage-1 role-hyperplane}{x - \mu 𝟏}"
    if not scaled:
        return rf"k = \class{{stage-2}}{{\gamma \odot}} ({over}) \class{{stage-3 role-shift}}{{+ \beta}}"
    unit = rf"\class{{stage-2 role-sphere}}{{\frac{{{over}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}}}"
    gain = r"\class{stage-3 role-ellipsoid}{\gamma \odot}"
    return rf"k = {gain} {unit} \class{{stage-4 role-shift}}{{+ \beta}}"
