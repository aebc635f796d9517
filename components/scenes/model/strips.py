"""Statistics of a recorded model's norms (normalisation layers), each drawn in a strip of its own.

The strips are stacked and share a horizontal axis, on which the norms follow one another by depth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, log10
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Choose, Labels, Line, Points
from components.language.text import SUPERSCRIPTS
from components.scenes.scenery import Part, draw
from geometry import clouds
from learning.recording.analysis import TableRow
from learning.recording.digest import Digest

Array = np.ndarray

PITCH, HEIGHT = 1.58, 1.0  # distance between strips, and height of a strip; its title is in between
ORIGIN = (1.0, -2.0)  # of the first strip; all strips avoid the zero lines, which Plotly draws
LEFT, RIGHT = ORIGIN[0] - 0.16, ORIGIN[0] + 1.03  # the norms take a width of 1 in between
HEADROOM = 0.35  # of the range of values, added above it for the name above massive vectors
MAX_TICKS = 4  # labels on an axis
BRACKET = 0.09  # height above the line at which a run of massive activations is marked, in strips' heights
MAX_LAST_TICK_RATIO = 1.1  # an axis goes on to the next tick if this adds less than a tenth
NAME_CHARACTERS = 40  # of the name of a model in titles
CHARACTER_WIDTH = 0.02  # average width of a label's character, as a fraction of a strip's width
LARGEST_CHARACTER_WIDTH = 0.028  # the same in a view of 300 pixels, in which the longest label must fit, too
PARTS = {"attention": "circle", "MLP": "square", "other": "ring"}  # what a norm belongs to, and its glyph
SMALL_SQUARE = 0.9  # a square is as conspicuous as a larger circle
HEAD_NORM = re.compile(r"[qk]_(layer)?norm")  # a norm of queries or keys, within attention heads


@dataclass(frozen=True)
class Strip:
    """A statistic of each norm, drawn as a solid line, and related statistics, drawn as dotted lines.

    title: the strip's title, with the unit. middle: the column of the norms' table that the solid line shows.
    around: the columns that the dotted lines show. log: whether the scale is logarithmic. percent: whether
    values are fractions that are shown in percent.
    """

    title: str
    middle: str
    around: tuple[str, ...] = ()
    log: bool = False
    percent: bool = False


SETS = {
    "massive": (
        Strip("longest vector ÷ median length", "longest", log=True),
        Strip("energy in top dim. (dotted: non-massive)", "top_energy",
              ("top_energy_rest",), percent=True),
        Strip("length ‖x‖, median (dotted: quartiles)", "size", ("size_low", "size_high"), log=True),
        Strip("effective rank (dotted: all vectors)", "rank", ("rank_all",)),
    ),
    "centring": (
        Strip("energy along 𝟏 (dotted: 95th percentile)", "share", ("share_high",), percent=True),
        Strip("turn in ° (dotted: 95th percentile)", "turn", ("turn_high",)),
        Strip("turn ÷ turn of random vectors", "turn_scaled"),
        Strip("keys that never win (dotted: before norm)", "lost_after", ("lost_before",)),
    ),
    "gain": (
        Strip("mean |γ|", "gain"),
        Strip("|γ|: standard deviation ÷ mean", "gain_spread"),
        Strip("semi-axes, median (dotted: extremes)", "axis_middle", ("axis_short", "axis_long")),
        Strip("flat directions", "flat"),
    ),
    "scale": (
        Strip("σ (dotted: quartiles)", "sigma", ("sigma_low", "sigma_high"), log=True),
        Strip("ε/(σ² + ε), 95th percentile", "eps_high", log=True),
    ),
}  # fmt: skip
SET_NAMES = {
    "massive": "lengths and massive vectors",
    "centring": "centring",
    "gain": "gain γ",
    "scale": "scale σ and ε",
}


# --- which norm is what


def layers(paths: Sequence[str]) -> list[str]:
    """For each norm the number of its layer as text: "3" for "encoder.layer.3.norm", "" if there is none.

    paths: the paths of the norms in the model. If a path ends with the number of a call, such as "#3", this
    number is taken instead: some models, such as ALBERT, call one layer several times.
    """
    return [
        (re.search(r"#(\d+)$", path) or re.search(r"(?:^|\.)(\d+)\.", path) or ["", ""])[1] for path in paths
    ]


def parts(paths: Sequence[str]) -> list[str]:
    """For each norm the part of its layer to which it belongs: "attention", "MLP" or "other".

    Norms within attention heads are always "attention". For other norms: the first half of a layer's norms is
    "attention", the second half "MLP". If the number of a layer's norms is odd, they are "other", and so are
    norms outside the layers.
    """
    found = []
    for (layer, _), some in groupby(zip(layers(paths), map(_stack, paths), strict=True)):
        count = len(list(some))
        names = ["attention"] * (count // 2) + ["MLP"] * (count // 2)
        found += names if layer and count % 2 == 0 else ["other"] * count
    heads = [bool(HEAD_NORM.search(path)) for path in paths]
    return ["attention" if is_head else part for is_head, part in zip(heads, found, strict=True)]


def _stack(path: str) -> str:
    """A module's path up to its first digit, in which an encoder's layers differ from a decoder's.

    An example is "encoder.layer." for "encoder.layer.3.norm". The result is "" for a path that ends
    with the number of a call, such as "#3" for the third call of one module.
    """
    return re.split(r"\d", path)[0] if "#" not in path else ""


def short_names(paths: Sequence[str]) -> list[str]:
    """For each norm a name, such as "layer 12, MLP"; the path if it has no layer, or its part is "other"."""
    return [
        f"layer {layer}, {part}" if layer and part != "other" else path
        for path, layer, part in zip(paths, layers(paths), parts(paths), strict=True)
    ]


@dataclass(frozen=True)
class Run:
    """Neighbouring norms, from index `first` to `last`, that have massive vectors and the same top dimension.

    `dimension` is this top dimension: the coordinate with the largest sum of squares over all vectors.
    """

    dimension: int
    first: int
    last: int


def massive_runs(rows: Sequence[TableRow]) -> list[Run]:
    """The runs of neighbouring norms with massive vectors, split where the top dimension changes.

    rows: the table of statistics, with a row for each norm in order.
    """
    found, start = [], 0
    kinds = [row["top_dimension"] if row["massive"] else None for row in rows]
    for kind, some in groupby(kinds):
        end = start + len(list(some))
        if kind is not None:
            found.append(Run(kind, start, end - 1))
        start = end
    return found


# --- the picture


def panel(first: Digest, second: Digest | None, chosen: int, name: str) -> list[Part]:
    """The strips in SETS[name], stacked: axes, lines, and points that choose a norm when clicked.

    `chosen` is the index of the norm that the picture shows; a vertical line marks it. `second` is a
    recording to compare, or None.
    """
    both, strips = [first, *([second] if second else [])], SETS[name]
    scales = [scale(strip, both) for strip in strips]
    show, drawn_parts = rows(np.eye(2)), axes(first, second, strips, scales)
    for which, digest in enumerate(both):
        role = ("input", "other")[which]
        title = named(digest) if second else ""
        drawn_parts += lines(digest, strips, scales, role=role, title=title, which=which)
    if name == "massive":
        drawn_parts += brackets(first, scales[0])
    here = np.array([[place(chosen, first), top(0)], [place(chosen, first), top(len(strips) - 1) - HEIGHT]])
    drawn_parts.append(
        draw("chosen", Line, "meeting", show, here, "the norm in the picture", size=2, opacity=0.6)
    )
    return drawn_parts


def lines(
    digest: Digest, strips: Sequence[Strip], scales: Sequence[tuple[float, float]], *, role: str, title: str,
    which: int,
) -> list[Part]:  # fmt: skip
    """The lines of one recording in all strips, and a point for each norm in each strip.

    Points of norms in attention, in MLPs and elsewhere differ in shape. `scales` has the ends of each strip's
    scale. `role` is the colour role, `title` the legend of the solid lines. `which` is 0 for the first
    recording, whose points can be clicked, and 1 for the second.
    """
    show, n = rows(np.eye(2)), len(digest.rows)
    x = np.array([place(k, digest) for k in range(n)])
    drawn: dict[str, list[Array]] = {"solid": [], "dot": []}
    for s, (strip, ends) in enumerate(zip(strips, scales, strict=True)):
        drawn["solid"].append(np.column_stack([x, height(digest.rows, strip.middle, strip, ends, s)]))
        drawn["dot"] += [
            np.column_stack([x, height(digest.rows, each, strip, ends, s)]) for each in strip.around
        ]
    found = list[Part]()
    for dash, curves in drawn.items():
        if not curves:
            continue
        cloud, is_solid = f"{dash} {which}", dash == "solid"
        look: dict[str, Any] = {"order": gaps(len(curves), n), "size": 2.0 if is_solid else 1.2, "dash": dash}
        line = Line(cloud, role, show, title if is_solid else "", **look)
        found.append((Cloud(cloud, np.vstack(curves)), line))
    points = np.vstack(drawn["solid"])
    paths = [row["path"] for row in digest.rows]
    named = list(zip(digest.rows, short_names(paths), strict=True))
    labels = [hover_text(row, name, strip) for strip in strips for row, name in named]
    kinds, number = np.tile(parts(paths), len(strips)), np.tile(np.arange(1, n + 1), len(strips))
    size = 7.0 if n <= 30 else 5.0
    for part, glyph in PARTS.items():
        of_part = np.flatnonzero(kinds == part)
        if len(of_part):
            hand = None if which else Choose("norm", number[of_part])
            cloud = f"{part} {which}"
            legend = "" if which else {"other": "another norm"}.get(part, f"norm of {part}")
            look = {"glyph": glyph, "hand": hand}
            look["size"] = size * (SMALL_SQUARE if glyph == "square" else 1)
            found.append(
                (
                    Cloud(cloud, points[of_part], labels=[labels[i] for i in of_part]),
                    Points(cloud, role, show, legend, **look),
                )
            )
    return found


def hover_text(row: TableRow, name: str, strip: Strip) -> str:
    """HTML of the text that appears when the pointer is at the point of a norm in a strip (a graph).

    It has the norm's short name `name`, the title of the strip, and the value of the strip's solid line. In
    the strips "longest" and "top_energy" it also has the top dimension and the place of the longest vector,
    if that place is known. row: the norm's row in the table of statistics.
    """
    value = number(row[strip.middle], percent=strip.percent)
    more = ""
    if strip.middle in ("longest", "top_energy") and row["longest_at"]:
        more = f"<br>dimension {row['top_dimension']}<br>longest: {escaped(row['longest_at'])}"
    return f"{escaped(name)}<br>{escaped(strip.title.partition(' (')[0])}: {value}{more}"


def named(digest: Digest) -> str:
    """The name of the recorded model, cut to NAME_CHARACTERS characters; "a recording" if it has none."""
    return (digest.name or "a recording")[:NAME_CHARACTERS]


def escaped(text: str) -> str:
    """The text with & and < escaped, because Plotly interprets markup in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def brackets(digest: Digest, ends: tuple[float, float]) -> list[Part]:
    """A bracket over each run of neighbouring norms that have massive vectors in the same dimension.

    Each bracket has a label with the dimension; the label of the longest run also names its layers. A shorter
    run's label that is wider than its bracket keeps clear of the points just before and after the run, if
    they are higher than the bracket. A label that would overlap the longest run's label is left out, but its
    bracket stays. ends: the ends of the first strip's scale.
    """
    strip, show, pieces = SETS["massive"][0], rows(np.eye(2)), []
    places, names = list[tuple[float, float]](), list[str]()
    y = height(digest.rows, strip.middle, strip, ends, 0)
    layer, half = layers([row["path"] for row in digest.rows]), 0.5 / len(digest.rows)
    for run in sorted(massive_runs(digest.rows), key=lambda run: run.first - run.last):
        up = float(y[run.first : run.last + 1].max()) + BRACKET
        a, b = place(run.first, digest) - half, place(run.last, digest) + half
        pieces += [[[a, up - BRACKET / 2], [a, up]], [[a, up], [b, up]], [[b, up], [b, up - BRACKET / 2]]]
        middle, name = (a + b) / 2, str(run.dimension)
        if not names:
            name = f"dimension {run.dimension}{_span(layer, run)}"
            leftmost = ORIGIN[0] + CHARACTER_WIDTH * len(name) / 2
            middle = min(max(middle, leftmost), RIGHT - LARGEST_CHARACTER_WIDTH * len(name) / 2)
        else:
            half_label, around = LARGEST_CHARACTER_WIDTH * len(name) / 2, [-np.inf, *y, -np.inf]
            if around[run.first] > up:  # the norm before the run
                middle = max(middle, a + half_label)
            if around[run.last + 2] > up:  # the norm after it
                middle = min(middle, b - half_label)
            right, above = np.abs(np.subtract((middle, up + BRACKET), places[0]))
            if right < CHARACTER_WIDTH * len(names[0] + name) / 2 and above < 2 * BRACKET:
                continue  # the two labels would overlap
        places.append((middle, up + BRACKET))
        names.append(name)
    if not names:
        return []
    bars = clouds.segments(np.array(pieces))
    return [
        draw("massive", Line, "shift", show, bars, "massive vectors", size=2),
        draw("massive names", Labels, "shift", show, np.array(places), labels=names),
    ]


