"""The height of an embedded figure, computed from its width without a browser.

oEmbed hosts need it before a browser loads the figure. It is the sum of the parts in assets/page/embed.css:
the views, whose height follows from the width; the scrubber; the line below; and the formula and text. Only a
browser knows the line breaks of these last two, so `FORMULA_AND_TEXT` was measured in Chromium.
"""

from __future__ import annotations

from math import ceil, inf

from components.language.link import State
from components.language.marks import Replay
from components.language.recipe import Recipe

# largest widths in pixels: of a figure with one column; of a figure that does not have three views in a row
NARROW, WIDE = 480, 700
# heights in pixels: the scrubber, in a narrow (True) or wide figure; in addition its clock; marks of events
SCRUBBER, CLOCK, EVENTS = {True: 96, False: 58}, 59, 22
# heights in pixels: the last line with folded controls; this line without them; a row of controls
FOLDED, LINE, ROW = 23, 28, 63
COLUMN = 256  # pixels: smallest width of a control
# Height in pixels of a scene's formula above the views and text under them, by slug. If it depends on the
# width: pairs (largest width, height)
FORMULA_AND_TEXT: dict[str, int | list[tuple[float, int]]] = {
    "layernorm": 0,
    "rmsnorm": 70,
    "activation": 50,
    "stretch": 66,
    "fold": 66,
    "surface": 66,
    "temperature": 66,
    "shear": 46,
    "fibre": 32,
    "norms": [(479, 98), (inf, 52)],
    "select": 62,
    "unselectable": [(479, 104), (inf, 54)],
    "spiral": 8,
    "octants": 8,
    "labels": 8,
    "digits": 8,
    "majority": 8,
    "language": [(599, 92), (inf, 62)],
    "scores": 26,
    "block": [(479, 50), (inf, 26)],
    "depth": 28,
    "ffn": 26,
    "heads": [(399, 114), (699, 90), (inf, 54)],
    "drift": 116,
    "symmetrise": [(479, 60), (inf, 30)],
    "absorb": [(479, 50), (inf, 26)],
    "model": 54,
}

ONE_FORMULA = 66  # pixels: a formula with a fraction and a root, for a scene that is not measured yet


def height(state: State, width: int) -> int:
    """The height in pixels of an embedded figure that is `width` pixels wide.

    state: what the figure shows. The number of rows of controls is only estimated.
    """
    return round(views(len(state.recipe.views), width) + above(state.scene.slug, width) + below(state, width))


def views(count: int, width: int) -> float:
    """The height in pixels of the area that contains `count` views, if the figure is `width` pixels wide.

    The style sheet computes the same as `--tall`.
    """
    if width <= NARROW:
        return (0.85 if count == 1 else 1.7) * width + (40 if count > 2 else 0)
    if count > 2 and width > WIDE:
        return min(0.72 * width, 704)
    return min(0.58 * width, 640)


def above(slug: str, width: int) -> int:
    found = FORMULA_AND_TEXT.get(slug, ONE_FORMULA)
    return found if isinstance(found, int) else next(pixels for last, pixels in found if width <= last)


def below(state: State, width: int) -> int:
    """The height in pixels of all that is below the text of a figure.

    That is the scrubber, the last line, and the rows of controls that are not folded away.
    """
    names = state.controls
    if names is None:
        return scrubber(state.recipe, width) + FOLDED
    vectors = {each.name: each.group for each in state.recipe.parameters if each.vector and each.group}
    others = {vectors.get(name, name) for name in names} - {"progress"}
    rows = ceil(len(others) / max(1, width // COLUMN))
    return (scrubber(state.recipe, width) if "progress" in names else 0) + LINE + ROW * rows


def scrubber(recipe: Recipe, width: int) -> int:
    hands = [getattr(mark, "hand", None) for view in recipe.views for mark in view.layers]
    eventful = any(isinstance(hand, Replay) and len(hand.spans) for hand in hands)
    return SCRUBBER[width <= NARROW] + (CLOCK if recipe.clock else 0) + (EVENTS if eventful else 0)
