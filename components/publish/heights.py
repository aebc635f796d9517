"""The height of an embedded figure, computed from its width without a browser.

oEmbed hosts need it before a browser loads the figure. It is the sum of the parts in assets/page/embed.css:
the views, whose height follows from the width; the scrubber; the last line, with the title of the scene and
the link to its page; and the formula, the text and the controls. The heights of these three are estimated,
because only a browser knows how they break into lines. Where the result is too low, the browser draws the
views lower than usual. For 34 scenes, at six widths from 280 to 720 pixels, the height is off by 8 pixels on
average, at most 24 too high and 46 too low.
"""

from __future__ import annotations

import re
from math import ceil

from components.language.link import State
from components.language.marks import Replay
from components.language.recipe import Letters, Recipe

# largest widths in pixels: of a figure with one column; of a figure that does not have three views in a row
NARROW, WIDE = 480, 700
# heights in pixels: the scrubber, in a narrow (True) or wide figure; in addition its clock; marks of events
SCRUBBER, CLOCK, EVENTS = {True: 96, False: 58}, 59, 22
# heights in pixels: the last line with folded controls; this line without them; a row of controls
FOLDED, LINE, ROW = 23, 28, 63
COLUMN = 256  # pixels: smallest width of a control
# estimated heights in pixels: a formula's lines, by what they contain; an empty formula; a text of letters
FRACTION, ROOT, PLAIN, NO_FORMULA, LETTERS = 58, 40, 26, 8, 70
SIGN = 6  # pixels: estimated width of a sign of a formula
BREAKS = ("\\quad", "\\qquad", "\\allowbreak")  # where a formula may break
# what does not count as a sign: classes, spaces, brackets, and names of commands, whose backslash counts
NO_SIGN = re.compile(r"\\class\{[^}]*\}|(?<=\\)[a-zA-Z]+|[{}\s_^,;&]")


def height(state: State, width: int) -> int:
    """The height in pixels of an embedded figure that is `width` pixels wide.

    state: what the figure shows. The lines of the formula and the rows of controls are only estimated.
    """
    return round(views(len(state.recipe.views), width) + above(state.recipe, width) + below(state, width))


def views(count: int, width: int) -> float:
    """The height in pixels of the area that contains `count` views, if the figure is `width` pixels wide.

    In assets/page/embed.css, the variable `--tall` is this height.
    """
    if width <= NARROW:
        return (0.85 if count == 1 else 1.7) * width + (40 if count > 2 else 0)
    if count > 2 and width > WIDE:
        return min(0.72 * width, 704)
    return min(0.58 * width, 640)


def above(recipe: Recipe, width: int) -> int:
    """The estimated height in pixels of the formula (above the views) plus the `Letters` (below them).

    With one view and a `width` above NARROW, the formula is over the picture and does not count.
    width: the width of the figure in pixels.
    """
    text = LETTERS if any(isinstance(each, Letters) for each in recipe.readouts) else 0
    if len(recipe.views) == 1 and width > NARROW:
        return text  # the formula is over the picture
    return formula(recipe.formula, width) + text


def formula(latex: str, width: int) -> int:
    """The estimated height in pixels of a formula (LaTeX): one line, or two if it is wide and may break.

    For "" it is NO_FORMULA.
    """
    if not latex:
        return NO_FORMULA
    line = FRACTION if "\\frac" in latex else ROOT if "\\sqrt" in latex or "\\tfrac" in latex else PLAIN
    wide = SIGN * len(NO_SIGN.sub("", latex)) > width
    return 2 * line if wide and any(each in latex for each in BREAKS) else line


def below(state: State, width: int) -> int:
    """The estimated height in pixels of everything below a figure's views and `Letters`.

    If `state.controls` is None, this is the scrubber and the last line, which contains the folded controls,
    the title of the scene and the link to its page. Otherwise this is the last line, the rows of the controls
    that `state.controls` names, and the scrubber if "progress" is among the names.
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
