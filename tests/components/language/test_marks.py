"""In Python, a new mark or readout needs only a class.

The class also says how a mark affects the ranges of the axes. Its method `check` refuses wrong fields.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from components.language.cloud import Cloud, rows
from components.language.finish import finished
from components.language.marks import MARKS, Mark, Points
from components.language.readouts import READOUTS, CloudReadout, Readout
from components.language.recipe import Recipe, View
from components.language.refusal import WrongRecipe

X = np.array([[0.0, 0.0], [1.0, 2.0]])


@dataclass(frozen=True, kw_only=True)
class Cross(Mark):
    """A mark that is not part of the package: four points around each point, in an axis-parallel cross."""

    size: float
    draws = "points"

    def check(self, scope):
        super().check(scope)
        if not self.size > 0:
            scope.refuse(f"its size is {self.size}", "take a number above 0")

    def points(self, at):
        arms = self.size * np.vstack([np.eye(2), -np.eye(2)])
        return np.concatenate([at.shown(self.cloud, self.rows) + arm for arm in arms])


@dataclass(frozen=True)
class Size(CloudReadout):
    """A readout that is not part of the package. most: the largest number of points that it accepts."""

    most: int

    def check(self, scope):
        cloud = scope.cloud(self.cloud)
        if len(cloud.points) > self.most:
            scope.refuse(f"{cloud.name!r} has {len(cloud.points)} points", f"take at most {self.most}")


def made(mark, **parts):
    view = View("v", "", (Points("x", "input", rows(np.eye(2))), mark), dims=2)
    return Recipe(("one",), (), (Cloud("x", X),), (view,), **parts)


def cross(size, **own):
    return Cross("x", "other", rows(np.eye(2)), size=size, **own)


@pytest.mark.parametrize(("counts_for_axes", "within"), [("whole", True), ("never", False)])
def test_a_new_mark_decides_its_frame_by_its_class(monkeypatch, counts_for_axes, within):
    monkeypatch.setattr(Cross, "counts_for_axes", counts_for_axes)
    (low, high), _ = finished(made(cross(5.0))).views[0].ranges
    assert (low < -5 and high > 6) == within


def test_a_new_mark_says_what_it_needs():
    with pytest.raises(WrongRecipe, match=r"mark 1 \(Cross of 'x'\): its size is -1.0; take a number"):
        finished(made(cross(-1.0)))
    with pytest.raises(WrongRecipe, match="there is no cloud 'y'"):
        finished(made(replace(cross(1.0), cloud="y")))


def test_a_new_readout_says_what_it_needs():
    with pytest.raises(WrongRecipe, match="readout 'n': 'x' has 2 points; take at most 1"):
        finished(made(cross(1.0), readouts=(Size("n", "x", 1),)))


def final(kind):
    """The set of all direct and indirect subclasses of a class that have no subclasses themselves."""
    return {one for derived in kind.__subclasses__() for one in final(derived) or {derived}}


def test_the_lists_of_marks_and_readouts_are_complete():
    assert final(Readout) - {Size} == set(READOUTS)
    assert all(kind.counts_for_axes in ("always", "whole", "labels", "never") for kind in MARKS)