def _span(layer: Sequence[str], run: Run) -> str:
    first, last = layer[run.first], layer[run.last]
    if not first:
        return ""
    return f": layer {first}" if first == last else f": layers {first} to {last or 'the end'}"


def axes(
    first: Digest, second: Digest | None, strips: Sequence[Strip], scales: Sequence[tuple[float, float]]
) -> list[Part]:
    """The frame, ticks and title of each strip, and the numbers of the layers below the last strip.

    scales: the ends of each strip's vertical scale.
    """
    show, grid, frame = rows(np.eye(2)), [], []
    places, names = list[tuple[float, float]](), list[str]()
    start, middle, end = ORIGIN[0], ORIGIN[0] + 0.5, ORIGIN[0] + 1
    for s, (strip, ends) in enumerate(zip(strips, scales, strict=True)):
        frame.append([[start, bottom(s)], [end, bottom(s)]])
        places.append(((LEFT + end) / 2, top(s) + (PITCH - HEIGHT) / 2))
        names.append(strip.title)
        for value in ticks(*ends, log=strip.log):
            y = float(scaled(np.array([value]), strip, ends)[0]) * HEIGHT + bottom(s)
            grid.append([[start, y], [end, y]])
            places.append(((LEFT + start) / 2, y))
            names.append(number(value, percent=strip.percent))
    below = bottom(len(strips) - 1)
    for x, name in layer_ticks(first):
        grid.append([[x, below], [x, top(0)]])
        places.append((x, below - 0.18))
        names.append(name)
    places.append((middle, below - 0.48))
    unit = "layer" if any(layers([row["path"] for row in first.rows])) else "norm"
    names.append(f"{unit} of the first model" if second else unit)
    return [
        draw("grid", Line, "axis", show, clouds.segments(np.array(grid, float)), size=1, opacity=0.25),
        draw("frame", Line, "axis", show, clouds.segments(np.array(frame, float)), size=1, opacity=0.7),
        draw("titles", Labels, "axis", show, np.array(places), labels=names),
    ]


