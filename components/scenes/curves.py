"""Graphs of loss, accuracy and length of the gradient during training, with a curve for each random seed.

For one seed, the shown one, the graph of the loss also marks plateaus and sudden drops. A *fold* at a norm
means that points' vectors after this norm turn by more than 90° during a drop. A `Film` holds the networks
at all checkpoints of their training. Winsor (2022) explains drops by folds, or by a long gradient.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Choose, Line, Points, Replay
from components.language.recipe import View
from components.scenes.scenery import Axis, Part, draw, graph, split
from geometry import Affine, Entries, Track, clouds
from learning.events import Event, drops, plateaus
from learning.film import Film
from learning.gradient import gradients
from learning.network import MIDDLES
from learning.swings import SIDE_CHANGE_DEGREES, Swing, swing, turns

FLAT = rows(np.eye(2))
SEE = "click to see it"
SCALES: dict[str, Axis] = {
    "loss": ("log₁₀ loss", -3.0, 0.3),
    "accuracy": ("accuracy", 0.35, 1.03),
    "both": ("loss, accuracy", 0.0, 1.05),
    "gradient": ("log₁₀", -3.0, 2.0),
}


def curves(film: Film, seed: int, what: str, *, shown: int | None = None) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of the loss or accuracy of every seed during training, with the curve of `seed` on top.

    `what` is one of these:

    "loss"      log₁₀ of the loss
    "accuracy"  the accuracy
    "both"      the loss, and as a second curve the accuracy of `seed`
    "gradient"  log₁₀ of the loss, and as a second curve log₁₀ of the length of the gradient of `seed`

    Plateaus and drops of the loss of `seed` are marked (except with "accuracy"); a click on a drop plays it.
    shown: the stage to show after such a click, if the scene shows only one norm; otherwise None.
    """
    steps, values = film.steps.astype(float), _heights(film, what)
    over = [] if what == "accuracy" else _events(film, seed, np.stack([steps, values[seed]], -1), shown)
    name = "this seed" if what in ("loss", "accuracy") else "loss of this seed"
    return of_seeds(film, seed, values, SCALES[what], name, under=_second_curve(film, seed, what), over=over)


def of_seeds(
    film: Film,
    seed: int,
    values: np.ndarray,
    axis: Axis,
    name: str = "this seed",
    *,
    under: Sequence[Part] = (),
    over: Sequence[Part] = (),
) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of `values` (S, T) during training: a curve for each of S seeds, at T checkpoints.

    The curve of `seed` is on top, with the legend `name` and a mark at the current training step. `axis` is
    the vertical axis. `under` and `over` are further marks, drawn below and above the curve of `seed`.
    """
    _, low, high = axis
    steps = film.steps.astype(float)
    others = [_all_seeds(values, steps)] if film.seeds > 1 else []
    now = _now(film, values[seed], low, high, name)
    guide_clouds, layers = split(*others, *under, *now, *over)
    last = max(float(film.settings.get("steps", 0)), steps[-1], 1.0)
    title = "" if last > 1 else "no training recorded"
    return graph("curves", title, layers, ("training step", 0.0, last), axis), guide_clouds


def _heights(film: Film, what: str) -> np.ndarray:
    """The heights (S, T) of the main curves of S seeds at T checkpoints.

    They are accuracies if `what` is "accuracy", losses if it is "both", and otherwise log₁₀ of the loss.
    """
    if what == "accuracy":
        return film.accuracy
    return film.loss if what == "both" else np.log10(np.maximum(film.loss, 1e-6))


def _second_curve(film: Film, seed: int, what: str) -> list[Part]:
    """The second curve of the shown seed.

    With `what` = "both" it is the accuracy; with "gradient" it is log₁₀ of the gradient's length. With any
    other `what` there is no second curve, and the list is empty.
    """
    if what == "both":
        name, values = "accuracy", film.accuracy[seed]
    elif what == "gradient":
        slopes = np.linalg.norm(gradients(film.network, film.weights[seed], film.data), axis=-1)
        name, values = "length of the gradient", np.log10(np.maximum(slopes, 1e-6))
    else:
        return []
    shape = (np.stack([film.steps, values], -1), np.arange(len(values)))
    return [draw("fellow", Line, "series-1", FLAT, shape, name, size=2.5, dash="dash")]


def _events(film: Film, seed: int, own: np.ndarray, shown: int | None) -> list[Part]:
    """Marks of plateaus and drops of the shown seed's loss, along its curve `own` (T, 2).

    Plateaus are dotted lines and drops are squares, so that they differ from the curve not only by colour.
    The list is empty if the loss has neither. shown: the stage to show after a click on a drop, or None.
    """
    steps, loss = film.steps.astype(float), film.loss[seed]

    def parts_of(found: Sequence[Event]) -> list[np.ndarray]:
        return [own[(steps >= event.start) & (steps <= event.end)] for event in found]

    falls = drops(steps, loss)
    flat, steep = parts_of(plateaus(steps, loss)), parts_of(falls)
    parts: list[Part] = []
    if flat:
        parts.append(draw("plateau", Line, "plateau", FLAT, _lines(flat), "plateau", size=9, dash="dot"))
    if steep:
        shape, hand = np.concatenate(steep), replay(film, seed, falls, [len(each) for each in steep], shown)
        look: dict[str, Any] = {"size": 7, "glyph": "square", "hand": hand, "hint": SEE}
        parts.append(draw("drop", Points, "drop", FLAT, shape, "drop", **look))
    return parts


def replay(film: Film, seed: int, falls: Sequence[Event], sizes: Sequence[int], shown: int | None) -> Replay:
    """The action of a click on a drop of the loss: play the checkpoints from just before to just after it.

    A point turns over if its direction after a norm turns by more than SIDE_CHANGE_DEGREES during the drop.
    The picture goes to the norm where most points turn over, and selects the point that turns most there. If
    no point turns over, stage and selection stay as they are. falls: all drops. sizes: for each drop, how
    many squares mark it in the graph. shown: the stage to show instead, if the scene shows only one norm.
    """
    ends = np.searchsorted(film.steps, [[event.start, event.end] for event in falls])
    around = np.clip(ends + np.array([-1, 1]), 0, len(film.steps) - 1)
    spans = film.steps[around].astype(float)
    folds = [swing_during(film, seed, event) for event in falls]
    who = [furthest(film, seed, pair, fold) for pair, fold in zip(ends, folds, strict=True)]
    where = [-1 if fold is None or not len(fold.points) else shown or 2 * fold.layer for fold in folds]
    return Replay(np.repeat(spans, sizes, axis=0), np.repeat(who, sizes), np.repeat(where, sizes))


def furthest(film: Film, seed: int, ends: np.ndarray, fold: Swing | None) -> int:
    """Index of the point whose direction after the norm in `fold` turns most between two checkpoints.

    ends: the indices of the checkpoints. fold: a norm, and the points whose direction after it turns by more
    than SIDE_CHANGE_DEGREES. If `fold` is None or has no such points, the result is −1.
    """
    if fold is None or not len(fold.points):
        return -1
    before, after = film.weights[seed, ends]
    return int(turns(film.network, before, after, film.data.points)[fold.layer - 1].argmax())


def _lines(lines: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several polylines (N, 2) as one: all points, and their indices in drawing order, with −1 for a gap."""
    return np.concatenate(lines), clouds.joined([len(line) for line in lines])