def layer_ticks(digest: Digest) -> list[tuple[float, str]]:
    """Ticks of the horizontal axis: for every n-th layer, the place of its first norm and the layer's number.

    n is chosen so that there are at most ten ticks. If no layer has a number, the norms are numbered.
    """
    own = layers([row["path"] for row in digest.rows])
    if not any(own):
        own = [str(k) for k in range(1, len(own) + 1)]
    starts = [k for k, layer in enumerate(own) if layer and (not k or own[k - 1] != layer)]
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if len(starts) <= 10 * s)
    return [(place(starts[k], digest), own[starts[k]]) for k in range(0, len(starts), step)]


def place(k: int, digest: Digest) -> float:
    """The horizontal coordinate of the norm with index k."""
    return ORIGIN[0] + (k + 0.5) / len(digest.rows)


def top(s: int) -> float:
    """The vertical coordinate of the upper edge of strip s."""
    return bottom(s) + HEIGHT


def bottom(s: int) -> float:
    """The vertical coordinate of the lower edge of strip s."""
    return ORIGIN[1] - PITCH * s


def gaps(count: int, length: int) -> Array:
    """Drawing order of `count` lines with `length` points each, with −1 (a gap) after each line."""
    each = np.arange(count * length).reshape(count, length)
    return np.column_stack([each, np.full(count, -1)]).reshape(-1)