def _all_seeds(values: np.ndarray, steps: np.ndarray) -> Part:
    shape = _lines([np.stack([steps, each], -1) for each in values])
    hand = Choose("seed", np.repeat(np.arange(len(values)), len(steps)))
    look: dict[str, Any] = {"size": 2, "opacity": 0.6, "hand": hand, "hint": SEE}
    return draw("seeds", Line, "trail", FLAT, shape, "every seed", **look)


def _now(film: Film, values: np.ndarray, low: float, high: float, name: str) -> list[Part]:
    """The curve of the shown seed, with a dot and a vertical line at the current training step.

    `values` (T,) are the curve's heights at the T checkpoints, `name` is its legend. The vertical line goes
    from `low` to `high`. If there is only one checkpoint, there is neither dot nor line.
    """
    steps = film.steps.astype(float)
    curve = (np.stack([steps, values], -1), np.arange(len(steps)))
    own = draw("own", Line, "ink", FLAT, curve, name, size=4)
    if len(steps) == 1:
        return [own]
    across = {"step": np.array([1.0, 0.0])}
    there = Track(steps, np.stack([np.zeros_like(steps), values], -1))
    here = (Affine(np.zeros((2, 2)), Entries(np.zeros(2), across, {"step": there})),)
    line = clouds.segments(np.array([[[0.0, low], [0.0, high]]]))
    hand = draw(
        "now", Line, "axis", FLAT, line, place=(Affine(np.eye(2), Entries(np.zeros(2), across)),), size=1.5
    )
    return [hand, own, draw("here", Points, "ink", FLAT, np.zeros((1, 2)), place=here, size=9)]


# --- drops and folds


def spans(events: Sequence[Event]) -> str:
    return "; ".join(f"{e.start:,.0f} … {e.end:,.0f}" for e in events) or "none"


def folds(film: Film, seed: int) -> str:
    """Text that lists each drop of the loss: its training steps, how many points turn over, and where.

    It is "none" if there is no drop. To turn over is to turn by more than SIDE_CHANGE_DEGREES at a norm.
    """
    middle, lines = MIDDLES[film.network.middle], []
    for event in drops(film.steps, film.loss[seed]):
        fold, words = swing_during(film, seed, event), ""
        if fold and len(fold.points):
            points = f"{len(fold.points)} point{'s' * (len(fold.points) > 1)}"
            words = f", with {points} turning by over {SIDE_CHANGE_DEGREES:.0f}° at {middle} {fold.layer}"
        lines.append(spans([event]) + words)
    return "; ".join(lines) or "none"


def swing_during(film: Film, seed: int, event: Event) -> Swing | None:
    """The norm at which the most points turn by over SIDE_CHANGE_DEGREES during `event`, and these points.

    event: a plateau or drop of the loss of the network of `seed`. The directions of the points after each
    norm are compared at the first and the last training step of the event. If no point turns by
    that much, the result is norm 1 without points. Returns None if the network has no norm.
    """
    ends = film.weights[seed, np.searchsorted(film.steps, [event.start, event.end])]
    return swing(film.network, ends[0], ends[1], film.data.points)


def snapping(film: Film, seed: int) -> list[int]:
    """Indices of the points that turn by over SIDE_CHANGE_DEGREES during the largest drop of a seed's loss.

    Only the norm at which most points turn so far counts (see `swing_during`). The list is empty if there is
    no drop, no norm or no such point.
    """
    found = drops(film.steps, film.loss[seed])
    fold = swing_during(film, seed, max(found, key=lambda e: e.before - e.after)) if found else None
    return fold.points.tolist() if fold else []