def scale(strip: Strip, both: Sequence[Digest]) -> tuple[float, float]:
    """The lower and upper end of a strip's scale.

    A linear scale goes from 0 to the next tick above the largest value if this tick is near, otherwise to the
    largest value. A logarithmic scale goes from the smallest positive value to the largest. If these differ
    by at most 1 %, it goes from half the smallest to twice the largest. In the strip "longest" the upper end
    is higher by HEADROOM times the height of the scale. both: the recordings whose values are drawn.
    """
    columns = (strip.middle, *strip.around)
    every = [row[name] or 0.0 for each in both for row in each.rows for name in columns]
    positive = [value for value in every if value > 0]
    if strip.log:
        low, high = min(positive, default=1.0), max(positive, default=1.0)
        low, high = (low, high) if high > low * 1.01 else (low / 2, low * 2)
        return low, high * (high / low) ** (HEADROOM if strip.middle == "longest" else 0)
    most = max(every) or 1.0
    step = ticks(0.0, most, log=False)[1]
    last = step * ceil(most / step)
    return 0.0, last if last < MAX_LAST_TICK_RATIO * most else most


def scaled(values: Array, strip: Strip, ends: tuple[float, float]) -> Array:
    """The relative heights of values in a strip: 0 at the lower end of its scale, 1 at the upper end.

    `ends` are the two ends. On a logarithmic scale, values below the lower end are drawn there.
    """
    low, high = ends
    if strip.log:
        values, low, high = np.log(np.maximum(values, low)), np.log(low), np.log(high)
    return np.asarray((values - low) / (high - low))


def height(each: Sequence[TableRow], name: str, strip: Strip, ends: tuple[float, float], s: int) -> Array:
    """Vertical coordinates, in strip s, of the column `name` (None counts as 0); `ends` as in `scaled`."""
    values = np.array([row[name] or 0.0 for row in each], dtype=float)
    return HEIGHT * scaled(values, strip, ends) + bottom(s)


def ticks(low: float, high: float, *, log: bool) -> list[float]:
    """A few round numbers for an axis from `low` to `high`.

    On a linear axis they begin with 0, and `low` must be 0. On a logarithmic axis they are powers of ten; but
    if fewer than two powers of ten are in the range, they are `low` and `high`.
    """
    if log:
        powers = range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)
        return [10.0**k for k in powers[:: ceil(len(powers) / MAX_TICKS)]] if len(powers) > 1 else [low, high]
    size = 10.0 ** floor(log10(high))
    step = next(s * size for s in (0.2, 0.25, 0.5, 1, 2, 2.5, 5) if high / (s * size) < MAX_TICKS)
    return [k * step for k in range(int(high / step + 1e-9) + 1)]


def number(value: float | None, *, percent: bool) -> str:
    """A value as text, with three significant digits, such as 0.0011, 3·10⁻⁴ or 12,345; "–" for None.

    Numbers from 1,000 on are written with all their digits. percent: whether to multiply by 100 and add " %".
    """
    if value is None:
        return "–"
    shown = 100 * value if percent else value
    form = ",.0f" if abs(shown) >= 999.5 else ".2e" if 0 < abs(shown) < 1e-3 else ".3g"
    text = f"{shown:{form}}"
    digits, _, power = text.partition("e")
    if power:
        digits = digits.rstrip("0").rstrip(".")
        raised = f"10{str(int(power)).translate(SUPERSCRIPTS)}"
        text = raised if digits == "1" else f"{digits}·{raised}"
    return f"{text} %" if percent else text


def ranges(count: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The horizontal and vertical range of a panel of `count` strips."""
    return (LEFT, RIGHT), (bottom(count - 1) - 0.62, top(0) + 0.45)
